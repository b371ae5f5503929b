"""A refund for lines, shipping and duties: never more than the store reckons or has left."""

from dataclasses import replace

import pytest

from actions.policy import Check, Facts, Ruling
from actions.states import HeldReason, RefusedReason, State
from integrations.ports import DutyShare, OrderLine, RefundBasis, RefundDuty, RefundLine, Restock
from tests.actions.policy.cases import FINE, PAID, eur, judged, money, verdict_of

SHIRT, HAT = "gid://shopify/LineItem/1", "gid://shopify/LineItem/2"


def line(identifier: str, quantity: int) -> RefundLine:
    return RefundLine(line=identifier, quantity=quantity, restock=Restock.NO_RESTOCK)


def given(basis: RefundBasis, reckoned: str | None = "45.00") -> Facts:
    order = replace(
        PAID,
        lines=(
            OrderLine(identifier=SHIRT, refundable=2),
            OrderLine(identifier=HAT, refundable=0),
        ),
        reckoned=eur(reckoned) if reckoned else None,
    )
    return replace(FINE, proposal=replace(FINE.proposal, basis=basis), order=order)


WHOLE = RefundBasis(
    lines=(line(SHIRT, 2),),
    shipping=eur("5.00"),
    duties=(RefundDuty(duty="gid://shopify/Duty/1", share=DutyShare.FULL),),
)


def test_what_the_store_reckons_may_be_given_back() -> None:
    assert judged(given(WHOLE)).state is State.AUTHORIZED


def test_less_than_the_store_reckons_may_be_given_back_too() -> None:
    assert judged(given(WHOLE, "150.00")).state is State.AUTHORIZED


@pytest.mark.parametrize(
    ("facts", "reason", "sentence"),
    [
        (
            given(WHOLE, "44.99"),
            RefusedReason.OVER_RECKONED,
            (
                "45.00 EUR asked > 44.99 EUR that the store reckons for these items, "
                "shipping and duties."
            ),
        ),
        (
            given(RefundBasis(lines=(line(SHIRT, 3),))),
            RefusedReason.OVER_LINES,
            f"3 of {SHIRT} asked > 2 that may still be refunded.",
        ),
        (
            given(RefundBasis(lines=(line(SHIRT, 1), line(SHIRT, 2)))),
            RefusedReason.OVER_LINES,
            f"3 of {SHIRT} asked > 2 that may still be refunded.",
        ),
        (
            given(RefundBasis(lines=(line(HAT, 1),))),
            RefusedReason.OVER_LINES,
            f"1 of {HAT} asked > 0 that may still be refunded.",
        ),
        (
            given(RefundBasis(lines=(line("gid://shopify/LineItem/3", 1),))),
            RefusedReason.OVER_LINES,
            "The order has no line gid://shopify/LineItem/3.",
        ),
        (
            given(RefundBasis(lines=(line(SHIRT, 0),))),
            RefusedReason.OVER_LINES,
            f"0 of {SHIRT} asked is not more than nothing.",
        ),
        (
            given(RefundBasis(lines=(line(SHIRT, 3), line(SHIRT, -1)))),
            RefusedReason.OVER_LINES,
            f"-1 of {SHIRT} asked is not more than nothing.",
        ),
        (
            given(RefundBasis(shipping=money("5.00", "USD"))),
            RefusedReason.OTHER_CURRENCY,
            "5.00 USD of shipping, but the customer paid in EUR.",
        ),
    ],
)
def test_what_the_order_does_not_carry_is_refused(
    facts: Facts, reason: RefusedReason, sentence: str
) -> None:
    verdict = verdict_of(Check.GROUNDED, facts)
    assert (verdict.ruling, verdict.reason, verdict.sentence) == (Ruling.REFUSE, reason, sentence)


@pytest.mark.parametrize(
    "basis",
    [
        RefundBasis(lines=(line(SHIRT, 1),)),
        RefundBasis(shipping=eur("5.00")),
        RefundBasis(duties=WHOLE.duties),
    ],
)
def test_nothing_is_given_back_for_a_basis_that_the_store_has_not_reckoned(
    basis: RefundBasis,
) -> None:
    verdict = verdict_of(Check.GROUNDED, given(basis, reckoned=None))
    assert (verdict.ruling, verdict.reason) == (Ruling.HOLD, HeldReason.FACTS_UNAVAILABLE)
    assert verdict.sentence == (
        "The store has not reckoned what these items, shipping and duties come to."
    )


def test_a_refund_by_amount_alone_needs_no_reckoning() -> None:
    assert judged(given(RefundBasis(), reckoned=None)).state is State.AUTHORIZED
    assert judged(given(RefundBasis(), reckoned="1.00")).state is State.AUTHORIZED
