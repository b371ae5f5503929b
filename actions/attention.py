"""What needs attention first: money in doubt, awaited approvals, cases before a person, holds.

Promises: one question each, whatever the tables hold; sums never mix currencies, workspaces, or
sandbox and live money; each figure carries the filter of the list that shows its rows.
Does not decide whose rows: pages hand in the member's own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import Count, F, Min, Q, QuerySet, Sum
from django.db.models.functions import Coalesce
from django.utils.http import urlencode

from actions.models import Intent
from actions.states import State

IN_DOUBT = Q(set_aside_at=None) & (
    Q(state__in=[State.UNKNOWN, State.PENDING])
    | Q(state=State.EXECUTING, unknown_since__isnull=False)
)
"""Sent, and the platform has not said how it ended; also while a resend is out.

What a person set aside is counted apart.
"""

_PLACE = ("workspace__public_id", "workspace__name", "connection__is_sandbox")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure: how many, how much, since when, and which list shows them."""

    workspace: str
    is_sandbox: bool
    count: int
    total: Decimal | None
    currency: str
    oldest_at: datetime | None
    reason: str
    query: str
    expires_at: datetime | None = None
    """When the first of them expires, where they wait for a second person."""


def money_in_doubt(intents: QuerySet[Intent]) -> list[Figure]:
    """Return what was sent and is not known to have ended, per currency; live stores first."""
    since = Coalesce("unknown_since", "first_sent_at", "updated_at")
    return list(_figures(intents.filter(IN_DOUBT), since=since, shown={"state": "in_doubt"}))


def awaiting_approval(intents: QuerySet[Intent]) -> list[Figure]:
    """Return what waits for a second person, per currency, and when the first of it expires."""
    rows = intents.filter(state=State.AWAITING_APPROVAL)
    return list(_figures(rows, since=F("updated_at"), shown={}, until=F("due_at")))


def set_aside(intents: QuerySet[Intent]) -> list[Figure]:
    """Return what a person has stopped waiting for, per currency."""
    rows = intents.filter(set_aside_at__isnull=False)
    return list(_figures(rows, since=F("set_aside_at"), shown={"state": "set_aside"}))


def before_a_person(intents: QuerySet[Intent]) -> list[Figure]:
    """Return what needs a person, by reason."""
    rows = intents.filter(needs_human_since__isnull=False)
    return list(_by_reason(rows, "needs_human_reason", since="needs_human_since", shown={}))


def held(intents: QuerySet[Intent]) -> list[Figure]:
    """Return what the gate holds, by reason."""
    rows = intents.filter(state=State.HELD)
    return list(
        _by_reason(rows, "state_reason", since="updated_at", shown={"state": State.HELD.value})
    )


def _figures(
    rows: QuerySet[Intent],
    *,
    since: Coalesce | F,
    shown: Mapping[str, str],
    until: F | None = None,
) -> Iterator[Figure]:
    grouped = rows.values(*_PLACE, "currency").annotate(
        count=Count("pk"), total=Sum("amount"), oldest_at=Min(since)
    )
    if until is not None:
        grouped = grouped.annotate(expires_at=Min(until))
    for row in grouped.order_by("connection__is_sandbox", "workspace__name", "currency"):
        yield _figure(row, currency=row["currency"], shown={**shown, "currency": row["currency"]})


def _by_reason(
    rows: QuerySet[Intent], column: str, *, since: str, shown: Mapping[str, str]
) -> Iterator[Figure]:
    parameter = "person" if column == "needs_human_reason" else "held_for"
    grouped = rows.values(*_PLACE, why=F(column)).annotate(count=Count("pk"), oldest_at=Min(since))
    for row in grouped.order_by("connection__is_sandbox", "workspace__name", "-count", "why"):
        yield _figure(row, reason=row["why"], shown={**shown, parameter: row["why"]})


def _figure(
    row: Mapping[str, object], *, shown: Mapping[str, str], currency: str = "", reason: str = ""
) -> Figure:
    sandbox = bool(row["connection__is_sandbox"])
    place = {
        "on": "sandbox" if sandbox else "live",
        "workspace": str(row["workspace__public_id"]),
    }
    total, oldest_at, expires_at = row.get("total"), row["oldest_at"], row.get("expires_at")
    return Figure(
        workspace=str(row["workspace__name"]),
        is_sandbox=sandbox,
        count=int(str(row["count"])),
        total=total if isinstance(total, Decimal) else None,
        currency=currency,
        oldest_at=oldest_at if isinstance(oldest_at, datetime) else None,
        reason=reason,
        query=urlencode({**shown, **place}),
        expires_at=expires_at if isinstance(expires_at, datetime) else None,
    )
