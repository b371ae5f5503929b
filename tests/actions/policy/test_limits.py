"""The brand's limits: each with its arithmetic, in the shop's currency."""

from dataclasses import replace

import pytest

from actions.policy import Check, OtherIntent, Policy, Proposal, Ruling, Usage
from actions.states import ApprovalReason, HeldReason, RefusedReason, State
from tests.actions.policy.cases import (
    FINE,
    asked,
    eur,
    euro_limits,
    judged,
    kind_policy,
    money,
    nothing_used,
    on,
    other,
    used,
    verdict_of,
)

NOTHING = nothing_used()


@pytest.mark.parametrize(
    ("proposal", "ruling", "reason", "sentence"),
    [
        (
            asked("100.00"),
            Ruling.ALLOW,
            None,
            (
                "100.00 EUR asked ≤ 100.00 EUR that need no second person, "
                "with room in every limit that adds up."
            ),
        ),
        (
            asked("100.01"),
            Ruling.APPROVE,
            ApprovalReason.OVER_THRESHOLD,
            "100.01 EUR asked > 100.00 EUR that need no second person.",
        ),
        (
            asked("200.00"),
            Ruling.APPROVE,
            ApprovalReason.OVER_THRESHOLD,
            "200.00 EUR asked > 100.00 EUR that need no second person.",
        ),
        (
            asked("200.01"),
            Ruling.REFUSE,
            RefusedReason.OVER_CAP,
            "200.01 EUR asked > 200.00 EUR allowed for one action.",
        ),
    ],
)
def test_amounts_meet_the_brand_s_limits(
    proposal: Proposal, ruling: Ruling, reason: ApprovalReason | RefusedReason | None, sentence: str
) -> None:
    verdict = verdict_of(Check.WITHIN_LIMITS, replace(FINE, proposal=proposal))
    assert (verdict.ruling, verdict.reason, verdict.sentence) == (ruling, reason, sentence)


def test_a_shop_s_currency_without_limits_is_never_free() -> None:
    facts = replace(
        FINE,
        proposal=asked("1.000", "KWD"),
        order=None,
        usage=nothing_used("KWD"),
        shop_currency="KWD",
    )
    verdict = verdict_of(Check.WITHIN_LIMITS, facts)
    assert verdict.reason is ApprovalReason.NO_LIMIT_FOR_CURRENCY
    assert verdict.sentence == "1.000 KWD asked, and the policy has no limits in KWD."


@pytest.mark.parametrize(("age_days", "ruling"), [(90, Ruling.ALLOW), (91, Ruling.REFUSE)])
def test_an_order_older_than_the_brand_allows_is_refused(age_days: int, ruling: Ruling) -> None:
    assert verdict_of(Check.WITHIN_LIMITS, on(age_days=age_days)).ruling is ruling


def test_an_old_order_is_refused_with_its_age() -> None:
    decision = judged(on(age_days=91))
    assert decision.reason is RefusedReason.ORDER_TOO_OLD
    assert decision.sentence == "The order is 91 days old > 90 days allowed."


def test_a_threshold_may_be_as_high_as_the_cap() -> None:
    policy = kind_policy(limits={"EUR": {"cap": "50.00", "approval_above": "50.00"}})
    assert judged(FINE, policy).state is State.AUTHORIZED


def test_a_threshold_of_zero_always_asks_a_second_person() -> None:
    policy = kind_policy(limits={"EUR": {"cap": "50.00", "approval_above": "0"}})
    facts = replace(FINE, proposal=asked("0.01"))
    assert judged(facts, policy).reason is ApprovalReason.OVER_THRESHOLD


