"""What Shopify proposes as a refund, before anything is refunded.

Promises: never more than the store still holds, laid over the payments in their order, each up to
what is left of it. Tax is not kept apart: this store's prices include it.
"""

from dataclasses import dataclass, field
from decimal import Decimal

from integrations.sandbox.shopify.values import AmountView, bag
from integrations.sandbox.store import PAYMENT_KINDS, Amount, Order, Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The arguments of `suggestedRefund`."""

    refund_line_items: list[dict[str, object]] = field(default_factory=list)
    refund_shipping: bool | None = None
    shipping_amount: Decimal | None = None
    refund_duties: list[object] = field(default_factory=list)
    refund_method_allocation: str = "ORIGINAL_PAYMENT_METHODS"
    suggest_full_refund: bool = False


class SuggestedTransactionView:
    """`SuggestedOrderTransaction`."""

    kind = "SUGGESTED_REFUND"

    def __init__(self, order: Order, payment: Transaction, *, amount: Decimal) -> None:
        self.payment = payment
        self.parent_transaction: object = None
        self.gateway = self.formatted_gateway = payment.gateway
        self.amount_set = bag(order, order.amount(amount))
        self.maximum_refundable_set = bag(order, order.left_of(payment))


class ShippingRefundView:
    """`ShippingRefund`."""

    def __init__(self, order: Order, *, amount: Amount) -> None:
        self.amount_set = bag(order, amount)
        self.maximum_refundable_set = bag(order, order.shipping - order.refunded_shipping)
        self.tax_set = bag(order, order.amount(Decimal(0)))


class StoreCreditView:
    """`SuggestedStoreCreditRefund`."""

    typename = "SuggestedStoreCreditRefund"
    expires_at = None

    def __init__(self, *, amount: AmountView, maximum: AmountView) -> None:
        self.amount, self.maximum_refundable = amount, maximum


class SuggestedRefundView:
    """`SuggestedRefund`."""

    def __init__(self, order: Order, *, lines: Decimal, shipping: Decimal) -> None:
        total = min(lines + shipping, order.net_payment.presentment)
        self.amount_set = bag(order, order.amount(total))
        self.maximum_refundable_set = bag(order, order.net_payment)
        self.subtotal_set = bag(order, order.amount(lines))
        self.total_tax_set = bag(order, order.amount(Decimal(0)))
        self.shipping = ShippingRefundView(order, amount=order.amount(shipping))
        self.suggested_transactions = _allocate(order, total)
        self.suggested_refund_methods: list[StoreCreditView] = []

    def as_store_credit(self) -> None:
        """Propose store credit in the place of the payments."""
        credit = StoreCreditView(amount=self.amount_set, maximum=self.maximum_refundable_set)
        self.suggested_refund_methods = [credit]
        self.suggested_transactions = []


def suggest(order: Order, asked: Asked) -> SuggestedRefundView:
    """Propose a refund of lines, of shipping, or of everything that is left."""
    left = order.net_payment.presentment
    shipping_left = (order.shipping - order.refunded_shipping).presentment
    if asked.suggest_full_refund:
        shipping = min(shipping_left, left)
        lines = left - shipping
    else:
        lines = sum((_worth(order, item) for item in asked.refund_line_items), Decimal(0))
        wanted = shipping_left if asked.refund_shipping else (asked.shipping_amount or Decimal(0))
        shipping = min(wanted, shipping_left)
    view = SuggestedRefundView(order, lines=lines, shipping=shipping)
    if asked.refund_method_allocation == "STORE_CREDIT":
        view.as_store_credit()
    return view


def _worth(order: Order, item: dict[str, object]) -> Decimal:
    prices = {line.id: line.unit_price.presentment for line in order.lines}
    return prices.get(str(item["lineItemId"]), Decimal(0)) * int(str(item["quantity"]))


def _allocate(order: Order, total: Decimal) -> list[SuggestedTransactionView]:
    views = []
    for payment in order.payments:
        maximum = order.left_of(payment).presentment
        if payment.kind not in PAYMENT_KINDS or payment.status != "SUCCESS" or maximum <= 0:
            continue
        part = min(total, maximum)
        total -= part
        views.append(SuggestedTransactionView(order, payment, amount=part))
    return views
