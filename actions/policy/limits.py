"""The check *within limits*: is it inside what the brand allows, in amount, count, speed and age?

Promises: every limit is held in the shop's currency and shown with its arithmetic, with the
customer's own currency beside it; what can't be reckoned is never taken for inside; nothing is
refused for good over what may yet come off again.
Does not count anything: what was used is among the facts, as the counters hold it under lock.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from actions.policy.contradictions import LimitName
from actions.policy.facts import Facts, OrderFacts, Usage, Used
from actions.policy.rules import KindPolicy, Policy
from actions.policy.verdicts import (
    Check,
    Finding,
    UsedFacts,
    Verdict,
    approve,
    hold,
    not_read,
    refuse,
)
from actions.states import SETTLED, ApprovalReason, HeldReason, RefusedReason
from integrations.money import Money, total


@dataclass(frozen=True, slots=True, kw_only=True)
class _Span:
    """Over what a limit adds up, and the words for it."""

    limit: LimitName
    used: str
    allowed: str
    for_good: bool = False
    """Does it end with no day, so that what passes it is refused?"""


_SPANS = (
    _Span(limit="per_order", used="on this order", allowed="an order", for_good=True),
    _Span(limit="per_customer_day", used="for this customer today", allowed="a customer and day"),
    _Span(limit="per_day", used="today", allowed="a day"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measure:
    """One limit beside what was used of it and what is asked."""

    limit: str
    used: str
    asked: str
    allowed: str
    over: Finding | None


def within_limits(*, policy: Policy, facts: Facts) -> Verdict:
    """Is it inside the brand's policy?"""
    proposal = facts.proposal
    rules = policy.kinds.get(proposal.kind)
    if rules is None:
        off = refuse(
            RefusedReason.KIND_OFF, f"The policy has no limits for a {proposal.kind_in_words}."
        )
        return Verdict.of(Check.WITHIN_LIMITS, (), facts={}, otherwise=off)
    asked = _asked(facts)
    worth = None if isinstance(asked, Finding) else asked
    measures = (*_amounts(facts, rules, worth), *_counts(facts, rules))
    own = [asked] if isinstance(asked, Finding) else _one_action(facts, rules, asked)
    inside = asked if isinstance(asked, Finding) else _inside(facts, rules, asked, measures)
    over = (measure.over for measure in measures if measure.over is not None)
    return Verdict.of(
        Check.WITHIN_LIMITS,
        [*own, *over, *_age(facts, rules)],
        facts=_limit_facts(facts, rules, worth, measures),
        otherwise=inside,
    )


def _asked(facts: Facts) -> Money | Finding:
    """Return what is asked in the shop's currency, or why that can't be told."""
    asked, money = facts.asked_of_limits, facts.proposal.money
    if asked is None and not isinstance(facts.order, OrderFacts):
        return not_read(
            f"{money} asked; what that is in {facts.shop_currency} shows once the store is read."
        )
    if asked is None:
        return hold(
            HeldReason.FACTS_UNAVAILABLE,
            f"{money} asked, and the order doesn't show what that is in {facts.shop_currency}.",
        )
    used = facts.usage
    met = {asked, used.order.amount, used.customer.amount, used.day.amount}
    if {amount.currency for amount in met} != {facts.shop_currency}:
        return hold(
            HeldReason.FACTS_UNAVAILABLE,
            f"Limits are in {facts.shop_currency}, and the store or the counters speak of another"
            " currency.",
        )
    return asked


def _one_action(facts: Facts, rules: KindPolicy, asked: Money) -> Iterator[Finding]:
    cap, threshold = rules.cap(asked.currency), rules.approval_above(asked.currency)
    shown = _shown(facts, asked)
    if cap is None or threshold is None:
        yield approve(
            ApprovalReason.NO_LIMIT_FOR_CURRENCY,
            f"{shown} asked, and the policy has no limits in {asked.currency}.",
        )
    elif asked > cap:
        yield refuse(RefusedReason.OVER_CAP, f"{shown} asked > {cap} allowed for one action.")
    elif asked > threshold:
        yield approve(
            ApprovalReason.OVER_THRESHOLD,
            f"{shown} asked > {threshold} that need no second person.",
        )


def _amounts(facts: Facts, rules: KindPolicy, asked: Money | None) -> Iterator[_Measure]:
    if asked is None:
        return
    for span in _SPANS:
        used, allowed = _used(facts.usage, span).amount, rules.limit(span.limit, asked.currency)
        if allowed is None:
            continue
        over = None
        if used + asked > allowed:
            sentence = f"{used} {span.used} + {_shown(facts, asked)} asked > {allowed}"
            same = (one for one in _unsettled(facts) if one.currency == asked.currency)
            unsettled = total(same, currency=asked.currency)
            fits_without = used + asked <= allowed + unsettled
            over = _over(span, sentence, str(unsettled) if fits_without else None)
        yield _Measure(
            limit=span.limit, used=str(used), asked=str(asked), allowed=str(allowed), over=over
        )


