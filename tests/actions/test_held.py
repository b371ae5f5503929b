"""Held: each reason by its real cause, judged again when the cause ends, and never a trap.

Promises: nothing goes out while it is held; it goes on once, by itself, when what holds it is over;
past the brand's time it stands before a person who has a way out.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

import pytest

from actions.approving import NotWaiting, OnlyAPerson, judge_again
from actions.dispatch import resume
from actions.durations import Durations
from actions.models import Intent
from actions.services import withdraw
from actions.states import HeldReason
from integrations import workspaces
from integrations.clock import now
from integrations.models import Connection
from integrations.sandbox.faults import FaultKind
from tests.stage import AGENT, PERSON, Case, Stage, fresh
from tickets.models import Customer
from tickets.services import CustomerStatement

pytestmark = pytest.mark.django_db(transaction=True)

DAY, MINUTE, SECONDS = timedelta(days=1), timedelta(minutes=1), timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """What holds an intent, and what ends that."""

    begins: Callable[[Stage], Intent]
    ends: Callable[[Stage, Intent], object]
    wakes: bool = True
    """Does its end make the intent due at once?"""


def _connection(stage: Stage, **columns: object) -> None:
    Connection.objects.filter(pk=stage.connection.pk).update(**columns)
    stage.connection.refresh_from_db()


def _let_in(stage: Stage, **columns: object) -> None:
    _connection(stage, **columns)
    resume(stage.connection, now=now())


def _paused(stage: Stage) -> Intent:
    stage.pause()
    return stage.propose(stage.case())


def _killed(stage: Stage) -> Intent:
    workspaces.kill_writes(stage.workspace, at=now())
    return stage.propose(stage.case())


def _allowed(stage: Stage, _intent: Intent) -> None:
    workspaces.allow_writes(stage.workspace)
    stage.resume()


def _circuit(stage: Stage) -> Intent:
    _connection(stage, circuit_open_until=now() + 3 * MINUTE)
    return stage.propose(stage.case())


def _blocked(stage: Stage) -> Intent:
    stage.shop.fault(FaultKind.STATUS_BEFORE, operation="order", status=402)
    return stage.propose(stage.case())


def _scope(stage: Stage) -> Intent:
    _connection(stage, scopes=["read_orders"])
    return stage.propose(stage.case())


def _unreadable(stage: Stage) -> Intent:
    stage.shop.fault(FaultKind.READ_ERROR, operation="order", times=2)
    return stage.propose(stage.case())


def _reserved(stage: Stage) -> Intent:
    stage.shop.fault(FaultKind.THROTTLED, operation="refundCreate")
    case = stage.case(amount="60.00", total="100.00")
    stage.work(stage.propose(case, amount="60.00"))
    return stage.propose(stage.another_ticket(case), amount="50.00")


def _withdraw_the_other(_stage: Stage, intent: Intent) -> None:
    (other,) = Intent.objects.exclude(pk=intent.pk)
    withdraw(intent=other, by=PERSON, at=now())


def _equal(stage: Stage) -> Intent:
    stage.shop.fault(FaultKind.THROTTLED, operation="refundCreate")
    case = stage.case()
    stage.work(stage.propose(case))
    return stage.propose(stage.another_ticket(case))


def _counted(stage: Stage) -> Intent:
    stage.policy(counts={"per_day": 1})
    stage.work(stage.propose(stage.case()))
    return stage.propose(stage.case())


def _too_fast(stage: Stage) -> Intent:
    stage.policy(velocity={"count": 1, "minutes": 10})
    stage.work(stage.propose(stage.case()))
    return stage.propose(stage.case())


def _unverified(stage: Stage) -> Intent:
    customer = CustomerStatement(email="shopper@example.com")
    return stage.propose(
        stage.case(customer_statement=customer, email="shopper@example.com", customer=None)
    )


def _verify(_stage: Stage, intent: Intent) -> None:
    Customer.objects.filter(ticket=intent.ticket).update(
        verified_at=now(), verified_by_kind=PERSON.kind, verified_by_identity=PERSON.identity
    )


def _failed_refund(stage: Stage) -> Intent:
    """Staff's own: one of ours that stands after all is for a person, whatever else ends."""
    stage.shop.gateway("manual", answers="FAILURE")
    case = stage.case()
    stage.shop.refund_by_staff(case.order.id, amount="12.50")
    stage.shop.gateway("manual", answers="SUCCESS")
    return stage.propose(case, amount="10.00")


