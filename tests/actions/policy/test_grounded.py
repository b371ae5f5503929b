"""Does the order carry it, as the store shows it?"""

from dataclasses import replace

import pytest

from actions.policy import Check, Facts, Ownership, Ruling
from actions.states import HeldReason, RefusedReason, State
from integrations.ports import BlockedBy, Unreadable
from tests.actions.policy.cases import (
    FINE,
    ORDER,
    PAID,
    PAID_IN_DOLLARS,
    asked,
    eur,
    judged,
    kind_policy,
    on,
    payment,
    proposing,
    refunded,
    verdict_of,
)

TO_CREDIT = proposing(kind="store_credit", to_store_credit=True)


@pytest.mark.parametrize(
    ("facts", "reason", "sentence"),
    [
        (
            on(refunds=(refunded("120.00"),)),
            RefusedReason.OVER_REMAINDER,
            "120.00 EUR refunded + 45.00 EUR asked > 150.00 EUR received.",
        ),
        (
            on(suggested=(payment(eur("40.00")),)),
            RefusedReason.OVER_REMAINDER,
            "45.00 EUR asked > 40.00 EUR that the store can still give back.",
        ),
        (
            on(suggested=()),
            RefusedReason.MOVES_NO_MONEY,
            "The store suggests no payment to give back over: the refund would move no money.",
        ),
        (
            on(received=eur("0"), suggested=()),
            RefusedReason.UNPAID,
            "0.00 EUR received: there is nothing to refund.",
        ),
        (
            replace(FINE, proposal=asked("0")),
            RefusedReason.AMOUNT_ZERO,
            "0.00 EUR asked is not more than nothing.",
        ),
        (
            replace(FINE, proposal=asked("-1")),
            RefusedReason.AMOUNT_ZERO,
            "-1.00 EUR asked is not more than nothing.",
        ),
        (
            replace(FINE, proposal=asked("45.00", "USD")),
            RefusedReason.OTHER_CURRENCY,
            "45.00 USD asked, but the customer paid in EUR.",
        ),
        (
            replace(FINE, order=PAID_IN_DOLLARS),
            RefusedReason.OTHER_CURRENCY,
            "45.00 EUR asked, but the customer paid in USD.",
        ),
        (
            on(ownership=Ownership.FOREIGN),
            RefusedReason.FOREIGN_ORDER,
            "The order is another customer's than this ticket's.",
        ),
        (
            replace(FINE, order=Unreadable(reason="none", not_found=True)),
            RefusedReason.NO_SUCH_ORDER,
            "The store shows us no such order.",
        ),
        (
            replace(TO_CREDIT, order=replace(PAID, has_customer=False)),
            RefusedReason.NO_CUSTOMER,
            "The order has no customer on the store who could have a store credit.",
        ),
        (
            replace(TO_CREDIT, order=replace(PAID, refunds=(refunded("105.01"),))),
            RefusedReason.OVER_REMAINDER,
            "105.01 EUR refunded + 45.00 EUR asked > 150.00 EUR received.",
        ),
    ],
)
def test_what_the_store_forbids_is_refused_with_its_arithmetic(
    facts: Facts, reason: RefusedReason, sentence: str
) -> None:
    verdict = verdict_of(Check.GROUNDED, facts)
    assert (verdict.ruling, verdict.reason) == (Ruling.REFUSE, reason)
    assert verdict.sentence == sentence
    assert judged(facts).state is State.REFUSED


