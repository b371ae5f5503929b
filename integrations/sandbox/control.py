"""What may be told to the sandbox: one function a command, JSON in and JSON out.

Promises: the same commands in process and over `/control/`; a wrong command changes nothing and says what is wrong.
"""

import inspect
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from threading import Event
from typing import TypeAlias

from integrations.sandbox.faults import Fault, FaultKind
from integrations.sandbox.keys import AfterRefusal, Carrier
from integrations.sandbox.ledger import to_json
from integrations.sandbox.refunds import Made, Movement, UserError, refund_by_staff, turn_transaction
from integrations.sandbox.store import (
    PAYMENT_KINDS,
    Amount,
    App,
    Customer,
    Dispute,
    Gateway,
    Line,
    Order,
    Refund,
    Shop,
    Transaction,
)
from integrations.sandbox.throttle import Bucket
from integrations.sandbox.world import World

Json: TypeAlias = dict[str, object]
Command: TypeAlias = Callable[..., object]


class ControlRefused(Exception):
    """The sandbox can't do what the control asked. The message says why; nothing was changed."""


def perform(world: World, command: str, arguments: Json) -> object:
    """Do one command under the world's lock.

    Raises:
        ControlRefused: unknown command, argument, shop, order or refund, or a fault beyond its declared bound.
    """
    function = COMMANDS.get(command)
    if function is None:
        raise ControlRefused(f"There is no command {command!r}; there are {', '.join(sorted(COMMANDS))}.")
    try:
        inspect.signature(function).bind(world, **arguments)
    except TypeError as error:
        raise ControlRefused(f"{command}: {error}") from error
    with world.entered():
        try:
            return function(world, **arguments)
        except (ValueError, ArithmeticError) as error:
            raise ControlRefused(f"{command}: {error}") from error


def now(world: World) -> str:
    """Tell the sandbox's time."""
    return world.clock.now().isoformat()


def advance(world: World, *, seconds: float) -> str:
    """Move the sandbox's time forward, and do what becomes due."""
    world.clock.advance(timedelta(seconds=seconds))
    return now(world)


def lateness(world: World, *, bound_seconds: float | None) -> None:
    """Declare how late a dropped request may still be executed; None breaks the bound."""
    world.lateness_bound = None if bound_seconds is None else timedelta(seconds=bound_seconds)


def ledger(world: World, *, shop: str | None = None, order: str | None = None) -> Json:
    """Tell the ground truth."""
    effects = [e for e in world.ledger.effects() if shop in (None, e.shop) and order in (None, e.order_id)]
    requests = [r for r in world.ledger.requests() if shop in (None, r.shop)]
    return {"effects": [to_json(e) for e in effects], "requests": [to_json(r) for r in requests]}


def release(world: World, *, number: int | None = None) -> None:
    """Let go what hangs."""
    world.faults.release(number)


def shop(world: World, *, name: str, currency: str = "EUR") -> Json:
    """Open a shop, or find the one that is open."""
    if name not in world.shops:
        moment = world.clock.now()
        world.shops[name] = Shop(
            id=world.new_id("Shop"),
            name=name,
            currency=currency,
            created_at=moment,
            bucket=Bucket(filled_at=moment),
        )
    return {"name": name, "id": world.shops[name].id, "currency": world.shops[name].currency}


def app(world: World, *, shop: str, token: str, title: str, scopes: list[str], app_id: str | None = None) -> Json:
    """Install an app with a token and scopes; the same title keeps its identity under a new token."""
    found = _shop(world, shop)
    old = next((known for known in found.apps.values() if known.title == title), None)
    if old is not None:
        del found.apps[old.token]
    installed = App(
        id=app_id or (old.id if old else world.new_id("App")),
        installation_id=old.installation_id if old else world.new_id("AppInstallation"),
        title=title,
        token=token,
        scopes=frozenset(scopes),
    )
    found.apps[token] = installed
    return {"id": installed.id, "token": token}


def revoke(world: World, *, shop: str, token: str) -> None:
    """Make a token invalid."""
    _shop(world, shop).apps.pop(token, None)


def gateway(
    world: World,
    *,
    shop: str,
    name: str,
    answers: str = "SUCCESS",
    turns: str | None = None,
    after_seconds: float = 0,
    error_code: str | None = None,
) -> None:
    """Say how a payment gateway answers refunds from now on."""
    after = timedelta(seconds=after_seconds)
    made = Gateway(answers=_status(answers), turns=_status(turns) if turns else None, after=after, error_code=error_code)
    _shop(world, shop).gateways[name] = made


