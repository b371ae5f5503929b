"""Every way in which money moves in a refund, from the proposal to the store's own echo."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from actions.accepting import accept
from actions.linking import missing_money
from actions.models import EchoPart, GateDecision, Intent
from actions.reading import read_order
from actions.services import Preview, Wish, preview, propose
from integrations import registry
from integrations.actors import Actor
from integrations.clock import now
from integrations.models import Connection
from integrations.money import Money, parse_money
from integrations.sandbox.records import Payment
from integrations.sandbox.store import Order
from tests.stage import AGENT, PERSON, Case, Stage
from tickets.models import Ticket

pytestmark = pytest.mark.django_db(transaction=True)

LINES: list[dict[str, object]] = [
    {"title": "Cup", "quantity": 3, "price": "20.00"},
    {"title": "Plate", "quantity": 1, "price": "30.00"},
]


def wish(case: Case, stage: Stage, *, kind: str = "refund", **given: Any) -> Wish:
    """Wish for money back in a case: `amount`, and what it is for."""
    links = {name: given.pop(name) for name in ("remainder_of",) if name in given}
    parameters = {"order": case.order.id, "currency": case.request.currency, **given}
    return Wish(
        kind=kind,
        request=case.request,
        parameters=parameters,
        connection=stage.connection,
        **links,
    )


def back(case: Case, stage: Stage, *, by: Actor = AGENT, **given: Any) -> Intent:
    """Propose it and do what a worker does."""
    proposed = propose(ticket=case.ticket, wish=wish(case, stage, **given), by=by, at=now())
    return stage.work(proposed.intent)


def dry(case: Case, stage: Stage, **given: Any) -> Preview:
    """Judge it, and record nothing."""
    return preview(ticket=case.ticket, wish=wish(case, stage, **given), by=AGENT, at=now())


def held_order(stage: Stage, case: Case) -> Order:
    """Return the order as the sandbox itself holds it."""
    return stage.sandbox._world.shops[stage.shop.name].orders[case.order.id]


def allow_store_credit(stage: Stage) -> None:
    """Grant the scope by which the order's customer can be seen."""
    scopes = [*stage.connection.scopes, "read_customers"]
    Connection.objects.filter(pk=stage.connection.pk).update(scopes=scopes)


def holds_of(intent: Intent) -> list[dict[str, Any]]:
    """Return every finding of the newest decision that holds."""
    verdicts = intent.decisions.latest("number").verdicts
    found = [finding for verdict in verdicts for finding in (verdict, *verdict["also"])]
    return [finding for finding in found if finding["ruling"] == "hold"]


def parts_of(intent: Intent) -> list[tuple[str, Decimal, str, Decimal | None, str]]:
    """Return what the store said of each part, in both currencies."""
    echo = intent.external_objects.get().echoes.latest("pk")
    rows = EchoPart.objects.filter(echo=echo).order_by("pk")
    return [(p.status, p.amount, p.currency, p.shop_amount, p.shop_currency) for p in rows]


# --- for what ---------------------------------------------------------------------------------


def test_lines_with_restock_and_shipping_go_back_exactly_as_asked(stage: Stage) -> None:
    case = stage.case(total="95.00", lines=LINES, shipping="5.00")
    cup, _ = case.order.lines
    lines = [{"line": cup, "quantity": 1, "restock": "return"}]
    intent = back(case, stage, amount="25.00", shipping="5.00", lines=lines)
    assert (intent.state, intent.state_reason) == ("confirmed", "")
    (refund,) = held_order(stage, case).refunds
    assert [(line.line_id, line.quantity, line.restock_type) for line in refund.lines] == [
        (cup, 1, "RETURN")
    ]
    assert refund.shipping.presentment == Decimal("5.00")
    assert [t.amount.presentment for t in refund.transactions] == [Decimal("25.00")]


def test_duties_go_back_with_their_line(stage: Stage) -> None:
    lines = [{"title": "Cup", "quantity": 2, "price": "20.00", "duty": "6.00"}]
    case = stage.case(total="46.00", lines=lines)
    (cup,), (duty,) = case.order.lines, case.order.duties
    intent = back(
        case,
        stage,
        amount="26.00",
        lines=[{"line": cup, "quantity": 1, "restock": "no_restock"}],
        duties=[{"duty": duty, "share": "full"}],
    )
    assert intent.state == "confirmed"
    assert [e.amount for e in stage.shop.effects()] == [Decimal("26.00")]


