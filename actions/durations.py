"""Every waiting time of the core in one setting.

Promises: nothing else in the core holds a time of its own; what an adapter declares
(`settles_after`, key life, call deadline) stays with the adapter; a schedule that ends says so, and
then a person is asked. Does not know which clock is running: moments come in as arguments.
"""

from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from typing import Self, TypeAlias

Schedule: TypeAlias = tuple[timedelta, ...]
"""Waits, one after the other; past the last one a person is asked."""


def _minutes(*waits: float) -> Schedule:
    return tuple(timedelta(minutes=wait) for wait in waits)


_SECONDS_FIRST = _minutes(1 / 12, 1 / 6, 1 / 3, 2 / 3)
_MACHINE_TIMES = frozenset({"send_by_after_claim", "lease_slack", "marker_created_tolerance"})
"""How fast machines are and how far clocks differ: a sandbox doesn't change that."""

_KEY_LIFE_USED = 5 / 6
"""The last send with a key is at 20 of 24 hours, so that a paused worker can't overrun its life."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Durations:
    """How long each thing may wait; the defaults are the product's, set for real platforms."""

    regate_after: timedelta = timedelta(seconds=60)
    """An authorized intent that is older than this and unsent is gated again."""
    approval_kept_for: timedelta = timedelta(hours=24)
    """An approval that nobody gives in this time becomes a hold."""
    held_patience: timedelta = timedelta(hours=26)
    """A hold older than this is no longer gated again: a person looks.

    Longer than the longest day of a brand, which has 25 hours where clocks go back: what the day's
    limit holds goes on by itself.
    """
    hand_over_after: timedelta = timedelta(minutes=15)
    """A case that waits for a platform which is down goes to the helpdesk after this."""

    send_by_after_claim: timedelta = timedelta(seconds=10)
    """The first byte leaves within this after the claim, or not at all."""
    lease_slack: timedelta = timedelta(seconds=30)
    """A lease lasts the adapter's call deadline plus this."""
    resend_for: timedelta = timedelta(hours=20)
    """No send later than this after the first, however long a key may live."""
    max_sends: int = 12
    """Sends of one intent, for all time."""

    absences_apart: timedelta = timedelta(minutes=3)
    """Two complete absences prove something only when at least this far apart."""
    marker_created_tolerance: timedelta = timedelta(minutes=5)
    """A found effect may be this much older than our first send, and no more."""

    not_sent_patience: timedelta = timedelta(minutes=15)
    """An intent that can't be sent for this long stands before a person."""
    unknown_listed_after: timedelta = timedelta(minutes=15)
    """An outcome unknown for this long is listed in the Console."""
    pending_patience: timedelta = timedelta(days=5)
    """A refund that the platform has not finished by then stands before a person."""

    not_sent_schedule: Schedule = _SECONDS_FIRST + _minutes(1, 2, 5, 10) + _minutes(15) * 96
    """When to send again what provably was not sent."""
    unknown_schedule: Schedule = _SECONDS_FIRST + _minutes(1, 2, 4, 8, 15) + _minutes(30) * 56
    """When to read again after a doubtful send."""
    pending_schedule: Schedule = _minutes(1, 5, 15, 30, 60, 180) + _minutes(360) * 28
    """When to read again what the platform has not finished."""
    watch_schedule: Schedule = _minutes(5, 15, 40, 60, 120) + _minutes(360) * 28
    """When to read again what ended otherwise than asked: a merchant may retry it by hand."""
    held_schedule: Schedule = _SECONDS_FIRST + _minutes(1, 2, 5, 10) + _minutes(15) * 104
    """When to gate again what is held."""
    jitter: float = 0.2
    """The share of a wait by which it may be drawn out, so that many waits don't end at once."""

    def resend_window(self, *, keys_kept_for: timedelta) -> timedelta:
        """Return how long after the first send a same-key send may still begin.

        Args:
            keys_kept_for: The platform's memory of a key; zero where it has none.
        """
        if not keys_kept_for:
            return self.resend_for
        return min(self.resend_for, keys_kept_for * _KEY_LIFE_USED)

    def scaled(self, factor: float) -> Self:
        """Return the same with shorter waits, for sandbox connections only.

        Args:
            factor: Above 0 and at most 1. What measures machines and clocks is left as it is.

        Raises:
            ValueError: The factor would lengthen waits or abolish them.
        """
        if not 0 < factor <= 1:
            raise ValueError(f"Durations scale by more than 0 and at most 1, not {factor}.")
        names = {field.name for field in fields(self)} - _MACHINE_TIMES
        waits = {name: _scaled(getattr(self, name), factor) for name in names}
        return replace(self, **waits)  # type: ignore[arg-type]  # each keeps its field's type


def next_due(
    schedule: Schedule, *, started_at: datetime, now: datetime, jitter: float
) -> datetime | None:
    """Return the schedule's next moment after now, or None where it has ended.

    Args:
        schedule: Waits, one after the other from `started_at`.
        started_at: When the doubt, the hold or the wait began.
        now: Database time.
        jitter: The share of the wait to add, drawn by the caller between 0 and `Durations.jitter`.
    """
    due_at = started_at
    for wait in schedule:
        due_at += wait
        if due_at > now:
            return due_at + wait * jitter
    return None


def _scaled(value: object, factor: float) -> object:
    match value:
        case timedelta():
            return value * factor
        case tuple():
            return tuple(wait * factor for wait in value)
        case _:
            return value
