"""The structured facts that the gate judges, and how a read becomes them.

Promises: frozen records of identifiers, amounts, statuses and moments; no text that a customer or a
model wrote; a read that is incomplete or contradicts itself becomes Unreadable, never a fact.
Does not read anything itself, and does not judge.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from unicodedata import normalize

from actions.states import PAST_GATE, State
from integrations.actors import ActorKind
from integrations.money import Money, total
from integrations.ports import (
    Observation,
    OrderSnapshot,
    RefundPart,
    Standing,
    SuggestedPart,
    Unreadable,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What someone wants: one action on one order."""

    kind: str
    proposer: ActorKind
    order: str
    money: Money


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

    @property
    def reserves(self) -> bool:
        """Say whether its money must be kept back until a read shows it, confirmed or not."""
        return self.state in PAST_GATE and not self.set_aside


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


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderFacts:
    """One order from one complete read, all amounts in the presentment currency."""

    identifier: str
    presentment_currency: str
    shop_currency: str
    received: Money
    refunds: tuple[RefundFacts, ...]
    suggested: tuple[SuggestedPart, ...]
    cancelled: bool
    dispute_open: bool | None
    age_days: int
    ownership: Ownership

    @property
    def refunded(self) -> Money:
        """Return what has been given back or may yet be: open parts count."""
        return total((refund.taken for refund in self.refunds), currency=self.presentment_currency)

    @property
    def returnable(self) -> Money:
        """Return what the store itself suggests at most, over all payments."""
        return total((part.maximum for part in self.suggested), currency=self.presentment_currency)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All that the gate judges, at one moment."""

    proposal: Proposal
    circumstances: Circumstances
    others: tuple[OtherIntent, ...]
    order: OrderFacts | Unreadable | None
    """None at the proposal, where the store is not read yet."""


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
        refunds=tuple(_refund_facts(seen, snapshot) for seen in snapshot.refunds),
        suggested=snapshot.suggested,
        cancelled=snapshot.cancelled_at is not None,
        dispute_open=snapshot.dispute_open,
        age_days=(now - snapshot.created_at).days,
        ownership=ownership,
    )


def same_identity(left: str | None, right: str | None) -> bool | None:
    """Compare two e-mail addresses or identifiers, case-folded; None where one is not known."""
    if not left or not right:
        return None
    return _folded(left) == _folded(right)


def ownership_of(
    *, verified: bool, same_customer: bool | None, same_email: bool | None
) -> Ownership:
    """Judge whose order it is: by the store's customer, else by e-mail, and only once verified."""
    if not verified:
        return Ownership.UNVERIFIED
    same = same_email if same_customer is None else same_customer
    if same is None:
        return Ownership.UNCLEAR
    return Ownership.OWN if same else Ownership.FOREIGN


def _folded(identity: str) -> str:
    return normalize("NFC", normalize("NFC", identity.strip()).casefold())


def _doubt(snapshot: OrderSnapshot, order: str) -> str | None:
    if snapshot.identifier != order:
        return "the store answered with another order"
    if not snapshot.complete:
        return "the store's lists came back cut short"
    if {money.currency for money in _amounts(snapshot)} != {snapshot.presentment_currency}:
        return "the order's amounts are in more than one currency"
    return None


def _amounts(snapshot: OrderSnapshot) -> Iterable[Money]:
    yield snapshot.received
    yield from (part.maximum for part in snapshot.suggested)
    yield from (part.money for refund in snapshot.refunds for part in refund.parts)


def _refund_facts(seen: Observation, snapshot: OrderSnapshot) -> RefundFacts:
    standing = [part.money for part in seen.parts if part.standing is not Standing.FAILED]
    return RefundFacts(
        identifier=seen.identifier,
        markers=seen.markers,
        taken=total(standing, currency=snapshot.presentment_currency),
        failed=len(standing) < len(seen.parts),
    )
