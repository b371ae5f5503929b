"""What all commands share: their refusal, and how they find what they are told of."""

from typing import TypeAlias

from integrations.sandbox.store import Order, Shop
from integrations.sandbox.world import World

Json: TypeAlias = dict[str, object]

STATUSES = {"AWAITING_RESPONSE", "ERROR", "FAILURE", "PENDING", "SUCCESS", "UNKNOWN"}


class ControlRefused(Exception):
    """The sandbox can't do what the control asked. The message says why; nothing was changed."""


def known_shop(world: World, name: str) -> Shop:
    """Find a shop.

    Raises:
        ControlRefused: there is none of that name.
    """
    if name not in world.shops:
        raise ControlRefused(f"There is no shop {name!r}.")
    return world.shops[name]


def known_order(shop: Shop, identifier: str) -> Order:
    """Find an order.

    Raises:
        ControlRefused: the shop has none of that identifier.
    """
    if identifier not in shop.orders:
        raise ControlRefused(f"{shop.name} has no order {identifier}.")
    return shop.orders[identifier]


def known_status(word: str) -> str:
    """Return a transaction's status unchanged.

    Raises:
        ControlRefused: Shopify has no such status.
    """
    if word not in STATUSES:
        raise ControlRefused(f"{word!r} is not a status of a transaction.")
    return word
