"""What is held, over HTTP: shown with its evidence, cleared by a person, judged again."""

import pytest

from actions.states import HeldReason
from tests.actions.api.wishes import nothing_is_written, proposed, refused
from tests.actions.api.words import OTHER_DIGEST, digest_of, disputed, say, shown
from tests.caller import Caller
from tests.stage import AGENT, PERSON, Stage

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def person(stage: Stage) -> Caller:
    """Return a Human Node."""
    return Caller(stage.workspace, PERSON)


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
