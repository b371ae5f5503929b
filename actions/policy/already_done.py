"""The check *not already done*: is it new, and is there room beside what is under way?

Promises: an equal effect, ours or anyone's, is held and never silently fine; what other intents may
still take is kept back, and what the read already shows isn't subtracted twice.
Does not know keys (a repeat of the same wish is answered before the gate) nor the brand's limits.
"""

from collections.abc import Iterator

from actions.policy.facts import Facts, OrderFacts, OtherIntent, Proposal
from actions.policy.verdicts import Check, Evidence, Finding, Verdict, hold
from actions.states import PAST_GATE, HeldReason
from integrations.money import Money, total


def not_already_done(*, facts: Facts) -> Verdict:
    """Is it new, and does it fit beside what is already under way?"""
    order = facts.order if isinstance(facts.order, OrderFacts) else None
    kept_back = reserving(others=facts.others, order=order)
    return Verdict.of(
        Check.NOT_ALREADY_DONE,
        [
            *_equal_intents(facts.proposal, facts.others),
            *(_equal_refunds(facts.proposal, order) if order else ()),
            *(_failed_refunds(order) if order else ()),
            *(_room(facts.proposal.money, order, kept_back) if order else ()),
        ],
        facts=_done_facts(facts, order, kept_back),
        otherwise="No equal effect on this order, and room beside what is under way.",
    )


def reserving(
    *, others: tuple[OtherIntent, ...], order: OrderFacts | None
) -> tuple[OtherIntent, ...]:
    """Return the intents whose money is kept back: what this read doesn't show of them yet.

    Reads lag, so that a confirmed refund may be missing in one, and its money with it.
    """
    refunds = order.refunds if order else ()
    # A refund with two markers is nobody's proof, so it frees no reservation.
    marked, known = {refund.markers for refund in refunds}, {seen.identifier for seen in refunds}
    return tuple(
        other
        for other in others
        if other.reserves and (other.marker,) not in marked and other.effect not in known
    )


def _equal_intents(proposal: Proposal, others: tuple[OtherIntent, ...]) -> Iterator[Finding]:
    for other in others:
        same = (other.kind, other.money) == (proposal.kind, proposal.money)
        if same and other.state in PAST_GATE:
            yield hold(
                HeldReason.EQUAL_EFFECT,
                f"{other.identifier} is a {other.kind} of {other.money} on this order too, "
                f"and it is {other.state}.",
            )


def _equal_refunds(proposal: Proposal, order: OrderFacts) -> Iterator[Finding]:
    for refund in order.refunds:
        if refund.taken == proposal.money:
            yield hold(
                HeldReason.EQUAL_EFFECT,
                f"The store already has a refund of {refund.taken} on this order: "
                f"{refund.identifier}.",
            )


def _failed_refunds(order: OrderFacts) -> Iterator[Finding]:
    for refund in order.refunds:
        if refund.failed:
            yield hold(
                HeldReason.FAILED_REFUND_OBJECT,
                f"{refund.identifier} failed in whole or part and may be retried on the store.",
            )


def _room(asked: Money, order: OrderFacts, kept_back: tuple[OtherIntent, ...]) -> Iterator[Finding]:
    if not kept_back or asked.currency != order.presentment_currency:
        return
    reserved = _sum_reserved(kept_back, order)
    if order.refunded + reserved + asked > order.received:
        yield hold(
            HeldReason.RESERVATION,
            f"{order.refunded} refunded + {reserved} reserved by other intents + {asked} asked"
            f" > {order.received} received.",
        )
    elif reserved + asked > order.returnable:
        yield hold(
            HeldReason.RESERVATION,
            f"{reserved} reserved by other intents + {asked} asked"
            f" > {order.returnable} that the store can still give back.",
        )


def _sum_reserved(kept_back: tuple[OtherIntent, ...], order: OrderFacts) -> Money:
    return total((other.money for other in kept_back), currency=order.presentment_currency)


def _done_facts(
    facts: Facts, order: OrderFacts | None, kept_back: tuple[OtherIntent, ...]
) -> Evidence:
    return {
        "asked": str(facts.proposal.money),
        "others": [
            {"intent": other.identifier, "state": other.state.value, "money": str(other.money)}
            for other in facts.others
        ],
        "reserving": [other.identifier for other in kept_back],
        "refunds": [
            {"refund": refund.identifier, "money": str(refund.taken), "failed": refund.failed}
            for refund in (order.refunds if order else ())
        ],
    }
