"""The Policy Gate's protocol: read facts with no lock, judge under locks, keep the decision.

Promises: what is authorized was judged on facts of a target that nobody moved meanwhile (its
version is compared under lock); the decision, its facts and arithmetic, the exact allocation, what
it takes of the brand's limits and the frozen bytes are committed together; what needs a second
person goes on only with an approval of exactly what would be sent; through a blocked connection
nothing is read.
Does not know the rules (`actions.policy`) nor the facts (`actions.gathering`), and never sends.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from actions.approvals import is_approved, standing_approval
from actions.attempts import may_have_left
from actions.boundaries import Boundary, reached
from actions.catalogue import Kind, kind_named
from actions.catalogue.refund import (
    CannotAllocate,
    allocate,
    allocation_digest,
    to_store_credit,
)
from actions.counters import Place, recount, take
from actions.dispatch import wake
from actions.gathering import circumstances, counted_in, gather
from actions.keys import Canonical, digest
from actions.locks import Locked, bump, lock_intent
from actions.models import Approval, GateDecision, Intent, Phase, ReadCause
from actions.moves import Columns, flag, judge_again_where_room, move, remark
from actions.policies import CurrentPolicy, current_policy
from actions.policy import (
    Decision,
    Facts,
    OrderFacts,
    Ruling,
    facts_record,
    judge,
    kept_back_parts,
)
from actions.reading import Reading, read_order, record_read
from actions.schedule import due_again, durations_of, entered_at
from actions.settling import stop_on_another_version, stop_where_shut_out
from actions.states import HeldReason, NeedsHuman, State
from integrations import registry
from integrations.actors import SYSTEM
from integrations.clock import now
from integrations.models import Connection, Workspace
from integrations.ports import FrozenRequest, RefundBasis, RefundPart, StorePort

GATED_STATES = (State.PROPOSED, State.HELD, State.AUTHORIZED)
"""What the worker's gate judges by itself; what awaits approval, only once that was given."""

_RACE_RETRY = timedelta(milliseconds=200)


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """What the gate thinks of an intent at one moment, before anything is kept or moved."""

    current: CurrentPolicy
    facts: Facts
    decision: Decision
    parts: tuple[RefundPart, ...]
    """The exact allocation; empty where none is wanted, or none is possible."""
    shown_digest: str
    """The digest of exactly what would be sent; without an allocation, of what is in the way."""
    place: Place
    """Where it is counted, if it is let go."""


def judge_in_worker(intent_pk: int) -> bool:
    """Judge an intent by all four checks and keep the decision; True if it is authorized now."""
    related = ("connection", "target", "workspace")
    intent = Intent.objects.select_related(*related).get(pk=intent_pk)
    noted_version = intent.target.version
    port, reading = _read(intent)
    reached(Boundary.FACTS_READ)
    with transaction.atomic():
        locked = lock_intent(intent_pk)
        if not _is_to_be_judged(locked.intent) or may_have_left(locked.intent).exists():
            return False
        if locked.target.version != noted_version:
            _again_soon(locked.intent)
            return False
        authorized = _judge_locked(locked, port, reading)
    reached(Boundary.GATED)
    return authorized


def judge_at_proposal(locked: Locked, *, at: datetime) -> None:
    """Judge a new intent by the checks that need no outside facts: the caller learns at once."""
    weighed = weigh(locked, None, at=at, taking=False)
    kept = _keep(locked, weighed, phase=Phase.PROPOSAL, at=at)
    if weighed.decision.ruling in (Ruling.REFUSE, Ruling.HOLD):
        _apply(locked.intent, weighed.decision, kept, at=at)


def read_for(
    connection: Connection, *, kind: Kind, order: str, basis: RefundBasis
) -> Reading | None:
    """Read an order for a judgement; None where something is in the way of any call."""
    port = _port(connection, workspace=connection.workspace, kind=kind)
    return None if port is None else read_order(port, order=order, basis=basis)


def weigh(locked: Locked, reading: Reading | None, *, at: datetime, taking: bool) -> Weighed:
    """Judge a locked intent on the facts as they are; nothing is kept and nothing moves.

    Args:
        locked: The intent, with its ticket and its target.
        reading: What the store said, where it was asked.
        at: Now.
        taking: Whether it may be let go on this; a mere look holds up nobody else's judgement.
    """
    current = current_policy(locked.intent.workspace)
    facts = gather(locked, reading, policy=current.policy, at=at, taking=taking)
    decision = judge(policy=current.policy, facts=facts)
    parts: tuple[RefundPart, ...] = ()
    if decision.ruling in (Ruling.ALLOW, Ruling.APPROVE):
        parts = _allocation(facts)
    return Weighed(
        current=current,
        facts=facts,
        decision=decision,
        parts=parts,
        shown_digest=_shown_digest(locked.intent, current, facts, decision, parts),
        place=counted_in(locked, reading, at=at),
    )


