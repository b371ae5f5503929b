"""How the store's records look through the API: one class a type, one attribute a field.

Promises: every field of the pruned schema has its attribute (tested); what a fault or a lag hides
from a read is hidden here. Changes nothing but what a cut list leaves out of reach.
"""

from datetime import timedelta
from decimal import Decimal
from typing import ClassVar

from integrations.sandbox.faults import FaultKind
from integrations.sandbox.shopify.call import Call, access_denied
from integrations.sandbox.shopify.connections import MOST, Connection, Page, connect
from integrations.sandbox.shopify.people import AppView, CustomerView, DisputeView
from integrations.sandbox.shopify.suggestions import (
    Asked,
    RefundDutyView,
    SuggestedRefundView,
    suggest,
)
from integrations.sandbox.shopify.values import AmountView, DutyView, bag
from integrations.sandbox.store import Line, Order, Refund, RefundedLine, Transaction


class OrderView:
    """`Order`."""

    typename: ClassVar[str] = "Order"

    def __init__(self, call: Call, order: Order) -> None:
        self._call, self._order = call, order
        self.id, self.name, self.note = order.id, order.name, None
        self.legacy_resource_id = order.id.rpartition("/")[2]
        self.created_at = self.processed_at = order.created_at
        self.updated_at, self.cancelled_at = order.updated_at, order.cancelled_at
        self.cancel_reason, self.test, self.email = order.cancel_reason, order.test, order.email
        self.currency_code, self.presentment_currency_code = order.shop_currency, order.currency
        self.display_financial_status = order.financial_status
        self.display_fulfillment_status = order.fulfillment
        self.payment_gateway_names = list(
            dict.fromkeys(payment.gateway for payment in order.payments)
        )
        self.disputes = [DisputeView(dispute) for dispute in order.disputes]

    @property
    def customer(self) -> "CustomerView | None":
        """The buyer; the field needs a scope of its own."""
        if not self._call.app.may("read_customers"):
            raise access_denied("customer", "read_customers")
        return CustomerView(self._order.customer) if self._order.customer else None

    @property
    def total_price_set(self) -> AmountView:
        """What was to be paid."""
        return bag(self._order, self._order.total)

    @property
    def current_total_price_set(self) -> AmountView:
        """The same: this store does not edit orders."""
        return bag(self._order, self._order.total)

    @property
    def total_received_set(self) -> AmountView:
        """What was paid."""
        return bag(self._order, self._order.received)

    @property
    def total_refunded_set(self) -> AmountView:
        """What has gone back: 0 while a refund is pending."""
        return bag(self._order, self._order.refunded)

    @property
    def total_refunded_shipping_set(self) -> AmountView:
        """The shipping part of all refunds."""
        return bag(self._order, self._order.refunded_shipping)

    @property
    def net_payment_set(self) -> AmountView:
        """What the store still holds."""
        return bag(self._order, self._order.net_payment)

    @property
    def total_outstanding_set(self) -> AmountView:
        """What is still to be paid."""
        return bag(self._order, self._order.outstanding)

    @property
    def refund_discrepancy_set(self) -> AmountView:
        """Always nothing: this store makes no adjustments."""
        return bag(self._order, self._order.amount(Decimal(0)))

    @property
    def fully_paid(self) -> bool:
        """Is nothing left to pay?"""
        return self._order.outstanding.presentment <= 0

    @property
    def unpaid(self) -> bool:
        """Has nothing been paid?"""
        return self._order.received.presentment == 0

    @property
    def refundable(self) -> bool:
        """Is there money that could go back?"""
        return self._order.net_payment.presentment > 0

    def transactions(self, **asked: object) -> "list[TransactionView]":
        """Payments, then what refunds moved: a plain list."""
        seen = [t for refund in self.seen_refunds for t in refund.transactions]
        first = asked.get("first")
        everything = [
            TransactionView(self._call, self._order, t) for t in [*self._order.payments, *seen]
        ]
        return everything if first is None else everything[: int(str(first))]

    def refunds(self, first: int | None = None) -> "list[RefundView]":
        """Refunds, oldest first: a plain list that can't be paged."""
        seen = self.seen_refunds
        kept = len(seen) if self._kept is None else self._kept
        hidden = frozenset(refund.id for refund in seen[kept:])
        self._call.world.faults.leave_out(
            shop=self._call.shop.name, order=self._order.id, refunds=hidden
        )
        shown = seen[: kept if first is None else min(first, kept, MOST)]
        return [RefundView(self._call, self._order, refund) for refund in shown]

    def agreements(self, **page: object) -> "Connection[object]":
        """The order itself, then one agreement for each refund, naming its app."""
        items: list[object] = [OrderAgreementView(self._call, self._order)]
        items += [
            RefundAgreementView(self._call, self._order, refund) for refund in self.seen_refunds
        ]
        cut = None if self._kept is None else self._kept + 1
        return connect(items, Page(**page), cut_after=cut)  # type: ignore[arg-type]  # checked by the schema

    def line_items(self, **page: object) -> "Connection[LineView]":
        """What was bought."""
        lines = [LineView(self._order, line) for line in self._order.lines]
        return connect(lines, Page(**page))  # type: ignore[arg-type]  # checked by the schema

    def suggested_refund(self, **asked: object) -> SuggestedRefundView:
        """What Shopify proposes for lines, shipping, or everything."""
        view = suggest(self._order, Asked(**asked))  # type: ignore[arg-type]  # checked by the schema
        for transaction in view.suggested_transactions:
            transaction.parent_transaction = TransactionView(
                self._call, self._order, transaction.payment
            )
        return view

    @property
    def seen_refunds(self) -> list[Refund]:
        """The refunds that a read sees now: those younger than the read lag are not there yet."""
        return [refund for refund in self._order.refunds if is_seen(self._call, refund)]

    @property
    def _kept(self) -> int | None:
        fault = self._call.fault
        return fault.keep if fault and fault.kind is FaultKind.TRUNCATED_REFUNDS else None


