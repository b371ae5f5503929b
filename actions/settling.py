"""Settling: from an adapter's answer to what the intent is, in one transaction.

Promises: an answer without a readable effect is never a failure; a rejection is final only where no
other attempt may have had an effect; an answer that comes late still counts as evidence; whoever
settles second regresses nothing.
Does not send, and does not read: it plans when that is due.
"""

from datetime import datetime, timedelta

import structlog
from django.db import transaction

from actions.attempts import doubtful_since, may_have_left, resolve
from actions.confirming import adopt, disagreements
from actions.locks import Locked, bump, lock_intent
from actions.models import Attempt, AttemptOutcome, Intent, ResolvedHow
from actions.moves import flag, move, remark
from actions.schedule import due_again, durations_of
from actions.states import FailedReason, NeedsHuman, State
from integrations.actors import SYSTEM, Actor
from integrations.clock import now
from integrations.connecting import block
from integrations.ports import (
    BlockedBy,
    CallTrace,
    Echoed,
    NotSent,
    OrderSnapshot,
    OutcomeUnknown,
    Rejected,
    SendOutcome,
    Unreadable,
)

log = structlog.get_logger(__name__)


def settle(*, intent_pk: int, attempt_pk: int, outcome: SendOutcome) -> None:
    """Close an attempt with what is known of its effect, and move the intent, together."""
    with transaction.atomic():
        locked, at = lock_intent(intent_pk), now()
        attempt = Attempt.objects.select_for_update(no_key=True).get(pk=attempt_pk)
        stop_on_another_version(
            locked.intent, outcome.trace, asked=locked.intent.api_version, at=at
        )
        was_open = attempt.closed_at is None
        if was_open:
            _close(attempt, outcome, *_known_of(locked.intent, outcome), at=at)
        if was_open and locked.intent.state == State.EXECUTING:
            _settle_now(locked, attempt, outcome, at=at)
        else:
            _settle_late(locked, attempt, outcome, at=at)
        bump(locked.target)


def _known_of(intent: Intent, outcome: SendOutcome) -> tuple[AttemptOutcome, str]:
    """Say what an answer makes known of its attempt's effect, and why."""
    match outcome:
        case Echoed():
            return _known_of_echo(intent, outcome)
        case Rejected():
            return AttemptOutcome.REJECTED, f"{outcome.code}: {outcome.message}"
        case NotSent():
            return AttemptOutcome.NOT_SENT, outcome.reason
        case OutcomeUnknown():
            return AttemptOutcome.UNKNOWN, outcome.reason


def _known_of_echo(intent: Intent, outcome: Echoed) -> tuple[AttemptOutcome, str]:
    otherwise = disagreements(intent, outcome.observation)
    if otherwise:
        reason = "the answer does not prove our effect: " + ", ".join(otherwise)
        return AttemptOutcome.UNKNOWN, reason
    return AttemptOutcome.ECHOED, ""


def _settle_now(locked: Locked, attempt: Attempt, outcome: SendOutcome, *, at: datetime) -> None:
    match outcome:
        case Echoed() if attempt.outcome == AttemptOutcome.ECHOED:
            resolve(locked.intent, ResolvedHow.FOUND, at=at)
            adopt(locked, outcome.observation, source=attempt, at=at)
        case Echoed():
            _to_unknown(locked.intent, at=at, reason=attempt.outcome_reason or "")
        case Rejected():
            _settle_rejection(locked, attempt, outcome, at=at)
        case NotSent():
            _settle_not_sent(locked, outcome, at=at)
        case OutcomeUnknown():
            _settle_unknown(locked, outcome, at=at)


def _settle_late(locked: Locked, attempt: Attempt, outcome: SendOutcome, *, at: datetime) -> None:
    """Keep an answer as evidence that comes after a takeover, a read or another answer."""
    intent = locked.intent
    remark(intent, "late_answer", by=SYSTEM, at=at, reason=type(outcome).__name__)
    if isinstance(outcome, Echoed) and not disagreements(intent, outcome.observation):
        adopt(locked, outcome.observation, source=attempt, at=at)
        resolve(intent, ResolvedHow.FOUND, at=at)


