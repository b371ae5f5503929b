"""Money: what is exact is kept, what is not is refused with a sentence."""

from decimal import Decimal

import pytest

from integrations.money import (
    EXPONENTS,
    CurrencyMismatch,
    InvalidMoney,
    Money,
    exponent,
    parse_money,
    platform_money,
    total,
)


def eur(amount: str) -> Money:
    return Money(amount=Decimal(amount), currency="EUR")


@pytest.mark.parametrize(("currency", "places"), [("EUR", 2), ("JPY", 0), ("KWD", 3), ("UYW", 4)])
def test_each_currency_has_the_places_of_iso_4217(currency: str, places: int) -> None:
    assert exponent(currency) == places


def test_the_table_holds_the_165_active_currencies_that_have_a_minor_unit() -> None:
    assert len(EXPONENTS) == 165


@pytest.mark.parametrize("currency", ["eur", "XXX", "HRK", "", "EURO", "€", "EUR "])
def test_an_unknown_currency_is_refused(currency: str) -> None:
    with pytest.raises(InvalidMoney, match="not an active ISO 4217 currency"):
        parse_money("1.00", currency)


@pytest.mark.parametrize(
    ("amount", "currency", "written"),
    [
        ("12.5", "EUR", "12.50 EUR"),
        ("12.50", "EUR", "12.50 EUR"),
        ("12", "EUR", "12.00 EUR"),
        ("0.01", "EUR", "0.01 EUR"),
        ("1000", "JPY", "1000 JPY"),
        ("1.234", "KWD", "1.234 KWD"),
        ("999999999999999.99", "EUR", "999999999999999.99 EUR"),
    ],
)
def test_a_plain_amount_is_read_at_its_currency_s_precision(
    amount: str, currency: str, written: str
) -> None:
    assert str(parse_money(amount, currency)) == written


@pytest.mark.parametrize(
    ("amount", "currency", "sentence"),
    [
        ("NaN", "EUR", "'NaN' is not a number; write digits, as 12.50."),
        ("sNaN", "EUR", "'sNaN' is not a number; write digits, as 12.50."),
        ("Infinity", "EUR", "'Infinity' is not a number; write digits, as 12.50."),
        ("-inf", "EUR", "'-inf' has a sign; write the amount without one, as 12.50."),
        ("1e2", "EUR", "'1e2' is in exponent form; write all its digits, as 12.50."),
        ("1E+2", "JPY", "'1E+2' is in exponent form; write all its digits, as 12."),
        ("+5", "EUR", "'+5' has a sign; write the amount without one, as 12.50."),
        ("-5", "KWD", "'-5' has a sign; write the amount without one, as 12.500."),
        ("0", "EUR", "0 EUR is nothing; ask for more than zero."),
        ("0.00", "EUR", "0.00 EUR is nothing; ask for more than zero."),
        (" 5", "EUR", "' 5' holds a space; write digits and at most one point, as 12.50."),
        ("5\n", "EUR", "'5\\n' holds a space; write digits and at most one point, as 12.50."),
        (
            "1,000.00",
            "EUR",
            (
                "'1,000.00' has separators; "
                "write one point before the decimals and no other, as 12.50."
            ),
        ),
        (
            "1.000.00",
            "EUR",
            (
                "'1.000.00' has separators; "
                "write one point before the decimals and no other, as 12.50."
            ),
        ),
        ("٣", "EUR", "'٣' holds characters other than 0 to 9 and a point, as 12.50."),
        (
            "12\u202e",
            "EUR",
            "'12\\u202e' holds characters other than 0 to 9 and a point, as 12.50.",
        ),
        (
            "1_000",
            "EUR",
            "'1_000' is not a plain amount; write digits and at most one point, as 12.50.",
        ),
        ("", "EUR", "'' is not a plain amount; write digits and at most one point, as 12.50."),
        (".5", "EUR", "'.5' is not a plain amount; write digits and at most one point, as 12.50."),
        ("5.", "EUR", "'5.' is not a plain amount; write digits and at most one point, as 12.50."),
        ("05", "EUR", "'05' begins with a spare zero; leave it out, as 12.50."),
        ("5.123", "EUR", "'5.123' has more decimals than the 2 of EUR; write it as 12.50."),
        ("5.0", "JPY", "'5.0' has more decimals than the 0 of JPY; write it as 12."),
        (
            "1000000000000000",
            "EUR",
            "'1000000000000000' has more than 15 digits before the point; ask for less.",
        ),
    ],
)
def test_what_is_not_a_plain_amount_is_refused_with_what_would_be_right(
    amount: str, currency: str, sentence: str
) -> None:
    with pytest.raises(InvalidMoney) as refused:
        parse_money(amount, currency)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("amount", "currency", "written"),
    [("1000.0", "JPY", "1000 JPY"), ("12.5", "EUR", "12.50 EUR"), ("0.0", "EUR", "0.00 EUR")],
)
def test_a_platform_s_spelling_is_read_exactly(amount: str, currency: str, written: str) -> None:
    assert str(platform_money(amount, currency)) == written


@pytest.mark.parametrize(
    ("amount", "currency"),
    [
        ("12.345", "EUR"),
        ("0.5", "JPY"),
        ("NaN", "EUR"),
        ("1e3", "EUR"),
        ("-1.00", "EUR"),
        ("", "EUR"),
    ],
)
def test_a_platform_s_amount_is_never_rounded_or_guessed(amount: str, currency: str) -> None:
    with pytest.raises(InvalidMoney):
        platform_money(amount, currency)


def test_amounts_of_one_currency_add_subtract_and_compare() -> None:
    assert eur("1.10") + eur("2.20") == eur("3.30")
    assert eur("1.00") - eur("2.50") == eur("-1.50")
    assert eur("1") < eur("1.01") <= eur("1.01")
    assert total([eur("1"), eur("2"), eur("3")], currency="EUR") == eur("6")
    assert total([], currency="EUR") == Money.zero("EUR")


def test_spelling_does_not_make_two_amounts_of_one() -> None:
    assert len({eur("12.5"), eur("12.50"), eur("1250E-2")}) == 1
    assert str(eur("-0.00")) == "0.00 EUR"


def test_two_currencies_never_meet() -> None:
    usd = Money(amount=Decimal(1), currency="USD")
    assert usd != eur("1")
    for meet in (eur("1").__add__, eur("1").__sub__, eur("1").__lt__, eur("1").__ge__):
        with pytest.raises(CurrencyMismatch, match=r"1\.00 EUR and 1\.00 USD"):
            meet(usd)
    with pytest.raises(CurrencyMismatch):
        total([usd], currency="EUR")


@pytest.mark.parametrize("amount", ["NaN", "Infinity", "0.001", "1E+39"])
def test_no_money_exists_that_is_not_exact(amount: str) -> None:
    with pytest.raises(InvalidMoney):
        Money(amount=Decimal(amount), currency="EUR")
