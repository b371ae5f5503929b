"""The four checks together, and the one of the actor and of what stands in the way: permitted.

Promises: pure functions of frozen facts; what can pass by itself holds, what can't refuses, each
with a sentence and its arithmetic; nothing is allowed on facts that were not read.
Does not know who reads the facts or what follows from the verdicts.
"""

from collections.abc import Iterator

from actions.policy.already_done import not_already_done
from actions.policy.facts import Circumstances, Facts, Proposal
from actions.policy.grounds import grounded
from actions.policy.limits import within_limits
from actions.policy.rules import Policy
from actions.policy.verdicts import Check, Decision, Finding, Verdict, decide, hold, refuse
from actions.states import HeldReason, RefusedReason


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
        otherwise=(
            f"Actors of kind {proposal.proposer} may do a {proposal.kind_in_words} here, now."
        ),
    )


def _enabled_for(policy: Policy, kind: str) -> frozenset[str]:
    rules = policy.kinds.get(kind)
    return frozenset(actor.value for actor in rules.enabled_for) if rules else frozenset()


def _permission(proposal: Proposal, enabled_for: frozenset[str]) -> Iterator[Finding]:
    if not enabled_for:
        yield refuse(
            RefusedReason.KIND_OFF, f"This brand has the {proposal.kind_in_words} switched off."
        )
    elif proposal.proposer.value not in enabled_for:
        yield refuse(
            RefusedReason.ACTOR_KIND,
            f"This brand lets {', '.join(sorted(enabled_for))} do a {proposal.kind_in_words}, "
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
