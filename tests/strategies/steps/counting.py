"""What the limits count, beside the move that lets an intent go or shows that nothing of it left.

Promises: what was taken is what is given back, on the day it was taken.
Does not know the limits.
"""

from datetime import date, datetime
from decimal import Decimal
from typing import TypedDict

from tests.strategies.statements import Statement, insert, update
from tests.strategies.steps.shared import pk
from tests.strategies.world import Row, World


class Counted(TypedDict, total=False):
    """The columns of an intent that say what the limits counted."""

    counted_on: date | None
    counted_at: datetime | None
    shop_amount: object
    shop_currency: str


def counted(w: World, intent: Row, at: datetime) -> tuple[list[Statement], Counted]:
    """Return what takes an intent's money on the day's counter, and what the intent says of it."""
    amount = intent["amount"]
    if not isinstance(amount, Decimal):
        return [], {}
    row = _counter(w, intent, at.date())
    said: Counted = {
        "counted_on": at.date(), "counted_at": at, "shop_amount": amount, "shop_currency": "EUR",
    }  # fmt: skip
    if row is not None:
        return [_add(row, amount, 1)], said
    opened = insert(
        "actions_counter",
        w.new_id("actions_counter"),
        workspace_id=intent["workspace_id"],
        name=f"{intent['kind']}.day",
        day=at.date(),
        currency="EUR",
    )
    return [opened, _add({"id": opened.row_id, "used": Decimal(0), "count": 0}, amount, 1)], said


GIVEN_BACK: Counted = {"counted_on": None, "counted_at": None}
"""What an intent says that counts no more, or that never did."""


def given_back(w: World, *intents: Row) -> list[Statement]:
    """Return what takes intents off their counters again, those that were counted."""
    rows: dict[int, tuple[Row, Decimal, int]] = {}
    for intent in intents:
        amount, on = intent["shop_amount"], intent["counted_on"]
        if not (isinstance(amount, Decimal) and isinstance(on, date)):
            continue
        row = _counter(w, intent, on)
        if row is not None:
            _, sum_so_far, number = rows.get(pk(row), (row, Decimal(0), 0))
            rows[pk(row)] = (row, sum_so_far + amount, number + 1)
    return [_add(row, -amount, -number) for row, amount, number in rows.values()]


def _counter(w: World, intent: Row, on: date) -> Row | None:
    rows = w.rows(
        "actions_counter",
        "workspace_id = %s AND name = %s AND day = %s AND subject = '' AND currency = 'EUR'",
        intent["workspace_id"],
        f"{intent['kind']}.day",
        on,
    )
    return rows[0] if rows else None


def _add(row: Row, amount: Decimal, count: int) -> Statement:
    used, number = row["used"], row["count"]
    assert isinstance(used, Decimal)
    assert isinstance(number, int)
    return update("actions_counter", pk(row), used=used + amount, count=number + count)
