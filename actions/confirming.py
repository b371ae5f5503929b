"""From what the platform itself said to what an intent is: the only place that adopts an effect.

Promises: an external object is bound to one intent, once; money counts as the parts say, in the
order of design 5.1; late evidence can only reverse or put the case before a person.
Does not know how the observation was fetched, and never sends.
"""

from collections.abc import Mapping
from datetime import datetime

from django.db.models import Q

from actions.corrections import made_good
from actions.echoes import last_final_parts, newest_echo, record_echo, says_the_same
from actions.keys import Canonical
from actions.locks import Locked
from actions.models import Attempt, ExternalObject, Intent, Read
from actions.moves import Columns, count_what_stands, flag, move
from actions.schedule import due_again, durations_of
from actions.states import (
    FailedReason,
    Judged,
    NeedsHuman,
    State,
    may,
    state_of_parts,
    succeeds_after_all,
    takes_back,
)
from actions.waiting import TOO_LONG, wait, watch
from integrations.actors import SYSTEM
from integrations.ports import Observation, Part, Standing
from tickets.models import TicketStatus
from tickets.services import reopen


class BelongsToAnother(Exception):
    """The object proves another intent, or this intent has another object: nothing was changed."""


def disagreements(intent: Intent, observation: Observation) -> tuple[str, ...]:
    """Say where a found effect that carries our marker is not what we asked for.

    An unknown author is accepted on the rest; an answer that does not name its target proves
    nothing by itself, and a read names it. The amount is judged by the parts instead, since an
    effect of ours with a wrong amount is still ours.
    """
    tolerance = durations_of(intent.connection).marker_created_tolerance
    sent_at = intent.first_sent_at
    checks = {
        "marker": observation.markers == (intent.marker,),
        "target": observation.target == intent.target.identifier,
        "author": observation.author in _makers(intent),
        "created before the first send": not sent_at
        or observation.created_at >= sent_at - tolerance,
        "identifier": _is_free(intent, observation),
    }
    return tuple(name for name, agrees in checks.items() if not agrees)


def _makers(intent: Intent) -> set[str | None]:
    """Return who may have made an effect of ours: each app that sent, or nobody that is named."""
    return {None, intent.connection.app, *intent.attempts.values_list("app", flat=True)}


def _is_free(intent: Intent, observation: Observation) -> bool:
    """Say whether an object can prove this intent: it proves no other, and this has no other."""
    same = Q(
        connection_id=intent.connection_id,
        type=observation.object_type,
        identifier=observation.identifier,
    )
    taken = ExternalObject.objects.filter(same).exclude(intent=None).exclude(intent=intent)
    other = ExternalObject.objects.filter(intent=intent).exclude(same)
    return not taken.exists() and not other.exists()


def adopt(
    locked: Locked, observation: Observation, *, source: Attempt | Read, at: datetime
) -> None:
    """Bind an external object to its intent, keep the echo, and follow what the parts say.

    Raises:
        BelongsToAnother: Callers look for `disagreements` first; this is the guard behind them.
    """
    intent = locked.intent
    newest, before = newest_echo(intent), last_final_parts(intent)
    external = _bound(intent, observation)
    if isinstance(source, Attempt) or newest is None or not says_the_same(newest, observation):
        record_echo(external, observation, source=source, at=at)
    follow(locked, observation, before=before, at=at)


def follow(
    locked: Locked, observation: Observation, *, before: tuple[Part, ...], at: datetime
) -> None:
    """Move an intent to what its effect's parts say now.

    Args:
        locked: The intent, with its ticket and target.
        observation: What the platform says now of the object that is bound to the intent.
        before: Its parts as each was last final, before this observation.
        at: Database time.
    """
    intent, parts = locked.intent, observation.parts
    judged = _judged(intent, observation)
    state = State(intent.state)
    if state in (State.CONFIRMED, State.ACCEPTED, State.PARTIALLY_CONFIRMED) and takes_back(
        parts, before=before
    ):
        _reverse(locked, parts, at=at)
    elif state in (State.ACCEPTED, State.REVERSED) and succeeds_after_all(parts, before=before):
        reason = "the store reports more success than was settled on"
        flag(intent, NeedsHuman.LATE_SUCCESS, by=SYSTEM, at=at, reason=reason)
    elif judged.state is not state and may(state, judged.state):
        _arrive(locked, judged, observation, at=at)
    elif state in (State.PENDING, State.PARTIALLY_CONFIRMED):
        _still(intent, judged, observation, at=at)
    elif state is State.CONFIRMED and judged.state is not state:
        _flag_mismatch(intent, observation, at=at)
    elif state is State.FAILED:
        _follow_failed(locked, parts, before=before, at=at)
    count_what_stands(intent, parts, at=at)


def _follow_failed(
    locked: Locked, parts: tuple[Part, ...], *, before: tuple[Part, ...], at: datetime
) -> None:
    """Show a success after failure, and a failure after that: the state stays what it was."""
    intent = locked.intent
    if any(part.standing is Standing.SUCCEEDED for part in parts):
        if intent.outcomes.exists():
            return  # a person has said what it is for
        reason = "the store reports success after failure"
        flag(intent, NeedsHuman.LATE_SUCCESS, by=SYSTEM, at=at, reason=reason)
    elif takes_back(parts, before=before):
        _reopen(locked, at=at)
        reason = "the store takes back a success that came after failure"
        flag(intent, NeedsHuman.REVERSED, by=SYSTEM, at=at, reason=reason)


