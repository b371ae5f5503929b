"""Money that is not there yet: gateways that take their time, fail, or are retried by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from integrations.sandbox.commands import ControlRefused
from integrations.sandbox.records import Payment
from integrations.sandbox.server import Sandbox
from integrations.sandbox.surface import ShopControls
from tests.integrations.sandbox.asking import REFUND, ask, read, refund, refund_input

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def status_of(shop: ShopControls) -> list[str]:
    [effect] = shop.effects()
    return [part.status for part in effect.parts]


def test_a_pending_refund_counts_nowhere_in_the_totals(shop: ShopControls) -> None:
    shop.gateway("slow", answers="PENDING")
    order = shop.order(total="15.00", gateway="slow")
    made = refund(shop, order, "15.00").payload
    assert made["refund"]["totalRefundedSet"]["presentmentMoney"]["amount"] == "0.0"
    seen = read(shop, order)
    assert seen["totalRefundedSet"]["presentmentMoney"]["amount"] == "0.0"
    assert seen["netPaymentSet"]["presentmentMoney"]["amount"] == "15.0"
    assert (seen["displayFinancialStatus"], seen["refundable"]) == ("PAID", True)
    assert seen["refunds"][0]["transactions"]["nodes"][0]["status"] == "PENDING"


def test_the_cap_is_no_guard_against_a_double_while_a_refund_is_pending(
    shop: ShopControls,
) -> None:
    shop.gateway("slow", answers="PENDING")
    order = shop.order(total="15.00", gateway="slow")
    for key in ("a", "b"):
        assert refund(shop, order, "15.00", key=key).user_errors == []
    assert len(shop.effects()) == 2


@pytest.mark.parametrize("word", ["SUCCESS", "FAILURE"])
def test_a_pending_refund_turns_by_the_clock(word: str) -> None:
    with Sandbox.running(starts_at=NOON) as sandbox:
        shop = sandbox.shop("acme.myshopify.com")
        shop.gateway(
            "slow",
            answers="PENDING",
            turns=word,
            after=timedelta(days=5),
            error_code="CARD_DECLINED",
        )
        order = shop.order(total="15.00", gateway="slow")
        refund(shop, order, "5.00")
        sandbox.clock.advance(timedelta(days=5) - timedelta(seconds=1))
        assert status_of(shop) == ["PENDING"]
        sandbox.clock.advance(timedelta(seconds=1))
        assert status_of(shop) == [word]
        [part] = shop.effects()[0].parts
        assert [(entry.status, entry.at) for entry in part.history] == [
            ("PENDING", NOON),
            (word, NOON + timedelta(days=5)),
        ]


def test_a_refund_settled_by_hand_is_not_turned_again_by_the_clock(sandbox: Sandbox) -> None:
    shop = sandbox.shop("acme.myshopify.com")
    shop.gateway("slow", answers="PENDING", turns="FAILURE", after=timedelta(hours=1))
    order = shop.order(total="15.00", gateway="slow")
    made = refund(shop, order, "5.00").payload["refund"]["id"]
    shop.settle_refund(made, "SUCCESS")
    sandbox.clock.advance(timedelta(hours=2))
    assert status_of(shop) == ["SUCCESS"]


def test_a_failing_gateway_leaves_a_refund_object_and_no_money(shop: ShopControls) -> None:
    shop.gateway("broken", answers="FAILURE", error_code="INSUFFICIENT_FUNDS")
    order = shop.order(total="15.00", gateway="broken")
    made = refund(shop, order, "5.00").payload
    assert made["userErrors"] == []
    seen = read(shop, order)
    [part] = seen["refunds"][0]["transactions"]["nodes"]
    assert (part["status"], part["errorCode"]) == ("FAILURE", "INSUFFICIENT_FUNDS")
    assert seen["totalRefundedSet"]["presentmentMoney"]["amount"] == "0.0"


def test_a_failed_refund_keeps_its_quantities(shop: ShopControls) -> None:
    shop.gateway("broken", answers="FAILURE")
    order = shop.order(total="15.00", gateway="broken")
    line = [{"lineItemId": order.lines[0], "quantity": 1}]
    refund(shop, order, "5.00", key="a", refundLineItems=line)
    again = refund(shop, order, "5.00", key="b", refundLineItems=line)
    assert again.user_errors[0]["field"] == ["refundLineItems", "0", "quantity"]


def test_a_merchant_retries_a_failed_refund_by_hand(shop: ShopControls) -> None:
    shop.gateway("broken", answers="FAILURE")
    order = shop.order(total="15.00", gateway="broken")
    made = refund(shop, order, "5.00").payload["refund"]["id"]
    shop.retry_refund(made)
    [part] = shop.effects()[0].parts
    assert [entry.status for entry in part.history] == ["FAILURE", "SUCCESS"]
    assert read(shop, order)["displayFinancialStatus"] == "PARTIALLY_REFUNDED"
    with pytest.raises(ControlRefused, match="no failed refund"):
        shop.retry_refund(made)


def test_a_confirmed_refund_can_bounce(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    made = refund(shop, order, "5.00").payload["refund"]["id"]
    shop.settle_refund(made, "FAILURE", error_code="GENERIC_ERROR")
    assert read(shop, order)["displayFinancialStatus"] == "PAID"


def test_parts_of_a_split_tender_end_each_in_its_own_way(shop: ShopControls) -> None:
    shop.gateway("slow", answers="PENDING")
    payments = [Payment(amount="60.00", gateway="card"), Payment(amount="40.00", gateway="slow")]
    order = shop.order(total="100.00", payments=payments)
    asked = refund_input(order, "60.00")
    asked["transactions"] += refund_input(order, "40.00", payment=1)["transactions"]
    made = ask(shop, REFUND, {"input": asked, "key": "k"}).payload["refund"]
    assert status_of(shop) == ["SUCCESS", "PENDING"]
    slow = made["transactions"]["nodes"][1]["id"]
    shop.settle_refund(made["id"], "FAILURE", transaction=slow)
    assert status_of(shop) == ["SUCCESS", "FAILURE"]
    seen = read(shop, order)
    assert seen["totalRefundedSet"]["presentmentMoney"]["amount"] == "60.0"


@pytest.mark.parametrize(
    ("currency", "total", "amount", "told"),
    [("JPY", "1500", "1200", "1200.0"), ("KWD", "15.000", "1.234", "1.234")],
)
def test_currencies_have_places_of_their_own(
    sandbox: Sandbox, currency: str, total: str, amount: str, told: str
) -> None:
    shop = sandbox.shop("acme.myshopify.com", currency=currency)
    order = shop.order(total=total)
    made = refund(shop, order, amount).payload["refund"]
    assert made["totalRefundedSet"]["shopMoney"] == {"amount": told, "currencyCode": currency}


@pytest.mark.parametrize(
    ("currency", "amount"), [("JPY", "1.5"), ("EUR", "1.005"), ("KWD", "1.0005")]
)
def test_an_amount_finer_than_its_currency_is_refused(
    sandbox: Sandbox, currency: str, amount: str
) -> None:
    shop = sandbox.shop("acme.myshopify.com", currency=currency)
    assert refund(shop, shop.order(total="100"), amount).payload["refund"] is None
    assert shop.effects() == ()


@pytest.mark.parametrize("amount", ["0", "-1.00"])
def test_no_money_is_no_refund(shop: ShopControls, amount: str) -> None:
    assert refund(shop, shop.order(), amount).payload["refund"] is None
    assert shop.effects() == ()


@pytest.mark.parametrize("amount", ["NaN", "Infinity", "ten", True])
def test_an_amount_that_is_no_number_is_an_invalid_variable(
    shop: ShopControls, amount: object
) -> None:
    asked = refund_input(shop.order(), "1.00")
    asked["transactions"][0]["amount"] = amount
    answer = ask(shop, REFUND, {"input": asked, "key": "k"})
    [error] = answer.json["errors"]
    assert error["extensions"]["code"] == "INVALID_VARIABLE"
    assert error["extensions"]["problems"][0]["path"] == ["transactions", 0, "amount"]
    assert shop.effects() == ()


@pytest.mark.parametrize("currency", [None, "CAD", "EUR"])
def test_a_foreign_currency_order_needs_its_presentment_currency(
    shop: ShopControls, currency: str | None
) -> None:
    order = shop.order(total="20.00", currency="USD", rate="1.42")
    answer = refund(shop, order, "5.00", currency=currency)
    assert answer.user_errors[0]["field"] == ["currency"]
    assert shop.effects() == ()


def test_store_credit_is_a_transaction_without_a_parent(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    money = {"amount": "5.00", "currencyCode": "CAD"}
    asked = {"orderId": order.id, "refundMethods": [{"storeCreditRefund": {"amount": money}}]}
    made = ask(shop, REFUND, {"input": asked, "key": "k"}).payload["refund"]
    [node] = made["transactions"]["nodes"]
    assert (node["gateway"], node["parentTransaction"]) == ("shopify_store_credit", None)
    assert shop.effects()[0].amount == 5
