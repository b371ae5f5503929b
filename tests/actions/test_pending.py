"""A status that is not final is shown as not final, until the store itself ends it."""

from datetime import timedelta
from decimal import Decimal

import pytest

from actions.boundaries import Boundary
from actions.models import Intent
from integrations.sandbox.faults import FaultKind
from tests.stage import Stage

pytestmark = pytest.mark.django_db(transaction=True)


def _pending(stage: Stage) -> Intent:
    stage.shop.gateway("manual", answers="PENDING")
    intent = stage.work(stage.propose(stage.case()))
    assert (intent.state, intent.confirmed_at) == ("pending", None)
    return intent


def _refund_of(intent: Intent) -> str:
    return intent.external_objects.get().identifier


@pytest.mark.parametrize(
    ("status", "state", "needs_human"),
    [
        ("SUCCESS", "confirmed", ""),
        ("FAILURE", "failed", "money_failed"),
        ("ERROR", "failed", "money_failed"),
    ],
)
def test_pending_becomes_what_the_store_says(
    stage: Stage, status: str, state: str, needs_human: str
) -> None:
    intent = _pending(stage)
    stage.shop.settle_refund(_refund_of(intent), status)
    intent = stage.settle(intent)
    assert (intent.state, intent.needs_human_reason) == (state, needs_human)
    echoes = intent.external_objects.get().echoes.order_by("pk")
    assert [echo.parts.get().status for echo in echoes] == ["PENDING", status]
    assert [bool(echo.attempt_id) for echo in echoes] == [True, False]


@pytest.mark.parametrize("status", ["AWAITING_RESPONSE", "UNKNOWN"])
def test_other_statuses_that_are_not_final_stay_pending(stage: Stage, status: str) -> None:
    intent = _pending(stage)
    stage.shop.settle_refund(_refund_of(intent), status)
    stage.pass_time(timedelta(hours=2))
    assert stage.work(intent).state == "pending"


def test_a_pending_refund_asks_a_person_after_the_stores_time_and_stays_pending(
    stage: Stage,
) -> None:
    intent = _pending(stage)
    stage.pass_time(timedelta(days=5, minutes=1))
    intent = stage.work(intent)
    assert (intent.state, intent.needs_human_reason) == ("pending", "pending_too_long")
    stage.shop.settle_refund(_refund_of(intent), "SUCCESS")
    intent = stage.settle(intent)
    assert (intent.state, intent.needs_human_reason) == ("confirmed", "")


def test_a_pending_refund_that_nobody_can_read_asks_a_person_after_the_stores_time_too(
    stage: Stage,
) -> None:
    intent = _pending(stage)
    stage.shop.fault(FaultKind.READ_ERROR, operation="order", times=None)
    stage.pass_time(timedelta(days=5, minutes=1))
    intent = stage.work(intent)
    assert (intent.state, intent.needs_human_reason) == ("pending", "pending_too_long")


def test_a_doubt_that_is_over_leaves_no_word_of_doubt(stage: Stage) -> None:
    stage.shop.gateway("manual", answers="PENDING")
    stage.shop.fault(FaultKind.LOST_AFTER, operation="refundCreate")
    stage.shop.fault(FaultKind.READ_ERROR, operation="order", skip=1, times=2)
    intent = stage.work(stage.propose(stage.case()))
    stage.pass_time(timedelta(minutes=20))
    assert stage.work(intent).needs_human_reason == "unknown_too_long"
    stage.pass_time(timedelta(minutes=20))
    intent = stage.work(intent)
    assert (intent.state, intent.needs_human_reason) == ("pending", "")


def test_a_pending_refund_counts_as_refunded_for_the_next_one(stage: Stage) -> None:
    stage.shop.gateway("manual", answers="PENDING")
    case = stage.case(amount="60.00", total="100.00")
    assert stage.work(stage.propose(case, amount="60.00")).state == "pending"
    second = stage.work(stage.propose(stage.another_ticket(case), amount="50.00"))
    assert (second.state, second.state_reason) == ("refused", "over_remainder")
    assert [effect.amount for effect in stage.shop.effects()] == [Decimal("60.00")]


def test_a_failure_that_the_merchant_retries_by_hand_is_an_anomaly_that_a_person_sees(
    stage: Stage,
) -> None:
    stage.shop.gateway("manual", answers="FAILURE")
    case = stage.case()
    failed = stage.work(stage.propose(case))
    assert (failed.state, failed.state_reason) == ("failed", "money_failed")
    stage.shop.retry_refund(_refund_of(failed))
    stage.shop.gateway("other", answers="PENDING")
    other = stage.propose(stage.another_ticket(case), amount="3.00")
    stage.read(other)
    failed.refresh_from_db()
    assert (failed.state, failed.needs_human_reason) == ("failed", "late_success")


@pytest.mark.parametrize("kind", [FaultKind.WRONG_AMOUNT, FaultKind.WRONG_CURRENCY])
def test_an_echo_of_another_amount_or_currency_never_confirms(
    stage: Stage, kind: FaultKind
) -> None:
    wrong = {"amount": "99.00"} if kind is FaultKind.WRONG_AMOUNT else {"currency": "USD"}
    stage.shop.fault(kind, operation="refundCreate", **wrong)
    intent = stage.work(stage.propose(stage.case()))
    assert (intent.state, intent.needs_human_reason) == ("pending", "mismatch")
    intent = stage.settle(intent)
    assert (intent.state, intent.needs_human_reason) == ("confirmed", "")


def test_a_refund_that_bounces_after_it_was_confirmed_is_reversed_and_reopens_its_ticket(
    stage: Stage,
) -> None:
    case = stage.case()
    intent = stage.work(stage.propose(case))
    stage.resolve(case)
    stage.shop.settle_refund(_refund_of(intent), "FAILURE")
    stage.read(intent)
    intent.refresh_from_db()
    case.ticket.refresh_from_db()
    assert (intent.state, intent.needs_human_reason) == ("reversed", "reversed")
    assert (case.ticket.status, case.ticket.resolver) == ("in_progress", None)
    (resolution,) = case.ticket.resolution_set.all()
    assert (resolution.status, resolution.reopened_by_kind) == ("resolved", "system")


def test_a_read_that_began_before_our_newest_echo_says_nothing_new(stage: Stage) -> None:
    """F40, F45: a slow read comes home after the store has said more."""
    intent = _pending(stage)

    def finish_meanwhile() -> None:
        stage.shop.settle_refund(_refund_of(intent), "SUCCESS")
        stage.read(intent)

    with stage.at(Boundary.TARGET_READ, finish_meanwhile):
        stage.read(intent)
    intent.refresh_from_db()
    assert intent.state == "confirmed"
    echoes = intent.external_objects.get().echoes.order_by("pk")
    assert [echo.parts.get().status for echo in echoes] == ["PENDING", "SUCCESS"]
