"""When a row is due again: the schedules of `Durations` applied to an intent.

Promises: `due_at` on the row is the only schedule there is; waits are drawn out by jitter and
scaled down on sandbox connections alone; a schedule that has ended yields None, and the caller
puts the intent before a person.
Does not know what is done when it is due.
"""

from datetime import datetime
from random import random

from actions.durations import Durations, Schedule, next_due
from actions.models import Intent
from integrations.models import Connection


def durations_of(connection: Connection) -> Durations:
    """Return how long things may wait on a connection."""
    return Durations().scaled(float(connection.time_scale))


def due_again(
    schedule: Schedule, *, intent: Intent, started_at: datetime, now: datetime
) -> datetime | None:
    """Return the schedule's next moment for an intent, with jitter; None where it has ended."""
    share = random() * durations_of(intent.connection).jitter  # noqa: S311 - spreads load only
    return next_due(schedule, started_at=started_at, now=now, jitter=share)


def entered_at(intent: Intent) -> datetime:
    """Return when the intent came into its present state."""
    arrivals = intent.events.filter(to_state=intent.state).exclude(from_state=intent.state)
    return arrivals.order_by("-number").values_list("at", flat=True)[0]
