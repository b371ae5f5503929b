"""An order that is read for lines, shipping or duties: what the store reckons, and its lines."""

import json
from decimal import Decimal

import pytest

from integrations.money import Money
from integrations.ports import (
    DutyShare,
    OrderLine,
    OrderSnapshot,
    RefundBasis,
    RefundDuty,
    RefundLine,
    Restock,
    Unreadable,
)
from tests.integrations.http.raw_server import RawServer
from tests.integrations.shopify.shop import ORDER, answering, both, http
from tests.integrations.shopify.test_reading_an_order import denied, eur, order, variables

LINE = "gid://shopify/LineItem/301"
DUTY = "gid://shopify/Duty/41"
BASIS = RefundBasis(
    lines=(RefundLine(line=LINE, quantity=2, restock=Restock.RETURN),),
    shipping=eur("4.9"),
    duties=(RefundDuty(duty=DUTY, share=DutyShare.PROPORTIONAL),),
)


def line(number: int, refundable: object = 1) -> dict[str, object]:
    return {"id": f"gid://shopify/LineItem/{number}", "refundableQuantity": refundable}


def page(*rows: object, after: str | None = None) -> dict[str, object]:
    return {
        "nodes": list(rows),
        "pageInfo": {"hasNextPage": after is not None, "endCursor": after},
    }


def reckoned(amount: str = "30.25", shop: str = "43.0") -> dict[str, object]:
    return {"amountSet": both(amount, shop)}


def read(
    *answers: bytes, basis: RefundBasis | None = BASIS
) -> tuple[OrderSnapshot | Unreadable, RawServer]:
    with answering(*answers) as (adapter, server):
        return adapter.read_order(order=ORDER, basis=basis), server


def answer(**changes: object) -> bytes:
    said = {"reckoned": reckoned(), "lineItems": page(line(301, 3)), **changes}
    return http(200, {"data": {"order": order(**said)}})


def test_the_store_reckons_the_basis_and_names_the_lines_in_the_same_answer() -> None:
    seen, server = read(answer())
    assert isinstance(seen, OrderSnapshot), seen
    assert seen.reckoned == eur("30.25")
    assert seen.lines == (OrderLine(identifier=LINE, refundable=3),)
    (asked,) = variables(server)
    assert (asked["withBasis"], asked["withLines"]) == (True, True)
    assert asked["lines"] == [{"lineItemId": LINE, "quantity": 2, "restockType": "RETURN"}]
    assert asked["shipping"] == "4.90"
    assert asked["duties"] == [{"dutyId": DUTY, "refundType": "PROPORTIONAL"}]


def test_without_lines_none_are_asked_for() -> None:
    shipping = RefundBasis(shipping=Money(amount=Decimal(1), currency="EUR"))
    raw = http(200, {"data": {"order": order(reckoned=reckoned("1.0", "1.42"))}})
    seen, server = read(raw, basis=shipping)
    assert isinstance(seen, OrderSnapshot), seen
    assert (seen.reckoned, seen.lines) == (eur("1"), ())
    (asked,) = variables(server)
    assert (asked["withBasis"], asked["withLines"]) == (True, False)


@pytest.mark.parametrize("basis", [None, RefundBasis()], ids=["none", "an amount alone"])
def test_where_there_is_nothing_to_reckon_nothing_is_asked(basis: RefundBasis | None) -> None:
    seen, server = read(http(200, {"data": {"order": order()}}), basis=basis)
    assert isinstance(seen, OrderSnapshot), seen
    assert (seen.reckoned, seen.lines) == (None, ())
    (asked,) = variables(server)
    assert (asked["withBasis"], asked["withLines"]) == (False, False)
    assert not {"lines", "shipping", "duties"} & asked.keys()


def test_all_pages_of_the_lines_are_read() -> None:
    first = answer(lineItems=page(line(301), after="cursor-1"))
    following = http(
        200, {"data": {"order": {"id": ORDER, "lineItems": page(line(302, 0), line(303, 7))}}}
    )
    seen, server = read(first, following)
    assert isinstance(seen, OrderSnapshot), seen
    assert [(one.identifier[-3:], one.refundable) for one in seen.lines] == [
        ("301", 1),
        ("302", 0),
        ("303", 7),
    ]
    assert variables(server)[1:] == [{"id": ORDER, "after": "cursor-1"}]


def test_lines_without_an_end_are_no_evidence() -> None:
    endless = page(line(301), after="cursor")
    following = http(200, {"data": {"order": {"id": ORDER, "lineItems": endless}}})
    seen, server = read(answer(lineItems=endless), following)
    assert isinstance(seen, Unreadable)
    assert seen.reason == "unparseable: lines without an end"
    assert len(server.received) == 21


def test_a_store_that_does_not_reckon_says_nothing_and_the_order_is_read() -> None:
    refused = {"message": "Line item not found", "path": ["order", "reckoned"]}
    body = json.loads(answer(reckoned=None).partition(b"\r\n\r\n")[2])
    seen, _ = read(http(200, {**body, "errors": [refused]}))
    assert isinstance(seen, OrderSnapshot), seen
    assert seen.reckoned is None
    assert seen.lines == (OrderLine(identifier=LINE, refundable=3),)


@pytest.mark.parametrize("error", [denied("order", "lineItems"), denied("order")])
def test_lines_that_may_not_be_seen_are_no_evidence(error: dict[str, object]) -> None:
    body = {"data": {"order": None}, "errors": [error]}
    seen, _ = read(http(200, body))
    assert isinstance(seen, Unreadable)


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"lineItems": page(line(301, -1))}, "refundableQuantity is no count"),
        ({"lineItems": page(line(301, "3"))}, "refundableQuantity is no count"),
        ({"lineItems": page(line(301, refundable=True))}, "refundableQuantity is no count"),
        ({"lineItems": page({"id": DUTY})}, "not the identifier of a LineItem"),
        ({"lineItems": None}, "lineItems is no object"),
        ({"reckoned": {}}, "amountSet is no object"),
        (
            {
                "reckoned": {
                    "amountSet": {"presentmentMoney": {"amount": "1.0", "currencyCode": "CAD"}}
                }
            },
            "reckoned in another currency than the order's",
        ),
    ],
)
def test_a_reckoning_of_another_shape_is_no_evidence(
    changes: dict[str, object], place: str
) -> None:
    seen, _ = read(answer(**changes))
    assert isinstance(seen, Unreadable)
    assert seen.reason == f"unparseable: {place}"
