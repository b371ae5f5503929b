"""How an intent may follow another, met by raw SQL and by the ORM: repeats, corrections, remainders."""

from datetime import timedelta
from decimal import Decimal

import pytest

from actions.models import AttemptOutcome, Intent
from actions.states import SETTLED, State
from integrations.actors import SYSTEM, Actor
from integrations.clock import now
from integrations.ports import Standing
from tests import factories
from tests.factories import AI, NODE, TEAM
from tests.factories.intents import Given
from tests.refusals import accepted, change, refused_by

pytestmark = pytest.mark.django_db
BIRTH = "actions_intent_birth"
HALF = factories.AMOUNT / 2
CENT = Decimal("0.01")
LEFT_NOTHING = {State.REFUSED, State.WITHDRAWN}


def beside(earlier: Intent, **otherwise: object) -> Given:
    """Return what an intent on an earlier one's ticket, request and target is given."""
    given: Given = {
        "ticket": earlier.ticket, "request": earlier.request, "target": earlier.target, "kind": earlier.kind,
    }  # fmt: skip
    return given | otherwise  # type: ignore[return-value]  # a test says what it likes


# --- repeats --------------------------------------------------------------------------------------------------


def repeating(earlier: Intent, *, by: Actor, **otherwise: object) -> Given:
    """Return what the next occurrence of an intent is given."""
    occurrence = earlier.occurrence + 1
    return beside(earlier, by=by, repeat_of=earlier, occurrence=occurrence, **otherwise)


def aside() -> Intent:
    """Return an unknown intent that a person has set aside."""
    intent = factories.unknown_intent()
    payload = factories.make_payload(workspace=intent.workspace)
    change(
        "actions_intent", intent.pk, set_aside_at=now(), set_aside_by_kind="human_node", set_aside_by_identity="node-1",
        set_aside_reason_id=payload.pk,
    )  # fmt: skip
    return intent


def test_a_repeat_is_the_next_occurrence_of_its_own_kind_and_ticket() -> None:
    failed = factories.intent_in(State.FAILED)
    stranger = factories.make_ticket(workspace=failed.workspace)
    again = repeating(failed, by=NODE)
    others: tuple[Given, ...] = ({"occurrence": 3}, {"kind": "reply"}, {"ticket": stranger, "request": factories.make_request(ticket=stranger)})  # fmt: skip
    for otherwise in others:
        with refused_by(BIRTH, "a repeat is the next occurrence of an intent of its ticket and kind"):  # fmt: skip
            factories.make_intent(**again | otherwise)
    with accepted():
        factories.make_intent(**again)


@pytest.mark.parametrize("by", [AI, NODE, TEAM, SYSTEM])
@pytest.mark.parametrize("state", sorted(set(State) - SETTLED))
def test_nobody_repeats_what_has_not_ended(state: State, by: Actor) -> None:
    earlier = factories.intent_in(state)
    with refused_by(BIRTH, "nobody repeats what has not ended"):
        factories.make_intent(**repeating(earlier, by=by))


@pytest.mark.parametrize(("by", "may"), [(NODE, True), (TEAM, True), (AI, False), (SYSTEM, False)])
@pytest.mark.parametrize("state", sorted(SETTLED))
def test_what_may_have_left_is_repeated_by_a_person_alone(
    state: State, by: Actor, may: bool
) -> None:
    earlier = factories.intent_in(state)
    freely = may or state in LEFT_NOTHING
    with (
        accepted()
        if freely
        else refused_by(BIRTH, "what may have left is repeated by a person alone")
    ):
        factories.make_intent(**repeating(earlier, by=by))


@pytest.mark.parametrize(("by", "may"), [(NODE, True), (TEAM, True), (AI, False)])
def test_what_a_person_has_set_aside_a_person_repeats(by: Actor, may: bool) -> None:
    earlier = aside()
    with (
        accepted() if may else refused_by(BIRTH, "what may have left is repeated by a person alone")
    ):
        factories.make_intent(**repeating(earlier, by=by))


@pytest.mark.parametrize("first", [State.CONFIRMED, State.FAILED, State.REVERSED, State.ACCEPTED])
def test_a_withdrawn_repeat_hides_nothing_of_what_had_left_before_it(first: State) -> None:
    earlier = factories.intent_in(first)
    for _ in range(2):
        earlier = factories.intent_in(State.WITHDRAWN, **repeating(earlier, by=NODE))
    with refused_by(BIRTH, "what may have left is repeated by a person alone"):
        factories.make_intent(**repeating(earlier, by=AI))
    with accepted():
        factories.make_intent(**repeating(earlier, by=TEAM))


