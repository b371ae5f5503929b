"""What people say over HTTP: approve, reject, clear, judge again, accept; and who may not."""

import pytest
from pytest_django import DjangoAssertNumQueries

from actions.boundaries import Boundary
from actions.models import Approval, Intent
from actions.states import HeldReason, State
from integrations.actors import Actor, ActorKind
from integrations.sandbox.records import Payment
from tests.actions.api.wishes import nothing_is_written, proposed, refused
from tests.caller import Answer, Caller
from tests.factories import intent_in, make_approval
from tests.stage import AGENT, INTEGRATION, PERSON, Stage

pytestmark = pytest.mark.django_db(transaction=True)

SECOND = Actor(kind=ActorKind.HUMAN_NODE, identity="node-2")
TEAM = Actor(kind=ActorKind.BRAND_TEAM, identity="ada")
OTHER_DIGEST = "0" * 64


@pytest.fixture
def person(stage: Stage) -> Caller:
    """Return a Human Node."""
    return Caller(stage.workspace, PERSON)


def shown(caller: Caller, intent: Intent) -> dict[str, object]:
    """Return an intent's document."""
    return dict(caller.get(f"intents/{intent.public_id}/").body)


def digest_of(caller: Caller, intent: Intent) -> str:
    """Return the digest of what is shown of it now."""
    return str(caller.get(f"intents/{intent.public_id}/").body["decision"]["shown_digest"])


def say(caller: Caller, verb: str, intent: Intent, **said: object) -> Answer:
    """Say a word on an intent."""
    return caller.post(f"intents/{intent.public_id}/{verb}/", said)


def awaiting(stage: Stage, *, by: Actor = AGENT) -> Intent:
    """Return a refund of 150.00 EUR that awaits approval."""
    case = stage.case(amount="150.00", total="400.00")
    intent = stage.work(proposed(Caller(stage.workspace, by), case, amount="150.00"))
    assert intent.state == "awaiting_approval"
    return intent


def disputed(stage: Stage) -> tuple[Intent, str]:
    """Return a refund that is held for a dispute, and the dispute."""
    case = stage.case()
    dispute = stage.shop.open_dispute(case.order.id)
    intent = stage.work(proposed(Caller(stage.workspace, AGENT), case))
    assert (intent.state, intent.state_reason) == ("held", "dispute")
    return intent, dispute


def partly_done(stage: Stage) -> Intent:
    """Return a refund of which 8.00 EUR stand and 4.50 EUR failed."""
    payments = [Payment(amount="8.00", gateway="card"), Payment(amount="92.00", gateway="voucher")]
    stage.shop.gateway("voucher", answers="FAILURE")
    case = stage.case(total="100.00", payments=payments)
    intent = stage.work(proposed(Caller(stage.workspace, AGENT), case))
    assert intent.state == "partially_confirmed"
    return intent


# --- Approve ------------------------------------------------------------------------------------


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
    assert "ask a second person" in answer.body["detail"] or verb == "reject"


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


# --- Reject -------------------------------------------------------------------------------------


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


# --- Clear --------------------------------------------------------------------------------------


def test_a_hold_shows_its_evidence_and_a_person_clears_it(stage: Stage, person: Caller) -> None:
    intent, dispute = disputed(stage)
    body = shown(person, intent)
    assert (body["clearable"], body["evidence"]) == (True, [dispute])
    digest = digest_of(person, intent)
    answer = say(person, "clear", intent, digest=digest, reason="the bank has dropped it")
    assert (answer.status, answer.body["state"]) == (200, "held")
    (word,) = answer.body["approvals"]
    assert (word["approves"], word["clears"], word["digest"]) == (True, "dispute", digest)
    again = say(person, "clear", intent, digest=digest)
    assert (again.status, again.body) == (200, answer.body)
    assert stage.work(intent).state == "confirmed"
    body = shown(person, intent)
    assert (body["clearable"], body["evidence"]) == (False, [])
    grounded = body["verdicts"][1]  # type: ignore[index]  # JSON
    assert (grounded["ruling"], grounded["evidence"]) == ("allow", [dispute])
    assert grounded["sentence"].endswith(" Cleared by human_node node-1.")
    assert len(stage.shop.effects()) == 1


