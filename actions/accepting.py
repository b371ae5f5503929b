"""Accepting: a person takes what the platform holds instead of what was asked.

Promises: only a person accepts, with a reason, and exactly the amount that stands succeeded by the
newest echo; while a part may still move, nothing is accepted. An accepted intent is counted apart;
the rest is another intent (`remainder_of`).
Does not propose the rest, and does not judge what the platform says.
"""

from datetime import datetime

from django.db import transaction

from actions.corrections import made_good
from actions.echoes import newest_parts
from actions.locks import bump, lock_intent
from actions.models import Intent
from actions.moves import count_what_stands, move
from actions.states import State
from actions.waiting import watch
from integrations import sealed
from integrations.actors import PEOPLE, Actor
from integrations.money import Money, total
from integrations.ports import Standing
from tickets.services import act


class OnlyAPerson(Exception):
    """Only a Human Node or the brand's team may accept what was not asked."""


class NotAcceptable(Exception):
    """Nothing can be accepted: a part may still move, none succeeded, or currencies differ."""


class AnotherAmount(Exception):
    """The platform holds another amount than you accept: look at it again."""

    def __init__(self, stands: Money) -> None:
        super().__init__(f"{stands} stand on the platform")
        self.stands = stands


def standing_money(intent: Intent) -> Money:
    """Return what of an intent stands succeeded on the platform, by the newest echo."""
    succeeded = [part.money for part in newest_parts(intent) if part.standing is Standing.SUCCEEDED]
    return total(succeeded, currency=succeeded[0].currency if succeeded else intent.currency)


def accept(*, intent: Intent, amount: Money, reason: str, by: Actor, at: datetime) -> Intent:
    """Accept exactly what stands on the platform instead of what was asked.

    Raises:
        OnlyAPerson: An AI or an integration speaks.
        NotAcceptable: Nothing that is final and other than asked stands there.
        AnotherAmount: Another amount stands there.
    """
    if by.kind not in PEOPLE:
        raise OnlyAPerson
    with transaction.atomic():
        locked = lock_intent(intent.pk)
        intent, ticket = locked.intent, locked.ticket
        if not _is_acceptable(intent) or ticket.customer is None:
            raise NotAcceptable
        stands = standing_money(intent)
        if stands != amount:
            raise AnotherAmount(stands)
        kept = sealed.seal(
            subject_key=ticket.customer.subject_key, field="intent.accepted", text=reason
        )
        act(ticket, by=by, at=at)
        move(
            intent,
            State.ACCEPTED,
            by=by,
            at=at,
            reason=f"a person accepts {stands} instead of {intent.money}",
            details={"accepted": stands, "asked": intent.money},
            accepted_reason=kept,
        )
        count_what_stands(intent, newest_parts(intent), at=at)
        made_good(intent, at=at)
        watch(intent, at=at)
        bump(locked.target)
    return intent


def _is_acceptable(intent: Intent) -> bool:
    """Is all of it final, some of it done, and not what was asked?"""
    if intent.state not in (State.PARTIALLY_CONFIRMED, State.PENDING):
        return False
    parts = newest_parts(intent)
    standings = {part.standing for part in parts}
    in_one_currency = len({part.money.currency for part in parts}) == 1
    return in_one_currency and Standing.OPEN not in standings and Standing.SUCCEEDED in standings