def test_anyone_repeats_a_chain_of_which_nothing_ever_left() -> None:
    earlier = factories.intent_in(State.REFUSED)
    for _ in range(3):
        earlier = factories.intent_in(State.WITHDRAWN, **repeating(earlier, by=AI))
    with accepted():
        factories.make_intent(**repeating(earlier, by=AI))


def test_what_was_provably_not_sent_and_then_withdrawn_has_not_left() -> None:
    earlier, at = factories.intent_in(State.EXECUTING), now()
    factories.close_attempt(earlier.attempts.get(), AttemptOutcome.NOT_SENT, at=at)
    factories.unsend(earlier, at=at)
    with accepted():
        factories.make_intent(**repeating(earlier, by=AI))


def test_an_occurrence_is_repeated_once() -> None:
    earlier = factories.intent_in(State.FAILED)
    factories.make_intent(**repeating(earlier, by=NODE))
    with refused_by("intent_repeated_once"):
        factories.make_intent(**repeating(earlier, by=NODE))


# --- corrections ----------------------------------------------------------------------------------------------

CORRECTED = "only what failed or was refused on the same ticket is corrected"


@pytest.mark.parametrize("by", [AI, NODE])
@pytest.mark.parametrize("state", sorted(State))
def test_only_what_failed_or_was_refused_is_corrected(state: State, by: Actor) -> None:
    earlier = factories.intent_in(state)
    may = state in (State.FAILED, State.REFUSED)
    with accepted() if may else refused_by(BIRTH, CORRECTED):
        factories.make_intent(**beside(earlier, corrects=earlier, by=by))


def test_a_correction_stays_on_its_ticket() -> None:
    earlier = factories.intent_in(State.FAILED)
    stranger = factories.make_ticket(workspace=earlier.workspace)
    with refused_by(BIRTH, CORRECTED):
        factories.make_intent(ticket=stranger, target=earlier.target, corrects=earlier)


# --- remainders -----------------------------------------------------------------------------------------------

FOLLOWS = (
    "a remainder follows an accepted or reversed intent of its ticket, target and currency; "
    "a reversed one is made up for by a person alone"
)
MISSING = "a remainder is no more than what is missing of what was asked"


def rest_of(earlier: Intent, *, by: Actor = NODE, **otherwise: object) -> Given:
    """Return what an intent over half of an earlier one's money is given."""
    rest: dict[str, object] = {"amount": HALF, "by": by, "remainder_of": earlier}
    return beside(earlier, **rest | otherwise)


@pytest.mark.parametrize("state", sorted(State))
def test_only_what_was_accepted_or_reversed_has_a_remainder(state: State) -> None:
    earlier = factories.intent_in(state)
    may = state in (State.ACCEPTED, State.REVERSED)
    with accepted() if may else refused_by(BIRTH, FOLLOWS):
        factories.make_intent(**rest_of(earlier))


@pytest.mark.parametrize(
    ("state", "by", "may"),
    [
        (State.ACCEPTED, AI, True),
        (State.ACCEPTED, TEAM, True),
        (State.REVERSED, TEAM, True),
        (State.REVERSED, AI, False),
        (State.REVERSED, SYSTEM, False),
    ],
)
def test_what_was_reversed_is_made_up_for_by_a_person_alone(
    state: State, by: Actor, may: bool
) -> None:
    earlier = factories.intent_in(state)
    with accepted() if may else refused_by(BIRTH, FOLLOWS):
        factories.make_intent(**rest_of(earlier, by=by))


def test_a_remainder_stays_with_its_ticket_target_and_currency() -> None:
    earlier = factories.intent_in(State.ACCEPTED)
    stranger = factories.make_ticket(workspace=earlier.workspace)
    others: tuple[Given, ...] = (
        {"ticket": stranger, "request": factories.make_request(ticket=stranger)},
        {"target": factories.make_target(connection=earlier.connection)},
        {"currency": "USD"},
        {"amount": None, "currency": ""},
    )
    for otherwise in others:
        with refused_by(BIRTH, FOLLOWS):
            factories.make_intent(**rest_of(earlier) | otherwise)


