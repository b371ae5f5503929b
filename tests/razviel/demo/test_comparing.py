"""The comparison sees a double, a false word, a loss and every difference."""

from dataclasses import replace
from decimal import Decimal

import pytest

from integrations.money import Money
from razviel.demo.comparing import Comparison, OurIntent, TheirEffect, Verdict, compare

CONFIRMED = OurIntent(
    identifier="int_a",
    state="confirmed",
    target="gid://shopify/Order/1",
    marker="rzv:aaaa",
    amount=Decimal("12.50"),
    currency="EUR",
    reference="gid://shopify/Refund/1",
)
REFUND = TheirEffect(
    identifier="gid://shopify/Refund/1",
    target="gid://shopify/Order/1",
    marker="rzv:aaaa",
    amount=Decimal("12.5000"),
    currency="EUR",
    statuses=("SUCCESS",),
    moved=Decimal("12.5000"),
)
ACCEPTED = replace(
    CONFIRMED,
    identifier="int_d",
    state="accepted",
    marker="rzv:dddd",
    reference="gid://shopify/Refund/4",
    accepted=Money(amount=Decimal("8.00"), currency="EUR"),
)
IN_PART = replace(
    REFUND,
    identifier="gid://shopify/Refund/4",
    marker="rzv:dddd",
    statuses=("SUCCESS", "FAILURE"),
    moved=Decimal("8.0000"),
)
FAILED = replace(CONFIRMED, identifier="int_b", state="failed", marker="rzv:bbbb", reference=None)
OTHER = replace(REFUND, identifier="gid://shopify/Refund/2")


def _verdicts(comparison: Comparison) -> list[Verdict]:
    return [line.verdict for line in comparison.lines]


def test_equal_records_hold_and_say_so_in_one_line() -> None:
    comparison = compare([CONFIRMED, FAILED], [REFUND])
    assert comparison.holds
    assert comparison.sentence == ("2 intents, 1 confirmed = 1 effects, 0 doubled, 0 false, 0 lost")
    assert _verdicts(comparison) == [Verdict.EQUAL, Verdict.NOTHING]


def test_two_empty_records_hold() -> None:
    assert compare([], []).holds


def test_a_planted_double_is_seen() -> None:
    comparison = compare([CONFIRMED], [REFUND, OTHER])
    assert not comparison.holds
    assert comparison.sentence == (
        "1 intents, 1 confirmed != 2 effects, 1 doubled, 0 false, 0 lost"
    )
    assert _verdicts(comparison) == [Verdict.EQUAL, Verdict.DOUBLED]


def test_a_planted_false_word_is_seen() -> None:
    comparison = compare([CONFIRMED], [])
    assert not comparison.holds
    assert comparison.sentence == (
        "1 intents, 1 confirmed != 0 effects, 0 doubled, 1 false, 0 lost"
    )


def test_a_planted_loss_is_seen() -> None:
    stranger = replace(OTHER, marker="rzv:of nobody")
    comparison = compare([CONFIRMED], [REFUND, stranger])
    assert not comparison.holds
    assert comparison.sentence == (
        "1 intents, 1 confirmed != 2 effects, 0 doubled, 0 false, 1 lost"
    )
    assert comparison.lines[-1].ours is None


def test_a_loss_that_makes_up_for_a_false_word_in_number_is_still_seen() -> None:
    stranger = replace(OTHER, marker=None)
    comparison = compare([CONFIRMED], [stranger])
    assert (comparison.confirmed, comparison.effects) == (1, 1)
    assert (comparison.false, comparison.lost) == (1, 1)
    assert not comparison.holds


@pytest.mark.parametrize(
    ("differing", "why"),
    [
        ({"amount": Decimal("12.49")}, "amount: 12.50 here, 12.49 there"),
        ({"currency": "USD"}, "currency: EUR here, USD there"),
        (
            {"target": "gid://shopify/Order/2"},
            "target: gid://shopify/Order/1 here, gid://shopify/Order/2 there",
        ),
        ({"marker": None}, "marker: rzv:aaaa here, None there"),
        ({"statuses": ("SUCCESS", "PENDING")}, "confirmed, and its parts are SUCCESS, PENDING"),
        ({"statuses": ("FAILURE",)}, "confirmed, and its parts are FAILURE"),
        ({"statuses": ()}, "confirmed, and its parts are none"),
        ({"to_store_credit": True}, "to store credit: False here, True there"),
    ],
)
def test_a_confirmed_intent_whose_effect_differs_is_false(
    differing: dict[str, object], why: str
) -> None:
    comparison = compare([CONFIRMED], [replace(REFUND, **differing)])  # type: ignore[arg-type]  # one field of its own type
    assert comparison.false == 1
    assert not comparison.holds
    assert comparison.lines[0].why == why


