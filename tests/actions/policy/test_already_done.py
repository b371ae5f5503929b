"""Is it new? An equal effect, ours or anyone's, is held."""

from dataclasses import replace

import pytest

from actions.policy import Check, Facts, Ruling
from actions.states import HeldReason, State
from tests.actions.policy.cases import (
    FINE,
    MARKER,
    PAID,
    REFUND,
    eur,
    judged,
    on,
    other,
    part,
    payment,
    proposing,
    refunded,
    verdict_of,
)

TO_CREDIT = proposing(kind="store_credit", to_store_credit=True)


def held_for(facts: Facts) -> list[tuple[object, tuple[str, ...]]]:
    verdict = verdict_of(Check.NOT_ALREADY_DONE, facts)
    return [(finding.reason, finding.evidence) for finding in verdict.findings if finding.reason]


@pytest.mark.parametrize(
    ("state", "ruling"),
    [
        (State.PROPOSED, Ruling.ALLOW),
        (State.HELD, Ruling.ALLOW),
        (State.AWAITING_APPROVAL, Ruling.ALLOW),
        (State.AUTHORIZED, Ruling.HOLD),
        (State.EXECUTING, Ruling.HOLD),
        (State.UNKNOWN, Ruling.HOLD),
        (State.PENDING, Ruling.HOLD),
        (State.PARTIALLY_CONFIRMED, Ruling.HOLD),
        (State.CONFIRMED, Ruling.HOLD),
        (State.ACCEPTED, Ruling.HOLD),
        (State.FAILED, Ruling.ALLOW),
        (State.REFUSED, Ruling.ALLOW),
        (State.WITHDRAWN, Ruling.ALLOW),
        (State.REVERSED, Ruling.ALLOW),
    ],
)
def test_an_equal_intent_past_the_gate_holds(state: State, ruling: Ruling) -> None:
    facts = replace(FINE, others=(other("45.00", state),))
    verdict = verdict_of(Check.NOT_ALREADY_DONE, facts)
    assert verdict.ruling is ruling
    assert verdict.reason in {None, HeldReason.EQUAL_EFFECT}


def test_an_equal_intent_is_named_with_its_state() -> None:
    verdict = verdict_of(Check.NOT_ALREADY_DONE, replace(FINE, others=(other("45.00"),)))
    assert verdict.sentence == (
        "int_2 is a refund of 45.00 EUR on this order too, and it is executing."
    )
    assert verdict.strongest.evidence == ("int_2",)


def test_a_store_credit_of_the_same_amount_is_equal_to_a_refund_and_the_other_way_round() -> None:
    credit = replace(other("45.00"), kind="store_credit", parts=(part(eur("45.00"), None),))
    assert held_for(replace(FINE, others=(credit,))) == [(HeldReason.EQUAL_EFFECT, ("int_2",))]
    assert held_for(replace(TO_CREDIT, others=(other("45.00"),))) == [
        (HeldReason.EQUAL_EFFECT, ("int_2",))
    ]


def test_an_equal_refund_on_the_store_by_anyone_holds() -> None:
    verdict = verdict_of(Check.NOT_ALREADY_DONE, on(refunds=(refunded("45.00"),)))
    assert verdict.reason is HeldReason.EQUAL_EFFECT
    assert verdict.sentence == (
        "The store already has a refund of 45.00 EUR on this order: gid://shopify/Refund/5."
    )
    assert verdict.strongest.evidence == (REFUND,)


@pytest.mark.parametrize(
    ("intent", "refund"),
    [
        (other("45.00", State.CONFIRMED), refunded("45.00", marker=MARKER)),
        (replace(other("45.00", State.CONFIRMED), effect=REFUND), refunded("45.00")),
    ],
)
def test_an_intent_and_its_own_refund_on_the_store_are_one_finding(
    intent: object, refund: object
) -> None:
    facts = replace(on(refunds=(refund,)), others=(intent,))  # type: ignore[arg-type]  # as given
    assert held_for(facts) == [(HeldReason.EQUAL_EFFECT, ("int_2",))]