def is_seen(call: Call, refund: Refund) -> bool:
    """Say whether a read sees a refund now: one younger than the read lag isn't there yet."""
    lag = call.shop.read_lag
    return lag == timedelta(0) or refund.created_at + lag <= call.world.clock.now()


class LineView:
    """`LineItem`."""

    typename: ClassVar[str] = "LineItem"

    def __init__(self, order: Order, line: Line) -> None:
        self.id, self.title, self.name, self.sku = line.id, line.title, line.title, None
        self.quantity = line.quantity
        self.current_quantity = self.refundable_quantity = order.refundable_quantity(line)
        self.original_unit_price_set = bag(order, line.unit_price)
        self.duties = [DutyView(order, duty) for duty in line.duties]


class TransactionView:
    """`OrderTransaction`."""

    typename: ClassVar[str] = "OrderTransaction"

    def __init__(self, call: Call, order: Order, transaction: Transaction) -> None:
        self._call, self._order, self._transaction = call, order, transaction
        self.id, self.kind, self.status = transaction.id, transaction.kind, transaction.status
        self.gateway = self.formatted_gateway = transaction.gateway
        self.manual_payment_gateway = transaction.gateway == "manual"
        self.amount_set = bag(order, transaction.amount)
        self.error_code, self.test = transaction.error_code, order.test
        self.created_at, self.processed_at = transaction.created_at, transaction.processed_at
        self.payment_id = f"{order.name}.{transaction.id.rpartition('/')[2]}"

    @property
    def parent_transaction(self) -> "TransactionView | None":
        """The payment that a refund's transaction gives back."""
        for payment in self._order.payments:
            if payment.id == self._transaction.parent_id:
                return TransactionView(self._call, self._order, payment)
        return None

    @property
    def order(self) -> OrderView:
        """The order it belongs to."""
        return OrderView(self._call, self._order)


class RefundView:
    """`Refund`."""

    typename: ClassVar[str] = "Refund"

    def __init__(self, call: Call, order: Order, refund: Refund) -> None:
        self._call, self._order, self._refund = call, order, refund
        self.id, self.note = refund.id, refund.note
        self.legacy_resource_id = refund.id.rpartition("/")[2]
        self.created_at = self.processed_at = refund.created_at
        self.updated_at = refund.updated_at
        # https://github.com/microsoft/BCApps/pull/9112, read 2026-11-30: SUCCESS only, 0 while
        # pending.
        self.total_refunded_set = bag(
            order, order.total_amount(refund.transactions, kinds=("REFUND",))
        )

    @property
    def duties(self) -> list[RefundDutyView]:
        """What went back of duties."""
        known = {duty.id: duty for line in self._order.lines for duty in line.duties}
        return [
            RefundDutyView(self._order, known[refunded.duty_id], refunded.amount)
            for refunded in self._refund.duties
        ]

    @property
    def order(self) -> OrderView:
        """The order it belongs to."""
        return OrderView(self._call, self._order)

    @property
    def staff_member(self) -> None:
        """Needs `read_users`, which only some plans may grant: always refused here."""
        raise access_denied("staffMember", "read_users")

    def transactions(self, **page: object) -> Connection[TransactionView]:
        """The movements of money, which alone say whether it moved."""
        views = [TransactionView(self._call, self._order, t) for t in self._refund.transactions]
        return connect(views, Page(**page))  # type: ignore[arg-type]  # checked by the schema

    def refund_line_items(self, **page: object) -> "Connection[RefundedLineView]":
        """The items taken back."""
        views = [RefundedLineView(self._order, line) for line in self._refund.lines]
        return connect(views, Page(**page))  # type: ignore[arg-type]  # checked by the schema


class RefundedLineView:
    """`RefundLineItem`."""

    def __init__(self, order: Order, refunded: RefundedLine) -> None:
        line = next(line for line in order.lines if line.id == refunded.line_id)
        self.id, self.quantity, self.restock_type = (
            refunded.id,
            refunded.quantity,
            refunded.restock_type,
        )
        self.line_item = LineView(order, line)


class OrderAgreementView:
    """`OrderAgreement`: the sale itself."""

    typename: ClassVar[str] = "OrderAgreement"
    reason: ClassVar[str] = "ORDER"

    def __init__(self, call: Call, order: Order) -> None:
        self._call, self._order = call, order
        self.id, self.happened_at = order.agreement_id, order.created_at
        self.app, self.user = None, None

    @property
    def order(self) -> OrderView:
        """The order it belongs to."""
        return OrderView(self._call, self._order)


class RefundAgreementView:
    """`RefundAgreement`: names the app that made a refund."""

    typename: ClassVar[str] = "RefundAgreement"
    reason: ClassVar[str] = "REFUND"

    def __init__(self, call: Call, order: Order, refund: Refund) -> None:
        self.id, self.happened_at = refund.agreement_id, refund.created_at
        self.app = AppView.of(call, refund.app_id)
        self.user = None
        self.refund = RefundView(call, order, refund)
