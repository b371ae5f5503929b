"""What the simulated store refuses of a refund, and in which words.

Promises: the refusals recorded from a real store (reference 2.2) word for word. Where nobody has
recorded an answer, the words are the sandbox's own, and stand apart. Changes nothing.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from integrations.sandbox.duties import find_duty, kind_of, quantity_of, share
from integrations.sandbox.money import places, shown
from integrations.sandbox.store import (
    NOTHING,
    PAYMENT_KINDS,
    Amount,
    Order,
    RefundedDuty,
    RefundedLine,
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
LINE_MISSING = "Line item does not exist"
QUANTITY_NOT_POSITIVE = "Quantity must be greater than zero"
RESTOCK_NOT_ACCEPTED = "Restock type is not accepted"
OVER_SHIPPING = "Shipping refund is greater than what is left of the shipping"
DUTY_MISSING = "Duty does not exist"
DUTY_EMPTY = "Duty has nothing to refund"
# That the order needs a customer is documented; the words are not.
# https://shopify.dev/changelog/refund-to-store-credit, read 2026-11-30
CREDIT_WITHOUT_CUSTOMER = "Store credit can only be issued to the customer of an order"
CREDIT_CURRENCY_WRONG = "Store credit must be in the presentment currency of the order"


@dataclass(frozen=True, slots=True, kw_only=True)
class UserError(Exception):
    """The store refuses: nothing was done."""

    field: tuple[str, ...] | None
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Movement:
    """Money that a refund is to move: back from a payment, or (no parent) into store credit."""

    parent: Transaction | None
    amount: Decimal


def movements(order: Order, asked: Input) -> list[Movement]:
    """Read what money is to move.

    Raises:
        UserError: not a refund, or no payment of this order.
    """
    transactions = _list(asked.get("transactions"))
    # Recorded: https://github.com/airhorns/shopify-draft-proxy,
    # refund-create-transactions-validation, read 2026-11-30.
    for item in transactions:
        if item["kind"] != "REFUND":
            word = str(item["kind"]).lower()
            raise UserError(field=None, message=f"Kind {word} is not a valid transaction")
    moved = [
        Movement(parent=_parent(order, item), amount=_decimal(item["amount"]))
        for item in transactions
    ]
    for index, method in enumerate(_list(asked.get("refundMethods"))):
        credit = method["storeCreditRefund"]
        if isinstance(credit, dict):
            moved.append(_credit(order, index, credit["amount"]))
    return moved


def _credit(order: Order, index: int, money: Input) -> Movement:
    field = ("refundMethods", str(index), "storeCreditRefund")
    if order.customer is None:
        raise UserError(field=field, message=CREDIT_WITHOUT_CUSTOMER)
    if money["currencyCode"] != order.currency:
        raise UserError(field=(*field, "amount"), message=CREDIT_CURRENCY_WRONG)
    return Movement(parent=None, amount=_decimal(money["amount"]))


def _parent(order: Order, item: Input) -> Transaction:
    # `gateway` is no guard: a wrong one is accepted and the parent's is used (recorded, same file).
    for payment in order.payments:
        same = payment.id == item.get("parentId") and item["orderId"] == order.id
        if same and payment.kind in PAYMENT_KINDS and payment.status == "SUCCESS":
            return payment
    raise UserError(field=("transactions",), message=PARENT_MISSING)


def lines(world: World, order: Order, asked: Input) -> list[RefundedLine]:
    """Read which items are to come back.

    Raises:
        UserError: more than were bought and not yet refunded, or a line of another order.
    """
    taken: list[RefundedLine] = []
    for index, item in enumerate(_list(asked.get("refundLineItems"))):
        refused = _line_refusal(order, item, taken)
        if refused is not None:
            name, message = refused
            raise UserError(field=("refundLineItems", str(index), name), message=message)
        location = item.get("locationId")
        taken.append(
            RefundedLine(
                id=world.new_id("RefundLineItem"),
                line_id=str(item["lineItemId"]),
                quantity=int(str(item["quantity"])),
                restock_type=str(item.get("restockType") or "NO_RESTOCK"),
                location_id=None if location is None else str(location),
            )
        )
    return taken


def _line_refusal(order: Order, item: Input, taken: list[RefundedLine]) -> tuple[str, str] | None:
    """Name the field of an item that is refused, with the words; None if it is not."""
    line = next((line for line in order.lines if line.id == item["lineItemId"]), None)
    if line is None:
        return "lineItemId", LINE_MISSING
    quantity = int(str(item["quantity"]))
    earlier = sum(other.quantity for other in taken if other.line_id == line.id)
    if quantity > order.refundable_quantity(line) - earlier:
        return "quantity", TOO_MANY_ITEMS
    if quantity < 1:
        return "quantity", QUANTITY_NOT_POSITIVE
    # https://shopify.dev/docs/api/admin-graphql/2026-10/enums/RefundLineItemRestockType (by the
    # schema, read 2026-11-30): this one is not accepted when a refund is created.
    if item.get("restockType") == "LEGACY_RESTOCK":
        return "restockType", RESTOCK_NOT_ACCEPTED
    return None


def check_currency(order: Order, currency: object) -> None:
    """Hold the named currency against the order's presentment currency.

    Raises:
        UserError: missing where it must be given, or another.
    """
    if currency is None and order.currency != order.shop_currency:
        raise UserError(field=("currency",), message=CURRENCY_MISSING)
    if currency is not None and currency != order.currency:
        raise UserError(field=("currency",), message=CURRENCY_WRONG)


def check_money(order: Order, movements: list[Movement]) -> None:
    """Hold amounts against what the store still has of the order, and of each payment.

    Raises:
        UserError: nothing, too fine, or too much.
    """
    for movement in movements:
        if movement.amount <= 0:
            raise UserError(field=None, message=AMOUNT_NOT_POSITIVE)
        if movement.amount != round(movement.amount, places(order.currency)):
            raise UserError(field=None, message=AMOUNT_TOO_FINE)
    total = sum((movement.amount for movement in movements), Decimal(0))
    held = order.net_payment.presentment
    # `allowOverRefunding` changes nothing here: refused all the same on a manual gateway (recorded,
    # R 31).
    if total > held:
        wanted, got = shown(total, order.currency), shown(held, order.currency)
        text = f"Refund amount {wanted} is greater than net payment received {got}"
        raise UserError(field=None, message=text)
    for payment in order.payments:
        share = sum((m.amount for m in movements if m.parent is payment), Decimal(0))
        if share > order.left_of(payment).presentment:
            raise UserError(field=None, message=OVER_PARENT)


def shipping(order: Order, asked: object) -> Amount:
    """Read how much of the shipping is to go back.

    Raises:
        UserError: more than is left of it.
    """
    if not isinstance(asked, dict):
        return NOTHING
    left = order.shipping_left
    if asked.get("fullRefund"):
        return left
    amount = order.amount(_decimal(asked.get("amount") or 0))
    if amount.presentment > left.presentment:
        raise UserError(field=("shipping", "amount"), message=OVER_SHIPPING)
    return amount


def duties(order: Order, asked: Input) -> list[RefundedDuty]:
    """Read which duties are to go back, and how much of each.

    Raises:
        UserError: a duty of another order, or one of which nothing is left.
    """
    items = _list(asked.get("refundLineItems"))
    given: list[RefundedDuty] = []
    for index, item in enumerate(_list(asked.get("refundDuties"))):
        field, found = ("refundDuties", str(index), "dutyId"), find_duty(order, str(item["dutyId"]))
        if found is None:
            raise UserError(field=field, message=DUTY_MISSING)
        line, duty = found
        quantity = quantity_of(line, items)
        amount = share(order, line, duty, kind=kind_of(item), quantity=quantity)
        if amount.presentment <= 0 or any(other.duty_id == duty.id for other in given):
            raise UserError(field=field, message=DUTY_EMPTY)
        given.append(RefundedDuty(duty_id=duty.id, amount=amount))
    return given


def _list(value: object) -> list[Input]:
    return list(value) if isinstance(value, list) else []


def _decimal(value: object) -> Decimal:
    return value if isinstance(value, Decimal) else Decimal(str(value))
