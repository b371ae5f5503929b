"""A read becomes facts, or none."""

from dataclasses import replace
from datetime import timedelta

import pytest

from actions.policy import (
    OrderFacts,
    Ownership,
    RefundFacts,
    order_facts,
    ownership_of,
    same_identity,
)
from actions.states import HeldReason
from integrations.money import Money
from integrations.ports import (
    CallTrace,
    Observation,
    OrderLine,
    OrderSnapshot,
    Part,
    Standing,
    Unreadable,
)
from tests.actions.policy.cases import (
    FINE,
    MARKER,
    NOW,
    ORDER,
    PAID,
    PAID_IN_DOLLARS,
    PAYMENT,
    REFUND,
    eur,
    judged,
    money,
    part,
    payment,
)


def seen_part(amount: str, standing: Standing, currency: str = "EUR") -> Part:
    return Part(
        identifier="gid://shopify/OrderTransaction/7",
        status="SUCCESS",
        standing=standing,
        money=money(amount, currency),
        gateway="shopify_payments",
        parent=PAYMENT,
    )


def seen_refund(*parts: Part) -> Observation:
    return Observation(
        object_type="refund",
        identifier=REFUND,
        target=ORDER,
        markers=(MARKER,),
        author=None,
        created_at=NOW,
        parts=parts,
    )


SNAPSHOT = OrderSnapshot(
    identifier=ORDER,
    name="#1001",
    created_at=NOW - timedelta(days=90, hours=5),
    cancelled_at=None,
    customer="gid://shopify/Customer/1",
    email="ada@example.com",
    shop_currency="EUR",
    presentment_currency="EUR",
    received=eur("150.00"),
    received_shop=eur("150.00"),
    suggested=(payment(eur("150.00")),),
    refunds=(),
    open_disputes=None,
    complete=True,
    trace=CallTrace(),
)


def reduced(snapshot: OrderSnapshot | Unreadable) -> OrderFacts | Unreadable:
    return order_facts(snapshot, order=ORDER, ownership=Ownership.OWN, now=NOW)


def test_open_parts_count_as_refunded_and_failed_ones_do_not() -> None:
    refund = seen_refund(
        seen_part("10.00", Standing.SUCCEEDED),
        seen_part("20.00", Standing.OPEN),
        seen_part("40.00", Standing.FAILED),
    )
    facts = reduced(replace(SNAPSHOT, refunds=(refund,)))
    assert isinstance(facts, OrderFacts)
    assert facts.refunded == eur("30.00")
    assert facts.refunds == (
        RefundFacts(
            identifier=REFUND,
            markers=(MARKER,),
            taken=eur("30.00"),
            failed=True,
            open_parts=(part(eur("20.00")),),
        ),
    )
    assert facts.age_days == 90


def test_a_read_keeps_what_the_gate_judges_and_nothing_of_the_person() -> None:
    facts = reduced(
        replace(
            SNAPSHOT,
            cancelled_at=NOW,
            open_disputes=("gid://d/1",),
            lines=(OrderLine(identifier="gid://l/1", refundable=2),),
            reckoned=eur("45.00"),
        )
    )
    assert facts == replace(
        PAID,
        cancelled=True,
        open_disputes=("gid://d/1",),
        age_days=90,
        lines=(OrderLine(identifier="gid://l/1", refundable=2),),
        reckoned=eur("45.00"),
    )
    guest = reduced(replace(SNAPSHOT, customer=None))
    assert isinstance(guest, OrderFacts)
    assert guest.has_customer is False


