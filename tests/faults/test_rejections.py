"""A refusal by the store is final only where no other attempt may have had an effect."""

from decimal import Decimal

import pytest

from actions.boundaries import Boundary
from actions.models import Intent
from integrations import registry
from integrations.money import Money
from integrations.ports import Echoed, RefundOrder, RefundPart
from integrations.sandbox.faults import FaultKind
from integrations.sandbox.records import Payment
from tests.stage import Stage

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_refusal_of_the_only_attempt_fails_and_waits_for_correction(stage: Stage) -> None:
    case = stage.case(amount="60.00", total="100.00")
    intent = stage.propose(case, amount="60.00")
    with stage.at(
        Boundary.CLAIMED, lambda: stage.shop.refund_by_staff(case.order.id, amount="70.00")
    ):
        intent = stage.work(intent)
    assert (intent.state, intent.state_reason, intent.needs_human_reason) == (
        "failed",
        "rejected",
        "rejected",
    )
    (attempt,) = intent.attempts.all()
    assert attempt.outcome == "rejected"
    said = "over_net_payment: Refund amount €60.00 is greater than"
    assert str(attempt.outcome_reason).startswith(said)
    assert [effect.amount for effect in stage.shop.effects()] == [Decimal("70.00")]


def test_a_refusal_after_a_lost_answer_is_read_and_found_to_be_done(stage: Stage) -> None:
    """F28: the second send is refused because the first one took all the money."""
    stage.shop.keys(remember=False)
    case = stage.case(amount="100.00", total="100.00")
    stage.shop.fault(FaultKind.LOST_AFTER, operation="refundCreate")
    stage.shop.fault(FaultKind.READ_ERROR, operation="order", skip=1)
    intent = stage.work(stage.propose(case, amount="100.00"))
    assert intent.state == "unknown"
    assert [finding.result for finding in intent.findings.all()] == ["nothing_said"]
    intent = stage.settle(intent)
    assert intent.state == "confirmed"
    assert [attempt.outcome for attempt in intent.attempts.all()] == ["unknown"]
    assert len(stage.shop.effects()) == 1


def test_a_refusal_on_a_resend_is_final_only_after_one_more_complete_read(stage: Stage) -> None:
    case = stage.case(amount="60.00", total="100.00")
    stage.shop.fault(FaultKind.LOST_BEFORE, operation="refundCreate")
    intent = stage.work(stage.propose(case, amount="60.00"))
    assert intent.state == "unknown"
    stage.shop.refund_by_staff(case.order.id, amount="70.00")
    intent = stage.settle(intent)
    assert (intent.state, intent.state_reason) == ("failed", "rejected")
    first, second = intent.attempts.order_by("number")
    assert (first.outcome, first.resolved_how, second.outcome) == ("unknown", "absent", "rejected")
    reads_after = intent.findings.filter(
        result="absent", read__result="complete", read__started_at__gt=second.closed_at
    )
    assert reads_after.exists()
    assert [effect.amount for effect in stage.shop.effects()] == [Decimal("70.00")]


def test_the_same_key_with_other_parameters_ends_all_sends_and_only_reads(stage: Stage) -> None:
    intent = stage.propose(stage.case())
    _use_its_key_for_another_order(stage, intent)
    intent = stage.work(intent)
    assert intent.state == "unknown"
    intent = stage.settle(intent)
    assert intent.resend_ended_at is not None
    assert (intent.state, intent.state_reason) == ("failed", "absent")
    absences = intent.findings.filter(result="absent", read__result="complete")
    assert absences.count() >= 2
    assert len(stage.shop.effects(order=intent.target.identifier)) == 0


def _use_its_key_for_another_order(stage: Stage, intent: Intent) -> None:
    order = stage.shop.order()
    part = RefundPart(
        parent=order.payments[0], gateway="manual", money=Money(amount=Decimal(5), currency="EUR")
    )
    refund = RefundOrder(
        order=order.id, parts=(part,), marker="rzv:other", key=str(intent.key), notify=False
    )
    store = registry.store(stage.connection)
    answer = store.send_refund(frozen=store.freeze_refund(refund=refund), before_write=lambda: None)
    assert isinstance(answer, Echoed)


@pytest.mark.parametrize(
    ("statuses", "state", "needs_human"),
    [
        (("SUCCESS", "SUCCESS"), "confirmed", ""),
        (("SUCCESS", "FAILURE"), "partially_confirmed", "partly_failed"),
        (("FAILURE", "FAILURE"), "failed", "money_failed"),
        (("FAILURE", "PENDING"), "pending", ""),
        (("SUCCESS", "PENDING"), "pending", ""),
    ],
)
def test_a_split_refund_is_what_its_parts_say(
    stage: Stage, statuses: tuple[str, str], state: str, needs_human: str
) -> None:
    for name, status in zip(("card", "voucher"), statuses, strict=True):
        stage.shop.gateway(name, answers=status)
    case = stage.case(
        amount="80.00",
        total="100.00",
        payments=[
            Payment(amount="50.00", gateway="card"),
            Payment(amount="50.00", gateway="voucher"),
        ],
    )
    intent = stage.work(stage.propose(case, amount="80.00"))
    assert (intent.state, intent.needs_human_reason) == (state, needs_human)
    (echo,) = intent.external_objects.get().echoes.all()
    assert sorted((part.gateway, part.status, part.amount) for part in echo.parts.all()) == [
        ("card", statuses[0], Decimal("50.0000")),
        ("voucher", statuses[1], Decimal("30.0000")),
    ]
