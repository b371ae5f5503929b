"""The Policy Gate's protocol: read facts with no lock, judge under locks, keep the decision.

Promises: what is authorized was judged on facts of a target that nobody moved meanwhile (its
version is compared under lock); the decision, its facts and arithmetic, the exact allocation and
the frozen bytes are committed together; through a blocked connection nothing is read.
Does not know the rules (`actions.policy`) nor the facts (`actions.gathering`), and never sends.
"""

from datetime import datetime, timedelta

from django.db import transaction

from actions.attempts import may_have_left
from actions.boundaries import Boundary, reached
from actions.catalogue import kind_named
from actions.catalogue.refund import CannotAllocate, allocate, allocation_digest
from actions.gathering import as_record, circumstances, gather
from actions.keys import digest
from actions.locks import Locked, bump, lock_intent
from actions.models import GateDecision, Intent, Phase, ReadCause
from actions.moves import Columns, flag, move, remark
from actions.policies import CurrentPolicy, current_policy
from actions.policy import Decision, Facts, OrderFacts, Ruling, judge, reserving
from actions.reading import Reading, read_order, record_read
from actions.schedule import due_again, durations_of, entered_at
from actions.settling import stop_on_another_version, stop_where_shut_out
from actions.states import HeldReason, NeedsHuman, State
from integrations import registry
from integrations.actors import SYSTEM
from integrations.clock import now
from integrations.ports import FrozenRequest, RefundPart, StorePort

GATED_STATES = (State.PROPOSED, State.HELD, State.AUTHORIZED)
"""What the worker's gate judges; awaiting approval is judged again when the approval comes."""

_RACE_RETRY = timedelta(milliseconds=200)


def judge_in_worker(intent_pk: int) -> bool:
    """Judge an intent by all four checks and keep the decision; True if it is authorized now."""
    intent = Intent.objects.select_related("connection", "target", "workspace").get(pk=intent_pk)
    noted_version = intent.target.version
    port = _port(intent)
    reading = None if port is None else read_order(port, target=intent.target)
    reached(Boundary.FACTS_READ)
    with transaction.atomic():
        locked = lock_intent(intent_pk)
        if State(locked.intent.state) not in GATED_STATES or may_have_left(locked.intent).exists():
            return False
        if locked.target.version != noted_version:
            _again_soon(locked.intent)
            return False
        authorized = _judge_locked(locked, port, reading)
    reached(Boundary.GATED)
    return authorized


def judge_at_proposal(locked: Locked, *, at: datetime) -> None:
    """Judge a new intent by the checks that need no outside facts: the caller learns at once."""
    current = current_policy(locked.intent.workspace)
    facts = gather(locked, None, at=at)
    decision = judge(policy=current.policy, facts=facts)
    kept = _keep(locked, current, facts, decision, phase=Phase.PROPOSAL, parts=(), at=at)
    if decision.ruling in (Ruling.REFUSE, Ruling.HOLD):
        _apply(locked.intent, decision, kept, at=at)


def _port(intent: Intent) -> StorePort | None:
    """Return the adapter; None where something is in the way: no credential is handled then."""
    now_in_the_way = circumstances(intent)
    if now_in_the_way.blocked_by or now_in_the_way.circuit_open:
        return None
    return registry.store(intent.connection)


def _judge_locked(locked: Locked, port: StorePort | None, reading: Reading | None) -> bool:
    at, intent = now(), locked.intent
    if reading is not None:
        record_read(reading, target=locked.target, cause=ReadCause.GATE)
        asked = registry.asked_version(intent.connection)
        stop_on_another_version(intent, reading.snapshot.trace, asked=asked, at=at)
        stop_where_shut_out(intent, reading.snapshot, at=at)
    current = current_policy(intent.workspace)
    facts = gather(locked, reading, at=at)
    decision = judge(policy=current.policy, facts=facts)
    parts: tuple[RefundPart, ...] = ()
    if decision.ruling in (Ruling.ALLOW, Ruling.APPROVE):
        parts = _allocation(facts)
        if not parts:
            _hold_unallocated(intent, at=at)
            return False
    kept = _keep(locked, current, facts, decision, phase=Phase.WORKER, parts=parts, at=at)
    if decision.ruling is Ruling.ALLOW and port is not None:
        _authorize(locked, kept, _freeze(intent, port, parts, current), decision, at=at)
        return True
    _apply(intent, decision, kept, at=at)
    return False


def _allocation(facts: Facts) -> tuple[RefundPart, ...]:
    """Spread the amount over the payments; empty if what others have under way leaves no way."""
    if not isinstance(facts.order, OrderFacts):
        return ()
    kept_back = reserving(others=facts.others, order=facts.order)
    reserved = [part for other in kept_back for part in other.parts]
    try:
        return allocate(facts.proposal.money, suggested=facts.order.suggested, reserved=reserved)
    except CannotAllocate:
        return ()


def _freeze(
    intent: Intent, port: StorePort, parts: tuple[RefundPart, ...], current: CurrentPolicy
) -> FrozenRequest:
    kind = kind_named(intent.kind)
    return kind.freeze(
        port,
        parameters=kind.parse(intent.parameters),
        parts=parts,
        marker=intent.marker,
        key=str(intent.key),
        notify=current.policy.kinds[intent.kind].notify,
    )


