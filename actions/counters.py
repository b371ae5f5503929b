"""Counters: how much of a brand's limits is used, by order, by customer and day, and by day.

Promises: what is counted of an intent is what stands of it, or may still come to stand; it is
counted anew, under lock, in the transaction that changes that, and comes off where it was taken,
whatever the ticket and the brand's zone say by then. Amounts are in the shop's currency; numbers
have rows of their own, so that a workspace with two currencies has one number and one speed.
Does not know the limits: that is `actions.policy`.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import ROUND_CEILING, Context, Decimal
from itertools import chain
from zoneinfo import ZoneInfo

from django.db.models import Case, DecimalField, F, IntegerField, Q, QuerySet, Value, When

from actions.models import Counter, Intent
from actions.policy import Usage, Used, facts_of
from integrations.models import Workspace
from integrations.money import Money, exponent, total
from integrations.ports import Part, Standing

_WIDE = Context(prec=60)
"""Room for a product of two amounts, divided by a third."""

_DAY = ".day"
_NO_CURRENCY = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where an intent is counted, beside its own order: on which day, for whom, in what."""

    on: date
    """The brand's day."""
    customer: str
    """Whose limit it is, by a digest; empty where nobody is named."""
    currency: str
    """The shop's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """One counter's name among those of its workspace; one without a currency holds a number."""

    name: str
    subject: str
    day: date | None
    currency: str

    @property
    def is_of_day(self) -> bool:
        return self.name.endswith(_DAY)

    @property
    def in_order(self) -> tuple[str, str, str, str]:
        return (self.name, str(self.day), self.currency, self.subject)


def brand_day(workspace: Workspace, *, at: datetime) -> date:
    """Return which day a moment falls on where the brand is."""
    return at.astimezone(ZoneInfo(workspace.time_zone)).date()


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
    rows = _rows_of(intent, place)
    found = _locked(intent.workspace_id, rows) if taking else _seen(intent.workspace_id, rows)
    day, customer, order = (_used(found, row) for row in rows if row.currency)
    recent = 0 if recent_since is None else _authorized_since(intent, recent_since)
    return Usage(order=order, customer=customer, day=day, recent=recent)


def take(intent: Intent, amount: Decimal, place: Place) -> None:
    """Count an intent on its counters, which `usage_of` has locked in this transaction."""
    _add(intent, place, amount, 1)


def recount(
    intent: Intent, standing: Money | None, *, at: datetime, next_place: Place | None = None
) -> bool:
    """Count of an intent that was let go what stands of it, or may still come to stand.

    It stays where it is counted. One that was given back counts on the brand's day of now: an
    effect that shows late is let in even over a limit, since it is there.

    Args:
        intent: Locked, with its ticket and its target.
        standing: In the currency in which it was counted; None or zero: nothing of it.
        at: Database time.
        next_place: Where this transaction may count it next, to be locked together with where it
            is counted now.

    Returns:
        Whether others have more room for it.
    """
    before = counted_money(intent)
    after = standing if standing is not None and standing.amount else None
    if before == after:
        return False
    place = _place_of(intent, at=at)
    rows = _rows_of(intent, place)
    also = () if next_place is None else _rows_of(intent, next_place)
    _locked(intent.workspace_id, {*rows, *also})
    zero = Money.zero(intent.shop_currency)
    change = (after or zero) - (before or zero)
    _add(intent, place, change.amount, (after is not None) - (before is not None))
    _note(intent, after, place, at=at)
    return change < zero


def counted_money(intent: Intent) -> Money | None:
    """Return what an intent has on its counters now, in the shop's currency; None if nothing."""
    if intent.counted_on is None or intent.shop_amount is None:
        return None
    return Money(amount=intent.shop_amount, currency=intent.shop_currency)


def standing_of(intent: Intent, parts: Iterable[Part]) -> Money | None:
    """Return what of an effect stands or is under way, in the currency in which it was counted.

    As the platform reckons it; else in proportion of what was let go, rounded up.

    Returns:
        None where the intent was never counted.
    """
    if not intent.shop_currency:
        return None
    standing = (part for part in parts if part.standing is not Standing.FAILED)
    worth = (_worth(intent, part) for part in standing)
    return total(worth, currency=intent.shop_currency)


def lock_together(intents: Collection[Intent], *, at: datetime) -> None:
    """Lock, in one order, all counters of intents that one transaction may count anew.

    Two that each take the second's first would wait for each other for ever. Counters of one kind,
    day and currency need no such care: the day's own is always first.

    Args:
        intents: Locked, with their tickets and targets.
        at: Database time: what was given back counts on today's, if its effect shows late.
    """
    places = [(one, _place_of(one, at=at)) for one in intents if one.shop_currency]
    if len({(one.kind, place.on, place.currency) for one, place in places}) > 1:
        rows = chain.from_iterable(_rows_of(one, place) for one, place in places)
        _locked(places[0][0].workspace_id, set(rows))


def _place_of(intent: Intent, *, at: datetime) -> Place:
    """Return where an intent is counted; where it isn't, where it would be now."""
    return Place(
        on=intent.counted_on or brand_day(intent.workspace, at=at),
        customer=intent.counted_for,
        currency=intent.shop_currency,
    )


