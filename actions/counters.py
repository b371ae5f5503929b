"""Counters: how much of a brand's limits is used, by order, by customer and day, and by day.

Promises: what an intent takes is taken in the transaction that authorizes it, under lock, and given
back in the one that shows that nothing left; an intent is counted once at most, for one day and one
customer, and comes off those again, whatever the ticket and the brand's zone say by then.
Does not know the limits: that is `actions.policy`. In the shop's currency, per kind of action.
"""

from collections.abc import Iterable, Sequence
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where an intent is counted, beside its own order: on which day, for whom, in what."""

    on: date
    """The brand's day."""
    customer: str
    """Whose limit it is, by a digest; empty where nobody is named."""
    currency: str
    """The shop's."""


def usage_of(intent: Intent, place: Place, *, recent_since: datetime | None, taking: bool) -> Usage:
    """Return how much is used of each counter that an intent would take from.

    Where it may be taken next, they are locked: whoever judges another intent of the workspace so
    waits until this transaction ends, and what is read here can't move before it is taken.

    Args:
        intent: Locked, with its ticket and its target.
        place: Where it would be counted.
        recent_since: Since when to count what was authorized lately; None: not at all.
        taking: Whether it may be taken next; a look alone holds nobody up, and waits for nobody.
    """
    counters = _locked(intent, place) if taking else _seen(intent, place)
    day, customer, order = (_used(row) for row in counters)
    recent = 0 if recent_since is None else _authorized_since(intent, recent_since)
    return Usage(order=order, customer=customer, day=day, recent=recent)


def take(intent: Intent, amount: Decimal, place: Place) -> None:
    """Count an intent on its counters, which `usage_of` has locked in this transaction."""
    _add(intent, place, amount, 1)


def give_back(intent: Intent) -> bool:
    """Take an intent off its counters again: nothing of it left, or it is judged anew.

    Returns:
        False where it wasn't counted.
    """
    if intent.counted_on is None or intent.shop_amount is None:
        return False
    place = Place(on=intent.counted_on, customer=intent.counted_for, currency=intent.shop_currency)
    _locked(intent, place)
    _add(intent, place, -intent.shop_amount, -1)
    Intent.objects.filter(pk=intent.pk).update(counted_on=None, counted_at=None)
    intent.counted_on = intent.counted_at = None
    return True


def _subjects(intent: Intent, place: Place) -> tuple[_Subject, _Subject, _Subject]:
    """Name the counters of an intent, the widest first.

    What names no customer shares one counter: who is not named has no limit of his own.
    """
    return (
        _Subject(name=f"{intent.kind}.day", subject="", day=place.on),
        _Subject(name=f"{intent.kind}.customer", subject=place.customer, day=place.on),
        _Subject(name=f"{intent.kind}.order", subject=str(intent.target_id), day=None),
    )


def _locked(intent: Intent, place: Place) -> list[Counter]:
    """Lock an intent's counters in the order of their rows, made where they are missing.

    The day's is made first, and the others by whoever has it locked: two who made the same one,
    each with another locked, would wait for each other for ever.
    """
    subjects, currency = _subjects(intent, place), place.currency
    found = _lock(intent, subjects, currency)
    for wanted in (subjects[:1], subjects):
        missing = [one for one in wanted if one not in found]
        if missing:
            made = [_fresh(intent, subject, currency) for subject in missing]
            Counter.objects.bulk_create(made, ignore_conflicts=True)
            found = _lock(intent, subjects, currency)
    return [found[subject] for subject in subjects]


def _seen(intent: Intent, place: Place) -> list[Counter]:
    """Return an intent's counters as they are now; one that nobody took from yet says nothing."""
    subjects, currency = _subjects(intent, place), place.currency
    found = _by_subject(_rows(intent, subjects, currency))
    return [found.get(subject) or _fresh(intent, subject, currency) for subject in subjects]


def _fresh(intent: Intent, subject: _Subject, currency: str) -> Counter:
    return Counter(
        workspace_id=intent.workspace_id,
        name=subject.name,
        subject=subject.subject,
        day=subject.day,
        currency=currency,
        used=Decimal(0),
    )


def _lock(intent: Intent, subjects: Sequence[_Subject], currency: str) -> dict[_Subject, Counter]:
    rows = _rows(intent, subjects, currency)
    return _by_subject(rows.select_for_update(no_key=True).order_by("pk"))


def _by_subject(rows: Iterable[Counter]) -> dict[_Subject, Counter]:
    return {_Subject(name=row.name, subject=row.subject, day=row.day): row for row in rows}


def _rows(intent: Intent, subjects: Sequence[_Subject], currency: str) -> QuerySet[Counter]:
    named = Q()
    for subject in subjects:
        named |= Q(name=subject.name, subject=subject.subject, day=subject.day)
    return Counter.objects.filter(named, workspace_id=intent.workspace_id, currency=currency)


def _add(intent: Intent, place: Place, amount: Decimal, count: int) -> None:
    rows = _rows(intent, _subjects(intent, place), place.currency)
    rows.update(used=F("used") + amount, count=F("count") + count)


def _used(counter: Counter) -> Used:
    return Used(amount=Money(amount=counter.used, currency=counter.currency), count=counter.count)


def _authorized_since(intent: Intent, since: datetime) -> int:
    rows = Intent.objects.filter(workspace_id=intent.workspace_id, kind=intent.kind)
    return rows.filter(counted_at__gt=since).exclude(pk=intent.pk).count()
