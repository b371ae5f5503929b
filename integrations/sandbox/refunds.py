"""How the simulated store refunds: what it refuses and with which words, and what becomes of the money.

Promises: the refusals recorded from a real store (reference 2.2) word for word and in that order; a refund's note is kept
unchanged; a gateway decides each transaction's status, at once or later. Where nobody has recorded an answer, the
message says so in its constant's comment. Store credit and shipping are carried; duties are refused by name.
"""

from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import TypeAlias

from integrations.sandbox.ledger import Effect, EffectPart, StatusAt
from integrations.sandbox.money import places, shown
from integrations.sandbox.store import (
    NOTHING,
    Amount,
    PAYMENT_KINDS,
    Gateway,
    Order,
    Refund,
    RefundedLine,
    Shop,
    Transaction,
)
from integrations.sandbox.world import World

Input: TypeAlias = dict[str, object]

ORDER_MISSING = "Order does not exist"
PARENT_MISSING = "Transactions require a parent_id associated with the order"
TOO_MANY_ITEMS = "Quantity cannot refund more items than were purchased"
# The next ones are the sandbox's own words: no recording of the real ones is known.
AMOUNT_NOT_POSITIVE = "Amount must be greater than zero"
AMOUNT_TOO_FINE = "Amount has more decimal places than the currency"
CURRENCY_MISSING = "Currency must be provided for multi-currency orders"
CURRENCY_WRONG = "Currency must be the presentment currency of the order"
OVER_PARENT = "Refund amount is greater than what is left of its parent transaction"
NO_DUTIES = "The sandbox does not carry duties"
LINE_MISSING = "Line item does not exist"

STORE_CREDIT = "shopify_store_credit"
FINAL = {"SUCCESS", "FAILURE", "ERROR"}


@dataclass(frozen=True, slots=True, kw_only=True)
class UserError(Exception):
    """The store refuses: nothing was done."""

    field: tuple[str, ...] | None
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """Who asked for a refund, and how."""

    app_id: str | None
    key: str | None = None
    request_number: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Movement:
    """Money that a refund is to move: from a payment back to its payer, or into store credit (no parent)."""

    parent: Transaction | None
    amount: Decimal


def create_refund(world: World, shop: Shop, *, asked: Input, made: Made) -> Refund:
    """Do what `refundCreate` does with a coerced `RefundInput`.

    Raises:
        UserError: refused; nothing has changed.
    """
    order = shop.orders.get(str(asked["orderId"]))
    if order is None:
        raise UserError(field=("orderId",), message=ORDER_MISSING)
    movements = _movements(order, asked)
    lines = _lines(world, order, asked)
    _check_currency(order, asked.get("currency"))
    if asked.get("refundDuties"):
        raise UserError(field=("refundDuties",), message=NO_DUTIES)
    _check_money(order, movements)
    note = asked.get("note")
    refund = _refund(world, order, made=made, note=None if note is None else str(note))
    refund.lines = lines
    refund.shipping = _shipping(order, asked.get("shipping"))
    return book(world, shop, order, refund=refund, movements=movements, made=made)


def refund_by_staff(world: World, shop: Shop, order: Order, *, movement: Movement, note: str | None, made: Made) -> Refund:
    """Make a refund that no request of ours asked for, under the same caps.

    Raises:
        UserError: over what the store still holds.
    """
    _check_money(order, [movement])
    refund = _refund(world, order, made=made, note=note)
    return book(world, shop, order, refund=refund, movements=[movement], made=made)


def book(
    world: World, shop: Shop, order: Order, *, refund: Refund, movements: list[Movement], made: Made
) -> Refund:
    """Put a refund on its order and in the ledger, and let its gateways answer."""
    order.refunds.append(refund)
    order.updated_at = refund.created_at
    gateways = []
    for movement in movements:
        name = movement.parent.gateway if movement.parent else STORE_CREDIT
        gateway = shop.gateways.get(name, Gateway())
        refund.transactions.append(_transaction(world, order, movement, name, gateway))
        gateways.append(gateway)
    _record(world, shop, order, refund, made)
    for transaction, gateway in zip(refund.transactions, gateways, strict=True):
        if gateway.turns is not None:
            turn = partial(
                _turn, world, order, refund, transaction=transaction, status=gateway.turns, error_code=gateway.error_code
            )
            world.clock.at(refund.created_at + gateway.after, turn)
    return refund


def turn_transaction(
    world: World, order: Order, refund: Refund, *, transaction: Transaction, status: str, error_code: str | None
) -> None:
    """Give a refund transaction another status, as a gateway, or a merchant's retry by hand, does."""
    now = world.clock.now()
    transaction.status = status
    transaction.error_code = error_code
    transaction.processed_at = now if status in FINAL else None
    refund.updated_at = order.updated_at = now
    world.ledger.record_status(refund.id, part_id=transaction.id, status=status, at=now)


def _turn(
    world: World, order: Order, refund: Refund, *, transaction: Transaction, status: str, error_code: str | None
) -> None:
    """Turn by the clock what nobody has turned by hand meanwhile."""
    if transaction.status not in FINAL:
        turn_transaction(world, order, refund, transaction=transaction, status=status, error_code=error_code)


