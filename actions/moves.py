"""The one function that moves an intent, and the one that remarks on it without moving it.

Promises: a move is an arc of the table, made by compare-and-set on state and event count, with
its event in the same transaction; who lost the race gets StaleState and has changed nothing.
Events are hash-chained per intent. Where less stands of an intent by a move or an echo, less of it
is counted, and those are judged again that wait for that; so are those that wait for an order's
money that a move has freed.
Does not know why a move is right: callers bring the proof first, and the database looks for it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from hashlib import sha256
from typing import TypedDict, Unpack

from django.db import transaction
from django.db.models import Q, QuerySet

from actions.counters import recount, standing_of
from actions.keys import Canonical, canonical_json
from actions.models import GateDecision, Intent, IntentEvent
from actions.states import (
    PAST_GATE,
    SETTLED,
    HeldReason,
    IllegalMove,
    StaleState,
    State,
    may,
)
from integrations.actors import Actor
from integrations.models import SealedPayload
from integrations.money import Money
from integrations.ports import Part

_REASON_LENGTH_MAX = 500


class Columns(TypedDict, total=False):
    """The columns that may change together with a move or a remark, and no others."""

    state_reason: str
    decision: GateDecision
    document: str
    api_version: str
    body: bytes
    body_digest: str
    first_sent_at: datetime | None
    resend_until: datetime | None
    resend_ended_at: datetime
    settles_at: datetime | None
    unknown_since: datetime | None
    needs_human_since: datetime | None
    needs_human_reason: str
    due_at: datetime | None
    lease_until: datetime | None
    confirmed_at: datetime
    shop_amount: Decimal
    shop_currency: str
    counted_on: date | None
    counted_at: datetime | None
    counted_for: str
    accepted_reason: SealedPayload


_NOTHING_STANDS = (
    State.HELD,
    State.AWAITING_APPROVAL,
    State.REFUSED,
    State.WITHDRAWN,
    State.FAILED,
)
_STANDS_BY_ITS_ECHO = (State.ACCEPTED, State.FAILED, State.REVERSED)
_WAITS_FOR_MONEY = (HeldReason.RESERVATION, HeldReason.EQUAL_EFFECT)
_WAITS_FOR_LIMITS = (HeldReason.COUNTER, HeldReason.VELOCITY)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """What an event says beside the states: its name, by whom, when and why."""

    name: str
    by: Actor
    at: datetime
    reason: str
    details: Mapping[str, Canonical] = field(default_factory=dict)


def move(
    intent: Intent,
    to: State,
    *,
    by: Actor,
    at: datetime,
    reason: str,
    details: Mapping[str, Canonical] | None = None,
    **changes: Unpack[Columns],
) -> None:
    """Move an intent along one arc, with the columns that change together with its state.

    Args:
        intent: The row as the caller knows it; it is brought up to date.
        to: Where it goes.
        by: Who moves it.
        at: Database time.
        reason: Why, in words for the timeline; no personal data.
        details: Identifiers and amounts worth keeping beside the reason.
        changes: Other columns; `state_reason` is emptied unless it is among them.

    Raises:
        IllegalMove: The table has no such arc.
        StaleState: Someone moved the intent first.
    """
    origin = State(intent.state)
    if not may(origin, to):
        raise IllegalMove(f"An intent never moves from {origin} to {to}.")
    implied: Columns = {"state_reason": "", "lease_until": None}
    if to in SETTLED:
        implied |= {"due_at": None, "unknown_since": None}
    if to in SETTLED and to is not State.FAILED:
        implied |= {"needs_human_since": None, "needs_human_reason": ""}
    told = _Told(name=to.value, by=by, at=at, reason=reason, details=details or {})
    if to in _NOTHING_STANDS:
        _count(intent, None, at=at)
    _write(intent, told, to=to, changes=implied | changes)
    if origin in PAST_GATE and to not in PAST_GATE:
        judge_again_soon(_held_by_money(intent), at=at)


def count_what_stands(intent: Intent, parts: Iterable[Part], *, at: datetime) -> None:
    """Count of an intent that has ended what its effect says, by the parts of the newest echo.

    One that is still on its way, or confirmed, counts with all that was asked.
    """
    if intent.state in _STANDS_BY_ITS_ECHO:
        _count(intent, standing_of(intent, parts), at=at)


def _count(intent: Intent, standing: Money | None, *, at: datetime) -> None:
    if recount(intent, standing, at=at):
        judge_again_where_room(intent, at=at)


def judge_again_where_room(intent: Intent, *, at: datetime) -> int:
    """Make due now what the limits hold that an intent has given back to; return how many."""
    same = Q(workspace_id=intent.workspace_id, kind=intent.kind)
    held = Intent.objects.filter(same, state_reason__in=_WAITS_FOR_LIMITS)
    return judge_again_soon(held.exclude(pk=intent.pk), at=at)


def judge_again_soon(held: QuerySet[Intent], *, at: datetime) -> int:
    """Make held intents due now; return how many.

    One that somebody else is just judging is left to them. One that was left to a person stays.
    """
    waiting = held.filter(state=State.HELD, due_at__gt=at)
    free = list(waiting.select_for_update(skip_locked=True, no_key=True).values_list("pk"))
    return Intent.objects.filter(pk__in=[pk for (pk,) in free]).update(due_at=at)


def _held_by_money(intent: Intent) -> QuerySet[Intent]:
    return Intent.objects.filter(target_id=intent.target_id, state_reason__in=_WAITS_FOR_MONEY)


def remark(
    intent: Intent,
    name: str,
    *,
    by: Actor,
    at: datetime,
    reason: str,
    details: Mapping[str, Canonical] | None = None,
    **changes: Unpack[Columns],
) -> None:
    """Leave an event without a transition, with the columns that change with it.

    Raises:
        StaleState: Someone moved the intent first.
    """
    told = _Told(name=name, by=by, at=at, reason=reason, details=details or {})
    _write(intent, told, to=State(intent.state), changes=changes)


def flag(intent: Intent, needs_human: str, *, by: Actor, at: datetime, reason: str) -> None:
    """Put an intent before a person, with a reason from the closed list; once while it stands."""
    if intent.needs_human_reason == needs_human:
        return
    since = intent.needs_human_since or at
    remark(
        intent,
        "needs_human",
        by=by,
        at=at,
        reason=reason,
        details={"needs_human": needs_human},
        needs_human_since=since,
        needs_human_reason=needs_human,
    )


def record_birth(intent: Intent, *, reason: str) -> None:
    """Leave the first event of a new intent; called in the transaction that inserted it."""
    told = _Told(name="proposed", by=intent.proposer, at=intent.created_at, reason=reason)
    _append(intent, told, origin="")


def _write(intent: Intent, told: _Told, *, to: State, changes: Columns) -> None:
    origin = State(intent.state)
    written: dict[str, object] = {
        "state": to,
        "event_count": intent.event_count + 1,
        "updated_at": told.at,
        **changes,
    }
    # A lost race ends the caller's transaction too: a savepoint would only cost two statements.
    with transaction.atomic(savepoint=False):
        rows = Intent.objects.filter(pk=intent.pk, state=origin, event_count=intent.event_count)
        if rows.update(**written) != 1:
            raise StaleState(f"{intent.public_id} is not {origin} any more; nothing was changed.")
        for column, value in written.items():
            setattr(intent, column, value)
        _append(intent, told, origin=origin)


def _append(intent: Intent, told: _Told, *, origin: str) -> None:
    last = IntentEvent.objects.filter(intent=intent, number=intent.event_count - 1)
    previous = last.values_list("digest", flat=True).first() or ""
    reason = told.reason[:_REASON_LENGTH_MAX]
    body = canonical_json(
        {
            "at": told.at.astimezone(UTC).isoformat(),
            "by": told.by.identity,
            "by_kind": told.by.kind.value,
            "details": told.details,
            "from": str(origin),
            "intent": intent.public_id,
            "name": told.name,
            "number": intent.event_count,
            "reason": reason,
            "to": str(intent.state),
        }
    )
    IntentEvent.objects.create(
        workspace_id=intent.workspace_id,
        intent=intent,
        number=intent.event_count,
        name=told.name,
        from_state=origin,
        to_state=intent.state,
        by_kind=told.by.kind,
        by_identity=told.by.identity,
        reason=reason,
        at=told.at,
        body=body,
        previous_digest=previous,
        digest=sha256((previous + body).encode()).hexdigest(),
    )
