"""Settling doubt by the platform's word, read once for every intent on a target that waits for it.

Promises: nothing is sent from here and nothing is guessed; what is found is adopted, absence is
believed only by the rule of `actions.doubt`, a schedule that ends puts the case before a person.
The read itself holds no lock and no transaction.
Does not know how the platform is asked.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db import DatabaseError, transaction

from actions.attempts import absences, may_have_left, resolve, sent_by_another_app
from actions.boundaries import Boundary, reached
from actions.catalogue import kind_named
from actions.confirming import BelongsToAnother, adopt, disagreements
from actions.counters import lock_together
from actions.doubt import Adopt, Ask, Doubt, Fail, Match, Resend, Wait, decide
from actions.execution import writes_stopped
from actions.locks import Locked, bump, lock_target
from actions.models import (
    AttemptOutcome,
    ExternalObject,
    Finding,
    FindingResult,
    Intent,
    Read,
    ReadCause,
    ResolvedHow,
    Target,
)
from actions.moves import flag, move, remark
from actions.reading import Reading, read_order, record_read
from actions.schedule import durations_of
from actions.settling import stop_on_another_version, stop_where_shut_out
from actions.states import FailedReason, NeedsHuman, State
from actions.waiting import wait
from integrations import registry
from integrations.actors import SYSTEM
from integrations.clock import now
from integrations.connecting import may_be_read
from integrations.ports import (
    Capabilities,
    FindsBy,
    Observation,
    OrderSnapshot,
    StorePort,
    Unreadable,
)

READ_STATES = (
    State.UNKNOWN,
    State.PENDING,
    State.PARTIALLY_CONFIRMED,
    State.CONFIRMED,
    State.ACCEPTED,
    State.FAILED,
    State.REVERSED,
)
"""What a read may say something about; an executing intent is its worker's until the lease ends."""


def read_target(target_pk: int, *, cause: ReadCause) -> None:
    """Read a target once and settle every intent on it that the answer speaks of."""
    target = Target.objects.select_related("connection").get(pk=target_pk)
    if not may_be_read(target.connection, at=now()):
        _put_off(target)
        return
    port = registry.store(target.connection)
    reading = read_order(port, order=target.identifier)
    reached(Boundary.TARGET_READ)
    with transaction.atomic():
        failures = _settle_target(target_pk, port, reading, cause)
    reached(Boundary.RECONCILED)
    if failures:
        raise failures[0]


def _settle_target(
    target_pk: int, port: StorePort, reading: Reading, cause: ReadCause
) -> list[Exception]:
    """Settle each intent by itself, so that one that can't be settled takes no other with it."""
    waiting = Intent.objects.filter(target_id=target_pk, state__in=READ_STATES)
    target, intents = lock_target(target_pk, intent_pks=list(waiting.values_list("pk", flat=True)))
    lock_together(intents, at=now())
    read = record_read(reading, target=target, cause=cause)
    failures: list[Exception] = []
    for intent in intents:
        locked = Locked(ticket=intent.ticket, target=target, intent=intent)
        try:
            with transaction.atomic():
                _settle_one(locked, port, reading, read)
        except (DatabaseError, BelongsToAnother) as failure:
            failures.append(failure)
    bump(target)
    return failures


def _settle_one(locked: Locked, port: StorePort, reading: Reading, read: Read) -> None:
    intent, at = locked.intent, now()
    if intent.state == State.UNKNOWN:
        _look_at_connection(intent, reading, at=at)
        _settle_doubt(locked, port, reading, read, at=at)
    elif isinstance(reading.snapshot, OrderSnapshot) and intent.state in READ_STATES:
        _look_again(locked, reading.snapshot, read, at=at)
    else:
        _keep_waiting(intent, at=at)


def _look_at_connection(intent: Intent, reading: Reading, *, at: datetime) -> None:
    """Stop the sends before a resend, too, where the store shuts us out or changed its version."""
    if not intent.connection.blocked_by:
        asked = registry.asked_version(intent.connection)
        stop_on_another_version(intent, reading.snapshot.trace, asked=asked, at=at)
        stop_where_shut_out(intent, reading.snapshot, at=at)


