"""A store with one order, and intents that are judged on it one after the other.

Promises: the store has a cap of its own, never more than was received nor than each payment can
give; reads may lag behind our own refunds, and may or may not show what is under way as taken.
Does not share code with the gate: it adds up what is true, not what was read.
"""

from dataclasses import dataclass, field, replace
from decimal import Decimal

from actions.catalogue.refund import allocate
from actions.policy import (
    Circumstances,
    Cleared,
    Decision,
    Facts,
    OrderFacts,
    OtherIntent,
    Ownership,
    Proposal,
    RefundFacts,
    Ruling,
    Usage,
    Used,
    judge,
    kept_back_parts,
)
from actions.states import PAST_GATE, HeldReason, State
from integrations.actors import ActorKind
from integrations.money import Money, total
from integrations.ports import RefundPart, Standing, SuggestedPart
from tests.property.gate_facts import DAY, ORDER, WIDE


def eur(minor: int) -> Money:
    return Money(amount=Decimal(minor).scaleb(-2), currency="EUR")


def _sum(parts: list[RefundPart]) -> Money:
    return total((part.money for part in parts), currency="EUR")


@dataclass(kw_only=True)
class OnStore:
    """One refund, as it truly is."""

    identifier: str
    parts: list[RefundPart]
    standings: list[Standing]
    marker: str | None = None
    shown: bool = True

    def standing(self, *wanted: Standing) -> list[RefundPart]:
        pairs = zip(self.parts, self.standings, strict=True)
        return [part for part, standing in pairs if standing in wanted]

    @property
    def taken(self) -> list[RefundPart]:
        return self.standing(Standing.SUCCEEDED, Standing.OPEN)


