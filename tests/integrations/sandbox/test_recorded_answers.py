"""Golden tests: what a real store was recorded to answer, the sandbox answers (reference 2.2, 4).

The sources are named there (R 30 to R 36, R 51, R 52), recorded by a third party and read
2026-11-30. Identifiers and notes are ours; texts, shapes, fields and statuses are the recorded.
"""

from __future__ import annotations

from typing import Any

import pytest

from integrations.sandbox.records import Payment
from integrations.sandbox.surface import ShopControls
from tests.integrations.sandbox.asking import REFUND, Answered, ask, read, refund, refund_input


def money(amount: str, currency: str = "CAD") -> dict[str, Any]:
    both = {"amount": amount, "currencyCode": currency}
    return {"shopMoney": both, "presentmentMoney": both}


def assert_refused(
    answer: Answered, shop: ShopControls, *, order: str, field: list[str] | None, message: str
) -> None:
    """A refusal fills in the order, leaves `refund` null, and has moved nothing."""
    assert answer.status == 200
    assert "errors" not in answer.json
    assert answer.payload == {
        "refund": None,
        "order": {
            "id": order,
            "displayFinancialStatus": "PAID",
            "totalRefundedSet": money("0.0"),
        },
        "userErrors": [{"field": field, "message": message}],
    }
    assert shop.effects() == ()


def test_an_unknown_order_is_refused_with_both_objects_null(shop: ShopControls) -> None:
    missing = {"orderId": "gid://shopify/Order/999999999"}
    answer = ask(shop, REFUND, {"input": missing, "key": "k"})
    assert answer.payload == {
        "refund": None,
        "order": None,
        "userErrors": [{"field": ["orderId"], "message": "Order does not exist"}],
    }
    assert shop.effects() == ()


def test_a_transaction_of_another_kind_than_refund_is_refused(shop: ShopControls) -> None:
    order = shop.order(total="10.00")
    asked = refund_input(order, "1.00")
    asked["transactions"][0]["kind"] = "AUTHORIZATION"
    assert_refused(
        ask(shop, REFUND, {"input": asked, "key": "k"}),
        shop,
        order=order.id,
        field=None,
        message="Kind authorization is not a valid transaction",
    )


@pytest.mark.parametrize("parent", ["gid://shopify/OrderTransaction/999999999999", None])
def test_a_parent_that_is_not_of_the_order_is_refused(
    shop: ShopControls, parent: str | None
) -> None:
    order = shop.order(total="10.00")
    asked = refund_input(order, "1.00")
    asked["transactions"][0]["parentId"] = parent
    assert_refused(
        ask(shop, REFUND, {"input": asked, "key": "k"}),
        shop,
        order=order.id,
        field=["transactions"],
        message="Transactions require a parent_id associated with the order",
    )


def test_another_orders_payment_is_no_parent(shop: ShopControls) -> None:
    order, other = shop.order(total="10.00"), shop.order(total="10.00")
    asked = refund_input(order, "1.00")
    asked["transactions"][0]["parentId"] = other.payments[0]
    assert_refused(
        ask(shop, REFUND, {"input": asked, "key": "k"}),
        shop,
        order=order.id,
        field=["transactions"],
        message="Transactions require a parent_id associated with the order",
    )


def test_a_wrong_gateway_is_accepted_and_the_parents_is_used(shop: ShopControls) -> None:
    order = shop.order(total="10.00", gateway="bogus-parent-gateway")
    answer = refund(shop, order, "1.00")
    assert answer.payload["userErrors"] == []
    [transaction] = answer.payload["refund"]["transactions"]["nodes"]
    assert transaction["gateway"] == "bogus-parent-gateway"
    assert transaction["status"] == "SUCCESS"
    assert answer.payload["order"]["displayFinancialStatus"] == "PARTIALLY_REFUNDED"
    assert answer.payload["order"]["totalRefundedSet"] == money("1.0")


def test_more_than_the_net_payment_is_refused(shop: ShopControls) -> None:
    order = shop.order(total="15.00", shipping="5.00")
    line = {"lineItemId": order.lines[0], "quantity": 1, "restockType": "NO_RESTOCK"}
    answer = refund(
        shop,
        order,
        "25.00",
        note="invalid over refund",
        notify=False,
        refundLineItems=[line],
        shipping={"fullRefund": True},
    )
    assert_refused(
        answer,
        shop,
        order=order.id,
        field=None,
        message="Refund amount $25.00 is greater than net payment received $15.00",
    )


def test_over_refunding_is_refused_even_where_it_is_allowed(shop: ShopControls) -> None:
    order = shop.order(total="35.00")
    assert_refused(
        refund(shop, order, "999.00", allowOverRefunding=True),
        shop,
        order=order.id,
        field=None,
        message="Refund amount $999.00 is greater than net payment received $35.00",
    )


def test_more_items_than_are_left_are_refused(shop: ShopControls) -> None:
    order = shop.order(total="20.00", lines=[{"quantity": 2, "price": "10.00"}])
    line = {"lineItemId": order.lines[0], "quantity": 3}
    assert_refused(
        refund(shop, order, "10.00", refundLineItems=[line]),
        shop,
        order=order.id,
        field=["refundLineItems", "0", "quantity"],
        message="Quantity cannot refund more items than were purchased",
    )


