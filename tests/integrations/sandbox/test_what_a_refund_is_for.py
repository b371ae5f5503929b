"""Lines, shipping, duties and store credit: what is suggested, kept, and refused."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from integrations.sandbox.ledger import EffectDuty, EffectLine
from integrations.sandbox.records import Payment, PlacedOrder
from integrations.sandbox.surface import ShopControls
from tests.integrations.sandbox.asking import REFUND, Answered, ask, refund, refund_input

SUGGEST = """query Suggest(
  $id: ID!, $lines: [RefundLineItemInput!], $shipping: Money, $duties: [RefundDutyInput!]
) {
  order(id: $id) {
    suggestedRefund(refundLineItems: $lines, shippingAmount: $shipping, refundDuties: $duties) {
      amountSet { presentmentMoney { amount currencyCode } shopMoney { amount currencyCode } }
      totalDutiesSet { presentmentMoney { amount } }
      shipping { amountSet { presentmentMoney { amount } } }
      refundDuties { amountSet { presentmentMoney { amount } } originalDuty { id } }
    }
    lineItems(first: 10) { nodes { id refundableQuantity duties { id price { presentmentMoney {
      amount
    } } } } }
  }
}
"""
BOOK = """query Book($id: ID!) {
  refund(id: $id) {
    duties { amountSet { presentmentMoney { amount } } originalDuty { id } }
    refundLineItems(first: 5) { nodes { quantity restockType lineItem { id } } }
    order { totalRefundedShippingSet { presentmentMoney { amount } } }
  }
}
"""
LINES = [
    {"title": "Shirt", "quantity": 3, "price": "10.00", "duty": "4.00"},
    {"title": "Cap", "quantity": 1, "price": "8.00"},
]


@pytest.fixture
def order(shop: ShopControls) -> PlacedOrder:
    return shop.order(total="47.00", shipping="5.00", lines=LINES)


def items(order: PlacedOrder, quantity: int, *, line: int = 0, **more: Any) -> list[dict[str, Any]]:
    return [{"lineItemId": order.lines[line], "quantity": quantity, **more}]


def duties(order: PlacedOrder, kind: str | None) -> list[dict[str, Any]]:
    return [{"dutyId": order.duties[0], **({"refundType": kind} if kind else {})}]


def suggested(shop: ShopControls, order: PlacedOrder, **asked: Any) -> Any:
    told = ask(shop, SUGGEST, {"id": order.id, **asked}).json
    assert "errors" not in told, told
    return told["data"]["order"]["suggestedRefund"]


def amount(shop: ShopControls, order: PlacedOrder, **asked: Any) -> str:
    return str(suggested(shop, order, **asked)["amountSet"]["presentmentMoney"]["amount"])


def refused(answer: Answered, shop: ShopControls, *, effects: int = 0) -> tuple[list[str], str]:
    assert answer.payload["refund"] is None
    assert len(shop.effects()) == effects
    [error] = answer.user_errors
    return error["field"], error["message"]


def test_a_line_names_its_duty_and_how_many_are_left(
    shop: ShopControls, order: PlacedOrder
) -> None:
    nodes = ask(shop, SUGGEST, {"id": order.id}).json["data"]["order"]["lineItems"]["nodes"]
    assert nodes == [
        {
            "id": order.lines[0],
            "refundableQuantity": 3,
            "duties": [{"id": order.duties[0], "price": {"presentmentMoney": {"amount": "4.0"}}}],
        },
        {"id": order.lines[1], "refundableQuantity": 1, "duties": []},
    ]
    refund(shop, order, "10.00", refundLineItems=items(order, 1))
    nodes = ask(shop, SUGGEST, {"id": order.id}).json["data"]["order"]["lineItems"]["nodes"]
    assert [node["refundableQuantity"] for node in nodes] == [2, 1]


@pytest.mark.parametrize(
    ("kind", "quantity", "told"),
    [
        ("FULL", 0, "4.0"),
        (None, 0, "4.0"),
        ("PROPORTIONAL", 1, "1.33"),
        ("PROPORTIONAL", 2, "2.67"),
    ],
)
def test_a_duty_is_suggested_in_full_or_by_quantity(
    shop: ShopControls, order: PlacedOrder, kind: str | None, quantity: int, told: str
) -> None:
    lines = items(order, quantity) if quantity else []
    said = suggested(shop, order, lines=lines, duties=duties(order, kind))
    assert said["totalDutiesSet"]["presentmentMoney"]["amount"] == told
    assert said["refundDuties"] == [
        {
            "amountSet": {"presentmentMoney": {"amount": told}},
            "originalDuty": {"id": order.duties[0]},
        }
    ]
    whole = Decimal(10 * quantity) + Decimal(told)
    assert Decimal(said["amountSet"]["presentmentMoney"]["amount"]) == whole


def test_lines_shipping_and_duties_are_suggested_together_and_never_twice(
    shop: ShopControls, order: PlacedOrder
) -> None:
    asked = {"lines": items(order, 2), "shipping": "3.00", "duties": duties(order, "PROPORTIONAL")}
    assert amount(shop, order, **asked) == "25.67"
    wanted: dict[str, Any] = {
        "refundLineItems": items(order, 2),
        "shipping": {"amount": "3.00"},
        "refundDuties": duties(order, "PROPORTIONAL"),
    }
    refund(shop, order, "25.67", **wanted)
    # One shirt, 2.00 of the shipping and 1.33 of the duty are left of what is asked for again.
    assert amount(shop, order, **asked) == "13.33"


def test_no_more_is_suggested_than_the_store_still_holds(
    shop: ShopControls, order: PlacedOrder
) -> None:
    refund(shop, order, "40.00")
    assert amount(shop, order, lines=items(order, 3)) == "7.0"


def test_a_refund_keeps_what_it_was_for(shop: ShopControls, order: PlacedOrder) -> None:
    lines = [
        *items(order, 2, restockType="RETURN", locationId="gid://shopify/Location/9"),
        *items(order, 1, line=1, restockType="CANCEL"),
    ]
    made = refund(
        shop,
        order,
        "30.67",
        refundLineItems=lines,
        shipping={"amount": "1.50"},
        refundDuties=duties(order, "PROPORTIONAL"),
    ).payload["refund"]["id"]
    [effect] = shop.effects()
    assert effect.lines == (
        EffectLine(
            line_id=order.lines[0],
            quantity=2,
            restock_type="RETURN",
            location_id="gid://shopify/Location/9",
        ),
        EffectLine(line_id=order.lines[1], quantity=1, restock_type="CANCEL", location_id=None),
    )
    assert (effect.shipping, effect.duties) == (
        Decimal("1.50"),
        (EffectDuty(duty_id=order.duties[0], amount=Decimal("2.67")),),
    )
    assert ask(shop, BOOK, {"id": made}).json["data"]["refund"] == {
        "duties": [
            {
                "amountSet": {"presentmentMoney": {"amount": "2.67"}},
                "originalDuty": {"id": order.duties[0]},
            }
        ],
        "refundLineItems": {
            "nodes": [
                {"quantity": 2, "restockType": "RETURN", "lineItem": {"id": order.lines[0]}},
                {"quantity": 1, "restockType": "CANCEL", "lineItem": {"id": order.lines[1]}},
            ]
        },
        "order": {"totalRefundedShippingSet": {"presentmentMoney": {"amount": "1.5"}}},
    }


def test_all_of_the_shipping_is_what_is_left_of_it(shop: ShopControls, order: PlacedOrder) -> None:
    refund(shop, order, "2.00", key="a", shipping={"amount": "2.00"})
    refund(shop, order, "3.00", key="b", shipping={"fullRefund": True})
    assert [effect.shipping for effect in shop.effects()] == [Decimal("2.00"), Decimal("3.00")]


@pytest.mark.parametrize(
    ("asked", "field", "message"),
    [
        (
            {"lineItemId": "gid://shopify/LineItem/1", "quantity": 1},
            "lineItemId",
            "Line item does not exist",
        ),
        ({"quantity": 4}, "quantity", "Quantity cannot refund more items than were purchased"),
        ({"quantity": 0}, "quantity", "Quantity must be greater than zero"),
        ({"quantity": -1}, "quantity", "Quantity must be greater than zero"),
        (
            {"quantity": 1, "restockType": "LEGACY_RESTOCK"},
            "restockType",
            "Restock type is not accepted",
        ),
    ],
)
def test_items_that_can_not_come_back_are_refused(
    shop: ShopControls, order: PlacedOrder, asked: dict[str, Any], field: str, message: str
) -> None:
    line = {"lineItemId": order.lines[0], **asked}
    answer = refund(shop, order, "1.00", refundLineItems=[line])
    assert refused(answer, shop) == (["refundLineItems", "0", field], message)


def test_the_same_line_twice_counts_together(shop: ShopControls, order: PlacedOrder) -> None:
    lines = [*items(order, 2, restockType="RETURN"), *items(order, 2, restockType="CANCEL")]
    field, _ = refused(refund(shop, order, "1.00", refundLineItems=lines), shop)
    assert field == ["refundLineItems", "1", "quantity"]


def test_more_shipping_than_is_left_is_refused(shop: ShopControls, order: PlacedOrder) -> None:
    refund(shop, order, "2.00", key="a", shipping={"amount": "2.00"})
    over = refund(shop, order, "3.01", key="b", shipping={"amount": "3.01"})
    assert refused(over, shop, effects=1) == (
        ["shipping", "amount"],
        "Shipping refund is greater than what is left of the shipping",
    )


def test_a_duty_of_another_order_is_refused(shop: ShopControls, order: PlacedOrder) -> None:
    other = shop.order(total="20.00", lines=LINES)
    answer = refund(shop, order, "1.00", refundDuties=duties(other, "FULL"))
    assert refused(answer, shop) == (["refundDuties", "0", "dutyId"], "Duty does not exist")


def test_a_duty_that_has_gone_back_is_refused(shop: ShopControls, order: PlacedOrder) -> None:
    refund(shop, order, "4.00", key="a", refundDuties=duties(order, "FULL"))
    for kind, lines in (("FULL", []), ("PROPORTIONAL", items(order, 1))):
        again = refund(
            shop, order, "1.00", key=kind, refundDuties=duties(order, kind), refundLineItems=lines
        )
        assert refused(again, shop, effects=1) == (
            ["refundDuties", "0", "dutyId"],
            "Duty has nothing to refund",
        )


def test_a_duty_named_twice_is_refused(shop: ShopControls, order: PlacedOrder) -> None:
    twice = [*duties(order, "FULL"), *duties(order, "FULL")]
    field, _ = refused(refund(shop, order, "8.00", refundDuties=twice), shop)
    assert field == ["refundDuties", "1", "dutyId"]


def test_a_duty_in_proportion_to_nothing_is_refused(shop: ShopControls, order: PlacedOrder) -> None:
    answer = refund(shop, order, "1.00", refundDuties=duties(order, "PROPORTIONAL"))
    assert refused(answer, shop) == (
        ["refundDuties", "0", "dutyId"],
        "Duty has nothing to refund",
    )


def credit(
    shop: ShopControls, order: PlacedOrder, amount: str, *, currency: str = "CAD", key: str = "key"
) -> Answered:
    money = {"amount": amount, "currencyCode": currency}
    asked = {
        "orderId": order.id,
        "transactions": [],
        "refundMethods": [{"storeCreditRefund": {"amount": money}}],
    }
    return ask(shop, REFUND, {"input": asked, "key": key})


def test_a_refund_to_store_credit_is_answered_as_the_documentation_shows(
    shop: ShopControls,
) -> None:
    """Golden: the example of https://shopify.dev/docs/api/admin-graphql/latest/mutations/refundcreate."""
    order = shop.order(total="20.00")
    made = credit(shop, order, "10.00").payload
    assert made["userErrors"] == []
    assert made["refund"]["totalRefundedSet"]["presentmentMoney"] == {
        "amount": "10.0",
        "currencyCode": "CAD",
    }
    [node] = made["refund"]["transactions"]["nodes"]
    assert (node["gateway"], node["kind"]) == ("shopify_store_credit", "REFUND")
    assert node["amountSet"]["presentmentMoney"] == {"amount": "10.0", "currencyCode": "CAD"}
    assert made["order"]["id"] == order.id


