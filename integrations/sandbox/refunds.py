"""How the simulated store refunds: what becomes of the money, at once and later.

Promises: a refund's note is kept unchanged; a gateway decides each transaction's status; every
effect is in the ledger, with the lines, shipping and duties it was for. What is refused is in
`rules`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial

from integrations.sandbox.ledger import (
    Effect,
    EffectDuty,
    EffectLine,
    EffectPart,
    StatusAt,
)
from integrations.sandbox.rules import (
    ORDER_MISSING,
    Input,
    Movement,
    UserError,
    check_currency,
    check_money,
    duties,
    lines,
    movements,
    shipping,
)
from integrations.sandbox.store import NOTHING, Gateway, Order, Refund, Shop, Transaction
from integrations.sandbox.world import World

STORE_CREDIT = "shopify_store_credit"
FINAL = {"SUCCESS", "FAILURE", "ERROR"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """Who asked for a refund, and how."""

    app_id: str | None
    key: str | None = None
    request_number: int | None = None


def create_refund(world: World, shop: Shop, *, asked: Input, made: Made) -> Refund:
    """Do what `refundCreate` does with a coerced `RefundInput`.

    Raises:
        UserError: refused; nothing has changed.
    """
    order = shop.orders.get(str(asked["orderId"]))
    if order is None:
        raise UserError(field=("orderId",), message=ORDER_MISSING)
    moved = movements(order, asked)
    taken = lines(world, order, asked)
    check_currency(order, asked.get("currency"))
    check_money(order, moved)
    shipped, customs = shipping(order, asked.get("shipping")), duties(order, asked)
    note = asked.get("note")
    refund = _refund(world, order, made=made, note=None if note is None else str(note))
    refund.lines, refund.shipping, refund.duties = taken, shipped, customs
    return book(world, shop, order, refund=refund, moved=moved, made=made)


def refund_by_staff(
    world: World,
    shop: Shop,
    order: Order,
    *,
    movement: Movement,
    notes: Sequence[str | None],
    made: Made,
) -> list[Refund]:
    """Make refunds that no request of ours asked for, one a note, under the same caps.

    Raises:
        UserError: together over what the store still holds; then none is made.
    """
    check_money(order, [movement] * len(notes))
    refunds = [_refund(world, order, made=made, note=note) for note in notes]
    return [
        book(world, shop, order, refund=refund, moved=[movement], made=made) for refund in refunds
    ]


def book(
    world: World, shop: Shop, order: Order, *, refund: Refund, moved: list[Movement], made: Made
) -> Refund:
    """Put a refund on its order and in the ledger, and let its gateways answer."""
    order.refunds.append(refund)
    shop.refunds[refund.id] = refund
    order.updated_at = refund.created_at
    gateways = []
    for movement in moved:
        name = movement.parent.gateway if movement.parent else STORE_CREDIT
        gateway = shop.gateways.get(name, Gateway())
        refund.transactions.append(_transaction(world, order, movement, name, gateway))
        gateways.append(gateway)
    _record(world, shop, order, refund, made)
    for transaction, gateway in zip(refund.transactions, gateways, strict=True):
        if gateway.turns is not None:
            turn = partial(
                _turn,
                world,
                order,
                refund,
                transaction=transaction,
                status=gateway.turns,
                error_code=gateway.error_code,
            )
            world.clock.at(refund.created_at + gateway.after, turn)
    return refund


def turn_transaction(
    world: World,
    order: Order,
    refund: Refund,
    *,
    transaction: Transaction,
    status: str,
    error_code: str | None,
) -> None:
    """Give a refund transaction another status, as a gateway or a merchant by hand does."""
    now = world.clock.now()
    transaction.status = status
    transaction.error_code = error_code
    transaction.processed_at = now if status in FINAL else None
    refund.updated_at = order.updated_at = now
    world.ledger.record_status(refund.id, part_id=transaction.id, status=status, at=now)


def _turn(
    world: World,
    order: Order,
    refund: Refund,
    *,
    transaction: Transaction,
    status: str,
    error_code: str | None,
) -> None:
    """Turn by the clock what nobody has turned by hand meanwhile."""
    if transaction.status not in FINAL:
        turn_transaction(
            world, order, refund, transaction=transaction, status=status, error_code=error_code
        )


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


def _transaction(
    world: World, order: Order, movement: Movement, name: str, gateway: Gateway
) -> Transaction:
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
            shop_amount=transaction.amount.shop,
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
            lines=tuple(
                EffectLine(
                    line_id=line.line_id,
                    quantity=line.quantity,
                    restock_type=line.restock_type,
                    location_id=line.location_id,
                )
                for line in refund.lines
            ),
            shipping=refund.shipping.presentment,
            duties=tuple(
                EffectDuty(duty_id=duty.duty_id, amount=duty.amount.presentment)
                for duty in refund.duties
            ),
        )
    )
