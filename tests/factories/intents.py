"""Intents in each state, and closed tickets, each with the whole evidence that it stands on.

Promises: `intent_in(state)` reaches a state over arcs of the table, by `actions.moves`; money is
12.50 EUR unless given; moments lie within the two hours before now, so that nothing is due and no
window is over.
Does not know the gate, workers or platforms.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TypedDict, Unpack
from uuid import UUID

from django.db import transaction

from actions.keys import derive_key
from actions.models import Attempt, AttemptOutcome, Intent, Outcome, ResolvedHow, Target
from actions.moves import Columns, move, record_birth
from actions.states import FailedReason, HeldReason, RefusedReason, State
from integrations.actors import SYSTEM, Actor
from integrations.clock import now
from integrations.markers import new_marker
from integrations.models import Connection, SealedPayload
from integrations.ports import Standing
from tests.factories.evidence import (
    FROZEN,
    SETTLES_AFTER,
    close_attempt,
    find_absent,
    make_decision,
    make_echo,
    make_object,
    make_read,
    open_attempt,
    resolve_attempts,
)
from tests.factories.rows import (
    AI,
    NODE,
    make_connection,
    make_payload,
    make_request,
    make_target,
    make_ticket,
)
from tickets.models import Request, Resolution, Ticket, TicketStatus
from tickets.path import resolver_of

AMOUNT = Decimal("12.5000")
_LEASE = timedelta(seconds=60)


class Given(TypedDict, total=False):
    """What a test may say of an intent; whatever it leaves out is made for it."""

    ticket: Ticket
    request: Request
    connection: Connection
    target: Target
    reason: SealedPayload
    amount: Decimal | None
    currency: str
    kind: str
    by: Actor
    occurrence: int
    repeat_of: Intent
    corrects: Intent
    remainder_of: Intent
    key: UUID


def make_intent(*, at: datetime | None = None, **given: Unpack[Given]) -> Intent:
    """Propose a refund of 12.50 EUR by the AI, with its first event."""
    at, by = at or now(), given.get("by", AI)
    ticket = given.get("ticket") or make_ticket()
    target = given.get("target") or _target(ticket, given.get("connection"))
    marker = new_marker()
    with transaction.atomic():
        intent = Intent.objects.create(
            workspace_id=ticket.workspace_id,
            ticket=ticket,
            request=given.get("request") or _request(ticket),
            connection=target.connection,
            target=target,
            kind=given.get("kind", "refund"),
            parameters={},
            amount=given.get("amount", AMOUNT),
            currency=given.get("currency", "EUR"),
            proposer_kind=by.kind,
            proposer_identity=by.identity,
            reason=given.get("reason"),
            occurrence=given.get("occurrence", 1),
            repeat_of=given.get("repeat_of"),
            corrects=given.get("corrects"),
            remainder_of=given.get("remainder_of"),
            key=given.get("key") or _key(ticket, marker),
            marker=marker,
            created_at=at,
            updated_at=at,
            event_count=1,
        )
        record_birth(intent, reason="proposed by a test")
    return intent


def _target(ticket: Ticket, connection: Connection | None) -> Target:
    return make_target(connection=connection or make_connection(workspace=ticket.workspace))


def _request(ticket: Ticket) -> Request:
    return ticket.request_set.order_by("number").first() or make_request(ticket=ticket)


def _key(ticket: Ticket, marker: str) -> UUID:
    """Derive a key that is like no other, since a test may want many alike."""
    return derive_key(
        workspace=ticket.workspace.public_id,
        ticket=ticket.public_id,
        kind="refund",
        key_parameters={"marker": marker},
        occurrence=1,
    )


def authorize(intent: Intent, *, at: datetime, ruling: str = "allow") -> None:
    """Let the gate say yes, by itself or to what has its approval, and freeze the request."""
    decision = make_decision(intent=intent, ruling=ruling, at=at)
    move(
        intent,
        State.AUTHORIZED,
        by=SYSTEM,
        at=at,
        reason="allowed",
        decision=decision,
        due_at=at,
        document=FROZEN.document,
        api_version=FROZEN.api_version,
        body=FROZEN.body,
        body_digest=FROZEN.digest,
    )


def claim(intent: Intent, *, at: datetime) -> Attempt:
    """Open the next attempt and move to executing, in one transaction."""
    with transaction.atomic():
        attempt = open_attempt(intent=intent, at=at)
        lease_until = at + _LEASE
        move(intent, State.EXECUTING, by=SYSTEM, at=at, reason="claimed", lease_until=lease_until)
    return attempt


def answer(
    intent: Intent,
    *,
    at: datetime,
    to: State,
    parts: list[tuple[Standing, Decimal]],
    **changes: Unpack[Columns],
) -> None:
    """Settle an executing intent by an echo in the platform's answer."""
    with transaction.atomic():
        attempt = intent.attempts.latest("number")
        close_attempt(attempt, AttemptOutcome.ECHOED, at=at)
        external = make_object(target=intent.target, intent=intent)
        make_echo(external_object=external, source=attempt, at=at, parts=parts)
        move(intent, to, by=SYSTEM, at=at, reason="answered", **changes)


