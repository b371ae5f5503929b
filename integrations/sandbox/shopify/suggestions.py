"""What Shopify proposes as a refund, before anything is refunded.

Promises: never more than the store still holds, laid over the payments in their order, each up to
what is left of it; nothing is suggested for items, shipping or duties that have gone back already.
Tax is not kept apart: this store's prices include it.
"""

from dataclasses import dataclass, field
from decimal import Decimal

from integrations.sandbox.duties import find_duty, kind_of, quantity_of, share
from integrations.sandbox.shopify.values import AmountView, DutyView, bag
from integrations.sandbox.store import (
    NOTHING,
    PAYMENT_KINDS,
    Amount,
    Duty,
    Order,
    Transaction,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The arguments of `suggestedRefund`."""

    refund_line_items: list[dict[str, object]] = field(default_factory=list)
    refund_shipping: bool | None = None
    shipping_amount: Decimal | None = None
    refund_duties: list[dict[str, object]] = field(default_factory=list)
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
        # Store credit has no parent, so it lessens what the order holds and no payment's rest.
        left, held = order.left_of(payment), order.net_payment
        self.maximum_refundable_set = bag(order, min(left, held, key=lambda a: a.presentment))


class ShippingRefundView:
    """`ShippingRefund`."""

    def __init__(self, order: Order, *, amount: Amount) -> None:
        self.amount_set = bag(order, amount)
        self.maximum_refundable_set = bag(order, order.shipping_left)
        self.tax_set = bag(order, order.amount(Decimal(0)))


class RefundDutyView:
    """`RefundDuty`."""

    def __init__(self, order: Order, duty: Duty, amount: Amount) -> None:
        self.amount_set, self.original_duty = bag(order, amount), DutyView(order, duty)


class StoreCreditView:
    """`SuggestedStoreCreditRefund`."""

    typename = "SuggestedStoreCreditRefund"
    expires_at = None

    def __init__(self, *, amount: AmountView, maximum: AmountView) -> None:
        self.amount, self.maximum_refundable = amount, maximum


class SuggestedRefundView:
    """`SuggestedRefund`."""

    def __init__(
        self,
        order: Order,
        *,
        lines: Decimal,
        shipping: Decimal,
        duties: list[tuple[Duty, Amount]],
    ) -> None:
        customs = sum((amount for _, amount in duties), NOTHING)
        wanted = lines + shipping + customs.presentment
        total = min(wanted, order.net_payment.presentment)
        self.total_duties_set = bag(order, customs)
        self.refund_duties = [RefundDutyView(order, duty, amount) for duty, amount in duties]
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
    shipping_left = order.shipping_left.presentment
    duties: list[tuple[Duty, Amount]] = []
    if asked.suggest_full_refund:
        shipping = min(shipping_left, left)
        lines = left - shipping
    else:
        lines = sum((_worth(order, item) for item in asked.refund_line_items), Decimal(0))
        wanted = shipping_left if asked.refund_shipping else (asked.shipping_amount or Decimal(0))
        shipping = min(wanted, shipping_left)
        duties = _duties(order, asked)
    view = SuggestedRefundView(order, lines=lines, shipping=shipping, duties=duties)
    if asked.refund_method_allocation == "STORE_CREDIT":
        view.as_store_credit()
    return view


def _worth(order: Order, item: dict[str, object]) -> Decimal:
    line = next((line for line in order.lines if line.id == item["lineItemId"]), None)
    if line is None:
        return Decimal(0)
    return line.unit_price.presentment * min(
        int(str(item["quantity"])), order.refundable_quantity(line)
    )


def _duties(order: Order, asked: Asked) -> list[tuple[Duty, Amount]]:
    given = []
    for item in asked.refund_duties:
        found = find_duty(order, str(item["dutyId"]))
        if found is not None:
            line, duty = found
            quantity = quantity_of(line, asked.refund_line_items)
            amount = share(order, line, duty, kind=kind_of(item), quantity=quantity)
            given.append((duty, amount))
    return given


def _allocate(order: Order, total: Decimal) -> list[SuggestedTransactionView]:
    views, held = [], order.net_payment
    for payment in order.payments:
        maximum = min(order.left_of(payment), held, key=lambda a: a.presentment).presentment
        if payment.kind not in PAYMENT_KINDS or payment.status != "SUCCESS" or maximum <= 0:
            continue
        part = min(total, maximum)
        total -= part
        views.append(SuggestedTransactionView(order, payment, amount=part))
    return views
