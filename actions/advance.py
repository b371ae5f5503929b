"""Whatever is due for one intent: the one step that workers, sweeps and the loop take.

Promises: safe to run for any intent, at any time, by any number of processes at once; each step
claims what it does by compare-and-set, and who comes second does nothing.
Does not know why the intent is due: it looks at its state.
"""

import structlog
from django.db import OperationalError, transaction

from actions.approvals import is_approved
from actions.execution import may_be_resent, send, writes_stopped
from actions.gate import expire_approval, judge_in_worker
from actions.locks import lock_intent
from actions.models import Intent, ReadCause
from actions.moves import flag
from actions.reconcile import read_target
from actions.schedule import durations_of, entered_at
from actions.settling import take_over
from actions.states import WATCHED, NeedsHuman, StaleState, State
from actions.waiting import watch
from integrations.actors import SYSTEM
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
    except OperationalError:
        raise  # the database's own troubles pass, and the row is due again
    except Exception:
        # What fails at every step comes back for ever: a person must see it (I4).
        _show_if_stuck(intent_pk)
        raise


def _show_if_stuck(intent_pk: int) -> None:
    """Put an intent before a person that has stood where it stands for long, and can't go on."""
    with transaction.atomic():
        intent, at = lock_intent(intent_pk).intent, now()
        patience = durations_of(intent.connection).unknown_listed_after
        why = _STUCK.get(State(intent.state))
        if why is None or intent.needs_human_since or at - entered_at(intent) < patience:
            return
        flag(intent, why, by=SYSTEM, at=at, reason="each try to go on ends in an error of ours")


_STUCK = {
    State.PROPOSED: NeedsHuman.HELD_TOO_LONG,
    State.HELD: NeedsHuman.HELD_TOO_LONG,
    State.AWAITING_APPROVAL: NeedsHuman.HELD_TOO_LONG,
    State.AUTHORIZED: NeedsHuman.NOT_SENT_TOO_LONG,
    State.EXECUTING: NeedsHuman.UNKNOWN_TOO_LONG,
    State.UNKNOWN: NeedsHuman.UNKNOWN_TOO_LONG,
    State.PENDING: NeedsHuman.PENDING_TOO_LONG,
    State.PARTIALLY_CONFIRMED: NeedsHuman.PENDING_TOO_LONG,
}


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
        _follow_approval(intent)
    elif state is State.EXECUTING:
        take_over(intent.pk)
        _settle_if_in_doubt(intent.pk)
    elif state is State.UNKNOWN:
        _settle_if_in_doubt(intent.pk)
    elif state in (State.PENDING, State.PARTIALLY_CONFIRMED):
        read_target(intent.target_id, cause=ReadCause.POLL)
    elif state in WATCHED and intent.external_objects.exists():
        _watch(intent)
    else:
        # Whoever planned its next step came second: nothing is due for what has ended.
        Intent.objects.filter(pk=intent.pk, state=state).update(due_at=None)


def _watch(intent: Intent) -> None:
    """Look once more at what ended otherwise than asked, and plan the next look."""
    watch(intent, at=now())
    read_target(intent.target_id, cause=ReadCause.POLL)


def _follow_approval(intent: Intent) -> None:
    """Go on with what was approved; what nobody approved in time is held."""
    if is_approved(intent, at=now()):
        _judge_and_send(intent)
    else:
        expire_approval(intent.pk)


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


def _send_and_look(intent_pk: int) -> None:
    """Send once; where no answer can be read, look at once. What may not go now stays due."""
    if send(intent_pk):
        _settle_if_in_doubt(intent_pk)


def _settle_if_in_doubt(intent_pk: int) -> None:
    """Read by marker; where that proves absence inside the window, send again at once."""
    intent = Intent.objects.select_related("connection").get(pk=intent_pk)
    if intent.state == State.UNKNOWN and not may_be_resent(intent):
        read_target(intent.target_id, cause=ReadCause.DOUBT)
        intent.refresh_from_db()
    if intent.state == State.UNKNOWN and may_be_resent(intent):
        _send_and_look(intent_pk)
