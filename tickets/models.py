"""The unified ticket: customer, ticket, message, request, resolution.

Promises: one record, the same fields whoever closed the ticket; the path only grows; requests are
revised, never deleted; resolutions are never lost. What a ticket needs to count as resolved is
held by the database (`actions.guards`), for raw SQL too.
Does not know intents or platforms. Subjects, message bodies and free text are sealed; these rows
hold identifiers only.
"""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from integrations.actors import ActorKind
from integrations.models import Connection, SealedPayload, SubjectKey
from integrations.rows import (
    AMOUNT_BOUND,
    ScopedForeignKey,
    WorkspaceRow,
    actor_identity,
    actor_kind,
    public_id,
)
from tickets.path import Resolver


class Customer(WorkspaceRow):
    """A person who writes to the brand.

    Verified only by an adapter's read, a Human Node or an integration, never by an AI.
    """

    mutable: ClassVar = ("verified_at", "verified_by_kind", "verified_by_identity")

    public_id = public_id("cus")
    subject_key = ScopedForeignKey(SubjectKey)
    store_identifier = models.CharField(max_length=200, blank=True)
    email = ScopedForeignKey(SealedPayload, null=True, blank=True, related_name="+")
    verified_at = models.DateTimeField(null=True, blank=True)
    verified_by_kind = actor_kind(blank=True)
    verified_by_identity = actor_identity(blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(verified_at=None, verified_by_kind="", verified_by_identity="")
                | (
                    Q(verified_at__isnull=False)
                    & Q(
                        verified_by_kind__in=[
                            ActorKind.HUMAN_NODE,
                            ActorKind.BRAND_TEAM,
                            ActorKind.SYSTEM,
                        ]
                    )
                    & ~Q(verified_by_identity="")
                ),
                name="customer_verified_by_no_ai",
            ),
        ]

    def __str__(self) -> str:
        return self.public_id


class TicketStatus(models.TextChoices):
    """Where a ticket stands; stored values are never renamed."""

    OPEN = "open", "Open"
    IN_PROGRESS = "in_progress", "In progress"
    RESOLVED = "resolved", "Resolved"
    HANDED_OVER = "handed_over", "Handed over"
    CLOSED_UNRESOLVED = "closed_unresolved", "Closed unresolved"


class CloseReason(models.TextChoices):
    """Why a ticket was closed without being resolved."""

    DECLINED = "declined", "Declined"
    WITHDRAWN_BY_CUSTOMER = "withdrawn_by_customer", "Withdrawn by the customer"
    SILENCE = "silence", "Silence"
    SPAM = "spam", "Spam"
    UNKNOWABLE = "unknowable", "Unknowable"
    CLOSED_OUTSIDE = "closed_outside", "Closed outside"


class Ticket(WorkspaceRow):
    """The unified case, whichever helpdesk it came from."""

    mutable: ClassVar = (
        "status",
        "path",
        "resolver",
        "desk_status",
        "customer_id",
        "order_reference",
        "updated_at",
    )

    public_id = public_id("tkt")
    connection = ScopedForeignKey(Connection, null=True, blank=True)
    external_id = models.CharField(max_length=200)
    opening_digest = models.CharField(max_length=64)
    channel = models.CharField(max_length=40, blank=True)
    subject = ScopedForeignKey(SealedPayload, null=True, blank=True, related_name="+")
    customer = ScopedForeignKey(Customer, null=True, blank=True)
    order_reference = models.CharField(max_length=200, blank=True)
    status = models.CharField(
        max_length=20, choices=TicketStatus.choices, default=TicketStatus.OPEN
    )
    desk_status = models.CharField(max_length=40, blank=True)
    path = models.JSONField(default=list)
    resolver = models.CharField(  # noqa: DJ001 - null says: not resolved
        max_length=20,
        choices=[(r.value, r.value.replace("_", " ")) for r in Resolver],
        null=True,
        blank=True,
    )
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "connection", "external_id"],
                nulls_distinct=False,
                name="ticket_source_once",
            ),
            models.CheckConstraint(condition=~Q(external_id=""), name="ticket_external_id"),
            models.CheckConstraint(
                condition=Q(status__in=TicketStatus.values), name="ticket_status"
            ),
            models.CheckConstraint(
                condition=Q(
                    status=TicketStatus.RESOLVED,
                    resolver__isnull=False,
                    resolver__in=list(Resolver),
                )
                | (~Q(status=TicketStatus.RESOLVED) & Q(resolver=None)),
                name="ticket_resolver_iff_resolved",
            ),
        ]
        indexes = [models.Index(fields=["workspace", "-created_at", "-id"], name="ticket_newest")]

    def __str__(self) -> str:
        return self.public_id

    @property
    def is_open(self) -> bool:
        """May something still be done on it? A handed-over ticket is the brand's team's."""
        return self.status in (TicketStatus.OPEN, TicketStatus.IN_PROGRESS)

    @property
    def has_reply_channel(self) -> bool:
        """Can a reply be sent? A ticket that came by the API has no channel of its own."""
        return self.connection_id is not None

    @property
    def source(self) -> str:
        """Return where the ticket came from: a connection's public id, or `api`."""
        return "api" if self.connection is None else self.connection.public_id


