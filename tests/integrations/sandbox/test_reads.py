"""What reads show: suggestions, makers of refunds, scopes, old orders, pages, any object."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from integrations.sandbox.records import Payment
from integrations.sandbox.server import Sandbox
from integrations.sandbox.surface import ShopControls
from tests.integrations.sandbox.asking import ask, read, refund

SUGGEST = """query Suggest(
  $id: ID!, $full: Boolean, $lines: [RefundLineItemInput!], $shipping: Boolean
) {
  order(id: $id) {
    suggestedRefund(
      suggestFullRefund: $full, refundLineItems: $lines, refundShipping: $shipping
    ) {
      amountSet { presentmentMoney { amount } }
      maximumRefundableSet { presentmentMoney { amount } }
      suggestedTransactions {
        gateway
        kind
        amountSet { presentmentMoney { amount } }
        maximumRefundableSet { presentmentMoney { amount } }
        parentTransaction { id kind }
      }
    }
  }
}
"""


def suggestion(shop: ShopControls, order: str, **asked: Any) -> Any:
    told = ask(shop, SUGGEST, {"id": order, **asked}).json["data"]["order"]["suggestedRefund"]
    parts = [
        (
            item["gateway"],
            item["amountSet"]["presentmentMoney"]["amount"],
            item["maximumRefundableSet"]["presentmentMoney"]["amount"],
            item["parentTransaction"]["id"],
        )
        for item in told["suggestedTransactions"]
    ]
    assert {item["kind"] for item in told["suggestedTransactions"]} <= {"SUGGESTED_REFUND"}
    maximum = told["maximumRefundableSet"]["presentmentMoney"]["amount"]
    return told["amountSet"]["presentmentMoney"]["amount"], maximum, parts


def test_a_full_refund_is_suggested_over_the_payments_in_their_order(shop: ShopControls) -> None:
    payments = [Payment(amount="60.00", gateway="card"), Payment(amount="40.00", gateway="gift")]
    order = shop.order(total="100.00", payments=payments)
    card, gift = order.payments
    assert suggestion(shop, order.id, full=True) == (
        "100.0",
        "100.0",
        [("card", "60.0", "60.0", card), ("gift", "40.0", "40.0", gift)],
    )
    refund(shop, order, "60.00")
    assert suggestion(shop, order.id, full=True) == (
        "40.0",
        "40.0",
        [("gift", "40.0", "40.0", gift)],
    )


def test_lines_and_shipping_are_suggested_as_asked(shop: ShopControls) -> None:
    lines = [{"quantity": 2, "price": "10.00"}]
    order = shop.order(total="25.00", shipping="5.00", lines=lines)
    one = [{"lineItemId": order.lines[0], "quantity": 1}]
    amount, maximum, parts = suggestion(shop, order.id, lines=one, shipping=True)
    assert (amount, maximum) == ("15.0", "25.0")
    assert parts == [("manual", "15.0", "25.0", order.payments[0])]


def test_nothing_asked_suggests_nothing_and_still_tells_the_most(shop: ShopControls) -> None:
    order = shop.order(total="25.00")
    assert suggestion(shop, order.id) == (
        "0.0",
        "25.0",
        [("manual", "0.0", "25.0", order.payments[0])],
    )


def test_store_credit_is_suggested_in_the_place_of_the_payments(shop: ShopControls) -> None:
    order = shop.order(total="25.00")
    query = """query($id: ID!) {
  order(id: $id) {
    suggestedRefund(suggestFullRefund: true, refundMethodAllocation: STORE_CREDIT) {
      suggestedTransactions { gateway }
      suggestedRefundMethods { __typename amount { shopMoney { amount } } }
    }
  }
}"""
    told = ask(shop, query, {"id": order.id}).json["data"]["order"]["suggestedRefund"]
    assert told == {
        "suggestedTransactions": [],
        "suggestedRefundMethods": [
            {
                "__typename": "SuggestedStoreCreditRefund",
                "amount": {"shopMoney": {"amount": "25.0"}},
            }
        ],
    }


def test_agreements_name_the_app_that_made_each_refund(shop: ShopControls) -> None:
    order = shop.order(total="25.00")
    ours = refund(shop, order, "5.00").payload["refund"]["id"]
    staff = shop.refund_by_staff(order.id, amount="6.00", note="by hand").id
    other = shop.refund_by_staff(order.id, amount="7.00", app_id="gid://shopify/App/1").id
    nodes = read(shop, order)["agreements"]["nodes"]
    assert nodes == [
        {"__typename": "OrderAgreement", "app": None},
        {"__typename": "RefundAgreement", "app": {"id": shop.app_id}, "refund": {"id": ours}},
        {"__typename": "RefundAgreement", "app": None, "refund": {"id": staff}},
        {
            "__typename": "RefundAgreement",
            "app": {"id": "gid://shopify/App/1"},
            "refund": {"id": other},
        },
    ]


def test_agreements_are_paged_and_refunds_are_not(shop: ShopControls) -> None:
    order = shop.order(total="100.00")
    made = [refund(shop, order, "1.00", key=str(n)).payload["refund"]["id"] for n in range(5)]
    query = """query($id: ID!, $after: String) {
  order(id: $id) {
    refunds(first: 2) { id }
    agreements(first: 2, after: $after) {
      nodes { ... on RefundAgreement { refund { id } } }
      pageInfo { hasNextPage endCursor }
    }
  }
}"""
    found: list[str] = []
    after = None
    while True:
        told = ask(shop, query, {"id": order.id, "after": after}).json["data"]["order"]
        assert [item["id"] for item in told["refunds"]] == made[:2]
        page = told["agreements"]
        found += [node["refund"]["id"] for node in page["nodes"] if node]
        after = page["pageInfo"]["endCursor"]
        if not page["pageInfo"]["hasNextPage"]:
            break
    assert found == made


def test_a_connection_without_a_size_is_refused(shop: ShopControls) -> None:
    order = shop.order()
    query = "query($id: ID!) { order(id: $id) { lineItems { nodes { id } } } }"
    [error] = ask(shop, query, {"id": order.id}).json["errors"]
    assert error["message"] == "you must provide one of first or last"


def test_the_installation_tells_app_and_scopes(shop: ShopControls) -> None:
    query = (
        "{ currentAppInstallation { app { id } accessScopes { handle } } shop { myshopifyDomain } }"
    )
    told = ask(shop, query).json["data"]
    assert told["currentAppInstallation"]["app"] == {"id": shop.app_id}
    handles = [scope["handle"] for scope in told["currentAppInstallation"]["accessScopes"]]
    assert handles == ["read_all_orders", "read_customers", "read_orders", "write_orders"]
    assert told["shop"] == {"myshopifyDomain": "acme.myshopify.com"}


def test_a_customer_is_denied_below_the_order_without_its_scope(shop: ShopControls) -> None:
    order = shop.order()
    narrow = shop.with_token("shpat_narrow", scopes=["read_orders"], app="Narrow")
    answer = ask(
        narrow, "query($id: ID!) { order(id: $id) { id customer { id } } }", {"id": order.id}
    )
    assert answer.json["data"] == {"order": {"id": order.id, "customer": None}}
    assert answer.json["errors"][0]["path"] == ["order", "customer"]


@pytest.mark.parametrize(("days", "seen"), [(60, True), (61, False)])
def test_an_old_order_reads_as_null_without_the_scope_for_all(days: int, seen: bool) -> None:
    noon = datetime(2026, 11, 30, 12, tzinfo=UTC)
    with Sandbox.running(starts_at=noon) as sandbox:
        shop = sandbox.shop("acme.myshopify.com", scopes=["read_orders"])
        order = shop.order(created_at=noon - timedelta(days=days))
        answer = ask(shop, "query($id: ID!) { order(id: $id) { id } }", {"id": order.id})
        assert answer.json["data"]["order"] == ({"id": order.id} if seen else None)
        assert "errors" not in answer.json
        shop.with_token("shpat_all", scopes=["read_orders", "read_all_orders"])
        assert ask(shop, "{ shop { id } }").status == 401


def test_any_object_is_found_by_its_identifier(shop: ShopControls) -> None:
    order = shop.order()
    made = refund(shop, order, "5.00").payload["refund"]
    dispute = shop.open_dispute(order.id)
    query = "query($id: ID!) { node(id: $id) { __typename id } }"
    identifiers = {
        order.id: "Order",
        made["id"]: "Refund",
        made["transactions"]["nodes"][0]["id"]: "OrderTransaction",
        order.payments[0]: "OrderTransaction",
        dispute: "OrderDisputeSummary",
        str(order.customer): "Customer",
    }
    for identifier, typename in identifiers.items():
        told = ask(shop, query, {"id": identifier}).json["data"]["node"]
        assert told == {"__typename": typename, "id": identifier}
    assert ask(shop, query, {"id": "gid://shopify/Refund/1"}).json["data"] == {"node": None}
    told = ask(shop, "query($id: ID!) { refund(id: $id) { id order { id } } }", {"id": made["id"]})
    assert told.json["data"]["refund"] == {"id": made["id"], "order": {"id": order.id}}


def test_staff_can_cancel_and_a_bank_can_dispute(shop: ShopControls) -> None:
    order = shop.order()
    query = "query($id: ID!) { order(id: $id) { cancelledAt disputes { initiatedAs status } } }"
    before = ask(shop, query, {"id": order.id}).json["data"]["order"]
    assert before == {"cancelledAt": None, "disputes": []}
    shop.cancel_order(order.id)
    shop.open_dispute(order.id, kind="INQUIRY", status="UNDER_REVIEW")
    after = ask(shop, query, {"id": order.id}).json["data"]["order"]
    assert after["cancelledAt"] is not None
    assert after["disputes"] == [{"initiatedAs": "INQUIRY", "status": "UNDER_REVIEW"}]


@pytest.mark.parametrize(
    ("payments", "status"),
    [
        ([], "PENDING"),
        ([Payment(amount="40.00")], "PARTIALLY_PAID"),
        ([Payment(amount="100.00", kind="AUTHORIZATION")], "AUTHORIZED"),
        ([Payment(amount="100.00", kind="CAPTURE")], "PAID"),
        ([Payment(amount="100.00", status="PENDING")], "PENDING"),
    ],
)
def test_the_financial_status_follows_the_payments(
    shop: ShopControls, payments: list[Payment], status: str
) -> None:
    order = shop.order(total="100.00", payments=payments)
    assert read(shop, order)["displayFinancialStatus"] == status


@pytest.mark.parametrize(
    ("asked", "served"),
    [
        ("2026-07", "2026-07"),
        ("2026-10", "2026-10"),
        ("2025-10", "2026-04"),
        ("2099-01", "2026-04"),
    ],
)
def test_an_unserved_version_is_answered_by_the_oldest(
    shop: ShopControls, asked: str, served: str
) -> None:
    answer = ask(shop, "{ shop { id } }", version=asked)
    assert (answer.status, answer.headers["X-Shopify-API-Version"]) == (200, served)


def test_a_shop_can_be_made_to_answer_as_one_version(shop: ShopControls) -> None:
    shop.serve_version("2027-01")
    headers = ask(shop, "{ shop { id } }", version="2026-10").headers
    assert headers["X-Shopify-API-Version"] == "2027-01"


def test_an_uninstalled_app_is_unauthorized(shop: ShopControls) -> None:
    shop.revoke_token()
    assert ask(shop, "{ shop { id } }").status == 401


NODES = """query($ids: [ID!]!) {
  nodes(ids: $ids) { __typename id ... on Refund { note transactions(first: 1) { nodes { id } } } }
}"""


def test_many_objects_are_found_at_once_in_the_order_they_were_asked_for(
    shop: ShopControls,
) -> None:
    order = shop.order(total="20.00", shipping="1.00", duty="2.00")
    first, second = shop.refunds_by_staff(order.id, amount="1.00", notes=["one", None])
    asked = [second.id, "gid://shopify/Refund/1", first.id, order.duties[0], order.id]
    told = ask(shop, NODES, {"ids": asked}).json["data"]["nodes"]
    assert [None if one is None else (one["__typename"], one["id"]) for one in told] == [
        ("Refund", second.id),
        None,
        ("Refund", first.id),
        ("Duty", order.duties[0]),
        ("Order", order.id),
    ]
    assert (told[0]["note"], told[2]["note"]) == (None, "one")


def test_at_most_250_objects_are_asked_for_at_once(shop: ShopControls) -> None:
    many = [f"gid://shopify/Refund/{n}" for n in range(1, 252)]
    assert ask(shop, NODES, {"ids": many[:250]}).json["data"] == {"nodes": [None] * 250}
    [error] = ask(shop, NODES, {"ids": many}).json["errors"]
    assert error["extensions"] == {"code": "MAX_INPUT_SIZE_EXCEEDED"}


def test_a_refund_that_reads_do_not_see_yet_is_not_found_by_identifier_either(
    sandbox: Sandbox,
) -> None:
    shop = sandbox.shop("acme.myshopify.com")
    shop.read_lag(timedelta(minutes=2))
    made = shop.refund_by_staff(shop.order().id, amount="1.00").id
    assert ask(shop, NODES, {"ids": [made]}).json["data"] == {"nodes": [None]}
    sandbox.clock.advance(timedelta(minutes=2))
    assert ask(shop, NODES, {"ids": [made]}).json["data"]["nodes"][0]["id"] == made


def test_a_plain_list_of_refunds_gives_no_more_than_250(shop: ShopControls) -> None:
    order = shop.order(total="100.00")
    made = shop.refunds_by_staff(order.id, amount="0.10", notes=[None] * 251)
    query = "query($id: ID!) { order(id: $id) { refunds(first: 250) { id } } }"
    told = ask(shop, query, {"id": order.id}).json["data"]["order"]["refunds"]
    assert [one["id"] for one in told] == [one.id for one in made[:250]]


@pytest.mark.parametrize(
    ("clause", "variables", "points"),
    [
        ("", {}, 3),
        ("@include(if: true)", {}, 3),
        ("@include(if: false)", {}, 1),
        ("@skip(if: true)", {}, 1),
        ("@skip(if: false)", {}, 3),
        ("@include(if: $with)", {"with": True}, 3),
        ("@include(if: $with)", {"with": False}, 1),
    ],
)
def test_what_is_left_out_costs_nothing(
    shop: ShopControls, clause: str, variables: dict[str, Any], points: int
) -> None:
    order = shop.order()
    head = "query($id: ID!, $with: Boolean!)" if variables else "query($id: ID!)"
    query = f"{head} {{ order(id: $id) {{ id customer {clause} {{ id defaultEmailAddress {{ "
    query += "emailAddress } } } }"
    cost = ask(shop, query, {"id": order.id, **variables}).json["extensions"]["cost"]
    assert cost["requestedQueryCost"] == cost["actualQueryCost"] == points
