"""What a person can do once platform or gate have spoken: accept, repeat, correct, ask the rest.

Promises: what is offered for acceptance is what the newest echo says, to the last digit; a repeat
is asked about by what stands on the platform; nothing is offered that the services would refuse
by what the rows say now.
Does not do any of it.
"""

from dataclasses import dataclass
from datetime import datetime

from actions import linking
from actions.accepting import standing_money
from actions.console.seats import Seat
from actions.echoes import newest_parts
from actions.linking import (
    REPLACEABLE,
    NotRepeatable,
    RepeatAsks,
    hold_to_repeat,
    missing_money,
)
from actions.models import Approval, Intent
from actions.occurrences import newest_occurrence
from actions.schedule import entered_at
from actions.states import SETTLED, WITHDRAWABLE, State
from integrations.money import Money
from integrations.ports import Part, Standing

_ACCEPTABLE = (State.PARTIALLY_CONFIRMED, State.PENDING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptable:
    """What the platform holds instead of what was asked, part by part."""

    parts: tuple[Part, ...]
    stands: Money
    asked: Money
    missing: Money | None
    """What would stay undone; None where the platform holds another currency, or more."""


def acceptable(intent: Intent) -> Acceptable | None:
    """Return what may be accepted; None where a part may still move, or nothing stands."""
    asked = intent.money
    if State(intent.state) not in _ACCEPTABLE or asked is None:
        return None
    parts = newest_parts(intent)
    standings = {part.standing for part in parts}
    if Standing.OPEN in standings or Standing.SUCCEEDED not in standings:
        return None
    if len({part.money.currency for part in parts}) > 1:
        return None
    stands = standing_money(intent)
    less = stands.currency == asked.currency and stands < asked
    return Acceptable(
        parts=parts, stands=stands, asked=asked, missing=asked - stands if less else None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeatable:
    """The plain question of a repeat: how it ended, when, by whom, and what stands there."""

    ended: Intent
    """The occurrence that the question is about: this one, or an earlier one that stands."""
    at: datetime
    approval: Approval | None
    reference: str
    """What stands on the platform; empty where nothing does."""
    is_other: bool
    """Is it an earlier occurrence?"""


def repeatable(intent: Intent, *, seat: Seat) -> Repeatable | None:
    """Return the question of a repeat; None where nobody can repeat this now."""
    has_ended = intent.state in SETTLED or intent.set_aside_at is not None
    if not has_ended or newest_occurrence(intent) != intent or not intent.ticket.is_open:
        return None
    ended, reference = intent, ""
    try:
        hold_to_repeat(intent, by=seat.actor, acknowledges="")
    except NotRepeatable:
        return None
    except RepeatAsks as asks:
        stands = asks.earlier.external_objects.order_by("pk").first()
        if stands is None:
            return None
        ended, reference = asks.earlier, stands.identifier
    return Repeatable(
        ended=ended,
        at=entered_at(ended),
        approval=ended.approvals.filter(used_at__isnull=False, approves=True).first(),
        reference=reference,
        is_other=ended.pk != intent.pk,
    )


def is_correctable(intent: Intent) -> bool:
    """Say whether another proposal may correct it."""
    return intent.ticket.is_open and linking.is_correctable(intent)


def rest_of(intent: Intent) -> Money | None:
    """Return what may be proposed to make up for it; None where nothing is missing."""
    if State(intent.state) not in REPLACEABLE or intent.money is None or not intent.ticket.is_open:
        return None
    missing = missing_money(intent)
    return missing if missing.amount else None


def may_be_taken_back(intent: Intent) -> bool:
    """Say whether taking it back would still change anything."""
    if State(intent.state) in WITHDRAWABLE:
        return True
    return intent.state not in SETTLED and intent.resend_ended_at is None
