"""Amounts as the simulated store counts and prints them.

Promises: exact decimals at the currency's own places. Written apart from `integrations.money` on
purpose: a rounding error shared by both sides would hide itself from every test.
"""

from decimal import ROUND_HALF_UP, Decimal

# https://www.iso.org/iso-4217-currency-codes.html, read 2026-11-30: minor units that differ from
# two.
_NO_PLACES = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF"
_THREE_PLACES = "BHD IQD JOD KWD LYD OMR TND"
_PLACES = dict.fromkeys(_NO_PLACES.split(), 0) | dict.fromkeys(_THREE_PLACES.split(), 3)
_SYMBOLS = {"USD": "$", "CAD": "$", "AUD": "$", "NZD": "$", "EUR": "€", "GBP": "£", "JPY": "¥"}


def places(currency: str) -> int:
    """Return how many decimal places the currency has."""
    return _PLACES.get(currency, 2)


def rounded(amount: Decimal, currency: str) -> Decimal:
    """Round to the currency's places, half up."""
    return amount.quantize(Decimal(1).scaleb(-places(currency)), rounding=ROUND_HALF_UP)


def wire(amount: Decimal) -> str:
    """Spell an amount as Shopify's Decimal does: no trailing zeros, yet one place (`10.0`)."""
    text = format(amount.normalize(), "f")
    return text if "." in text else f"{text}.0"


def shown(amount: Decimal, currency: str) -> str:
    """Spell an amount as Shopify's messages do (`$25.00`)."""
    digits = format(rounded(amount, currency), ",f")
    symbol = _SYMBOLS.get(currency)
    return f"{symbol}{digits}" if symbol else f"{digits} {currency}"