def test_other_evidence_than_was_shown_is_told_with_its_digest(
    stage: Stage, person: Caller
) -> None:
    intent, _ = disputed(stage)
    with nothing_is_written(stage):
        answer = say(person, "clear", intent, digest=OTHER_DIGEST)
    assert refused(answer) == (409, "shown-otherwise")
    assert answer.body["shown_digest"] == digest_of(person, intent)


def test_a_twin_in_another_ticket_is_held_with_the_other_as_its_evidence(
    stage: Stage, person: Caller
) -> None:
    case = stage.case()
    first = stage.work(proposed(Caller(stage.workspace, AGENT), case))
    twin = stage.work(proposed(Caller(stage.workspace, AGENT), stage.another_ticket(case)))
    body = shown(person, twin)
    assert (body["state_reason"], body["clearable"], body["evidence"]) == (
        "equal_effect",
        True,
        [first.public_id],
    )
    assert len(stage.shop.effects()) == 1


def test_a_reason_that_no_word_clears_says_so(stage: Stage, person: Caller) -> None:
    stage.workspace.paused_at = stage.now()
    stage.workspace.save(update_fields=["paused_at"])
    intent = stage.work(proposed(Caller(stage.workspace, AGENT), stage.case()))
    body = shown(person, intent)
    assert (body["state"], body["clearable"], body["evidence"]) == ("held", False, [])
    with nothing_is_written(stage):
        answer = say(person, "clear", intent, digest=digest_of(person, intent))
    assert refused(answer) == (409, "not-clearable")
    assert answer.body["state_reason"] == "paused"
    assert stage.shop.effects() == ()


# --- Judge again --------------------------------------------------------------------------------


def test_a_person_has_it_judged_again(stage: Stage, person: Caller) -> None:
    stage.connection.scopes = ["read_orders"]
    stage.connection.save(update_fields=["scopes"])
    intent = stage.work(proposed(Caller(stage.workspace, AGENT), stage.case()))
    assert intent.state_reason == HeldReason.MISSING_SCOPE
    stage.connection.scopes = ["read_orders", "write_orders"]
    stage.connection.save(update_fields=["scopes"])
    answer = say(person, "judge-again", intent)
    assert (answer.status, answer.body["state"]) == (200, "held")
    assert answer.body["events"][-1]["name"] == "judged_again"
    assert stage.work(intent).state == "confirmed"


# --- Accept -------------------------------------------------------------------------------------


def test_a_person_accepts_exactly_what_stands(stage: Stage, person: Caller) -> None:
    intent = partly_done(stage)
    said = {"amount": "8.00", "currency": "EUR", "reason": "the voucher is used up"}
    answer = say(person, "accept", intent, **said)
    assert (answer.status, answer.body["state"], answer.body["rest"]) == (
        200,
        "accepted",
        {"amount": "4.50", "currency": "EUR"},
    )
    assert answer.body["already_processed"] is False
    assert b"used up" not in answer.response.content
    again = say(person, "accept", intent, **said)
    assert (again.status, again.body) == (200, answer.body)


def _with(**changes: str) -> dict[str, str]:
    return {"amount": "8.00", "currency": "EUR", "reason": "the voucher is used up"} | changes


@pytest.mark.parametrize(
    ("by", "said"),
    [
        (SECOND, _with()),
        (PERSON, _with(reason="another reason")),
        (PERSON, _with(amount="4.50")),
    ],
)
def test_other_words_on_what_was_accepted_are_not_dropped_in_silence(
    stage: Stage, person: Caller, by: Actor, said: dict[str, object]
) -> None:
    intent = partly_done(stage)
    say(person, "accept", intent, **_with())
    caller = Caller(stage.workspace, by)
    with nothing_is_written(stage):
        answer = say(caller, "accept", intent, **said)
    assert (refused(answer), answer.body["state"]) == ((409, "not-acceptable-now"), "accepted")


