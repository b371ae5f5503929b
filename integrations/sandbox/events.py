"""What happens on a simulated shop without any request of ours: customers, staff, banks.

Promises: staff's refunds stand under the store's own caps. Arguments and results are JSON values.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from integrations.sandbox.commands import (
    ControlRefused,
    Json,
    known_order,
    known_shop,
    known_status,
)
from integrations.sandbox.refunds import (
    Made,
    refund_by_staff,
    turn_transaction,
)
from integrations.sandbox.rules import Movement, UserError
from integrations.sandbox.store import (
    NOTHING,
    PAYMENT_KINDS,
    Customer,
    Dispute,
    Duty,
    Line,
    Order,
    Refund,
    Shop,
    Transaction,
)
from integrations.sandbox.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Purchase:
    """What a customer orders, and how it is paid: by default in full, by one manual payment."""

    total: str = "100.00"
    currency: str | None = None
    rate: str = "1"
    email: str | None = "customer@example.com"
    customer: str | None = "Customer"
    payments: list[Json] | None = None
    lines: list[Json] | None = None
    shipping: str = "0"
    duty: str = "0"
    """Of the one line, where `lines` is left out."""
    created_at: str | None = None
    test: bool = False
    fulfillment: str = "UNFULFILLED"


def order(world: World, *, shop: str, **purchase: object) -> Json:
    """Place an order."""
    found = known_shop(world, shop)
    try:
        asked = Purchase(**purchase)  # type: ignore[arg-type]  # a wrong name is refused below
    except TypeError as error:
        raise ControlRefused(f"order: {error}") from error
    placed = _placed(world, found, asked)
    placed.total, placed.shipping = (
        placed.amount(Decimal(asked.total)),
        placed.amount(Decimal(asked.shipping)),
    )
    paid: list[Json] = [{"amount": asked.total}] if asked.payments is None else asked.payments
    placed.payments = [_payment(world, placed, item) for item in paid]
    price = str(Decimal(asked.total) - Decimal(asked.shipping) - Decimal(asked.duty))
    lines = asked.lines or [{"title": "Item", "quantity": 1, "price": price, "duty": asked.duty}]
    placed.lines = [_line(world, placed, item) for item in lines]
    found.orders[placed.id] = placed
    return _order_json(placed)


def refund(
    world: World,
    *,
    shop: str,
    order: str,
    amount: str,
    note: str | None = None,
    app_id: str | None = None,
    payment: str | None = None,
) -> Json:
    """Refund as staff does in the admin (no app), or as another app does."""
    return refunds(
        world,
        shop=shop,
        order=order,
        amount=amount,
        notes=[note],
        app_id=app_id,
        payment=payment,
    )[0]


def refunds(
    world: World,
    *,
    shop: str,
    order: str,
    amount: str,
    notes: list[str | None],
    app_id: str | None = None,
    payment: str | None = None,
) -> list[Json]:
    """Make many equal refunds at once, one a note."""
    found = known_shop(world, shop)
    target = known_order(found, order)
    parents = [p for p in target.payments if p.kind in PAYMENT_KINDS and payment in (None, p.id)]
    if not parents:
        raise ControlRefused("The order has no such payment.")
    movement = Movement(parent=parents[0], amount=Decimal(amount))
    try:
        made = refund_by_staff(
            world, found, target, movement=movement, notes=notes, made=Made(app_id=app_id)
        )
    except UserError as refused:
        raise ControlRefused(refused.message) from refused
    return [_refund_json(one) for one in made]


def settle(
    world: World,
    *,
    shop: str,
    refund: str,
    status: str,
    transaction: str | None = None,
    error_code: str | None = None,
) -> Json:
    """Give a refund's transactions, or one of them, another status, as a gateway does."""
    found = known_shop(world, shop)
    made = found.refund(refund)
    if made is None:
        raise ControlRefused(f"The shop has no refund {refund}.")
    chosen = [part for part in made.transactions if transaction in (None, part.id)]
    if not chosen:
        raise ControlRefused(f"The refund has no transaction {transaction}.")
    for part in chosen:
        turn_transaction(
            world,
            found.orders[made.order_id],
            made,
            transaction=part,
            status=known_status(status),
            error_code=error_code,
        )
    return _refund_json(made)


