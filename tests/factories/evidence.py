"""Evidence about an intent: decisions, attempts, reads, findings, echoes.

Promises: each function adds one fact that the database accepts at that point of the intent's
life, and moves nothing.
Does not know states: `tests.factories.intents` makes the moves.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from actions.models import (
    Approval,
    Attempt,
    AttemptOutcome,
    Echo,
    EchoPart,
    ExternalObject,
    Finding,
    FindingResult,
    GateDecision,
    Intent,
    Phase,
    PolicyVersion,
    Read,
    ReadCause,
    ReadResult,
    ResolvedHow,
    Target,
)
from integrations.ports import FrozenRequest, Standing
from tests.factories.rows import APP, TEAM

FROZEN = FrozenRequest(document="mutation refund", api_version="2026-10", body=b'{"input":1}')
SEND_BY = timedelta(seconds=10)
SETTLES_AFTER = timedelta(minutes=12)
STATUS_OF = {Standing.SUCCEEDED: "SUCCESS", Standing.FAILED: "FAILURE", Standing.OPEN: "PENDING"}


def make_decision(
    *, intent: Intent, ruling: str, at: datetime, reason: str = "", **columns: object
) -> GateDecision:
    """Record what the gate says in the worker."""
    defaults: dict[str, object] = {
        "number": intent.decisions.count() + 1,
        "phase": Phase.WORKER,
        "target_version": intent.target.version,
        "policy_version": PolicyVersion.objects.filter(workspace_id=intent.workspace_id).latest(
            "number"
        ),
        "verdicts": [],
        "facts": {},
        "shown_digest": f"{intent.pk:064x}",
    }
    return GateDecision.objects.create(
        workspace_id=intent.workspace_id,
        intent=intent,
        ruling=ruling,
        reason=reason,
        decided_at=at,
        **defaults | columns,
    )


def make_approval(*, decision: GateDecision, at: datetime, **columns: object) -> Approval:
    """Record a second person's yes to exactly what a decision showed; not used yet."""
    defaults: dict[str, object] = {
        "approver_kind": TEAM.kind,
        "approver_identity": TEAM.identity,
        "approves": True,
        "digest": decision.shown_digest,
        "given_at": at,
        "expires_at": at + timedelta(hours=24),
    }
    return Approval.objects.create(
        workspace_id=decision.workspace_id,
        intent=decision.intent,
        decision=decision,
        **defaults | columns,
    )


def open_attempt(*, intent: Intent, at: datetime, **columns: object) -> Attempt:
    """Open the next attempt of an authorized or unknown intent, with its window; move nothing."""
    send_by = at + SEND_BY
    if intent.first_sent_at is None:
        intent.first_sent_at, intent.resend_until = at, at + timedelta(hours=20)
    intent.settles_at = send_by + SETTLES_AFTER
    intent.save(update_fields=["first_sent_at", "resend_until", "settles_at"])
    defaults: dict[str, object] = {
        "number": intent.attempts.count() + 1,
        "app": APP,
        "key": intent.key,
        "request_digest": intent.body_digest,
        "started_at": at,
        "send_by": send_by,
    }
    return Attempt.objects.create(
        workspace_id=intent.workspace_id, intent=intent, **defaults | columns
    )


def close_attempt(attempt: Attempt, outcome: AttemptOutcome, *, at: datetime) -> None:
    """Close an open attempt with what is known of its effect."""
    attempt.outcome, attempt.closed_at, attempt.closed_by = outcome, at, "answer"
    attempt.save(update_fields=["outcome", "closed_at", "closed_by"])


def resolve_attempts(intent: Intent, how: ResolvedHow, *, at: datetime) -> None:
    """Resolve every attempt without a readable answer."""
    intent.attempts.filter(outcome=AttemptOutcome.UNKNOWN, resolved_at=None).update(
        resolved_at=at, resolved_how=how
    )


def make_read(*, target: Target, at: datetime, **columns: object) -> Read:
    """Record a complete read of a target."""
    defaults: dict[str, object] = {
        "connection": target.connection,
        "cause": ReadCause.DOUBT,
        "finished_at": at,
        "result": ReadResult.COMPLETE,
    }
    return Read.objects.create(
        workspace_id=target.workspace_id, target=target, started_at=at, **defaults | columns
    )


def find_absent(*, intent: Intent, at: datetime, **read: object) -> Finding:
    """Record a complete read in which an intent's effect is absent."""
    return Finding.objects.create(
        workspace_id=intent.workspace_id,
        intent=intent,
        read=make_read(target=intent.target, at=at, **read),
        result=FindingResult.ABSENT,
    )


def make_object(
    *, target: Target, intent: Intent | None = None, **columns: object
) -> ExternalObject:
    """Record a refund that exists on the platform; bound to an intent if one is given."""
    number = ExternalObject.objects.count() + 1
    defaults: dict[str, object] = {
        "connection": target.connection,
        "type": "refund",
        "identifier": f"gid://shopify/Refund/{number}",
    }
    return ExternalObject.objects.create(
        workspace_id=target.workspace_id, target=target, intent=intent, **defaults | columns
    )


def make_echo(
    *,
    external_object: ExternalObject,
    source: Attempt | Read,
    at: datetime,
    parts: Sequence[tuple[Standing, Decimal]],
    currency: str = "EUR",
    **columns: object,
) -> Echo:
    """Record what the platform says of an object; each part is a standing and an amount."""
    intent = external_object.intent
    defaults: dict[str, object] = {
        "target_identifier": external_object.target.identifier,
        "marker": "" if intent is None else intent.marker,
        "author": APP,
        "platform_created_at": at,
        "part_count": len(parts),
        "observed_at": at,
    }
    echo = Echo.objects.create(
        workspace_id=external_object.workspace_id,
        external_object=external_object,
        attempt=source if isinstance(source, Attempt) else None,
        read=source if isinstance(source, Read) else None,
        **defaults | columns,
    )
    EchoPart.objects.bulk_create(
        EchoPart(
            workspace_id=echo.workspace_id,
            echo=echo,
            identifier=f"gid://shopify/OrderTransaction/{number}",
            status=STATUS_OF[standing],
            standing=standing,
            amount=amount,
            currency=currency,
        )
        for number, (standing, amount) in enumerate(parts, start=1)
    )
    return echo
