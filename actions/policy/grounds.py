"""The check *grounded*: does the order carry this, as the store shows it now?

Promises: over the store's own remainder is refused whatever we think; open refunds count as
refunded; an order that can't be read, or isn't provably the customer's, is never allowed unless the
brand or a person has said so.
Does not know what other intents have under way: that is *not already done*.
"""

from collections.abc import Iterator

from actions.policy.basis import basis
from actions.policy.clearing import clear, cleared_facts
from actions.policy.facts import Facts, OrderFacts, Ownership, Proposal
from actions.policy.rules import Policy
from actions.policy.verdicts import Check, Finding, UsedFacts, Verdict, hold, not_read, refuse
from actions.states import HeldReason, RefusedReason
from integrations.money import Money
from integrations.ports import Unreadable


def grounded(*, policy: Policy, facts: Facts) -> Verdict:
    """Does the order exist, belong to this ticket's customer, and allow this as it stands?"""
    proposal, order = facts.proposal, facts.order
    if order is None:
        unread = not_read("The store has not been read yet.")
        return Verdict.of(Check.GROUNDED, (), facts={}, otherwise=unread)
    if isinstance(order, Unreadable):
        found = _unreadable(order)
        return Verdict.of(Check.GROUNDED, (), facts={"order": proposal.order}, otherwise=found)
    rules = policy.kinds.get(proposal.kind)
    owner_asked = rules is None or rules.ownership_required
    ownership = _ownership(order) if owner_asked else ()
    return Verdict.of(
        Check.GROUNDED,
        clear([*ownership, *_order(order, proposal)], facts.cleared),
        facts=_order_facts(facts, order),
        otherwise=_allowed(order, proposal, owner_asked=owner_asked),
    )


def _unreadable(read: Unreadable) -> Finding:
    if read.not_found:
        return refuse(RefusedReason.NO_SUCH_ORDER, "The store shows us no such order.")
    if read.blocked_by:
        return hold(
            HeldReason.BLOCKED_CONNECTION,
            f"The store did not let us read the order ({read.blocked_by}); connect it again.",
        )
    return hold(HeldReason.FACTS_UNAVAILABLE, f"The order can't be judged: {read.reason}.")


def _ownership(order: OrderFacts) -> Iterator[Finding]:
    match order.ownership:
        case Ownership.FOREIGN:
            yield refuse(
                RefusedReason.FOREIGN_ORDER, "The order is another customer's than this ticket's."
            )
        case Ownership.UNVERIFIED:
            yield hold(
                HeldReason.UNVERIFIED_CUSTOMER,
                "Nobody has verified who this ticket's customer is.",
                evidence=(order.identifier,),
            )
        case Ownership.UNCLEAR:
            yield hold(
                HeldReason.OWNERSHIP_UNCLEAR,
                "Order and ticket share neither a customer nor an e-mail address to compare.",
                evidence=(order.identifier,),
            )
        case Ownership.OWN:
            return


def _order(order: OrderFacts, proposal: Proposal) -> Iterator[Finding]:
    asked = proposal.money
    if asked.currency != order.presentment_currency:
        yield refuse(
            RefusedReason.OTHER_CURRENCY,
            f"{asked} asked, but the customer paid in {order.presentment_currency}.",
        )
    else:
        yield from _remainder(order, asked)
        yield from _way_back(order, proposal)
        yield from basis(proposal, order)
    if order.open_disputes:
        yield hold(
            HeldReason.DISPUTE,
            "A dispute is open: the bank may give the money back too.",
            evidence=tuple(sorted(order.open_disputes)),
        )


def _remainder(order: OrderFacts, asked: Money) -> Iterator[Finding]:
    zero = Money.zero(asked.currency)
    if asked <= zero:
        yield refuse(RefusedReason.AMOUNT_ZERO, f"{asked} asked is not more than nothing.")
    if order.received <= zero:
        yield refuse(
            RefusedReason.UNPAID, f"{order.received} received: there is nothing to refund."
        )
    elif order.refunded + asked > order.received:
        yield refuse(
            RefusedReason.OVER_REMAINDER,
            f"{order.refunded} refunded + {asked} asked > {order.received} received.",
        )


def _way_back(order: OrderFacts, proposal: Proposal) -> Iterator[Finding]:
    """Find why the money can't go where it should: over the payments, or to a store credit."""
    asked, zero = proposal.money, Money.zero(proposal.money.currency)
    if proposal.to_store_credit:
        if not order.has_customer:
            yield refuse(
                RefusedReason.NO_CUSTOMER,
                "The order has no customer on the store who could have a store credit.",
            )
    elif order.received > zero and order.returnable <= zero:
        yield refuse(
            RefusedReason.MOVES_NO_MONEY,
            "The store suggests no payment to give back over: the refund would move no money.",
        )
    elif order.received > zero and asked > order.returnable:
        yield refuse(
            RefusedReason.OVER_REMAINDER,
            f"{asked} asked > {order.returnable} that the store can still give back.",
        )


def _allowed(order: OrderFacts, proposal: Proposal, *, owner_asked: bool) -> str:
    whose = (
        "on an order of this ticket's customer"
        if owner_asked
        else "and the brand doesn't ask whose order it is"
    )
    return (
        f"{order.refunded} refunded + {proposal.money} asked ≤ {order.received} received, {whose}."
    )


def _order_facts(facts: Facts, order: OrderFacts) -> UsedFacts:
    proposal, disputes = facts.proposal, order.open_disputes
    in_shop_currency = order.in_shop_currency(proposal.money)
    return {
        "order": order.identifier,
        "ownership": order.ownership.value,
        "asked": str(proposal.money),
        "asked_in_shop_currency": str(in_shop_currency) if in_shop_currency is not None else None,
        "received": str(order.received),
        "received_in_shop_currency": str(order.received_shop),
        "refunded": str(order.refunded),
        "returnable": str(order.returnable),
        "reckoned": str(order.reckoned) if order.reckoned is not None else None,
        "presentment_currency": order.presentment_currency,
        "shop_currency": order.shop_currency,
        "to_store_credit": proposal.to_store_credit,
        "has_customer": order.has_customer,
        "cancelled": order.cancelled,
        "open_disputes": None if disputes is None else sorted(disputes),
        "cleared": cleared_facts(facts.cleared),
    }