def _is_to_be_judged(intent: Intent) -> bool:
    if intent.state == State.AWAITING_APPROVAL:
        return is_approved(intent, at=now())
    return State(intent.state) in GATED_STATES


def _read(intent: Intent) -> tuple[StorePort | None, Reading | None]:
    kind = kind_named(intent.kind)
    port = _port(intent.connection, workspace=intent.workspace, kind=kind)
    if port is None:
        return None, None
    basis = kind.parse(intent.parameters).basis
    return port, read_order(port, order=intent.target.identifier, basis=basis)


def _port(connection: Connection, *, workspace: Workspace, kind: Kind) -> StorePort | None:
    """Return the adapter; None where something is in the way: no credential is handled then."""
    now_in_the_way = circumstances(connection, workspace=workspace, kind=kind)
    if now_in_the_way.blocked_by or now_in_the_way.circuit_open:
        return None
    return registry.store(connection)


def _judge_locked(locked: Locked, port: StorePort | None, reading: Reading | None) -> bool:
    at, intent = now(), locked.intent
    if reading is not None:
        record_read(reading, target=locked.target, cause=ReadCause.GATE)
        asked = registry.asked_version(intent.connection)
        stop_on_another_version(intent, reading.snapshot.trace, asked=asked, at=at)
        stop_where_shut_out(intent, reading.snapshot, at=at)
    # What it took when it was authorized earlier comes back first, so that it can't block itself.
    place = counted_in(locked, reading, at=at)
    was_counted = recount(intent, None, at=at, next_place=place)
    weighed = weigh(locked, reading, at=at, taking=True)
    authorized = _follow(locked, weighed, port, at=at)
    if was_counted and not authorized:
        judge_again_where_room(intent, at=at)
    return authorized


def _follow(locked: Locked, weighed: Weighed, port: StorePort | None, *, at: datetime) -> bool:
    """Keep a decision and do as it says; True if the intent is authorized now."""
    intent, decision, approval = locked.intent, weighed.decision, None
    if decision.ruling in (Ruling.ALLOW, Ruling.APPROVE) and not weighed.parts:
        _hold_unallocated(intent, at=at)
        return False
    kept = _keep(locked, weighed, phase=Phase.WORKER, at=at)
    if decision.ruling is Ruling.APPROVE:
        approval = standing_approval(intent, digest=weighed.shown_digest, at=at)
    if port is not None and (decision.ruling is Ruling.ALLOW or approval is not None):
        _authorize(locked, kept, weighed, port, approval, at=at)
        return True
    _apply(intent, decision, kept, at=at)
    return False


def _allocation(facts: Facts) -> tuple[RefundPart, ...]:
    """Spread the amount over the payments; empty if what others have under way leaves no way."""
    if not isinstance(facts.order, OrderFacts):
        return ()
    if facts.proposal.to_store_credit:
        return to_store_credit(facts.proposal.money)
    reserved = kept_back_parts(others=facts.others, order=facts.order)
    try:
        return allocate(facts.proposal.money, suggested=facts.order.suggested, reserved=reserved)
    except CannotAllocate:
        return ()


def _shown_digest(
    intent: Intent,
    current: CurrentPolicy,
    facts: Facts,
    decision: Decision,
    parts: tuple[RefundPart, ...],
) -> str:
    if not parts:
        return digest(_what_stands_in_the_way(decision))
    return allocation_digest(
        order=facts.proposal.order,
        parts=parts,
        basis=facts.proposal.basis,
        notify=current.policy.kinds[intent.kind].notify,
    )


def _what_stands_in_the_way(decision: Decision) -> list[Canonical]:
    """List what every check found, with its evidence: a person clears that, not the arithmetic.

    How much others have used of a limit meanwhile changes nothing of it.
    """
    return [
        [verdict.check, finding.ruling, finding.reason, list(finding.evidence)]
        for verdict in decision.verdicts
        for finding in verdict.findings
        if finding.ruling is not Ruling.ALLOW
    ]