def test_a_part_and_then_the_rest_succeed_on_a_manual_gateway(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    first = refund(shop, order, "5.00", key="a", note="rzv:first")
    assert first.payload["userErrors"] == []
    assert first.payload["refund"]["note"] == "rzv:first"
    assert first.payload["refund"]["totalRefundedSet"] == money("5.0")
    [transaction] = first.payload["refund"]["transactions"]["nodes"]
    assert (transaction["kind"], transaction["status"]) == ("REFUND", "SUCCESS")
    assert transaction["amountSet"] == money("5.0")
    assert transaction["parentTransaction"] == {"id": order.payments[0]}
    assert first.payload["order"]["displayFinancialStatus"] == "PARTIALLY_REFUNDED"
    rest = refund(shop, order, "10.00", key="b")
    assert rest.payload["order"]["displayFinancialStatus"] == "REFUNDED"
    assert rest.payload["order"]["totalRefundedSet"] == money("15.0")
    seen = read(shop, order)
    assert seen["displayFinancialStatus"] == "REFUNDED"
    assert seen["refundable"] is False
    assert [item["note"] for item in seen["refunds"]] == ["rzv:first", None]


def test_two_equal_parts_below_the_cap_both_succeed(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    for key in ("a", "b"):
        assert refund(shop, order, "5.00", key=key).user_errors == []
    assert [effect.amount for effect in shop.effects()] == [5, 5]


def test_a_foreign_currency_order_reads_the_amount_as_presentment(shop: ShopControls) -> None:
    order = shop.order(total="20.00", currency="USD", rate="1.42")
    answer = refund(shop, order, "5.00", currency="USD")
    assert answer.payload["refund"]["totalRefundedSet"] == {
        "presentmentMoney": {"amount": "5.0", "currencyCode": "USD"},
        "shopMoney": {"amount": "7.1", "currencyCode": "CAD"},
    }


def test_a_note_comes_back_unchanged(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    note = "rzv:abc  défaut\n„zwei” 🎁 "
    assert refund(shop, order, "5.00", note=note).payload["refund"]["note"] == note
    assert read(shop, order)["refunds"][0]["note"] == note


def test_selecting_a_code_of_a_plain_user_error_refuses_the_whole_request(
    shop: ShopControls,
) -> None:
    order = shop.order(total="15.00")
    query = f"""mutation CodeSelection {{
  refund: refundCreate(input: {{ orderId: "{order.id}" }}) @idempotent(key: "k") {{
    userErrors {{
      field
      message
      code
    }}
  }}
}}"""
    answer = ask(shop, query)
    assert answer.status == 200
    assert answer.json == {
        "errors": [
            {
                "message": "Field 'code' doesn't exist on type 'UserError'",
                "locations": [{"line": 6, "column": 7}],
                "path": ["mutation CodeSelection", "refund", "userErrors", "code"],
                "extensions": {
                    "code": "undefinedField",
                    "typeName": "UserError",
                    "fieldName": "code",
                },
            }
        ]
    }
    assert shop.effects() == ()


def test_unknown_input_fields_in_variables_are_refused_by_name(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    asked = {
        "orderId": order.id,
        "pointOfSaleDeviceId": "9999999",
        "locationId": "gid://shopify/Location/0",
        "userId": 0,
        "transactionGroupId": "0",
    }
    names = ["pointOfSaleDeviceId", "locationId", "userId", "transactionGroupId"]
    undefined = "Field is not defined on RefundInput"
    answer = ask(shop, REFUND, {"input": asked, "key": "k"})
    named = ", ".join(f"{name} ({undefined})" for name in names)
    assert answer.json == {
        "errors": [
            {
                "message": "Variable $input of type RefundInput! was provided invalid value "
                f"for {named}",
                "locations": [{"line": 1, "column": 17}],
                "extensions": {
                    "code": "INVALID_VARIABLE",
                    "value": asked,
                    "problems": [{"path": [name], "explanation": undefined} for name in names],
                },
            }
        ]
    }
    assert shop.effects() == ()


def test_an_unknown_input_field_in_the_document_is_refused_where_it_stands(
    shop: ShopControls,
) -> None:
    query = """mutation Inline {
  refundCreate(input: {
    orderId: "gid://shopify/Order/1"
    pointOfSaleDeviceId: "9999999"
  }) @idempotent(key: "k") {
    refund { id }
  }
}"""
    assert ask(shop, query).json == {
        "errors": [
            {
                "message": "InputObject 'RefundInput' doesn't accept argument "
                "'pointOfSaleDeviceId'",
                "locations": [{"line": 4, "column": 5}],
                "path": ["mutation Inline", "refundCreate", "input", "pointOfSaleDeviceId"],
                "extensions": {
                    "code": "argumentNotAccepted",
                    "name": "RefundInput",
                    "typeName": "InputObject",
                    "argumentName": "pointOfSaleDeviceId",
                },
            }
        ]
    }


def test_the_directive_on_the_operation_is_refused(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    query = f"""mutation Placed @idempotent(key: "k") {{
  refundCreate(input: {{ orderId: "{order.id}" }}) {{ refund {{ id }} }}
}}"""
    assert ask(shop, query).json == {
        "errors": [
            {
                "message": "'@idempotent' can't be applied to mutations (allowed: fields)",
                "locations": [{"line": 1, "column": 17}],
                "path": ["mutation Placed"],
                "extensions": {
                    "code": "directiveCannotBeApplied",
                    "targetName": "mutations",
                    "name": "idempotent",
                },
            }
        ]
    }
    assert shop.effects() == ()


@pytest.mark.parametrize("version", ["2026-04", "2026-07", "2026-10"])
def test_a_refund_without_the_directive_is_refused(shop: ShopControls, version: str) -> None:
    order = shop.order(total="15.00")
    query = "mutation M($input: RefundInput!) { refundCreate(input: $input) { refund { id } } }"
    answer = ask(shop, query, {"input": refund_input(order, "5.00")}, version=version)
    assert answer.status == 200
    assert answer.json["data"] == {"refundCreate": None}
    assert answer.json["errors"] == [
        {
            "message": "The @idempotent directive is required for this mutation "
            "but was not provided.",
            "locations": [{"line": 1, "column": 36}],
            "path": ["refundCreate"],
            "extensions": {"code": "BAD_REQUEST"},
        }
    ]
    assert shop.effects() == ()


@pytest.mark.parametrize("key", ["", "  \n"])
def test_a_blank_key_is_refused(shop: ShopControls, key: str) -> None:
    order = shop.order(total="15.00")
    answer = refund(shop, order, "5.00", key=key)
    assert answer.json["data"] == {"refundCreate": None}
    assert answer.json["errors"][0]["extensions"] == {"code": "BAD_REQUEST"}
    assert shop.effects() == ()


def test_missing_scope_denies_at_the_root_and_names_the_scope(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    reader = shop.with_token("shpat_reader", scopes=["read_orders"], app="Reader")
    answer = refund(reader, order, "5.00")
    assert answer.json["data"] == {"refundCreate": None}
    [error] = answer.json["errors"]
    assert error["path"] == ["refundCreate"]
    assert error["extensions"] == {
        "code": "ACCESS_DENIED",
        "documentation": "https://shopify.dev/api/usage/access-scopes",
        "requiredAccess": "`write_orders` access scope.",
    }
    assert shop.effects() == ()


def test_a_denied_child_leaves_the_mutation_done(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    query = """mutation M($input: RefundInput!) {
  refundCreate(input: $input) @idempotent(key: "k") { refund { id staffMember { id } } }
}"""
    answer = ask(shop, query, {"input": refund_input(order, "5.00")})
    [effect] = shop.effects()
    assert answer.json["errors"][0]["path"] == ["refundCreate", "refund", "staffMember"]
    assert answer.payload["refund"] == {"id": effect.id, "staffMember": None}


def test_cost_is_told_with_every_answer_and_a_refusal_costs_too(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    refused = refund(shop, order, "25.00").json["extensions"]["cost"]
    assert refused["actualQueryCost"] < refused["requestedQueryCost"]
    assert refused["throttleStatus"]["maximumAvailable"] == 2000.0
    assert refused["throttleStatus"]["restoreRate"] == 100.0


def test_an_empty_bucket_answers_throttled_without_data(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    shop.throttle(available=0, per_second=0)
    answer = refund(shop, order, "5.00")
    assert answer.status == 200
    assert answer.json["errors"] == [
        {
            "message": "Throttled",
            "extensions": {
                "code": "THROTTLED",
                "documentation": "https://shopify.dev/api/usage/rate-limits",
            },
        }
    ]
    assert "data" not in answer.json
    assert answer.json["extensions"]["cost"]["actualQueryCost"] is None
    assert shop.effects() == ()


def test_a_wrong_token_is_unauthorized(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    body = {"input": refund_input(order, "5.00"), "key": "k"}
    answer = ask(shop, REFUND, body, token="shpat_wrong")
    assert answer.status == 401
    assert answer.json == {
        "errors": "[API] Invalid API key or access token (unrecognized login or wrong password)"
    }
    assert shop.effects() == ()


def test_payments_of_a_split_tender_are_refunded_each_on_its_own(shop: ShopControls) -> None:
    payments = [Payment(amount="60.00", gateway="card"), Payment(amount="40.00", gateway="gift")]
    order = shop.order(total="100.00", payments=payments)
    asked = refund_input(order, "60.00")
    asked["transactions"] += refund_input(order, "10.00", payment=1)["transactions"]
    answer = ask(shop, REFUND, {"input": asked, "key": "k"})
    nodes = answer.payload["refund"]["transactions"]["nodes"]
    assert [(n["gateway"], n["amountSet"]["shopMoney"]["amount"]) for n in nodes] == [
        ("card", "60.0"),
        ("gift", "10.0"),
    ]
    over = refund(shop, order, "1.00", key="again")
    assert over.user_errors[0]["message"].endswith("what is left of its parent transaction")
    assert len(shop.effects()) == 1
