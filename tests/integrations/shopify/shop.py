"""A shop that answers every call with the same raw bytes, and the refund that tests send to it.

Promises: what is said of an answer is said of its bytes; what reached the shop is kept.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal

from integrations.money import Money
from integrations.platforms.shopify.account import ShopifyAccount
from integrations.platforms.shopify.adapter import ShopifyAdapter
from integrations.ports import RefundOrder, RefundPart, SendOutcome
from tests.integrations.http.raw_server import Line, RawServer

SHOP = "acme.myshopify.com"
TOKEN = "shpat_canary_of_the_shop"
ORDER = "gid://shopify/Order/1001"
REFUND = "gid://shopify/Refund/7001"
MARKER = "rzv:0123456789abcdef0123456789abcd"
KEY = "3e2b1a52-6f0c-5d4e-9a3b-0c1d2e3f4a5b"

ASKED = RefundOrder(
    order=ORDER,
    parts=(
        RefundPart(
            parent="gid://shopify/OrderTransaction/5001",
            gateway="manual",
            money=Money(amount=Decimal("12.50"), currency="EUR"),
        ),
    ),
    marker=MARKER,
    key=KEY,
    notify=False,
)


def http(status: int, body: object = None, headers: Sequence[tuple[str, str]] = ()) -> bytes:
    """Write an answer; a body that is no bytes becomes JSON."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [
        f"HTTP/1.1 {status} Said",
        f"Content-Length: {len(raw)}",
        "X-Request-Id: request-1",
        "X-Shopify-API-Version: 2026-10",
        *(f"{name}: {value}" for name, value in headers),
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + raw


def money(amount: str, currency: str = "EUR") -> dict[str, object]:
    return {"presentmentMoney": {"amount": amount, "currencyCode": currency}}


def both(amount: str, shop: str) -> dict[str, object]:
    """Spell an amount in euros beside its worth in the shop's own dollars, as a read has it."""
    return money(amount) | {"shopMoney": {"amount": shop, "currencyCode": "CAD"}}


def transaction(**changes: object) -> dict[str, object]:
    return {
        "id": "gid://shopify/OrderTransaction/6001",
        "kind": "REFUND",
        "status": "SUCCESS",
        "gateway": "manual",
        "amountSet": money("12.5"),
        "parentTransaction": {"id": "gid://shopify/OrderTransaction/5001"},
        **changes,
    }


def transactions(*rows: object, more: bool = False) -> dict[str, object]:
    return {"nodes": list(rows), "pageInfo": {"hasNextPage": more}}


def refund(**changes: object) -> dict[str, object]:
    return {
        "id": REFUND,
        "note": MARKER,
        "createdAt": "2026-11-30T10:00:00Z",
        "transactions": transactions(transaction()),
        **changes,
    }


def payload(**changes: object) -> dict[str, object]:
    return {
        "refundCreate": {"order": {"id": ORDER}, "refund": refund(), "userErrors": [], **changes}
    }


def adapter_at(port: int) -> ShopifyAdapter:
    account = ShopifyAccount(
        shop=SHOP,
        base_url=f"http://127.0.0.1:{port}/shops/{SHOP}",
        access_token=TOKEN,
        allow_private=True,
    )
    return ShopifyAdapter(account)


@contextmanager
def answering(*answers: bytes) -> Iterator[tuple[ShopifyAdapter, RawServer]]:
    """Run a shop that gives these answers in turn, the last one for good."""
    left = list(answers)

    def speak(line: Line) -> None:
        line.answer(left.pop(0) if len(left) > 1 else left[0])

    with RawServer(speak) as server:
        yield adapter_at(server.port), server


def sent(raw: bytes, before_write: Callable[[], None] = lambda: None) -> SendOutcome:
    """Send the refund to a shop that answers so; the request reached it once."""
    with answering(raw) as (adapter, server):
        frozen = adapter.freeze_refund(refund=ASKED)
        outcome = adapter.send_refund(frozen=frozen, before_write=before_write)
    assert len(server.received) == 1
    assert server.received[0].endswith(b"\r\n\r\n" + frozen.body)
    return outcome