def hear(
    intent: Intent,
    *,
    at: datetime,
    to: State,
    parts: list[tuple[Standing, Decimal]],
    by: Actor = SYSTEM,
) -> None:
    """Move an intent by what a later read says of its object."""
    with transaction.atomic():
        read = make_read(target=intent.target, at=at)
        make_echo(external_object=intent.external_objects.get(), source=read, at=at, parts=parts)
        move(intent, to, by=by, at=at, reason="read")


def find(
    intent: Intent,
    *,
    at: datetime,
    to: State,
    parts: list[tuple[Standing, Decimal]],
    **changes: Unpack[Columns],
) -> None:
    """Settle an unknown intent by a read that finds its effect."""
    with transaction.atomic():
        read = make_read(target=intent.target, at=at)
        external = make_object(target=intent.target, intent=intent)
        make_echo(external_object=external, source=read, at=at, parts=parts)
        resolve_attempts(intent, ResolvedHow.FOUND, at=at)
        move(intent, to, by=SYSTEM, at=at, reason="found", **changes)


def lose_answer(intent: Intent, *, at: datetime) -> None:
    """Close the open attempt of an executing intent with an unknown outcome."""
    with transaction.atomic():
        close_attempt(intent.attempts.latest("number"), AttemptOutcome.UNKNOWN, at=at)
        move(intent, State.UNKNOWN, by=SYSTEM, at=at, reason="timed out", unknown_since=at)


def unsend(intent: Intent, *, at: datetime) -> None:
    """Take back an executing intent of which provably nothing was sent."""
    window: Columns = {"first_sent_at": None, "resend_until": None, "settles_at": None}
    move(intent, State.AUTHORIZED, by=SYSTEM, at=at, reason="not sent", **window)
    move(intent, State.WITHDRAWN, by=AI, at=at, reason="taken back")


def late_success(parts: list[tuple[Standing, Decimal]] | None = None) -> Intent:
    """Make an intent whose money failed, and of which a later read says that it succeeded."""
    intent, at = unknown_intent(), now()
    failed = [(Standing.FAILED, asked(intent))]
    find(intent, at=at, to=State.FAILED, parts=failed, state_reason=FailedReason.MONEY_FAILED)
    later = [(Standing.SUCCEEDED, asked(intent))] if parts is None else parts
    with transaction.atomic():
        read = make_read(target=intent.target, at=at)
        make_echo(external_object=intent.external_objects.get(), source=read, at=at, parts=later)
    return intent


def intent_in(state: State, *, at: datetime | None = None, **given: Unpack[Given]) -> Intent:
    """Make an intent in a state, with all that the state stands on.

    Args:
        state: Any state of the table.
        at: When it was proposed; two hours ago unless given.
        given: As for `make_intent`.
    """
    at = at or now() - timedelta(hours=2)
    intent = make_intent(at=at, **given)
    _REACH[state](intent, at + timedelta(seconds=1))
    return intent


def confirmed_intent(**given: Unpack[Given]) -> Intent:
    """Make a confirmed refund: allowed, sent once, echoed with success and just what was asked."""
    return intent_in(State.CONFIRMED, **given)


def unknown_intent(**given: Unpack[Given]) -> Intent:
    """Make an intent that was sent once and whose answer nobody could read."""
    return intent_in(State.UNKNOWN, **given)


def make_outcome(*, intent: Intent) -> Outcome:
    """Tie the request of a confirmed intent to the object that fulfils it."""
    return Outcome.objects.create(
        workspace_id=intent.workspace_id,
        request=intent.request,
        external_object=intent.external_objects.get(),
        intent=intent,
        by_kind=AI.kind,
        by_identity=AI.identity,
        created_at=now(),
    )


def make_statement(*, request: Request, intent: Intent | None = None) -> Outcome:
    """Let a Human Node say why a request is fulfilled: by an intent's object, or without a fact."""
    return Outcome.objects.create(
        workspace_id=request.workspace_id,
        request=request,
        external_object=None if intent is None else intent.external_objects.get(),
        intent=intent,
        statement=make_payload(workspace=request.workspace),
        by_kind=NODE.kind,
        by_identity=NODE.identity,
        created_at=now(),
    )


def resolved_ticket() -> Ticket:
    """Make a ticket that an AI resolved: its request, confirmed refund, outcome, resolution."""
    intent = confirmed_intent()
    ticket, at = intent.ticket, now()
    resolver = resolver_of(ticket.path, closed_by=AI)
    with transaction.atomic():
        make_outcome(intent=intent)
        Resolution.objects.create(
            workspace_id=intent.workspace_id,
            ticket=ticket,
            status=TicketStatus.RESOLVED,
            resolver=resolver,
            closed_by_kind=AI.kind,
            closed_by_identity=AI.identity,
            closed_at=at,
        )
        ticket.status, ticket.resolver = TicketStatus.RESOLVED, resolver
        ticket.save(update_fields=["status", "resolver"])
    return ticket


