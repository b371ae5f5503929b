"""The intent: one action, recorded before anything is sent. The row is the queue and the outbox.

Promises: key, marker and parameters never change; the frozen request never changes once a send
may have left; the state moves only along the table in `actions.states` (a trigger holds it), and
each state's proof stands in the database (`actions.guards`).
Does not know how a move is made: that is `actions.moves`.
"""

from decimal import Decimal
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from actions.states import SETTLED, NeedsHuman, State
from integrations.actors import Actor, ActorKind
from integrations.models import Connection, SealedPayload
from integrations.money import Money
from integrations.ports import FrozenRequest
from integrations.rows import (
    AMOUNT_BOUND,
    ScopedForeignKey,
    WorkspaceRow,
    actor_identity,
    actor_kind,
    public_id,
)
from tickets.models import Request, Ticket


class Target(WorkspaceRow):
    """The platform object that intents act on: a row to lock, and a version to know a lost race."""

    mutable: ClassVar = ("version",)

    connection = ScopedForeignKey(Connection)
    kind = models.CharField(max_length=40)
    identifier = models.CharField(max_length=200)
    version = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["connection", "kind", "identifier"], name="target_once"
            ),
            models.CheckConstraint(condition=~Q(kind="") & ~Q(identifier=""), name="target_named"),
        ]
        indexes = [models.Index(fields=["workspace", "identifier"], name="target_found")]

    def __str__(self) -> str:
        return self.identifier


