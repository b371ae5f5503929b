"""Claim, fence, call, settle: one send of one intent.

Promises: a committed intent and a committed open attempt stand before each call; no transaction is open while a platform is called; bytes sent
are bytes stored; the last look before the first byte can still stop it; whatever the platform says is settled once, by whoever gets there first.
Does not decide whether to send: an authorized intent was gated (`actions.gate`), a doubtful one was read and found absent (`actions.reconcile`).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from time import CLOCK_BOOTTIME, clock_gettime

import structlog
from django.db import connection as database
from django.db import transaction

from actions.attempts import doubtful_since, may_have_left, proven_absent_at, resolve, unresolved
from actions.boundaries import Boundary, reached
from actions.catalogue import kind_named
from actions.confirming import BelongsToAnother, adopt, disagreements
from actions.locks import Locked, bump, lock_intent
from actions.models import Attempt, AttemptOutcome, Intent, ResolvedHow
from actions.moves import flag, move, remark
from actions.schedule import due_again, durations_of
from actions.states import FailedReason, NeedsHuman, State
from integrations import registry
from integrations.actors import SYSTEM, Actor
from integrations.clock import now
from integrations.connecting import block
from integrations.ports import (
    BlockedBy,
    Capabilities,
    Echoed,
    Fenced,
    FrozenRequest,
    NotSent,
    OutcomeUnknown,
    Rejected,
    SendOutcome,
    StorePort,
)

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """What a worker holds between claim and settlement: no row, no lock."""

    intent_pk: int
    attempt_pk: int
    kind: str
    frozen: FrozenRequest
    send_until_boottime: float
    """The local clock's reading past which nothing may be written."""


def send(intent_pk: int) -> None:
    """Send an intent once and settle what came of it; does nothing if it may not be claimed now."""
    connection = Intent.objects.select_related("connection").get(pk=intent_pk).connection
    port = registry.store(connection)
    claimed = claim(intent_pk, port=port)
    if claimed is None:
        return
    reached(Boundary.CLAIMED)
    outcome = kind_named(claimed.kind).send(
        port, frozen=claimed.frozen, before_write=lambda: fence(claimed)
    )
    reached(Boundary.ANSWERED)
    settle(claimed, outcome)
    reached(Boundary.SETTLED)


def claim(intent_pk: int, *, port: StorePort) -> Claimed | None:
    """Take an intent for one send: lease, attempt, executing; committed before anything leaves. None if it is not to be sent."""
    started_boottime = clock_gettime(CLOCK_BOOTTIME)
    with transaction.atomic():
        locked = lock_intent(intent_pk)
        intent, at = locked.intent, now()
        capabilities = kind_named(intent.kind).capabilities(port)
        send_by = at + durations_of(intent.connection).send_by_after_claim
        if not _may_be_claimed(locked) or not _window_is_open(intent, send_by):
            return None
        attempt = _open_attempt(intent, capabilities, at=at, send_by=send_by)
        lease_until = at + capabilities.call_deadline + durations_of(intent.connection).lease_slack
        move(
            intent, State.EXECUTING, by=SYSTEM, at=at, reason=f"attempt {attempt.number}", lease_until=lease_until,
            due_at=lease_until, details={"attempt": attempt.number, "request_digest": attempt.request_digest},
        )  # fmt: skip
        latest = min(send_by, intent.resend_until or send_by)
        return Claimed(
            intent_pk=intent.pk,
            attempt_pk=attempt.pk,
            kind=intent.kind,
            frozen=intent.frozen,
            send_until_boottime=started_boottime + (latest - at).total_seconds(),
        )


def _may_be_claimed(locked: Locked) -> bool:
    """Is it authorized, or in doubt with every attempt resolved, with nothing in the way?"""
    intent = locked.intent
    if intent.resend_ended_at is not None or not locked.ticket.is_open or writes_stopped(intent):
        return False
    if intent.state == State.AUTHORIZED:
        return True
    return intent.state == State.UNKNOWN and _may_be_resent(intent)


def _may_be_resent(intent: Intent) -> bool:
    """Is every attempt resolved, by a read that is still fresh, and by the app that would send again?"""
    proven_at = proven_absent_at(intent)
    fresh_since = now() - durations_of(intent.connection).regate_after
    return (
        not unresolved(intent).exists()
        and proven_at is not None
        and proven_at >= fresh_since
        and _same_app(intent)
    )


def _window_is_open(intent: Intent, send_by: datetime) -> bool:
    return intent.resend_until is None or send_by <= intent.resend_until


def _same_app(intent: Intent) -> bool:
    """After a change of app nothing is resent: keys and authorship belong to the app that sent first."""
    return not may_have_left(intent).exclude(app=intent.connection.app).exists()


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
    """Return how long a lost request may still land; shorter on a sandbox whose time runs faster."""
    return capabilities.settles_after * float(intent.connection.time_scale)


