"""Is there room beside what is under way?"""

from dataclasses import replace

from actions.policy import Check, kept_back_parts, reserving
from actions.states import HeldReason, RefusedReason, State
from tests.actions.policy.cases import (
    FINE,
    MARKER,
    PAID,
    REFUND,
    asked,
    eur,
    judged,
    money,
    on,
    other,
    part,
    payment,
    proposing,
    refunded,
    verdict_of,
)

TO_CREDIT = proposing(kind="store_credit", to_store_credit=True)


def test_a_different_open_refund_must_leave_room() -> None:
    assert judged(replace(FINE, others=(other("105.00"),))).state is State.AUTHORIZED
    decision = judged(replace(FINE, others=(other("105.01"),)))
    assert (decision.state, decision.reason) == (State.HELD, HeldReason.RESERVATION)
    assert decision.sentence == (
        "0.00 EUR refunded + 105.01 EUR reserved by other intents + 45.00 EUR asked"
        " > 150.00 EUR received."
    )


def test_what_is_refunded_and_what_is_reserved_are_added_up() -> None:
    facts = replace(on(refunds=(refunded("50.00"),)), others=(other("55.00"),))
    assert judged(facts).state is State.AUTHORIZED
    assert judged(replace(facts, others=(other("55.01"),))).sentence == (
        "50.00 EUR refunded + 55.01 EUR reserved by other intents + 45.00 EUR asked"
        " > 150.00 EUR received."
    )


def test_room_is_also_measured_by_what_the_store_suggests() -> None:
    facts = replace(on(suggested=(payment(eur("60.00")),)), others=(other("20.00"),))
    assert judged(facts).sentence == (
        "20.00 EUR reserved by other intents + 45.00 EUR asked"
        " > 60.00 EUR that the store can still give back."
    )


def test_a_store_credit_is_measured_by_the_remainder_and_not_by_the_payments() -> None:
    short = replace(PAID, suggested=(payment(eur("10.00")),))
    facts = replace(TO_CREDIT, order=short, others=(other("105.00"),))
    assert judged(facts).state is State.AUTHORIZED
    decision = judged(replace(facts, others=(other("105.01"),)))
    assert decision.reason is HeldReason.RESERVATION
    assert decision.sentence == (
        "0.00 EUR refunded + 105.01 EUR reserved by other intents + 45.00 EUR asked"
        " > 150.00 EUR received."
    )


def test_money_that_is_under_way_on_the_store_is_kept_back_from_its_own_payment() -> None:
    first, second = payment(eur("100.00"), "first"), payment(eur("30.00"), "second")
    seen = replace(refunded("20.00"), open_parts=(part(eur("20.00"), "second"),))
    order = replace(PAID, suggested=(first, second), refunds=(seen,))
    assert judged(replace(FINE, proposal=asked("110.00"), order=order)).state is (
        State.AWAITING_APPROVAL
    )
    decision = judged(replace(FINE, proposal=asked("110.01"), order=order))
    assert decision.reason is HeldReason.RESERVATION
    assert decision.sentence == (
        "110.01 EUR asked > 110.00 EUR that the payments can give back beside what is under way"
        " on them, of 130.00 EUR."
    )


def test_what_is_under_way_on_one_payment_takes_nothing_from_another() -> None:
    first, second = payment(eur("100.00"), "first"), payment(eur("5.00"), "second")
    seen = replace(refunded("40.00"), open_parts=(part(eur("40.00"), "second"),))
    order = replace(PAID, suggested=(first, second), refunds=(seen,))
    assert judged(replace(FINE, proposal=asked("99.99"), order=order)).state is State.AUTHORIZED


def test_another_currency_beside_a_reservation_is_refused_and_never_added_up() -> None:
    facts = replace(FINE, proposal=asked("45.00", "USD"), others=(other("105.01"),))
    assert judged(facts).reason is RefusedReason.OTHER_CURRENCY


def test_a_reservation_in_another_currency_is_held_and_never_added_up() -> None:
    strange = replace(other("1.00"), money=money("1.00", "USD"), parts=())
    decision = judged(replace(FINE, others=(strange,)))
    assert decision.reason is HeldReason.RESERVATION
    assert decision.sentence == ("int_2 keeps back 1.00 USD, which can't be set against 45.00 EUR.")


def test_a_reservation_that_the_read_already_shows_is_not_subtracted_again() -> None:
    order = replace(PAID, refunds=(refunded("105.00", marker=MARKER),))
    facts = replace(FINE, order=order, others=(other("105.00"),))
    assert reserving(others=facts.others, order=order) == ()
    assert judged(facts).state is State.AUTHORIZED


def test_what_is_confirmed_is_kept_back_while_a_lagging_read_does_not_show_it() -> None:
    done = replace(other("110.00", State.CONFIRMED), effect=REFUND)
    facts = replace(FINE, others=(done,))
    assert judged(facts).reason is HeldReason.RESERVATION
    shown = replace(PAID, refunds=(refunded("110.00"),), suggested=(payment(eur("40.00")),))
    assert reserving(others=facts.others, order=shown) == ()
    assert judged(replace(facts, order=shown)).reason is RefusedReason.OVER_REMAINDER


def test_a_refund_with_two_markers_frees_no_reservation() -> None:
    both = replace(refunded("1.00"), markers=(MARKER, MARKER[:-1] + "0"))
    order = replace(PAID, refunds=(both,))
    assert reserving(others=(other("9.00"),), order=order) == (other("9.00"),)


def test_what_was_set_aside_no_longer_reserves_but_an_equal_one_still_holds() -> None:
    aside = replace(other("149.00", State.UNKNOWN), set_aside=True)
    assert judged(replace(FINE, others=(aside,))).state is State.AUTHORIZED
    equal = replace(aside, money=eur("45.00"))
    assert judged(replace(FINE, others=(equal,))).reason is HeldReason.EQUAL_EFFECT


def test_an_allocation_leaves_alone_what_is_reserved_and_what_is_under_way() -> None:
    shown = replace(other("7.00"), identifier="int_3", marker=MARKER[:-1] + "0")
    order = replace(PAID, refunds=(refunded("7.00", marker=shown.marker, under_way="3.00"),))
    others = (other("9.00"), shown, replace(other("5.00", State.HELD), marker="rzv:" + "1" * 30))
    assert kept_back_parts(others=others, order=order) == (part(eur("9.00")), part(eur("3.00")))


def test_what_was_seen_stands_beside_the_verdict() -> None:
    facts = replace(on(refunds=(refunded("20.00", under_way="20.00"),)), others=(other("9.00"),))
    assert verdict_of(Check.NOT_ALREADY_DONE, facts).facts == {
        "asked": "45.00 EUR",
        "repeats": [],
        "others": [
            {"intent": "int_2", "kind": "refund", "state": "executing", "money": "9.00 EUR"}
        ],
        "reserving": ["int_2"],
        "refunds": [{"refund": REFUND, "money": "20.00 EUR", "failed": False}],
        "under_way": [
            {
                "refund": REFUND,
                "payment": "gid://shopify/OrderTransaction/9",
                "money": "20.00 EUR",
            }
        ],
        "ended": [],
        "rest_of": None,
        "cleared": [],
    }
