"""Equal effects and what else a person may clear: by a look at the evidence, and for no more."""

from datetime import timedelta
from decimal import Decimal

import pytest

from actions.approving import NotClearable, NotWaiting, OnlyAPerson, ShownOtherwise, clear
from actions.models import Approval, Intent
from actions.services import withdraw
from integrations.actors import Actor
from integrations.clock import now
from integrations.models import Connection
from integrations.sandbox.faults import FaultKind
from tests.faults.threads import at_once
from tests.stage import AGENT, INTEGRATION, PERSON, SECOND, TEAM, Stage, fresh
from tickets.services import CustomerStatement

pytestmark = pytest.mark.django_db(transaction=True)

DAY, MINUTE, SECONDS = timedelta(days=1), timedelta(minutes=1), timedelta(seconds=1)


def evidence(intent: Intent, reason: str = "equal_effect") -> list[list[str]]:
    """Return what each finding of a reason rests on, in the newest decision."""
    decision = intent.decisions.order_by("-number")[0]
    findings = [one for verdict in decision.verdicts for one in (verdict, *verdict["also"])]
    return [one["evidence"] for one in findings if one["reason"] == reason]


def twins(stage: Stage) -> tuple[Intent, Intent]:
    """Confirm a refund, and have the same held that another ticket asks for."""
    case = stage.case()
    first = stage.work(stage.propose(case))
    second = stage.work(stage.propose(stage.another_ticket(case)))
    assert (first.state, second.state, second.state_reason) == ("confirmed", "held", "equal_effect")
    return first, second


# --- What is equal -------------------------------------------------------------------------------


def test_the_same_from_two_tickets_of_one_customer_is_held_with_its_evidence(stage: Stage) -> None:
    first, second = twins(stage)
    assert evidence(second) == [[first.public_id]]
    assert len(stage.shop.effects()) == 1


def test_the_same_by_an_ai_and_by_a_person_in_two_tickets_is_held(stage: Stage) -> None:
    case = stage.case()
    stage.work(stage.propose(case, by=AGENT))
    second = stage.work(stage.propose(stage.another_ticket(case), by=PERSON))
    assert (second.state_reason, len(stage.shop.effects())) == ("equal_effect", 1)


def test_a_store_credit_of_the_same_amount_is_the_same(stage: Stage) -> None:
    scopes = [*stage.connection.scopes, "read_customers"]
    Connection.objects.filter(pk=stage.connection.pk).update(scopes=scopes)
    stage.connection.refresh_from_db()
    case = stage.case()
    first = stage.work(stage.propose(case))
    credit = stage.work(stage.propose(case, kind="store_credit"))
    assert (credit.state, credit.state_reason) == ("held", "equal_effect")
    assert evidence(credit) == [[first.public_id]]
    assert len(stage.shop.effects()) == 1


def test_the_same_by_staff_is_held_with_the_refunds_own_identifier(stage: Stage) -> None:
    case = stage.case()
    made = [stage.shop.refund_by_staff(case.order.id, amount="12.50").id for _ in range(2)]
    held = stage.work(stage.propose(case))
    assert (held.state, held.state_reason) == ("held", "equal_effect")
    assert evidence(held) == [[one] for one in made]
    assert len(stage.shop.effects()) == 2


@pytest.mark.parametrize("fault", [FaultKind.LOST_AFTER, FaultKind.LOST_BEFORE])
def test_the_same_that_is_in_doubt_is_held_too(stage: Stage, fault: FaultKind) -> None:
    stage.shop.fault(fault, operation="refundCreate")
    stage.shop.fault(FaultKind.READ_ERROR, operation="order", skip=1)
    case = stage.case()
    first = stage.work(stage.propose(case))
    second = stage.work(stage.propose(stage.another_ticket(case)))
    assert (first.state, second.state_reason) == ("unknown", "equal_effect")
    assert evidence(second) == [[first.public_id]]
    assert len(stage.shop.requests(operation="refundCreate")) == 1


def test_the_same_is_held_at_the_proposal_already(stage: Stage) -> None:
    case = stage.case()
    first = stage.work(stage.propose(case))
    reads = len(stage.shop.requests(operation="order"))
    second = stage.propose(stage.another_ticket(case))
    assert (second.state, second.state_reason) == ("held", "equal_effect")
    assert (stage.shown(second).phase, evidence(second)) == ("proposal", [[first.public_id]])
    assert len(stage.shop.requests(operation="order")) == reads


@pytest.mark.parametrize("amount", ["12.49", "12.51"])
def test_another_amount_is_not_the_same(stage: Stage, amount: str) -> None:
    case = stage.case()
    stage.work(stage.propose(case))
    assert stage.work(stage.propose(stage.another_ticket(case), amount=amount)).state == "confirmed"