def _retry(stage: Stage, _intent: Intent) -> None:
    (failed,) = stage.shop.effects()
    stage.shop.retry_refund(failed.id)


CAUSES = {
    HeldReason.PAUSED: Cause(begins=_paused, ends=lambda stage, _: stage.resume()),
    HeldReason.KILL_SWITCH: Cause(begins=_killed, ends=_allowed),
    HeldReason.CIRCUIT: Cause(
        begins=_circuit,
        # Not by letting time pass: the fence asks the database's own clock, which tests don't move.
        ends=lambda stage, _: _let_in(stage, circuit_open_until=None),
    ),
    HeldReason.BLOCKED_CONNECTION: Cause(
        begins=_blocked,
        ends=lambda stage, _: _let_in(stage, blocked_by="", blocked_at=None),
    ),
    HeldReason.MISSING_SCOPE: Cause(
        begins=_scope, ends=lambda stage, _: _let_in(stage, scopes=["read_orders", "write_orders"])
    ),
    HeldReason.FACTS_UNAVAILABLE: Cause(
        begins=_unreadable, ends=lambda stage, _: resume(stage.connection, now=now())
    ),
    HeldReason.RESERVATION: Cause(begins=_reserved, ends=_withdraw_the_other),
    HeldReason.EQUAL_EFFECT: Cause(begins=_equal, ends=_withdraw_the_other),
    HeldReason.COUNTER: Cause(begins=_counted, ends=lambda stage, _: stage.policy()),
    HeldReason.VELOCITY: Cause(begins=_too_fast, ends=lambda stage, _: stage.policy()),
    HeldReason.UNVERIFIED_CUSTOMER: Cause(begins=_unverified, ends=_verify, wakes=False),
    HeldReason.FAILED_REFUND_OBJECT: Cause(begins=_failed_refund, ends=_retry, wakes=False),
}
"""What ends by itself or by another's act. An open dispute and an unclear owner are cleared."""


@pytest.mark.parametrize("reason", CAUSES)
def test_what_is_held_goes_on_once_when_its_cause_ends(stage: Stage, reason: HeldReason) -> None:
    cause = CAUSES[reason]
    intent = stage.work(cause.begins(stage))
    effects = len(stage.shop.effects())
    assert (intent.state, intent.state_reason, intent.counted_on) == ("held", reason, None)
    assert intent.due_at is not None
    assert intent.due_at > now()
    assert stage.work(intent).state == "held"
    assert len(stage.shop.effects()) == effects
    cause.ends(stage, intent)
    if cause.wakes:
        assert stage.work_due() == [intent.pk]
        assert fresh(intent).state == "confirmed"
    assert stage.settle(intent).state == "confirmed"
    refunds = [effect.note for effect in stage.shop.effects()]
    assert (len(refunds), refunds.count(intent.marker)) == (effects + 1, 1)


LASTING = [reason for reason in CAUSES if reason not in (HeldReason.COUNTER, HeldReason.VELOCITY)]
"""The others are over within a day by themselves."""


@pytest.mark.parametrize("reason", LASTING)
def test_what_is_held_past_the_brands_time_stands_before_a_person_who_has_it_judged_again(
    stage: Stage, reason: HeldReason
) -> None:
    cause = CAUSES[reason]
    intent = stage.work(cause.begins(stage))
    assert (intent.state, intent.state_reason) == ("held", reason)
    if reason is HeldReason.CIRCUIT:
        _connection(stage, circuit_open_until=now() + 2 * DAY)
    if reason is HeldReason.FACTS_UNAVAILABLE:
        stage.shop.fault(FaultKind.READ_ERROR, operation="order", times=None)
    stage.pass_time(Durations().held_patience + MINUTE)
    intent = stage.work(intent)
    assert (intent.state, intent.due_at, intent.needs_human_reason) == (
        "held",
        None,
        "held_too_long",
    )
    with pytest.raises(OnlyAPerson):
        judge_again(intent=intent, by=AGENT, at=now())
    stage.shop.clear_faults()
    cause.ends(stage, intent)
    intent = stage.settle(stage.judge_again(intent))
    assert (intent.state, intent.needs_human_reason) == ("confirmed", "")
    assert [effect.note for effect in stage.shop.effects()].count(intent.marker) == 1


