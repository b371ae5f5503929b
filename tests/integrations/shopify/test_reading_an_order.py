"""What an order's answer becomes, and which answers are no evidence at all."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from integrations.money import Money
from integrations.ports import (
    AccountIdentity,
    BlockedBy,
    OrderSnapshot,
    SuggestedPart,
    Unreadable,
)
from tests.integrations.http.raw_server import RawServer
from tests.integrations.shopify.shop import (
    MARKER,
    ORDER,
    REFUND,
    answering,
    both,
    http,
    money,
    refund,
    transaction,
    transactions,
)

PAYMENT = "gid://shopify/OrderTransaction/5001"
APP = "gid://shopify/App/42"
OTHER_REFUND = "gid://shopify/Refund/7002"


def agreement(made: str | None, app: str | None = APP) -> dict[str, object]:
    said: dict[str, object] = {"app": {"id": app} if app else None}
    return {**said, "refund": {"id": made}} if made else said


def agreements(*rows: object, after: str | None = None) -> dict[str, object]:
    return {
        "nodes": list(rows),
        "pageInfo": {"hasNextPage": after is not None, "endCursor": after},
    }


def read_refund(**changes: object) -> dict[str, object]:
    """A refund as a read gives it: with the shop's own money."""
    told = transactions(transaction(amountSet=both("12.5", "17.75")))
    return refund(**{"transactions": told, **changes})


def order(**changes: object) -> dict[str, object]:
    return {
        "id": ORDER,
        "name": "#1001",
        "createdAt": "2026-11-01T10:00:00Z",
        "cancelledAt": None,
        "email": "Ann@example.com",
        "customer": {"id": "gid://shopify/Customer/3"},
        "currencyCode": "CAD",
        "presentmentCurrencyCode": "EUR",
        "totalReceivedSet": both("100.0", "142.0"),
        "suggestedRefund": {
            "suggestedTransactions": [
                {
                    "gateway": "manual",
                    "amountSet": money("10.0"),
                    "maximumRefundableSet": money("87.5"),
                    "parentTransaction": {"id": PAYMENT, "gateway": "manual"},
                }
            ]
        },
        "refunds": [read_refund()],
        "agreements": agreements(agreement(None), agreement(REFUND)),
        "disputes": [],
        **changes,
    }


def read(*answers: bytes) -> tuple[OrderSnapshot | Unreadable, RawServer]:
    with answering(*answers) as (adapter, server):
        return adapter.read_order(order=ORDER), server


def snapshot(**changes: object) -> OrderSnapshot:
    seen, server = read(http(200, {"data": {"order": order(**changes)}}))
    assert isinstance(seen, OrderSnapshot), seen
    assert len(server.received) == 1
    return seen


def unreadable(*answers: bytes) -> Unreadable:
    seen, _ = read(*answers)
    assert isinstance(seen, Unreadable)
    return seen


def eur(amount: str) -> Money:
    return Money(amount=Decimal(amount), currency="EUR")


def variables(server: RawServer) -> list[dict[str, object]]:
    return [json.loads(raw.partition(b"\r\n\r\n")[2])["variables"] for raw in server.received]


def test_an_order_is_read_as_the_store_holds_it() -> None:
    seen = snapshot()
    assert (seen.identifier, seen.name) == (ORDER, "#1001")
    assert seen.created_at == datetime(2026, 11, 1, 10, tzinfo=UTC)
    assert seen.cancelled_at is None
    assert (seen.customer, seen.email) == ("gid://shopify/Customer/3", "Ann@example.com")
    assert (seen.shop_currency, seen.presentment_currency) == ("CAD", "EUR")
    assert seen.received == eur("100.00")
    assert seen.received_shop == Money(amount=Decimal(142), currency="CAD")
    assert [(part.money, part.shop) for part in seen.refunds[0].parts] == [
        (eur("12.5"), Money(amount=Decimal("17.75"), currency="CAD"))
    ]
    assert (seen.lines, seen.reckoned) == ((), None)
    assert seen.suggested == (SuggestedPart(parent=PAYMENT, gateway="manual", maximum=eur("87.5")),)
    assert [(one.identifier, one.target, one.author, one.markers) for one in seen.refunds] == [
        (REFUND, ORDER, APP, (MARKER,))
    ]
    assert (seen.open_disputes, seen.dispute_open, seen.complete) == ((), False, True)
    assert seen.trace.api_version == "2026-10"


