"""The check *not already done*: is it new, and is there room beside what is under way?

Promises: an equal effect, ours or anyone's, by whatever kind that moves money, is held and never
silently fine, once for each thing that a person can look at; a knowing repeat isn't held for what
it repeats.
Does not know keys (a repeat of the same wish is answered before the gate) nor the brand's limits.
"""

from collections.abc import Iterator

from actions.policy.clearing import clear, cleared_facts
from actions.policy.ended import equal_ends, late_successes, over_the_rest
from actions.policy.facts import Facts, OrderFacts, OtherIntent, Proposal, RefundFacts
from actions.policy.reservations import kept_back_parts, reserving, room
from actions.policy.verdicts import Check, Finding, UsedFacts, Verdict, hold
from actions.states import PAST_GATE, HeldReason

__all__ = ["kept_back_parts", "not_already_done", "reserving"]


def not_already_done(*, facts: Facts) -> Verdict:
    """Is it new, and does it fit beside what is already under way?"""
    order = facts.order if isinstance(facts.order, OrderFacts) else None
    return Verdict.of(
        Check.NOT_ALREADY_DONE,
        clear(_found(facts, order), facts.cleared),
        facts=_done_facts(facts, order),
        otherwise=_nothing_found(facts, order),
    )


def _found(facts: Facts, order: OrderFacts | None) -> Iterator[Finding]:
    yield from _equal_intents(facts.proposal, facts.others)
    yield from equal_ends(facts)
    if order is not None:
        yield from _equal_refunds(facts.proposal, facts.others, order)
        yield from _failed_refunds(order)
        yield from late_successes(facts, order)
        yield from over_the_rest(facts, order)
        yield from room(facts.proposal, others=facts.others, order=order)


def _equal_intents(proposal: Proposal, others: tuple[OtherIntent, ...]) -> Iterator[Finding]:
    for other in others:
        if _is_equal(other, proposal) and other.identifier not in proposal.repeats:
            yield hold(
                HeldReason.EQUAL_EFFECT,
                f"{other.identifier} is a {other.kind} of {other.money} on this order too, "
                f"and it is {other.state}.",
                evidence=(other.identifier,),
            )


def _equal_refunds(
    proposal: Proposal, others: tuple[OtherIntent, ...], order: OrderFacts
) -> Iterator[Finding]:
    for refund in order.refunds:
        if refund.taken != proposal.money:
            continue
        owner = _owner(refund, others)
        if owner is None:
            yield hold(
                HeldReason.EQUAL_EFFECT,
                f"The store already has a refund of {refund.taken} on this order: "
                f"{refund.identifier}.",
                evidence=(refund.identifier,),
            )
        # An intent that is equal itself is found by itself: one thing, one finding.
        elif owner.identifier not in proposal.repeats and not _is_equal(owner, proposal):
            yield hold(
                HeldReason.EQUAL_EFFECT,
                f"The store already has a refund of {refund.taken} on this order: "
                f"{refund.identifier}, by {owner.identifier}, which is {owner.state}.",
                evidence=(owner.identifier,),
            )


def _failed_refunds(order: OrderFacts) -> Iterator[Finding]:
    for refund in order.refunds:
        if refund.failed:
            yield hold(
                HeldReason.FAILED_REFUND_OBJECT,
                f"{refund.identifier} failed in whole or part and may be retried on the store.",
                evidence=(refund.identifier,),
            )


def _is_equal(other: OtherIntent, proposal: Proposal) -> bool:
    """Say whether it moves the same money: by whatever kind, the customer has it once."""
    return other.money == proposal.money and other.state in PAST_GATE


def _owner(refund: RefundFacts, others: tuple[OtherIntent, ...]) -> OtherIntent | None:
    """Return the intent that a refund on the store belongs to, by its effect or its marker.

    One that has its effect has no other: a second refund with its marker is nobody's, and shown.
    """
    for other in others:
        if other.effect == refund.identifier:
            return other
        if not other.effect and refund.markers == (other.marker,):
            return other
    return None


def _nothing_found(facts: Facts, order: OrderFacts | None) -> str:
    new = "No equal effect of ours on this order"
    if facts.proposal.repeats:
        new = f"A knowing repeat of {', '.join(facts.proposal.repeats)}, and no other equal effect"
    if order is None:
        return f"{new}; the store has not been read."
    return f"{new.replace(' of ours', '')}, and room beside what is under way."


def _done_facts(facts: Facts, order: OrderFacts | None) -> UsedFacts:
    kept_back = reserving(others=facts.others, order=order)
    return {
        "asked": str(facts.proposal.money),
        "repeats": list(facts.proposal.repeats),
        "others": [
            {
                "intent": other.identifier,
                "kind": other.kind,
                "state": other.state.value,
                "money": str(other.money),
            }
            for other in facts.others
        ],
        "reserving": [other.identifier for other in kept_back],
        "refunds": [
            {"refund": refund.identifier, "money": str(refund.taken), "failed": refund.failed}
            for refund in (order.refunds if order else ())
        ],
        "under_way": [
            {"refund": refund.identifier, "payment": part.parent, "money": str(part.money)}
            for refund in (order.refunds if order else ())
            for part in refund.open_parts
        ],
        "ended": [
            {"intent": ended.identifier, "state": ended.state.value, "money": str(ended.money)}
            for ended in facts.ended
        ],
        "rest_of": None if facts.rest is None else str(facts.rest.asked),
        "cleared": cleared_facts(facts.cleared),
    }
