"""What can be done to a ticket: open it, keep a message, state a request, note an actor, reopen.

Promises: the same external id with the same opening gives the first ticket, with another opening
it is refused; personal data is sealed on the way in; the path grows by whoever acts; an AI never
states that a customer is verified.
Does not know intents: closing a ticket needs them and stands in `actions.closing`.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import Max

from integrations import sealed
from integrations.actors import Actor, ActorKind
from integrations.models import Connection, SubjectKey, Workspace
from integrations.money import Money
from tickets.models import Customer, Direction, Message, Request, Resolution, Ticket, TicketStatus
from tickets.path import with_actor


class OpenedDifferently(Exception):
    """A ticket with this external id was opened with another content: use another external id."""

    def __init__(self, ticket: Ticket) -> None:
        super().__init__(str(self.__doc__))
        self.ticket = ticket


class MayNotVerify(Exception):
    """An AI can't state `verified`: leave it out; a Human Node or the integration may state it."""


class NotOpen(Exception):
    """The ticket is closed or handed over: reopen it or take it back first."""


class AlreadyRevised(Exception):
    """The request was revised already: revise the newest one."""


class HandedOver(Exception):
    """The ticket is with the brand's team: take it back before anything else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerStatement:
    """Who writes, as an integration or a person states it."""

    store_identifier: str = ""
    email: str = ""
    verified: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """All that a ticket is opened with."""

    external_id: str
    customer: CustomerStatement
    subject: str = ""
    channel: str = ""
    order_reference: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The ticket, and whether this call made it."""

    ticket: Ticket
    is_new: bool


def open_ticket(
    *,
    workspace: Workspace,
    opening: Opening,
    by: Actor,
    at: datetime,
    connection: Connection | None = None,
) -> Opened:
    """Open a ticket, or return the one that the same opening made before.

    Raises:
        MayNotVerify: An AI states that the customer is verified.
        OpenedDifferently: The external id was used with another opening.
    """
    if opening.customer.verified and by.kind is ActorKind.AI:
        raise MayNotVerify
    existing = _existing(workspace, connection, opening)
    if existing is not None:
        return existing
    try:
        with transaction.atomic():
            return Opened(ticket=_insert(workspace, connection, opening, by, at), is_new=True)
    except IntegrityError:
        # Two callers at once: the unique constraint let one through, and this one takes the first.
        existing = _existing(workspace, connection, opening)
        if existing is None:
            raise
        return existing


def _existing(
    workspace: Workspace, connection: Connection | None, opening: Opening
) -> Opened | None:
    rows = Ticket.objects.filter(
        workspace=workspace, connection=connection, external_id=opening.external_id
    )
    ticket = rows.select_related("customer__subject_key").first()
    if ticket is None:
        return None
    if ticket.customer is None or ticket.opening_digest != _digest(
        ticket.customer.subject_key, opening
    ):
        raise OpenedDifferently(ticket)
    return Opened(ticket=ticket, is_new=False)


def _digest(subject_key: SubjectKey, opening: Opening) -> str:
    """Compare openings without keeping them: an HMAC under the customer's own key."""
    return sealed.digest(subject_key=subject_key, text=repr(opening))


def _insert(
    workspace: Workspace, connection: Connection | None, opening: Opening, by: Actor, at: datetime
) -> Ticket:
    subject_key = sealed.new_subject_key(workspace=workspace)
    customer = _insert_customer(workspace, subject_key, opening.customer, by, at)
    subject = opening.subject and sealed.seal(
        subject_key=subject_key, field="ticket.subject", text=opening.subject
    )
    ticket = Ticket.objects.create(
        workspace=workspace,
        connection=connection,
        external_id=opening.external_id,
        opening_digest=_digest(subject_key, opening),
        channel=opening.channel,
        subject=subject or None,
        customer=customer,
        order_reference=opening.order_reference,
        path=with_actor([], actor=by, now=at),
        created_at=at,
        updated_at=at,
    )
    if opening.message:
        record_message(
            ticket=ticket,
            external_id=opening.external_id,
            direction=Direction.FROM_CUSTOMER,
            body=opening.message,
            sent_at=at,
        )
    return ticket


def _insert_customer(
    workspace: Workspace,
    subject_key: SubjectKey,
    stated: CustomerStatement,
    by: Actor,
    at: datetime,
) -> Customer:
    email = stated.email and sealed.seal(
        subject_key=subject_key, field="customer.email", text=stated.email
    )
    verified = {"verified_at": at, "verified_by_kind": by.kind, "verified_by_identity": by.identity}
    return Customer.objects.create(
        workspace=workspace,
        subject_key=subject_key,
        store_identifier=stated.store_identifier,
        email=email or None,
        created_at=at,
        **(verified if stated.verified else {}),
    )