def test_refunds_are_listed_oldest_first() -> None:
    newer = refund(id=OTHER_REFUND, createdAt="2026-11-30T11:00:00Z")
    older = refund(createdAt="2026-11-30T13:30:00+03:00")
    made = agreements(agreement(REFUND), agreement(OTHER_REFUND, None))
    seen = snapshot(refunds=[newer, older], agreements=made)
    assert [(one.identifier, one.author) for one in seen.refunds] == [
        (REFUND, APP),
        (OTHER_REFUND, None),
    ]


def test_a_guest_order_that_was_cancelled_and_never_paid_is_read() -> None:
    seen = snapshot(
        customer=None,
        email=None,
        totalReceivedSet=both("0.0", "0.0"),
        refunds=[],
        suggestedRefund=None,
        agreements=agreements(),
        cancelledAt="2026-11-02T00:00:00Z",
    )
    assert (seen.customer, seen.email, seen.suggested) == (None, None, ())
    assert seen.received == eur("0")
    assert seen.cancelled_at == datetime(2026, 11, 2, tzinfo=UTC)


def test_a_suggestion_without_a_payment_is_left_out_and_without_a_maximum_its_amount_counts() -> (
    None
):
    parent = {"id": PAYMENT, "gateway": "card"}
    rows = [
        {"gateway": "gift", "amountSet": money("5"), "parentTransaction": None},
        {
            "gateway": None,
            "amountSet": money("7"),
            "maximumRefundableSet": None,
            "parentTransaction": parent,
        },
    ]
    seen = snapshot(suggestedRefund={"suggestedTransactions": rows})
    assert seen.suggested == (SuggestedPart(parent=PAYMENT, gateway="card", maximum=eur("7")),)


@pytest.mark.parametrize(
    ("statuses", "open_ones"),
    [
        ([], ()),
        (["WON"], ()),
        (["NEEDS_RESPONSE"], (1,)),
        (["WON", "UNDER_REVIEW"], (2,)),
        (["LOST", "WON", "LOST"], (1, 3)),
        (["ACCEPTED"], (1,)),
        (["CHARGE_REFUNDED"], (1,)),
        (["BRAND_NEW"], (1,)),
    ],
)
def test_a_dispute_stands_in_the_way_unless_the_shop_won_it(
    statuses: list[str], open_ones: tuple[int, ...]
) -> None:
    disputes = [
        {"id": f"gid://shopify/OrderDisputeSummary/{n}", "status": status}
        for n, status in enumerate(statuses, start=1)
    ]
    seen = snapshot(disputes=disputes)
    assert seen.open_disputes == tuple(
        f"gid://shopify/OrderDisputeSummary/{n}#{statuses[n - 1] or 'unknown'}" for n in open_ones
    )
    assert seen.dispute_open is bool(open_ones)


def test_all_pages_of_the_agreements_are_read() -> None:
    first = agreements(agreement(None), after="cursor-1")
    second = http(
        200, {"data": {"order": {"id": ORDER, "agreements": agreements(agreement(REFUND))}}}
    )
    seen, server = read(http(200, {"data": {"order": order(agreements=first)}}), second)
    assert isinstance(seen, OrderSnapshot)
    assert (seen.refunds[0].author, seen.complete) == (APP, True)
    assert variables(server)[1:] == [{"id": ORDER, "after": "cursor-1"}]


def test_agreements_without_an_end_are_left_and_the_read_is_incomplete() -> None:
    endless = agreements(agreement(None), after="cursor")
    page = http(200, {"data": {"order": {"id": ORDER, "agreements": endless}}})
    seen, server = read(http(200, {"data": {"order": order(agreements=endless)}}), page)
    assert isinstance(seen, OrderSnapshot)
    assert not seen.complete
    assert len(server.received) == 21


