"""Many at once against one limit, one order, one day: as many go through as fit, and none is lost.

Promises: everything begins at one barrier; the store forgets keys; staff refund in between; whoever
loses is held or refused with the reason.
"""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from functools import partial
from threading import Barrier, BrokenBarrierError, local
from typing import Any

import pytest

from actions import moves
from actions.advance import advance
from actions.closing import close_unresolved
from actions.gate import judge_in_worker
from actions.models import Counter, Intent
from actions.services import withdraw
from integrations.clock import now
from integrations.models import Connection
from integrations.sandbox.faults import FaultKind
from integrations.sandbox.server import Sandbox
from tests.actions.counted import recount, standing, used
from tests.factories.intents import asked
from tests.faults.threads import at_once
from tests.stage import PERSON, Case, Stage, fresh
from tickets.models import CloseReason

pytestmark = pytest.mark.django_db(transaction=True)

WORKERS = 10


@pytest.fixture(autouse=True)
def _forgetful(stage: Stage) -> None:
    stage.shop.keys(remember=False)


def work_together(intents: list[Intent], *meanwhile: Callable[[], object]) -> None:
    """Share the intents among ten workers that begin at once, beside whatever else happens."""

    def worker(first: int) -> None:
        for intent in intents[first::WORKERS]:
            advance(intent.pk)

    at_once(*[partial(worker, first) for first in range(WORKERS)], *meanwhile)


def is_moving(intent: Intent) -> bool:
    """Is it still on its way, or was the order that was read changed while it was read?"""
    unread = (intent.state, intent.state_reason) == ("held", "facts_unavailable")
    return unread or intent.state in ("proposed", "authorized")


def until_nothing_moves(stage: Stage, intents: list[Intent]) -> list[Intent]:
    """Work on those whose race was lost, until each has gone through or stands for a reason."""
    for _ in range(40):
        waiting = [one for one in map(fresh, intents) if is_moving(one)]
        if not waiting:
            return [fresh(intent) for intent in intents]
        for intent in waiting:
            if intent.due_at is not None and intent.due_at > now():
                stage.pass_time(intent.due_at - now())
            advance(intent.pk)
    raise AssertionError("some intents never came to an end")


def test_fifty_partial_refunds_of_one_order_and_staffs_never_pass_what_was_received(
    stage: Stage,
) -> None:
    """F05, F10: what staff do on the store is seen at the next look, under lock."""
    stage.policy()
    case = stage.case(total="200.00")
    intents = [
        stage.propose(case, amount=f"{number // 10 + 5}.{number % 10}{number % 10}")
        for number in range(50)
    ]
    staff = [
        partial(stage.shop.refund_by_staff, case.order.id, amount=amount)
        for amount in ("3.01", "4.02", "2.03")
    ]
    work_together(intents, *staff)
    ended = until_nothing_moves(stage, intents)
    done = [one for one in ended if one.state == "confirmed"]
    lost = [one for one in ended if one.state != "confirmed"]
    effects = stage.shop.effects(order=case.order.id)
    assert sum(effect.amount for effect in effects) <= Decimal("200.00")
    assert {effect.note for effect in effects} - {None} == {one.marker for one in done}
    assert len(effects) == len(done) + 3
    # Nobody was turned away for whom there was room.
    left = Decimal("200.00") - sum(effect.amount for effect in effects)
    assert all(asked(one) > left for one in lost)
    assert {(one.state, one.state_reason) for one in lost} <= {
        ("refused", "over_remainder"),
        ("held", "reservation"),
        ("held", "equal_effect"),
    }
    assert len(done) + len(lost) == 50
    assert standing() == recount()


def test_of_fifty_orders_of_one_customer_as_many_go_through_as_a_day_allows(stage: Stage) -> None:
    stage.policy(cap="10.00", per_customer_day="75.00")
    intents = [
        stage.propose(stage.case(email="ann@example.com", customer="ann"), amount="10.00")
        for _ in range(50)
    ]
    work_together(intents)
    ended = [fresh(intent) for intent in intents]
    assert sorted((one.state, one.state_reason) for one in ended) == (
        [("confirmed", "")] * 7 + [("held", "counter")] * 43
    )
    assert [effect.amount for effect in stage.shop.effects()] == [Decimal("10.00")] * 7
    assert standing() == recount()


def test_the_first_of_a_day_never_wait_for_each_other_for_ever(stage: Stage) -> None:
    """No counter of the day is there yet: forty orders of four customers begin it at once."""
    stage.policy()
    intents = [
        stage.propose(stage.case(email=f"buyer-{number % 4}@example.com", customer="buyer"))
        for number in range(40)
    ]
    assert Counter.objects.count() == 0
    work_together(intents)
    assert {fresh(intent).state for intent in intents} == {"confirmed"}
    assert len(used("refund.customer")) == 4
    assert standing() == recount()


def test_as_many_go_through_as_a_count_a_day_and_a_speed_allow(stage: Stage) -> None:
    stage.policy(counts={"per_day": 6}, velocity={"count": 4, "minutes": 10})
    intents = [stage.propose(stage.case(), amount="10.00") for _ in range(12)]
    work_together(intents)
    assert [fresh(one).state for one in intents].count("confirmed") == 4
    assert {fresh(one).state_reason for one in intents} == {"", "velocity"}
    stage.pass_time(timedelta(minutes=11))
    work_together([one for one in map(fresh, intents) if one.state == "held"])
    assert [fresh(one).state for one in intents].count("confirmed") == 6
    assert {fresh(one).state_reason for one in intents} == {"", "counter"}
    assert len(stage.shop.effects()) == 6


