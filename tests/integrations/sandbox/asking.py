"""A plain HTTP caller of the sandbox: no library of the product stands between a test and the wire.

Promises: one request a call, on a connection of its own; what came back is handed out as it came.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse
from typing import Any
from urllib.parse import urlsplit

from integrations.sandbox.records import PlacedOrder
from integrations.sandbox.surface import ShopControls

REFUND = """mutation Refund($input: RefundInput!, $key: String!) {
  refundCreate(input: $input) @idempotent(key: $key) {
    refund {
      id
      note
      totalRefundedSet {
        shopMoney { amount currencyCode }
        presentmentMoney { amount currencyCode }
      }
      transactions(first: 5) {
        nodes {
          id
          kind
          status
          gateway
          amountSet {
            shopMoney { amount currencyCode }
            presentmentMoney { amount currencyCode }
          }
          parentTransaction { id }
        }
      }
    }
    order {
      id
      displayFinancialStatus
      totalRefundedSet {
        shopMoney { amount currencyCode }
        presentmentMoney { amount currencyCode }
      }
    }
    userErrors { field message }
  }
}
"""
READ = """query Read($id: ID!) {
  order(id: $id) {
    id
    displayFinancialStatus
    totalRefundedSet { presentmentMoney { amount } }
    netPaymentSet { presentmentMoney { amount } }
    refundable
    refunds(first: 250) { id note transactions(first: 5) { nodes { id status errorCode } } }
    agreements(first: 250) {
      nodes { __typename app { id } ... on RefundAgreement { refund { id } } }
      pageInfo { hasNextPage }
    }
  }
}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What came back over the wire."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def payload(self) -> Any:
        """The answer of `refundCreate`."""
        return self.json["data"]["refundCreate"]

    @property
    def user_errors(self) -> list[Any]:
        errors: list[Any] = self.payload["userErrors"]
        return errors


def ask(
    shop: ShopControls,
    query: str,
    variables: dict[str, Any] | None = None,
    *,
    token: str | None = None,
    version: str = "2026-10",
) -> Answered:
    body = json.dumps({"query": query, "variables": variables or {}})
    return send(shop, body.encode(), token=token, version=version)


def send(
    shop: ShopControls, body: bytes, *, token: str | None = None, version: str = "2026-10"
) -> Answered:
    connection, answer = opened(shop, body, token=token, version=version)
    try:
        read = answer.read()
        return Answered(status=answer.status, headers=dict(answer.getheaders()), body=read)
    finally:
        connection.close()


def opened(
    shop: ShopControls, body: bytes, *, token: str | None = None, version: str = "2026-10"
) -> tuple[HTTPConnection, HTTPResponse]:
    """Send a request and read the answer's head; the caller reads the body and closes."""
    parts = urlsplit(shop.url)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=10)
    headers = {
        "X-Shopify-Access-Token": shop.token if token is None else token,
        "Content-Type": "application/json",
    }
    path = f"{parts.path}/admin/api/{version}/graphql.json"
    try:
        connection.request("POST", path, body, headers)
        return connection, connection.getresponse()
    except BaseException:
        connection.close()
        raise


def refund_input(
    order: PlacedOrder,
    amount: str,
    *,
    note: str | None = None,
    payment: int = 0,
    **more: Any,
) -> dict[str, Any]:
    transaction = {
        "orderId": order.id,
        "parentId": order.payments[payment],
        "gateway": "manual",
        "kind": "REFUND",
        "amount": amount,
    }
    asked: dict[str, Any] = {"orderId": order.id, "transactions": [transaction], **more}
    if note is not None:
        asked["note"] = note
    return asked


def refund(
    shop: ShopControls, order: PlacedOrder, amount: str, *, key: str = "key-1", **more: Any
) -> Answered:
    return ask(shop, REFUND, {"input": refund_input(order, amount, **more), "key": key})


def read(shop: ShopControls, order: PlacedOrder) -> Any:
    return ask(shop, READ, {"id": order.id}).json["data"]["order"]
