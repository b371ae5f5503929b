"""The four checks together, and the two that need no look at the store: permitted, within limits.

Promises: pure functions of frozen facts; what can pass by itself holds, what can't refuses, each
with a sentence and its arithmetic; nothing is allowed on facts that were not read.
Does not know who reads the facts or what follows from the verdicts.
"""

from collections.abc import Iterator

from actions.policy.already_done import not_already_done
from actions.policy.facts import Circumstances, Facts, OrderFacts, Proposal
from actions.policy.grounds import grounded
from actions.policy.rules import KindPolicy, Policy
from actions.policy.verdicts import Check, Decision, Finding, Verdict, approve, decide, hold, refuse
from actions.states import ApprovalReason, HeldReason, RefusedReason
from integrations.money import Money


def judge(*, policy: Policy, facts: Facts) -> Decision:
    """Ask all four questions and decide."""
    return decide(
        (
            permitted(policy=policy, facts=facts),
            grounded(policy=policy, facts=facts),
            within_limits(policy=policy, facts=facts),
            not_already_done(facts=facts),
        )
    )


def permitted(*, policy: Policy, facts: Facts) -> Verdict:
    """May this actor do this kind of thing in this workspace now?"""
    proposal, now = facts.proposal, facts.circumstances
    enabled_for = _enabled_for(policy, proposal.kind)
    return Verdict.of(
        Check.PERMITTED,
        [*_permission(proposal, enabled_for), *_in_the_way(now)],
        facts={
            "kind": proposal.kind,
            "actor_kind": proposal.proposer.value,
            "enabled_for": sorted(enabled_for),
            "paused": now.paused,
            "kill_switch": now.kill_switch,
            "blocked_by": now.blocked_by,
            "circuit_open": now.circuit_open,
            "missing_scopes": list(now.missing_scopes),
        },
        otherwise=f"Actors of kind {proposal.proposer} may {proposal.kind} here, now.",
    )


def within_limits(*, policy: Policy, facts: Facts) -> Verdict:
    """Is it inside the brand's policy?"""
    proposal = facts.proposal
    rules = policy.kinds.get(proposal.kind)
    if rules is None:
        off = refuse(RefusedReason.KIND_OFF, f"The policy has no limits for {proposal.kind}.")
        return Verdict.of(Check.WITHIN_LIMITS, (), facts={}, otherwise=off)
    cap = rules.cap(proposal.money.currency)
    threshold = rules.approval_above(proposal.money.currency)
    age_days = facts.order.age_days if isinstance(facts.order, OrderFacts) else None
    return Verdict.of(
        Check.WITHIN_LIMITS,
        [*_amount(proposal.money, cap, threshold), *_age(age_days, rules)],
        facts={
            "asked": str(proposal.money),
            "cap": str(cap) if cap else None,
            "approval_above": str(threshold) if threshold else None,
            "order_age_days": age_days,
            "order_age_max_days": rules.order_age_max_days,
        },
        otherwise=f"{proposal.money} asked ≤ {threshold} that need no second person.",
    )


def _enabled_for(policy: Policy, kind: str) -> frozenset[str]:
    rules = policy.kinds.get(kind)
    return frozenset(actor.value for actor in rules.enabled_for) if rules else frozenset()


def _permission(proposal: Proposal, enabled_for: frozenset[str]) -> Iterator[Finding]:
    if not enabled_for:
        yield refuse(RefusedReason.KIND_OFF, f"This brand has {proposal.kind} switched off.")
    elif proposal.proposer.value not in enabled_for:
        yield refuse(
            RefusedReason.ACTOR_KIND,
            f"This brand lets {', '.join(sorted(enabled_for))} {proposal.kind}, "
            f"not {proposal.proposer}.",
        )


def _in_the_way(now: Circumstances) -> Iterator[Finding]:
    if now.kill_switch:
        yield hold(HeldReason.KILL_SWITCH, "The kill switch is on: nothing is written.")
    if now.paused:
        yield hold(HeldReason.PAUSED, "The workspace is paused; it goes on when resumed.")
    if now.blocked_by:
        yield hold(
            HeldReason.BLOCKED_CONNECTION,
            f"The connection is blocked ({now.blocked_by}); connect it again.",
        )
    if now.missing_scopes:
        yield hold(
            HeldReason.MISSING_SCOPE,
            f"The app lacks {', '.join(now.missing_scopes)} on the store; grant it and reconnect.",
        )
    if now.circuit_open:
        yield hold(HeldReason.CIRCUIT, "The store has been failing; it is tried again by itself.")


def _amount(asked: Money, cap: Money | None, threshold: Money | None) -> Iterator[Finding]:
    if cap is None or threshold is None:
        yield approve(
            ApprovalReason.NO_LIMIT_FOR_CURRENCY,
            f"{asked} asked, and the policy has no limits in {asked.currency}.",
        )
    elif asked > cap:
        yield refuse(RefusedReason.OVER_CAP, f"{asked} asked > {cap} allowed for one action.")
    elif asked > threshold:
        yield approve(
            ApprovalReason.OVER_THRESHOLD,
            f"{asked} asked > {threshold} that need no second person.",
        )


def _age(age_days: int | None, rules: KindPolicy) -> Iterator[Finding]:
    if age_days is not None and age_days > rules.order_age_max_days:
        yield refuse(
            RefusedReason.ORDER_TOO_OLD,
            f"The order is {age_days} days old > {rules.order_age_max_days} days allowed.",
        )
