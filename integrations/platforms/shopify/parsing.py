"""From the JSON of an answer to the words of `integrations.ports`, strictly.

Promises: what has not the shape and type that the schema promises raises `Unparseable`; nothing is
guessed, filled in or rounded. A status that we don't know is never a success.
Does not know how the answer came.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from integrations.markers import find_markers
from integrations.money import InvalidMoney, Money, platform_money
from integrations.platforms.shopify.words import GATEWAY_MAX, STATUS_MAX, kept
from integrations.ports import (
    AccountIdentity,
    CallTrace,
    Observation,
    OrderLine,
    OrderSnapshot,
    Part,
    Standing,
    SuggestedPart,
)

_GID = re.compile(r"gid://shopify/(?P<type>[A-Za-z]+)/[1-9][0-9]*")

# https://shopify.dev/docs/api/admin-graphql/2026-10/enums/OrderTransactionStatus, by the schema of
# 2026-10 (read 2026-11-30): SUCCESS alone has moved money; PENDING, AWAITING_RESPONSE, UNKNOWN and
# whatever a later version adds are not final.
_STANDINGS = {
    "SUCCESS": Standing.SUCCEEDED,
    "FAILURE": Standing.FAILED,
    "ERROR": Standing.FAILED,
}
# https://shopify.dev/docs/api/admin-graphql/2026-10/enums/DisputeStatus, by the schema of 2026-10
# (read 2026-11-30). Only a dispute that the shop won leaves the money where it was; under every
# other end the customer's bank has given it back, or may.
_DISPUTE_WON = "WON"

Fields = Mapping[str, object]


class Unparseable(Exception):
    """The answer has not the shape that the schema promises; the message names the place."""


def gid(value: object, kind: str) -> str:
    """Return an identifier of the given type, e.g. `Refund`.

    Raises:
        Unparseable: It is none, or one of another type.
    """
    found = _GID.fullmatch(value) if isinstance(value, str) else None
    if found is None or found["type"] != kind:
        raise Unparseable(f"not the identifier of a {kind}")
    return found[0]


def optional_gid(holder: object, kind: str) -> str | None:
    """Return the identifier of an object that may be null."""
    return None if holder is None else gid(fields(holder, kind).get("id"), kind)


def fields(value: object, what: str) -> Fields:
    """Return an object's fields.

    Raises:
        Unparseable: It is no object.
    """
    if not isinstance(value, dict):
        raise Unparseable(f"{what} is no object")
    return value


def rows(value: object, what: str) -> Sequence[Fields]:
    """Return the objects of a list.

    Raises:
        Unparseable: It is no list, or something in it is no object.
    """
    if not isinstance(value, list):
        raise Unparseable(f"{what} is no list")
    return [fields(row, what) for row in value]


def has_more(connection: Fields) -> bool:
    """Return whether a connection has a next page."""
    return fields(connection.get("pageInfo"), "pageInfo").get("hasNextPage") is not False


def identity(data: Fields, *, trace: CallTrace) -> AccountIdentity:
    """Read which account answered."""
    shop = fields(data.get("shop"), "shop")
    installation = fields(data.get("currentAppInstallation"), "currentAppInstallation")
    scopes = rows(installation.get("accessScopes"), "accessScopes")
    return AccountIdentity(
        identifier=gid(shop.get("id"), "Shop"),
        name=_text(shop, "name"),
        domain=_text(shop, "myshopifyDomain"),
        app=gid(fields(installation.get("app"), "app").get("id"), "App"),
        scopes=_with_reading(_text(scope, "handle") for scope in scopes),
        api_version=trace.api_version,
        currency=_text(shop, "currencyCode"),
        time_zone=_text(shop, "ianaTimezone"),
    )


def _with_reading(scopes: Iterable[str]) -> frozenset[str]:
    # A scope that lets write lets read, whether or not the list names that one too.
    # https://shopify.dev/docs/api/usage/access-scopes, read 2026-11-30
    granted = frozenset(scopes)
    writing = (scope for scope in granted if scope.startswith("write_"))
    return granted | {scope.replace("write_", "read_", 1) for scope in writing}


def observation(refund: Fields, *, order: str | None, author: str | None = None) -> Observation:
    """Read one refund.

    Args:
        refund: Its fields.
        order: The order it is on, as the same answer says.
        author: The app that the order's agreements name as its maker.
    """
    connection = fields(refund.get("transactions"), "transactions")
    if has_more(connection):
        raise Unparseable("not every transaction of the refund is in the answer")
    note = refund.get("note")
    return Observation(
        object_type="refund",
        identifier=gid(refund.get("id"), "Refund"),
        target=order,
        markers=find_markers(note if isinstance(note, str) else None),
        author=author,
        created_at=_moment(refund, "createdAt"),
        parts=tuple(
            _part(row)
            for row in rows(connection.get("nodes"), "nodes")
            # A refund may also hold the release of an authorization: no money comes back by that.
            if row.get("kind") == "REFUND"
        ),
    )


def makers(agreements: Iterable[Fields]) -> dict[str, str | None]:
    """Map each refund that the agreements name to the app that made it, where they name one."""
    return {
        gid(fields(row["refund"], "refund").get("id"), "Refund"): optional_gid(
            row.get("app"), "App"
        )
        for row in agreements
        if "refund" in row
    }


def lines(connection: Fields) -> tuple[OrderLine, ...]:
    """Read one page of an order's lines."""
    return tuple(
        OrderLine(
            identifier=gid(row.get("id"), "LineItem"),
            refundable=_count(row, "refundableQuantity"),
        )
        for row in rows(connection.get("nodes"), "nodes")
    )