@pytest.mark.parametrize(
    ("amount", "quantity", "reason"),
    [("20.01", 1, "over_reckoned"), ("60.00", 4, "over_lines")],
)
def test_more_than_the_store_reckons_for_the_lines_is_refused(
    stage: Stage, amount: str, quantity: int, reason: str
) -> None:
    case = stage.case(total="90.00", lines=LINES)
    lines = [{"line": case.order.lines[0], "quantity": quantity, "restock": "return"}]
    intent = back(case, stage, amount=amount, lines=lines)
    assert (intent.state, intent.state_reason) == ("refused", reason)
    assert stage.shop.effects() == ()


def test_items_that_were_refunded_before_are_not_refunded_again(stage: Stage) -> None:
    case = stage.case(total="90.00", lines=LINES)
    plate = [{"line": case.order.lines[1], "quantity": 1, "restock": "return"}]
    assert back(case, stage, amount="30.00", lines=plate).state == "confirmed"
    again = back(case, stage, amount="10.00", lines=plate)
    assert (again.state, again.state_reason) == ("refused", "over_lines")
    assert len(stage.shop.effects()) == 1


def test_the_same_amount_for_other_lines_is_another_wish(stage: Stage) -> None:
    case = stage.case(total="90.00", lines=LINES)
    cup = [{"line": case.order.lines[0], "quantity": 1, "restock": "return"}]
    first = back(case, stage, amount="20.00", lines=cup)
    second = back(case, stage, amount="20.00")
    assert first.key != second.key
    assert (second.state, second.state_reason) == ("held", "equal_effect")


def test_a_dry_run_shows_what_the_store_reckons_and_records_nothing(stage: Stage) -> None:
    case = stage.case(total="95.00", lines=LINES, shipping="5.00")
    lines = [{"line": case.order.lines[0], "quantity": 2, "restock": "return"}]
    before = (Intent.objects.count(), GateDecision.objects.count(), Ticket.objects.values().get())
    shown = dry(case, stage, amount="40.00", lines=lines)
    assert shown.weighed is not None
    assert shown.weighed.decision.ruling == "allow"
    assert shown.weighed.facts.order.reckoned == parse_money("40.00", "EUR")  # type: ignore[union-attr]
    assert [part.money for part in shown.weighed.parts] == [parse_money("40.00", "EUR")]
    after = (Intent.objects.count(), GateDecision.objects.count(), Ticket.objects.values().get())
    assert after == before
    assert stage.shop.effects() == ()


# --- store credit -----------------------------------------------------------------------------


def test_store_credit_is_confirmed_by_the_stores_own_credit(stage: Stage) -> None:
    allow_store_credit(stage)
    intent = back(stage.case(), stage, kind="store_credit", amount="12.50")
    assert (intent.state, intent.kind) == ("confirmed", "store_credit")
    assert intent.decision is not None
    assert intent.decision.allocation == [
        {"parent": "", "gateway": "store_credit", "amount": "12.50", "currency": "EUR"}
    ]
    (effect,) = stage.shop.effects()
    assert [(part.gateway, part.parent_id) for part in effect.parts] == [
        ("shopify_store_credit", None)
    ]


def test_store_credit_needs_a_customer_on_the_order(stage: Stage) -> None:
    allow_store_credit(stage)
    customer = stage.case().order.customer
    assert customer is not None
    guest = stage.case(customer=None, email="guest@example.com")
    intent = back(guest, stage, kind="store_credit", amount="12.50")
    assert (intent.state, intent.state_reason) == ("refused", "no_customer")
    assert stage.shop.effects() == ()


def test_store_credit_waits_for_the_scope_that_shows_the_customer(stage: Stage) -> None:
    intent = back(stage.case(), stage, kind="store_credit", amount="12.50")
    assert (intent.state, intent.state_reason) == ("held", "missing_scope")
    allow_store_credit(stage)
    assert stage.settle(intent).state == "confirmed"


