"""What a simulated Shopify store holds: apps, orders, payments, refunds, disputes.

Promises: money is kept twice, in presentment and in shop currency; totals count SUCCESS
transactions only, as Shopify's do. Plain state with arithmetic: who may change it and how is in
`refunds` and `control`.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from integrations.sandbox.keys import KeyMemory
from integrations.sandbox.money import rounded
from integrations.sandbox.throttle import Bucket

PAYMENT_KINDS = ("SALE", "CAPTURE")


def gid(kind: str, number: int) -> str:
    """Spell a global identifier as Shopify does."""
    return f"gid://shopify/{kind}/{number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """One amount in both of an order's currencies."""

    presentment: Decimal
    shop: Decimal

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(presentment=self.presentment + other.presentment, shop=self.shop + other.shop)

    def __sub__(self, other: "Amount") -> "Amount":
        return Amount(presentment=self.presentment - other.presentment, shop=self.shop - other.shop)


NOTHING = Amount(presentment=Decimal(0), shop=Decimal(0))


@dataclass(slots=True, kw_only=True)
class Transaction:
    """A payment, or one movement of money of a refund."""

    id: str
    kind: str
    status: str
    gateway: str
    amount: Amount
    parent_id: str | None
    created_at: datetime
    processed_at: datetime | None
    error_code: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Duty:
    """What customs took for a line, all of its items together."""

    id: str
    price: Amount


@dataclass(slots=True, kw_only=True)
class Line:
    """A line of an order."""

    id: str
    title: str
    quantity: int
    unit_price: Amount
    duties: list[Duty] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundedLine:
    """Some of a line's items, taken back by a refund."""

    id: str
    line_id: str
    quantity: int
    restock_type: str
    location_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundedDuty:
    """How much of a duty a refund gives back."""

    duty_id: str
    amount: Amount


@dataclass(slots=True, kw_only=True)
class Refund:
    """A refund object. Its transactions say whether money moved."""

    id: str
    agreement_id: str
    order_id: str
    note: str | None
    created_at: datetime
    updated_at: datetime
    app_id: str | None
    transactions: list[Transaction]
    lines: list[RefundedLine]
    shipping: Amount
    duties: list[RefundedDuty] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Dispute:
    """A chargeback or inquiry on an order."""

    id: str
    kind: str
    status: str


@dataclass(slots=True, kw_only=True)
class Customer:
    """Whoever bought."""

    id: str
    name: str
    email: str | None


