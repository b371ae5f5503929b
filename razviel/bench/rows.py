"""What the bench measures, row by row, and how it is told.

Promises: a row's name is a contract with whoever reads the report; a ratio names what it is to.
Does not know how anything is measured.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from math import ceil

from rich.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure; `ratio` is its value over that of the row `ratio_to`."""

    name: str
    value: float
    unit: str
    ratio_to: str | None = None
    ratio: float | None = None


def beside(row: Row, ground: Row) -> Row:
    """Put a row beside another one of the same unit."""
    return Row(
        name=row.name,
        value=row.value,
        unit=row.unit,
        ratio_to=ground.name,
        ratio=round(row.value / ground.value, 4),
    )


def percentile(values: Iterable[float], share: float) -> float:
    """Return the smallest value that at least this share of the values do not pass.

    Args:
        values: At least one.
        share: Above 0 and at most 1.
    """
    ordered = sorted(values)
    return ordered[max(1, ceil(len(ordered) * share)) - 1]


def as_table(rows: Iterable[Row]) -> Table:
    """Return the rows for people."""
    table = Table(box=None, pad_edge=False)
    table.add_column("what")
    for column in ("value", "unit", "ratio", "to"):
        table.add_column(column, justify="right" if column in ("value", "ratio") else "left")
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.3f}"
        table.add_row(row.name, f"{row.value:,.1f}", row.unit, ratio, row.ratio_to or "")
    return table


def as_json(rows: Iterable[Row]) -> list[dict[str, object]]:
    """Return the rows as the report lists them."""
    return [asdict(row) for row in rows]