@pytest.mark.parametrize(
    ("state", "amount", "may"),
    [
        (State.ACCEPTED, HALF, True),
        (State.ACCEPTED, HALF + CENT, False),
        (State.ACCEPTED, factories.AMOUNT, False),
        (State.REVERSED, factories.AMOUNT, True),
        (State.REVERSED, factories.AMOUNT + CENT, False),
    ],
)
def test_a_remainder_is_no_more_than_what_is_missing(
    state: State, amount: Decimal, may: bool
) -> None:
    earlier = factories.intent_in(state)
    with accepted() if may else refused_by(BIRTH, MISSING):
        factories.make_intent(**rest_of(earlier, amount=amount))


@pytest.mark.parametrize("state", sorted(State))
def test_remainders_together_are_no_more_than_what_is_missing(state: State) -> None:
    earlier = factories.intent_in(State.ACCEPTED)
    factories.intent_in(state, **rest_of(earlier))
    is_whole = state not in SETTLED or state is State.CONFIRMED
    # Of what was accepted, half stands, so that only half of it is missing.
    amount = CENT if is_whole else HALF / 2 if state is State.ACCEPTED else HALF
    with refused_by(BIRTH, MISSING) if is_whole else accepted():
        factories.make_intent(**rest_of(earlier, amount=amount))


def test_money_that_is_under_way_is_not_missing() -> None:
    earlier, at = factories.intent_in(State.ACCEPTED), now()
    read = factories.make_read(target=earlier.target, at=at)
    parts = [(Standing.SUCCEEDED, HALF), (Standing.OPEN, HALF)]
    bound = earlier.external_objects.get()
    with accepted():
        factories.make_echo(external_object=bound, source=read, at=at, parts=parts)
    with refused_by(BIRTH, MISSING):
        factories.make_intent(**rest_of(earlier, amount=CENT))


def test_two_ends_of_a_chain_make_up_for_the_same_money_once() -> None:
    earlier = factories.intent_in(State.ACCEPTED)
    rest = factories.intent_in(State.REVERSED, **rest_of(earlier))
    factories.make_intent(**rest_of(earlier))
    with refused_by(BIRTH, MISSING):
        factories.make_intent(**rest_of(rest, amount=CENT))


def test_what_stands_of_a_reversed_remainder_is_not_missing_nor_what_makes_up_for_it() -> None:
    earlier = factories.intent_in(State.ACCEPTED)
    rest = factories.intent_in(State.PARTIALLY_CONFIRMED, **rest_of(earlier))
    parts = [(Standing.SUCCEEDED, Decimal(2)), (Standing.FAILED, HALF - 2)]
    factories.hear(rest, at=now(), to=State.REVERSED, parts=parts)
    with refused_by(BIRTH, MISSING):
        factories.make_intent(**rest_of(earlier, amount=HALF - 2 + CENT))
    factories.make_intent(**rest_of(rest, amount=Decimal(3)))
    with refused_by(BIRTH, MISSING):
        factories.make_intent(**rest_of(earlier, amount=HALF - 5 + CENT))
    with accepted():
        factories.make_intent(**rest_of(earlier, amount=HALF - 5))


def test_the_newest_echo_says_what_is_missing() -> None:
    earlier, at = factories.intent_in(State.ACCEPTED), now()
    bound = earlier.external_objects.get()
    read = factories.make_read(target=earlier.target, at=at)
    parts = [(Standing.SUCCEEDED, factories.AMOUNT - 1), (Standing.FAILED, Decimal(1))]
    factories.make_echo(external_object=bound, source=read, at=at, parts=parts)
    with refused_by(BIRTH, MISSING):
        factories.make_intent(**rest_of(earlier, amount=1 + CENT))
    with accepted():
        factories.make_intent(**rest_of(earlier, amount=Decimal(1)))


def test_of_what_stands_in_another_currency_nobody_can_say_what_is_missing() -> None:
    earlier, at = factories.intent_in(State.ACCEPTED), now()
    bound = earlier.external_objects.get()
    read = factories.make_read(target=earlier.target, at=at + timedelta(seconds=1))
    parts = [(Standing.SUCCEEDED, Decimal(1))]
    factories.make_echo(external_object=bound, source=read, at=at, parts=parts, currency="USD")
    with refused_by(BIRTH, MISSING):
        factories.make_intent(**rest_of(earlier, amount=CENT))
