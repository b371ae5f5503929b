"""Money as the rest of the house knows it: an exact decimal at its currency's own precision.

Promises: every amount that exists here is finite, exact and in a currency of ISO 4217; two
currencies are never added or compared; what can't be read exactly is refused with a sentence that
says what would be right.
Does not know exchange rates, formatting for people, or what an amount is for.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Context, Decimal, Inexact, InvalidOperation
from functools import total_ordering
from typing import Self


class InvalidMoney(ValueError):
    """The amount or currency can't be taken exactly as written: correct it as the message says."""


class CurrencyMismatch(ValueError):
    """Two currencies met in one sum or comparison: read the amounts again in one currency."""


# Active ISO 4217 codes with a minor unit, as of 2026-01-01; metals, SDR and test codes have none.
# https://www.six-group.com/en/products-services/financial-information/data-standards.html, list
# one of the maintenance agency, as packaged in the Python library iso4217 1.16.20260101;
# read 2026-11-30.
_CODES_BY_EXPONENT = {
    0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
    2: "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD "
    "CAD CDF CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL "
    "GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR "
    "LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD "
    "PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC "
    "SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG YER ZAR "
    "ZMW ZWG",
    3: "BHD IQD JOD KWD LYD OMR TND",
    4: "CLF UYW",
}
EXPONENTS = {code: places for places, codes in _CODES_BY_EXPONENT.items() for code in codes.split()}
"""Decimal places of each active currency."""

_EXACT = Context(prec=40, traps=[InvalidOperation, Inexact])
"""Arithmetic that raises where it would round, whatever the thread's own context says."""

_WHOLE_DIGITS_MAX = 15


def exponent(currency: str) -> int:
    """Return the number of decimal places of a currency.

    Raises:
        InvalidMoney: The code is not an active ISO 4217 currency in capitals.
    """
    if currency not in EXPONENTS:
        raise InvalidMoney(
            f"{currency[:12]!r} is not an active ISO 4217 currency; "
            "write its code in capitals, as EUR."
        )
    return EXPONENTS[currency]


@total_ordering
@dataclass(frozen=True, slots=True, kw_only=True)
class Money:
    """An exact amount in one currency, held at the currency's own precision; it may be negative.

    Raises:
        InvalidMoney: Not finite, finer than the currency allows, or an unknown currency.
        CurrencyMismatch: By arithmetic and comparison (other than equality) across currencies.
    """

    amount: Decimal
    currency: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "amount", _at_exponent(self.amount, self.currency))

    @classmethod
    def zero(cls, currency: str) -> Self:
        """Return nothing, in a currency."""
        return cls(amount=Decimal(0), currency=currency)

    def canonical(self) -> str:
        """Return the amount alone, at the currency's exponent: `12.50`, `1000` for JPY."""
        return f"{self.amount:f}"

    def __str__(self) -> str:
        return f"{self.canonical()} {self.currency}"

    def __add__(self, other: "Money") -> "Money":
        self._same_currency(other)
        return Money(amount=_EXACT.add(self.amount, other.amount), currency=self.currency)

    def __sub__(self, other: "Money") -> "Money":
        self._same_currency(other)
        return Money(amount=_EXACT.subtract(self.amount, other.amount), currency=self.currency)

    def __lt__(self, other: "Money") -> bool:
        self._same_currency(other)
        return self.amount < other.amount

    def _same_currency(self, other: "Money") -> None:
        if self.currency != other.currency:
            raise CurrencyMismatch(f"{self} and {other} are in different currencies.")


def total(amounts: Iterable[Money], *, currency: str) -> Money:
    """Add amounts of one currency; none at all is zero.

    Raises:
        CurrencyMismatch: One of them is in another currency.
    """
    return sum(amounts, start=Money.zero(currency))


def parse_money(amount: str, currency: str) -> Money:
    """Read what someone asks for: plain digits with an optional point, more than nothing.

    Raises:
        InvalidMoney: With a sentence that says what is wrong and what would be right.
    """
    places = exponent(currency)
    money = _parse_plain(amount, currency, places)
    if not money.amount:
        raise InvalidMoney(f"{amount} {currency} is nothing; ask for more than zero.")
    return money


def platform_money(amount: str, currency: str) -> Money:
    """Read an amount from a platform's answer, where `1000.0` JPY and `0.0` are usual.

    Raises:
        InvalidMoney: It is not a plain decimal, or not exact in this currency.
    """
    if not _PLATFORM_SHAPE.fullmatch(amount):
        raise InvalidMoney(f"{amount[:40]!r} from a platform is not a plain decimal amount.")
    return Money(amount=Decimal(amount), currency=currency)


_PLAIN_SHAPE = re.compile(r"(?P<whole>0|[1-9][0-9]*)(?:\.(?P<places>[0-9]+))?")
_PLATFORM_SHAPE = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,18})?")

_WRONG_SHAPES = (
    (re.compile(r"\s"), "holds a space; write digits and at most one point"),
    (re.compile(r"[^\x00-\x7f]"), "holds characters other than 0 to 9 and a point"),
    (re.compile(r"^[+-]"), "has a sign; write the amount without one"),
    (re.compile(r"nan|inf", re.IGNORECASE), "is not a number; write digits"),
    (re.compile(r"[0-9.]e", re.IGNORECASE), "is in exponent form; write all its digits"),
    (re.compile(r",|\..*\."), "has separators; write one point before the decimals and no other"),
    (re.compile(r"^0[0-9]"), "begins with a spare zero; leave it out"),
)
"""What is wrong with an amount that isn't plain, most telling first."""


def _at_exponent(amount: Decimal, currency: str) -> Decimal:
    places = exponent(currency)
    if not amount.is_finite():
        raise InvalidMoney(f"{amount} {currency} is not an amount; money is a finite number.")
    try:
        exact = amount.quantize(Decimal(1).scaleb(-places), context=_EXACT)
    except (Inexact, InvalidOperation) as inexact:
        raise InvalidMoney(
            f"{amount} {currency} can't be held exactly: {currency} has {places} decimal places."
        ) from inexact
    return abs(exact) if exact.is_zero() else exact


def _parse_plain(amount: str, currency: str, places: int) -> Money:
    shape = _PLAIN_SHAPE.fullmatch(amount)
    if shape is None:
        raise InvalidMoney(f"{amount[:40]!r} {_what_is_wrong(amount)}, as {_example(places)}.")
    if len(shape["whole"]) > _WHOLE_DIGITS_MAX:
        raise InvalidMoney(
            f"{amount[:40]!r} has more than {_WHOLE_DIGITS_MAX} digits before the point; "
            "ask for less."
        )
    if len(shape["places"] or "") > places:
        raise InvalidMoney(
            f"{amount[:40]!r} has more decimals than the {places} of {currency}; "
            f"write it as {_example(places)}."
        )
    return Money(amount=Decimal(amount), currency=currency)


def _what_is_wrong(amount: str) -> str:
    return next(
        (sentence for shape, sentence in _WRONG_SHAPES if shape.search(amount)),
        "is not a plain amount; write digits and at most one point",
    )


def _example(places: int) -> str:
    return f"{Decimal('12.5'):.{places}f}" if places else "12"