def test_a_hold_that_lasts_though_a_person_had_it_judged_again_stays_before_one(
    stage: Stage,
) -> None:
    intent = stage.work(_scope(stage))
    stage.pass_time(Durations().held_patience + MINUTE)
    stage.work(intent)
    intent = stage.judge_again(intent)
    assert (intent.state, intent.due_at, intent.needs_human_reason) == (
        "held",
        None,
        "held_too_long",
    )
    assert stage.shop.requests(operation="refundCreate") == ()


def test_what_is_not_held_is_not_judged_again(stage: Stage) -> None:
    intent = stage.work(stage.propose(stage.case()))
    with pytest.raises(NotWaiting):
        judge_again(intent=intent, by=PERSON, at=now())
    assert fresh(intent).event_count == intent.event_count


def test_one_reason_after_another_is_named_as_it_stands(stage: Stage) -> None:
    intent = stage.work(_paused(stage))
    _connection(stage, scopes=["read_orders"])
    stage.resume()
    intent = stage.work(intent)
    assert (intent.state, intent.state_reason) == ("held", "missing_scope")
    assert [event.name for event in intent.events.order_by("number")] == [
        "proposed",
        "held",
        "held",
    ]
    _let_in(stage, scopes=["read_orders", "write_orders"])
    assert stage.work(intent).state == "confirmed"


def test_a_hold_that_says_the_same_again_is_one_decision_and_one_event(stage: Stage) -> None:
    intent = stage.work(_scope(stage))
    decisions, events = intent.decisions.count(), intent.event_count
    for _ in range(3):
        stage.pass_time(MINUTE)
        intent = stage.work(intent)
    assert (intent.decisions.count(), intent.event_count) == (decisions, events)


def test_a_pause_of_five_minutes_destroys_no_queue(stage: Stage) -> None:
    """Ten only proposed, ten authorized and unsent, ten proposed while it lasts: all go through."""
    stage.policy()
    cases: list[Case] = [stage.case() for _ in range(30)]
    stage.shop.fault(FaultKind.THROTTLED, operation="refundCreate", times=10)
    authorized = [stage.work(stage.propose(case)) for case in cases[:10]]
    proposed = [stage.propose(case) for case in cases[10:20]]
    assert {one.state for one in authorized} == {"authorized"}
    stage.pause()
    during = [stage.propose(case) for case in cases[20:]]
    intents = [*authorized, *proposed, *during]
    for minutes in (2, 3):
        stage.pass_time(minutes * MINUTE)
        stage.work_due()
    held = Counter((fresh(one).state, fresh(one).state_reason) for one in intents)
    assert held == {("held", "paused"): 30}
    assert stage.shop.effects() == ()
    stage.resume()
    assert sorted(stage.work_due()) == sorted(one.pk for one in intents)
    assert Counter(fresh(one).state for one in intents) == {"confirmed": 30}
    assert sorted(effect.note or "" for effect in stage.shop.effects()) == sorted(
        one.marker for one in intents
    )
    assert {effect.amount for effect in stage.shop.effects()} == {Decimal("12.50")}


def test_resuming_one_workspace_wakes_nobody_in_another(stage: Stage) -> None:
    other = Stage(stage.sandbox, name="other.myshopify.com")
    stage.pause()
    other.pause()
    ours, theirs = stage.propose(stage.case()), other.propose(other.case())
    assert stage.resume() == 1
    assert stage.work_due() == [ours.pk]
    assert (fresh(ours).state, fresh(theirs).state) == ("confirmed", "held")
    assert other.shop.requests() == ()
