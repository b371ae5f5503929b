"""Workspaces and what they own outside: members, tokens, connections, identities, sealed data.

Promises: a connection stays bound to the account that first answered; credentials and personal
data are stored sealed and nowhere else; a token is stored only as its digest. The database holds
the workspace of each reference (see `integrations.guards`).
Does not know tickets or actions.
"""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from integrations.actors import Actor, ActorKind
from integrations.ports import BlockedBy
from integrations.rows import (
    GuardedRow,
    ScopedForeignKey,
    WorkspaceRow,
    actor_identity,
    actor_kind,
    public_id,
)


class Workspace(GuardedRow):
    """One brand: its people, policy, connections and tickets. Nothing crosses workspaces."""

    mutable: ClassVar = ("name", "time_zone", "paused_at", "writes_killed_at")

    public_id = public_id("wsp")
    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    time_zone = models.CharField(max_length=64, default="UTC")
    paused_at = models.DateTimeField(null=True, blank=True)
    writes_killed_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.slug


class Role(models.TextChoices):
    """What a person may do in a workspace's Console."""

    HUMAN_NODE = "human_node", "Human Node"
    APPROVER = "approver", "Approver"
    BRAND_ADMIN = "brand_admin", "Brand admin"
    AUDITOR = "auditor", "Auditor"
    OPERATOR = "operator", "Operator"


class Membership(WorkspaceRow):
    """A person's place in a workspace."""

    mutable: ClassVar = ("role",)
    deletable: ClassVar = True

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    role = models.CharField(max_length=12, choices=Role.choices)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "user"], name="membership_once"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="membership_role"),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.workspace}"


class ApiToken(WorkspaceRow):
    """A token of the REST API: it speaks for one actor in one workspace."""

    write_once: ClassVar = ("revoked_at",)

    public_id = public_id("tok")
    name = models.CharField(max_length=120)
    actor_kind = actor_kind()
    actor_identity = actor_identity()
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(db_default=Now())
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(actor_kind__in=list(ActorKind)) & ~Q(actor_identity=""),
                name="apitoken_actor",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def actor(self) -> Actor:
        """Return whom this token speaks for."""
        return Actor(kind=ActorKind(self.actor_kind), identity=self.actor_identity)


class Platform(models.TextChoices):
    """The platforms that a connection can lead to."""

    SHOPIFY = "shopify", "Shopify"
    GORGIAS = "gorgias", "Gorgias"
    ZENDESK = "zendesk", "Zendesk"
    CHATWOOT = "chatwoot", "Chatwoot"


class Connection(WorkspaceRow):
    """One account of the brand on one platform, with sealed credentials."""

    mutable: ClassVar = (
        "base_url",
        "account_name",
        "app",
        "scopes",
        "currency",
        "time_zone",
        "api_version",
        "credentials",
        "webhook_secret",
        "blocked_by",
        "blocked_at",
        "writes_killed_at",
        "circuit_open_until",
        "checked_at",
    )
    write_once: ClassVar = ("account",)

    public_id = public_id("con")
    platform = models.CharField(max_length=12, choices=Platform.choices)
    domain = models.CharField(max_length=253)
    base_url = models.URLField(max_length=300)
    account = models.CharField(max_length=200, null=True, blank=True)  # noqa: DJ001 - null until an account first answered; then for ever
    account_name = models.CharField(max_length=200, blank=True)
    app = models.CharField(max_length=200, blank=True)
    scopes = models.JSONField(default=list, blank=True)
    currency = models.CharField(max_length=3, blank=True)
    time_zone = models.CharField(max_length=64, blank=True)
    api_version = models.CharField(max_length=20, blank=True)
    credentials = models.BinaryField(null=True, blank=True)
    webhook_secret = models.BinaryField(null=True, blank=True)
    is_sandbox = models.BooleanField(default=False)
    time_scale = models.DecimalField(max_digits=8, decimal_places=6, default=1)
    blocked_by = models.CharField(
        max_length=12, blank=True, choices=[(b.value, b.value) for b in BlockedBy]
    )
    blocked_at = models.DateTimeField(null=True, blank=True)
    writes_killed_at = models.DateTimeField(null=True, blank=True)
    circuit_open_until = models.DateTimeField(null=True, blank=True)
    checked_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["platform", "account"], name="connection_account"),
            models.UniqueConstraint(
                fields=["workspace", "platform", "domain"], name="connection_domain"
            ),
            models.CheckConstraint(
                # A real store answers over https alone, so faster time never meets one.
                condition=Q(time_scale=1)
                | Q(
                    is_sandbox=True,
                    time_scale__gt=0,
                    time_scale__lt=1,
                    base_url__startswith="http://",
                ),
                name="connection_time_scale_is_for_sandboxes",
            ),
            models.CheckConstraint(
                condition=Q(blocked_by="", blocked_at=None)
                | (~Q(blocked_by="") & Q(blocked_at__isnull=False)),
                name="connection_blocked_since",
            ),
        ]

    def __str__(self) -> str:
        return self.domain


class SenderIdentity(WorkspaceRow):
    """Which helpdesk user speaks for an actor on a connection; without one nothing is sent."""

    mutable: ClassVar = ("external_user",)
    deletable: ClassVar = True

    connection = ScopedForeignKey(Connection)
    actor_kind = actor_kind()
    actor_identity = actor_identity()
    external_user = models.CharField(max_length=200)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["connection", "actor_kind", "actor_identity"], name="senderidentity_once"
            ),
            models.CheckConstraint(condition=~Q(external_user=""), name="senderidentity_user"),
        ]

    def __str__(self) -> str:
        return f"{self.actor_kind}:{self.actor_identity} on {self.connection}"


class SubjectKey(WorkspaceRow):
    """The data key of one person (or of one raw delivery), wrapped by the vault.

    Destroying it erases all that it sealed.
    """

    mutable: ClassVar = ("wrapped",)
    write_once: ClassVar = ("destroyed_at",)

    wrapped = models.BinaryField(null=True)
    created_at = models.DateTimeField(db_default=Now())
    destroyed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(wrapped__isnull=False, destroyed_at=None)
                | Q(wrapped=None, destroyed_at__isnull=False),
                name="subjectkey_there_or_destroyed",
            ),
        ]

    def __str__(self) -> str:
        return f"subject key {self.pk}"


class SealedPayload(WorkspaceRow):
    """Personal data or free text about a person, encrypted with that person's key. Append-only."""

    subject_key = ScopedForeignKey(SubjectKey)
    field = models.CharField(max_length=60)
    sealed = models.BinaryField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.CheckConstraint(condition=~Q(field=""), name="sealedpayload_field")]

    def __str__(self) -> str:
        return f"{self.field} {self.pk}"
