"""Claim, fence, call: one send of one intent.

Promises: a committed intent and a committed open attempt stand before each call; no transaction
is open while a platform is called; bytes sent are bytes stored; the last look before the first
byte can still stop it; whatever the platform says is settled once, by whoever gets there first.
Does not decide whether to send: an authorized intent was gated (`actions.gate`), a doubtful one
was read and found absent (`actions.reconcile`).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection as database
from django.db import transaction

from actions.attempts import proven_absent_at, sent_by_another_app, unresolved
from actions.boundaries import Boundary, reached
from actions.catalogue import kind_named
from actions.locks import Locked, lock_intent
from actions.models import Attempt, Intent
from actions.moves import move
from actions.schedule import durations_of
from actions.settling import settle
from actions.states import State
from integrations import registry
from integrations.actors import SYSTEM
from integrations.clock import local_seconds, now
from integrations.ports import Capabilities, Fenced, FrozenRequest, StorePort


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """What a worker holds between claim and settlement: no row, no lock."""

    intent_pk: int
    attempt_pk: int
    kind: str
    frozen: FrozenRequest
    send_until_seconds: float
    """The local clock's reading past which nothing may be written."""


def send(intent_pk: int) -> bool:
    """Send an intent once and settle what came of it; False if it may not be claimed now."""
    connection = Intent.objects.select_related("connection").get(pk=intent_pk).connection
    port = registry.store(connection)
    claimed = claim(intent_pk, port=port, app=connection.app)
    if claimed is None:
        return False
    reached(Boundary.CLAIMED)
    outcome = kind_named(claimed.kind).send(
        port, frozen=claimed.frozen, before_write=lambda: fence(claimed)
    )
    reached(Boundary.ANSWERED)
    settle(intent_pk=claimed.intent_pk, attempt_pk=claimed.attempt_pk, outcome=outcome)
    reached(Boundary.SETTLED)
    return True


def claim(intent_pk: int, *, port: StorePort, app: str) -> Claimed | None:
    """Take an intent for one send: attempt, lease, executing, committed before anything leaves.

    Args:
        intent_pk: Which intent.
        port: The store, as it was opened.
        app: With which app's token; where another one is connected by now, nothing is sent.

    Returns:
        None if it is not to be sent now.
    """
    started_seconds = local_seconds()
    with transaction.atomic():
        locked = lock_intent(intent_pk)
        intent, at = locked.intent, now()
        capabilities = kind_named(intent.kind).capabilities(port)
        send_by = at + durations_of(intent.connection).send_by_after_claim
        if intent.connection.app != app or not _may_be_claimed(locked):
            return None
        if not _window_is_open(intent, send_by):
            return None
        attempt = _open_attempt(intent, capabilities, at=at, send_by=send_by)
        lease_until = at + capabilities.call_deadline + durations_of(intent.connection).lease_slack
        move(
            intent,
            State.EXECUTING,
            by=SYSTEM,
            at=at,
            reason=f"attempt {attempt.number}",
            details={"attempt": attempt.number, "request_digest": attempt.request_digest},
            lease_until=lease_until,
            due_at=lease_until,
        )
        latest = min(send_by, intent.resend_until or send_by)
        return Claimed(
            intent_pk=intent.pk,
            attempt_pk=attempt.pk,
            kind=intent.kind,
            frozen=intent.frozen,
            send_until_seconds=started_seconds + (latest - at).total_seconds(),
        )


def _may_be_claimed(locked: Locked) -> bool:
    """Is it newly authorized, or in doubt with every attempt resolved, with nothing in the way?"""
    intent = locked.intent
    if intent.resend_ended_at is not None or not locked.ticket.is_open or writes_stopped(intent):
        return False
    if intent.state == State.AUTHORIZED:
        return _is_newly_judged(intent)
    return intent.state == State.UNKNOWN and may_be_resent(intent)