def snapshot(
    order: Fields,
    *,
    refunds: Iterable[Fields],
    makers: Mapping[str, str | None],
    lines: tuple[OrderLine, ...],
    complete: bool,
    trace: CallTrace,
) -> OrderSnapshot:
    """Read one order.

    Args:
        order: Its fields.
        refunds: As many of its refunds as could be read.
        makers: As read from all pages of its agreements.
        lines: As read from all pages of its lines, where they were asked for.
        complete: Whether those are all its refunds.
        trace: Of the answer that holds the order.
    """
    identifier = gid(order.get("id"), "Order")
    shop, presentment = _text(order, "currencyCode"), _text(order, "presentmentCurrencyCode")
    received = order.get("totalReceivedSet")
    seen = [
        observation(row, order=identifier, author=makers.get(str(row.get("id")))) for row in refunds
    ]
    return OrderSnapshot(
        identifier=identifier,
        name=_text(order, "name"),
        created_at=_moment(order, "createdAt"),
        cancelled_at=_moment(order, "cancelledAt") if order.get("cancelledAt") else None,
        customer=optional_gid(order.get("customer"), "Customer"),
        email=_text(order, "email") if order.get("email") else None,
        shop_currency=shop,
        presentment_currency=presentment,
        received=_in(presentment, _presentment(received)),
        received_shop=_in(shop, _shop(received)),
        suggested=_suggested(order.get("suggestedRefund")),
        refunds=tuple(sorted(seen, key=lambda one: (one.created_at, one.identifier))),
        open_disputes=_open_disputes(order),
        complete=complete,
        trace=trace,
        lines=lines,
        reckoned=_reckoned(order.get("reckoned"), presentment),
    )


def _part(row: Fields) -> Part:
    status, amounts = _text(row, "status"), fields(row.get("amountSet"), "amountSet")
    return Part(
        identifier=gid(row.get("id"), "OrderTransaction"),
        status=kept(status, longest=STATUS_MAX),
        standing=_STANDINGS.get(status, Standing.OPEN),
        money=_presentment(amounts),
        gateway=kept(str(row.get("gateway") or ""), longest=GATEWAY_MAX),
        parent=optional_gid(row.get("parentTransaction"), "OrderTransaction"),
        # The document that makes a refund doesn't ask for it.
        shop=_shop(amounts) if "shopMoney" in amounts else None,
    )


def _in(currency: str, money: Money) -> Money:
    if money.currency != currency:
        raise Unparseable("received in another currency than the order's")
    return money


def _reckoned(suggestion: object, currency: str) -> Money | None:
    if suggestion is None:
        return None
    money = _presentment(fields(suggestion, "reckoned").get("amountSet"))
    if money.currency != currency:
        raise Unparseable("reckoned in another currency than the order's")
    return money


def _suggested(suggestion: object) -> tuple[SuggestedPart, ...]:
    if suggestion is None:
        return ()
    listed = rows(fields(suggestion, "suggestedRefund").get("suggestedTransactions"), "suggested")
    # What names no payment can't be given back to one.
    return tuple(_suggested_part(row) for row in listed if row.get("parentTransaction") is not None)


def _suggested_part(row: Fields) -> SuggestedPart:
    parent = fields(row["parentTransaction"], "parentTransaction")
    gateway = row.get("gateway") or parent.get("gateway")
    if not isinstance(gateway, str):
        raise Unparseable("a suggested transaction without a gateway")
    return SuggestedPart(
        parent=gid(parent.get("id"), "OrderTransaction"),
        gateway=gateway,
        maximum=_presentment(row.get("maximumRefundableSet") or row.get("amountSet")),
    )


def _open_disputes(order: Fields) -> tuple[str, ...] | None:
    if "disputes" not in order:
        return None
    return tuple(
        _open_dispute(row)
        for row in rows(order["disputes"], "disputes")
        if row.get("status") != _DISPUTE_WON
    )


def _open_dispute(row: Fields) -> str:
    """Name a dispute with where it stands: decided by the bank, it is another than under review."""
    status = kept(str(row.get("status") or "unknown"), longest=STATUS_MAX)
    return f"{gid(row.get('id'), 'OrderDisputeSummary')}#{status}"


def _presentment(amounts: object) -> Money:
    return _money(amounts, "presentmentMoney")


def _shop(amounts: object) -> Money:
    return _money(amounts, "shopMoney")


def _money(amounts: object, name: str) -> Money:
    money = fields(fields(amounts, "amountSet").get(name), name)
    try:
        return platform_money(_text(money, "amount"), _text(money, "currencyCode"))
    except InvalidMoney as invalid:
        raise Unparseable("an amount that can't be read exactly") from invalid


def _count(holder: Fields, name: str) -> int:
    value = holder.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise Unparseable(f"{name} is no count")
    return value


def _moment(holder: Fields, name: str) -> datetime:
    try:
        moment = datetime.fromisoformat(_text(holder, name))
    except ValueError as invalid:
        raise Unparseable(f"{name} is no moment") from invalid
    if moment.tzinfo is None:
        raise Unparseable(f"{name} has no zone")
    return moment


def _text(holder: Fields, name: str) -> str:
    value = holder.get(name)
    if not isinstance(value, str) or not value:
        raise Unparseable(f"{name} is no text")
    return value