def _put_off(target: Target) -> None:
    """The platform may not be asked now: plan the next look."""
    at = now()
    waiting = Intent.objects.filter(
        target=target, state__in=[State.UNKNOWN, State.PENDING, State.PARTIALLY_CONFIRMED]
    )
    for intent in waiting.select_related("connection"):
        with transaction.atomic():
            wait(intent, at=at)


def _look_again(locked: Locked, snapshot: OrderSnapshot, read: Read, *, at: datetime) -> None:
    """Follow the object that an intent is bound to, by its identifier."""
    intent = locked.intent
    bound = ExternalObject.objects.filter(intent=intent).first()
    matches = _matching(intent, snapshot.refunds)
    if bound is None:
        _look_at_late(locked, matches, read, at=at)
        return
    if any(seen.identifier != bound.identifier for seen in matches):
        _ask(intent, NeedsHuman.TWO_MATCHES, at=at)
    seen = {observation.identifier: observation for observation in snapshot.refunds}
    if bound.echoes.filter(observed_at__gt=read.started_at).exists():
        _keep_waiting(intent, at=at)  # what we heard since is newer than this read
    elif bound.identifier in seen:
        _found(intent, read, bound)
        adopt(locked, seen[bound.identifier], source=read, at=at)
    else:
        _miss(intent, bound, snapshot, read, at=at)


def _miss(
    intent: Intent, bound: ExternalObject, snapshot: OrderSnapshot, read: Read, *, at: datetime
) -> None:
    """Ask a person about an object that a complete read, late enough for any lag, doesn't show."""
    late_enough = intent.settles_at is not None and read.started_at >= intent.settles_at
    if snapshot.complete and late_enough:
        reason = f"{bound.identifier} is not on the order any more"
        flag(intent, NeedsHuman.AMBIGUOUS_READ, by=SYSTEM, at=at, reason=reason)
    _keep_waiting(intent, at=at)


def _keep_waiting(intent: Intent, *, at: datetime) -> None:
    if intent.state in (State.PENDING, State.PARTIALLY_CONFIRMED):
        wait(intent, at=at)


def _look_at_late(
    locked: Locked, matches: Sequence[Observation], read: Read, *, at: datetime
) -> None:
    """Adopt what appears after it was called absent: `failed` stays, and a person looks."""
    if len(matches) > 1:
        _ask(locked.intent, NeedsHuman.TWO_MATCHES, at=at)
    elif matches and disagreements(locked.intent, matches[0]):
        _ask(locked.intent, NeedsHuman.MARKER_DISAGREES, at=at)
    elif matches:
        _adopt(locked, matches[0], read, at=at)


def _settle_doubt(
    locked: Locked, port: StorePort, reading: Reading, read: Read, *, at: datetime
) -> None:
    intent, snapshot = locked.intent, reading.snapshot
    matches = [] if isinstance(snapshot, Unreadable) else _matching(intent, snapshot.refunds)
    capabilities = kind_named(intent.kind).capabilities(port)
    doubt = _doubt(intent, capabilities, reading, matches)
    decision = decide(doubt)
    if not matches:
        said = FindingResult.ABSENT if doubt.complete else FindingResult.NOTHING_SAID
        Finding.objects.create(
            workspace_id=intent.workspace_id, read=read, intent=intent, result=said
        )
    match decision:
        case Adopt(identifier=identifier):
            (observation,) = [seen for seen in matches if seen.identifier == identifier]
            _adopt(locked, observation, read, at=at)
        case Resend() if writes_stopped(intent):
            wait(intent, at=at)
        case Resend():
            resolve(intent, ResolvedHow.ABSENT, at=at)
            remark(
                intent,
                "absent",
                by=SYSTEM,
                at=at,
                reason="a complete read shows no effect: sent again",
                due_at=at,
            )
        case Fail(reason=failed):
            _fail(intent, failed, at=at)
        case Wait(not_before=not_before):
            wait(intent, at=at, not_before=not_before)
        case Ask(reason=needs_human):
            _ask(intent, needs_human, at=at)
            wait(intent, at=at)


_ASKED = {
    NeedsHuman.TWO_MATCHES: "more than one effect on the store carries this intent's marker",
    NeedsHuman.MARKER_DISAGREES: "an effect with this intent's marker is not what was asked",
    NeedsHuman.FOREIGN_EFFECT: "an equal effect by somebody else appeared: nothing is sent again",
    NeedsHuman.ORDER_CHANGED: "the order was cancelled or disputed: nothing is sent again",
    NeedsHuman.AMBIGUOUS_READ: "this kind can't be found again exactly: nothing is sent again",
    NeedsHuman.EXHAUSTED_SENDS: "it was sent as often as one intent may be",
}