def _movements(order: Order, asked: Input) -> list[Movement]:
    transactions = _list(asked.get("transactions"))
    # Recorded: https://github.com/airhorns/shopify-draft-proxy, refund-create-transactions-validation, read 2026-11-30.
    for item in transactions:
        if item["kind"] != "REFUND":
            word = str(item["kind"]).lower()
            raise UserError(field=None, message=f"Kind {word} is not a valid transaction")
    movements = [Movement(parent=_parent(order, item), amount=_decimal(item["amount"])) for item in transactions]
    for method in _list(asked.get("refundMethods")):
        credit = method["storeCreditRefund"]
        if isinstance(credit, dict):
            movements.append(Movement(parent=None, amount=_decimal(credit["amount"]["amount"])))
    return movements


def _parent(order: Order, item: Input) -> Transaction:
    # `gateway` is no guard: a wrong one is accepted and the parent's is used (recorded, same file).
    for payment in order.payments:
        same = payment.id == item.get("parentId") and item["orderId"] == order.id
        if same and payment.kind in PAYMENT_KINDS and payment.status == "SUCCESS":
            return payment
    raise UserError(field=("transactions",), message=PARENT_MISSING)


def _lines(world: World, order: Order, asked: Input) -> list[RefundedLine]:
    lines = []
    for index, item in enumerate(_list(asked.get("refundLineItems"))):
        line = next((line for line in order.lines if line.id == item["lineItemId"]), None)
        if line is None:
            raise UserError(field=("refundLineItems", str(index), "lineItemId"), message=LINE_MISSING)
        quantity = int(str(item["quantity"]))
        earlier = sum(other.quantity for other in lines if other.line_id == line.id)
        if quantity > line.quantity - order.refunded_quantity(line) - earlier:
            raise UserError(field=("refundLineItems", str(index), "quantity"), message=TOO_MANY_ITEMS)
        lines.append(
            RefundedLine(
                id=world.new_id("RefundLineItem"),
                line_id=line.id,
                quantity=quantity,
                restock_type=str(item.get("restockType") or "NO_RESTOCK"),
            )
        )
    return lines


def _check_currency(order: Order, currency: object) -> None:
    if currency is None and order.currency != order.shop_currency:
        raise UserError(field=("currency",), message=CURRENCY_MISSING)
    if currency is not None and currency != order.currency:
        raise UserError(field=("currency",), message=CURRENCY_WRONG)


def _check_money(order: Order, movements: list[Movement]) -> None:
    for movement in movements:
        if movement.amount <= 0:
            raise UserError(field=None, message=AMOUNT_NOT_POSITIVE)
        if movement.amount != round(movement.amount, places(order.currency)):
            raise UserError(field=None, message=AMOUNT_TOO_FINE)
    total = sum((movement.amount for movement in movements), Decimal(0))
    held = order.net_payment.presentment
    # `allowOverRefunding` changes nothing here: refused all the same on a manual gateway (recorded, R 31).
    if total > held:
        text = f"Refund amount {shown(total, order.currency)} is greater than net payment received {shown(held, order.currency)}"
        raise UserError(field=None, message=text)
    for payment in order.payments:
        wanted = sum((m.amount for m in movements if m.parent is payment), Decimal(0))
        if wanted > order.left_of(payment).presentment:
            raise UserError(field=None, message=OVER_PARENT)


def _refund(world: World, order: Order, *, made: Made, note: str | None) -> Refund:
    now = world.clock.now()
    return Refund(
        id=world.new_id("Refund"),
        agreement_id=world.new_id("SalesAgreement"),
        order_id=order.id,
        note=note,
        created_at=now,
        updated_at=now,
        app_id=made.app_id,
        transactions=[],
        lines=[],
        shipping=NOTHING,
    )


def _shipping(order: Order, asked: object) -> Amount:
    if not isinstance(asked, dict):
        return NOTHING
    if asked.get("fullRefund"):
        return order.shipping
    return order.amount(_decimal(asked.get("amount") or 0))


def _transaction(world: World, order: Order, movement: Movement, name: str, gateway: Gateway) -> Transaction:
    now = world.clock.now()
    return Transaction(
        id=world.new_id("OrderTransaction"),
        kind="REFUND",
        status=gateway.answers,
        gateway=name,
        amount=order.amount(movement.amount),
        parent_id=movement.parent.id if movement.parent else None,
        created_at=now,
        processed_at=now if gateway.answers in FINAL else None,
        error_code=gateway.error_code if gateway.answers in {"FAILURE", "ERROR"} else None,
    )


def _record(world: World, shop: Shop, order: Order, refund: Refund, made: Made) -> None:
    parts = tuple(
        EffectPart(
            id=transaction.id,
            parent_id=transaction.parent_id,
            gateway=transaction.gateway,
            amount=transaction.amount.presentment,
            history=(StatusAt(status=transaction.status, at=refund.created_at),),
        )
        for transaction in refund.transactions
    )
    world.ledger.record_effect(
        Effect(
            number=world.ledger.next_effect_number,
            kind="refund",
            id=refund.id,
            shop=shop.name,
            order_id=order.id,
            amount=sum((part.amount for part in parts), Decimal(0)),
            currency=order.currency,
            note=refund.note,
            app_id=made.app_id,
            key=made.key,
            request_number=made.request_number,
            at=refund.created_at,
            parts=parts,
        )
    )


def _list(value: object) -> list[Input]:
    return list(value) if isinstance(value, list) else []


def _decimal(value: object) -> Decimal:
    return value if isinstance(value, Decimal) else Decimal(str(value))