def test_another_amount_is_told_with_what_stands(stage: Stage, person: Caller) -> None:
    intent = partly_done(stage)
    with nothing_is_written(stage):
        answer = say(person, "accept", intent, **_with(amount="12.50"))
    assert refused(answer) == (409, "another-amount")
    assert answer.body["stands"] == {"amount": "8.00", "currency": "EUR"}
    assert answer.body["detail"] == (
        "The platform holds another amount than you accept: look at it again."
    )


def test_what_may_still_move_is_not_accepted(stage: Stage, person: Caller) -> None:
    stage.shop.gateway("manual", answers="PENDING")
    intent = stage.work(proposed(Caller(stage.workspace, AGENT), stage.case()))
    with nothing_is_written(stage):
        answer = say(person, "accept", intent, **_with())
    assert (refused(answer), answer.body["state"]) == ((409, "not-acceptable-now"), "pending")


@pytest.mark.parametrize(
    ("verb", "said", "errors"),
    [
        ("approve", {}, {"digest": ["It is missing; give it."]}),
        ("approve", {"digest": 7}, {"digest": ["It must be text, in quotes."]}),
        ("reject", {"digest": "a" * 65}, {"digest": ["It is longer than 64 characters."]}),
        ("clear", {"digest": ""}, {"digest": ["It is empty; give it or leave it out."]}),
        ("judge-again", {"now": True}, {"now": ["There is no such field; leave it out."]}),
        ("accept", _with(reason=""), {"reason": ["It is empty; give it or leave it out."]}),
        (
            "accept",
            _with(amount="8,00"),
            {
                "amount": [
                    (
                        "'8,00' has separators; write one point before the decimals and no other, "
                        "as 12.50."
                    )
                ]
            },
        ),
        (
            "accept",
            _with(currency="eur"),
            {
                "currency": [
                    "'eur' is not an active ISO 4217 currency; write its code in capitals, as EUR."
                ]
            },
        ),
    ],
)
def test_what_can_not_be_taken_is_400(
    stage: Stage, person: Caller, verb: str, said: dict[str, object], errors: object
) -> None:
    intent = awaiting(stage)
    with nothing_is_written(stage):
        answer = say(person, verb, intent, **said)
    assert (answer.status, answer.body["errors"]) == (400, errors)


# --- How it reads -------------------------------------------------------------------------------


def test_what_the_store_rejected_is_shown_by_code_and_words(stage: Stage) -> None:
    case = stage.case(amount="60.00", total="100.00")
    caller = Caller(stage.workspace, AGENT)
    intent = proposed(caller, case, amount="60.00")
    with stage.at(
        Boundary.CLAIMED, lambda: stage.shop.refund_by_staff(case.order.id, amount="70.00")
    ):
        stage.work(intent)
    body = caller.get(f"intents/{intent.public_id}/").body
    assert (body["state"], body["state_reason"]) == ("failed", "rejected")
    rejection = body["rejection"]
    assert (rejection["code"], rejection["attempt"]) == ("over_net_payment", 1)
    assert rejection["message"].startswith("Refund amount €60.00 is greater than")
    assert rejection["at"] == body["attempts"][0]["closed_at"]
    assert body["may_be_corrected"] is True


@pytest.mark.parametrize("count", [1, 5])
def test_an_intent_costs_the_same_however_much_was_said_of_it(
    count: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    intent = intent_in(State.AWAITING_APPROVAL)
    decision = intent.decisions.get()
    for number in range(count):
        make_approval(decision=decision, at=decision.decided_at, approver_identity=f"p-{number}")
    caller = Caller(intent.workspace, AGENT)
    with django_assert_num_queries(14):
        answer = caller.get(f"intents/{intent.public_id}/")
    assert len(answer.body["approvals"]) == count
