"""The event trail: every transition and remark of an intent, by whom and why.

Promises: append-only; hash-chained per intent: event n names the digest of event n-1; the digest
covers `body`, a canonical JSON text that a stranger can hash with nothing of ours; the columns
beside it say the same (a trigger checks all three).
Does not know why a move is right: that is `actions.states`. Holds no personal data.
"""

from django.db import models
from django.db.models import Q

from actions.models.intent import Intent
from integrations.actors import ActorKind
from integrations.rows import ScopedForeignKey, WorkspaceRow, actor_identity, actor_kind


class IntentEvent(WorkspaceRow):
    """One event in the life of an intent. Append-only."""

    intent = ScopedForeignKey(Intent, related_name="events")
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=40)
    from_state = models.CharField(max_length=20, blank=True)
    to_state = models.CharField(max_length=20)
    by_kind = actor_kind()
    by_identity = actor_identity()
    reason = models.CharField(max_length=500, blank=True)
    at = models.DateTimeField()
    body = models.TextField()
    previous_digest = models.CharField(max_length=64, blank=True)
    digest = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["intent", "number"], name="intentevent_number"),
            models.CheckConstraint(
                condition=Q(by_kind__in=list(ActorKind)) & ~Q(by_identity=""), name="intentevent_by"
            ),
            models.CheckConstraint(condition=~Q(name=""), name="intentevent_name"),
        ]

    def __str__(self) -> str:
        return f"{self.number} {self.name}"