# --- what adds up -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "usage", "ruling", "reason", "sentence"),
    [
        (
            euro_limits(per_order="100.00"),
            replace(NOTHING, order=used("55.01", 1)),
            Ruling.REFUSE,
            RefusedReason.OVER_ORDER_LIMIT,
            "55.01 EUR on this order + 45.00 EUR asked > 100.00 EUR an order.",
        ),
        (
            euro_limits(per_customer_day="150.00"),
            replace(NOTHING, customer=used("120.00", 2)),
            Ruling.HOLD,
            HeldReason.COUNTER,
            "120.00 EUR for this customer today + 45.00 EUR asked > 150.00 EUR a customer and day.",
        ),
        (
            euro_limits(per_day="150.00"),
            replace(NOTHING, day=used("120.00", 2)),
            Ruling.HOLD,
            HeldReason.COUNTER,
            "120.00 EUR today + 45.00 EUR asked > 150.00 EUR a day.",
        ),
        (
            kind_policy(counts={"per_order": 3}),
            replace(NOTHING, order=used("3.00", 3)),
            Ruling.REFUSE,
            RefusedReason.OVER_ORDER_LIMIT,
            "3 of this kind on this order + 1 asked > 3 an order.",
        ),
        (
            kind_policy(counts={"per_customer_day": 1}),
            replace(NOTHING, customer=used("3.00", 1)),
            Ruling.HOLD,
            HeldReason.COUNTER,
            "1 of this kind for this customer today + 1 asked > 1 a customer and day.",
        ),
        (
            kind_policy(counts={"per_day": 7}),
            replace(NOTHING, day=used("3.00", 9)),
            Ruling.HOLD,
            HeldReason.COUNTER,
            "9 of this kind today + 1 asked > 7 a day.",
        ),
        (
            kind_policy(velocity={"count": 2, "minutes": 10}),
            replace(NOTHING, recent=2),
            Ruling.HOLD,
            HeldReason.VELOCITY,
            "2 of this kind in the last 10 min + 1 asked > 2 in 10 min.",
        ),
    ],
)
def test_one_more_than_a_limit_allows_is_stopped_with_its_arithmetic(
    policy: Policy, usage: Usage, ruling: Ruling, reason: object, sentence: str
) -> None:
    verdict = verdict_of(Check.WITHIN_LIMITS, replace(FINE, usage=usage), policy)
    assert (verdict.ruling, verdict.reason, verdict.sentence) == (ruling, reason, sentence)


@pytest.mark.parametrize(
    ("policy", "usage"),
    [
        (euro_limits(per_order="100.00"), replace(NOTHING, order=used("55.00", 1))),
        (euro_limits(per_customer_day="150.00"), replace(NOTHING, customer=used("105.00", 1))),
        (euro_limits(per_day="150.00"), replace(NOTHING, day=used("105.00", 1))),
        (kind_policy(counts={"per_order": 3}), replace(NOTHING, order=used("0", 2))),
        (kind_policy(counts={"per_customer_day": 3}), replace(NOTHING, customer=used("0", 2))),
        (kind_policy(counts={"per_day": 3}), replace(NOTHING, day=used("0", 2))),
        (kind_policy(velocity={"count": 2, "minutes": 10}), replace(NOTHING, recent=1)),
    ],
)
def test_a_limit_may_be_used_to_the_last(policy: Policy, usage: Usage) -> None:
    assert judged(replace(FINE, usage=usage), policy).state is State.AUTHORIZED


# --- beside what is not settled ---------------------------------------------------------------


def on_the_order(
    *others: OtherIntent, amount: str, count: int, policy: Policy
) -> tuple[Ruling, object, str]:
    """Return what becomes of 45.00 EUR where that much is used on the order, beside others."""
    facts = replace(FINE, usage=replace(NOTHING, order=used(amount, count)), others=others)
    verdict = verdict_of(Check.WITHIN_LIMITS, facts, policy)
    return verdict.ruling, verdict.reason, verdict.sentence


def counting(amount: str, **changes: object) -> OtherIntent:
    """Return another intent on the order that counts that much."""
    return replace(other(amount), **({"counted": eur(amount)} | changes))  # type: ignore[arg-type]  # test's own


HUNDRED = euro_limits(per_order="100.00")
OVER = "60.00 EUR on this order + 45.00 EUR asked > 100.00 EUR an order"
HELD = (Ruling.HOLD, HeldReason.COUNTER)
REFUSED = (Ruling.REFUSE, RefusedReason.OVER_ORDER_LIMIT)


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ([counting("5.00")], (*HELD, f"{OVER}; 5.00 EUR of that is not settled yet.")),
        (
            [counting("2.00"), counting("3.00", state=State.PENDING)],
            (*HELD, f"{OVER}; 5.00 EUR of that is not settled yet."),
        ),
        ([counting("4.99")], (*REFUSED, f"{OVER}.")),
        ([counting("5.00", state=State.CONFIRMED)], (*REFUSED, f"{OVER}.")),
        ([counting("5.00", state=State.ACCEPTED)], (*REFUSED, f"{OVER}.")),
        ([counting("5.00", kind="store_credit")], (*REFUSED, f"{OVER}.")),
        ([counting("5.00", counted=None)], (*REFUSED, f"{OVER}.")),
        ([counting("5.00", counted=money("5.00", "USD"))], (*REFUSED, f"{OVER}.")),
        ([], (*REFUSED, f"{OVER}.")),
    ],
)
def test_an_orders_amount_refuses_only_what_passes_it_without_what_is_unsettled(
    others: list[OtherIntent], said: tuple[Ruling, object, str]
) -> None:
    assert on_the_order(*others, amount="60.00", count=1, policy=HUNDRED) == said


