"""What the Policy Gate keeps: policy versions, decisions and arithmetic, approvals, counters.

Promises: decisions and policy versions are append-only, so that a verdict can be recomputed from
what is stored; an approval is used once.
Does not know how a verdict is reached (`actions.policy`) nor when (`actions.gate`). Facts hold
identifiers, amounts and digests, no personal data.
"""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from actions.policy.verdicts import Ruling
from integrations.actors import ActorKind
from integrations.models import SealedPayload
from integrations.rows import (
    AMOUNT_BOUND,
    ScopedForeignKey,
    WorkspaceRow,
    actor_identity,
    actor_kind,
    public_id,
)


class PolicyVersion(WorkspaceRow):
    """One version of a workspace's policy: data, never code. Append-only."""

    number = models.PositiveIntegerField()
    document = models.JSONField()
    author_kind = actor_kind()
    author_identity = actor_identity()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "number"], name="policyversion_number"),
            models.CheckConstraint(
                condition=Q(author_kind__in=list(ActorKind)) & ~Q(author_identity=""),
                name="policyversion_author",
            ),
        ]

    def __str__(self) -> str:
        return f"policy {self.number}"


class Phase(models.TextChoices):
    """When a decision was taken: at the proposal (no outside facts) or in the worker (all four)."""

    PROPOSAL = "proposal", "At the proposal"
    WORKER = "worker", "In the worker"


class GateDecision(WorkspaceRow):
    """The four verdicts with their facts and arithmetic. Append-only."""

    public_id = public_id("dec")
    intent = ScopedForeignKey("actions.Intent", related_name="decisions")
    number = models.PositiveIntegerField()
    phase = models.CharField(max_length=8, choices=Phase.choices)
    policy_version = ScopedForeignKey(PolicyVersion)
    target_version = models.PositiveBigIntegerField()
    ruling = models.CharField(max_length=8, choices=[(r.value, r.value) for r in Ruling])
    reason = models.CharField(max_length=40, blank=True)
    verdicts = models.JSONField()
    facts = models.JSONField()
    allocation = models.JSONField(default=list)
    shown_digest = models.CharField(max_length=64)
    decided_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["intent", "number"], name="gatedecision_number"),
            models.CheckConstraint(
                condition=Q(ruling__in=list(Ruling)), name="gatedecision_ruling"
            ),
            models.CheckConstraint(condition=Q(phase__in=Phase.values), name="gatedecision_phase"),
            models.CheckConstraint(
                condition=Q(ruling__in=[Ruling.ALLOW, Ruling.NOT_READ, Ruling.APPROVE])
                | ~Q(reason=""),
                name="gatedecision_reason",
            ),
        ]

    def __str__(self) -> str:
        return self.public_id


class Approval(WorkspaceRow):
    """A person's word on exactly what a decision showed.

    On a decision that asks for approval: a second person's yes or no to the exact allocation, used
    once. On one that holds: a person clears its reason by a look at its evidence.
    """

    write_once: ClassVar = ("used_at",)

    public_id = public_id("apr")
    intent = ScopedForeignKey("actions.Intent", related_name="approvals")
    decision = ScopedForeignKey(GateDecision)
    approver_kind = actor_kind()
    approver_identity = actor_identity()
    approves = models.BooleanField()
    reason = ScopedForeignKey(SealedPayload, null=True, blank=True, related_name="+")
    digest = models.CharField(max_length=64)
    given_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["decision", "approver_kind", "approver_identity"], name="approval_once"
            ),
            models.CheckConstraint(
                condition=Q(approver_kind__in=[ActorKind.HUMAN_NODE, ActorKind.BRAND_TEAM])
                & ~Q(approver_identity=""),
                name="approval_by_a_person",
            ),
            models.CheckConstraint(
                condition=Q(expires_at__gt=models.F("given_at")), name="approval_expires"
            ),
            models.CheckConstraint(
                condition=Q(used_at=None)
                | Q(
                    approves=True,
                    used_at__gte=models.F("given_at"),
                    used_at__lt=models.F("expires_at"),
                ),
                name="approval_used_in_time",
            ),
        ]

    def __str__(self) -> str:
        return self.public_id


class Counter(WorkspaceRow):
    """How much of one limit is used, in amount and in number, for a subject.

    It counts for one day in the brand's zone, or for all time.
    """

    mutable: ClassVar = ("used", "count")

    name = models.CharField(max_length=40)
    subject = models.CharField(max_length=200, blank=True)
    day = models.DateField(null=True, blank=True)
    currency = models.CharField(max_length=3, blank=True)
    used = models.DecimalField(max_digits=20, decimal_places=4, default=0)
    count = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "name", "subject", "day", "currency"],
                nulls_distinct=False,
                name="counter_once",
            ),
            models.CheckConstraint(
                condition=Q(used__gte=0, used__lt=AMOUNT_BOUND), name="counter_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.subject}"
