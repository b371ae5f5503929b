"""What a person may say of an intent that waits for one: approve, reject, clear, judge again.

Promises: only a person speaks here, and no proposer approves their own; a word covers exactly what
was shown, by digest, and nothing else; the same word again gets the same answer, another one is a
conflict. Approving is not authorizing: the gate looks once more.
Does not judge and does not send: it records, and wakes a worker.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from actions.approvals import evidence_of, is_approved
from actions.dispatch import wake
from actions.locks import Locked, bump, lock_intent
from actions.models import Approval, GateDecision, Intent
from actions.moves import move, remark
from actions.policy import Ruling
from actions.schedule import durations_of
from actions.states import CLEARABLE, HeldReason, RefusedReason, State
from integrations import sealed
from integrations.actors import PEOPLE, Actor
from integrations.models import SealedPayload
from tickets.models import Ticket
from tickets.services import act


class OnlyAPerson(Exception):
    """Only a Human Node or the brand's team may say this; an AI or an integration never does."""


class OwnProposal(Exception):
    """Whoever proposed an action doesn't approve it: ask a second person."""


class NotWaiting(Exception):
    """The intent doesn't wait for this word (any more); its state says where it stands."""


class ShownOtherwise(Exception):
    """What was shown to you is not what stands now: look at it again, then say so."""