def test_a_page_of_agreements_that_fails_makes_the_order_unreadable() -> None:
    first = agreements(agreement(None), after="cursor-1")
    whole = http(200, {"data": {"order": order(agreements=first)}})
    assert unreadable(whole, http(503, b"")).reason == "http_503"
    error = {"message": "x", "extensions": {"code": "INTERNAL_SERVER_ERROR"}}
    failing = http(200, {"data": None, "errors": [error]})
    assert unreadable(whole, failing).reason == "internal_server_error"
    nothing = http(200, {"data": {"order": None}})
    assert unreadable(whole, nothing).reason == "unparseable: order is no object"


def denied(*path: object) -> dict[str, object]:
    return {"message": "Denied", "path": list(path), "extensions": {"code": "ACCESS_DENIED"}}


def test_disputes_that_may_not_be_seen_cost_a_fact_and_not_the_order() -> None:
    hidden = http(200, {"data": {"order": None}, "errors": [denied("order", "disputes")]})
    without = order()
    del without["disputes"]
    seen, server = read(hidden, http(200, {"data": {"order": without}}))
    assert isinstance(seen, OrderSnapshot)
    assert (seen.open_disputes, seen.dispute_open, seen.complete) == (None, None, True)
    assert [(v["withAgreements"], v["withDisputes"]) for v in variables(server)] == [
        (True, True),
        (True, False),
    ]


def test_agreements_that_may_not_be_seen_cost_the_author_and_not_the_order() -> None:
    hidden = http(
        200,
        {
            "data": {"order": None},
            "errors": [denied("order", "disputes"), denied("order", "agreements")],
        },
    )
    without = order()
    del without["disputes"], without["agreements"]
    seen, server = read(hidden, http(200, {"data": {"order": without}}))
    assert isinstance(seen, OrderSnapshot)
    assert (seen.refunds[0].author, seen.complete) == (None, True)
    assert len(server.received) == 2


def test_a_store_that_denies_what_is_no_longer_asked_is_not_asked_for_ever() -> None:
    hidden = http(200, {"data": {"order": None}, "errors": [denied("order", "disputes")]})
    seen, server = read(hidden)
    assert isinstance(seen, Unreadable)
    assert not seen.not_found
    assert len(server.received) == 2


@pytest.mark.parametrize(
    ("path", "hidden"),
    [(("order", "email"), "email"), (("order", "customer"), "customer")],
)
def test_a_person_who_may_not_be_seen_does_not_make_the_order_unreadable(
    path: tuple[str, ...], hidden: str
) -> None:
    raw = http(200, {"data": {"order": order(**{hidden: None})}, "errors": [denied(*path)]})
    seen, _ = read(raw)
    assert isinstance(seen, OrderSnapshot)
    assert getattr(seen, hidden) is None


@pytest.mark.parametrize(
    "path",
    [("order", "refunds", 0, "note"), ("order", "suggestedRefund"), ("order", "lineItems")],
)
def test_anything_else_that_is_hidden_is_no_evidence(path: tuple[object, ...]) -> None:
    raw = http(200, {"data": {"order": order()}, "errors": [denied(*path)]})
    assert unreadable(raw).reason == "answered_in_part"


def test_an_order_that_is_cleanly_not_shown_is_not_found() -> None:
    seen = unreadable(http(200, {"data": {"order": None}}))
    assert (seen.reason, seen.not_found, seen.blocked_by) == ("order_not_found", True, None)


@pytest.mark.parametrize("said", [{"data": None}, {"data": {}}, {}])
def test_an_answer_that_does_not_speak_of_the_order_is_not_not_found(said: object) -> None:
    seen, _ = read(http(200, said))
    assert isinstance(seen, Unreadable)
    assert (seen.not_found, seen.reason) == (False, "unparseable: order is no object")


def test_no_order_beside_an_error_is_not_not_found() -> None:
    raw = http(200, {"data": {"order": None}, "errors": [denied("order", "email")]})
    seen = unreadable(raw)
    assert (seen.reason, seen.not_found) == ("unparseable: order is no object", False)


