"""The structured facts that the gate judges, and how a read becomes them.

Promises: frozen records of identifiers, amounts, statuses and moments; no text that a customer or a
model wrote; a read that is incomplete or contradicts itself becomes Unreadable, never a fact.
Does not read anything itself, and does not judge.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import ROUND_CEILING, Context, Decimal
from enum import StrEnum
from unicodedata import normalize

from actions.states import PAST_GATE, HeldReason, State
from integrations.actors import ActorKind
from integrations.money import Money, exponent, total
from integrations.ports import (
    Observation,
    OrderLine,
    OrderSnapshot,
    RefundBasis,
    RefundPart,
    Standing,
    SuggestedPart,
    Unreadable,
)

_AMOUNT_ALONE = RefundBasis()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What someone wants: one action on one order."""

    kind: str
    proposer: ActorKind
    order: str
    money: Money
    basis: RefundBasis = _AMOUNT_ALONE
    to_store_credit: bool = False
    """Does it go to the customer's store credit, instead of back over the payments?"""
    repeats: tuple[str, ...] = ()
    """What it knowingly comes after, by identifier: what it repeats, or what it is the rest of."""

    @property
    def kind_in_words(self) -> str:
        """Return the kind as a sentence says it: `store credit`."""
        return self.kind.replace("_", " ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """How much of a limit was used before this proposal, in the shop's currency."""

    amount: Money
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What was authorized before, as the counters hold it under lock: of this kind of action."""

    order: Used
    """On this order, ever."""
    customer: Used
    """For this ticket's customer, on this day."""
    day: Used
    """In the workspace, on this day."""
    recent: int
    """In the workspace, within the minutes of the policy's velocity; 0 where it has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleared:
    """A reason to hold that a person has cleared, with the evidence that they saw."""

    reason: HeldReason
    evidence: tuple[str, ...]
    by: str
    """Kind and identity, as `human_node node-1`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What stands in the way of any write on this connection, as our own database knows it."""

    paused: bool = False
    kill_switch: bool = False
    blocked_by: str | None = None
    circuit_open: bool = False
    missing_scopes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherIntent:
    """Another intent of the workspace on the same order, in whatever ticket."""

    identifier: str
    kind: str
    state: State
    money: Money
    marker: str
    effect: str = ""
    """Its effect on the store, by identifier; empty where none is known."""
    parts: tuple[RefundPart, ...] = ()
    set_aside: bool = False
    counted: Money | None = None
    """What it has on the counters of its kind now, in the shop's currency; None if nothing."""

    @property
    def reserves(self) -> bool:
        """Say whether its money must be kept back until a read shows it, confirmed or not."""
        return self.state in PAST_GATE and not self.set_aside


_WIDE = Context(prec=60)
"""Room for a product of two amounts, divided by a third."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedIntent:
    """An intent of ours on the same order that failed or was reversed, in whatever ticket."""

    identifier: str
    kind: str
    state: State
    money: Money
    marker: str
    effect: str
    """Its effect on the store, by identifier; empty where none is known."""
    may_have_left: bool
    """Did something of it leave, or may it have? Not where the store rejected it."""
    explained: bool
    """Has a person said what its late success is for?"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """What a proposal makes up for: an intent, and all that makes up for it already."""

    asked: Money
    """What the first of them asked for."""
    family: tuple[OtherIntent, ...]
    """The first and every other, in whatever state; the proposal itself is not among them."""


class Ownership(StrEnum):
    """Whose order it is, seen from the ticket's customer."""

    OWN = "own"
    FOREIGN = "foreign"
    UNVERIFIED = "unverified"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundFacts:
    """One refund on the order, whoever made it."""

    identifier: str
    markers: tuple[str, ...]
    taken: Money
    """What its parts have given back or may yet: all but the failed ones."""
    failed: bool
    """Did a part fail? A merchant may retry it by hand, so that it can still succeed."""
    open_parts: tuple[RefundPart, ...] = ()
    """What of it is under way, by payment: the store may not have taken it off what is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderFacts:
    """One order from one complete read, all amounts in the presentment currency."""

    identifier: str
    presentment_currency: str
    shop_currency: str
    received: Money
    received_shop: Money
    """The same in the shop's currency."""
    refunds: tuple[RefundFacts, ...]
    suggested: tuple[SuggestedPart, ...]
    cancelled: bool
    open_disputes: tuple[str, ...] | None
    age_days: int
    ownership: Ownership
    has_customer: bool
    lines: tuple[OrderLine, ...] = ()
    reckoned: Money | None = None
    """What the store reckons for the proposal's basis; None where it has none."""

    @property
    def refunded(self) -> Money:
        """Return what has been given back or may yet be: open parts count."""
        return total((refund.taken for refund in self.refunds), currency=self.presentment_currency)

    @property
    def returnable(self) -> Money:
        """Return what the store itself suggests at most, over all payments."""
        return total((part.maximum for part in self.suggested), currency=self.presentment_currency)

    def in_shop_currency(self, money: Money) -> Money | None:
        """Return what an amount counts in the shop's currency, rounded up against the limits.

        At the rate at which the order was paid; None where there is none, or in another currency.
        """
        if money.currency != self.presentment_currency:
            return None
        if self.presentment_currency == self.shop_currency:
            return money
        # What was worth nothing would pass under every limit.
        if self.received.amount <= 0 or self.received_shop.amount <= 0:
            return None
        worth = _WIDE.divide(
            _WIDE.multiply(money.amount, self.received_shop.amount), self.received.amount
        )
        places = Decimal(1).scaleb(-exponent(self.shop_currency))
        rounded = worth.quantize(places, rounding=ROUND_CEILING, context=_WIDE)
        return Money(amount=rounded, currency=self.shop_currency)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All that the gate judges, at one moment."""

    proposal: Proposal
    circumstances: Circumstances
    others: tuple[OtherIntent, ...]
    order: OrderFacts | Unreadable | None
    """None at the proposal, where the store is not read yet."""
    usage: Usage
    shop_currency: str
    """Of the connected store: limits are held in it."""
    day: date
    """Which day it is where the brand is."""
    cleared: tuple[Cleared, ...] = ()
    ended: tuple[EndedIntent, ...] = ()
    rest: Rest | None = None
    """None where it makes up for nothing."""

    @property
    def asked_of_limits(self) -> Money | None:
        """Return what the proposal takes of the limits, in the shop's currency.

        None where that can't be told before the order is read.
        """
        if isinstance(self.order, OrderFacts):
            return self.order.in_shop_currency(self.proposal.money)
        same = self.proposal.money.currency == self.shop_currency
        return self.proposal.money if same else None


def order_facts(
    snapshot: OrderSnapshot | Unreadable, *, order: str, ownership: Ownership, now: datetime
) -> OrderFacts | Unreadable:
    """Reduce a read to facts.

    Args:
        snapshot: What the adapter read.
        order: The order that was asked for.
        ownership: From `ownership_of`, since identities are compared and never kept as facts.
        now: Database time.
    """
    if isinstance(snapshot, Unreadable):
        return snapshot
    doubt = _doubt(snapshot, order)
    if doubt:
        return Unreadable(reason=doubt, trace=snapshot.trace)
    return OrderFacts(
        identifier=snapshot.identifier,
        presentment_currency=snapshot.presentment_currency,
        shop_currency=snapshot.shop_currency,
        received=snapshot.received,
        received_shop=snapshot.received_shop,
        refunds=tuple(_refund_facts(seen, snapshot) for seen in snapshot.refunds),
        suggested=snapshot.suggested,
        cancelled=snapshot.cancelled_at is not None,
        open_disputes=snapshot.open_disputes,
        age_days=(now - snapshot.created_at).days,
        ownership=ownership,
        has_customer=snapshot.customer is not None,
        lines=snapshot.lines,
        reckoned=snapshot.reckoned,
    )


def same_identity(left: str | None, right: str | None) -> bool | None:
    """Compare two e-mail addresses or identifiers, case-folded; None where one is not known."""
    if not left or not right:
        return None
    return _folded(left) == _folded(right)


def ownership_of(
    *, verified: bool, same_customer: bool | None, same_email: bool | None
) -> Ownership:
    """Judge whose order it is: by the store's customer, else by e-mail, and only once verified.

    Another customer's order is that, verified or not: no person's word makes it this one's.
    """
    same = same_email if same_customer is None else same_customer
    if same is False:
        return Ownership.FOREIGN
    if not verified:
        return Ownership.UNVERIFIED
    return Ownership.UNCLEAR if same is None else Ownership.OWN


def _folded(identity: str) -> str:
    return normalize("NFC", normalize("NFC", identity.strip()).casefold())


def _doubt(snapshot: OrderSnapshot, order: str) -> str | None:
    if snapshot.identifier != order:
        return "the store answered with another order"
    if not snapshot.complete:
        return "the store's lists came back cut short"
    if {money.currency for money in _amounts(snapshot)} != {snapshot.presentment_currency}:
        return "the order's amounts are in more than one currency"
    if snapshot.received_shop.currency != snapshot.shop_currency:
        return "what was received in the shop's currency is in another one"
    return None


def _amounts(snapshot: OrderSnapshot) -> Iterable[Money]:
    yield snapshot.received
    if snapshot.reckoned is not None:
        yield snapshot.reckoned
    yield from (part.maximum for part in snapshot.suggested)
    yield from (part.money for refund in snapshot.refunds for part in refund.parts)


def _refund_facts(seen: Observation, snapshot: OrderSnapshot) -> RefundFacts:
    standing = [part.money for part in seen.parts if part.standing is not Standing.FAILED]
    return RefundFacts(
        identifier=seen.identifier,
        markers=seen.markers,
        taken=total(standing, currency=snapshot.presentment_currency),
        failed=len(standing) < len(seen.parts),
        open_parts=tuple(
            RefundPart(parent=part.parent, gateway=part.gateway, money=part.money)
            for part in seen.parts
            if part.standing is Standing.OPEN
        ),
    )
