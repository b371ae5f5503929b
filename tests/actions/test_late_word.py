"""What a store says later, or otherwise, never leaves an intent stuck or falsely done."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from actions.models import Intent
from integrations.money import Money
from integrations.platforms.shopify.adapter import ShopifyAdapter
from integrations.ports import Observation, OrderSnapshot, RefundBasis, Unreadable
from integrations.sandbox.faults import FaultKind
from integrations.sandbox.records import Payment
from tests.stage import Case, Stage

pytestmark = pytest.mark.django_db(transaction=True)

Lie = Callable[[Observation], Observation]


def _refund_of(intent: Intent) -> str:
    return intent.external_objects.get().identifier


def _pending(stage: Stage) -> Intent:
    stage.shop.gateway("manual", answers="PENDING")
    intent = stage.work(stage.propose(stage.case()))
    assert intent.state == "pending"
    return intent


def _paid_twice(stage: Stage) -> Case:
    payments = [Payment(amount="50.00", gateway=name) for name in ("card", "voucher")]
    return stage.case(amount="80.00", total="100.00", payments=payments)


def _let_reads_say(patch: pytest.MonkeyPatch, lie: Lie) -> None:
    """Alter each refund that an order's read shows, since no store can be made to do this."""
    honest = ShopifyAdapter.read_order

    def altered(
        adapter: ShopifyAdapter, *, order: str, basis: RefundBasis | None = None
    ) -> OrderSnapshot | Unreadable:
        snapshot = honest(adapter, order=order, basis=basis)
        if isinstance(snapshot, Unreadable):
            return snapshot
        return replace(snapshot, refunds=tuple(lie(seen) for seen in snapshot.refunds))

    patch.setattr(ShopifyAdapter, "read_order", altered)


def test_a_success_that_wavered_before_it_failed_is_reversed_too(stage: Stage) -> None:
    intent = stage.work(stage.propose(stage.case()))
    for status in ("PENDING", "FAILURE"):
        stage.shop.settle_refund(_refund_of(intent), status)
        stage.read(intent)
    intent.refresh_from_db()
    assert (intent.state, intent.needs_human_reason) == ("reversed", "reversed")


def test_a_part_that_failed_for_good_before_the_others_ended_takes_nothing_back_later(
    stage: Stage,
) -> None:
    for name, status in (("card", "PENDING"), ("voucher", "SUCCESS")):
        stage.shop.gateway(name, answers=status)
    intent = stage.work(stage.propose(_paid_twice(stage), amount="80.00"))
    assert intent.state == "pending"
    parts = intent.external_objects.get().echoes.get().parts
    for gateway, status in (("voucher", "FAILURE"), ("card", "SUCCESS")):
        transaction = parts.get(gateway=gateway).identifier
        stage.shop.settle_refund(_refund_of(intent), status, transaction=transaction)
    for _ in range(2):
        stage.read(intent)
        intent.refresh_from_db()
        assert intent.state == "partially_confirmed"


def test_a_confirmed_refund_of_which_the_store_later_names_another_amount_asks_a_person(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    intent = stage.work(stage.propose(stage.case()))
    less = Money(amount=Decimal("1.00"), currency="EUR")
    _let_reads_say(
        monkeypatch,
        lambda seen: replace(seen, parts=tuple(replace(part, money=less) for part in seen.parts)),
    )
    stage.read(intent)
    intent.refresh_from_db()
    assert (intent.state, intent.needs_human_reason) == ("confirmed", "mismatch")


@pytest.mark.parametrize("changed", [{"markers": ()}, {"target": None}])
def test_a_success_that_lost_its_marker_or_order_stays_pending_and_asks_a_person(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, changed: dict[str, object]
) -> None:
    intent = _pending(stage)
    stage.shop.settle_refund(_refund_of(intent), "SUCCESS")
    _let_reads_say(monkeypatch, lambda seen: replace(seen, **changed))  # type: ignore[arg-type]  # as named above
    stage.pass_time(timedelta(minutes=5))
    intent = stage.work(intent)
    assert (intent.state, intent.needs_human_reason) == ("pending", "marker_disagrees")
    assert intent.due_at is not None
    assert intent.due_at > stage.now() + timedelta(minutes=1)
    monkeypatch.undo()
    assert stage.settle(intent).state == "confirmed"


def test_an_answer_that_names_the_refund_and_not_its_order_is_read_at_once_and_confirmed(
    stage: Stage,
) -> None:
    stage.shop.fault(FaultKind.DEEP_ERROR, operation="refundCreate", nulls="order")
    intent = stage.work(stage.propose(stage.case()))
    assert intent.state == "confirmed"
    assert len(stage.shop.effects()) == 1


def test_a_failed_part_that_the_merchant_tries_again_is_waited_for_by_schedule(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, status in (("card", "SUCCESS"), ("voucher", "FAILURE")):
        stage.shop.gateway(name, answers=status)
    intent = stage.work(stage.propose(_paid_twice(stage), amount="80.00"))
    assert intent.state == "partially_confirmed"
    failed = intent.external_objects.get().echoes.get().parts.get(status="FAILURE")
    _let_reads_say(
        monkeypatch,
        lambda seen: replace(
            seen,
            parts=tuple(
                replace(part, status="PENDING", standing="open")  # type: ignore[arg-type]  # its value
                if part.identifier == failed.identifier
                else part
                for part in seen.parts
            ),
        ),
    )
    stage.pass_time(timedelta(minutes=2))
    before = intent.due_at
    intent = stage.work(intent)
    assert intent.state == "partially_confirmed"
    assert intent.due_at is not None
    assert before is not None
    assert intent.due_at > before
