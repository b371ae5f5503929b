"""Waking workers: a message after commit that may be lost, doubled or late without harm.

Promises: what is due stands in the row (`due_at`); a wake-up carries only an id, is published
after commit, never retried and never waited for; taking a due row first pushes its due time on,
so that a process that dies needs no clean-up.
Does not know what the work is.
"""

from datetime import datetime, timedelta

import structlog
from celery import current_app
from django.db import transaction
from django.db.models import Q
from kombu.exceptions import OperationalError

from actions.models import Intent
from actions.states import HeldReason, State
from integrations.models import Connection, Workspace

log = structlog.get_logger(__name__)

ADVANCE = "actions.advance_intent"
"""The task that does what is due for one intent; the name is a contract with queued messages."""

TAKEN_FOR = timedelta(seconds=30)
"""For how long a row that was taken is not due again: longer than a call may take."""


def wake(intent_pk: int, *, after: timedelta = timedelta()) -> None:
    """Wake a worker for one intent once the transaction is committed, or a little later."""
    transaction.on_commit(lambda: publish(intent_pk, after=after))


def publish(intent_pk: int, *, after: timedelta = timedelta()) -> None:
    """Send the wake-up now; a broker that is away costs seconds, since the row stays due."""
    countdown = after.total_seconds() or None
    try:
        current_app.send_task(
            ADVANCE, kwargs={"intent": intent_pk}, countdown=countdown, retry=False
        )
    except (OperationalError, OSError) as error:
        log.warning("dispatch.not_woken", intent=intent_pk, error=type(error).__name__)


def claim_due(*, now: datetime, limit: int) -> list[int]:
    """Take up to `limit` due intents, the longest due first; who calls meanwhile takes others."""
    with transaction.atomic():
        rows = Intent.objects.filter(due_at__lte=now).order_by("due_at", "pk")
        free = rows.select_for_update(skip_locked=True, no_key=True)
        taken = list(free.values_list("pk", flat=True)[:limit])
        Intent.objects.filter(pk__in=taken).update(due_at=now + TAKEN_FOR)
    return taken


_NO_ACCESS = [
    HeldReason.BLOCKED_CONNECTION,
    HeldReason.MISSING_SCOPE,
    HeldReason.CIRCUIT,
    HeldReason.FACTS_UNAVAILABLE,
]
_READ_STATES = [State.UNKNOWN, State.PENDING, State.PARTIALLY_CONFIRMED]


def resume(connection: Connection, *, now: datetime) -> int:
    """Make due at once what waits for a connection that lets us in again; return how many."""
    waiting = Q(state=State.HELD, state_reason__in=_NO_ACCESS) | Q(state__in=_READ_STATES)
    return Intent.objects.filter(waiting, connection=connection, set_aside_at=None).update(
        due_at=now
    )


_STOPPED = [HeldReason.PAUSED, HeldReason.KILL_SWITCH]
_RULES = [HeldReason.COUNTER, HeldReason.VELOCITY]


def resume_workspace(workspace: Workspace, *, now: datetime) -> int:
    """Make due at once what a pause or a kill switch has held; return how many."""
    return _judge_again(workspace, _STOPPED, now=now)


def follow_policy(workspace: Workspace, *, now: datetime) -> int:
    """Make due at once what the brand's limits have held, since they have changed."""
    return _judge_again(workspace, _RULES, now=now)


def _judge_again(workspace: Workspace, reasons: list[HeldReason], *, now: datetime) -> int:
    held = Intent.objects.filter(workspace=workspace, state=State.HELD, state_reason__in=reasons)
    return held.filter(due_at__gt=now).update(due_at=now)
