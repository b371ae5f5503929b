"""How one intent may follow another: a repeat, a correction, the rest of what was accepted.

Promises: a repeat follows the newest occurrence alone, so that two clicks make one; how that one
ended says who may repeat it: nothing left, anyone; something left, a person; confirmed or
accepted, a person who names what stands on the platform; unsettled, nobody. The rest is never
more than what is missing.
Does not propose: `actions.services` does, and the gate judges each like any other.
"""

from datetime import datetime

from actions.echoes import newest_parts
from actions.models import Intent, Target
from actions.moves import remark
from actions.occurrences import earlier_occurrences
from actions.states import PAST_GATE, SETTLED, NeedsHuman, State
from integrations.actors import PEOPLE, SYSTEM, Actor
from integrations.money import Money, total
from integrations.ports import Standing
from tickets.models import Ticket

_NOTHING_LEFT = frozenset({State.REFUSED, State.WITHDRAWN})
_STANDS = frozenset({State.CONFIRMED, State.ACCEPTED})
CORRECTABLE = frozenset({State.FAILED, State.REFUSED})
"""What another proposal may correct: it ended without what was asked."""
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
    if left.state in _STANDS and (stands is None or acknowledges != stands.identifier):
        raise RepeatAsks(left)


def _last_that_left(newest: Intent) -> Intent | None:
    """Return the newest occurrence of which something left; a withdrawn repeat hides none."""
    occurrences = (newest, *earlier_occurrences(newest))
    return next((one for one in occurrences if one.state not in _NOTHING_LEFT), None)


def hold_to_correct(corrected: Intent, *, ticket: Ticket) -> None:
    """Let a corrected proposal follow an intent that ended without what was asked.

    Raises:
        NotCorrectable: It did not end so, or it is another ticket's.
    """
    if State(corrected.state) not in CORRECTABLE or corrected.ticket_id != ticket.pk:
        raise NotCorrectable


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
    """Return how much of what was asked neither stands nor is being made up for."""
    asked = _asked(earlier)
    return max(asked - _covered(earlier), Money.zero(asked.currency))


def _covered(intent: Intent) -> Money:
    """Return what stands of an intent, and what makes up for the rest of it, in however many steps.

    The database reckons the same: `actions_missing_money` in `actions.guards.functions`.
    """
    asked = _asked(intent)
    parts = [part.money for part in newest_parts(intent) if part.standing is Standing.SUCCEEDED]
    if any(money.currency != asked.currency for money in parts):
        return asked  # nobody can reckon what is missing, so that nothing is
    rests = intent.remainders.order_by("pk")
    made_up = (_covered(rest) if _has_ended(rest) else _asked(rest) for rest in rests)
    return total((*parts, *made_up), currency=asked.currency)


def _has_ended(rest: Intent) -> bool:
    return rest.state in SETTLED and rest.state not in PAST_GATE


def _asked(intent: Intent) -> Money:
    if intent.money is None:
        raise ValueError(f"{intent.public_id} moves no money: nothing of it can be missing.")
    return intent.money


def made_good(correction: Intent, *, at: datetime) -> None:
    """Take what is corrected from before its person, once its correction is let go.

    Not earlier: a correction that is refused itself would leave nobody looking.
    """
    if correction.corrects_id is None:
        return
    corrected = Intent.objects.select_for_update(no_key=True).get(pk=correction.corrects_id)
    if corrected.needs_human_reason in (NeedsHuman.REJECTED, NeedsHuman.RESEND_ENDED):
        remark(
            corrected,
            "made_good",
            by=SYSTEM,
            at=at,
            reason="what corrects it was let go",
            details={"by": correction.public_id},
            needs_human_since=None,
            needs_human_reason="",
        )
