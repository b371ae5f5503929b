"""What the counters say, and what a recount of the intents says that they should.

Promises: the recount knows nothing of how counters are kept. It goes by one principle: what is
counted of an intent is what stands of it, or may still come to stand.
"""

from collections import defaultdict
from collections.abc import Mapping
from datetime import date
from decimal import ROUND_CEILING, Decimal

from actions.models import Counter, EchoPart, Intent
from actions.states import State
from integrations.models import Workspace
from integrations.money import exponent

Counted = Mapping[tuple[int, str, str, date | None, str], tuple[Decimal, int]]
"""By workspace, name, subject, day and currency: how much, and how many."""


def standing() -> Counted:
    """Return what the counters say, but for those at nothing."""
    return {
        (row.workspace_id, row.name, row.subject, row.day, row.currency): (row.used, row.count)
        for row in Counter.objects.all()
        if row.used or row.count
    }


def used(
    name: str, *, on: date | None = None, workspace: Workspace | None = None
) -> list[tuple[Decimal, int]]:
    """Return what the counters of one name say, by day and subject: how much, and how many."""
    rows = Counter.objects.filter(name=name).order_by("day", "pk")
    rows = rows.filter(day=on) if on else rows
    rows = rows.filter(workspace=workspace) if workspace else rows
    found: dict[tuple[date | None, str], tuple[Decimal, int]] = {}
    for row in rows:
        amount, count = found.get((row.day, row.subject), (Decimal(0), 0))
        found[row.day, row.subject] = (amount + row.used, count + row.count)
    return list(found.values())


def recount() -> Counted:
    """Return what the intents come to, by their states and by what the store said of them last."""
    found: dict[tuple[int, str, str, date | None, str], tuple[Decimal, int]]
    found = defaultdict(lambda: (Decimal(0), 0))
    for intent in Intent.objects.select_related("decision"):
        amount = counts(intent)
        said = (intent.state, intent.state_reason, amount)
        assert (intent.counted_on is not None) is (amount > 0), said
        assert intent.counted_on is None or intent.shop_amount == amount, said
        if not amount:
            continue
        kind, day, currency = intent.kind, intent.counted_on, intent.shop_currency
        for name, subject, on in (
            (f"{kind}.day", "", day),
            (f"{kind}.customer", intent.counted_for, day),
            (f"{kind}.order", str(intent.target_id), None),
        ):
            for of, more, one in ((currency, amount, 0), ("", Decimal(0), 1)):
                key = (intent.workspace_id, name, subject, on, of)
                used, count = found[key]
                found[key] = (used + more, count + one)
    return dict(found)


def counts(intent: Intent) -> Decimal:
    """Return how much of an intent counts, in the shop's currency."""
    if intent.state in _ON_ITS_WAY_OR_AS_ASKED:
        return _let_go_at(intent)
    if intent.state in _BY_ITS_ECHO:
        return sum((_worth(intent, part) for part in _newest_parts(intent)), Decimal(0))
    return Decimal(0)


_ON_ITS_WAY_OR_AS_ASKED = {
    State.AUTHORIZED,
    State.EXECUTING,
    State.UNKNOWN,
    State.PENDING,
    State.PARTIALLY_CONFIRMED,
    State.CONFIRMED,
}
"""All of it stands, or may."""
_BY_ITS_ECHO = {State.ACCEPTED, State.FAILED, State.REVERSED}
"""It has ended otherwise than was asked: what the store says of it stands."""


def _let_go_at(intent: Intent) -> Decimal:
    """Return what the gate said that it takes of the limits."""
    assert intent.decision is not None
    (limits,) = (one for one in intent.decision.verdicts if one["check"] == "within_limits")
    amount, currency = str(limits["facts"]["asked_in_shop_currency"]).split()
    assert currency == intent.shop_currency
    return Decimal(amount)


def _newest_parts(intent: Intent) -> list[EchoPart]:
    parts = EchoPart.objects.filter(echo__external_object__intent=intent)
    newest = parts.order_by("-echo").first()
    return [] if newest is None else list(newest.echo.parts.exclude(standing="failed"))


def _worth(intent: Intent, part: EchoPart) -> Decimal:
    if part.shop_amount is not None and part.shop_currency == intent.shop_currency:
        return part.shop_amount
    if part.currency == intent.shop_currency:
        return part.amount
    assert part.currency == intent.currency
    assert intent.amount is not None
    worth = _let_go_at(intent) * part.amount / intent.amount
    places = Decimal(1).scaleb(-exponent(intent.shop_currency))
    return worth.quantize(places, rounding=ROUND_CEILING)
