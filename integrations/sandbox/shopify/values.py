"""The small value types of the API: amounts of money in two currencies, and duties."""

from decimal import Decimal
from typing import ClassVar

from integrations.sandbox.store import Amount, Duty, Order


class MoneyView:
    """`MoneyV2`."""

    def __init__(self, amount: Decimal, currency: str) -> None:
        self.amount, self.currency_code = amount, currency


class AmountView:
    """`MoneyBag`."""

    def __init__(self, *, presentment: MoneyView, shop: MoneyView) -> None:
        self.presentment_money, self.shop_money = presentment, shop


def bag(order: Order, amount: Amount) -> AmountView:
    """Show an amount of an order in both of its currencies."""
    return AmountView(
        presentment=MoneyView(amount.presentment, order.currency),
        shop=MoneyView(amount.shop, order.shop_currency),
    )


class DutyView:
    """`Duty`."""

    typename: ClassVar[str] = "Duty"

    def __init__(self, order: Order, duty: Duty) -> None:
        self.id, self.price = duty.id, bag(order, duty.price)
