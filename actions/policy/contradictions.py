"""What in a policy can't be meant: amounts that aren't any, and limits that undo each other.

Promises: every fault is named by its path and a sentence, all of them at once; a limit that could
never be reached, or that makes another one pointless, is a fault and not a choice.
Does not know the document's shape beyond the names of its limits.
"""

from collections.abc import Iterator, Mapping
from typing import Literal, Protocol, TypeAlias, get_args

from integrations.money import InvalidMoney, Money, exponent, parse_money

LimitName: TypeAlias = Literal["cap", "approval_above", "per_order", "per_customer_day", "per_day"]
LIMIT_NAMES: tuple[LimitName, ...] = get_args(LimitName)
"""Every limit of one currency, by its field's name."""

_AT_LEAST: tuple[tuple[LimitName, LimitName], ...] = (
    ("cap", "approval_above"),
    ("per_order", "cap"),
    ("per_customer_day", "cap"),
    ("per_day", "cap"),
    ("per_day", "per_customer_day"),
)
"""The first of each pair may not be less than the second."""


class CountsLike(Protocol):
    """Two counts of which the wider may not be less than the narrower."""

    @property
    def per_customer_day(self) -> int | None:
        """Return how many for one customer on one day."""

    @property
    def per_day(self) -> int | None:
        """Return how many in the workspace on one day."""


def read_limit(amount: str | None, *, name: LimitName, currency: str) -> Money | None:
    """Read one limit as money; None where it is left out.

    Raises:
        InvalidMoney: With a sentence that says what is wrong and what would be right.
    """
    if amount is None:
        return None
    # Nothing at all is a threshold that asks always, and makes no sense as any other limit.
    asks_always = name == "approval_above" and amount == "0"
    return Money.zero(currency) if asks_always else parse_money(amount, currency)


def contradictions(
    *, limits: Mapping[str, Mapping[LimitName, str | None]], counts: CountsLike
) -> Iterator[tuple[str, str]]:
    """Find everything that can't be meant, as path and sentence.

    Args:
        limits: By currency, then by name, as written.
        counts: Of the same kind of action.
    """
    for currency, limit in limits.items():
        for path, sentence in _of_currency(limit, currency):
            yield f"limits.{currency}{path}", sentence
    wide, narrow = counts.per_day, counts.per_customer_day
    if wide is not None and narrow is not None and wide < narrow:
        yield "counts.per_day", _below(str(wide), "per_customer_day", str(narrow))


def _of_currency(
    written: Mapping[LimitName, str | None], currency: str
) -> Iterator[tuple[str, str]]:
    try:
        exponent(currency)
    except InvalidMoney as unknown:
        yield "", str(unknown)
        return
    amounts: dict[LimitName, Money] = {}
    for name in LIMIT_NAMES:
        try:
            amount = read_limit(written[name], name=name, currency=currency)
        except InvalidMoney as invalid:
            yield f".{name}", str(invalid)
        else:
            amounts |= {name: amount} if amount is not None else {}
    yield from _out_of_order(amounts)


def _out_of_order(amounts: Mapping[LimitName, Money]) -> Iterator[tuple[str, str]]:
    for wider, narrower in _AT_LEAST:
        wide, narrow = amounts.get(wider), amounts.get(narrower)
        if wide is None or narrow is None or wide >= narrow:
            continue
        if wider == "cap":
            yield f".{narrower}", f"{narrow} is over the cap {wide}; lower it."
        else:
            yield f".{wider}", _below(str(wide), narrower, str(narrow))


def _below(wide: str, narrower: str, narrow: str) -> str:
    name = "the cap" if narrower == "cap" else narrower
    return f"{wide} is below {name} {narrow}; raise it or lower that."