def _is_newly_judged(intent: Intent) -> bool:
    """Is the gate's yes fresh, also where the worker slept between hearing it and claiming?"""
    durations = durations_of(intent.connection)
    # A sandbox's faster time must still leave room for the steps between the two.
    fresh_for = max(durations.regate_after, durations.send_by_after_claim)
    return intent.decision is not None and now() - intent.decision.decided_at <= fresh_for


def may_be_resent(intent: Intent) -> bool:
    """Is every attempt resolved, by a fresh read, and made by the app that would send again?"""
    proven_at = proven_absent_at(intent)
    fresh_since = now() - durations_of(intent.connection).regate_after
    return (
        not unresolved(intent).exists()
        and proven_at is not None
        and proven_at >= fresh_since
        and not sent_by_another_app(intent)
    )


def _window_is_open(intent: Intent, send_by: datetime) -> bool:
    return intent.resend_until is None or send_by <= intent.resend_until


def writes_stopped(intent: Intent) -> str:
    """Say what stops every write on this intent's connection now; empty if nothing does."""
    workspace, connection = intent.workspace, intent.connection
    if workspace.paused_at is not None:
        return "paused"
    if workspace.writes_killed_at is not None or connection.writes_killed_at is not None:
        return "kill switch"
    if connection.blocked_by:
        return f"blocked: {connection.blocked_by}"
    if connection.circuit_open_until is not None and connection.circuit_open_until > now():
        return "circuit open"
    return ""


def _open_attempt(
    intent: Intent, capabilities: Capabilities, *, at: datetime, send_by: datetime
) -> Attempt:
    durations = durations_of(intent.connection)
    if intent.first_sent_at is None:
        intent.first_sent_at = at
        intent.resend_until = at + durations.resend_window(keys_kept_for=capabilities.keys_kept_for)
    intent.settles_at = send_by + settles_after(intent, capabilities)
    intent.save(update_fields=["first_sent_at", "resend_until", "settles_at"])
    return Attempt.objects.create(
        workspace_id=intent.workspace_id,
        intent=intent,
        number=intent.attempts.count() + 1,
        app=intent.connection.app,
        key=intent.key,
        request_digest=intent.body_digest,
        started_at=at,
        send_by=send_by,
    )


def settles_after(intent: Intent, capabilities: Capabilities) -> timedelta:
    """Return how long a lost request may still land; less on a sandbox whose time runs faster."""
    return capabilities.settles_after * float(intent.connection.time_scale)


_FENCE = """
    SELECT a.closed_at IS NULL AND i.state = 'executing' AND i.resend_ended_at IS NULL
       AND t.status IN ('open', 'in_progress')
       AND w.paused_at IS NULL AND w.writes_killed_at IS NULL
       AND c.writes_killed_at IS NULL AND c.blocked_by = ''
       AND (c.circuit_open_until IS NULL OR c.circuit_open_until <= clock_timestamp())
    FROM actions_attempt a
    JOIN actions_intent i ON i.id = a.intent_id
    JOIN tickets_ticket t ON t.id = i.ticket_id
    JOIN integrations_workspace w ON w.id = i.workspace_id
    JOIN integrations_connection c ON c.id = i.connection_id
    WHERE a.id = %s
"""


def fence(claimed: Claimed) -> None:
    """Look one last time, after connecting and before the first byte.

    One statement asks what has happened meanwhile; the local clock says whether it is too late.

    Raises:
        Fenced: Somebody stopped it meanwhile, or it is too late: nothing may be written.
    """
    reached(Boundary.CONNECTED)
    with database.cursor() as cursor:
        cursor.execute(_FENCE, [claimed.attempt_pk])
        row = cursor.fetchone()
    if row is None or not row[0]:
        raise Fenced("stopped by a pause, a switch, a hand-over, or someone who settled it first")
    if local_seconds() >= claimed.send_until_seconds:
        raise Fenced("too late: the attempt's own time or the key's window has passed")