class NotClearable(Exception):
    """No word clears this reason: it passes when what it names does; have it judged again then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """What one person says, of exactly what they were shown."""

    by: Actor
    at: datetime
    digest: str
    reason: str = ""


def approve(*, intent: Intent, word: Word) -> Intent:
    """Approve exactly the allocation that was shown; the gate then looks once more.

    Raises:
        OnlyAPerson: An AI or an integration speaks.
        OwnProposal: The proposer speaks.
        NotWaiting: It doesn't await approval, and this person has not approved just this before.
        ShownOtherwise: Another allocation stands now.
    """
    _hold_to_people(word.by)
    with transaction.atomic():
        locked = lock_intent(intent.pk)
        intent = locked.intent
        if intent.state != State.AWAITING_APPROVAL and _has_said(intent, word, approves=True):
            return intent
        decision = _awaited(intent, word)
        if is_approved(intent, at=word.at):
            return intent
        _keep(locked, decision, word, approves=True)
        remark(
            intent,
            "approved",
            by=word.by,
            at=word.at,
            reason="approved exactly what was shown; the gate looks once more",
            details={"decision": decision.public_id, "digest": decision.shown_digest},
            due_at=word.at,
        )
        wake(intent.pk)
    return intent


def reject(*, intent: Intent, word: Word) -> Intent:
    """Say no to what awaits approval: nothing is sent.

    Raises:
        OnlyAPerson: An AI or an integration speaks.
        OwnProposal: The proposer speaks: withdraw it instead.
        NotWaiting: It doesn't await approval (any more), or somebody has approved it already.
        ShownOtherwise: Another allocation stands now.
    """
    _hold_to_people(word.by)
    with transaction.atomic():
        locked = lock_intent(intent.pk)
        intent = locked.intent
        if _has_said(intent, word, approves=False):
            return intent
        decision = _awaited(intent, word)
        if is_approved(intent, at=word.at):
            raise NotWaiting
        _keep(locked, decision, word, approves=False)
        move(
            intent,
            State.REFUSED,
            by=word.by,
            at=word.at,
            reason="a person said no to what was shown",
            details={"decision": decision.public_id, "digest": decision.shown_digest},
            state_reason=RefusedReason.REJECTED_BY_PERSON,
        )
        bump(locked.target)
    return intent


def clear(*, intent: Intent, word: Word) -> Intent:
    """Clear the reason that an intent is held for, by a look at its evidence.

    It is judged again with that reason waived, as far as the evidence is what was shown.

    Raises:
        OnlyAPerson: An AI or an integration speaks.
        NotWaiting: It isn't held (any more).
        NotClearable: No word clears its reason.
        ShownOtherwise: Other evidence stands now.
    """
    _hold_to_people(word.by)
    with transaction.atomic():
        locked = lock_intent(intent.pk)
        intent = locked.intent
        if _has_said(intent, word, approves=True):
            return intent
        if intent.state != State.HELD:
            raise NotWaiting
        if intent.state_reason not in CLEARABLE:
            raise NotClearable
        decision = _shown(intent, word, ruling=Ruling.HOLD)
        if not evidence_of(decision):
            raise NotClearable  # nothing was shown that a look could settle
        _keep(locked, decision, word, approves=True)
        _judge_again(
            intent,
            word.by,
            "cleared",
            at=word.at,
            reason=f"cleared by a look at its evidence: {HeldReason(intent.state_reason)}",
        )
    return intent


def judge_again(*, intent: Intent, by: Actor, at: datetime) -> Intent:
    """Have a held intent judged again now, also one that was left to a person.

    Raises:
        OnlyAPerson: An AI or an integration speaks.
        NotWaiting: It isn't held (any more).
    """
    _hold_to_people(by)
    with transaction.atomic():
        locked = lock_intent(intent.pk)
        intent = locked.intent
        if intent.state != State.HELD:
            raise NotWaiting
        act(locked.ticket, by=by, at=at)
        _judge_again(intent, by, "judged_again", at=at, reason="a person has it judged again")
    return intent


def _hold_to_people(by: Actor) -> None:
    if by.kind not in PEOPLE:
        raise OnlyAPerson


def _has_said(intent: Intent, word: Word, *, approves: bool) -> bool:
    """Has this person said just this of just this before, and does it still count?"""
    said = intent.approvals.filter(
        _is_by(word.by), digest=word.digest, approves=approves, expires_at__gt=word.at
    )
    return said.exists()


def _is_by(person: Actor) -> Q:
    return Q(approver_kind=person.kind, approver_identity=person.identity)


def _awaited(intent: Intent, word: Word) -> GateDecision:
    if intent.state != State.AWAITING_APPROVAL:
        raise NotWaiting
    # A person is the same in whatever role: who is promoted meanwhile doesn't approve their own.
    if intent.proposer.kind in PEOPLE and intent.proposer.identity == word.by.identity:
        raise OwnProposal
    return _shown(intent, word, ruling=Ruling.APPROVE)


def _shown(intent: Intent, word: Word, *, ruling: Ruling) -> GateDecision:
    newest = intent.decisions.order_by("-number").first()
    if newest is None or (newest.ruling, newest.shown_digest) != (ruling, word.digest):
        raise ShownOtherwise
    return newest


def _keep(locked: Locked, decision: GateDecision, word: Word, *, approves: bool) -> None:
    intent = locked.intent
    if decision.approval_set.filter(_is_by(word.by)).exists():
        raise NotWaiting  # what they said of it has expired; the gate looks again first
    Approval.objects.create(
        workspace_id=intent.workspace_id,
        intent=intent,
        decision=decision,
        approver_kind=word.by.kind,
        approver_identity=word.by.identity,
        approves=approves,
        reason=_sealed(locked.ticket, word),
        digest=decision.shown_digest,
        given_at=word.at,
        expires_at=word.at + durations_of(intent.connection).approval_kept_for,
    )
    act(locked.ticket, by=word.by, at=word.at)


def _sealed(ticket: Ticket, word: Word) -> SealedPayload | None:
    if not word.reason or ticket.customer is None:
        return None
    key = ticket.customer.subject_key
    return sealed.seal(subject_key=key, field="approval.reason", text=word.reason)


def _judge_again(intent: Intent, by: Actor, name: str, *, at: datetime, reason: str) -> None:
    remark(
        intent,
        name,
        by=by,
        at=at,
        reason=reason,
        due_at=at,
        needs_human_since=None,
        needs_human_reason="",
    )
    wake(intent.pk)
