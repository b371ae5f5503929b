"""What a person says of a decision, met by raw SQL: approving, saying no, clearing; and what each is worth."""

from datetime import timedelta
from typing import Any

import pytest

from actions.models import GateDecision, Intent
from actions.moves import move
from actions.states import CLEARABLE, HeldReason, State
from integrations.actors import SYSTEM
from integrations.clock import now
from tests import factories
from tests.factories import NODE, TEAM
from tests.refusals import accepted, add, change, refused_by

pytestmark = pytest.mark.django_db
APPROVAL, INTENT = "actions_approval", "actions_intent"
PERSON, PROOF = f"{APPROVAL}_person", f"{INTENT}_proof"
HOUR = timedelta(hours=1)
SHOWN = "an approval covers exactly what a decision showed, and is used later"
CLEARS = "a person clears a reason that a look at its evidence can clear, and no other"


def word_on(decision: GateDecision, **columns: object) -> None:
    """Insert a person's yes to what a decision showed, unless told otherwise."""
    at = now()
    row = {
        "workspace_id": decision.workspace_id, "public_id": f"apr-{at.isoformat()}", "intent_id": decision.intent_id,
        "decision_id": decision.pk, "approver_kind": "human_node", "approver_identity": "node-1", "approves": True,
        "digest": decision.shown_digest, "given_at": at, "expires_at": at + HOUR,
    } | columns  # fmt: skip
    add(APPROVAL, **row)


def asked() -> GateDecision:
    """Return a decision that asks for a second person, on an AI's intent."""
    return factories.intent_in(State.AWAITING_APPROVAL).decisions.get()


def holding(reason: str = HeldReason.DISPUTE, **given: Any) -> GateDecision:
    """Return a decision that holds an intent."""
    intent = factories.make_intent(**given)
    return factories.make_decision(intent=intent, ruling="hold", reason=reason, at=now())


# --- approving ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("approves", [True, False])
def test_the_approver_is_not_the_proposer(approves: bool) -> None:
    decision = asked()
    proposer = {"approver_kind": "ai", "approver_identity": "agent-1"}
    with refused_by(PERSON, "the approver is not the proposer"):
        word_on(decision, approves=approves, **proposer)
    with accepted():
        word_on(decision, approves=approves)


def test_a_person_who_proposed_neither_approves_nor_rejects_and_another_does() -> None:
    decision = factories.intent_in(State.AWAITING_APPROVAL, by=NODE).decisions.get()
    for approves in (True, False):
        with refused_by(PERSON, "the approver is not the proposer"):
            word_on(decision, approves=approves)
    with accepted():
        word_on(decision, approver_identity="node-2")


@pytest.mark.parametrize(
    "columns",
    [{"digest": "another"}, {"used_at": "now"}, {"decision_id": 10**9}, {"intent_id": 10**9}],
)
def test_an_approval_covers_what_was_shown_and_is_used_later(columns: dict[str, object]) -> None:
    for decision in (asked(), holding()):
        with refused_by(PERSON, SHOWN):
            word_on(decision, **columns)


@pytest.mark.parametrize("ruling", ["allow", "refuse", "not_read"])
def test_a_word_answers_a_decision_that_asked_for_one_or_that_holds(ruling: str) -> None:
    intent = factories.make_intent()
    reason = HeldReason.DISPUTE  # even one that could be cleared
    decided = factories.make_decision(intent=intent, ruling=ruling, reason=reason, at=now())
    with refused_by(PERSON, SHOWN):
        word_on(decided)


def test_a_word_on_one_intent_is_none_on_another() -> None:
    decision = asked()
    beside = factories.make_intent(ticket=decision.intent.ticket, target=decision.intent.target)
    with refused_by(PERSON, SHOWN):
        word_on(decision, intent_id=beside.pk)


@pytest.mark.parametrize("kind", ["ai", "system"])
def test_no_program_approves_says_no_or_clears(kind: str) -> None:
    words: tuple[tuple[GateDecision, bool], ...] = ((asked(), True), (asked(), False), (holding(), True))  # fmt: skip
    for decision, approves in words:
        with refused_by("approval_by_a_person"):
            word_on(decision, approves=approves, approver_kind=kind, approver_identity="another")


