"""How one intent may follow another: a repeat, a correction, the rest of what was accepted.

Promises: a repeat follows the newest occurrence alone, so that two clicks make one; how that one
ended says who may repeat it: nothing left, anyone; something left, a person; confirmed or
accepted, a person who names what stands on the platform; unsettled, nobody. The rest is never
more than what is missing.
Does not propose: `actions.services` does, and the gate judges each like any other.
"""

from actions.echoes import newest_parts
from actions.models import Intent, Target
from actions.occurrences import earlier_occurrences, family_of
from actions.states import PAST_GATE, SETTLED, FailedReason, RefusedReason, State
from integrations.actors import PEOPLE, Actor
from integrations.money import Money, total
from integrations.ports import Standing
from tickets.models import Ticket

_NOTHING_LEFT = frozenset({State.REFUSED, State.WITHDRAWN})
_STANDS = frozenset({State.CONFIRMED, State.ACCEPTED})
CORRECTABLE = frozenset({State.FAILED, State.REFUSED})
"""What another proposal may correct: it ended without what was asked."""
_PERSON_CORRECTS = (RefusedReason.REJECTED_BY_PERSON, FailedReason.ABSENT)
REPLACEABLE = frozenset({State.ACCEPTED, State.REVERSED})
"""What may have a rest: less stands on the platform than was asked."""


class NothingToRepeat(Exception):
    """Nothing like this was proposed before: propose it without `repeat_of`."""


class NotTheSame(Exception):
    """What is named in `repeat_of` is another action: repeat it with its own parameters."""


class NotRepeatable(Exception):
    """It has not ended: until it has, nobody repeats it."""


class PersonRepeats(Exception):
    """Something of it left, so that only a Human Node or the brand's team may repeat it."""


class RepeatAsks(Exception):
    """It stands on the platform: who repeats it names, in `acknowledges`, what stands there."""

    def __init__(self, earlier: Intent) -> None:
        super().__init__(earlier.public_id)
        self.earlier = earlier


class NotCorrectable(Exception):
    """Only what failed or was refused, on the same ticket, can be corrected."""


class PersonCorrects(Exception):
    """A person said no, or something may have left: only a person corrects it."""


class AlreadyCorrected(Exception):
    """Another proposal corrects it already: wait how that ends, or withdraw it."""


class NoRest(Exception):
    """Only what was accepted in part, or reversed, has a rest: on the same ticket and order."""


class MoreThanTheRest(Exception):
    """The rest is less than that."""

    def __init__(self, rest: Money) -> None:
        super().__init__(f"{rest} are missing of what was asked; ask for that or less.")
        self.rest = rest


def hold_to_repeat(newest: Intent, *, by: Actor, acknowledges: str) -> None:
    """Let an actor repeat the newest occurrence, or say why not.

    Args:
        newest: Locked through its ticket.
        by: Who wants it.
        acknowledges: What the actor says stands on the platform, by the platform's identifier.

    Raises:
        NotRepeatable: It has not ended.
        PersonRepeats: Something of it left, and no person asks.
        RepeatAsks: It stands on the platform, and what stands there is not named.
    """
    if newest.state not in SETTLED and newest.set_aside_at is None:
        raise NotRepeatable
    left = _last_that_left(newest)
    if left is None:
        return
    if by.kind not in PEOPLE:
        raise PersonRepeats
    stands = left.external_objects.first()
    named = stands is not None and acknowledges == stands.identifier
    if not named and (left.state in _STANDS or _stands_in_part(left)):
        raise RepeatAsks(left)


def _stands_in_part(left: Intent) -> bool:
    """Has something of it succeeded, or may it yet, by the newest echo?"""
    return any(part.standing is not Standing.FAILED for part in newest_parts(left))


def _last_that_left(newest: Intent) -> Intent | None:
    """Return the newest occurrence of which something left; a withdrawn repeat hides none."""
    occurrences = (newest, *earlier_occurrences(newest))
    return next((one for one in occurrences if one.state not in _NOTHING_LEFT), None)


def hold_to_correct(corrected: Intent, *, by: Actor, ticket: Ticket) -> None:
    """Let a corrected proposal follow an intent that ended without what was asked.

    Raises:
        NotCorrectable: It did not end so, something of it stands after all, or it is another
            ticket's.
        PersonCorrects: A person said no to it, or something of it may have left, and no person
            asks.
        AlreadyCorrected: Another proposal corrects it, and goes its way or stands.
    """
    ended_so = State(corrected.state) in CORRECTABLE and not _stands_in_part(corrected)
    if not ended_so or corrected.ticket_id != ticket.pk:
        raise NotCorrectable
    if corrected.state_reason in _PERSON_CORRECTS and by.kind not in PEOPLE:
        raise PersonCorrects
    if _is_corrected(corrected):
        raise AlreadyCorrected


def is_correctable(intent: Intent) -> bool:
    """Say whether a proposal, by a person at least, may correct an intent now."""
    ended_so = State(intent.state) in CORRECTABLE and not _stands_in_part(intent)
    return ended_so and not _is_corrected(intent)


def _is_corrected(intent: Intent) -> bool:
    ended = [state for state in SETTLED if state not in PAST_GATE]
    return intent.corrections.exclude(state__in=ended).exists()


def hold_to_the_rest(
    earlier: Intent, *, money: Money, by: Actor, ticket: Ticket, target: Target
) -> None:
    """Let a proposal cover what is missing of an intent, or say why not.

    Raises:
        NoRest: Nothing of it is missing in a way that may be replaced, or not on this order.
        PersonRepeats: It was reversed, so that something had left, and no person asks.
        MoreThanTheRest: Less than that is missing.
    """
    is_here = (earlier.ticket_id, earlier.target_id) == (ticket.pk, target.pk)
    if State(earlier.state) not in REPLACEABLE or not is_here:
        raise NoRest
    if earlier.state == State.REVERSED and by.kind not in PEOPLE:
        raise PersonRepeats
    rest = missing_money(earlier)
    if money.currency != rest.currency or money > rest:
        raise MoreThanTheRest(rest)


def missing_money(earlier: Intent) -> Money:
    """Return how much of what was asked neither stands nor is being made up for.

    Reckoned from the first of the family, so that no two of it make up for the same money. What is
    under way on the platform counts as standing, as far as we have heard of it; the gate reads the
    order. The database reckons the same: `actions_missing_money` in `actions.guards.functions`.
    """
    family = family_of(earlier)
    asked = _asked(family[0])
    parts = [part for member in family if _counts_by_parts(member) for part in newest_parts(member)]
    covered = [part.money for part in parts if part.standing is not Standing.FAILED]
    if any(money.currency != asked.currency for money in covered):
        return Money.zero(asked.currency)  # nobody can reckon what is missing
    covered += [_asked(member) for member in family if not _counts_by_parts(member)]
    return max(asked - total(covered, currency=asked.currency), Money.zero(asked.currency))


def _counts_by_parts(member: Intent) -> bool:
    """Has it ended with less than it asked? Else all of it is, or will be, or may be there."""
    return member.state in SETTLED and member.state != State.CONFIRMED


def _asked(intent: Intent) -> Money:
    if intent.money is None:
        raise ValueError(f"{intent.public_id} moves no money: nothing of it can be missing.")
    return intent.money
