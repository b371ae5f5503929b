"""The check *grounded*: does the order carry this refund, as the store shows it now?

Promises: over the store's own remainder is refused whatever we think; open refunds count as
refunded; an order that can't be read, or isn't provably the customer's, is never allowed.
Does not know what other intents have under way: that is *not already done*.
"""

from collections.abc import Iterator

from actions.policy.facts import Facts, OrderFacts, Ownership
from actions.policy.rules import Policy
from actions.policy.verdicts import Check, Finding, Ruling, Verdict, hold, refuse
from actions.states import HeldReason, RefusedReason
from integrations.money import Money
from integrations.ports import Unreadable

_NOT_READ = Finding(
    ruling=Ruling.NOT_READ, reason=None, sentence="The store has not been read yet."
)


def grounded(*, policy: Policy, facts: Facts) -> Verdict:
    """Does the order exist, belong to this ticket's customer, and allow this as it stands?"""
    proposal, order = facts.proposal, facts.order
    if order is None:
        return Verdict.of(Check.GROUNDED, (), facts={}, otherwise=_NOT_READ)
    if isinstance(order, Unreadable):
        found = _unreadable(order)
        return Verdict.of(Check.GROUNDED, (), facts={"order": proposal.order}, otherwise=found)
    rules = policy.kinds.get(proposal.kind)
    owner_asked = rules is None or rules.ownership_required
    return Verdict.of(
        Check.GROUNDED,
        [*(_ownership(order) if owner_asked else ()), *_order(order, proposal.money)],
        facts={
            "order": order.identifier,
            "ownership": order.ownership.value,
            "asked": str(proposal.money),
            "received": str(order.received),
            "refunded": str(order.refunded),
            "returnable": str(order.returnable),
            "presentment_currency": order.presentment_currency,
            "shop_currency": order.shop_currency,
            "cancelled": order.cancelled,
            "dispute_open": order.dispute_open,
        },
        otherwise=f"{order.refunded} refunded + {proposal.money} asked ≤ {order.received} received,"
        " on an order of this ticket's customer.",
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
                HeldReason.UNVERIFIED_CUSTOMER, "Nobody has verified who this ticket's customer is."
            )
        case Ownership.UNCLEAR:
            yield hold(
                HeldReason.OWNERSHIP_UNCLEAR,
                "Order and ticket share neither a customer nor an e-mail address to compare.",
            )
        case Ownership.OWN:
            return


def _order(order: OrderFacts, asked: Money) -> Iterator[Finding]:
    if asked.currency != order.presentment_currency:
        yield refuse(
            RefusedReason.OTHER_CURRENCY,
            f"{asked} asked, but the customer paid in {order.presentment_currency}.",
        )
    else:
        yield from _remainder(order, asked)
    if order.presentment_currency != order.shop_currency:
        yield hold(
            HeldReason.MULTI_CURRENCY,
            f"Paid in {order.presentment_currency} on a store in {order.shop_currency}: "
            "limits across currencies are not supported yet.",
        )
    if order.dispute_open:
        yield hold(HeldReason.DISPUTE, "A dispute is open: the bank may give the money back too.")


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
    elif order.returnable <= zero:
        yield refuse(
            RefusedReason.MOVES_NO_MONEY,
            "The store suggests no payment to give back over: the refund would move no money.",
        )
    elif asked > order.returnable:
        yield refuse(
            RefusedReason.OVER_REMAINDER,
            f"{asked} asked > {order.returnable} that the store can still give back.",
        )
