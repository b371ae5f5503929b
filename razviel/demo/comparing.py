"""Our record beside the stores' own ledger, line by line. Pure.

Promises: what the store holds is counted whatever we believe, and what we say is held against it:
identifier, target, marker, amount, currency and every part's status. Nothing is rounded: what is
open stays open, and then the sums differ; what a person accepted instead of what was asked is
counted apart.
Does not know a database or a sandbox: both sides come in as records.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import TypeAlias

from integrations.money import Money

NOT_DONE = frozenset({"failed", "refused", "withdrawn"})
"""Our states that say: the store holds nothing of this."""
DONE = "confirmed"
ACCEPTED = "accepted"
_SUCCESS = "SUCCESS"
_NO_MONEY = frozenset({"FAILURE", "ERROR"})


@dataclass(frozen=True, slots=True, kw_only=True)
class OurIntent:
    """What we say of one intent."""

    identifier: str
    state: str
    target: str
    marker: str
    amount: Decimal
    currency: str
    reference: str | None
    """The external identifier that proves it; None where we have none."""
    accepted: Money | None = None
    """What a person accepted of it instead; None where nobody did."""
    to_store_credit: bool = False
    """Was it to become store credit, instead of going back over the payments?"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TheirEffect:
    """One refund that our app made on a store, as it truly is."""

    identifier: str
    target: str
    marker: str | None
    amount: Decimal
    currency: str
    statuses: tuple[str, ...]
    moved: Decimal
    """How much of the amount has succeeded."""
    to_store_credit: bool = False

    @property
    def stands(self) -> bool:
        """Did it move money, or may it still?"""
        return any(status not in _NO_MONEY for status in self.statuses)

    @property
    def succeeded(self) -> bool:
        """Has all of it moved?"""
        return bool(self.statuses) and set(self.statuses) == {_SUCCESS}

    @property
    def is_final(self) -> bool:
        """Has every part ended?"""
        return bool(self.statuses) and set(self.statuses) <= {_SUCCESS, *_NO_MONEY}