def record_message(
    *, ticket: Ticket, external_id: str, direction: Direction, body: str, sent_at: datetime
) -> Message:
    """Keep one message; its text is sealed with the customer's key."""
    if ticket.customer is None:
        raise ValueError(f"{ticket.public_id} has no customer: its messages can't be sealed.")
    subject_key = ticket.customer.subject_key
    return Message.objects.create(
        workspace_id=ticket.workspace_id,
        ticket=ticket,
        external_id=external_id,
        direction=direction,
        body=sealed.seal(subject_key=subject_key, field="message.body", text=body),
        sent_at=sent_at,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What a customer asks for, as someone states it."""

    kind: str
    target: str = ""
    money: Money | None = None
    text: str = ""
    revises: Request | None = None


def state_request(*, ticket: Ticket, statement: Statement, by: Actor, at: datetime) -> Request:
    """State what the customer asks for, or revise an earlier statement; nothing is deleted.

    Raises:
        NotOpen: The ticket is closed or handed over.
        AlreadyRevised: The request to revise was revised before.
    """
    with transaction.atomic():
        ticket = lock_ticket(ticket)
        if not ticket.is_open:
            raise NotOpen
        if statement.revises is not None and statement.revises.revisions.exists():
            raise AlreadyRevised
        newest = ticket.request_set.aggregate(newest=Max("number"))["newest"] or 0
        text = (
            statement.text
            and ticket.customer
            and sealed.seal(
                subject_key=ticket.customer.subject_key, field="request.text", text=statement.text
            )
        )
        act(ticket, by=by, at=at)
        return Request.objects.create(
            workspace_id=ticket.workspace_id,
            ticket=ticket,
            number=newest + 1,
            kind=statement.kind,
            target=statement.target,
            amount=statement.money.amount if statement.money else None,
            currency=statement.money.currency if statement.money else "",
            text=text or None,
            stated_by_kind=by.kind,
            stated_by_identity=by.identity,
            revises=statement.revises,
            created_at=at,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """The request, and whether this call made it."""

    request: Request
    is_new: bool


def state_request_once(*, ticket: Ticket, statement: Statement, by: Actor, at: datetime) -> Stated:
    """State a request, or return the one that stands and says the very same.

    So a call that is sent again asks for nothing more.

    Raises:
        NotOpen: The ticket is closed or handed over, and nothing stands that says this.
        AlreadyRevised: The request to revise was revised before, by another statement.
    """
    with transaction.atomic():
        standing = _standing_statement(lock_ticket(ticket), statement)
        if standing is not None:
            return Stated(request=standing, is_new=False)
        request = state_request(ticket=ticket, statement=statement, by=by, at=at)
    return Stated(request=request, is_new=True)


def _standing_statement(ticket: Ticket, statement: Statement) -> Request | None:
    money = statement.money
    rows = ticket.request_set.filter(
        revisions=None,
        kind=statement.kind,
        target=statement.target,
        amount=money.amount if money else None,
        currency=money.currency if money else "",
    )
    if statement.revises is not None:
        rows = rows.filter(revises=statement.revises)
    for request in rows.select_related("text__subject_key").order_by("number"):
        if statement.text == (sealed.unseal(request.text) if request.text else ""):
            return request
    return None


def lock_ticket(ticket: Ticket) -> Ticket:
    """Lock a ticket until the transaction ends, and read it afresh."""
    rows = Ticket.objects.select_for_update(of=("self",), no_key=True)
    return rows.select_related("customer__subject_key", "connection").get(pk=ticket.pk)


def act(ticket: Ticket, *, by: Actor, at: datetime) -> None:
    """Note on a locked ticket that someone acted: the path grows, and work has begun."""
    ticket.path = with_actor(ticket.path, actor=by, now=at)
    if ticket.status == TicketStatus.OPEN:
        ticket.status = TicketStatus.IN_PROGRESS
    ticket.updated_at = at
    ticket.save(update_fields=["path", "status", "updated_at"])


def reopen_ticket(*, ticket: Ticket, by: Actor, at: datetime) -> Ticket:
    """Reopen a closed ticket; one that is open stays as it is.

    Raises:
        HandedOver: The brand's team has it.
    """
    with transaction.atomic():
        ticket = lock_ticket(ticket)
        if ticket.status == TicketStatus.HANDED_OVER:
            raise HandedOver
        if not ticket.is_open:
            reopen(ticket, by=by, at=at)
    return ticket


def reopen(ticket: Ticket, *, by: Actor, at: datetime) -> None:
    """Reopen a closed ticket: its resolution stays, marked as reopened. The ticket is locked."""
    Resolution.objects.filter(ticket=ticket, reopened_at=None).update(
        reopened_at=at, reopened_by_kind=by.kind, reopened_by_identity=by.identity
    )
    ticket.status = TicketStatus.IN_PROGRESS
    ticket.resolver = None
    ticket.path = with_actor(ticket.path, actor=by, now=at)
    ticket.updated_at = at
    ticket.save(update_fields=["status", "resolver", "path", "updated_at"])