# --- Clearing ------------------------------------------------------------------------------------


def test_what_a_person_clears_goes_through_and_says_who_cleared_it(stage: Stage) -> None:
    first, second = twins(stage)
    second = stage.clear(second)
    assert second.state == "confirmed"
    (verdict,) = [v for v in stage.shown(second).verdicts if v["check"] == "not_already_done"]
    assert (verdict["ruling"], verdict["evidence"]) == ("allow", [first.public_id])
    assert str(verdict["sentence"]).endswith("Cleared by human_node node-1.")
    assert len(stage.shop.effects()) == 2
    cleared = second.events.get(name="cleared")
    assert (cleared.by_kind, cleared.by_identity) == ("human_node", "node-1")


def test_what_is_held_at_the_proposal_may_be_cleared_at_once(stage: Stage) -> None:
    case = stage.case()
    stage.work(stage.propose(case))
    second = stage.propose(stage.another_ticket(case))
    assert stage.clear(second).state == "confirmed"


def test_a_new_equal_effect_after_the_clearing_holds_again(stage: Stage) -> None:
    first, second = twins(stage)
    clear(intent=second, word=stage.word(second, by=PERSON))
    made = stage.shop.refund_by_staff(first.target.identifier, amount="12.50")
    second = stage.work(second)
    assert (second.state, second.state_reason) == ("held", "equal_effect")
    assert [made.id] in evidence(second)
    assert len(stage.shop.effects()) == 2
    assert stage.clear(second).state == "confirmed"


def test_a_clearing_covers_its_reason_and_leaves_the_next_standing(stage: Stage) -> None:
    case = stage.case()
    dispute = stage.shop.open_dispute(case.order.id)
    made = stage.shop.refund_by_staff(case.order.id, amount="12.50")
    intent = stage.work(stage.propose(case))
    seen = [[f"{dispute}#NEEDS_RESPONSE"]]
    assert (intent.state_reason, evidence(intent, "dispute")) == ("dispute", seen)
    intent = stage.clear(intent)
    assert (intent.state, intent.state_reason) == ("held", "equal_effect")
    assert evidence(intent) == [[made.id]]
    assert stage.clear(intent).state == "confirmed"


def test_a_clearing_waives_no_limit_no_approval_and_no_refusal(stage: Stage) -> None:
    _, second = twins(stage)
    stage.policy(approval_above="12.49")
    second = stage.clear(second)
    assert (second.state, len(stage.shop.effects())) == ("awaiting_approval", 1)
    stage.policy(cap="12.49")
    second = stage.approve(second)
    assert (second.state, second.state_reason) == ("refused", "over_cap")
    assert len(stage.shop.effects()) == 1


def test_who_clears_may_approve_too_where_another_proposed(stage: Stage) -> None:
    _, second = twins(stage)
    stage.policy(approval_above="12.49")
    second = stage.clear(second, by=PERSON)
    assert stage.approve(second, by=PERSON).state == "confirmed"


@pytest.mark.parametrize("by", [AGENT, INTEGRATION])
def test_neither_an_ai_nor_an_integration_clears(stage: Stage, by: Actor) -> None:
    _, second = twins(stage)
    with pytest.raises(OnlyAPerson):
        stage.clear(second, by=by)
    assert (stage.work(second).state, len(stage.shop.effects())) == ("held", 1)


def test_what_was_shown_must_be_what_stands(stage: Stage) -> None:
    first, second = twins(stage)
    before = stage.shown(second).shown_digest
    stage.shop.refund_by_staff(first.target.identifier, amount="12.50")
    second = stage.judge_again(second)
    with pytest.raises(ShownOtherwise):
        stage.clear(second, digest=before)
    assert (fresh(second).state, Approval.objects.count()) == ("held", 0)


def test_what_is_not_held_is_not_cleared(stage: Stage) -> None:
    intent = stage.work(stage.propose(stage.case()))
    with pytest.raises(NotWaiting):
        clear(intent=intent, word=stage.word(intent))


def test_many_clicks_are_one_clearing_and_one_refund(stage: Stage) -> None:
    stage.shop.keys(remember=False)
    _, second = twins(stage)
    words = [stage.word(second, by=by) for by in (PERSON, SECOND, TEAM)]

    def click(number: int) -> bool:
        try:
            clear(intent=second, word=words[number % 3])
        except NotWaiting:
            return False
        stage.work(second)
        return True

    at_once(*[lambda number=number: click(number) for number in range(12)])
    assert stage.settle(second).state == "confirmed"
    assert len(stage.shop.effects()) == 2