def test_store_credit_takes_from_the_order_and_from_no_payment(shop: ShopControls) -> None:
    order = shop.order(total="20.00")
    credit(shop, order, "15.00")
    query = """query($id: ID!) { order(id: $id) { suggestedRefund(suggestFullRefund: true) {
      suggestedTransactions { maximumRefundableSet { presentmentMoney { amount } } } } } }"""
    told = ask(shop, query, {"id": order.id}).json["data"]["order"]["suggestedRefund"]
    assert told["suggestedTransactions"] == [
        {"maximumRefundableSet": {"presentmentMoney": {"amount": "5.0"}}}
    ]
    over = refund(shop, order, "5.01")
    assert refused(over, shop, effects=1)[1] == (
        "Refund amount $5.01 is greater than net payment received $5.00"
    )


def test_a_guest_gets_no_store_credit(shop: ShopControls) -> None:
    """That the order needs a customer is documented; the words are the sandbox's own."""
    order = shop.order(total="20.00", customer=None)
    assert refused(credit(shop, order, "5.00"), shop) == (
        ["refundMethods", "0", "storeCreditRefund"],
        "Store credit can only be issued to the customer of an order",
    )


def test_store_credit_in_another_currency_is_refused(shop: ShopControls) -> None:
    order = shop.order(total="20.00")
    assert refused(credit(shop, order, "5.00", currency="USD"), shop) == (
        ["refundMethods", "0", "storeCreditRefund", "amount"],
        "Store credit must be in the presentment currency of the order",
    )


def test_more_store_credit_than_was_paid_is_refused(shop: ShopControls) -> None:
    order = shop.order(total="20.00")
    assert refused(credit(shop, order, "20.01"), shop)[1] == (
        "Refund amount $20.01 is greater than net payment received $20.00"
    )


def test_store_credit_may_stand_beside_a_payment(shop: ShopControls) -> None:
    order = shop.order(total="20.00", payments=[Payment(amount="20.00", gateway="card")])
    asked = refund_input(order, "8.00") | {
        "refundMethods": [
            {"storeCreditRefund": {"amount": {"amount": "2.00", "currencyCode": "CAD"}}}
        ]
    }
    ask(shop, REFUND, {"input": asked, "key": "k"})
    [effect] = shop.effects()
    assert [(part.gateway, part.amount, part.parent_id) for part in effect.parts] == [
        ("card", Decimal("8.00"), order.payments[0]),
        ("shopify_store_credit", Decimal("2.00"), None),
    ]
