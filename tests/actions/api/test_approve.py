"""Approving and rejecting over HTTP: by a second person, of exactly what was shown."""

import pytest

from actions.models import Approval
from integrations.actors import Actor
from integrations.sandbox.records import Payment
from tests.actions.api.wishes import nothing_is_written, proposed, refused
from tests.actions.api.words import OTHER_DIGEST, SECOND, awaiting, digest_of, say, shown
from tests.caller import Caller
from tests.stage import AGENT, INTEGRATION, PERSON, Stage

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def person(stage: Stage) -> Caller:
    """Return a Human Node."""
    return Caller(stage.workspace, PERSON)


def test_a_second_person_approves_and_the_gate_looks_once_more(
    stage: Stage, person: Caller
) -> None:
    intent = awaiting(stage)
    digest = digest_of(person, intent)
    answer = say(person, "approve", intent, digest=digest, reason="the parcel was seen")
    assert (answer.status, answer.body["state"]) == (200, "awaiting_approval")
    (word,) = answer.body["approvals"]
    row = Approval.objects.get()
    assert word == {
        "id": row.public_id,
        "by": {"kind": "human_node", "identity": "node-1"},
        "approves": True,
        "clears": None,
        "decision": answer.body["decision"]["id"],
        "digest": digest,
        "given_at": word["given_at"],
        "expires_at": word["expires_at"],
        "used_at": None,
    }
    assert b"the parcel was seen" not in answer.response.content
    assert stage.shop.effects() == ()
    stage.work(intent)
    body = shown(person, intent)
    (effect,) = stage.shop.effects()
    assert (body["state"], effect.note) == ("confirmed", intent.marker)
    assert body["approvals"][0]["used_at"] is not None  # type: ignore[index]  # JSON
    again = say(person, "approve", intent, digest=digest)
    assert (again.status, again.body) == (200, body)


def test_the_same_yes_again_is_answered_the_same_and_another_persons_adds_nothing(
    stage: Stage, person: Caller
) -> None:
    intent = awaiting(stage)
    digest = digest_of(person, intent)
    first = say(person, "approve", intent, digest=digest)
    again = say(person, "approve", intent, digest=digest, reason="said twice")
    other = say(Caller(stage.workspace, SECOND), "approve", intent, digest=digest)
    assert first.body == again.body == other.body
    assert Approval.objects.count() == 1


@pytest.mark.parametrize("verb", ["approve", "reject", "clear", "judge-again", "accept"])
@pytest.mark.parametrize("by", [AGENT, INTEGRATION])
def test_no_program_is_heard(stage: Stage, verb: str, by: Actor) -> None:
    intent = awaiting(stage)
    caller = Caller(stage.workspace, by)
    said: dict[str, dict[str, object]] = {
        "judge-again": {},
        "accept": {"amount": "8.00", "currency": "EUR", "reason": "fine"},
    }
    with nothing_is_written(stage):
        answer = say(caller, verb, intent, **said.get(verb, {"digest": digest_of(caller, intent)}))
    assert refused(answer) == (403, "only-a-person")


@pytest.mark.parametrize("verb", ["approve", "reject"])
def test_nobody_judges_their_own_proposal(stage: Stage, person: Caller, verb: str) -> None:
    intent = awaiting(stage, by=PERSON)
    with nothing_is_written(stage):
        answer = say(person, verb, intent, digest=digest_of(person, intent))
    assert refused(answer) == (403, "own-proposal")
    assert answer.body["detail"] == (
        "Whoever proposed an action doesn't approve it: ask a second person."
    )


@pytest.mark.parametrize("verb", ["approve", "reject"])
def test_another_allocation_than_was_shown_is_told_with_its_digest(
    stage: Stage, person: Caller, verb: str
) -> None:
    intent = awaiting(stage)
    with nothing_is_written(stage):
        answer = say(person, verb, intent, digest=OTHER_DIGEST)
    assert refused(answer) == (409, "shown-otherwise")
    assert answer.body["shown_digest"] == digest_of(person, intent)
    assert answer.body["detail"] == (
        "What was shown to you is not what stands now: look at it again, then say so."
    )


@pytest.mark.parametrize("verb", ["approve", "reject", "clear", "judge-again"])
def test_what_does_not_wait_says_where_it_stands(stage: Stage, person: Caller, verb: str) -> None:
    intent = stage.work(proposed(Caller(stage.workspace, AGENT), stage.case()))
    said = {} if verb == "judge-again" else {"digest": OTHER_DIGEST}
    with nothing_is_written(stage):
        answer = say(person, verb, intent, **said)
    assert refused(answer) == (409, "not-waiting")
    assert answer.body["state"] == "confirmed"


def test_an_allocation_that_changed_meanwhile_is_asked_again(stage: Stage, person: Caller) -> None:
    payments = [Payment(amount="100.00", gateway="card"), Payment(amount="300.00", gateway="bank")]
    case = stage.case(amount="150.00", total="400.00", payments=payments)
    intent = stage.work(proposed(Caller(stage.workspace, AGENT), case, amount="150.00"))
    digest = digest_of(person, intent)
    say(person, "approve", intent, digest=digest)
    stage.shop.refund_by_staff(case.order.id, amount="30.00", payment=case.order.payments[0])
    stage.work(intent)
    body = shown(person, intent)
    assert body["state"] == "awaiting_approval"
    assert [part["amount"] for part in body["decision"]["allocation"]] == [  # type: ignore[index]  # JSON
        "70.00",
        "80.00",
    ]
    late = say(Caller(stage.workspace, SECOND), "approve", intent, digest=digest)
    assert (refused(late), late.body["shown_digest"]) == (
        (409, "shown-otherwise"),
        body["decision"]["shown_digest"],  # type: ignore[index]  # JSON
    )
    assert [effect.note for effect in stage.shop.effects()] == [None]


def test_a_no_refuses_it_for_good_and_is_answered_the_same_again(
    stage: Stage, person: Caller
) -> None:
    intent = awaiting(stage)
    digest = digest_of(person, intent)
    answer = say(person, "reject", intent, digest=digest, reason="this was paid back in cash")
    assert (answer.status, answer.body["state"], answer.body["state_reason"]) == (
        200,
        "refused",
        "rejected_by_person",
    )
    assert [word["approves"] for word in answer.body["approvals"]] == [False]
    assert answer.body["may_be_corrected"] is True
    again = say(person, "reject", intent, digest=digest)
    assert (again.status, again.body) == (200, answer.body)
    late = say(Caller(stage.workspace, SECOND), "approve", intent, digest=digest)
    assert (refused(late), late.body["state"]) == ((409, "not-waiting"), "refused")
    assert stage.shop.effects() == ()


def test_a_no_after_a_yes_comes_too_late(stage: Stage, person: Caller) -> None:
    intent = awaiting(stage)
    digest = digest_of(person, intent)
    say(person, "approve", intent, digest=digest)
    with_a_yes = shown(person, intent)
    for caller in (person, Caller(stage.workspace, SECOND)):
        answer = say(caller, "reject", intent, digest=digest)
        assert (refused(answer), answer.body["state"]) == (
            (409, "not-waiting"),
            "awaiting_approval",
        )
    assert shown(person, intent) == with_a_yes