@pytest.mark.parametrize(
    ("raw", "reason", "blocked_by", "wait"),
    [
        (http(401, b""), "token_refused", BlockedBy.CREDENTIAL, None),
        (http(404, b""), "not_there", BlockedBy.ADDRESS, None),
        (
            http(429, b"", [("Retry-After", "7")]),
            "too_many_requests",
            None,
            timedelta(seconds=7),
        ),
        (http(502, b""), "http_502", None, None),
        (http(400, b""), "bad_request", None, None),
        (http(200, b"{"), "answer_is_no_json", None, None),
        (
            http(200, {"data": {"order": None}, "errors": [denied("order")]}),
            "access_denied",
            BlockedBy.PERMISSION,
            None,
        ),
        (
            http(200, {"errors": [{"extensions": {"code": "THROTTLED"}}]}),
            "throttled",
            None,
            timedelta(seconds=1),
        ),
        (
            http(200, {"data": {"order": None}, "errors": [{"message": "x"}]}),
            "error_without_code",
            None,
            None,
        ),
    ],
)
def test_an_answer_without_the_order_is_no_evidence_and_says_why(
    raw: bytes, reason: str, blocked_by: BlockedBy | None, wait: timedelta | None
) -> None:
    seen = unreadable(raw)
    assert (seen.reason, seen.blocked_by, seen.retry_after) == (reason, blocked_by, wait)
    assert not seen.not_found


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"id": "gid://shopify/Order/1002"}, "another order than was asked for"),
        ({"id": REFUND}, "another order than was asked for"),
        ({"refunds": None}, "refunds is no list"),
        ({"refunds": [None]}, "refunds is no object"),
        ({"createdAt": "yesterday"}, "createdAt is no moment"),
        ({"presentmentCurrencyCode": None}, "presentmentCurrencyCode is no text"),
        ({"presentmentCurrencyCode": "USD"}, "received in another currency than the order's"),
        ({"presentmentCurrencyCode": "XXX"}, "received in another currency than the order's"),
        ({"currencyCode": "USD"}, "received in another currency than the order's"),
        ({"totalReceivedSet": None}, "amountSet is no object"),
        ({"totalReceivedSet": money("100.0")}, "shopMoney is no object"),
        ({"totalReceivedSet": both("100.005", "142.0")}, "an amount that can't be read exactly"),
        ({"agreements": None}, "agreements is no object"),
        ({"disputes": None}, "disputes is no list"),
        ({"customer": {"id": ORDER}}, "not the identifier of a Customer"),
        (
            {"disputes": [{"id": REFUND, "status": "LOST"}]},
            "not the identifier of a OrderDisputeSummary",
        ),
    ],
)
def test_an_order_of_another_shape_is_no_evidence(changes: dict[str, object], place: str) -> None:
    seen = unreadable(http(200, {"data": {"order": order(**changes)}}))
    assert (seen.reason, seen.not_found) == (f"unparseable: {place}", False)


def identified(raw: bytes) -> AccountIdentity | Unreadable:
    with answering(raw) as (adapter, _):
        return adapter.identify()


SHOP = {
    "id": "gid://shopify/Shop/1",
    "name": "Acme",
    "myshopifyDomain": "acme.myshopify.com",
    "currencyCode": "EUR",
    "ianaTimezone": "Europe/Berlin",
}
INSTALLATION = {"app": {"id": APP}, "accessScopes": [{"handle": "write_orders"}]}


def test_the_account_says_who_it_is_and_what_we_may_do() -> None:
    raw = http(200, {"data": {"shop": SHOP, "currentAppInstallation": INSTALLATION}})
    assert identified(raw) == AccountIdentity(
        identifier="gid://shopify/Shop/1",
        name="Acme",
        domain="acme.myshopify.com",
        app=APP,
        scopes=frozenset({"read_orders", "write_orders"}),
        api_version="2026-10",
        currency="EUR",
        time_zone="Europe/Berlin",
    )


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (http(401, b""), "token_refused"),
        (http(200, {"data": {"shop": SHOP}}), "unparseable: currentAppInstallation is no object"),
        (http(200, {"data": None}), "unparseable: data is no object"),
        (http(200, {"data": None, "errors": [denied("shop")]}), "access_denied"),
    ],
)
def test_an_account_that_does_not_say_is_not_identified(raw: bytes, reason: str) -> None:
    seen = identified(raw)
    assert isinstance(seen, Unreadable)
    assert seen.reason == reason