def _settle_rejection(locked: Locked, attempt: Attempt, outcome: Rejected, *, at: datetime) -> None:
    """End it only if no other attempt may have had an effect; else a read comes first."""
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
        intent,
        State.FAILED,
        by=SYSTEM,
        at=at,
        reason=f"the store rejected it: {outcome.code}",
        details={"code": outcome.code, "attempt": attempt.number},
        state_reason=FailedReason.REJECTED,
    )
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
    durations = durations_of(intent.connection)
    retry_after = outcome.retry_after or timedelta()
    if may_have_left(intent).exists():
        reason = f"not sent again ({outcome.reason}); an earlier attempt is in doubt"
        # However long the store lets a send wait, the doubt is looked at in its own time.
        wait = min(retry_after, durations.unknown_listed_after)
        _to_unknown(intent, at=at, reason=reason, due_at=at + wait)
        return
    since = intent.attempts.order_by("number").values_list("started_at", flat=True)[0]
    due_at = due_again(durations.not_sent_schedule, intent=intent, started_at=since, now=at)
    due_at = max(due_at or at + durations.not_sent_patience, at + retry_after)
    move(
        intent,
        State.AUTHORIZED,
        by=SYSTEM,
        at=at,
        reason=f"not sent: {outcome.reason}",
        due_at=due_at,
        first_sent_at=None,
        resend_until=None,
        settles_at=None,
    )
    if intent.resend_ended_at is not None or not locked.ticket.is_open:
        move(intent, State.WITHDRAWN, by=SYSTEM, at=at, reason="taken back, and nothing was sent")
    elif due_at - since >= durations.not_sent_patience:
        flag(
            intent,
            NeedsHuman.NOT_SENT_TOO_LONG,
            by=SYSTEM,
            at=at,
            reason="it could not be sent, and is not tried again within the time it may take",
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
        intent,
        State.UNKNOWN,
        by=SYSTEM,
        at=at,
        reason=reason,
        due_at=due_at or at,
        unknown_since=intent.unknown_since or doubtful_since(intent) or at,
    )


def end_resends(intent: Intent, *, by: Actor = SYSTEM, at: datetime, reason: str) -> None:
    """Give up the right to resend, for good; the intent ends as the store says."""
    if intent.resend_ended_at is None:
        remark(intent, "resends_ended", by=by, at=at, reason=reason, resend_ended_at=at)


def take_over(intent_pk: int) -> None:
    """Take an intent whose worker's lease has run out: its open attempt counts as sent, unknown."""
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
    attempt: Attempt, answer: SendOutcome, outcome: AttemptOutcome, reason: str, *, at: datetime
) -> None:
    trace = answer.trace
    attempt.outcome, attempt.outcome_reason = outcome, reason[:500]
    attempt.closed_at, attempt.closed_by = at, "answer"
    attempt.http_status, attempt.platform_request_id = trace.http_status, trace.platform_request_id
    attempt.answered_version, attempt.duration_ms = trace.api_version, trace.duration_ms
    attempt.save(
        update_fields=[
            "outcome",
            "outcome_reason",
            "closed_at",
            "closed_by",
            "http_status",
            "platform_request_id",
            "answered_version",
            "duration_ms",
        ]
    )


def stop_on_another_version(intent: Intent, trace: CallTrace, *, asked: str, at: datetime) -> None:
    """Stop a connection's sends where another API version answered than was asked for.

    Another version may read the same bytes, or treat the same key, in another way.
    """
    answered = trace.api_version
    if answered in ("", asked):
        return
    block(intent.connection, BlockedBy.API_VERSION, at=at)
    reason = f"version {answered} answered where {asked} was asked for: sends here stop"
    details = {"answered": answered, "asked": asked}
    remark(intent, "connection_blocked", by=SYSTEM, at=at, reason=reason, details=details)


def stop_where_shut_out(
    intent: Intent, snapshot: OrderSnapshot | Unreadable, *, at: datetime
) -> None:
    """Stop a connection whose store does not let us read, so that not each intent finds it out."""
    if isinstance(snapshot, Unreadable) and snapshot.blocked_by is not None:
        block(intent.connection, snapshot.blocked_by, at=at)
