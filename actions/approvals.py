"""What people have said of what the gate showed them, and whether it still counts.

Promises: an approval counts for exactly what was shown, until it expires, and for nothing else.
Does not know who may give one: that is `actions.approving`.
"""

from datetime import datetime

from django.db.models import QuerySet

from actions.models import Approval, GateDecision, Intent
from actions.policy import Ruling


def standing_approval(intent: Intent, *, digest: str, at: datetime) -> Approval | None:
    """Return the approval of exactly this that counts now; None if there is none."""
    return _counting(intent, at=at).filter(digest=digest).order_by("pk").last()


def is_approved(intent: Intent, *, at: datetime) -> bool:
    """Say whether what an intent was last shown for has its approval."""
    shown = intent.decisions.order_by("-number").values_list("shown_digest", flat=True).first()
    return shown is not None and _counting(intent, at=at).filter(digest=shown).exists()


def _counting(intent: Intent, *, at: datetime) -> QuerySet[Approval]:
    asked = intent.approvals.filter(decision__ruling=Ruling.APPROVE)
    return asked.filter(approves=True, expires_at__gt=at)


def evidence_of(decision: GateDecision) -> tuple[str, ...]:
    """Return the identifiers that a decision's own reason rests on, as it was shown."""
    shown: dict[str, None] = {}
    for verdict in decision.verdicts:
        for finding in (verdict, *verdict["also"]):
            if finding["reason"] == decision.reason:
                shown |= dict.fromkeys(finding.get("evidence", ()))
    return tuple(shown)
