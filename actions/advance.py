"""Whatever is due for one intent: the one step that workers, sweeps and the loop take.

Promises: safe to run for any intent, at any time, by any number of processes at once; each step
claims what it does by compare-and-set, and who comes second does nothing.
Does not know why the intent is due: it looks at its state.
"""

import structlog

from actions.attempts import proven_absent_at, unresolved
from actions.execution import send, writes_stopped
from actions.gate import expire_approval, judge_in_worker
from actions.models import Intent, ReadCause
from actions.reconcile import read_target
from actions.schedule import durations_of
from actions.settling import take_over
from actions.states import StaleState, State
from integrations.clock import now
from integrations.connecting import block
from integrations.models import Connection
from integrations.ports import BlockedBy, Unusable

log = structlog.get_logger(__name__)


def advance(intent_pk: int) -> None:
    """Do what is due for an intent now."""
    try:
        _advance(
            Intent.objects.select_related("connection", "workspace", "decision").get(pk=intent_pk)
        )
    except StaleState:
        log.info("advance.stale", intent=intent_pk)
    except Unusable as problem:
        _block(intent_pk, problem)


def _block(intent_pk: int, problem: Unusable) -> None:
    """Stop the connection whose credentials can't be opened; the gate then holds what is unsent."""
    connection = Connection.objects.get(intent__pk=intent_pk)
    block(connection, BlockedBy.CREDENTIAL, at=now())
    log.error("connection.unusable", connection=connection.public_id, reason=str(problem))


def _advance(intent: Intent) -> None:
    state = State(intent.state)
    if state in (State.PROPOSED, State.HELD, State.AUTHORIZED):
        _judge_and_send(intent)
    elif state is State.AWAITING_APPROVAL:
        expire_approval(intent.pk)
    elif state is State.EXECUTING:
        take_over(intent.pk)
        _settle_if_in_doubt(intent.pk)
    elif state is State.UNKNOWN:
        _settle_if_in_doubt(intent.pk)
    elif state in (State.PENDING, State.PARTIALLY_CONFIRMED):
        read_target(intent.target_id, cause=ReadCause.POLL)
    else:
        log.debug("advance.settled", intent=intent.pk)


def _judge_and_send(intent: Intent) -> None:
    judged = intent.state == State.AUTHORIZED and not _must_be_judged_again(intent)
    if judged or judge_in_worker(intent.pk):
        _send_and_look(intent.pk)


def _must_be_judged_again(intent: Intent) -> bool:
    """Is its authorization too old, or does something stand in the way by now?"""
    decided_at = intent.decision.decided_at if intent.decision else intent.created_at
    return (
        bool(writes_stopped(intent))
        or now() - decided_at > durations_of(intent.connection).regate_after
    )


def _is_ready_to_resend(intent: Intent) -> bool:
    proven_at = proven_absent_at(intent)
    fresh_since = now() - durations_of(intent.connection).regate_after
    return not unresolved(intent).exists() and proven_at is not None and proven_at >= fresh_since


def _send_and_look(intent_pk: int) -> None:
    """Send once; where no answer can be read, look at once. What may not go now stays due."""
    if send(intent_pk):
        _settle_if_in_doubt(intent_pk)


def _settle_if_in_doubt(intent_pk: int) -> None:
    """Read by marker; where that proves absence inside the window, send again at once."""
    intent = Intent.objects.select_related("connection").get(pk=intent_pk)
    if intent.state == State.UNKNOWN and not _is_ready_to_resend(intent):
        read_target(intent.target_id, cause=ReadCause.DOUBT)
        intent.refresh_from_db()
    if intent.state == State.UNKNOWN and _is_ready_to_resend(intent):
        _send_and_look(intent_pk)
