"""For what a refund is given: lines, shipping, duties. Does the order carry them?

Promises: never more than the store itself reckons for them, never more items than it says may still
be refunded, and nothing without the store's own reckoning.
Does not know prices, taxes or discounts: the store reckons, this compares.
"""

from collections import Counter
from collections.abc import Iterator

from actions.policy.facts import OrderFacts, Proposal
from actions.policy.verdicts import Finding, hold, refuse
from actions.states import HeldReason, RefusedReason
from integrations.ports import RefundLine


def basis(proposal: Proposal, order: OrderFacts) -> Iterator[Finding]:
    """Find what in the basis the order doesn't carry; the amount is in the order's currency."""
    given = proposal.basis
    if given.is_amount_alone:
        return
    yield from _lines(given.lines, order)
    if given.shipping is not None and given.shipping.currency != order.presentment_currency:
        yield refuse(
            RefusedReason.OTHER_CURRENCY,
            f"{given.shipping} of shipping, but the customer paid in {order.presentment_currency}.",
        )
    if order.reckoned is None:
        yield hold(
            HeldReason.FACTS_UNAVAILABLE,
            "The store has not reckoned what these items, shipping and duties come to.",
        )
    elif proposal.money > order.reckoned:
        yield refuse(
            RefusedReason.OVER_RECKONED,
            f"{proposal.money} asked > {order.reckoned} that the store reckons for these items, "
            "shipping and duties.",
        )


def _lines(lines: tuple[RefundLine, ...], order: OrderFacts) -> Iterator[Finding]:
    refundable = {line.identifier: line.refundable for line in order.lines}
    wanted: Counter[str] = Counter()
    for line in lines:
        wanted[line.line] += line.quantity
        if line.quantity < 1:
            yield _over(f"{line.quantity} of {line.line} asked is not more than nothing.")
    for identifier, quantity in wanted.items():
        if identifier not in refundable:
            yield _over(f"The order has no line {identifier}.")
        elif quantity > refundable[identifier]:
            yield _over(
                f"{quantity} of {identifier} asked > {refundable[identifier]} that may still be "
                "refunded."
            )


def _over(sentence: str) -> Finding:
    return refuse(RefusedReason.OVER_LINES, sentence)