def _over(span: _Span, sentence: str, unsettled: str | None) -> Finding:
    """Say what follows where a limit is passed.

    Args:
        span: Of which limit.
        sentence: The arithmetic.
        unsettled: How much of it may yet come off again, where there would be room without that.
    """
    sentence = f"{sentence} {span.allowed}"
    if not span.for_good:
        return hold(HeldReason.COUNTER, f"{sentence}.")
    if unsettled is None:
        return refuse(RefusedReason.OVER_ORDER_LIMIT, f"{sentence}.")
    return hold(HeldReason.COUNTER, f"{sentence}; {unsettled} of that is not settled yet.")


def _unsettled(facts: Facts) -> list[Money]:
    """Return what others of this kind on the order have counted, and may yet give back."""
    kind = facts.proposal.kind
    return [
        other.counted
        for other in facts.others
        if other.kind == kind and other.counted is not None and other.state not in SETTLED
    ]


def _counts(facts: Facts, rules: KindPolicy) -> Iterator[_Measure]:
    counts, usage, unsettled = rules.counts, facts.usage, len(_unsettled(facts))
    allowed_by_limit = {
        "per_order": counts.per_order,
        "per_customer_day": counts.per_customer_day,
        "per_day": counts.per_day,
    }
    for span in _SPANS:
        used, allowed = _used(usage, span).count, allowed_by_limit[span.limit]
        if allowed is not None:
            sentence = f"{used} of this kind {span.used} + 1 asked > {allowed}"
            fits_without = used + 1 <= allowed + unsettled
            over = _over(span, sentence, str(unsettled) if fits_without else None)
            yield _counted(f"counts.{span.limit}", used, allowed, over)
    if rules.velocity is not None:
        used, allowed, minutes = usage.recent, rules.velocity.count, rules.velocity.minutes
        sentence = (
            f"{used} of this kind in the last {minutes} min + 1 asked > {allowed} in {minutes} min."
        )
        yield _counted("velocity", used, allowed, hold(HeldReason.VELOCITY, sentence))


def _counted(limit: str, used: int, allowed: int, over: Finding) -> _Measure:
    return _Measure(
        limit=limit,
        used=str(used),
        asked="1",
        allowed=str(allowed),
        over=over if used + 1 > allowed else None,
    )


def _age(facts: Facts, rules: KindPolicy) -> Iterator[Finding]:
    age_days = _age_days(facts)
    if age_days is not None and age_days > rules.order_age_max_days:
        yield refuse(
            RefusedReason.ORDER_TOO_OLD,
            f"The order is {age_days} days old > {rules.order_age_max_days} days allowed.",
        )


def _used(usage: Usage, span: _Span) -> Used:
    match span.limit:
        case "per_order":
            return usage.order
        case "per_customer_day":
            return usage.customer
        case _:
            return usage.day


def _shown(facts: Facts, asked: Money) -> str:
    """Say what is asked, with the customer's own currency beside the shop's where they differ."""
    money = facts.proposal.money
    return str(asked) if money.currency == asked.currency else f"{asked} ({money})"


def _age_days(facts: Facts) -> int | None:
    return facts.order.age_days if isinstance(facts.order, OrderFacts) else None


def _inside(facts: Facts, rules: KindPolicy, asked: Money, measures: tuple[_Measure, ...]) -> str:
    """Say what is so where no limit is passed, and no more than that."""
    threshold = rules.approval_above(asked.currency)
    room = ", with room in every limit that adds up" if measures else ""
    return f"{_shown(facts, asked)} asked ≤ {threshold} that need no second person{room}."


def _limit_facts(
    facts: Facts, rules: KindPolicy, asked: Money | None, measures: tuple[_Measure, ...]
) -> UsedFacts:
    cap, threshold = rules.cap(facts.shop_currency), rules.approval_above(facts.shop_currency)
    return {
        "asked": str(facts.proposal.money),
        "asked_in_shop_currency": str(asked) if asked is not None else None,
        "shop_currency": facts.shop_currency,
        "cap": str(cap) if cap else None,
        "approval_above": str(threshold) if threshold else None,
        "day": facts.day.isoformat(),
        "limits": [
            {
                "limit": measure.limit,
                "used": measure.used,
                "asked": measure.asked,
                "allowed": measure.allowed,
                "over": measure.over is not None,
            }
            for measure in measures
        ],
        "velocity_minutes": rules.velocity.minutes if rules.velocity else None,
        "order_age_days": _age_days(facts),
        "order_age_max_days": rules.order_age_max_days,
    }
