"""A ticket's record beside the store's, read live: by stored identifier, or by marker in doubt.

Promises: writes nothing and asks for nothing but reads; each line has one of four verdicts, and
*we don't know* is said wherever the store was not read whole. A second effect under an intent's
marker is always seen.
Does not know how a store is reached: the caller gives it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from actions.attempts import may_have_left, unresolved
from actions.echoes import newest_parts
from actions.models import ExternalObject, Intent, Target
from actions.states import State
from integrations.connecting import may_be_read
from integrations.models import Connection
from integrations.money import total
from integrations.ports import Observation, OrderSnapshot, Part, StorePort, Unreadable
from tickets.models import Ticket


class Verdict(StrEnum):
    """What one line of the comparison says."""

    AGREES = "agrees"
    DIFFERS = "differs"
    NOT_ON_STORE = "not_on_the_store"
    NOT_KNOWN = "we_dont_know"


class Unreachable(Exception):
    """The store's adapter can't be had; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One thing that both sides have a word on."""

    what: str
    ours: str
    theirs: str
    verdict: Verdict
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedIntent:
    """One intent with its lines."""

    identifier: str
    kind: str
    state: str
    asked: str
    target: str
    store: str
    was_read: bool
    """Did the store show the target, or say cleanly that there is none?"""
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One ticket's intents against the store."""

    ticket: str
    intents: tuple[TracedIntent, ...]

    @property
    def agrees(self) -> bool:
        """Does every line agree?"""
        return all(
            line.verdict is Verdict.AGREES for intent in self.intents for line in intent.lines
        )

    @property
    def was_read(self) -> bool:
        """Could everything be read that had to be?"""
        return all(intent.was_read for intent in self.intents)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """What one read of a target gave."""

    snapshot: OrderSnapshot | Unreadable

    @property
    def is_whole(self) -> bool:
        return isinstance(self.snapshot, OrderSnapshot) and self.snapshot.complete

    @property
    def effects(self) -> Sequence[Observation]:
        return self.snapshot.refunds if isinstance(self.snapshot, OrderSnapshot) else ()

    @property
    def why_not(self) -> str:
        if isinstance(self.snapshot, Unreadable):
            return f"the store could not be read: {self.snapshot.reason}"
        return "the store's list of effects came cut short"


def trace(ticket: Ticket, *, store: Callable[[Connection], StorePort], at: datetime) -> Trace:
    """Compare every intent of a ticket with what the store says now, one read a target.

    Args:
        ticket: Whose intents.
        store: Gives the adapter of a connection; raises `Unreachable` where there is none.
        at: Database time.
    """
    intents = Intent.objects.filter(ticket=ticket).select_related("target", "connection")
    seen: dict[int, _Seen] = {}
    traced = []
    for intent in intents.order_by("pk"):
        if intent.target_id not in seen:
            seen[intent.target_id] = _read(intent.target, intent.connection, store=store, at=at)
        traced.append(_traced(intent, seen[intent.target_id], at=at))
    return Trace(ticket=ticket.public_id, intents=tuple(traced))


def _read(
    target: Target,
    connection: Connection,
    *,
    store: Callable[[Connection], StorePort],
    at: datetime,
) -> _Seen:
    if not may_be_read(connection, at=at):
        reason = connection.blocked_by or "its circuit is open"
        return _Seen(snapshot=Unreadable(reason=f"the connection is stopped ({reason})"))
    try:
        port = store(connection)
    except Unreachable as problem:
        return _Seen(snapshot=Unreadable(reason=str(problem)))
    return _Seen(snapshot=port.read_order(order=target.identifier))


def _traced(intent: Intent, seen: _Seen, *, at: datetime) -> TracedIntent:
    bound = ExternalObject.objects.filter(intent=intent).first()
    lines = _bound(intent, bound, seen) if bound else _unbound(intent, seen, at=at)
    return TracedIntent(
        identifier=intent.public_id,
        kind=intent.kind,
        state=intent.state,
        asked=str(intent.money or ""),
        target=intent.target.identifier,
        store=intent.connection.domain,
        was_read=seen.is_whole or _is_absent_and_unsent(intent, seen),
        lines=tuple(lines),
    )


def _bound(intent: Intent, bound: ExternalObject, seen: _Seen) -> Iterator[Line]:
    """Compare an intent that has its effect's identifier: by that, and by nothing else."""
    ours = newest_parts(intent)
    found = next((one for one in seen.effects if one.identifier == bound.identifier), None)
    if found is None:
        yield from _missing(intent, bound, ours, seen)
    else:
        yield Line(
            what=bound.type, ours=bound.identifier, theirs=found.identifier, verdict=Verdict.AGREES
        )
        yield _compared("marker", intent.marker, " ".join(found.markers))
        yield _compared("amount", _expected(intent, ours), _sum(found.parts))
        yield from _parts(ours, found.parts)
    yield from _doubles(intent, seen, except_for=bound.identifier)


