"""What must be kept back on an order, and whether there is room beside it.

Promises: what other intents may still take and the read doesn't show is kept back; what it shows
isn't subtracted twice; what is under way on the store is kept back from its own payment too.
Does not know the brand's limits, nor whether the proposal is new.
"""

from collections.abc import Iterable, Iterator

from actions.policy.facts import OrderFacts, OtherIntent, Proposal
from actions.policy.verdicts import Finding, hold
from actions.states import HeldReason
from integrations.money import Money, total
from integrations.ports import RefundPart


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


def kept_back_parts(
    *, others: tuple[OtherIntent, ...], order: OrderFacts
) -> tuple[RefundPart, ...]:
    """Return what an allocation must leave alone, by payment.

    The parts of the intents that reserve, and those that are under way on the store: it may not
    have taken these off what it says is left.
    """
    reserved = (part for other in reserving(others=others, order=order) for part in other.parts)
    under_way = (part for refund in order.refunds for part in refund.open_parts)
    return (*reserved, *under_way)


def room(
    proposal: Proposal, *, others: tuple[OtherIntent, ...], order: OrderFacts
) -> Iterator[Finding]:
    """Find what leaves too little: of the order's remainder, or of what each payment can give."""
    asked = proposal.money
    if asked.currency != order.presentment_currency:
        return
    kept_back = reserving(others=others, order=order)
    strange = [other for other in kept_back if other.money.currency != asked.currency]
    if strange:
        yield _not_comparable(strange[0], asked)
        return
    reserved = total((other.money for other in kept_back), currency=asked.currency)
    sentence = _too_little_left(asked, reserved, order)
    if sentence is None and not proposal.to_store_credit:
        parts = kept_back_parts(others=others, order=order)
        sentence = _too_little_to_give(asked, reserved, parts, order)
    if sentence is not None:
        yield hold(HeldReason.RESERVATION, sentence)


def _too_little_left(asked: Money, reserved: Money, order: OrderFacts) -> str | None:
    # Without a reservation this is the store's own remainder, and *grounded* refuses.
    if not reserved.amount or order.refunded + reserved + asked <= order.received:
        return None
    return (
        f"{order.refunded} refunded + {reserved} reserved by other intents + {asked} asked"
        f" > {order.received} received."
    )


def _too_little_to_give(
    asked: Money, reserved: Money, parts: Iterable[RefundPart], order: OrderFacts
) -> str | None:
    if reserved.amount and reserved + asked > order.returnable:
        return (
            f"{reserved} reserved by other intents + {asked} asked"
            f" > {order.returnable} that the store can still give back."
        )
    free = _free(parts, order)
    if free < asked <= order.returnable:
        return (
            f"{asked} asked > {free} that the payments can give back beside what is under way on"
            f" them, of {order.returnable}."
        )
    return None


def _free(parts: Iterable[RefundPart], order: OrderFacts) -> Money:
    """Return what the payments can give back, each less what is kept back on it."""
    zero = Money.zero(order.presentment_currency)
    kept: dict[str | None, Money] = {}
    for part in parts:
        kept[part.parent] = kept.get(part.parent, zero) + part.money
    free = (
        max(payment.maximum - kept.get(payment.parent, zero), zero) for payment in order.suggested
    )
    return total(free, currency=order.presentment_currency)


def _not_comparable(other: OtherIntent, asked: Money) -> Finding:
    return hold(
        HeldReason.RESERVATION,
        f"{other.identifier} keeps back {other.money}, which can't be set against {asked}.",
    )