class Verdict(StrEnum):
    """What one line comes to."""

    EQUAL = "equal"
    """Confirmed here, and just this stands on the store."""
    ACCEPTED = "accepted"
    """Not what was asked, and just what a person accepted instead stands on the store."""
    NOTHING = "nothing"
    """Not done here, and nothing stands on the store."""
    OPEN = "open"
    """We say that it is not settled yet."""
    DOUBLED = "doubled"
    """One more effect of an intent that has one already."""
    FALSE = "false"
    """We say what is not so."""
    LOST = "lost"
    """It stands on the store and no intent of ours knows of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One intent with its effect, or what stands alone; `why` says where the two differ."""

    verdict: Verdict
    ours: OurIntent | None
    theirs: TheirEffect | None
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The lines, and what they add up to."""

    lines: tuple[Line, ...]
    intents: int
    confirmed: int
    accepted: int
    effects: int

    def count(self, verdict: Verdict) -> int:
        """Count the lines of a verdict."""
        return sum(line.verdict is verdict for line in self.lines)

    @property
    def doubled(self) -> int:
        """Count the effects beyond the one that an intent may have."""
        return self.count(Verdict.DOUBLED)

    @property
    def false(self) -> int:
        """Count the intents of which we say what is not so."""
        return self.count(Verdict.FALSE)

    @property
    def lost(self) -> int:
        """Count the effects that no intent knows of."""
        return self.count(Verdict.LOST)

    @property
    def holds(self) -> bool:
        """Do the two records say the same?"""
        return self._adds_up and not (self.doubled or self.false or self.lost)

    @property
    def sentence(self) -> str:
        """Say it in one line."""
        sign = "=" if self._adds_up else "!="
        accepted = f" + {self.accepted} accepted" if self.accepted else ""
        return (
            f"{self.intents} intents, {self.confirmed} confirmed{accepted} {sign} "
            f"{self.effects} effects, "
            f"{self.doubled} doubled, {self.false} false, {self.lost} lost"
        )

    @property
    def _adds_up(self) -> bool:
        return self.confirmed + self.accepted == self.effects


def compare(ours: Iterable[OurIntent], theirs: Iterable[TheirEffect]) -> Comparison:
    """Hold what we say against what the stores hold.

    Args:
        ours: Every intent in question.
        theirs: Every effect of our app on their stores, the failed ones too, oldest first.
    """
    intents, effects = tuple(ours), tuple(theirs)
    belonging = _by_intent(intents, effects)
    lines: list[Line] = []
    for intent in intents:
        lines += _lines(intent, belonging[intent.identifier])
    known = {effect.identifier for held in belonging.values() for effect in held}
    lines += [
        Line(verdict=Verdict.LOST, ours=None, theirs=effect, why="no intent knows of it")
        for effect in effects
        if effect.stands and effect.identifier not in known
    ]
    return Comparison(
        lines=tuple(lines),
        intents=len(intents),
        confirmed=sum(intent.state == DONE for intent in intents),
        accepted=sum(intent.state == ACCEPTED for intent in intents),
        effects=sum(effect.stands for effect in effects),
    )


def _by_intent(
    intents: Sequence[OurIntent], effects: Sequence[TheirEffect]
) -> dict[str, list[TheirEffect]]:
    """Give each effect to the intent whose marker it carries, else to the first that names it."""
    by_marker = {intent.marker: intent.identifier for intent in intents}
    by_reference: dict[str, str] = {}
    for intent in intents:
        if intent.reference is not None:
            by_reference.setdefault(intent.reference, intent.identifier)
    belonging: dict[str, list[TheirEffect]] = defaultdict(list)
    for effect in effects:
        owner = by_marker.get(effect.marker or "") or by_reference.get(effect.identifier)
        if owner is not None:
            belonging[owner].append(effect)
    return belonging


def _lines(intent: OurIntent, held: Sequence[TheirEffect]) -> list[Line]:
    """Judge an intent by its effect; every other one that stands is a double."""
    own = _own(intent, held)
    doubles = [
        Line(verdict=Verdict.DOUBLED, ours=intent, theirs=effect, why="one effect too many")
        for effect in held
        if effect is not own and effect.stands
    ]
    verdict, why = _judge(intent, own)
    return [Line(verdict=verdict, ours=intent, theirs=own, why=why), *doubles]


def _own(intent: OurIntent, held: Sequence[TheirEffect]) -> TheirEffect | None:
    """Return the effect that the intent names, else the first that stands, else the first."""
    named = [effect for effect in held if effect.identifier == intent.reference]
    standing = [effect for effect in held if effect.stands]
    return next(iter([*named, *standing, *held]), None)


def _judge(intent: OurIntent, effect: TheirEffect | None) -> tuple[Verdict, str]:
    stands = effect is not None and effect.stands
    if intent.state in _STANDING:
        good, differences = _STANDING[intent.state]
        if effect is None:
            return Verdict.FALSE, f"{intent.state}, and the store holds nothing of it"
        differing = differences(intent, effect)
        return (Verdict.FALSE, "; ".join(differing)) if differing else (good, "")
    if intent.state in NOT_DONE:
        if stands:
            return Verdict.FALSE, f"{intent.state}, and the store holds it"
        return Verdict.NOTHING, ""
    return Verdict.OPEN, "the store holds it" if stands else "the store holds nothing of it"


def _from_asked(intent: OurIntent, effect: TheirEffect) -> list[str]:
    """List where what stands differs from what was asked."""
    asked = (intent.amount, intent.currency)
    differing = _differences(intent, effect, says=asked, stands=effect.amount)
    if not effect.succeeded:
        differing.append(f"confirmed, and its parts are {_statuses(effect)}")
    return differing


def _from_accepted(intent: OurIntent, effect: TheirEffect) -> list[str]:
    """List where what stands differs from what a person accepted."""
    taken = intent.accepted
    accepted = (None, None) if taken is None else (taken.amount, taken.currency)
    differing = _differences(intent, effect, says=accepted, stands=effect.moved)
    if not effect.is_final:
        differing.append(f"accepted, and its parts are {_statuses(effect)}")
    return differing


def _differences(
    intent: OurIntent,
    effect: TheirEffect,
    *,
    says: tuple[Decimal | None, str | None],
    stands: Decimal,
) -> list[str]:
    amount, currency = says
    pairs = {
        "reference": (intent.reference, effect.identifier),
        "target": (intent.target, effect.target),
        "marker": (intent.marker, effect.marker),
        "amount": (amount, stands),
        "currency": (currency, effect.currency),
        "to store credit": (intent.to_store_credit, effect.to_store_credit),
    }
    return [f"{name}: {a} here, {b} there" for name, (a, b) in pairs.items() if a != b]


def _statuses(effect: TheirEffect) -> str:
    return ", ".join(effect.statuses) or "none"


_Differing: TypeAlias = Callable[[OurIntent, TheirEffect], list[str]]

_STANDING: dict[str, tuple[Verdict, _Differing]] = {
    DONE: (Verdict.EQUAL, _from_asked),
    ACCEPTED: (Verdict.ACCEPTED, _from_accepted),
}
"""Our states that say: this stands on the store."""
