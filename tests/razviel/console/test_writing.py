"""How the Console writes ages, links and what a bare number may mean."""

from datetime import timedelta

import pytest

from integrations.display import age
from integrations.store_links import identifiers_meant


@pytest.mark.parametrize(
    ("length", "said"),
    [
        (timedelta(0), "0 s"),
        (timedelta(seconds=-5), "0 s"),
        (timedelta(seconds=59), "59 s"),
        (timedelta(seconds=60), "1 min"),
        (timedelta(minutes=61, seconds=9), "1 h 1 min"),
        (timedelta(days=2, minutes=5), "2 d"),
        (timedelta(days=2, hours=3, seconds=1), "2 d 3 h"),
    ],
)
def test_an_age_is_told_in_its_two_largest_units(length: timedelta, said: str) -> None:
    assert age(length) == said


def test_a_bare_number_means_an_order_or_a_refund() -> None:
    assert identifiers_meant("7001") == (
        "7001",
        "gid://shopify/Order/7001",
        "gid://shopify/Refund/7001",
    )


@pytest.mark.parametrize("typed", ["case-7", "gid://shopify/Order/1", "0123", "1" * 21, "-1", ""])
def test_anything_else_means_itself(typed: str) -> None:
    assert identifiers_meant(typed) == (typed,)