def _keep(
    locked: Locked,
    current: CurrentPolicy,
    facts: Facts,
    decision: Decision,
    *,
    phase: Phase,
    parts: tuple[RefundPart, ...],
    at: datetime,
) -> GateDecision:
    """Keep a decision with all that it stands on; a hold that says the same again is kept once."""
    intent = locked.intent
    verdicts = [verdict.as_record() for verdict in decision.verdicts]
    shown = (
        allocation_digest(order=locked.target.identifier, parts=parts)
        if parts
        else digest(verdicts)  # type: ignore[arg-type]  # records are canonical JSON
    )
    newest = intent.decisions.order_by("-number").first()
    if newest is not None and not parts and (newest.shown_digest, newest.phase) == (shown, phase):
        return newest
    return GateDecision.objects.create(
        workspace_id=intent.workspace_id,
        intent=intent,
        number=1 if newest is None else newest.number + 1,
        phase=phase,
        policy_version=current.version,
        target_version=locked.target.version,
        ruling=decision.ruling,
        reason=decision.reason or "",
        verdicts=verdicts,
        facts=as_record(facts),
        allocation=[_as_allocated(part) for part in parts],
        shown_digest=shown,
        decided_at=at,
    )


def _as_allocated(part: RefundPart) -> dict[str, str]:
    return {
        "parent": part.parent,
        "gateway": part.gateway,
        "amount": part.money.canonical(),
        "currency": part.money.currency,
    }


def _authorize(
    locked: Locked, kept: GateDecision, frozen: FrozenRequest, decision: Decision, *, at: datetime
) -> None:
    changes: Columns = {
        "decision": kept,
        "document": frozen.document,
        "api_version": frozen.api_version,
        "body": frozen.body,
        "body_digest": frozen.digest,
        "due_at": at,
    }
    details = {"decision": kept.public_id, "request_digest": frozen.digest}
    intent, why = locked.intent, decision.sentence
    if intent.state == State.AUTHORIZED:
        remark(intent, "gated_again", by=SYSTEM, at=at, reason=why, details=details, **changes)
    else:
        move(intent, State.AUTHORIZED, by=SYSTEM, at=at, reason=why, details=details, **changes)
    bump(locked.target)


def _apply(intent: Intent, decision: Decision, kept: GateDecision, *, at: datetime) -> None:
    """Move an intent that may not go on to where the decision puts it."""
    why, code, details = decision.sentence, decision.reason or "", {"decision": kept.public_id}
    match decision.ruling:
        case Ruling.REFUSE:
            move(
                intent,
                State.REFUSED,
                by=SYSTEM,
                at=at,
                reason=why,
                details=details,
                state_reason=code,
            )
        case Ruling.APPROVE:
            move(
                intent,
                State.AWAITING_APPROVAL,
                by=SYSTEM,
                at=at,
                reason=why,
                details=details,
                state_reason=code,
                due_at=at + durations_of(intent.connection).approval_kept_for,
            )
        case _:
            hold(intent, HeldReason(code or HeldReason.FACTS_UNAVAILABLE), why, at=at)


def hold(intent: Intent, reason: HeldReason, sentence: str, *, at: datetime) -> None:
    """Hold an intent for a named reason, and plan when it is judged again."""
    durations = durations_of(intent.connection)
    is_new = intent.state != State.HELD
    since = at if is_new else entered_at(intent)
    due_at = due_again(durations.held_schedule, intent=intent, started_at=since, now=at)
    too_long = due_at is None or at - since >= durations.held_patience
    changes: Columns = {"state_reason": reason, "due_at": None if too_long else due_at}
    if is_new:
        move(intent, State.HELD, by=SYSTEM, at=at, reason=sentence, **changes)
    elif intent.state_reason != reason:
        remark(intent, "held", by=SYSTEM, at=at, reason=sentence, **changes)
    else:
        Intent.objects.filter(pk=intent.pk).update(due_at=changes["due_at"])
    if too_long:
        flag(
            intent, NeedsHuman.HELD_TOO_LONG, by=SYSTEM, at=at, reason="held past the brand's time"
        )


def _hold_unallocated(intent: Intent, *, at: datetime) -> None:
    sentence = "What other intents have under way leaves no exact way over this order's payments."
    hold(intent, HeldReason.RESERVATION, sentence, at=at)


def _again_soon(intent: Intent) -> None:
    """Someone moved the target between our read and our lock: judge again, a little later."""
    started_at = now() - _RACE_RETRY
    due_at = due_again((_RACE_RETRY * 2,), intent=intent, started_at=started_at, now=started_at)
    Intent.objects.filter(pk=intent.pk).update(due_at=due_at)


def expire_approval(intent_pk: int) -> None:
    """Turn an approval that nobody gave in time into a hold that a person sees."""
    with transaction.atomic():
        locked, at = lock_intent(intent_pk), now()
        intent = locked.intent
        if (
            intent.state == State.AWAITING_APPROVAL
            and intent.due_at is not None
            and intent.due_at <= at
        ):
            move(
                intent,
                State.HELD,
                by=SYSTEM,
                at=at,
                reason="nobody approved in time",
                state_reason=HeldReason.APPROVAL_EXPIRED,
                due_at=None,
            )
            flag(intent, NeedsHuman.HELD_TOO_LONG, by=SYSTEM, at=at, reason="nobody approved it")
