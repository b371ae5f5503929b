"""What a read finds: objects by their global identifiers, as far as the asking app may see them.

Promises: an order that is too old for the app's scopes reads as null, which says nothing of it.
"""

from datetime import datetime, timedelta

from graphql import GraphQLError

from integrations.sandbox.faults import FaultKind
from integrations.sandbox.shopify.call import Call, access_denied
from integrations.sandbox.shopify.connections import MOST
from integrations.sandbox.shopify.people import CustomerView
from integrations.sandbox.shopify.values import DutyView
from integrations.sandbox.shopify.views import LineView, OrderView, RefundView, is_seen
from integrations.sandbox.store import Order, Refund

# Orders older than this need `read_all_orders`.
# https://shopify.dev/docs/api/usage/access-scopes, read 2026-11-30: the last 60 days by default.
ORDERS_READABLE_FOR = timedelta(days=60)


def readable_order(call: Call, order_id: str) -> OrderView | None:
    """Return an order that this app may see; None also for one that is too old for it.

    Raises:
        GraphQLError: the app may read no orders at all.
    """
    if not call.app.may("read_orders"):
        raise access_denied("order", "read_orders")
    order = call.shop.orders.get(order_id)
    if order is None or call.meets(FaultKind.ORDER_NULL):
        return None
    too_old: datetime = call.world.clock.now() - ORDERS_READABLE_FOR
    if order.created_at < too_old and not call.app.may("read_all_orders"):
        return None
    return OrderView(call, order)


def readable_refund(call: Call, refund_id: str) -> RefundView | None:
    """Return a refund that this app may see.

    Raises:
        GraphQLError: the app may read no orders at all.
    """
    if not call.app.may("read_orders"):
        raise access_denied("refund", "read_orders")
    found = node(call, refund_id)
    return found if isinstance(found, RefundView) else None


def node(call: Call, identifier: str) -> object:
    """Return any object of the shop by its global identifier.

    Raises:
        GraphQLError: the identifier is not one of Shopify's.
    """
    if not identifier.startswith("gid://shopify/"):
        raise GraphQLError(
            f"Invalid global id '{identifier}'", extensions={"code": "argumentLiteralsIncompatible"}
        )
    if identifier in call.shop.orders:
        return readable_order(call, identifier)
    refund = call.shop.refund(identifier)
    if refund is not None:
        return _refund(call, refund)
    for order_id in call.shop.orders:
        view = readable_order(call, order_id)
        if view is None:
            continue
        for item in _parts(call, call.shop.orders[order_id], view):
            if getattr(item, "id", None) == identifier:
                return item
    return None


def nodes(call: Call, identifiers: list[str]) -> list[object]:
    """Return objects of the shop in the order they were asked for; null for what isn't there.

    Raises:
        GraphQLError: more than a list may hold, or an identifier that is not one of Shopify's.
    """
    if len(identifiers) > MOST:
        # The sandbox's own words: how the real store says it is not recorded.
        raise GraphQLError(
            f"At most {MOST} identifiers can be asked for at once",
            extensions={"code": "MAX_INPUT_SIZE_EXCEEDED"},
        )
    return [node(call, identifier) for identifier in identifiers]


def _refund(call: Call, refund: Refund) -> RefundView | None:
    hidden = call.world.faults.left_out(shop=call.shop.name, order=refund.order_id)
    if refund.id in hidden or not is_seen(call, refund):
        return None
    if readable_order(call, refund.order_id) is None:
        return None
    return RefundView(call, call.shop.orders[refund.order_id], refund)


def _parts(call: Call, order: Order, view: OrderView) -> list[object]:
    lines: list[object] = [LineView(order, line) for line in order.lines]
    lines += [DutyView(order, duty) for line in order.lines for duty in line.duties]
    customer = (
        [CustomerView(order.customer)] if order.customer and call.app.may("read_customers") else []
    )
    return [*view.transactions(), *view.disputes, *lines, *customer]