@pytest.mark.parametrize(
    ("count", "others", "said"),
    [
        (
            2,
            [counting("1.00")],
            (
                *HELD,
                (
                    "2 of this kind on this order + 1 asked > 2 an order; "
                    "1 of that is not settled yet."
                ),
            ),
        ),
        (
            3,
            [counting("1.00")],
            (*REFUSED, "3 of this kind on this order + 1 asked > 2 an order."),
        ),
        (
            2,
            [counting("1.00", state=State.CONFIRMED)],
            (*REFUSED, "2 of this kind on this order + 1 asked > 2 an order."),
        ),
    ],
)
def test_an_orders_number_refuses_only_what_passes_it_without_what_is_unsettled(
    count: int, others: list[OtherIntent], said: tuple[Ruling, object, str]
) -> None:
    policy = kind_policy(counts={"per_order": 2})
    assert on_the_order(*others, amount="5.00", count=count, policy=policy) == said


@pytest.mark.parametrize(
    ("policy", "usage"),
    [
        (euro_limits(per_day="100.00"), replace(NOTHING, day=used("60.00", 1))),
        (euro_limits(per_customer_day="100.00"), replace(NOTHING, customer=used("60.00", 1))),
    ],
)
def test_a_days_limit_says_nothing_of_what_is_unsettled(policy: Policy, usage: Usage) -> None:
    facts = replace(FINE, usage=usage, others=(counting("60.00"),))
    verdict = verdict_of(Check.WITHIN_LIMITS, facts, policy)
    assert verdict.reason is HeldReason.COUNTER
    assert "settled" not in verdict.sentence


def test_a_policy_without_these_limits_counts_nothing() -> None:
    policy = kind_policy(
        limits={"EUR": {"cap": "100.00", "approval_above": "100.00"}}, counts={}, velocity=None
    )
    usage = Usage(
        order=used("9999", 999), customer=used("9999", 999), day=used("9999", 999), recent=999
    )
    verdict = verdict_of(Check.WITHIN_LIMITS, replace(FINE, usage=usage), policy)
    assert verdict.ruling is Ruling.ALLOW
    assert verdict.sentence == "45.00 EUR asked ≤ 100.00 EUR that need no second person."


def test_every_limit_that_is_passed_is_found_and_the_strictest_speaks() -> None:
    usage = Usage(order=used("990", 20), customer=used("990", 20), day=used("9990", 1000), recent=0)
    verdict = verdict_of(Check.WITHIN_LIMITS, replace(FINE, proposal=asked("150.00"), usage=usage))
    assert [finding.reason for finding in verdict.findings] == [
        RefusedReason.OVER_ORDER_LIMIT,
        RefusedReason.OVER_ORDER_LIMIT,
        HeldReason.COUNTER,
        HeldReason.COUNTER,
        HeldReason.COUNTER,
        HeldReason.COUNTER,
        ApprovalReason.OVER_THRESHOLD,
    ]


def test_each_kind_has_its_own_limits() -> None:
    record = euro_limits(per_day="100.00")
    facts = replace(FINE, usage=replace(NOTHING, day=used("100.00", 1)))
    as_credit = replace(
        facts, proposal=replace(FINE.proposal, kind="store_credit", to_store_credit=True)
    )
    assert judged(facts, record).reason is HeldReason.COUNTER
    assert judged(as_credit, record).state is State.AUTHORIZED


def test_the_numbers_that_were_used_stand_beside_the_verdict() -> None:
    policy = euro_limits(per_day="150.00")
    usage = replace(NOTHING, day=used("120.00", 2), recent=4)
    verdict = verdict_of(Check.WITHIN_LIMITS, replace(FINE, usage=usage), policy)
    facts = dict(verdict.facts)
    counted = facts.pop("limits")
    assert facts == {
        "asked": "45.00 EUR",
        "asked_in_shop_currency": "45.00 EUR",
        "shop_currency": "EUR",
        "cap": "100.00 EUR",
        "approval_above": "100.00 EUR",
        "day": "2026-11-30",
        "velocity_minutes": 10,
        "order_age_days": 3,
        "order_age_max_days": 90,
    }
    assert counted == [
        _measure("per_day", "120.00 EUR", "45.00 EUR", "150.00 EUR", over=True),
        _measure("counts.per_order", "0", "1", "20"),
        _measure("counts.per_customer_day", "0", "1", "20"),
        _measure("counts.per_day", "2", "1", "1000"),
        _measure("velocity", "4", "1", "200"),
    ]


def _measure(
    limit: str, used: str, asked: str, allowed: str, *, over: bool = False
) -> dict[str, object]:
    return {"limit": limit, "used": used, "asked": asked, "allowed": allowed, "over": over}
