"""What an actor can ask of an action: propose it, take it back.

Promises: the same wish gives the same row and the same answer, however often and by whomever it
is proposed; a proposal is judged at once as far as our own facts go; what was never sent can be
taken back, of what was sent only the right to resend.
Does not send: it records, and wakes a worker.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction

from actions.catalogue import Kind, Parameters, kind_named
from actions.dispatch import wake
from actions.gate import judge_at_proposal
from actions.keys import derive_key
from actions.locks import Locked, bump, lock_intent
from actions.models import Intent, Target
from actions.moves import move, record_birth
from actions.settling import end_resends
from actions.states import SETTLED, WITHDRAWABLE, State
from integrations import sealed
from integrations.actors import Actor
from integrations.markers import new_marker
from integrations.models import Connection, Platform
from integrations.rows import new_public_id
from tickets.models import Request, Ticket
from tickets.services import NotOpen, act, lock_ticket


class NoStore(Exception):
    """The workspace has no connected store: run `manage.py connect shopify` first."""


class WhichStore(Exception):
    """The workspace has several stores: name one of them in `connection`."""


class AlreadySettled(Exception):
    """The intent has ended and can't be taken back; its state says how."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """One action that an actor wants, as proposed."""

    kind: str
    request: Request
    parameters: Mapping[str, object]
    reason: str = ""
    connection: Connection | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """The intent, and whether this call made it."""

    intent: Intent
    is_new: bool


def propose(*, ticket: Ticket, wish: Wish, by: Actor, at: datetime) -> Proposed:
    """Record a wish as an intent, or return the one that stands.

    What can be judged now is judged at once, and a worker is woken for the rest.

    Raises:
        UnknownKind: The catalogue has no such kind.
        InvalidParameters: A parameter is missing, unknown or wrong.
        NotOpen: The ticket is closed or handed over.
        NoStore: The workspace has no connected store.
        WhichStore: It has several, and none is named.
    """
    kind = kind_named(wish.kind)
    parameters = kind.parse(wish.parameters)
    connection = wish.connection or only_store(ticket)
    key = derive_key(
        workspace=ticket.workspace.public_id,
        ticket=ticket.public_id,
        kind=kind.name,
        key_parameters={**parameters.key_parameters(), "connection": connection.public_id},
        occurrence=1,
    )
    with transaction.atomic():
        ticket = lock_ticket(ticket)
        existing = Intent.objects.filter(workspace_id=ticket.workspace_id, key=key).first()
        if existing is not None:
            return Proposed(intent=existing, is_new=False)
        if not ticket.is_open:
            raise NotOpen
        target = _locked_target(connection, kind, parameters)
        intent = _insert(ticket, target, wish, parameters, by=by, at=at, key=key)
        act(ticket, by=by, at=at)
        judge_at_proposal(Locked(ticket=ticket, target=target, intent=intent), at=at)
        if State(intent.state) not in SETTLED:
            wake(intent.pk)
    return Proposed(intent=intent, is_new=True)


def only_store(ticket: Ticket) -> Connection:
    """Return the workspace's store, where it has just one.

    Raises:
        NoStore: It has none.
        WhichStore: It has several.
    """
    stores = list(
        Connection.objects.filter(workspace_id=ticket.workspace_id, platform=Platform.SHOPIFY)[:2]
    )
    if not stores:
        raise NoStore
    if len(stores) > 1:
        raise WhichStore
    return stores[0]


def _locked_target(connection: Connection, kind: Kind, parameters: Parameters) -> Target:
    target, _ = Target.objects.get_or_create(
        workspace_id=connection.workspace_id,
        connection=connection,
        kind=kind.target_kind,
        identifier=parameters.target,
    )
    return Target.objects.select_for_update(no_key=True).get(pk=target.pk)


def _insert(
    ticket: Ticket,
    target: Target,
    wish: Wish,
    parameters: Parameters,
    *,
    by: Actor,
    at: datetime,
    key: UUID,
) -> Intent:
    reason = (
        wish.reason
        and ticket.customer
        and sealed.seal(
            subject_key=ticket.customer.subject_key, field="intent.reason", text=wish.reason
        )
    )
    intent = Intent.objects.create(
        public_id=new_public_id("int"),
        workspace_id=ticket.workspace_id,
        ticket=ticket,
        request=wish.request,
        connection=target.connection,
        target=target,
        kind=wish.kind,
        parameters=parameters.canonical(),
        amount=parameters.money.amount,
        currency=parameters.money.currency,
        proposer_kind=by.kind,
        proposer_identity=by.identity,
        reason=reason or None,
        key=key,
        marker=new_marker(),
        event_count=1,
        due_at=at,
        created_at=at,
        updated_at=at,
    )
    record_birth(intent, reason=f"{by.kind} wants a {wish.kind} of {parameters.money}")
    return intent


def withdraw(*, intent: Intent, by: Actor, at: datetime) -> Intent:
    """Take an intent back.

    What was never sent is withdrawn; of what was sent, the right to resend ends.

    Raises:
        AlreadySettled: The intent has ended.
    """
    with transaction.atomic():
        locked = lock_intent(intent.pk)
        intent, state = locked.intent, State(locked.intent.state)
        if state is State.WITHDRAWN:
            return intent
        if state in SETTLED:
            raise AlreadySettled
        act(locked.ticket, by=by, at=at)
        if state in WITHDRAWABLE:
            move(
                intent, State.WITHDRAWN, by=by, at=at, reason="taken back before anything was sent"
            )
            bump(locked.target)
        else:
            end_resends(
                intent, by=by, at=at, reason="taken back after a send: it ends as the store says"
            )
    return intent
