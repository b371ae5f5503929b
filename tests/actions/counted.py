"""What the counters say, and what a recount of the intents says that they should.

Promises: the recount knows nothing of how counters are kept: how an intent ended says alone whether
it keeps its share.
"""

from collections import defaultdict
from collections.abc import Mapping
from datetime import date
from decimal import Decimal

from actions.models import Counter, Intent
from actions.states import PAST_GATE, FailedReason, State

Counted = Mapping[tuple[int, str, str, date | None, str], tuple[Decimal, int]]
"""By workspace, name, subject, day and currency: how much, and how many."""


def standing() -> Counted:
    """Return what the counters say, but for those at nothing."""
    return {
        (row.workspace_id, row.name, row.subject, row.day, row.currency): (row.used, row.count)
        for row in Counter.objects.all()
        if row.used or row.count
    }


def recount() -> Counted:
    """Return what the intents come to that were let go, and of which something left or may yet."""
    found: dict[tuple[int, str, str, date | None, str], tuple[Decimal, int]]
    found = defaultdict(lambda: (Decimal(0), 0))
    for intent in Intent.objects.all():
        keeps = (intent.state, intent.state_reason) == _MONEY_FAILED or intent.state in _LEFT
        assert (intent.counted_on is not None) is keeps, (intent.state, intent.state_reason)
        if intent.shop_amount is None or not keeps:
            continue
        kind, day, currency = intent.kind, intent.counted_on, intent.shop_currency
        for name, subject, on in (
            (f"{kind}.day", "", day),
            (f"{kind}.customer", intent.counted_for, day),
            (f"{kind}.order", str(intent.target_id), None),
        ):
            key = (intent.workspace_id, name, subject, on, currency)
            used, count = found[key]
            found[key] = (used + intent.shop_amount, count + 1)
    return dict(found)


_MONEY_FAILED = (State.FAILED, FailedReason.MONEY_FAILED)
"""A merchant may retry it by hand."""
_LEFT = {*PAST_GATE, State.REVERSED}
"""It left, or may yet."""