def _freeze(intent: Intent, port: StorePort, weighed: Weighed) -> FrozenRequest:
    kind = kind_named(intent.kind)
    return kind.freeze(
        port,
        parameters=kind.parse(intent.parameters),
        parts=weighed.parts,
        marker=intent.marker,
        key=str(intent.key),
        notify=weighed.current.policy.kinds[intent.kind].notify,
    )


def _keep(locked: Locked, weighed: Weighed, *, phase: Phase, at: datetime) -> GateDecision:
    """Keep a decision with all that it stands on; a hold that says the same again is kept once.

    One that a person has spoken of has had its word: who is to speak again gets another.
    """
    intent, decision = locked.intent, weighed.decision
    newest, shown = intent.decisions.order_by("-number").first(), weighed.shown_digest
    is_same = newest is not None and (newest.shown_digest, newest.phase) == (shown, phase)
    if newest is not None and is_same and not weighed.parts and not newest.approval_set.exists():
        return newest
    return GateDecision.objects.create(
        workspace_id=intent.workspace_id,
        intent=intent,
        number=1 if newest is None else newest.number + 1,
        phase=phase,
        policy_version=weighed.current.version,
        target_version=locked.target.version,
        ruling=decision.ruling,
        reason=decision.reason or "",
        verdicts=[verdict.as_record() for verdict in decision.verdicts],
        facts=facts_record(weighed.facts),
        allocation=[as_allocated(part) for part in weighed.parts],
        shown_digest=shown,
        decided_at=at,
    )


def as_allocated(part: RefundPart) -> dict[str, str]:
    """Return one part of an allocation as decisions keep it; store credit has no payment."""
    return {
        "parent": part.parent or "",
        "gateway": part.gateway,
        "amount": part.money.canonical(),
        "currency": part.money.currency,
    }


def _authorize(
    locked: Locked,
    kept: GateDecision,
    weighed: Weighed,
    port: StorePort,
    approval: Approval | None,
    *,
    at: datetime,
) -> None:
    """Let it go: take from the limits, use the approval, freeze what will be sent."""
    intent, why, place = locked.intent, weighed.decision.sentence, weighed.place
    counted, frozen = weighed.facts.asked_of_limits, _freeze(intent, port, weighed)
    if counted is None:
        raise ValueError(
            f"{intent.public_id} was let go, and what it takes of the limits is not known."
        )
    take(intent, counted.amount, place)
    changes: Columns = {
        "decision": kept,
        "document": frozen.document,
        "api_version": frozen.api_version,
        "body": frozen.body,
        "body_digest": frozen.digest,
        "due_at": at,
        "shop_amount": counted.amount,
        "shop_currency": counted.currency,
        "counted_on": place.on,
        "counted_at": at,
        "counted_for": place.customer,
    }
    details = {"decision": kept.public_id, "request_digest": frozen.digest}
    if approval is not None:
        Approval.objects.filter(pk=approval.pk, used_at=None).update(used_at=at)
        details["approval"] = approval.public_id
        why = f"approved by {approval.approver_kind} {approval.approver_identity}"
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
            _ask_for_approval(intent, kept, why, at=at)
        case _:
            hold(intent, HeldReason(code or HeldReason.FACTS_UNAVAILABLE), why, at=at)


def _ask_for_approval(intent: Intent, kept: GateDecision, why: str, *, at: datetime) -> None:
    """Put the exact allocation before a second person; again, where it is another one by now."""
    details = {"decision": kept.public_id, "digest": kept.shown_digest}
    changes: Columns = {
        "state_reason": kept.reason,
        "due_at": at + durations_of(intent.connection).approval_kept_for,
    }
    if intent.state == State.AWAITING_APPROVAL:
        why = f"what was approved is not what would be sent now: {why}"
        remark(intent, "asked_again", by=SYSTEM, at=at, reason=why, details=details, **changes)
    else:
        move(
            intent,
            State.AWAITING_APPROVAL,
            by=SYSTEM,
            at=at,
            reason=why,
            details=details,
            **changes,
        )


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
    wake(intent.pk, after=_RACE_RETRY * 2)


def expire_approval(intent_pk: int) -> None:
    """Turn an approval that nobody gave in time into a hold that a person sees."""
    with transaction.atomic():
        locked, at = lock_intent(intent_pk), now()
        intent = locked.intent
        # An approval makes it due at once: who saw none just before must look again under lock.
        if (
            intent.state == State.AWAITING_APPROVAL
            and intent.due_at is not None
            and intent.due_at <= at
            and not is_approved(intent, at=at)
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