def _reopen(locked: Locked, *, at: datetime) -> None:
    """Reopen a ticket that stands resolved over what has just been taken back."""
    if locked.ticket.status == TicketStatus.RESOLVED:
        reopen(locked.ticket, by=SYSTEM, at=at)


def _judged(intent: Intent, observation: Observation) -> Judged:
    """Judge the parts; money that moved under another marker or order confirms nothing."""
    asked = intent.money
    if asked is None:
        raise ValueError(f"{intent.public_id} moves no money; its kind judges its own echo.")
    judged = state_of_parts(observation.parts, asked=asked)
    if judged.state is State.CONFIRMED and not _is_named(intent, observation):
        return Judged(state=State.PENDING, mismatch=True)
    return judged


def _is_named(intent: Intent, observation: Observation) -> bool:
    named = (observation.target, observation.markers)
    return named == (intent.target.identifier, (intent.marker,))


def _arrive(locked: Locked, judged: Judged, observation: Observation, *, at: datetime) -> None:
    intent, parts = locked.intent, observation.parts
    changes: Columns = {"unknown_since": None, "due_at": None}
    if intent.needs_human_reason in TOO_LONG:
        changes |= {"needs_human_since": None, "needs_human_reason": ""}
    match judged.state:
        case State.CONFIRMED:
            changes["confirmed_at"] = at
        case State.FAILED:
            changes["state_reason"] = FailedReason.MONEY_FAILED
        case State.PENDING | State.PARTIALLY_CONFIRMED:
            schedule = durations_of(intent.connection).pending_schedule
            changes["due_at"] = due_again(schedule, intent=intent, started_at=at, now=at)
        case _:
            pass  # whatever else the parts may say, `move` has the last word
    move(
        intent,
        judged.state,
        by=SYSTEM,
        at=at,
        reason=_said(parts),
        details=_details(intent, parts),
        **changes,
    )
    if judged.state is State.CONFIRMED:
        made_good(intent, at=at)
    _tell(locked, judged, observation, at=at)


def _tell(locked: Locked, judged: Judged, observation: Observation, *, at: datetime) -> None:
    """Put before a person what no machine may round."""
    intent = locked.intent
    if judged.mismatch:
        _flag_mismatch(intent, observation, at=at)
    elif judged.state is State.PARTIALLY_CONFIRMED:
        flag(
            intent,
            NeedsHuman.PARTLY_FAILED,
            by=SYSTEM,
            at=at,
            reason="some parts succeeded and some failed",
        )
    elif judged.state is State.FAILED:
        watch(intent, at=at)
        flag(
            intent,
            NeedsHuman.MONEY_FAILED,
            by=SYSTEM,
            at=at,
            reason="the payment provider did not move the money",
        )
    elif judged.state is State.CONFIRMED and not locked.ticket.is_open:
        flag(
            intent,
            NeedsHuman.CONFIRMED_AFTER_CLOSE,
            by=SYSTEM,
            at=at,
            reason="confirmed after its ticket was closed",
        )


def _flag_mismatch(intent: Intent, observation: Observation, *, at: datetime) -> None:
    if _is_named(intent, observation):
        why, said = NeedsHuman.MISMATCH, "the store holds something other than was asked"
    else:
        why = NeedsHuman.MARKER_DISAGREES
        said = "the effect no longer carries this intent's marker and order, and no other"
    flag(intent, why, by=SYSTEM, at=at, reason=said)


def _still(intent: Intent, judged: Judged, observation: Observation, *, at: datetime) -> None:
    """Stay where it is, and look again later."""
    wait(intent, at=at)
    if judged.mismatch:
        _flag_mismatch(intent, observation, at=at)


def _reverse(locked: Locked, parts: tuple[Part, ...], *, at: datetime) -> None:
    intent = locked.intent
    move(
        intent,
        State.REVERSED,
        by=SYSTEM,
        at=at,
        reason=_said(parts),
        details=_details(intent, parts),
    )
    _reopen(locked, at=at)
    watch(intent, at=at)
    flag(intent, NeedsHuman.REVERSED, by=SYSTEM, at=at, reason="the store now says otherwise")


def _bound(intent: Intent, observation: Observation) -> ExternalObject:
    if not _is_free(intent, observation):
        raise BelongsToAnother(observation.identifier)
    external, _ = ExternalObject.objects.get_or_create(
        workspace_id=intent.workspace_id,
        connection_id=intent.connection_id,
        type=observation.object_type,
        identifier=observation.identifier,
        defaults={"target": intent.target, "intent": intent},
    )
    if external.intent_id is None:
        external.intent = intent
        external.save(update_fields=["intent"])
    return external


def _said(parts: tuple[Part, ...]) -> str:
    if not parts:
        return "the store names no transaction"
    return "the store says " + ", ".join(f"{part.money} {part.status}" for part in parts)


def _details(intent: Intent, parts: tuple[Part, ...]) -> Mapping[str, Canonical]:
    objects = ExternalObject.objects.filter(intent=intent).values_list("identifier", flat=True)
    return {
        "external_objects": list(objects),
        "parts": [[part.identifier, part.status, part.money] for part in parts],
    }