def test_a_clearing_that_expired_is_asked_for_again_of_the_same_person(stage: Stage) -> None:
    _, second = twins(stage)
    stage.pause()
    assert stage.clear(second).state_reason == "paused"
    stage.pass_time(DAY + MINUTE)
    stage.resume()
    second = stage.judge_again(second)
    assert (second.state, second.state_reason) == ("held", "equal_effect")
    assert stage.clear(second).state == "confirmed"


def test_a_clearing_that_expired_before_anyone_looked_is_not_used(stage: Stage) -> None:
    """No worker ran for a day."""
    _, second = twins(stage)
    clear(intent=second, word=stage.word(second, by=PERSON))
    stage.pass_time(DAY + SECONDS)
    with pytest.raises(NotWaiting):
        clear(intent=second, word=stage.word(second, by=PERSON))
    second = stage.work(second)
    assert (second.state, second.state_reason, len(stage.shop.effects())) == (
        "held",
        "equal_effect",
        1,
    )
    assert stage.clear(stage.judge_again(second)).state == "confirmed"


# --- What may be cleared, and what may not -------------------------------------------------------


def _dispute(stage: Stage) -> Intent:
    case = stage.case()
    stage.shop.open_dispute(case.order.id)
    return stage.propose(case)


def _failed_refund(stage: Stage) -> Intent:
    stage.shop.gateway("manual", answers="FAILURE")
    case = stage.case()
    assert stage.work(stage.propose(case)).state == "failed"
    stage.shop.gateway("manual", answers="SUCCESS")
    return stage.propose(stage.another_ticket(case), amount="10.00")


def _unverified(stage: Stage) -> Intent:
    customer = CustomerStatement(email="shopper@example.com")
    case = stage.case(customer_statement=customer, email="shopper@example.com", customer=None)
    return stage.propose(case)


def _unclear(stage: Stage) -> Intent:
    customer = CustomerStatement(verified=True)
    case = stage.case(customer_statement=customer, email="shopper@example.com", customer=None)
    return stage.propose(case)


CLEARABLE = {
    "dispute": _dispute,
    "failed_refund_object": _failed_refund,
    "unverified_customer": _unverified,
    "ownership_unclear": _unclear,
}


@pytest.mark.parametrize("reason", CLEARABLE)
def test_what_a_look_at_its_evidence_can_clear_is_cleared(stage: Stage, reason: str) -> None:
    intent = stage.work(CLEARABLE[reason](stage))
    effects = len(stage.shop.effects())
    assert (intent.state, intent.state_reason) == ("held", reason)
    assert len(evidence(intent, reason)) == 1
    assert len(evidence(intent, reason)[0]) == 1
    assert stage.clear(intent).state == "confirmed"
    assert len(stage.shop.effects()) == effects + 1


def _paused(stage: Stage) -> Intent:
    stage.pause()
    return stage.propose(stage.case())


def _blocked(stage: Stage) -> Intent:
    Connection.objects.filter(pk=stage.connection.pk).update(blocked_by="payment", blocked_at=now())
    return stage.propose(stage.case())


def _circuit(stage: Stage) -> Intent:
    Connection.objects.filter(pk=stage.connection.pk).update(circuit_open_until=now() + MINUTE)
    return stage.propose(stage.case())


def _scope(stage: Stage) -> Intent:
    Connection.objects.filter(pk=stage.connection.pk).update(scopes=["read_orders"])
    return stage.propose(stage.case())


def _unreadable(stage: Stage) -> Intent:
    stage.shop.fault(FaultKind.READ_ERROR, operation="order")
    return stage.propose(stage.case())


def _reserved(stage: Stage) -> Intent:
    stage.shop.fault(FaultKind.THROTTLED, operation="refundCreate")
    case = stage.case(amount="60.00", total="100.00")
    stage.work(stage.propose(case, amount="60.00"))
    return stage.propose(stage.another_ticket(case), amount="50.00")


def _counted(stage: Stage) -> Intent:
    stage.policy(counts={"per_day": 1})
    stage.work(stage.propose(stage.case()))
    return stage.propose(stage.case())


def _too_fast(stage: Stage) -> Intent:
    stage.policy(velocity={"count": 1, "minutes": 10})
    stage.work(stage.propose(stage.case()))
    return stage.propose(stage.case())


NOT_CLEARABLE = {
    "paused": _paused,
    "blocked_connection": _blocked,
    "circuit": _circuit,
    "missing_scope": _scope,
    "facts_unavailable": _unreadable,
    "reservation": _reserved,
    "counter": _counted,
    "velocity": _too_fast,
}


@pytest.mark.parametrize("reason", NOT_CLEARABLE)
def test_what_a_word_does_not_change_is_cleared_by_nobody(stage: Stage, reason: str) -> None:
    intent = stage.work(NOT_CLEARABLE[reason](stage))
    effects = len(stage.shop.effects())
    assert (intent.state, intent.state_reason) == ("held", reason)
    with pytest.raises(NotClearable):
        stage.clear(intent)
    assert (fresh(intent).state, Approval.objects.count()) == ("held", 0)
    assert len(stage.shop.effects()) == effects


