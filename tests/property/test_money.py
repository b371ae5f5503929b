"""Money: what is written comes back, sums are exact, and nothing slips past the reader."""

from decimal import Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from integrations.money import (
    EXPONENTS,
    InvalidMoney,
    Money,
    parse_money,
    platform_money,
    total,
)

CURRENCIES = st.sampled_from(sorted(EXPONENTS))
MINOR = st.integers(1, 10**14)


def of(minor: int, currency: str) -> Money:
    return Money(amount=Decimal(minor).scaleb(-EXPONENTS[currency]), currency=currency)


@given(minor=MINOR, currency=CURRENCIES)
def test_what_is_written_is_read_back(minor: int, currency: str) -> None:
    money = of(minor, currency)
    assert parse_money(money.canonical(), currency) == money
    assert platform_money(money.canonical(), currency) == money


@given(minors=st.lists(MINOR, max_size=20), currency=CURRENCIES)
def test_sums_are_exact_in_any_order(minors: list[int], currency: str) -> None:
    summed = total((of(minor, currency) for minor in minors), currency=currency)
    assert summed == of(sum(minors), currency)
    assert summed == total((of(minor, currency) for minor in minors[::-1]), currency=currency)


@given(one=MINOR, two=MINOR, currency=CURRENCIES)
def test_amounts_compare_as_their_minor_units(one: int, two: int, currency: str) -> None:
    left, right = of(one, currency), of(two, currency)
    assert ((left < right), (left == right), (left >= right)) == (one < two, one == two, one >= two)
    assert (left - right) + right == left


@given(
    amount=st.text(max_size=20)
    | st.text(alphabet="0123456789.,-+eE nNaAiIfF\u0660\uff11", max_size=20)
    | st.decimals().map(str)
    | st.floats().map(str),
    currency=CURRENCIES,
)
def test_whatever_text_comes_it_is_read_exactly_or_refused(amount: str, currency: str) -> None:
    try:
        money = parse_money(amount, currency)
    except InvalidMoney:
        return
    assert amount.isascii()
    assert not set(amount) - set("0123456789.")
    assert Fraction(money.amount) == Fraction(amount)
    assert money.amount > 0
    assert money.canonical().replace(".", "").isdigit()
