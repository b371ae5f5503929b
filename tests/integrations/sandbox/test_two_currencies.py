"""Orders that were paid in another currency than the shop's: every amount, exactly, in both."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from integrations.sandbox.records import Payment
from integrations.sandbox.server import Sandbox
from integrations.sandbox.surface import ShopControls
from tests.integrations.sandbox.asking import REFUND, ask, refund, refund_input

READ = """query($id: ID!) {
  order(id: $id) {
    currencyCode
    presentmentCurrencyCode
    totalReceivedSet { ...Both }
    totalRefundedSet { ...Both }
    transactions { kind amountSet { ...Both } }
  }
}
fragment Both on MoneyBag {
  presentmentMoney { amount currencyCode }
  shopMoney { amount currencyCode }
}
"""


def both(presentment: str, of: str, shop: str, shops: str = "CAD") -> dict[str, Any]:
    return {
        "presentmentMoney": {"amount": presentment, "currencyCode": of},
        "shopMoney": {"amount": shop, "currencyCode": shops},
    }


def test_a_recorded_refund_in_two_currencies_is_answered_as_recorded(shop: ShopControls) -> None:
    """Golden: R 36, money-bag-presentment-parity: 9.00 USD paid is 12.77 CAD, 5.00 back is 7.10."""
    order = shop.order(total="9.00", currency="USD", rate="1.4192")
    before = ask(shop, READ, {"id": order.id}).json["data"]["order"]
    assert (before["currencyCode"], before["presentmentCurrencyCode"]) == ("CAD", "USD")
    assert before["transactions"] == [{"kind": "SALE", "amountSet": both("9.0", "USD", "12.77")}]
    made = refund(shop, order, "5.00", currency="USD", allowOverRefunding=True).payload
    assert made["userErrors"] == []
    assert made["refund"]["totalRefundedSet"] == both("5.0", "USD", "7.1")
    assert made["order"]["totalRefundedSet"] == both("5.0", "USD", "7.1")


def test_every_transaction_tells_both(shop: ShopControls) -> None:
    order = shop.order(total="9.00", currency="USD", rate="1.4192")
    made = refund(shop, order, "5.00", currency="USD").payload["refund"]
    [node] = made["transactions"]["nodes"]
    assert node["amountSet"] == both("5.0", "USD", "7.1")
    after = ask(shop, READ, {"id": order.id}).json["data"]["order"]
    assert after["totalReceivedSet"] == both("9.0", "USD", "12.77")
    assert [one["amountSet"] for one in after["transactions"]] == [
        both("9.0", "USD", "12.77"),
        both("5.0", "USD", "7.1"),
    ]
    [effect] = shop.effects()
    assert [(part.amount, part.shop_amount) for part in effect.parts] == [
        (Decimal("5.00"), Decimal("7.10"))
    ]


@pytest.mark.parametrize(
    ("shops", "currency", "rate", "amount", "told", "worth"),
    [
        # Half up, at the places of the shop's currency: none, two, three.
        ("EUR", "JPY", "0.00615", "1000", "1000.0", "6.15"),
        ("EUR", "JPY", "0.0061", "1234", "1234.0", "7.53"),
        ("JPY", "EUR", "163.5", "1.23", "1.23", "201.0"),
        ("JPY", "EUR", "0.5", "1.00", "1.0", "1.0"),
        ("KWD", "USD", "0.3065", "10.01", "10.01", "3.068"),
        ("USD", "KWD", "3.2625", "1.234", "1.234", "4.03"),
        ("KWD", "JPY", "0.0019605", "1000", "1000.0", "1.961"),
    ],
)
def test_worth_is_rounded_at_the_places_of_each_currency(
    sandbox: Sandbox,
    shops: str,
    currency: str,
    rate: str,
    amount: str,
    told: str,
    worth: str,
) -> None:
    shop = sandbox.shop("acme.myshopify.com", currency=shops)
    order = shop.order(total="5000", currency=currency, rate=rate)
    made = refund(shop, order, amount, currency=currency).payload["refund"]
    assert made["totalRefundedSet"] == both(told, currency, worth, shops)


def test_lines_shipping_duties_and_suggestions_tell_both(shop: ShopControls) -> None:
    order = shop.order(
        total="3000",
        currency="JPY",
        rate="0.0091",
        shipping="500",
        lines=[{"quantity": 3, "price": "700", "duty": "400"}],
    )
    query = """query($id: ID!, $lines: [RefundLineItemInput!], $duties: [RefundDutyInput!]) {
  order(id: $id) {
    suggestedRefund(refundLineItems: $lines, refundShipping: true, refundDuties: $duties) {
      amountSet { ...Both }
      totalDutiesSet { ...Both }
      shipping { amountSet { ...Both } }
    }
  }
}
fragment Both on MoneyBag {
  presentmentMoney { amount currencyCode }
  shopMoney { amount currencyCode }
}"""
    asked = {
        "lines": [{"lineItemId": order.lines[0], "quantity": 1}],
        "duties": [{"dutyId": order.duties[0], "refundType": "PROPORTIONAL"}],
    }
    told = ask(shop, query, {"id": order.id, **asked}).json["data"]["order"]["suggestedRefund"]
    assert told == {
        # A third of 400 yen is 133 yen: there are no smaller ones.
        "amountSet": both("1333.0", "JPY", "12.13"),
        "totalDutiesSet": both("133.0", "JPY", "1.21"),
        "shipping": {"amountSet": both("500.0", "JPY", "4.55")},
    }


def test_a_split_tender_in_two_currencies_has_one_part_fail(shop: ShopControls) -> None:
    shop.gateway("broken", answers="FAILURE", error_code="CARD_DECLINED")
    payments = [Payment(amount="6.00", gateway="card"), Payment(amount="4.00", gateway="broken")]
    order = shop.order(total="10.00", currency="USD", rate="1.42", payments=payments)
    asked = refund_input(order, "6.00", currency="USD")
    asked["transactions"] += refund_input(order, "4.00", payment=1)["transactions"]
    made = ask(shop, REFUND, {"input": asked, "key": "k"}).payload
    nodes = made["refund"]["transactions"]["nodes"]
    assert [(node["status"], node["amountSet"]) for node in nodes] == [
        ("SUCCESS", both("6.0", "USD", "8.52")),
        ("FAILURE", both("4.0", "USD", "5.68")),
    ]
    assert made["order"]["totalRefundedSet"] == both("6.0", "USD", "8.52")
