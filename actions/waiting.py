"""Waiting for a platform's word: when to look again, and when a person must look.

Promises: an intent that waits has its next look planned, or stands before a person, or both; a
reason that says more than *too long* is never written over by it.
Does not read, and does not know what a read means: that is `actions.reconcile`.
"""

from datetime import datetime

from actions.models import Intent
from actions.moves import flag
from actions.schedule import due_again, durations_of, entered_at
from actions.states import NeedsHuman, State
from integrations.actors import SYSTEM

TOO_LONG = frozenset(
    {
        NeedsHuman.HELD_TOO_LONG,
        NeedsHuman.NOT_SENT_TOO_LONG,
        NeedsHuman.UNKNOWN_TOO_LONG,
        NeedsHuman.PENDING_TOO_LONG,
    }
)
"""Reasons that are over once the intent goes on."""


def watch(intent: Intent, *, at: datetime) -> None:
    """Plan the next look at what ended otherwise than asked; when that schedule ends, none."""
    since = entered_at(intent)
    schedule = durations_of(intent.connection).watch_schedule
    due_at = due_again(schedule, intent=intent, started_at=since, now=at)
    Intent.objects.filter(pk=intent.pk, state=intent.state).update(due_at=due_at)
    intent.due_at = due_at


def wait(intent: Intent, *, at: datetime, not_before: datetime | None = None) -> None:
    """Plan the next look by the schedule of the state, or when a look can prove more."""
    durations = durations_of(intent.connection)
    if intent.state == State.UNKNOWN:
        schedule, since = durations.unknown_schedule, intent.unknown_since or entered_at(intent)
        patience, why = durations.unknown_listed_after, NeedsHuman.UNKNOWN_TOO_LONG
    else:
        schedule, since = durations.pending_schedule, entered_at(intent)
        patience, why = durations.pending_patience, NeedsHuman.PENDING_TOO_LONG
    due_at = due_again(schedule, intent=intent, started_at=since, now=at)
    if not_before is not None and not_before > at:
        due_at = not_before if due_at is None else min(due_at, not_before)
    Intent.objects.filter(pk=intent.pk, state=intent.state).update(due_at=due_at)
    intent.due_at = due_at
    if intent.needs_human_reason not in ("", *TOO_LONG):
        return
    if due_at is None:
        said = "the schedule of reads has ended"
        flag(intent, NeedsHuman.EXHAUSTED_SCHEDULE, by=SYSTEM, at=at, reason=said)
    elif at - since >= patience:
        flag(intent, why, by=SYSTEM, at=at, reason="the store has not said for long how it ended")