_FENCE = """
    SELECT a.closed_at IS NULL AND i.state = 'executing' AND i.resend_ended_at IS NULL AND t.status IN ('open', 'in_progress')
       AND w.paused_at IS NULL AND w.writes_killed_at IS NULL AND c.writes_killed_at IS NULL AND c.blocked_by = ''
       AND (c.circuit_open_until IS NULL OR c.circuit_open_until <= clock_timestamp())
    FROM actions_attempt a JOIN actions_intent i ON i.id = a.intent_id JOIN tickets_ticket t ON t.id = i.ticket_id
    JOIN integrations_workspace w ON w.id = i.workspace_id JOIN integrations_connection c ON c.id = i.connection_id
    WHERE a.id = %s
"""


def fence(claimed: Claimed) -> None:
    """Look one last time, after connecting and before the first byte: one statement, then the local clock.

    Raises:
        Fenced: Somebody stopped it meanwhile, or it is too late: nothing may be written.
    """
    reached(Boundary.CONNECTED)
    with database.cursor() as cursor:
        cursor.execute(_FENCE, [claimed.attempt_pk])
        row = cursor.fetchone()
    if row is None or not row[0]:
        raise Fenced("stopped by a pause, a switch, a hand-over, or someone who settled it first")
    if clock_gettime(CLOCK_BOOTTIME) >= claimed.send_until_boottime:
        raise Fenced("too late: the attempt's own time or the key's window has passed")


def settle(claimed: Claimed, outcome: SendOutcome) -> None:
    """Close the attempt with what is known of the effect, and move the intent, in one transaction."""
    with transaction.atomic():
        locked, at = lock_intent(claimed.intent_pk), now()
        attempt = Attempt.objects.select_for_update(no_key=True).get(pk=claimed.attempt_pk)
        _stop_on_another_version(locked.intent, outcome, at=at)
        if attempt.closed_at is not None:
            _settle_late(locked, attempt, outcome, at=at)
        else:
            _settle_now(locked, attempt, outcome, at=at)
        bump(locked.target)


def _settle_now(locked: Locked, attempt: Attempt, outcome: SendOutcome, *, at: datetime) -> None:
    match outcome:
        case Echoed():
            _settle_echo(locked, attempt, outcome, at=at)
        case Rejected():
            _close(
                attempt,
                AttemptOutcome.REJECTED,
                outcome,
                f"{outcome.code}: {outcome.message}",
                at=at,
            )
            _settle_rejection(locked, attempt, outcome, at=at)
        case NotSent():
            _close(attempt, AttemptOutcome.NOT_SENT, outcome, outcome.reason, at=at)
            _settle_not_sent(locked, outcome, at=at)
        case OutcomeUnknown():
            _close(attempt, AttemptOutcome.UNKNOWN, outcome, outcome.reason, at=at)
            _settle_unknown(locked, outcome, at=at)


def _settle_late(locked: Locked, attempt: Attempt, outcome: SendOutcome, *, at: datetime) -> None:
    """Someone settled it first, by takeover or by a read: the answer still counts as evidence."""
    intent = locked.intent
    remark(intent, "late_answer", by=SYSTEM, at=at, reason=type(outcome).__name__)
    if isinstance(outcome, Echoed) and not disagreements(intent, outcome.observation):
        _adopt_or_ask(locked, outcome, attempt, at=at)
        resolve(intent, ResolvedHow.FOUND, at=at)


def _settle_echo(locked: Locked, attempt: Attempt, outcome: Echoed, *, at: datetime) -> None:
    otherwise = disagreements(locked.intent, outcome.observation)
    if otherwise:
        reason = "the answer names an effect that is not ours: " + ", ".join(otherwise)
        _close(attempt, AttemptOutcome.UNKNOWN, outcome, reason, at=at)
        _settle_unknown(locked, OutcomeUnknown(reason=reason, trace=outcome.trace), at=at)
        return
    _close(attempt, AttemptOutcome.ECHOED, outcome, "", at=at)
    resolve(locked.intent, ResolvedHow.FOUND, at=at)
    _adopt_or_ask(locked, outcome, attempt, at=at)


def _adopt_or_ask(locked: Locked, outcome: Echoed, attempt: Attempt, *, at: datetime) -> None:
    try:
        with transaction.atomic():
            adopt(locked, outcome.observation, source=attempt, at=at)
    except BelongsToAnother as conflict:
        if locked.intent.state == State.EXECUTING:
            _to_unknown(
                locked.intent, at=at, reason="the answer names an object that proves another intent"
            )
        reason = f"{conflict} proves another intent"
        flag(locked.intent, NeedsHuman.TWO_MATCHES, by=SYSTEM, at=at, reason=reason)


def _settle_rejection(locked: Locked, attempt: Attempt, outcome: Rejected, *, at: datetime) -> None:
    """A rejection is final only if no other attempt may have had an effect; else it leads to a read."""
    intent = locked.intent
    others = may_have_left(intent).exclude(pk=attempt.pk)
    if outcome.read_first or others.exists():
        _to_unknown(
            intent,
            at=at,
            reason=f"rejected ({outcome.code}), and an earlier attempt may have had an effect",
        )
        return
    move(
        intent, State.FAILED, by=SYSTEM, at=at, reason=f"the store rejected it: {outcome.code}",
        state_reason=FailedReason.REJECTED, details={"code": outcome.code, "attempt": attempt.number},
    )  # fmt: skip
    flag(
        intent,
        NeedsHuman.REJECTED,
        by=SYSTEM,
        at=at,
        reason="correct it with another proposal, or hand over",
    )