def _missing(
    intent: Intent, bound: ExternalObject, ours: Sequence[Part], seen: _Seen
) -> Iterator[Line]:
    verdict = Verdict.NOT_ON_STORE if seen.is_whole else Verdict.NOT_KNOWN
    why = "" if seen.is_whole else seen.why_not
    yield Line(what=bound.type, ours=bound.identifier, theirs="", verdict=verdict, why=why)
    yield Line(what="amount", ours=_expected(intent, ours), theirs="", verdict=verdict, why=why)
    for part in ours:
        yield Line(what="transaction", ours=_word(part), theirs="", verdict=verdict, why=why)


def _parts(ours: Sequence[Part], theirs: Sequence[Part]) -> Iterator[Line]:
    """Compare transaction by transaction, by identifier."""
    there = {part.identifier: part for part in theirs}
    for part in ours:
        other = there.pop(part.identifier, None)
        if other is None:
            verdict = Verdict.NOT_ON_STORE
            yield Line(what="transaction", ours=_word(part), theirs="", verdict=verdict)
        else:
            yield _compared("transaction", _word(part), _word(other), why=_difference(part, other))
    for other in there.values():
        yield Line(
            what="transaction",
            ours="",
            theirs=_word(other),
            verdict=Verdict.DIFFERS,
            why="not recorded here yet",
        )


def _doubles(intent: Intent, seen: _Seen, *, except_for: str) -> Iterator[Line]:
    for one in seen.effects:
        if intent.marker in one.markers and one.identifier != except_for:
            yield _foreign(one, why="a second effect carries this intent's marker")


def _foreign(one: Observation, *, why: str) -> Line:
    return Line(
        what=one.object_type,
        ours="",
        theirs=f"{one.identifier} {_sum(one.parts)}",
        verdict=Verdict.DIFFERS,
        why=why,
    )


def _unbound(intent: Intent, seen: _Seen, *, at: datetime) -> Iterator[Line]:
    """Look by marker for an intent that has no identifier of the store's."""
    marked = [one for one in seen.effects if intent.marker in one.markers]
    for one in marked:
        yield _foreign(one, why="the store holds it under this marker; it is not recorded here yet")
    if not marked:
        verdict, why = _absent(intent, seen, at=at)
        yield Line(what="marker", ours=intent.marker, theirs="", verdict=verdict, why=why)


def _absent(intent: Intent, seen: _Seen, *, at: datetime) -> tuple[Verdict, str]:
    """Judge an intent of which the read shows no effect."""
    if _is_absent_and_unsent(intent, seen):
        return Verdict.AGREES, "nothing was sent, and the store has no such order"
    if not seen.is_whole:
        return Verdict.NOT_KNOWN, seen.why_not
    if not unresolved(intent).exists():
        left = may_have_left(intent).exists()
        said = "it had no effect" if left else "nothing was sent"
        return Verdict.AGREES, f"{said}, and nothing is there"
    return Verdict.NOT_KNOWN, f"it was sent and nothing is there; {_still_open(intent, at=at)}"


def _still_open(intent: Intent, *, at: datetime) -> str:
    if intent.settles_at is None or intent.settles_at <= at:
        return "the worker's next read settles it"
    return f"it may still land until {intent.settles_at.isoformat(timespec='seconds')}"


def _is_absent_and_unsent(intent: Intent, seen: _Seen) -> bool:
    """Did the store say that there is no such target, of an intent that never left?"""
    snapshot = seen.snapshot
    said_so = isinstance(snapshot, Unreadable) and snapshot.not_found
    return said_so and not may_have_left(intent).exists()


def _compared(what: str, ours: str, theirs: str, *, why: str = "") -> Line:
    if ours == theirs:
        return Line(what=what, ours=ours, theirs=theirs, verdict=Verdict.AGREES)
    return Line(what=what, ours=ours, theirs=theirs, verdict=Verdict.DIFFERS, why=why or what)


def _difference(ours: Part, theirs: Part) -> str:
    differing = []
    if ours.money.currency != theirs.money.currency:
        differing.append("currency")
    if ours.money.amount != theirs.money.amount:
        differing.append("amount")
    if ours.status != theirs.status:
        differing.append("status")
    return ", ".join(differing)


def _expected(intent: Intent, recorded: Sequence[Part]) -> str:
    """Return what was asked; where a person accepted something else, what was recorded then."""
    if intent.money is None or intent.state == State.ACCEPTED:
        return _sum(recorded)
    return str(intent.money)


def _sum(parts: Sequence[Part]) -> str:
    """Add parts up, each currency by itself: two currencies must not stop the comparison."""
    currencies = dict.fromkeys(part.money.currency for part in parts)
    sums = (
        total((part.money for part in parts if part.money.currency == currency), currency=currency)
        for currency in currencies
    )
    return " + ".join(str(money) for money in sums) or "nothing"


def _word(part: Part) -> str:
    return f"{part.identifier} {part.money} {part.status}"