def keys(
    world: World,
    *,
    shop: str,
    remember: bool | None = None,
    carrier: str | None = None,
    after_refusal: str | None = None,
    kept_for_seconds: float | None = None,
    forget_now: bool = False,
) -> None:
    """Say how a shop treats idempotency keys from now on."""
    memory = _shop(world, shop).keys
    memory.remembers = memory.remembers if remember is None else remember
    memory.carrier = memory.carrier if carrier is None else Carrier(carrier)
    memory.after_refusal = memory.after_refusal if after_refusal is None else AfterRefusal(after_refusal)
    if kept_for_seconds is not None:
        memory.kept_for = timedelta(seconds=kept_for_seconds)
    if forget_now:
        memory.forget()


def throttle(
    world: World,
    *,
    shop: str,
    available: float | None = None,
    maximum: float | None = None,
    per_second: float | None = None,
    unlimited: bool | None = None,
) -> None:
    """Set a shop's query cost bucket."""
    bucket = _shop(world, shop).bucket
    bucket.refill(world.clock.now())
    bucket.maximum = bucket.maximum if maximum is None else maximum
    bucket.per_second = bucket.per_second if per_second is None else per_second
    bucket.available = bucket.available if available is None else available
    bucket.unlimited = bucket.unlimited if unlimited is None else unlimited


def version(world: World, *, shop: str, served: str | None) -> None:
    """Let a shop answer as one API version whatever is asked for; None for what is asked."""
    _shop(world, shop).served_version = served


def read_lag(world: World, *, shop: str, seconds: float) -> None:
    """Hide refunds from reads while they are younger than this."""
    _shop(world, shop).read_lag = timedelta(seconds=seconds)


def fault(world: World, *, shop: str, kind: str, **details: object) -> Json:
    """Declare a fault for the next matching requests of a shop."""
    _shop(world, shop)
    delay_seconds = details.pop("delay_seconds", None)
    if delay_seconds is not None:
        details["delay"] = timedelta(seconds=float(str(delay_seconds)))
    try:
        declared = Fault(
            number=world.faults.next_number, shop=shop, kind=FaultKind(kind), released=Event(), **details  # type: ignore[arg-type]  # a wrong name is refused below
        )
    except TypeError as error:
        raise ControlRefused(f"fault: {error}") from error
    bound = world.lateness_bound
    if declared.kind is FaultKind.LATE and bound is not None and declared.delay > bound:
        raise ControlRefused(f"Later than the declared bound of {bound}: break the bound first.")
    world.faults.declare(declared)
    return {"number": declared.number}


def clear_faults(world: World, *, shop: str) -> None:
    """Drop a shop's faults and let go what hangs."""
    world.faults.clear(_shop(world, shop).name)


def order(
    world: World,
    *,
    shop: str,
    total: str = "100.00",
    currency: str | None = None,
    rate: str = "1",
    email: str | None = "customer@example.com",
    customer: str | None = "Customer",
    payments: list[Json] | None = None,
    lines: list[Json] | None = None,
    shipping: str = "0",
    created_at: str | None = None,
    test: bool = False,
    fulfillment: str = "UNFULFILLED",
) -> Json:
    """Place an order, by default paid in full by one manual payment."""
    found = _shop(world, shop)
    created = datetime.fromisoformat(created_at) if created_at else world.clock.now()
    placed = Order(
        id=world.new_id("Order"),
        agreement_id=world.new_id("SalesAgreement"),
        name=f"#{1001 + len(found.orders)}",
        created_at=created,
        updated_at=created,
        email=email,
        customer=_customer(world, found, name=customer, email=email),
        test=test,
        currency=currency or found.currency,
        shop_currency=found.currency,
        rate=Decimal(rate),
        total=_no_amount(),
        shipping=_no_amount(),
        fulfillment=fulfillment,
        payments=[],
        lines=[],
    )
    placed.total, placed.shipping = placed.amount(Decimal(total)), placed.amount(Decimal(shipping))
    for asked in payments if payments is not None else [{"amount": total}]:
        placed.payments.append(_payment(world, placed, asked))
    for asked in lines or [{"title": "Item", "quantity": 1, "price": str(Decimal(total) - Decimal(shipping))}]:
        placed.lines.append(_line(world, placed, asked))
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
    found = _shop(world, shop)
    target = _order(found, order)
    parents = [p for p in target.payments if p.kind in PAYMENT_KINDS and payment in (None, p.id)]
    if not parents:
        raise ControlRefused("The order has no such payment.")
    movement = Movement(parent=parents[0], amount=Decimal(amount))
    try:
        made = refund_by_staff(world, found, target, movement=movement, note=note, made=Made(app_id=app_id))
    except UserError as refused:
        raise ControlRefused(refused.message) from refused
    return _refund_json(made)