def _settle_not_sent(locked: Locked, outcome: NotSent, *, at: datetime) -> None:
    intent = locked.intent
    if outcome.blocked_by is not None:
        block(intent.connection, outcome.blocked_by, at=at)
    if may_have_left(intent).exists():
        reason = f"not sent again ({outcome.reason}); an earlier attempt is in doubt"
        _to_unknown(intent, at=at, reason=reason, due_at=at + (outcome.retry_after or timedelta()))
        return
    since = intent.attempts.order_by("number").values_list("started_at", flat=True)[0]
    durations = durations_of(intent.connection)
    due_at = due_again(durations.not_sent_schedule, intent=intent, started_at=since, now=at)
    if outcome.retry_after is not None:
        due_at = max(due_at or at, at + outcome.retry_after)
    move(
        intent, State.AUTHORIZED, by=SYSTEM, at=at, reason=f"not sent: {outcome.reason}", due_at=due_at or at + durations.not_sent_patience,
        first_sent_at=None, resend_until=None, settles_at=None,
    )  # fmt: skip
    if at - since >= durations.not_sent_patience:
        flag(
            intent,
            NeedsHuman.NOT_SENT_TOO_LONG,
            by=SYSTEM,
            at=at,
            reason="could not be sent for too long",
        )


def _settle_unknown(locked: Locked, outcome: OutcomeUnknown, *, at: datetime) -> None:
    intent = locked.intent
    _to_unknown(intent, at=at, reason=outcome.reason)
    if not outcome.resend_allowed:
        end_resends(
            intent, at=at, reason="the store says that the key was used with other parameters"
        )
        flag(
            intent,
            NeedsHuman.PARAMETER_MISMATCH,
            by=SYSTEM,
            at=at,
            reason="no more sends, reads only",
        )


def _to_unknown(
    intent: Intent, *, at: datetime, reason: str, due_at: datetime | None = None
) -> None:
    move(
        intent, State.UNKNOWN, by=SYSTEM, at=at, reason=reason, due_at=due_at or at,
        unknown_since=intent.unknown_since or doubtful_since(intent) or at,
    )  # fmt: skip


def end_resends(intent: Intent, *, by: Actor = SYSTEM, at: datetime, reason: str) -> None:
    """Give up the right to resend, for good; the intent ends as the store says."""
    if intent.resend_ended_at is None:
        remark(intent, "resends_ended", by=by, at=at, reason=reason, resend_ended_at=at)


def take_over(intent_pk: int) -> None:
    """Take an intent whose worker's lease has run out: its open attempt counts as sent, with an unknown outcome."""
    with transaction.atomic():
        locked, at = lock_intent(intent_pk), now()
        intent = locked.intent
        if intent.state != State.EXECUTING or intent.lease_until is None or intent.lease_until > at:
            return
        for attempt in intent.attempts.filter(closed_at=None):
            attempt.outcome, attempt.outcome_reason = AttemptOutcome.UNKNOWN, "the lease ran out"
            attempt.closed_at, attempt.closed_by = at, "takeover"
            attempt.save(update_fields=["outcome", "outcome_reason", "closed_at", "closed_by"])
        _to_unknown(intent, at=at, reason="the worker's lease ran out")
        bump(locked.target)


def _close(
    attempt: Attempt, outcome: AttemptOutcome, answer: SendOutcome, reason: str, *, at: datetime
) -> None:
    trace = answer.trace
    attempt.outcome, attempt.outcome_reason = outcome, reason[:500]
    attempt.closed_at, attempt.closed_by = at, "answer"
    attempt.http_status, attempt.platform_request_id = trace.http_status, trace.platform_request_id
    attempt.answered_version, attempt.duration_ms = trace.api_version, trace.duration_ms
    attempt.save(
        update_fields=[
            "outcome", "outcome_reason", "closed_at", "closed_by", "http_status", "platform_request_id",
            "answered_version", "duration_ms",
        ]
    )  # fmt: skip


def _stop_on_another_version(intent: Intent, outcome: SendOutcome, *, at: datetime) -> None:
    """Another API version may read the same bytes otherwise: stop the connection's sends until a person looks."""
    answered = outcome.trace.api_version
    if answered in ("", intent.api_version):
        return
    block(intent.connection, BlockedBy.API_VERSION, at=at)
    reason = f"version {answered} answered where {intent.api_version} was asked; sends on this connection stop"
    remark(
        intent,
        "connection_blocked",
        by=SYSTEM,
        at=at,
        reason=reason,
        details={"answered": answered},
    )
    log.error(
        "connection.blocked",
        connection=intent.connection.public_id,
        answered=answered,
        asked=intent.api_version,
    )