# --- currencies -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("currency", "rate", "amount", "shop_amount"),
    [
        ("EUR", "1", "12.50", Decimal("12.50")),
        ("USD", "0.9", "12.50", Decimal("11.25")),
        # 1,000 JPY at 0.0062: no decimals on one side, two on the other.
        ("JPY", "0.0062", "1000", Decimal("6.20")),
        ("KWD", "2.99", "1.234", Decimal("3.69")),
    ],
)
def test_each_currency_is_exact_in_its_own_places_with_the_shops_beside_it(
    stage: Stage, currency: str, rate: str, amount: str, shop_amount: Decimal
) -> None:
    total = "5000" if currency == "JPY" else "50.000" if currency == "KWD" else "50.00"
    case = stage.case(amount=amount, currency=currency, total=total, rate=rate)
    intent = back(case, stage, amount=amount)
    assert (intent.state, str(intent.money)) == ("confirmed", f"{amount} {currency}")
    assert parts_of(intent) == [("SUCCESS", Decimal(amount), currency, shop_amount, "EUR")]
    assert intent.shop_currency == "EUR"
    # Against the limits it counts rounded up, so never less than the store reckons.
    assert intent.shop_amount is not None
    assert shop_amount <= intent.shop_amount <= shop_amount + Decimal("0.01")


def test_a_limit_of_the_shop_holds_for_an_order_in_another_currency(stage: Stage) -> None:
    case = stage.case(amount="230.00", currency="USD", total="500.00", rate="0.9")
    intent = back(case, stage, amount="230.00")
    assert (intent.state, intent.state_reason) == ("refused", "over_cap")
    assert stage.shop.effects() == ()


# --- split tender -----------------------------------------------------------------------------


def split(stage: Stage, *, second: str = "FAILURE") -> tuple[Case, Intent]:
    """Refund 80.00 over two payments of 50.00, of which the second one's gateway fails."""
    stage.shop.gateway("second", answers=second)
    payments = [Payment(amount="50.00", gateway="first"), Payment(amount="50.00", gateway="second")]
    case = stage.case(amount="80.00", payments=payments)
    return case, back(case, stage, amount="80.00")


def test_a_part_that_failed_leaves_it_partially_confirmed_before_a_person(stage: Stage) -> None:
    _, intent = split(stage)
    assert (intent.state, intent.needs_human_reason) == ("partially_confirmed", "partly_failed")
    assert [part[:2] for part in parts_of(intent)] == [
        ("SUCCESS", Decimal("50.0000")),
        ("FAILURE", Decimal("30.0000")),
    ]


def test_a_part_that_the_merchant_retries_later_confirms_the_whole(stage: Stage) -> None:
    _, intent = split(stage)
    stage.shop.retry_refund(intent.external_objects.get().identifier)
    stage.read(intent)
    intent.refresh_from_db()
    assert (intent.state, intent.needs_human_reason) == ("confirmed", "")


def test_a_part_is_accepted_with_a_reason_and_the_rest_is_another_intent(stage: Stage) -> None:
    case, intent = split(stage)
    accepted = accept(
        intent=intent, amount=parse_money("50.00", "EUR"), reason="agreed", by=PERSON, at=now()
    )
    assert (accepted.state, accepted.needs_human_reason) == ("accepted", "")
    assert missing_money(accepted) == parse_money("30.00", "EUR")
    stage.shop.gateway("second", answers="SUCCESS")
    rest = back(case, stage, amount="30.00", remainder_of=accepted)
    # The merchant may still retry what failed, so that a person looks first.
    assert (rest.state, rest.state_reason) == ("held", "failed_refund_object")
    assert missing_money(accepted) == Money.zero("EUR")
    assert [f["reason"] for f in holds_of(rest)] == ["failed_refund_object"]


def test_the_rest_is_not_held_for_the_part_that_it_completes(stage: Stage) -> None:
    """50.00 stand and 50.00 are missing: the rest is equal to what it is the rest of."""
    stage.shop.gateway("second", answers="FAILURE")
    payments = [Payment(amount="50.00", gateway="first"), Payment(amount="50.00", gateway="second")]
    case = stage.case(amount="100.00", payments=payments)
    first, fifty = back(case, stage, amount="100.00"), parse_money("50.00", "EUR")
    first = accept(intent=first, amount=fifty, reason="agreed", by=PERSON, at=now())
    rest = back(case, stage, amount="50.00", remainder_of=first)
    assert [f["reason"] for f in holds_of(rest)] == ["failed_refund_object"]


