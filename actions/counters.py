"""Counters: how much of a brand's limits is used, by order, by customer and day, and by day.

Promises: what an intent takes is taken in the transaction that authorizes it, under lock, and given
back in the one that shows that nothing left; an intent is counted once at most, on one day.
Does not know the limits: that is `actions.policy`. In the shop's currency, per kind of action.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from django.db.models import F, Q, QuerySet

from actions.models import Counter, Intent
from actions.policy import Usage, Used
from integrations.models import Workspace
from integrations.money import Money


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subject:
    """One counter's name among those of its workspace."""

    name: str
    subject: str
    day: date | None


def brand_day(workspace: Workspace, *, at: datetime) -> date:
    """Return which day a moment falls on where the brand is."""
    return at.astimezone(ZoneInfo(workspace.time_zone)).date()


def usage_of(intent: Intent, *, currency: str, on: date, recent_since: datetime | None) -> Usage:
    """Lock the counters that an intent would take from, and return how much of each is used.

    Whoever judges another intent of the workspace waits until this transaction ends, so that what
    is read here can't move before it is taken.

    Args:
        intent: Locked, with its ticket and its target.
        currency: The shop's.
        on: The brand's day.
        recent_since: Since when to count what was authorized lately; None: not at all.
    """
    subjects = _subjects(intent, on)
    day, customer, order = (_used(row, currency) for row in _locked(intent, subjects, currency))
    recent = 0 if recent_since is None else _authorized_since(intent, recent_since)
    return Usage(order=order, customer=customer, day=day, recent=recent)


def take(intent: Intent, amount: Money, *, on: date) -> None:
    """Count an intent on its counters, which `usage_of` has locked in this transaction."""
    _add(intent, amount.amount, 1, currency=amount.currency, on=on)


def give_back(intent: Intent) -> None:
    """Take an intent off its counters again: nothing of it left, or it is judged anew."""
    if intent.counted_on is None or intent.shop_amount is None:
        return
    currency, on = intent.shop_currency, intent.counted_on
    _locked(intent, _subjects(intent, on), currency)
    _add(intent, -intent.shop_amount, -1, currency=currency, on=on)
    Intent.objects.filter(pk=intent.pk).update(counted_on=None, counted_at=None)
    intent.counted_on = intent.counted_at = None


def _subjects(intent: Intent, on: date) -> tuple[_Subject, _Subject, _Subject]:
    """Name the counters of an intent, the widest first.

    Tickets that name no customer share one counter: who is not named has no limit of his own.
    """
    customer = intent.ticket.customer_id
    return (
        _Subject(name=f"{intent.kind}.day", subject="", day=on),
        _Subject(name=f"{intent.kind}.customer", subject=str(customer or ""), day=on),
        _Subject(name=f"{intent.kind}.order", subject=str(intent.target_id), day=None),
    )


def _locked(intent: Intent, subjects: Sequence[_Subject], currency: str) -> list[Counter]:
    """Lock these counters in the order of their rows, made where they are missing."""
    found = _lock(intent, subjects, currency)
    if len(found) < len(subjects):
        Counter.objects.bulk_create(
            [
                Counter(
                    workspace_id=intent.workspace_id,
                    name=subject.name,
                    subject=subject.subject,
                    day=subject.day,
                    currency=currency,
                )
                for subject in subjects
            ],
            ignore_conflicts=True,
        )
        found = _lock(intent, subjects, currency)
    return [found[subject] for subject in subjects]


def _lock(intent: Intent, subjects: Sequence[_Subject], currency: str) -> dict[_Subject, Counter]:
    rows = _rows(intent, subjects, currency).select_for_update(no_key=True).order_by("pk")
    return {_Subject(name=row.name, subject=row.subject, day=row.day): row for row in rows}


def _rows(intent: Intent, subjects: Sequence[_Subject], currency: str) -> QuerySet[Counter]:
    named = Q()
    for subject in subjects:
        named |= Q(name=subject.name, subject=subject.subject, day=subject.day)
    return Counter.objects.filter(named, workspace_id=intent.workspace_id, currency=currency)


def _add(intent: Intent, amount: Decimal, count: int, *, currency: str, on: date) -> None:
    rows = _rows(intent, _subjects(intent, on), currency)
    rows.update(used=F("used") + amount, count=F("count") + count)


def _used(counter: Counter, currency: str) -> Used:
    return Used(amount=Money(amount=counter.used, currency=currency), count=counter.count)


def _authorized_since(intent: Intent, since: datetime) -> int:
    rows = Intent.objects.filter(workspace_id=intent.workspace_id, kind=intent.kind)
    return rows.filter(counted_at__gt=since).exclude(pk=intent.pk).count()