def _proposed(intent: Intent, at: datetime) -> None:
    """Stay as born."""


def _held(intent: Intent, at: datetime) -> None:
    reason = HeldReason.FACTS_UNAVAILABLE
    decision = make_decision(intent=intent, ruling="hold", reason=reason, at=at)
    move(
        intent,
        State.HELD,
        by=SYSTEM,
        at=at,
        reason="held",
        state_reason=reason,
        decision=decision,
    )


def _awaiting_approval(intent: Intent, at: datetime) -> None:
    decision = make_decision(intent=intent, ruling="approve", at=at)
    move(
        intent,
        State.AWAITING_APPROVAL,
        by=SYSTEM,
        at=at,
        reason="over the threshold",
        decision=decision,
    )


def _refused(intent: Intent, at: datetime) -> None:
    reason = RefusedReason.OVER_CAP
    decision = make_decision(intent=intent, ruling="refuse", reason=reason, at=at)
    move(
        intent,
        State.REFUSED,
        by=SYSTEM,
        at=at,
        reason="refused",
        state_reason=reason,
        decision=decision,
    )


def _withdrawn(intent: Intent, at: datetime) -> None:
    move(intent, State.WITHDRAWN, by=AI, at=at, reason="taken back")


def _authorized(intent: Intent, at: datetime) -> None:
    authorize(intent, at=at)


def _executing(intent: Intent, at: datetime) -> None:
    authorize(intent, at=at)
    claim(intent, at=at)


def _unknown(intent: Intent, at: datetime) -> None:
    _executing(intent, at)
    lose_answer(intent, at=at + timedelta(seconds=20))


def _pending(intent: Intent, at: datetime) -> None:
    _executing(intent, at)
    answer(intent, at=at, to=State.PENDING, parts=[(Standing.OPEN, asked(intent))])


def _partially_confirmed(intent: Intent, at: datetime) -> None:
    _executing(intent, at)
    half = asked(intent) / 2
    parts = [(Standing.SUCCEEDED, half), (Standing.FAILED, half)]
    answer(intent, at=at, to=State.PARTIALLY_CONFIRMED, parts=parts)


def _confirmed(intent: Intent, at: datetime) -> None:
    _executing(intent, at)
    parts = [] if intent.amount is None else [(Standing.SUCCEEDED, intent.amount)]
    answer(intent, at=at, to=State.CONFIRMED, parts=parts, confirmed_at=at)


def _accepted(intent: Intent, at: datetime) -> None:
    _partially_confirmed(intent, at)
    move(
        intent,
        State.ACCEPTED,
        by=NODE,
        at=at,
        reason="the customer agreed",
        accepted_reason=make_payload(workspace=intent.workspace),
    )


def _failed(intent: Intent, at: datetime) -> None:
    _executing(intent, at)
    with transaction.atomic():
        close_attempt(intent.attempts.latest("number"), AttemptOutcome.REJECTED, at=at)
        move(
            intent,
            State.FAILED,
            by=SYSTEM,
            at=at,
            reason="rejected",
            state_reason=FailedReason.REJECTED,
        )


def fail_as_absent(intent: Intent, *, at: datetime) -> None:
    """End an unknown intent by two complete absences, 3 minutes apart, late enough to prove it."""
    first = at + SETTLES_AFTER + timedelta(minutes=1)
    with transaction.atomic():
        find_absent(intent=intent, at=first)
        find_absent(intent=intent, at=first + timedelta(minutes=3))
        resolve_attempts(intent, ResolvedHow.ABSENT, at=first)
        move(
            intent,
            State.FAILED,
            by=SYSTEM,
            at=first,
            reason="absent",
            state_reason=FailedReason.ABSENT,
        )


def _reversed(intent: Intent, at: datetime) -> None:
    _confirmed(intent, at)
    later = at + timedelta(minutes=30)
    hear(intent, at=later, to=State.REVERSED, parts=[(Standing.FAILED, asked(intent))])


def asked(intent: Intent) -> Decimal:
    """Return the amount that an intent asks for."""
    if intent.amount is None:
        raise ValueError(f"{intent.public_id} moves no money.")
    return intent.amount


_REACH: dict[State, Callable[[Intent, datetime], None]] = {
    State.PROPOSED: _proposed,
    State.HELD: _held,
    State.AWAITING_APPROVAL: _awaiting_approval,
    State.AUTHORIZED: _authorized,
    State.EXECUTING: _executing,
    State.UNKNOWN: _unknown,
    State.PENDING: _pending,
    State.PARTIALLY_CONFIRMED: _partially_confirmed,
    State.CONFIRMED: _confirmed,
    State.ACCEPTED: _accepted,
    State.FAILED: _failed,
    State.REFUSED: _refused,
    State.WITHDRAWN: _withdrawn,
    State.REVERSED: _reversed,
}