def test_a_part_that_succeeded_and_is_taken_back_reverses_it(stage: Stage) -> None:
    _, intent = split(stage)
    refund = intent.external_objects.get().identifier
    stage.shop.settle_refund(refund, "FAILURE")
    stage.read(intent)
    intent.refresh_from_db()
    assert (intent.state, intent.needs_human_reason) == ("reversed", "reversed")


def test_an_accepted_part_that_is_taken_back_reverses_too(stage: Stage) -> None:
    _, intent = split(stage)
    accept(intent=intent, amount=parse_money("50.00", "EUR"), reason="agreed", by=PERSON, at=now())
    stage.shop.settle_refund(intent.external_objects.get().identifier, "FAILURE")
    stage.read(intent)
    intent.refresh_from_db()
    assert intent.state == "reversed"
    assert missing_money(intent) == parse_money("80.00", "EUR")


def test_a_part_that_is_under_way_is_kept_back_from_its_own_payment(stage: Stage) -> None:
    case, first = split(stage, second="PENDING")
    assert first.state == "pending"
    # 20.00 are left on the order, and all of them on the second payment.
    second = back(case, stage, amount="20.00")
    assert second.state in ("confirmed", "pending")
    assert second.decision is not None
    assert [p["amount"] for p in second.decision.allocation] == ["20.00"]
    third = back(case, stage, amount="0.01")
    assert (third.state, third.state_reason) == ("refused", "over_remainder")


def test_a_refund_that_pends_for_long_stays_pending_and_stands_before_a_person(
    stage: Stage,
) -> None:
    stage.shop.gateway("slow", answers="PENDING")
    intent = back(stage.case(gateway="slow"), stage, amount="12.50")
    assert intent.state == "pending"
    stage.pass_time(timedelta(days=5, hours=1))
    intent = stage.work(intent)
    assert (intent.state, intent.needs_human_reason) == ("pending", "pending_too_long")
    stage.shop.settle_refund(intent.external_objects.get().identifier, "SUCCESS")
    assert stage.settle(intent).state == "confirmed"


# --- large and old orders ---------------------------------------------------------------------


def test_an_order_with_more_refunds_than_a_list_can_hold_is_judged_on_all_of_them(
    stage: Stage,
) -> None:
    case = stage.case(total="400.00")
    stage.shop.refunds_by_staff(case.order.id, amount="1.00", notes=[None] * 300)
    refused = back(case, stage, amount="100.01")
    assert (refused.state, refused.state_reason) == ("refused", "over_remainder")
    intent = back(case, stage, amount="99.00")
    assert intent.state == "confirmed"
    reading = read_order(registry.store(stage.connection), order=case.order.id)
    assert reading.result == "complete"


def test_a_lost_answer_on_such_an_order_is_found_by_its_marker(stage: Stage) -> None:
    case = stage.case(total="400.00")
    stage.shop.refunds_by_staff(case.order.id, amount="1.00", notes=[None] * 300)
    stage.shop.fault("lost_after", operation="refundCreate")
    intent = back(case, stage, amount="99.00")
    assert (intent.state, intent.attempts.count()) == ("confirmed", 1)
    assert len(stage.shop.effects(order=case.order.id)) == 301


def test_an_order_of_more_than_sixty_days_is_held_until_read_all_orders_is_granted(
    stage: Stage,
) -> None:
    granted = ["read_orders", "write_orders", "read_customers"]
    stage.shop.with_token(stage.shop.token, scopes=granted)
    case = stage.case(created_at=now() - timedelta(days=61))
    intent = back(case, stage, amount="12.50")
    assert (intent.state, intent.state_reason) == ("held", "facts_unavailable")
    stage.shop.with_token(stage.shop.token, scopes=[*granted, "read_all_orders"])
    assert stage.settle(intent).state == "confirmed"
    assert len(stage.shop.effects()) == 1