# --- Two that are equal and neither done ---------------------------------------------------------


def _two(stage: Stage) -> tuple[Intent, Intent]:
    case = stage.case()
    return stage.propose(case), stage.propose(stage.another_ticket(case))


def test_two_that_were_only_proposed_do_not_hold_each_other(stage: Stage) -> None:
    first, second = _two(stage)
    assert (stage.work(second).state, stage.work(first).state_reason) == (
        "confirmed",
        "equal_effect",
    )
    assert len(stage.shop.effects()) == 1


def test_two_that_await_approval_do_not_hold_each_other(stage: Stage) -> None:
    stage.policy(approval_above="1.00")
    first, second = map(stage.work, _two(stage))
    assert (first.state, second.state) == ("awaiting_approval", "awaiting_approval")
    assert stage.approve(second).state == "confirmed"
    first = stage.approve(first)
    assert (first.state, first.state_reason) == ("held", "equal_effect")
    assert len(stage.shop.effects()) == 1


def test_two_that_were_paused_do_not_hold_each_other_when_it_ends(stage: Stage) -> None:
    stage.shop.fault(FaultKind.THROTTLED, operation="refundCreate")
    first, second = _two(stage)
    assert (stage.work(first).state, stage.work(second).state_reason) == (
        "authorized",
        "equal_effect",
    )
    stage.pause()
    assert stage.work(first).state_reason == "paused"
    assert stage.work(second).state_reason == "paused"
    stage.resume()
    stage.work_due()
    ended = sorted((fresh(one).state, fresh(one).state_reason) for one in (first, second))
    assert ended == [("confirmed", ""), ("held", "equal_effect")]
    assert len(stage.shop.effects()) == 1


def test_a_cleared_dispute_holds_again_once_the_bank_has_decided_it(stage: Stage) -> None:
    stage.policy(approval_above="10.00")
    case = stage.case()
    dispute = stage.shop.open_dispute(case.order.id, status="UNDER_REVIEW")
    intent = stage.clear(stage.work(stage.propose(case)))
    assert intent.state == "awaiting_approval"
    order = stage.sandbox._world.shops[stage.shop.name].orders[case.order.id]
    order.disputes[0].status = "LOST"
    intent = stage.approve(intent)
    assert (intent.state, intent.state_reason) == ("held", "dispute")
    assert evidence(intent, "dispute") == [[f"{dispute}#LOST"]]
    assert stage.shop.effects() == ()


def test_a_second_refund_with_our_marker_is_shown_to_whoever_clears_or_repeats(
    stage: Stage,
) -> None:
    case = stage.case()
    first = stage.work(stage.propose(case))
    doubled = stage.shop.refund_by_staff(case.order.id, amount="12.50", note=first.marker)
    twin = stage.work(stage.propose(stage.another_ticket(case)))
    assert sorted(evidence(twin)) == sorted([[first.public_id], [doubled.id]])
    again = stage.propose(
        case,
        by=PERSON,
        repeat_of=first,
        acknowledges=first.external_objects.get().identifier,
    )
    again = stage.work(again)
    assert (again.state, evidence(again)) == ("held", [[doubled.id]])
    assert len(stage.shop.effects()) == 2


def test_what_may_have_left_and_is_proven_absent_is_done_again_by_a_person_alone(
    stage: Stage,
) -> None:
    stage.shop.fault(FaultKind.LOST_BEFORE, operation="refundCreate")
    first, second = _two(stage)
    stage.work(first)
    withdraw(intent=fresh(first), by=PERSON, at=now())
    first = stage.settle(first)
    assert (first.state, first.state_reason) == ("failed", "absent")
    second = stage.work(second)
    assert (second.state_reason, evidence(second)) == ("equal_effect", [[first.public_id]])
    assert stage.shop.effects() == ()
    assert stage.clear(second).state == "confirmed"


def test_when_one_ends_unsent_the_other_goes_on_at_once(stage: Stage) -> None:
    stage.shop.fault(FaultKind.THROTTLED, operation="refundCreate")
    first, second = _two(stage)
    stage.work(first)
    assert stage.work(second).state_reason == "equal_effect"
    withdraw(intent=fresh(first), by=PERSON, at=now())
    first = stage.settle(first)
    assert first.state == "withdrawn"
    due_at = fresh(second).due_at
    assert due_at is not None
    assert due_at <= now()
    assert stage.work(second).state == "confirmed"
    assert [effect.amount for effect in stage.shop.effects()] == [Decimal("12.50")]
