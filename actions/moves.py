"""The one function that moves an intent, and the one that remarks on it without moving it.

Promises: a move is an arc of the table, made by compare-and-set on state and event count, with
its event in the same transaction; who lost the race gets StaleState and has changed nothing.
Events are hash-chained per intent.
Does not know why a move is right: callers bring the proof first, and the database looks for it.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256

from django.db import transaction

from actions.keys import Canonical, canonical_json
from actions.models import Intent, IntentEvent
from actions.states import SETTLED, IllegalMove, StaleState, State, may
from integrations.actors import Actor

_REASON_LENGTH_MAX = 500


def move(
    intent: Intent,
    to: State,
    *,
    by: Actor,
    at: datetime,
    reason: str,
    details: Mapping[str, Canonical] | None = None,
    **changes: object,
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
    implied: dict[str, object] = {"state_reason": "", "lease_until": None}
    if to in SETTLED:
        implied |= {"due_at": None, "unknown_since": None}
    if to in SETTLED and to is not State.FAILED:
        implied |= {"needs_human_since": None, "needs_human_reason": ""}
    _write(
        intent,
        name=to.value,
        to=to,
        by=by,
        at=at,
        reason=reason,
        details=details,
        changes=implied | changes,
    )


def remark(
    intent: Intent,
    name: str,
    *,
    by: Actor,
    at: datetime,
    reason: str,
    details: Mapping[str, Canonical] | None = None,
    **changes: object,
) -> None:
    """Leave an event without a transition, with the columns that change with it.

    Raises:
        StaleState: Someone moved the intent first.
    """
    state = State(intent.state)
    _write(
        intent, name=name, to=state, by=by, at=at, reason=reason, details=details, changes=changes
    )


def flag(intent: Intent, needs_human: str, *, by: Actor, at: datetime, reason: str) -> None:
    """Put an intent before a person, with a reason from the closed list; once, while the reason stands."""
    if intent.needs_human_reason == needs_human:
        return
    since = intent.needs_human_since or at
    remark(
        intent, "needs_human", by=by, at=at, reason=reason, details={"needs_human": needs_human},
        needs_human_since=since, needs_human_reason=needs_human,
    )  # fmt: skip


def record_birth(intent: Intent, *, reason: str) -> None:
    """Leave the first event of a new intent; called in the transaction that inserted it."""
    _append(
        intent,
        name="proposed",
        origin="",
        by=intent.proposer,
        at=intent.created_at,
        reason=reason,
        details={},
    )


def _write(
    intent: Intent,
    *,
    name: str,
    to: State,
    by: Actor,
    at: datetime,
    reason: str,
    details: Mapping[str, Canonical] | None,
    changes: dict[str, object],
) -> None:
    origin = State(intent.state)
    changes = {"state": to, "event_count": intent.event_count + 1, "updated_at": at} | changes
    with transaction.atomic():
        rows = Intent.objects.filter(pk=intent.pk, state=origin, event_count=intent.event_count)
        if rows.update(**changes) != 1:
            raise StaleState(f"{intent.public_id} is not {origin} any more; nothing was changed.")
        for column, value in changes.items():
            setattr(intent, column, value)
        _append(
            intent, name=name, origin=origin, by=by, at=at, reason=reason, details=details or {}
        )


def _append(
    intent: Intent,
    *,
    name: str,
    origin: str,
    by: Actor,
    at: datetime,
    reason: str,
    details: Mapping[str, Canonical],
) -> None:
    number = intent.event_count
    previous = (
        IntentEvent.objects.filter(intent=intent, number=number - 1)
        .values_list("digest", flat=True)
        .first()
        or ""
    )
    reason = reason[:_REASON_LENGTH_MAX]
    body = canonical_json(
        {
            "at": at.astimezone(UTC).isoformat(), "by": by.identity, "by_kind": by.kind.value, "details": details,
            "from": str(origin), "intent": intent.public_id, "name": name, "number": number, "reason": reason,
            "to": str(intent.state),
        }
    )  # fmt: skip
    IntentEvent.objects.create(
        workspace_id=intent.workspace_id,
        intent=intent,
        number=number,
        name=name,
        from_state=origin,
        to_state=intent.state,
        by_kind=by.kind,
        by_identity=by.identity,
        reason=reason,
        at=at,
        body=body,
        previous_digest=previous,
        digest=sha256((previous + body).encode()).hexdigest(),
    )
