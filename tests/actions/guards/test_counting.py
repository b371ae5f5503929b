"""What the limits stand on, met by raw SQL: counters, what an intent was counted with, shop money on echoes."""

from datetime import date

import pytest

from actions.models import Counter, EchoPart
from actions.states import State
from integrations.clock import now
from tests import factories
from tests.refusals import accepted, change, copy, not_permitted, refused_by, value_of

pytestmark = pytest.mark.django_db
COUNTER, INTENT, ECHO, PART = (
    f"actions_{name}" for name in ("counter", "intent", "echo", "echopart")
)
DAY = date(2026, 11, 30)


def counter(**columns: object) -> Counter:
    """Make a counter of one day with 20.00 EUR by two refunds on it."""
    workspace = factories.make_workspace()
    given: dict[str, object] = {"name": "refund.day", "day": DAY, "currency": "EUR"}
    return Counter.objects.create(workspace=workspace, used=20, count=2, **given | columns)


@pytest.mark.parametrize(
    ("columns", "guard"),
    [
        ({"used": "-0.01"}, "counter_not_negative"),
        ({"used": "NaN"}, "counter_not_negative"),
        ({"used": "1000000000000000"}, "counter_not_negative"),
        ({"count": -1}, f"{COUNTER}_count_check"),
    ],
)
def test_a_counter_is_never_below_zero_nor_beyond_a_number(
    columns: dict[str, object], guard: str
) -> None:
    one = counter()
    with refused_by(guard):
        change(COUNTER, one.pk, **columns)
    with accepted():
        change(COUNTER, one.pk, used=0, count=0)


@pytest.mark.parametrize("day", [DAY, None])
def test_what_is_counted_for_a_subject_and_a_day_is_counted_in_one_place(day: date | None) -> None:
    one = counter(day=day)
    with refused_by("counter_once"):
        copy(COUNTER, one.pk)
    with accepted():
        copy(COUNTER, one.pk, day=date(2026, 12, 1))
        copy(COUNTER, one.pk, currency="USD")
        copy(COUNTER, one.pk, subject="another")


def test_a_counter_counts_the_same_for_good() -> None:
    one = counter()
    for columns in ({"day": None}, {"subject": "another"}, {"currency": "USD"}, {"name": "another"}):  # fmt: skip
        with not_permitted():
            change(COUNTER, one.pk, **columns)


@pytest.mark.parametrize(
    ("columns", "may"),
    [
        ({"counted_on": DAY, "counted_at": "now", "shop_amount": "12.5", "shop_currency": "EUR"}, True),
        ({"shop_amount": "12.5", "shop_currency": "EUR"}, True),
        ({"counted_on": DAY, "counted_at": "now"}, False),
        ({"counted_on": DAY, "shop_amount": "12.5", "shop_currency": "EUR"}, False),
        ({"counted_at": "now", "shop_amount": "12.5", "shop_currency": "EUR"}, False),
    ],
)  # fmt: skip
def test_what_is_counted_says_when_and_in_shop_money(columns: dict[str, object], may: bool) -> None:
    intent = factories.intent_in(State.AUTHORIZED)
    with accepted() if may else refused_by("intent_counted_in_shop_money"):
        change(INTENT, intent.pk, **columns)


def test_what_was_counted_is_given_back_and_counted_again() -> None:
    intent = factories.intent_in(State.AUTHORIZED)
    with accepted():
        change(INTENT, intent.pk, counted_on=DAY, counted_at=now(), shop_amount=1, shop_currency="EUR")  # fmt: skip
    with refused_by("intent_counted_in_shop_money"):
        change(INTENT, intent.pk, shop_amount=None, shop_currency="")
    with accepted():
        change(INTENT, intent.pk, counted_on=None, counted_at=None)
        change(INTENT, intent.pk, counted_on=date(2026, 12, 1), counted_at=now())
    assert value_of(INTENT, intent.pk, "counted_on") == date(2026, 12, 1)


@pytest.mark.parametrize(
    ("columns", "may"),
    [
        ({"shop_amount": None, "shop_currency": ""}, True),
        ({"shop_amount": "0", "shop_currency": "USD"}, True),
        ({"shop_amount": "13.75", "shop_currency": "USD"}, True),
        ({"shop_amount": "13.75", "shop_currency": ""}, False),
        ({"shop_amount": None, "shop_currency": "USD"}, False),
        ({"shop_amount": "-0.01", "shop_currency": "USD"}, False),
        ({"shop_amount": "NaN", "shop_currency": "USD"}, False),
        ({"shop_amount": "1000000000000000", "shop_currency": "USD"}, False),
    ],
)
def test_a_part_says_its_money_in_the_shop_s_currency_whole_or_not_at_all(
    columns: dict[str, object], may: bool
) -> None:
    part = EchoPart.objects.get(echo__external_object__intent=factories.confirmed_intent())
    with accepted() if may else refused_by("echopart_shop_amount"):
        copy(PART, part.pk, echo_id=copy(ECHO, part.echo_id), **columns)


def test_what_a_part_said_in_the_shop_s_currency_stays() -> None:
    part = EchoPart.objects.get(echo__external_object__intent=factories.confirmed_intent())
    with not_permitted():
        change(PART, part.pk, shop_amount=1, shop_currency="EUR")


@pytest.mark.parametrize(
    ("columns", "guard"),
    [
        ({"amount": None}, "intent_money"),
        ({"currency": ""}, "intent_money"),
        ({"shop_currency": "EUR"}, "intent_shop_money"),
        ({"shop_amount": 1}, "intent_shop_money"),
    ],
)
def test_money_is_an_amount_and_a_currency_or_neither(
    columns: dict[str, object], guard: str
) -> None:
    intent = factories.make_intent()
    with refused_by(guard):
        copy(INTENT, intent.pk, **columns)