def test_what_is_given_back_and_taken_at_the_same_moment_is_never_taken_twice(
    stage: Stage,
) -> None:
    stage.policy(cap="10.00", per_day="50.00")
    stage.shop.fault(FaultKind.THROTTLED, operation="refundCreate", times=5)
    first = [stage.work(stage.propose(stage.case(), amount="10.00")) for _ in range(5)]
    assert {one.state for one in first} == {"authorized"}
    waiting = [stage.work(stage.propose(stage.case(), amount="10.00")) for _ in range(5)]
    assert {one.state_reason for one in waiting} == {"counter"}
    takers = [partial(advance, one.pk) for one in waiting]
    givers = [partial(withdraw, intent=one, by=PERSON, at=now()) for one in first]
    at_once(*[act for pair in zip(takers, givers, strict=True) for act in pair])
    for _ in range(2):
        stage.work_due()
    assert {fresh(one).state for one in first} == {"withdrawn"}
    assert {fresh(one).state for one in waiting} == {"confirmed"}
    assert used("refund.day") == [(Decimal("50.0000"), 5)]
    assert standing() == recount()


def test_two_workspaces_with_the_same_orders_and_domain_never_touch(stage: Stage) -> None:
    """I9: the same order, customer and amount in another workspace is nobody's equal effect."""
    with Sandbox.running() as sandbox:
        other = Stage(sandbox, name=stage.shop.name, account="gid://shopify/Shop/other")
        both = (stage, other)
        for one in both:
            one.policy(cap="10.00", per_day="30.00", per_order="10.00")
        cases = [
            [one.case(email="ann@example.com", customer="ann") for _ in range(4)] for one in both
        ]
        assert [case.order.id for case in cases[0]] == [case.order.id for case in cases[1]]
        intents = [
            [one.propose(case, amount="10.00") for case in own]
            for one, own in zip(both, cases, strict=True)
        ]
        work_together([intent for pair in zip(*intents, strict=True) for intent in pair])
        for one, own in zip(both, intents, strict=True):
            states = sorted((fresh(intent).state, fresh(intent).state_reason) for intent in own)
            assert states == [("confirmed", "")] * 3 + [("held", "counter")]
            assert [effect.amount for effect in one.shop.effects()] == [Decimal("10.00")] * 3
            assert used("refund.day", workspace=one.workspace) == [(Decimal("30.0000"), 3)]
        withdraw_what_fills_the_others_day(other, intents)
    assert standing() == recount()


def withdraw_what_fills_the_others_day(other: Stage, intents: list[list[Intent]]) -> None:
    """Room in one workspace wakes nobody in the other."""
    (waits,) = [one for one in map(fresh, intents[0]) if one.state == "held"]
    other.policy(cap="10.00", per_day="100.00")
    due = [one for one in map(fresh, intents[1]) if one.due_at is not None and one.due_at <= now()]
    assert len(due) == 1
    assert waits.due_at is not None
    assert waits.due_at > now()


def let_go(case: Case, stage: Stage, *wishes: tuple[str, str]) -> list[Intent]:
    """Have refunds and store credits let go in a case, unsent, in this order."""
    intents = [stage.propose(case, amount=amount, kind=kind) for kind, amount in wishes]
    assert [judge_in_worker(one.pk) for one in intents] == [True] * len(intents)
    return intents


def in_opposite_order(stage: Stage) -> tuple[Case, Case]:
    """Return two cases, one with a refund and a store credit, one with them the other way round."""
    scopes = ["read_orders", "write_orders", "read_customers"]
    Connection.objects.filter(pk=stage.connection.pk).update(scopes=scopes)
    for kind in ("refund", "store_credit"):
        stage.policy(kind=kind)
    first, second = stage.case(), stage.case()
    let_go(first, stage, ("refund", "5.00"), ("store_credit", "6.00"))
    let_go(second, stage, ("store_credit", "6.00"), ("refund", "5.00"))
    return first, second


def slow_to_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each wait after its first move, until the other has made one too or can't."""
    both_have_moved, write, moved = Barrier(2), moves._write, local()

    def then_wait(*given: Any, **named: Any) -> None:
        write(*given, **named)
        if not getattr(moved, "once", False):
            moved.once = True
            with suppress(BrokenBarrierError):
                both_have_moved.wait(0.5)

    monkeypatch.setattr(moves, "_write", then_wait)


def test_two_tickets_that_give_back_of_two_kinds_in_opposite_order_both_close(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = in_opposite_order(stage)
    slow_to_go_on(monkeypatch)

    def close(case: Case) -> str:
        said = close_unresolved(
            ticket=case.ticket, reason=CloseReason.DECLINED, by=PERSON, at=now()
        )
        return said.status

    assert at_once(*[partial(close, case) for case in cases]) == ["closed_unresolved"] * 2
    assert {one.state for one in Intent.objects.all()} == {"withdrawn"}
    assert standing() == recount() == {}


def test_two_orders_whose_effects_of_two_kinds_are_taken_back_in_opposite_order_both_settle(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_opposite_order(stage)
    intents = [stage.work(one) for one in Intent.objects.order_by("pk")]
    assert {one.state for one in intents} == {"confirmed"}
    for one in intents:
        stage.shop.settle_refund(one.external_objects.get().identifier, "FAILURE")
    slow_to_go_on(monkeypatch)
    at_once(*[partial(stage.read, one) for one in (intents[0], intents[2])])
    assert {fresh(one).state for one in intents} == {"reversed"}
    assert standing() == recount() == {}
