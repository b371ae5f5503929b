"""How much of a duty comes back with a refund: all that is left, or a share by quantity.

Promises: never more than is left of the duty. The share is rounded half up, each time by itself;
how Shopify rounds it is not recorded.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal

from integrations.sandbox.store import Amount, Duty, Line, Order

FULL = "FULL"


def find_duty(order: Order, duty_id: str) -> tuple[Line, Duty] | None:
    """Find a duty of an order, with the line that it was taken for."""
    pairs = ((line, duty) for line in order.lines for duty in line.duties)
    return next(((line, duty) for line, duty in pairs if duty.id == duty_id), None)


def share(order: Order, line: Line, duty: Duty, *, kind: str, quantity: int) -> Amount:
    """Return how much of a duty goes back.

    Args:
        order: The order that it is on.
        line: The line that it was taken for.
        duty: The duty.
        kind: `FULL`, or `PROPORTIONAL`: by the quantity that the same refund takes back.
        quantity: How many of the line's items the same refund takes back.
    """
    left = order.left_of_duty(duty)
    if kind == FULL:
        return left
    part = order.amount(duty.price.presentment * Decimal(quantity) / Decimal(line.quantity))
    return min(part, left, key=lambda amount: amount.presentment)


def kind_of(asked: Mapping[str, object]) -> str:
    """Read which share is asked for; what the schema's default means is not documented."""
    return str(asked.get("refundType") or FULL)


def quantity_of(line: Line, items: Iterable[Mapping[str, object]]) -> int:
    """Count how many of a line's items a refund takes back."""
    return sum(int(str(item["quantity"])) for item in items if item["lineItemId"] == line.id)