def retry(world: World, *, shop: str, refund: str) -> Json:
    """Retry by hand what failed at the gateway, as a merchant may: this time it succeeds."""
    found = known_shop(world, shop)
    made = found.refund(refund)
    failed = (
        [part for part in made.transactions if part.status in {"FAILURE", "ERROR"}] if made else []
    )
    if made is None or not failed:
        raise ControlRefused(f"The shop has no failed refund {refund}.")
    for part in failed:
        turn_transaction(
            world,
            found.orders[made.order_id],
            made,
            transaction=part,
            status="SUCCESS",
            error_code=None,
        )
    return _refund_json(made)


def cancel(world: World, *, shop: str, order: str, reason: str = "CUSTOMER") -> None:
    """Cancel an order as staff does, without a refund."""
    target = known_order(known_shop(world, shop), order)
    target.cancelled_at = target.updated_at = world.clock.now()
    target.cancel_reason = reason


def dispute(
    world: World, *, shop: str, order: str, kind: str = "CHARGEBACK", status: str = "NEEDS_RESPONSE"
) -> Json:
    """Open a dispute on an order, as the customer's bank does."""
    target = known_order(known_shop(world, shop), order)
    opened = Dispute(id=world.new_id("OrderDisputeSummary"), kind=kind, status=status)
    target.disputes.append(opened)
    target.updated_at = world.clock.now()
    return {"id": opened.id}


def _placed(world: World, shop: Shop, asked: Purchase) -> Order:
    created = datetime.fromisoformat(asked.created_at) if asked.created_at else world.clock.now()
    return Order(
        id=world.new_id("Order"),
        agreement_id=world.new_id("SalesAgreement"),
        name=f"#{1001 + len(shop.orders)}",
        created_at=created,
        updated_at=created,
        email=asked.email,
        customer=_customer(world, shop, asked),
        test=asked.test,
        currency=asked.currency or shop.currency,
        shop_currency=shop.currency,
        rate=Decimal(asked.rate),
        total=NOTHING,
        shipping=NOTHING,
        fulfillment=asked.fulfillment,
        payments=[],
        lines=[],
    )


def _customer(world: World, shop: Shop, asked: Purchase) -> Customer | None:
    """Return the buyer, or None for a guest; the same e-mail is the same customer."""
    if asked.customer is None:
        return None
    known = shop.customers.get(asked.email) if asked.email else None
    if known is not None:
        return known
    customer = Customer(id=world.new_id("Customer"), name=asked.customer, email=asked.email)
    if asked.email:
        shop.customers[asked.email] = customer
    return customer


def _payment(world: World, order: Order, asked: Json) -> Transaction:
    status = known_status(str(asked.get("status", "SUCCESS")))
    return Transaction(
        id=world.new_id("OrderTransaction"),
        kind=str(asked.get("kind", "SALE")),
        status=status,
        gateway=str(asked.get("gateway", "manual")),
        amount=order.amount(Decimal(str(asked["amount"]))),
        parent_id=None,
        created_at=order.created_at,
        processed_at=order.created_at,
    )


def _line(world: World, order: Order, asked: Json) -> Line:
    duty = order.amount(Decimal(str(asked.get("duty", 0))))
    return Line(
        id=world.new_id("LineItem"),
        title=str(asked.get("title", "Item")),
        quantity=int(str(asked.get("quantity", 1))),
        unit_price=order.amount(Decimal(str(asked["price"]))),
        duties=[Duty(id=world.new_id("Duty"), price=duty)] if duty.presentment > 0 else [],
    )


def _order_json(order: Order) -> Json:
    return {
        "id": order.id,
        "name": order.name,
        "payments": [payment.id for payment in order.payments],
        "lines": [line.id for line in order.lines],
        "duties": [duty.id for line in order.lines for duty in line.duties],
        "customer": order.customer.id if order.customer else None,
    }


def _refund_json(refund: Refund) -> Json:
    transactions = [{"id": part.id, "status": part.status} for part in refund.transactions]
    return {"id": refund.id, "transactions": transactions}