@pytest.mark.parametrize(
    ("snapshot", "reason"),
    [
        (replace(SNAPSHOT, complete=False), "the store's lists came back cut short"),
        (
            replace(SNAPSHOT, identifier="gid://shopify/Order/10010"),
            "the store answered with another order",
        ),
        (
            replace(SNAPSHOT, refunds=(seen_refund(seen_part("1.00", Standing.OPEN, "USD")),)),
            "the order's amounts are in more than one currency",
        ),
        (
            replace(SNAPSHOT, received=Money.zero("USD")),
            "the order's amounts are in more than one currency",
        ),
        (
            replace(SNAPSHOT, suggested=(payment(Money.zero("USD")),)),
            "the order's amounts are in more than one currency",
        ),
        (
            replace(SNAPSHOT, reckoned=Money.zero("USD")),
            "the order's amounts are in more than one currency",
        ),
        (
            replace(SNAPSHOT, presentment_currency="USD"),
            "the order's amounts are in more than one currency",
        ),
        (
            replace(SNAPSHOT, received_shop=Money.zero("USD")),
            "what was received in the shop's currency is in another one",
        ),
    ],
)
def test_a_read_that_is_cut_short_or_contradicts_itself_is_no_fact(
    snapshot: OrderSnapshot, reason: str
) -> None:
    facts = reduced(snapshot)
    assert isinstance(facts, Unreadable)
    assert facts.reason == reason
    assert judged(replace(FINE, order=facts)).reason is HeldReason.FACTS_UNAVAILABLE


def test_a_refund_whose_parts_succeeded_is_no_failed_object() -> None:
    facts = reduced(replace(SNAPSHOT, refunds=(seen_refund(seen_part("9", Standing.SUCCEEDED)),)))
    assert isinstance(facts, OrderFacts)
    assert [refund.failed for refund in facts.refunds] == [False]


def test_an_unreadable_read_stays_what_it_is() -> None:
    gone = Unreadable(reason="gone", not_found=True)
    assert reduced(gone) is gone


@pytest.mark.parametrize(
    ("order", "asked", "worth"),
    [
        (PAID, eur("45.01"), eur("45.01")),
        (PAID, money("45.01", "USD"), None),
        (PAID_IN_DOLLARS, money("48.60", "USD"), eur("45.00")),
        (PAID_IN_DOLLARS, money("0.01", "USD"), eur("0.01")),
        (PAID_IN_DOLLARS, money("48.61", "USD"), eur("45.01")),
        (PAID_IN_DOLLARS, eur("45.00"), None),
        (replace(PAID_IN_DOLLARS, received=Money.zero("USD")), money("1", "USD"), None),
        (replace(PAID_IN_DOLLARS, received_shop=Money.zero("EUR")), money("1", "USD"), None),
    ],
)
def test_an_amount_is_worth_in_the_shop_s_currency_what_was_paid_for_it_rounded_up(
    order: OrderFacts, asked: Money, worth: Money | None
) -> None:
    assert order.in_shop_currency(asked) == worth


@pytest.mark.parametrize(
    ("verified", "same_customer", "same_email", "ownership"),
    [
        (True, True, False, Ownership.OWN),
        (True, False, True, Ownership.FOREIGN),
        (True, None, True, Ownership.OWN),
        (True, None, False, Ownership.FOREIGN),
        (True, None, None, Ownership.UNCLEAR),
        (False, True, True, Ownership.UNVERIFIED),
        (False, None, None, Ownership.UNVERIFIED),
        (False, False, True, Ownership.FOREIGN),
    ],
)
def test_an_order_is_owned_by_its_customer_else_by_its_e_mail_and_only_once_verified(
    *,
    verified: bool,
    same_customer: bool | None,
    same_email: bool | None,
    ownership: Ownership,
) -> None:
    assert (
        ownership_of(verified=verified, same_customer=same_customer, same_email=same_email)
        is ownership
    )


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("Ada@Example.com", " ada@example.COM ", True),
        ("stra\u00dfe@x.de", "STRASSE@x.de", True),
        ("andre\u0301@x.fr", "andr\u00e9@x.fr", True),
        ("ada@example.com", "ada@example.com.evil.test", False),
        ("ada@example.com", None, None),
        ("", "ada@example.com", None),
    ],
)
def test_identities_are_compared_case_folded_and_whole(
    left: str | None, right: str | None, *, same: bool | None
) -> None:
    assert same_identity(left, right) is same
