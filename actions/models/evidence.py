"""Evidence: what was sent, what was read, what the platform itself said, and what it fulfils.

Promises: everything here is append-only, but for closing an attempt once and binding an external
object to its intent once. Rows hold identifiers, amounts, statuses and digests; no personal data
and no free text about a person.
Does not know what evidence means for a state: that is `actions.confirming`.
"""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from actions.models.intent import Intent, Target
from integrations.actors import ActorKind
from integrations.models import Connection, SealedPayload
from integrations.ports import Standing
from integrations.rows import (
    AMOUNT_BOUND,
    ScopedForeignKey,
    WorkspaceRow,
    actor_identity,
    actor_kind,
)
from tickets.models import Request


class AttemptOutcome(models.TextChoices):
    """What is known of the effect of one send."""

    ECHOED = "echoed", "Echoed"
    REJECTED = "rejected", "Rejected"
    NOT_SENT = "not_sent", "Not sent"
    UNKNOWN = "unknown", "Unknown"


class ResolvedHow(models.TextChoices):
    """How an attempt without a readable answer was resolved later."""

    FOUND = "found", "Our effect was found on the platform"
    ABSENT = "absent", "A complete read after it could still land shows no effect"


class Attempt(WorkspaceRow):
    """One send of one intent: written and committed before the call, closed once."""

    write_once: ClassVar = (
        "outcome",
        "outcome_reason",
        "closed_at",
        "closed_by",
        "http_status",
        "platform_request_id",
        "answered_version",
        "duration_ms",
        "resolved_how",
        "resolved_at",
    )

    intent = ScopedForeignKey(Intent, related_name="attempts")
    number = models.PositiveIntegerField()
    app = models.CharField(max_length=200)
    key = models.UUIDField()
    request_digest = models.CharField(max_length=64)
    started_at = models.DateTimeField()
    send_by = models.DateTimeField()
    outcome = models.CharField(max_length=8, choices=AttemptOutcome.choices, null=True, blank=True)  # noqa: DJ001 - null: open
    outcome_reason = models.CharField(max_length=500, null=True, blank=True)  # noqa: DJ001 - write-once
    closed_at = models.DateTimeField(null=True, blank=True)
    closed_by = models.CharField(max_length=20, null=True, blank=True)  # noqa: DJ001 - write-once: answer, takeover or read
    http_status = models.PositiveSmallIntegerField(null=True, blank=True)
    platform_request_id = models.CharField(max_length=200, null=True, blank=True)  # noqa: DJ001 - write-once
    answered_version = models.CharField(max_length=20, null=True, blank=True)  # noqa: DJ001 - write-once
    duration_ms = models.PositiveIntegerField(null=True, blank=True)
    resolved_how = models.CharField(  # noqa: DJ001 - write-once
        max_length=8, choices=ResolvedHow.choices, null=True, blank=True
    )
    resolved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["intent", "number"], name="attempt_number"),
            models.UniqueConstraint(
                fields=["intent"], condition=Q(closed_at=None), name="attempt_open_once"
            ),
            models.CheckConstraint(
                condition=Q(closed_at=None, outcome=None, closed_by=None)
                | Q(
                    closed_at__isnull=False,
                    outcome__isnull=False,
                    outcome__in=AttemptOutcome.values,
                    closed_by__isnull=False,
                ),
                name="attempt_closed_with_outcome",
            ),
            models.CheckConstraint(
                condition=Q(resolved_at=None, resolved_how=None)
                | Q(
                    resolved_at__isnull=False,
                    resolved_how__isnull=False,
                    resolved_how__in=ResolvedHow.values,
                    outcome__isnull=False,
                    outcome=AttemptOutcome.UNKNOWN,
                ),
                name="attempt_resolved_only_if_unknown",
            ),
            models.CheckConstraint(
                condition=Q(send_by__gt=models.F("started_at")), name="attempt_send_by"
            ),
        ]

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.intent}"


class ReadResult(models.TextChoices):
    """What a read is worth: only a complete one can prove absence."""

    COMPLETE = "complete", "Complete"
    TRUNCATED = "truncated", "Truncated"
    ERROR = "error", "Error"


class ReadCause(models.TextChoices):
    """Why the platform was asked."""

    GATE = "gate", "Facts for the gate"
    DOUBT = "doubt", "An attempt without a readable answer"
    POLL = "poll", "A status that is not final"
    DELIVERY = "delivery", "A webhook delivery"
    PERSON = "person", "A person asked"


class Read(WorkspaceRow):
    """Asking the platform what a target holds. Append-only."""

    connection = ScopedForeignKey(Connection)
    target = ScopedForeignKey(Target, related_name="reads")
    cause = models.CharField(max_length=8, choices=ReadCause.choices)
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField()
    result = models.CharField(max_length=9, choices=ReadResult.choices)
    reason = models.CharField(max_length=200, blank=True)
    http_status = models.PositiveSmallIntegerField(null=True, blank=True)
    platform_request_id = models.CharField(max_length=200, blank=True)
    duration_ms = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(result__in=ReadResult.values), name="read_result"),
            models.CheckConstraint(condition=Q(cause__in=ReadCause.values), name="read_cause"),
            models.CheckConstraint(
                condition=Q(finished_at__gte=models.F("started_at")), name="read_took_time"
            ),
        ]

    def __str__(self) -> str:
        return f"read {self.pk} of {self.target}"