def test_a_person_says_one_word_on_a_decision_and_another_on_the_next() -> None:
    decision = asked()
    with accepted():
        word_on(decision, approves=False)
    with refused_by("approval_once"):
        word_on(decision)
    later = factories.make_decision(intent=decision.intent, ruling="approve", at=now())
    with accepted():
        word_on(decision, approver_kind="brand_team")
        word_on(decision, approver_identity="node-2")
        word_on(later)
    assert later.shown_digest == decision.shown_digest


@pytest.mark.parametrize(("seconds", "may"), [(0, True), (3599, True), (-1, False), (3600, False)])
def test_an_approval_is_used_between_its_giving_and_its_end(seconds: int, may: bool) -> None:
    at = now()
    approval = factories.make_approval(decision=asked(), at=at, expires_at=at + HOUR)
    with accepted() if may else refused_by("approval_used_in_time"):
        change(APPROVAL, approval.pk, used_at=at + timedelta(seconds=seconds))


def test_a_no_is_never_used() -> None:
    at = now()
    approval = factories.make_approval(decision=asked(), at=at, approves=False)
    with refused_by("approval_used_in_time"):
        change(APPROVAL, approval.pk, used_at=at)


# --- clearing -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", sorted(HeldReason))
def test_a_person_clears_what_a_look_at_its_evidence_can_clear(reason: str) -> None:
    decision = holding(reason)
    with accepted() if reason in CLEARABLE else refused_by(PERSON, CLEARS):
        word_on(decision)


def test_a_no_to_a_hold_says_nothing() -> None:
    with refused_by(PERSON, CLEARS):
        word_on(holding(), approves=False)


def test_the_proposer_clears_what_it_may_not_approve() -> None:
    with accepted():
        word_on(holding(by=NODE))


# --- what a word is worth -------------------------------------------------------------------------------------


def authorizing(intent: Intent, decision: GateDecision) -> None:
    """Move an intent to authorized on a decision, as raw SQL would, as far as the gate's proof is asked."""
    frozen = factories.FROZEN
    change(
        INTENT, intent.pk, state="authorized", event_count=intent.event_count + 1, decision_id=decision.pk,
        document=frozen.document, api_version=frozen.api_version, body=frozen.body, body_digest=frozen.digest,
    )  # fmt: skip


def test_a_clearing_is_never_an_approval() -> None:
    held = holding()
    intent = held.intent
    cleared = factories.make_approval(decision=held, at=now())
    change(APPROVAL, cleared.pk, used_at=now())
    again = factories.make_decision(intent=intent, ruling="approve", at=now())
    assert again.shown_digest == cleared.digest
    with refused_by(PROOF, "past the gate needs the gate's own yes, or an approval of exactly what was shown"):  # fmt: skip
        authorizing(intent, again)


def test_a_second_person_s_yes_beside_a_clearing_is_one() -> None:
    held = holding()
    cleared = factories.make_approval(decision=held, at=now())
    change(APPROVAL, cleared.pk, used_at=now())
    shown = factories.make_decision(intent=held.intent, ruling="approve", at=now())
    approved = factories.make_approval(decision=shown, at=now(), approver_identity="team-2")
    change(APPROVAL, approved.pk, used_at=now())
    again = factories.make_decision(intent=held.intent, ruling="approve", at=now())
    frozen = factories.FROZEN
    with accepted():
        move(
            held.intent, State.AUTHORIZED, by=SYSTEM, at=now(), reason="approved", decision=again, document=frozen.document,
            api_version=frozen.api_version, body=frozen.body, body_digest=frozen.digest,
        )  # fmt: skip


def test_a_clearing_lets_nothing_past_a_decision_that_holds() -> None:
    held = holding()
    cleared = factories.make_approval(decision=held, at=now(), approver_kind=TEAM.kind)
    change(APPROVAL, cleared.pk, used_at=now())
    with refused_by(PROOF, "past the gate needs"):
        authorizing(held.intent, held)