def _note(intent: Intent, counted: Money | None, place: Place, *, at: datetime) -> None:
    """Keep on the intent what is counted of it, and where; of nothing, what it last was."""
    if counted is None:
        intent.counted_on = intent.counted_at = None
    else:
        intent.counted_on, intent.counted_at = place.on, intent.counted_at or at
        intent.shop_amount = counted.amount
    Intent.objects.filter(pk=intent.pk).update(
        counted_on=intent.counted_on,
        counted_at=intent.counted_at,
        shop_amount=intent.shop_amount,
    )


def _worth(intent: Intent, part: Part) -> Money:
    for said in (part.shop, part.money):
        if said is not None and said.currency == intent.shop_currency:
            return said
    return _in_proportion(intent, part.money)


def _in_proportion(intent: Intent, money: Money) -> Money:
    """Return as much of what was let go as an amount is of what was asked, rounded up."""
    asked, decision = intent.money, intent.decision
    let_go = None if decision is None else facts_of(decision.facts).asked_of_limits
    if asked is None or let_go is None:
        raise ValueError(f"{intent.public_id} was counted, and nothing says what it was let go at.")
    if money.currency != asked.currency:
        return let_go  # in neither currency: all that it was let go at
    worth = _WIDE.divide(_WIDE.multiply(let_go.amount, money.amount), asked.amount)
    places = Decimal(1).scaleb(-exponent(let_go.currency))
    rounded = worth.quantize(places, rounding=ROUND_CEILING, context=_WIDE)
    return Money(amount=rounded, currency=let_go.currency)


def _rows_of(intent: Intent, place: Place) -> tuple[_Row, ...]:
    """Name the counters of an intent, the widest first: of each its number, then its amount.

    What names no customer shares one counter: who is not named has no limit of his own.
    """
    subjects = (
        (f"{intent.kind}{_DAY}", "", place.on),
        (f"{intent.kind}.customer", place.customer, place.on),
        (f"{intent.kind}.order", str(intent.target_id), None),
    )
    return tuple(
        _Row(name=name, subject=subject, day=day, currency=currency)
        for name, subject, day in subjects
        for currency in (_NO_CURRENCY, place.currency)
    )


def _locked(workspace_id: int, rows: Collection[_Row]) -> Mapping[_Row, Counter]:
    """Lock counters in one statement and one order, made where they are missing.

    The day's are made first, and the others by whoever has it locked: two who made the same one,
    each with another locked, would wait for each other for ever.
    """
    found = _lock(workspace_id, rows)
    for wanted in ([row for row in rows if row.is_of_day], rows):
        missing = sorted((row for row in wanted if row not in found), key=lambda row: row.in_order)
        if missing:
            made = [_fresh(workspace_id, row) for row in missing]
            Counter.objects.bulk_create(made, ignore_conflicts=True)
            found = _lock(workspace_id, rows)
    return found


def _lock(workspace_id: int, rows: Collection[_Row]) -> dict[_Row, Counter]:
    """Lock the days' first: each stands for whatever else is counted on it."""
    day_first = Case(When(name__endswith=_DAY, then=Value(0)), default=Value(1))
    found = _select(workspace_id, rows).order_by(day_first, "pk")
    return _by_row(found.select_for_update(no_key=True))


def _seen(workspace_id: int, rows: Sequence[_Row]) -> Mapping[_Row, Counter]:
    """Return counters as they are now; one that nobody took from yet says nothing."""
    fresh = {row: _fresh(workspace_id, row) for row in rows}
    return fresh | _by_row(_select(workspace_id, rows))


def _fresh(workspace_id: int, row: _Row) -> Counter:
    return Counter(
        workspace_id=workspace_id,
        name=row.name,
        subject=row.subject,
        day=row.day,
        currency=row.currency,
        used=Decimal(0),
    )


def _by_row(counters: Iterable[Counter]) -> dict[_Row, Counter]:
    return {
        _Row(name=one.name, subject=one.subject, day=one.day, currency=one.currency): one
        for one in counters
    }


def _select(workspace_id: int, rows: Collection[_Row]) -> QuerySet[Counter]:
    named = Q()
    for row in rows:
        named |= Q(name=row.name, subject=row.subject, day=row.day, currency=row.currency)
    return Counter.objects.filter(named, workspace_id=workspace_id)


def _add(intent: Intent, place: Place, amount: Decimal, count: int) -> None:
    """Add to the amounts and the numbers of an intent, in one statement."""
    is_number = When(currency=_NO_CURRENCY, then=Value(0))
    money = DecimalField(max_digits=20, decimal_places=4)
    added = Case(is_number, default=Value(amount), output_field=money)
    counted = Case(
        When(currency=_NO_CURRENCY, then=Value(count)),
        default=Value(0),
        output_field=IntegerField(),
    )
    rows = _select(intent.workspace_id, _rows_of(intent, place))
    rows.update(used=F("used") + added, count=F("count") + counted)


def _used(found: Mapping[_Row, Counter], row: _Row) -> Used:
    number = replace(row, currency=_NO_CURRENCY)
    return Used(
        amount=Money(amount=found[row].used, currency=row.currency), count=found[number].count
    )


def _authorized_since(intent: Intent, since: datetime) -> int:
    rows = Intent.objects.filter(workspace_id=intent.workspace_id, kind=intent.kind)
    return rows.filter(counted_at__gt=since).exclude(pk=intent.pk).count()
