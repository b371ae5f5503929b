"""A fine proposal on a paid order, and short words for what differs from it.

Promises: `FINE` is authorized under `POLICY`; each helper changes one thing.
Does not assert anything.
"""

from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal

from actions.policy import (
    Check,
    Circumstances,
    Cleared,
    Decision,
    Facts,
    OrderFacts,
    OtherIntent,
    Ownership,
    Policy,
    Proposal,
    RefundFacts,
    Usage,
    Used,
    Verdict,
    default_policy,
    judge,
    parse_policy,
)
from actions.states import HeldReason, State
from integrations.actors import ActorKind
from integrations.money import Money
from integrations.ports import RefundPart, SuggestedPart

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ORDER = "gid://shopify/Order/1001"
PAYMENT = "gid://shopify/OrderTransaction/9"
REFUND = "gid://shopify/Refund/5"
MARKER = "rzv:0123456789abcdef0123456789abcd"


def money(amount: str, currency: str) -> Money:
    return Money(amount=Decimal(amount), currency=currency)


def eur(amount: str) -> Money:
    return money(amount, "EUR")


def asked(amount: str, currency: str = "EUR") -> Proposal:
    return Proposal(
        kind="refund", proposer=ActorKind.AI, order=ORDER, money=money(amount, currency)
    )


def payment(maximum: Money, parent: str = PAYMENT) -> SuggestedPart:
    return SuggestedPart(parent=parent, gateway="shopify_payments", maximum=maximum)


def part(amount: Money, parent: str | None = PAYMENT) -> RefundPart:
    return RefundPart(parent=parent, gateway="shopify_payments", money=amount)


def refunded(
    amount: str, *, failed: bool = False, marker: str | None = None, under_way: str | None = None
) -> RefundFacts:
    return RefundFacts(
        identifier=REFUND,
        markers=(marker,) if marker else (),
        taken=eur(amount),
        failed=failed,
        open_parts=(part(eur(under_way)),) if under_way else (),
    )


def other(amount: str, state: State = State.EXECUTING) -> OtherIntent:
    return OtherIntent(
        identifier="int_2",
        kind="refund",
        state=state,
        money=eur(amount),
        marker=MARKER,
        parts=(part(eur(amount)),),
    )


def used(amount: str, count: int, currency: str = "EUR") -> Used:
    return Used(amount=money(amount, currency), count=count)


def nothing_used(currency: str = "EUR") -> Usage:
    zero = used("0", 0, currency)
    return Usage(order=zero, customer=zero, day=zero, recent=0)


PAID = OrderFacts(
    identifier=ORDER,
    presentment_currency="EUR",
    shop_currency="EUR",
    received=eur("150.00"),
    received_shop=eur("150.00"),
    refunds=(),
    suggested=(payment(eur("150.00")),),
    cancelled=False,
    open_disputes=(),
    age_days=3,
    ownership=Ownership.OWN,
    has_customer=True,
)
PAID_IN_DOLLARS = replace(
    PAID,
    presentment_currency="USD",
    received=money("162.00", "USD"),
    suggested=(payment(money("162.00", "USD")),),
)
"""On the same store in euros, at 1.08 dollars a euro."""

FINE = Facts(
    proposal=asked("45.00"),
    circumstances=Circumstances(),
    others=(),
    order=PAID,
    usage=nothing_used(),
    shop_currency="EUR",
    day=date(2026, 11, 30),
)
POLICY = default_policy()


def judged(facts: Facts, policy: Policy = POLICY) -> Decision:
    return judge(policy=policy, facts=facts)


def verdict_of(check: Check, facts: Facts, policy: Policy = POLICY) -> Verdict:
    return next(v for v in judged(facts, policy).verdicts if v.check is check)


def on(**changes: object) -> Facts:
    return replace(FINE, order=replace(PAID, **changes))  # type: ignore[arg-type]  # test's own


def proposing(**changes: object) -> Facts:
    return replace(FINE, proposal=replace(FINE.proposal, **changes))  # type: ignore[arg-type]  # test's own


def cleared(reason: HeldReason, *evidence: str) -> Cleared:
    return Cleared(reason=reason, evidence=evidence, by="human_node node-1")


def kind_policy(**changes: object) -> Policy:
    record = POLICY.as_record()
    record["kinds"]["refund"] |= changes  # type: ignore[index]  # a record that we just made
    return parse_policy(record)


def euro_limits(**changes: str) -> Policy:
    return kind_policy(limits={"EUR": {"cap": "100.00", "approval_above": "100.00"} | changes})
