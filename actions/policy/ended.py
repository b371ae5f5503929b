"""What ended without what was asked, and what of it stands on the order after all.

Promises: a refund of ours that had failed and stands now is before a person, whatever is proposed
beside it; what may have left is done again by a person alone; a rest is never more than what is
missing on the order as it is read, whatever we had heard before.
Does not know the brand's limits, nor what is under way besides.
"""

from collections.abc import Iterator

from actions.policy.facts import EndedIntent, Facts, OrderFacts, OtherIntent, RefundFacts, Rest
from actions.policy.reservations import reserving
from actions.policy.verdicts import Finding, hold, refuse
from actions.states import HeldReason, RefusedReason, State
from integrations.actors import PEOPLE
from integrations.money import Money, total


def late_successes(facts: Facts, order: OrderFacts) -> Iterator[Finding]:
    """Find each refund that had failed and stands, or may yet, while nobody has explained it."""
    for ended in facts.ended:
        if ended.state is not State.FAILED or ended.explained:
            continue
        for refund in order.refunds:
            if _is_of(refund, ended) and refund.taken.amount > 0:
                # Not the evidence of its failure: who cleared that has not seen this.
                yield hold(
                    HeldReason.FAILED_REFUND_OBJECT,
                    f"{refund.identifier} had failed for {ended.identifier}; now {refund.taken} of "
                    "it stand or are under way.",
                    evidence=(f"{refund.identifier}#stands",),
                )


def equal_ends(facts: Facts) -> Iterator[Finding]:
    """Find what a machine would do once more although something of it may have left."""
    proposal = facts.proposal
    if proposal.proposer in PEOPLE:
        return
    for ended in facts.ended:
        if ended.may_have_left and not ended.explained and ended.money == proposal.money:
            yield hold(
                HeldReason.EQUAL_EFFECT,
                f"{ended.identifier} is a {ended.kind} of {ended.money} on this order too: it is "
                f"{ended.state}, and something of it may have left.",
                evidence=(ended.identifier,),
            )


def over_the_rest(facts: Facts, order: OrderFacts) -> Iterator[Finding]:
    """Find where more is asked than is missing of what it makes up for."""
    rest, asked = facts.rest, facts.proposal.money
    if rest is None or asked.currency != order.presentment_currency:
        return
    if rest.asked.currency != asked.currency:
        yield refuse(
            RefusedReason.OVER_REST, f"{asked} asked as the rest of {rest.asked}: two currencies."
        )
        return
    stands, open_money = _standing(rest, order)
    if stands + asked > rest.asked:
        yield refuse(
            RefusedReason.OVER_REST, f"{stands} stand + {asked} asked > {rest.asked} asked before."
        )
    elif stands + open_money + asked > rest.asked:
        yield hold(
            HeldReason.RESERVATION,
            f"{stands} stand + {open_money} under way + {asked} asked > {rest.asked} asked before.",
        )


def _standing(rest: Rest, order: OrderFacts) -> tuple[Money, Money]:
    """Return what stands of a family on the order, and what of it is under way."""
    currency = order.presentment_currency
    shown = [refund for refund in order.refunds if _is_of_family(refund, rest.family)]
    open_parts = [part.money for refund in shown for part in refund.open_parts]
    unseen = (other.money for other in reserving(others=rest.family, order=order))
    taken = total((refund.taken for refund in shown), currency=currency)
    under_way = total(open_parts, currency=currency)
    return taken - under_way, under_way + total(unseen, currency=currency)


def _is_of_family(refund: RefundFacts, family: tuple[OtherIntent, ...]) -> bool:
    return any(_is_of(refund, member) for member in family)


def _is_of(refund: RefundFacts, ours: EndedIntent | OtherIntent) -> bool:
    """Say whether a refund is an intent's: by identifier, or by the marker among others."""
    return refund.identifier == ours.effect or ours.marker in refund.markers