def test_an_equal_refund_that_belongs_to_an_intent_of_another_amount_is_shown_by_the_intent() -> (
    None
):
    facts = replace(
        on(refunds=(refunded("45.00", marker=MARKER),)),
        others=(other("46.00", State.PENDING),),
    )
    verdict = verdict_of(Check.NOT_ALREADY_DONE, facts)
    assert held_for(facts) == [(HeldReason.EQUAL_EFFECT, ("int_2",))]
    assert verdict.sentence == (
        "The store already has a refund of 45.00 EUR on this order: gid://shopify/Refund/5, "
        "by int_2, which is pending."
    )


def test_a_refund_with_two_markers_belongs_to_nobody_and_holds_by_itself() -> None:
    both = replace(refunded("45.00"), markers=(MARKER, MARKER[:-1] + "0"))
    facts = replace(on(refunds=(both,)), others=(other("9.00"),))
    assert held_for(facts) == [(HeldReason.EQUAL_EFFECT, (REFUND,))]


def test_every_equal_effect_is_found_by_itself() -> None:
    strangers = replace(refunded("45.00"), identifier="gid://shopify/Refund/6")
    facts = replace(
        on(
            received=eur("500.00"),
            suggested=(payment(eur("410.00")),),
            refunds=(refunded("45.00", marker=MARKER), strangers),
        ),
        others=(other("45.00", State.CONFIRMED), replace(other("45.00"), identifier="int_3")),
    )
    assert held_for(facts) == [
        (HeldReason.EQUAL_EFFECT, ("int_2",)),
        (HeldReason.EQUAL_EFFECT, ("int_3",)),
        (HeldReason.EQUAL_EFFECT, ("gid://shopify/Refund/6",)),
    ]


def test_what_a_person_knowingly_repeats_is_not_held_nor_is_its_refund() -> None:
    done = other("45.00", State.CONFIRMED)
    facts = replace(
        FINE,
        proposal=replace(FINE.proposal, repeats=("int_2",)),
        others=(done,),
        order=replace(
            PAID,
            refunds=(refunded("45.00", marker=MARKER),),
            suggested=(payment(eur("105.00")),),
        ),
    )
    assert judged(facts).state is State.AUTHORIZED
    assert verdict_of(Check.NOT_ALREADY_DONE, facts).sentence == (
        "A knowing repeat of int_2, and no other equal effect, and room beside what is under way."
    )


def test_what_stands_of_a_reversed_refund_that_is_repeated_does_not_hold() -> None:
    facts = replace(
        on(refunds=(refunded("45.00", marker=MARKER),)),
        proposal=replace(FINE.proposal, repeats=("int_2",)),
        others=(other("90.00", State.REVERSED),),
    )
    assert judged(facts).state is State.AUTHORIZED
    without = replace(facts, proposal=FINE.proposal)
    assert held_for(without) == [(HeldReason.EQUAL_EFFECT, ("int_2",))]


def test_a_knowing_repeat_is_held_for_every_other_equal_effect() -> None:
    facts = replace(
        on(refunds=(refunded("45.00"),), received=eur("500.00")),
        proposal=replace(FINE.proposal, repeats=("int_2",)),
        others=(other("45.00"), replace(other("45.00"), identifier="int_3")),
    )
    assert held_for(facts) == [
        (HeldReason.EQUAL_EFFECT, ("int_3",)),
        (HeldReason.EQUAL_EFFECT, (REFUND,)),
    ]


def test_a_failed_refund_object_holds_since_it_may_be_retried_by_hand() -> None:
    verdict = verdict_of(Check.NOT_ALREADY_DONE, on(refunds=(refunded("0", failed=True),)))
    assert verdict.reason is HeldReason.FAILED_REFUND_OBJECT
    assert verdict.sentence == (
        "gid://shopify/Refund/5 failed in whole or part and may be retried on the store."
    )
    assert verdict.strongest.evidence == (REFUND,)
