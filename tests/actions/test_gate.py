"""The gate's protocol over a real store: facts read with no lock, judged under locks, kept."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from actions.boundaries import Boundary
from actions.locks import bump
from actions.models import GateDecision, Intent, Read, Target
from actions.policies import current_policy, put_policy
from actions.policy import parse_policy
from integrations.actors import SYSTEM, ActorKind
from integrations.models import Connection
from integrations.sandbox.faults import FaultKind
from integrations.sandbox.records import Payment
from tests.stage import AGENT, INTEGRATION, Stage, fresh
from tickets.services import CustomerStatement

pytestmark = pytest.mark.django_db(transaction=True)


def _verdicts(intent: Intent) -> dict[str, tuple[str, str]]:
    decision = intent.decisions.order_by("-number")[0]
    return {v["check"]: (v["ruling"], v["sentence"]) for v in decision.verdicts}


def test_the_proposal_is_judged_at_once_on_what_we_know_ourselves(stage: Stage) -> None:
    intent = stage.propose(stage.case())
    (decision,) = intent.decisions.all()
    assert (decision.phase, decision.ruling) == ("proposal", "not_read")
    assert _verdicts(intent)["grounded"] == ("not_read", "The store has not been read yet.")
    assert stage.shop.requests() == ()


def test_the_worker_keeps_all_four_verdicts_with_policy_facts_and_allocation(stage: Stage) -> None:
    case = stage.case(total="100.00")
    intent = stage.work(stage.propose(case))
    decision = GateDecision.objects.get(intent=intent, phase="worker")
    assert (decision.ruling, decision.policy_version.number) == ("allow", 1)
    assert _verdicts(intent) == {
        "permitted": ("allow", "Actors of kind ai may do a refund here, now."),
        "grounded": (
            "allow",
            (
                "0.00 EUR refunded + 12.50 EUR asked ≤ 100.00 EUR received, "
                "on an order of this ticket's customer."
            ),
        ),
        "within_limits": (
            "allow",
            (
                "12.50 EUR asked ≤ 100.00 EUR that need no second person, "
                "with room in every limit that adds up."
            ),
        ),
        "not_already_done": (
            "allow",
            "No equal effect on this order, and room beside what is under way.",
        ),
    }
    assert decision.allocation == [
        {
            "parent": case.order.payments[0],
            "gateway": "manual",
            "amount": "12.50",
            "currency": "EUR",
        }
    ]
    assert intent.decision_id == decision.pk
    assert [read.cause for read in Read.objects.filter(target=intent.target)] == ["gate"]


def test_an_amount_is_spread_over_the_payments_in_the_stores_order(stage: Stage) -> None:
    payments = [Payment(amount="30.00", gateway="card"), Payment(amount="70.00", gateway="voucher")]
    case = stage.case(amount="50.00", total="100.00", payments=payments)
    intent = stage.work(stage.propose(case, amount="50.00"))
    decision = GateDecision.objects.get(intent=intent, phase="worker")
    assert [(part["gateway"], part["amount"]) for part in decision.allocation] == [
        ("card", "30.00"),
        ("voucher", "20.00"),
    ]


@pytest.mark.parametrize(
    ("amount", "order", "state", "reason", "sentence"),
    [
        (
            "60.00",
            {"total": "50.00"},
            "refused",
            "over_remainder",
            "0.00 EUR refunded + 60.00 EUR asked > 50.00 EUR received.",
        ),
        (
            "250.00",
            {"total": "400.00"},
            "refused",
            "over_cap",
            "250.00 EUR asked > 200.00 EUR allowed for one action.",
        ),
        (
            "150.00",
            {"total": "400.00"},
            "awaiting_approval",
            "over_threshold",
            "150.00 EUR asked > 100.00 EUR that need no second person.",
        ),
        (
            "12.50",
            {"payments": []},
            "refused",
            "unpaid",
            "0.00 EUR received: there is nothing to refund.",
        ),
    ],
)
def test_what_the_policy_or_the_store_forbids_is_never_sent(
    stage: Stage, amount: str, order: dict[str, Any], state: str, reason: str, sentence: str
) -> None:
    intent = stage.work(stage.propose(stage.case(amount=amount, **order), amount=amount))
    assert (intent.state, intent.state_reason) == (state, reason)
    assert sentence in {said for _, said in _verdicts(intent).values()}
    assert stage.shop.requests(operation="refundCreate") == ()
    assert stage.shop.effects() == ()


def test_an_order_older_than_the_policy_allows_is_refused(stage: Stage) -> None:
    stage.connection.scopes = ["read_orders", "write_orders", "read_all_orders"]
    stage.connection.save(update_fields=["scopes"])
    created_at = stage.now() - timedelta(days=91)
    intent = stage.work(stage.propose(stage.case(created_at=created_at)))
    assert (intent.state, intent.state_reason) == ("refused", "order_too_old")
    assert stage.shop.effects() == ()


def test_an_approval_that_nobody_gives_becomes_a_named_hold(stage: Stage) -> None:
    intent = stage.work(stage.propose(stage.case(amount="150.00", total="400.00"), amount="150.00"))
    assert intent.due_at is not None
    stage.pass_time(timedelta(hours=24, seconds=1))
    intent = stage.work(intent)
    assert (intent.state, intent.state_reason) == ("held", "approval_expired")
    assert stage.shop.effects() == ()


@pytest.mark.parametrize(
    ("customer", "state", "reason"),
    [
        (CustomerStatement(email="other@example.com", verified=True), "refused", "foreign_order"),
        (CustomerStatement(email="SHOPPER@example.com", verified=True), "confirmed", ""),
        (CustomerStatement(email="shopper@example.com"), "held", "unverified_customer"),
        (CustomerStatement(verified=True), "held", "ownership_unclear"),
    ],
)
def test_the_order_must_be_the_verified_customers(
    stage: Stage, customer: CustomerStatement, state: str, reason: str
) -> None:
    case = stage.case(customer_statement=customer, email="shopper@example.com", customer=None)
    intent = stage.work(stage.propose(case))
    assert (intent.state, intent.state_reason) == (state, reason)
    assert len(stage.shop.effects()) == (1 if state == "confirmed" else 0)


def test_the_stores_own_customer_counts_before_the_e_mail_address(stage: Stage) -> None:
    stranger = CustomerStatement(
        store_identifier="gid://shopify/Customer/999", email="shopper@example.com", verified=True
    )
    case = stage.case(customer_statement=stranger, email="shopper@example.com")
    intent = stage.work(stage.propose(case))
    assert (intent.state, intent.state_reason) == ("refused", "foreign_order")
    assert stage.shop.effects() == ()


def test_an_equal_refund_by_staff_holds_ours(stage: Stage) -> None:
    case = stage.case()
    made = stage.shop.refund_by_staff(case.order.id, amount="12.50")
    intent = stage.work(stage.propose(case))
    assert (intent.state, intent.state_reason) == ("held", "equal_effect")
    assert made.id in _verdicts(intent)["not_already_done"][1]
    assert len(stage.shop.effects()) == 1


def test_twins_in_two_tickets_of_one_order_are_not_both_sent(stage: Stage) -> None:
    case = stage.case()
    twin = stage.another_ticket(case)
    assert stage.work(stage.propose(case)).state == "confirmed"
    second = stage.work(stage.propose(twin))
    assert (second.state, second.state_reason) == ("held", "equal_effect")
    assert len(stage.shop.effects()) == 1


def test_a_different_amount_must_fit_beside_what_is_reserved(stage: Stage) -> None:
    stage.shop.fault(FaultKind.LOST_BEFORE, operation="refundCreate")
    case = stage.case(amount="60.00", total="100.00")
    first = stage.work(stage.propose(case, amount="60.00"))
    assert first.state == "unknown"
    second = stage.work(stage.propose(stage.another_ticket(case), amount="50.00"))
    assert (second.state, second.state_reason) == ("held", "reservation")
    assert _verdicts(second)["not_already_done"][1] == (
        "0.00 EUR refunded + 60.00 EUR reserved by other intents + 50.00 EUR asked "
        "> 100.00 EUR received."
    )
    assert len(stage.shop.effects()) == 0


def test_a_target_that_moved_between_read_and_lock_is_judged_again(stage: Stage) -> None:
    case = stage.case()
    intent = stage.propose(case)

    def move_target() -> None:
        bump(Target.objects.get(pk=intent.target_id))

    with stage.at(Boundary.FACTS_READ, move_target):
        intent = stage.work(intent)
    assert (intent.state, intent.decisions.filter(phase="worker").count()) == ("proposed", 0)
    assert stage.shop.effects() == ()
    assert stage.settle(intent).state == "confirmed"


def test_an_authorized_intent_that_stayed_unsent_is_judged_again_and_does_not_block_itself(
    stage: Stage,
) -> None:
    stage.shop.fault(FaultKind.THROTTLED, operation="refundCreate")
    case = stage.case(amount="80.00", total="100.00")
    intent = stage.work(stage.propose(case, amount="80.00"))
    assert intent.state == "authorized"
    stage.pass_time(timedelta(seconds=61))
    stage.shop.refund_by_staff(case.order.id, amount="30.00")
    intent = stage.work(intent)
    assert (intent.state, intent.state_reason) == ("refused", "over_remainder")
    assert [effect.amount for effect in stage.shop.effects()] == [Decimal("30.00")]


def test_facts_that_can_not_be_read_hold_and_are_read_again(stage: Stage) -> None:
    stage.shop.fault(FaultKind.READ_ERROR, operation="order")
    intent = stage.work(stage.propose(stage.case()))
    assert (intent.state, intent.state_reason) == ("held", "facts_unavailable")
    assert stage.settle(intent).state == "confirmed"


def test_an_order_that_the_store_does_not_show_is_refused_only_where_all_orders_may_be_seen(
    stage: Stage,
) -> None:
    stage.shop.fault(FaultKind.ORDER_NULL, operation="order", times=2)
    intent = stage.work(stage.propose(stage.case()))
    assert (intent.state, intent.state_reason) == ("held", "facts_unavailable")
    stage.connection.scopes = [*stage.connection.scopes, "read_all_orders"]
    stage.connection.save(update_fields=["scopes"])
    intent = stage.work(intent)
    assert (intent.state, intent.state_reason) == ("refused", "no_such_order")
    assert stage.shop.effects() == ()


def test_a_missing_scope_holds_with_its_name(stage: Stage) -> None:
    Connection.objects.filter(pk=stage.connection.pk).update(scopes=["read_orders"])
    intent = stage.propose(stage.case())
    assert (intent.state, intent.state_reason) == ("held", "missing_scope")
    assert _verdicts(intent)["permitted"][1] == (
        "The app lacks write_orders on the store; grant it and reconnect."
    )
    assert stage.shop.requests() == ()


def test_through_a_blocked_connection_no_credential_is_handled(stage: Stage) -> None:
    intent = stage.propose(stage.case())
    Connection.objects.filter(pk=stage.connection.pk).update(
        blocked_by="credential", blocked_at=stage.now(), credentials=b"can't be opened"
    )
    intent = stage.work(intent)
    assert (intent.state, intent.state_reason) == ("held", "blocked_connection")
    assert stage.shop.requests() == ()


def test_an_order_in_another_currency_counts_in_the_shops_own(stage: Stage) -> None:
    intent = stage.work(stage.propose(stage.case(currency="USD", rate="0.9")))
    assert (intent.state, str(intent.money)) == ("confirmed", "12.50 USD")
    assert (intent.shop_amount, intent.shop_currency) == (Decimal("11.25"), "EUR")


def test_a_dispute_holds(stage: Stage) -> None:
    case = stage.case()
    stage.shop.open_dispute(case.order.id)
    intent = stage.work(stage.propose(case))
    assert (intent.state, intent.state_reason) == ("held", "dispute")
    assert stage.shop.effects() == ()


def test_a_failed_refund_on_the_order_holds_a_second_one(stage: Stage) -> None:
    stage.shop.gateway("manual", answers="FAILURE")
    case = stage.case()
    assert stage.work(stage.propose(case)).state == "failed"
    second = stage.work(stage.propose(stage.another_ticket(case), amount="10.00"))
    assert (second.state, second.state_reason) == ("held", "failed_refund_object")
    assert len(stage.shop.effects()) == 1


def test_a_kind_that_the_brand_switched_off_is_refused_at_the_proposal(stage: Stage) -> None:
    document = current_policy(stage.workspace).policy.as_record()
    document["kinds"]["refund"]["enabled_for"] = ["human_node"]  # type: ignore[index]  # JSON
    put_policy(stage.workspace, parse_policy(document), author=SYSTEM)
    intent = stage.propose(stage.case(), by=AGENT)
    assert (intent.state, intent.state_reason) == ("refused", "actor_kind")
    assert intent.decisions.get().policy_version.number == 2
    assert stage.shop.requests() == ()


def test_a_hold_that_lasts_past_the_brands_time_is_left_to_a_person(stage: Stage) -> None:
    stage.shop.fault(FaultKind.READ_ERROR, operation="order", times=None)
    intent = stage.work(stage.propose(stage.case()))
    stage.pass_time(timedelta(hours=26, minutes=1))
    intent = stage.work(intent)
    assert (intent.state, intent.due_at, intent.needs_human_reason) == (
        "held",
        None,
        "held_too_long",
    )
    assert intent.decisions.filter(phase="worker").count() == 1


def test_no_personal_data_stands_in_facts_events_or_bytes(stage: Stage) -> None:
    customer = CustomerStatement(email="very.private@example.com", verified=True)
    case = stage.case(customer_statement=customer, email="very.private@example.com", customer=None)
    intent = stage.work(stage.propose(case, by=INTEGRATION))
    assert intent.state == "confirmed"
    kept = [intent.body, intent.parameters, *intent.decisions.values_list("facts", "verdicts")]
    kept += list(intent.events.values_list("body", flat=True))
    assert "very.private" not in repr(
        [bytes(one) if isinstance(one, memoryview) else one for one in kept]
    )
    assert fresh(intent).proposer.kind is ActorKind.SYSTEM


def test_another_version_that_answers_a_read_stops_the_connection_before_anything_is_sent(
    stage: Stage,
) -> None:
    stage.shop.serve_version("2026-07")
    intent = stage.work(stage.propose(stage.case()))
    assert (intent.state, intent.state_reason) == ("held", "blocked_connection")
    assert Connection.objects.get(pk=stage.connection.pk).blocked_by == "api_version"
    assert "connection_blocked" in intent.events.values_list("name", flat=True)
    assert stage.shop.requests(operation="refundCreate") == ()