class Direction(models.TextChoices):
    """Which way a message went."""

    FROM_CUSTOMER = "from_customer", "From the customer"
    TO_CUSTOMER = "to_customer", "To the customer"
    INTERNAL = "internal", "Internal note"


class Message(WorkspaceRow):
    """One message of a ticket. Append-only; the text is sealed."""

    public_id = public_id("msg")
    ticket = ScopedForeignKey(Ticket)
    external_id = models.CharField(max_length=200)
    direction = models.CharField(max_length=14, choices=Direction.choices)
    body = ScopedForeignKey(SealedPayload, related_name="+")
    sent_at = models.DateTimeField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["ticket", "external_id"], name="message_once"),
            models.CheckConstraint(
                condition=Q(direction__in=Direction.values), name="message_direction"
            ),
        ]

    def __str__(self) -> str:
        return self.public_id


class Request(WorkspaceRow):
    """What the customer asked for, stated before anything is proposed.

    A revision is a new row; nothing is deleted.
    """

    public_id = public_id("req")
    ticket = ScopedForeignKey(Ticket)
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=40)
    target = models.CharField(max_length=200, blank=True)
    amount = models.DecimalField(max_digits=20, decimal_places=4, null=True, blank=True)
    currency = models.CharField(max_length=3, blank=True)
    text = ScopedForeignKey(SealedPayload, null=True, blank=True, related_name="+")
    stated_by_kind = actor_kind()
    stated_by_identity = actor_identity()
    revises = ScopedForeignKey("self", null=True, blank=True, related_name="revisions")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["ticket", "number"], name="request_number"),
            models.UniqueConstraint(fields=["revises"], name="request_revised_once"),
            models.CheckConstraint(condition=~Q(kind=""), name="request_kind"),
            models.CheckConstraint(
                condition=Q(amount=None, currency="")
                | (
                    # Without the first, a null amount would make the whole null, and let it pass.
                    Q(amount__isnull=False, amount__gt=0, amount__lt=AMOUNT_BOUND) & ~Q(currency="")
                ),
                name="request_money",
            ),
            models.CheckConstraint(
                condition=Q(stated_by_kind__in=list(ActorKind)) & ~Q(stated_by_identity=""),
                name="request_stated_by",
            ),
        ]

    def __str__(self) -> str:
        return self.public_id


class Resolution(WorkspaceRow):
    """One closing of a ticket: when, by whom, with which references; reopened when. Never lost."""

    write_once: ClassVar = ("reopened_at", "reopened_by_kind", "reopened_by_identity")

    public_id = public_id("res")
    ticket = ScopedForeignKey(Ticket)
    status = models.CharField(max_length=20, choices=TicketStatus.choices)
    resolver = models.CharField(  # noqa: DJ001 - null says: closed unresolved
        max_length=20,
        choices=[(r.value, r.value.replace("_", " ")) for r in Resolver],
        null=True,
        blank=True,
    )
    reason = models.CharField(max_length=24, choices=CloseReason.choices, blank=True)
    closed_by_kind = actor_kind()
    closed_by_identity = actor_identity()
    references = models.JSONField(default=dict)
    closed_at = models.DateTimeField()
    reopened_at = models.DateTimeField(null=True, blank=True)
    reopened_by_kind = models.CharField(max_length=12, null=True, blank=True)  # noqa: DJ001 - write-once: null until reopened
    reopened_by_identity = models.CharField(max_length=120, null=True, blank=True)  # noqa: DJ001 - write-once: null until reopened

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["ticket"], condition=Q(reopened_at=None), name="resolution_standing_once"
            ),
            models.CheckConstraint(
                condition=Q(
                    status=TicketStatus.RESOLVED,
                    resolver__isnull=False,
                    resolver__in=list(Resolver),
                    reason="",
                )
                | Q(
                    status=TicketStatus.CLOSED_UNRESOLVED,
                    resolver=None,
                    reason__in=CloseReason.values,
                ),
                name="resolution_resolved_or_reason",
            ),
            models.CheckConstraint(
                condition=Q(closed_by_kind__in=list(ActorKind)) & ~Q(closed_by_identity=""),
                name="resolution_closed_by",
            ),
            models.CheckConstraint(
                condition=Q(reopened_at=None, reopened_by_kind=None, reopened_by_identity=None)
                | (
                    Q(
                        reopened_at__isnull=False,
                        reopened_at__gte=models.F("closed_at"),
                        reopened_by_kind__isnull=False,
                        reopened_by_kind__in=list(ActorKind),
                        reopened_by_identity__isnull=False,
                    )
                    & ~Q(reopened_by_identity="")
                ),
                name="resolution_reopened_by",
            ),
        ]

    def __str__(self) -> str:
        return self.public_id