def settle(
    world: World,
    *,
    shop: str,
    refund: str,
    status: str,
    transaction: str | None = None,
    error_code: str | None = None,
) -> Json:
    """Give a refund's transactions (or one of them) another status, as their gateway or a retry by hand does."""
    found = _shop(world, shop)
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
            status=_status(status),
            error_code=error_code,
        )
    return _refund_json(made)


def retry(world: World, *, shop: str, refund: str) -> Json:
    """Retry by hand what failed at the gateway, as a merchant may: this time it succeeds."""
    found = _shop(world, shop)
    made = found.refund(refund)
    failed = [part for part in made.transactions if part.status in {"FAILURE", "ERROR"}] if made else []
    if made is None or not failed:
        raise ControlRefused(f"The shop has no failed refund {refund}.")
    for part in failed:
        turn_transaction(
            world, found.orders[made.order_id], made, transaction=part, status="SUCCESS", error_code=None
        )
    return _refund_json(made)


def cancel(world: World, *, shop: str, order: str, reason: str = "CUSTOMER") -> None:
    """Cancel an order as staff does, without a refund."""
    target = _order(_shop(world, shop), order)
    target.cancelled_at = target.updated_at = world.clock.now()
    target.cancel_reason = reason


def dispute(
    world: World, *, shop: str, order: str, kind: str = "CHARGEBACK", status: str = "NEEDS_RESPONSE"
) -> Json:
    """Open a dispute on an order, as the customer's bank does."""
    target = _order(_shop(world, shop), order)
    opened = Dispute(id=world.new_id("OrderDisputeSummary"), kind=kind, status=status)
    target.disputes.append(opened)
    target.updated_at = world.clock.now()
    return {"id": opened.id}


COMMANDS: dict[str, Command] = {
    function.__name__: function
    for function in (
        advance, app, cancel, clear_faults, dispute, fault, gateway, keys, lateness, ledger, now, order, read_lag,
        refund, release, retry, revoke, settle, shop, throttle, version,
    )
}  # fmt: skip

STATUSES = {"AWAITING_RESPONSE", "ERROR", "FAILURE", "PENDING", "SUCCESS", "UNKNOWN"}


def _shop(world: World, name: str) -> Shop:
    if name not in world.shops:
        raise ControlRefused(f"There is no shop {name!r}.")
    return world.shops[name]


def _order(shop: Shop, identifier: str) -> Order:
    if identifier not in shop.orders:
        raise ControlRefused(f"{shop.name} has no order {identifier}.")
    return shop.orders[identifier]


def _status(word: str) -> str:
    if word not in STATUSES:
        raise ControlRefused(f"{word!r} is not a status of a transaction.")
    return word


def _no_amount() -> Amount:
    return Amount(presentment=Decimal(0), shop=Decimal(0))


def _customer(world: World, shop: Shop, *, name: str | None, email: str | None) -> Customer | None:
    """The buyer, or None for a guest; the same e-mail is the same customer."""
    if name is None:
        return None
    for earlier in shop.orders.values():
        if earlier.customer and email and earlier.customer.email == email:
            return earlier.customer
    return Customer(id=world.new_id("Customer"), name=name, email=email)


def _payment(world: World, order: Order, asked: Json) -> Transaction:
    status = _status(str(asked.get("status", "SUCCESS")))
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
    return Line(
        id=world.new_id("LineItem"),
        title=str(asked.get("title", "Item")),
        quantity=int(str(asked.get("quantity", 1))),
        unit_price=order.amount(Decimal(str(asked["price"]))),
    )


def _order_json(order: Order) -> Json:
    return {
        "id": order.id,
        "name": order.name,
        "payments": [payment.id for payment in order.payments],
        "lines": [line.id for line in order.lines],
        "customer": order.customer.id if order.customer else None,
    }


def _refund_json(refund: Refund) -> Json:
    transactions = [{"id": part.id, "status": part.status} for part in refund.transactions]
    return {"id": refund.id, "transactions": transactions}
