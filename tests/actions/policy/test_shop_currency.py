"""Limits are in the shop's currency, whatever the customer paid in."""

from dataclasses import replace

import pytest

from actions.policy import Check, Facts, Ruling
from actions.states import ApprovalReason, HeldReason, RefusedReason
from integrations.ports import Unreadable
from tests.actions.policy.cases import (
    FINE,
    PAID,
    PAID_IN_DOLLARS,
    POLICY,
    asked,
    eur,
    euro_limits,
    money,
    nothing_used,
    used,
    verdict_of,
)

NOTHING = nothing_used()
IN_DOLLARS = replace(FINE, proposal=asked("48.60", "USD"), order=PAID_IN_DOLLARS)


def test_limits_are_held_in_the_shop_s_currency_with_the_customer_s_beside_it() -> None:
    assert verdict_of(Check.WITHIN_LIMITS, IN_DOLLARS).sentence == (
        "45.00 EUR (48.60 USD) asked ≤ 100.00 EUR that need no second person, "
        "with room in every limit that adds up."
    )
    facts = replace(IN_DOLLARS, usage=replace(NOTHING, day=used("120.00", 2)))
    assert verdict_of(Check.WITHIN_LIMITS, facts, euro_limits(per_day="150.00")).sentence == (
        "120.00 EUR today + 45.00 EUR (48.60 USD) asked > 150.00 EUR a day."
    )


@pytest.mark.parametrize(
    ("dollars", "reason", "sentence"),
    [
        (
            "108.01",
            ApprovalReason.OVER_THRESHOLD,
            "100.01 EUR (108.01 USD) asked > 100.00 EUR that need no second person.",
        ),
        ("108.00", None, None),
    ],
)
def test_a_part_of_a_cent_counts_as_a_whole_one_against_the_limits(
    dollars: str, reason: ApprovalReason | None, sentence: str | None
) -> None:
    verdict = verdict_of(Check.WITHIN_LIMITS, replace(IN_DOLLARS, proposal=asked(dollars, "USD")))
    assert verdict.reason is reason
    assert sentence in {None, verdict.sentence}


def test_before_the_order_is_read_another_currency_is_not_reckoned_at_all() -> None:
    for order in (None, Unreadable(reason="timed out")):
        verdict = verdict_of(Check.WITHIN_LIMITS, replace(IN_DOLLARS, order=order))
        assert (verdict.ruling, verdict.reason) == (Ruling.NOT_READ, None)
        assert verdict.sentence == (
            "48.60 USD asked; what that is in EUR shows once the store is read."
        )


def test_counts_need_no_reckoning_and_stop_an_unread_proposal_too() -> None:
    facts = replace(IN_DOLLARS, order=None, usage=replace(NOTHING, order=used("0", 20), recent=200))
    verdict = verdict_of(Check.WITHIN_LIMITS, facts)
    assert [finding.reason for finding in verdict.findings] == [
        RefusedReason.OVER_ORDER_LIMIT,
        HeldReason.VELOCITY,
        None,
    ]


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        (
            replace(IN_DOLLARS, order=replace(PAID_IN_DOLLARS, received_shop=eur("0"))),
            "48.60 USD asked, and the order doesn't show what that is in EUR.",
        ),
        (
            replace(FINE, shop_currency="USD"),
            "Limits are in USD, and the store or the counters speak of another currency.",
        ),
        (
            replace(FINE, usage=replace(NOTHING, customer=used("0", 0, "USD"))),
            "Limits are in EUR, and the store or the counters speak of another currency.",
        ),
        (
            replace(
                IN_DOLLARS,
                order=replace(
                    PAID_IN_DOLLARS, shop_currency="GBP", received_shop=money("130.00", "GBP")
                ),
            ),
            "Limits are in EUR, and the store or the counters speak of another currency.",
        ),
    ],
)
def test_what_can_not_be_reckoned_is_held_and_never_taken_for_inside(
    facts: Facts, sentence: str
) -> None:
    verdict = verdict_of(Check.WITHIN_LIMITS, facts)
    assert (verdict.ruling, verdict.reason) == (Ruling.HOLD, HeldReason.FACTS_UNAVAILABLE)
    assert verdict.sentence == sentence


def test_yen_have_no_places_and_dinars_three() -> None:
    yen = replace(
        FINE,
        proposal=asked("15001", "JPY"),
        order=replace(
            PAID,
            presentment_currency="JPY",
            shop_currency="JPY",
            received=money("20000", "JPY"),
            received_shop=money("20000", "JPY"),
            suggested=(),
        ),
        usage=nothing_used("JPY"),
        shop_currency="JPY",
    )
    assert verdict_of(Check.WITHIN_LIMITS, yen).sentence == (
        "15001 JPY asked > 15000 JPY that need no second person."
    )
    dinars = replace(
        FINE,
        proposal=asked("1.001", "KWD"),
        order=replace(
            PAID,
            presentment_currency="KWD",
            received=money("50.000", "KWD"),
            received_shop=eur("150.00"),
            suggested=(),
        ),
    )
    assert verdict_of(Check.WITHIN_LIMITS, dinars, POLICY).sentence == (
        "3.01 EUR (1.001 KWD) asked ≤ 100.00 EUR that need no second person, "
        "with room in every limit that adds up."
    )