class FindingResult(models.TextChoices):
    """What a read says of one intent."""

    FOUND = "found", "Found"
    ABSENT = "absent", "Absent"
    NOTHING_SAID = "nothing_said", "Nothing said"


class ExternalObject(WorkspaceRow):
    """The thing on the platform, by its identifier; it belongs to one intent at most, for ever."""

    write_once: ClassVar = ("intent_id",)

    connection = ScopedForeignKey(Connection)
    target = ScopedForeignKey(Target, related_name="external_objects")
    type = models.CharField(max_length=40)
    identifier = models.CharField(max_length=200)
    intent = ScopedForeignKey(Intent, null=True, blank=True, related_name="external_objects")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["connection", "type", "identifier"], name="externalobject_once"
            ),
            models.UniqueConstraint(fields=["intent"], name="externalobject_proves_one_intent"),
            models.CheckConstraint(
                condition=~Q(type="") & ~Q(identifier=""), name="externalobject_named"
            ),
        ]
        indexes = [models.Index(fields=["workspace", "identifier"], name="externalobject_found")]

    def __str__(self) -> str:
        return self.identifier


class Finding(WorkspaceRow):
    """What one read says of one intent. Append-only."""

    read = ScopedForeignKey(Read, related_name="findings")
    intent = ScopedForeignKey(Intent, related_name="findings")
    result = models.CharField(max_length=12, choices=FindingResult.choices)
    external_object = ScopedForeignKey(ExternalObject, null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["read", "intent"], name="finding_once"),
            models.CheckConstraint(
                condition=Q(result__in=FindingResult.values), name="finding_result"
            ),
            models.CheckConstraint(
                condition=Q(result=FindingResult.FOUND, external_object__isnull=False)
                | (~Q(result=FindingResult.FOUND) & Q(external_object=None)),
                name="finding_found_names_its_object",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.result} for {self.intent}"


class Echo(WorkspaceRow):
    """One observation of an external object: what the platform itself said. Append-only."""

    external_object = ScopedForeignKey(ExternalObject, related_name="echoes")
    attempt = ScopedForeignKey(Attempt, null=True, blank=True, related_name="echoes")
    read = ScopedForeignKey(Read, null=True, blank=True, related_name="echoes")
    target_identifier = models.CharField(max_length=200, blank=True)
    marker = models.CharField(max_length=60, blank=True)
    author = models.CharField(max_length=200, blank=True)
    platform_created_at = models.DateTimeField()
    part_count = models.PositiveIntegerField()
    observed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(attempt__isnull=False, read=None) | Q(attempt=None, read__isnull=False),
                name="echo_names_what_brought_it",
            ),
        ]

    def __str__(self) -> str:
        return f"echo of {self.external_object}"


class EchoPart(WorkspaceRow):
    """One part of an echo, with the platform's own status uncompressed. Append-only."""

    echo = ScopedForeignKey(Echo, related_name="parts")
    identifier = models.CharField(max_length=200)
    status = models.CharField(max_length=40)
    standing = models.CharField(max_length=9, choices=[(s.value, s.value) for s in Standing])
    amount = models.DecimalField(max_digits=20, decimal_places=4)
    currency = models.CharField(max_length=3)
    gateway = models.CharField(max_length=120, blank=True)
    parent = models.CharField(max_length=200, blank=True)
    shop_amount = models.DecimalField(max_digits=20, decimal_places=4, null=True, blank=True)
    shop_currency = models.CharField(max_length=3, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["echo", "identifier"], name="echopart_once"),
            models.CheckConstraint(
                condition=Q(shop_amount=None, shop_currency="")
                | (
                    Q(shop_amount__isnull=False, shop_amount__gte=0, shop_amount__lt=AMOUNT_BOUND)
                    & ~Q(shop_currency="")
                ),
                name="echopart_shop_amount",
            ),
            models.CheckConstraint(
                condition=Q(standing__in=list(Standing)), name="echopart_standing"
            ),
            models.CheckConstraint(
                condition=Q(amount__gte=0, amount__lt=AMOUNT_BOUND), name="echopart_amount"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.identifier} {self.status}"


class Outcome(WorkspaceRow):
    """The platform fact that fulfils a request; or a Human Node's word why it does. Append-only."""

    request = ScopedForeignKey(Request, related_name="outcomes")
    external_object = ScopedForeignKey(
        ExternalObject, null=True, blank=True, related_name="outcomes"
    )
    intent = ScopedForeignKey(Intent, null=True, blank=True, related_name="outcomes")
    statement = ScopedForeignKey(SealedPayload, null=True, blank=True, related_name="+")
    by_kind = actor_kind()
    by_identity = actor_identity()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["external_object"], name="outcome_fulfils_one_request"),
            models.CheckConstraint(
                condition=Q(by_kind__in=list(ActorKind)) & ~Q(by_identity=""), name="outcome_by"
            ),
            models.CheckConstraint(
                condition=Q(external_object__isnull=False)
                | Q(statement__isnull=False, intent=None),
                name="outcome_is_a_fact_or_a_statement",
            ),
            models.CheckConstraint(
                condition=Q(statement=None)
                | Q(by_kind__in=[ActorKind.HUMAN_NODE, ActorKind.BRAND_TEAM]),
                name="outcome_statement_by_a_person",
            ),
        ]

    def __str__(self) -> str:
        return f"outcome of {self.request}"