def test_a_confirmed_intent_that_names_another_effect_than_its_own_is_false() -> None:
    wrong = replace(CONFIRMED, reference="gid://shopify/Refund/9")
    comparison = compare([wrong], [REFUND])
    assert comparison.lines[0].why.startswith("reference: gid://shopify/Refund/9 here")
    assert not comparison.holds


@pytest.mark.parametrize("state", ["failed", "refused", "withdrawn"])
def test_what_we_call_not_done_and_the_store_holds_is_false(state: str) -> None:
    comparison = compare([replace(FAILED, state=state)], [replace(REFUND, marker="rzv:bbbb")])
    assert comparison.false == 1
    assert not comparison.holds


def test_one_effect_that_two_intents_claim_proves_only_the_one_whose_marker_it_carries() -> None:
    second = replace(CONFIRMED, identifier="int_c", marker="rzv:cccc")
    comparison = compare([CONFIRMED, second], [REFUND])
    assert _verdicts(comparison) == [Verdict.EQUAL, Verdict.FALSE]
    assert not comparison.holds


@pytest.mark.parametrize("state", ["unknown", "pending", "executing", "partially_confirmed"])
def test_what_is_open_is_rounded_neither_way_and_the_sums_then_differ(state: str) -> None:
    comparison = compare(
        [replace(CONFIRMED, state=state)], [replace(REFUND, statuses=("PENDING",))]
    )
    assert _verdicts(comparison) == [Verdict.OPEN]
    assert (comparison.doubled, comparison.false, comparison.lost) == (0, 0, 0)
    assert not comparison.holds


def test_a_refund_whose_money_failed_is_no_effect() -> None:
    failed = replace(REFUND, marker="rzv:bbbb", statuses=("FAILURE",))
    comparison = compare([FAILED], [failed])
    assert (comparison.effects, comparison.holds) == (0, True)


def test_what_a_person_accepted_in_part_holds_and_is_counted_apart() -> None:
    comparison = compare([CONFIRMED, ACCEPTED], [REFUND, IN_PART])
    assert comparison.holds
    assert comparison.sentence == (
        "2 intents, 1 confirmed + 1 accepted = 2 effects, 0 doubled, 0 false, 0 lost"
    )
    assert _verdicts(comparison) == [Verdict.EQUAL, Verdict.ACCEPTED]


@pytest.mark.parametrize(
    ("differing", "why"),
    [
        ({"moved": Decimal("7.99")}, "amount: 8.00 here, 7.99 there"),
        ({"currency": "USD"}, "currency: EUR here, USD there"),
        ({"statuses": ("SUCCESS", "PENDING")}, "accepted, and its parts are SUCCESS, PENDING"),
        ({"marker": None}, "marker: rzv:dddd here, None there"),
    ],
)
def test_an_accepted_intent_whose_effect_is_not_what_was_accepted_is_false(
    differing: dict[str, object], why: str
) -> None:
    comparison = compare([ACCEPTED], [replace(IN_PART, **differing)])  # type: ignore[arg-type]  # one field of its own type
    assert comparison.false == 1
    assert not comparison.holds
    assert comparison.lines[0].why == why


def test_an_accepted_intent_of_which_nobody_said_what_was_accepted_is_false() -> None:
    comparison = compare([replace(ACCEPTED, accepted=None)], [IN_PART])
    assert (
        comparison.lines[0].why == "amount: None here, 8.0000 there; currency: None here, EUR there"
    )
    assert not comparison.holds


def test_an_accepted_intent_of_which_the_store_holds_nothing_is_false() -> None:
    comparison = compare([ACCEPTED], [])
    assert comparison.lines[0].why == "accepted, and the store holds nothing of it"
    assert comparison.sentence == (
        "1 intents, 0 confirmed + 1 accepted != 0 effects, 0 doubled, 1 false, 0 lost"
    )


def test_a_second_effect_beside_an_accepted_one_is_doubled() -> None:
    comparison = compare([ACCEPTED], [IN_PART, replace(OTHER, marker="rzv:dddd")])
    assert _verdicts(comparison) == [Verdict.ACCEPTED, Verdict.DOUBLED]
    assert not comparison.holds
