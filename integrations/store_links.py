"""Where a person sees an object on the store itself, and which objects a bare number may mean.

Promises: a link only to the store's own admin, only for a real store and an identifier of the
shape that the store gives; nothing for a sandbox.
Does not call anything.
"""

import re

from integrations.models import Connection, Platform

_DOMAIN = re.compile(r"(?P<handle>[a-z0-9][a-z0-9-]*)\.myshopify\.com")
_ORDER = re.compile(r"gid://shopify/Order/(?P<number>[0-9]+)")
_NUMBER = re.compile(r"[1-9][0-9]{0,19}")


def store_page(connection: Connection, identifier: str) -> str | None:
    """Return the address of an order on the store's admin; None where there is no such page."""
    domain, order = _DOMAIN.fullmatch(connection.domain), _ORDER.fullmatch(identifier)
    if connection.platform != Platform.SHOPIFY or connection.is_sandbox or not domain or not order:
        return None
    # Shopify's own library makes the admin's address of a store from its myshopify domain in this
    # way (https://github.com/Shopify/shopify-app-js, buildEmbeddedAppUrl; read 2026-11-30). That an
    # order stands there under the number of its gid is what the admin shows; no page of Shopify's
    # promises it, and a wrong address would show Shopify's "not found", never another order.
    return f"https://admin.shopify.com/store/{domain['handle']}/orders/{order['number']}"


def identifiers_meant(typed: str) -> tuple[str, ...]:
    """Return what a person may mean: what was typed; of a bare number the order and the refund."""
    if not _NUMBER.fullmatch(typed):
        return (typed,)
    return (typed, f"gid://shopify/Order/{typed}", f"gid://shopify/Refund/{typed}")