@pytest.mark.parametrize(
    ("facts", "reason", "sentence", "evidence"),
    [
        (
            on(ownership=Ownership.UNVERIFIED),
            HeldReason.UNVERIFIED_CUSTOMER,
            "Nobody has verified who this ticket's customer is.",
            (ORDER,),
        ),
        (
            on(ownership=Ownership.UNCLEAR),
            HeldReason.OWNERSHIP_UNCLEAR,
            "Order and ticket share neither a customer nor an e-mail address to compare.",
            (ORDER,),
        ),
        (
            on(open_disputes=("gid://shopify/ShopifyPaymentsDispute/8", "gid://d/7")),
            HeldReason.DISPUTE,
            "A dispute is open: the bank may give the money back too.",
            ("gid://d/7", "gid://shopify/ShopifyPaymentsDispute/8"),
        ),
        (
            replace(FINE, order=Unreadable(reason="timed out")),
            HeldReason.FACTS_UNAVAILABLE,
            "The order can't be judged: timed out.",
            (),
        ),
        (
            replace(FINE, order=Unreadable(reason="401", blocked_by=BlockedBy.CREDENTIAL)),
            HeldReason.BLOCKED_CONNECTION,
            "The store did not let us read the order (credential); connect it again.",
            (),
        ),
    ],
)
def test_what_may_pass_on_the_store_holds_with_its_evidence(
    facts: Facts, reason: HeldReason, sentence: str, evidence: tuple[str, ...]
) -> None:
    verdict = verdict_of(Check.GROUNDED, facts)
    assert (verdict.ruling, verdict.reason) == (Ruling.HOLD, reason)
    assert (verdict.sentence, verdict.strongest.evidence) == (sentence, evidence)
    assert judged(facts).state is State.HELD


@pytest.mark.parametrize("changes", [{"open_disputes": None}, {"cancelled": True}])
def test_an_unknown_dispute_status_and_a_cancelled_order_with_money_left_do_not_hold(
    changes: dict[str, object],
) -> None:
    assert judged(on(**changes)).state is State.AUTHORIZED


def test_the_last_cent_may_go_and_not_one_more() -> None:
    left = on(refunds=(refunded("105.00"),), suggested=(payment(eur("45.00")),))
    assert verdict_of(Check.GROUNDED, left).ruling is Ruling.ALLOW
    over = verdict_of(Check.GROUNDED, replace(left, proposal=asked("45.01")))
    assert over.sentence == "105.00 EUR refunded + 45.01 EUR asked > 150.00 EUR received."


def test_a_brand_may_waive_ownership_and_nothing_else_with_it() -> None:
    policy = kind_policy(ownership_required=False)
    foreign = on(ownership=Ownership.FOREIGN)
    assert judged(foreign, policy).state is State.AUTHORIZED
    assert verdict_of(Check.GROUNDED, foreign, policy).sentence == (
        "0.00 EUR refunded + 45.00 EUR asked ≤ 150.00 EUR received, "
        "and the brand doesn't ask whose order it is."
    )
    over = on(ownership=Ownership.FOREIGN, refunds=(refunded("120.00"),))
    assert judged(over, policy).reason is RefusedReason.OVER_REMAINDER


def test_a_store_credit_needs_no_payment_that_can_give_back() -> None:
    without = replace(TO_CREDIT, order=replace(PAID, suggested=()))
    assert judged(without).state is State.AUTHORIZED
    assert judged(on(suggested=())).reason is RefusedReason.MOVES_NO_MONEY


def test_a_refund_over_payments_needs_no_customer_on_the_store() -> None:
    assert judged(on(has_customer=False)).state is State.AUTHORIZED


def test_an_order_in_another_currency_than_the_shop_s_is_judged_in_its_own() -> None:
    facts = replace(FINE, proposal=asked("48.60", "USD"), order=PAID_IN_DOLLARS)
    assert judged(facts).state is State.AUTHORIZED
    verdict = verdict_of(Check.GROUNDED, facts)
    assert verdict.sentence == (
        "0.00 USD refunded + 48.60 USD asked ≤ 162.00 USD received, "
        "on an order of this ticket's customer."
    )
    assert verdict.facts == {
        "order": ORDER,
        "ownership": "own",
        "asked": "48.60 USD",
        "asked_in_shop_currency": "45.00 EUR",
        "received": "162.00 USD",
        "received_in_shop_currency": "150.00 EUR",
        "refunded": "0.00 USD",
        "returnable": "162.00 USD",
        "reckoned": None,
        "presentment_currency": "USD",
        "shop_currency": "EUR",
        "to_store_credit": False,
        "has_customer": True,
        "cancelled": False,
        "open_disputes": [],
        "cleared": [],
    }