class Intent(WorkspaceRow):
    """One action on one ticket, serving a request."""

    mutable: ClassVar = (
        "state",
        "state_reason",
        "decision_id",
        "document",
        "api_version",
        "body",
        "body_digest",
        "shop_amount",
        "shop_currency",
        "counted_on",
        "counted_at",
        "counted_for",
        "first_sent_at",
        "resend_until",
        "settles_at",
        "unknown_since",
        "needs_human_since",
        "needs_human_reason",
        "due_at",
        "lease_until",
        "event_count",
        "updated_at",
    )
    write_once: ClassVar = (
        "resend_ended_at",
        "confirmed_at",
        "set_aside_at",
        "set_aside_by_kind",
        "set_aside_by_identity",
        "set_aside_reason_id",
        "accepted_reason_id",
    )

    public_id = public_id("int")
    ticket = ScopedForeignKey(Ticket)
    request = ScopedForeignKey(Request)
    connection = ScopedForeignKey(Connection)
    target = ScopedForeignKey(Target)
    kind = models.CharField(max_length=40)
    parameters = models.JSONField()
    amount = models.DecimalField(max_digits=20, decimal_places=4, null=True, blank=True)
    currency = models.CharField(max_length=3, blank=True)
    shop_amount = models.DecimalField(max_digits=20, decimal_places=4, null=True, blank=True)
    shop_currency = models.CharField(max_length=3, blank=True)
    counted_on = models.DateField(null=True, blank=True)
    counted_at = models.DateTimeField(null=True, blank=True)
    counted_for = models.CharField(max_length=64, blank=True)
    proposer_kind = actor_kind()
    proposer_identity = actor_identity()
    reason = ScopedForeignKey(SealedPayload, null=True, blank=True, related_name="+")
    occurrence = models.PositiveIntegerField(default=1)
    repeat_of = ScopedForeignKey("self", null=True, blank=True, related_name="repeats")
    corrects = ScopedForeignKey("self", null=True, blank=True, related_name="corrections")
    remainder_of = ScopedForeignKey("self", null=True, blank=True, related_name="remainders")
    waits_for = ScopedForeignKey("self", null=True, blank=True, related_name="waiting")
    key = models.UUIDField()
    marker = models.CharField(max_length=60, unique=True)

    state = models.CharField(
        max_length=20, choices=[(s.value, s.value) for s in State], default=State.PROPOSED
    )
    state_reason = models.CharField(max_length=40, blank=True)
    decision = ScopedForeignKey("actions.GateDecision", null=True, blank=True, related_name="+")
    document = models.TextField(blank=True)
    api_version = models.CharField(max_length=20, blank=True)
    body = models.BinaryField(null=True, blank=True)
    body_digest = models.CharField(max_length=64, blank=True)
    first_sent_at = models.DateTimeField(null=True, blank=True)
    resend_until = models.DateTimeField(null=True, blank=True)
    resend_ended_at = models.DateTimeField(null=True, blank=True)
    settles_at = models.DateTimeField(null=True, blank=True)
    unknown_since = models.DateTimeField(null=True, blank=True)
    needs_human_since = models.DateTimeField(null=True, blank=True)
    needs_human_reason = models.CharField(max_length=40, blank=True)
    set_aside_at = models.DateTimeField(null=True, blank=True)
    set_aside_by_kind = models.CharField(max_length=12, null=True, blank=True)  # noqa: DJ001 - write-once: null until set aside
    set_aside_by_identity = models.CharField(max_length=120, null=True, blank=True)  # noqa: DJ001 - write-once: null until set aside
    set_aside_reason = ScopedForeignKey(SealedPayload, null=True, blank=True, related_name="+")
    accepted_reason = ScopedForeignKey(SealedPayload, null=True, blank=True, related_name="+")
    due_at = models.DateTimeField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    confirmed_at = models.DateTimeField(null=True, blank=True)
    event_count = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "key"], name="intent_key"),
            models.UniqueConstraint(fields=["repeat_of"], name="intent_repeated_once"),
            models.CheckConstraint(condition=Q(state__in=list(State)), name="intent_state"),
            models.CheckConstraint(condition=~Q(kind="") & ~Q(marker=""), name="intent_named"),
            models.CheckConstraint(
                condition=Q(amount=None, currency="")
                | Q(
                    amount__isnull=False,
                    amount__gt=0,
                    amount__lt=AMOUNT_BOUND,
                    currency__regex="^[A-Z]{3}$",
                ),
                name="intent_money",
            ),
            models.CheckConstraint(
                condition=Q(shop_amount=None, shop_currency="")
                | (
                    Q(shop_amount__isnull=False, shop_amount__gte=0, shop_amount__lt=AMOUNT_BOUND)
                    & ~Q(shop_currency="")
                ),
                name="intent_shop_money",
            ),
            models.CheckConstraint(
                condition=Q(counted_on=None, counted_at=None)
                | Q(counted_on__isnull=False, counted_at__isnull=False, shop_amount__isnull=False),
                name="intent_counted_in_shop_money",
            ),
            models.CheckConstraint(
                condition=~Q(state=State.ACCEPTED) | Q(accepted_reason__isnull=False),
                name="intent_accepted_with_a_reason",
            ),
            models.CheckConstraint(
                condition=Q(proposer_kind__in=list(ActorKind)) & ~Q(proposer_identity=""),
                name="intent_proposer",
            ),
            models.CheckConstraint(
                condition=Q(occurrence=1, repeat_of=None)
                | Q(occurrence__gt=1, repeat_of__isnull=False),
                name="intent_occurrence",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=[State.HELD, State.REFUSED, State.FAILED])
                | ~Q(state_reason=""),
                name="intent_state_reason",
            ),
            models.CheckConstraint(
                condition=~Q(
                    state__in=[
                        State.AUTHORIZED,
                        State.EXECUTING,
                        State.UNKNOWN,
                        State.PENDING,
                        State.PARTIALLY_CONFIRMED,
                        State.CONFIRMED,
                        State.ACCEPTED,
                        State.REVERSED,
                    ]
                )
                | (
                    Q(decision__isnull=False)
                    & Q(body__isnull=False)
                    & ~Q(document="")
                    & ~Q(body_digest="")
                ),
                name="intent_gated_and_frozen",
            ),
            models.CheckConstraint(
                condition=Q(first_sent_at=None, resend_until=None, settles_at=None)
                | Q(
                    first_sent_at__isnull=False,
                    resend_until__isnull=False,
                    settles_at__isnull=False,
                    resend_until__gte=models.F("first_sent_at"),
                ),
                name="intent_window",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=[State.REFUSED, State.WITHDRAWN]) | Q(first_sent_at=None),
                name="intent_nothing_was_sent",
            ),
            models.CheckConstraint(
                condition=Q(state=State.EXECUTING, lease_until__isnull=False)
                | (~Q(state=State.EXECUTING) & Q(lease_until=None)),
                name="intent_lease_iff_executing",
            ),
            models.CheckConstraint(
                condition=~Q(state=State.UNKNOWN) | Q(unknown_since__isnull=False),
                name="intent_unknown_since",
            ),
            models.CheckConstraint(
                condition=Q(state=State.CONFIRMED, confirmed_at__isnull=False)
                | Q(state=State.REVERSED)
                | (~Q(state=State.CONFIRMED) & Q(confirmed_at=None)),
                name="intent_confirmed_at",
            ),
            models.CheckConstraint(
                condition=Q(needs_human_since=None, needs_human_reason="")
                | Q(needs_human_since__isnull=False, needs_human_reason__in=list(NeedsHuman)),
                name="intent_needs_human_reason",
            ),
            models.CheckConstraint(
                condition=Q(
                    set_aside_at=None,
                    set_aside_by_kind=None,
                    set_aside_by_identity=None,
                    set_aside_reason=None,
                )
                | Q(
                    state=State.UNKNOWN,
                    set_aside_at__isnull=False,
                    set_aside_by_kind__isnull=False,
                    set_aside_by_kind__in=[ActorKind.HUMAN_NODE, ActorKind.BRAND_TEAM],
                    set_aside_by_identity__isnull=False,
                    set_aside_reason__isnull=False,
                ),
                name="intent_set_aside_by_a_person",
            ),
        ]
        indexes = [
            models.Index(fields=["due_at"], condition=Q(due_at__isnull=False), name="intent_due"),
            models.Index(fields=["workspace", "-updated_at", "-id"], name="intent_latest"),
            models.Index(
                fields=["workspace", "kind", "counted_at"],
                condition=Q(counted_at__isnull=False),
                name="intent_counted",
            ),
            models.Index(
                fields=["needs_human_since"],
                condition=Q(needs_human_since__isnull=False),
                name="intent_needs_human",
            ),
        ]

    def __str__(self) -> str:
        return self.public_id

    @property
    def proposer(self) -> Actor:
        """Return who wished for this."""
        return Actor(kind=ActorKind(self.proposer_kind), identity=self.proposer_identity)

    @property
    def money(self) -> Money | None:
        """Return what was asked for, in the presentment currency; None where no money moves."""
        return (
            None
            if self.amount is None
            else Money(amount=Decimal(self.amount), currency=self.currency)
        )

    @property
    def is_settled(self) -> bool:
        """Say whether it has ended: nothing more will be sent."""
        return self.state in SETTLED

    @property
    def frozen(self) -> FrozenRequest:
        """Return the exact request, as stored."""
        return FrozenRequest(
            document=self.document, api_version=self.api_version, body=bytes(self.body or b"")
        )