def _ask(intent: Intent, needs_human: NeedsHuman, *, at: datetime) -> None:
    flag(intent, needs_human, by=SYSTEM, at=at, reason=_ASKED[needs_human])


def _doubt(
    intent: Intent, capabilities: Capabilities, reading: Reading, matches: Sequence[Observation]
) -> Doubt:
    if intent.settles_at is None or intent.resend_until is None:
        raise ValueError(f"{intent.public_id} is in doubt and was never sent.")
    exact = capabilities.finds_by in (FindsBy.EXACT_MARKER, FindsBy.NATURAL_KEY)
    durations = durations_of(intent.connection)
    snapshot = reading.snapshot
    return Doubt(
        read_started_at=reading.started_at,
        complete=isinstance(snapshot, OrderSnapshot) and snapshot.complete,
        matches=tuple(
            Match(identifier=seen.identifier, disagreements=disagreements(intent, seen))
            for seen in matches
        ),
        settles_at=intent.settles_at,
        resend_until=intent.resend_until - durations.send_by_after_claim,
        resend_ended=_resend_has_ended(intent),
        found_again=capabilities.replays_keys or exact,
        rejected=intent.attempts.filter(outcome=AttemptOutcome.REJECTED).exists(),
        earlier_absence_at=absences(intent).first(),
        absences_apart=durations.absences_apart,
        obstacle=_obstacle(intent, snapshot) if isinstance(snapshot, OrderSnapshot) else None,
        sends_left=may_have_left(intent).count() < durations.max_sends,
    )


def _resend_has_ended(intent: Intent) -> bool:
    return (
        intent.resend_ended_at is not None
        or not intent.ticket.is_open
        or sent_by_another_app(intent)
    )


def _matching(intent: Intent, observations: Iterable[Observation]) -> list[Observation]:
    return [seen for seen in observations if intent.marker in seen.markers]


def _obstacle(intent: Intent, snapshot: OrderSnapshot) -> NeedsHuman | None:
    """Say what a person must see before anything is sent again: facts that the gate had not."""
    gated = intent.decision.facts["order"] if intent.decision else {}
    if snapshot.cancelled_at is not None and not gated.get("cancelled"):
        return NeedsHuman.ORDER_CHANGED
    if set(snapshot.open_disputes or ()) - set(gated.get("open_disputes") or ()):
        return NeedsHuman.ORDER_CHANGED
    known = {refund["identifier"] for refund in gated.get("refunds", [])}
    ours = set(Intent.objects.filter(target=intent.target).values_list("marker", flat=True))
    for seen in snapshot.refunds:
        is_new = seen.identifier not in known and not ours.intersection(seen.markers)
        if is_new and sum(part.money.amount for part in seen.parts) == intent.amount:
            return NeedsHuman.FOREIGN_EFFECT
    return None


def _adopt(locked: Locked, observation: Observation, read: Read, *, at: datetime) -> None:
    intent = locked.intent
    resolve(intent, ResolvedHow.FOUND, at=at)
    adopt(locked, observation, source=read, at=at)
    _found(intent, read, ExternalObject.objects.get(intent=intent))


def _found(intent: Intent, read: Read, external: ExternalObject) -> None:
    Finding.objects.create(
        workspace_id=intent.workspace_id,
        read=read,
        intent=intent,
        result=FindingResult.FOUND,
        external_object=external,
    )


def _fail(intent: Intent, reason: FailedReason, *, at: datetime) -> None:
    resolve(intent, ResolvedHow.ABSENT, at=at)
    if reason is FailedReason.REJECTED:
        said = (
            "the store rejected it, and a complete read shows that no earlier attempt had an effect"
        )
        needs_human = NeedsHuman.REJECTED
    else:
        said = "absent on the store: two complete reads show no effect, and the window has passed"
        needs_human = NeedsHuman.RESEND_ENDED
    move(intent, State.FAILED, by=SYSTEM, at=at, reason=said, state_reason=reason)
    flag(intent, needs_human, by=SYSTEM, at=at, reason="propose anew, or hand over")