@dataclass(kw_only=True)
class OneOrder:
    """The order on the store, and every intent that the gate has let through."""

    maxima: dict[str, Money]
    shows_open_as_taken: bool
    refunds: list[OnStore] = field(default_factory=list)
    intents: list[OtherIntent] = field(default_factory=list)
    disturbed: bool = False
    """Has anyone else moved money on the order?"""

    @property
    def received(self) -> Money:
        return total(self.maxima.values(), currency="EUR")

    @property
    def refunded(self) -> Money:
        return total((_sum(refund.taken) for refund in self.refunds), currency="EUR")

    @property
    def reserved(self) -> Money:
        """What intents past the gate may still take, as nobody but this model knows it."""
        marked = {refund.marker for refund in self.refunds}
        waiting = (i for i in self.intents if i.state in PAST_GATE and i.marker not in marked)
        return total((intent.money for intent in waiting), currency="EUR")

    def read(self) -> OrderFacts:
        shown = [refund for refund in self.refunds if refund.shown]
        return OrderFacts(
            identifier=ORDER,
            presentment_currency="EUR",
            shop_currency="EUR",
            received=self.received,
            received_shop=self.received,
            refunds=tuple(_as_fact(refund) for refund in shown),
            suggested=tuple(
                SuggestedPart(parent=parent, gateway="g", maximum=self._left(parent, shown))
                for parent in self.maxima
            ),
            cancelled=False,
            open_disputes=(),
            age_days=1,
            ownership=Ownership.OWN,
            has_customer=True,
        )

    def _left(self, parent: str, refunds: list[OnStore]) -> Money:
        gone = [
            part
            for refund in refunds
            for part in (
                refund.taken if self.shows_open_as_taken else refund.standing(Standing.SUCCEEDED)
            )
            if part.parent == parent
        ]
        return self.maxima[parent] - _sum(gone)

    def propose(self, amount: Money, *, to_store_credit: bool) -> bool:
        """Have a wish judged, by a person who clears whatever can be; True if it is let through."""
        order = self.read()
        facts = Facts(
            proposal=Proposal(
                kind="store_credit" if to_store_credit else "refund",
                proposer=ActorKind.AI,
                order=ORDER,
                money=amount,
                to_store_credit=to_store_credit,
            ),
            circumstances=Circumstances(),
            others=tuple(self.intents),
            order=order,
            usage=_NOTHING_USED,
            shop_currency="EUR",
            day=DAY,
        )
        if _cleared(facts).ruling not in {Ruling.ALLOW, Ruling.APPROVE}:
            return False
        number = len(self.intents)
        reserved = kept_back_parts(others=facts.others, order=order)
        self.intents.append(
            OtherIntent(
                identifier=f"int_{number}",
                kind=facts.proposal.kind,
                state=State.AUTHORIZED,
                money=amount,
                marker=f"rzv:{number:030x}",
                parts=(RefundPart(parent=None, gateway="store_credit", money=amount),)
                if to_store_credit
                else allocate(amount, suggested=order.suggested, reserved=reserved),
            )
        )
        return True

    def send(self, number: int, *, standings: list[Standing], state: State, shown: bool) -> bool:
        """Send an intent to the store; False if the store's own cap refuses it."""
        intent = self.intents[number]
        parts = list(intent.parts)
        if not self._has_room_for(parts):
            self.intents[number] = replace(intent, state=State.FAILED)
            return False
        refund = OnStore(
            identifier=f"gid://shopify/Refund/{len(self.refunds)}",
            parts=parts,
            standings=(standings * len(parts))[: len(parts)],
            marker=intent.marker,
            shown=shown,
        )
        self.refunds.append(refund)
        effect = "" if state is State.UNKNOWN else refund.identifier
        self.intents[number] = replace(intent, state=state, effect=effect)
        return True

    def refund_by_hand(self, amount: Money, parent: str) -> None:
        """Let staff refund on the store, past all of our reservations, as far as it lets them."""
        parts = [RefundPart(parent=parent, gateway="g", money=amount)]
        if self._has_room_for(parts):
            self.disturbed = True
            identifier = f"gid://shopify/Refund/{len(self.refunds)}"
            self.refunds.append(
                OnStore(identifier=identifier, parts=parts, standings=[Standing.SUCCEEDED])
            )

    def settle(self, number: int, standing: Standing) -> None:
        """End whatever is under way in one refund, if there is such a one."""
        for refund in self.refunds[number : number + 1]:
            refund.standings = [standing if s is Standing.OPEN else s for s in refund.standings]

    def show_all(self) -> None:
        """Let reads catch up with what is true."""
        for refund in self.refunds:
            refund.shown = True

    def retry_by_hand(self, number: int) -> None:
        """Let staff retry what failed in one refund, as far as the store lets them."""
        for refund in self.refunds[number : number + 1]:
            failed = refund.standing(Standing.FAILED)
            if failed and self._has_room_for(failed):
                self.disturbed = True
                refund.standings = [
                    Standing.SUCCEEDED if s is Standing.FAILED else s for s in refund.standings
                ]

    def _has_room_for(self, parts: list[RefundPart]) -> bool:
        taken = [part for refund in self.refunds for part in refund.taken]
        fits = self.refunded + _sum(parts) <= self.received
        return fits and all(
            _sum([part for part in [*taken, *parts] if part.parent == parent]) <= maximum
            for parent, maximum in self.maxima.items()
        )


_ZERO = Used(amount=eur(0), count=0)
_NOTHING_USED = Usage(order=_ZERO, customer=_ZERO, day=_ZERO, recent=0)


def _as_fact(refund: OnStore) -> RefundFacts:
    return RefundFacts(
        identifier=refund.identifier,
        markers=(refund.marker,) if refund.marker else (),
        taken=_sum(refund.taken),
        failed=bool(refund.standing(Standing.FAILED)),
        open_parts=tuple(refund.standing(Standing.OPEN)),
    )


def _cleared(facts: Facts) -> Decision:
    """Judge, and judge again with every hold cleared on the evidence that it shows."""
    found = [f for v in judge(policy=WIDE, facts=facts).verdicts for f in v.findings]
    entries = tuple(
        Cleared(reason=finding.reason, evidence=finding.evidence, by="human_node node-1")
        for finding in found
        if isinstance(finding.reason, HeldReason)
    )
    return judge(policy=WIDE, facts=replace(facts, cleared=entries))
