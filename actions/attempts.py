"""What an intent's attempts say together: may one have had an effect, and is that known by now?

Promises: an attempt counts as unsent only where that is proven; one without a readable answer
stays unresolved until a read settles it.
Does not open or close attempts: `actions.execution` does.
"""

from datetime import datetime

from django.db.models import QuerySet

from actions.models import (
    Attempt,
    AttemptOutcome,
    Finding,
    FindingResult,
    Intent,
    ReadResult,
    ResolvedHow,
)


def may_have_left(intent: Intent) -> QuerySet[Attempt]:
    """Return the attempts that are not proven unsent."""
    return intent.attempts.exclude(outcome=AttemptOutcome.NOT_SENT)


def unresolved(intent: Intent) -> QuerySet[Attempt]:
    """Return the attempts whose effect nobody knows yet, the open one included."""
    answered = [AttemptOutcome.ECHOED, AttemptOutcome.REJECTED]
    return may_have_left(intent).exclude(outcome__in=answered).filter(resolved_at=None)


def doubtful_since(intent: Intent) -> datetime | None:
    """Return when the first attempt that may have left began."""
    return may_have_left(intent).order_by("number").values_list("started_at", flat=True).first()


def sent_by_another_app(intent: Intent) -> bool:
    """Say whether an app that is not the connection's any more may have sent it."""
    return may_have_left(intent).exclude(app=intent.connection.app).exists()


def resolve(intent: Intent, how: ResolvedHow, *, at: datetime) -> None:
    """Close the book on unanswered attempts: their effect was found, or is proven absent."""
    doubtful = intent.attempts.filter(outcome=AttemptOutcome.UNKNOWN, resolved_at=None)
    doubtful.update(resolved_at=at, resolved_how=how)


def absences(intent: Intent) -> QuerySet[Finding, datetime]:
    """Return when each read that proves absence began.

    Such a read is complete, and began after the last send could still land.
    """
    findings = intent.findings.filter(
        result=FindingResult.ABSENT,
        read__result=ReadResult.COMPLETE,
        read__started_at__gte=intent.settles_at,
    )
    return findings.order_by("read__started_at").values_list("read__started_at", flat=True)


def proven_absent_at(intent: Intent) -> datetime | None:
    """Return when the newest read that proves absence began."""
    return None if intent.settles_at is None else absences(intent).last()