@dataclass(slots=True, kw_only=True)
class Order:
    """An order with everything that has happened to its money."""

    id: str
    agreement_id: str
    name: str
    created_at: datetime
    updated_at: datetime
    email: str | None
    customer: Customer | None
    test: bool
    currency: str
    """Of presentment: what the customer paid in."""
    shop_currency: str
    rate: Decimal
    """Shop money per unit of presentment money."""
    total: Amount
    shipping: Amount
    fulfillment: str
    payments: list[Transaction]
    lines: list[Line]
    cancelled_at: datetime | None = None
    cancel_reason: str | None = None
    refunds: list[Refund] = field(default_factory=list)
    disputes: list[Dispute] = field(default_factory=list)

    def amount(self, presentment: Decimal) -> Amount:
        """Put an amount of presentment money beside its worth in shop money."""
        return Amount(
            presentment=rounded(presentment, self.currency),
            shop=rounded(presentment * self.rate, self.shop_currency),
        )

    def total_amount(self, transactions: list[Transaction], *, kinds: tuple[str, ...]) -> Amount:
        """Add up the transactions of some kinds that have succeeded."""
        amounts = [t.amount for t in transactions if t.kind in kinds and t.status == "SUCCESS"]
        return sum(amounts, NOTHING)

    @property
    def refund_transactions(self) -> list[Transaction]:
        """The transactions of all refunds, oldest first."""
        return [transaction for refund in self.refunds for transaction in refund.transactions]

    @property
    def received(self) -> Amount:
        """What the customer has paid."""
        return self.total_amount(self.payments, kinds=PAYMENT_KINDS)

    @property
    def refunded(self) -> Amount:
        """What has gone back: SUCCESS only, so 0 while a refund is pending."""
        # https://github.com/microsoft/BCApps/pull/9112, read 2026-11-30: totalRefundedSet is 0
        # while pending.
        return self.total_amount(self.refund_transactions, kinds=("REFUND",))

    @property
    def net_payment(self) -> Amount:
        """What the store still holds."""
        return self.received - self.refunded

    @property
    def outstanding(self) -> Amount:
        """What is still to be paid."""
        return self.total - self.received

    @property
    def refunded_shipping(self) -> Amount:
        """The shipping part of all refunds."""
        return sum((refund.shipping for refund in self.refunds), NOTHING)

    @property
    def shipping_left(self) -> Amount:
        """How much of the shipping no refund has given back."""
        return self.shipping - self.refunded_shipping

    def left_of_duty(self, duty: Duty) -> Amount:
        """What no refund has given back of a duty, whatever became of the money."""
        given = [r for refund in self.refunds for r in refund.duties if r.duty_id == duty.id]
        return duty.price - sum((refunded.amount for refunded in given), NOTHING)

    def left_of(self, payment: Transaction) -> Amount:
        """What one payment still has to give back."""
        own = [t for t in self.refund_transactions if t.parent_id == payment.id]
        return payment.amount - self.total_amount(own, kinds=("REFUND",))

    def refunded_quantity(self, line: Line) -> int:
        """How many of a line's items refunds have taken back, whatever became of their money."""
        return sum(
            r.quantity for refund in self.refunds for r in refund.lines if r.line_id == line.id
        )

    def refundable_quantity(self, line: Line) -> int:
        """How many of a line's items no refund has taken back."""
        return line.quantity - self.refunded_quantity(line)

    @property
    def financial_status(self) -> str:
        """The word that Shopify shows for the order's money."""
        received, refunded = self.received.presentment, self.refunded.presentment
        if refunded > 0:
            return "REFUNDED" if refunded >= received else "PARTIALLY_REFUNDED"
        if received >= self.total.presentment:
            return "PAID"
        if received > 0:
            return "PARTIALLY_PAID"
        if any(t.kind == "AUTHORIZATION" and t.status == "SUCCESS" for t in self.payments):
            return "AUTHORIZED"
        return "VOIDED" if self.cancelled_at else "PENDING"


@dataclass(slots=True, kw_only=True)
class App:
    """An app installed on a shop, with its access token and the scopes granted to it."""

    id: str
    installation_id: str
    title: str
    token: str
    scopes: frozenset[str]

    def may(self, scope: str) -> bool:
        """Say whether a scope is granted; write includes read."""
        # https://shopify.dev/docs/api/usage/access-scopes, read 2026-11-30.
        return scope in self.scopes or scope.replace("read_", "write_", 1) in self.scopes


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """How a payment gateway answers refunds: at once `answers`, later by itself `turns`, if set."""

    answers: str = "SUCCESS"
    turns: str | None = None
    after: timedelta = timedelta(0)
    error_code: str | None = None


@dataclass(slots=True, kw_only=True)
class Shop:
    """One store."""

    id: str
    name: str
    """The myshopify.com domain."""
    currency: str
    created_at: datetime
    bucket: Bucket
    keys: KeyMemory = field(default_factory=KeyMemory)
    apps: dict[str, App] = field(default_factory=dict)
    orders: dict[str, Order] = field(default_factory=dict)
    refunds: dict[str, Refund] = field(default_factory=dict)
    """The orders' refunds once more, by identifier."""
    customers: dict[str, Customer] = field(default_factory=dict)
    """By e-mail."""
    gateways: dict[str, Gateway] = field(default_factory=dict)
    read_lag: timedelta = timedelta(0)
    served_version: str | None = None

    def refund(self, refund_id: str) -> Refund | None:
        """Find a refund by its identifier."""
        return self.refunds.get(refund_id)
