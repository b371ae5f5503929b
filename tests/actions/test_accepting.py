"""Accepting: a person takes what the store holds instead of what was asked, exactly and once."""

from functools import partial

import pytest

from actions.accepting import (
    AnotherAmount,
    NotAcceptable,
    OnlyAPerson,
    accept,
    standing_money,
)
from actions.linking import MoreThanTheRest, NoRest, PersonRepeats, missing_money
from actions.models import Intent
from integrations import sealed
from integrations.actors import Actor
from integrations.clock import now
from integrations.money import Money, parse_money
from integrations.sandbox.faults import FaultKind
from integrations.sandbox.records import Payment
from tests.faults.threads import at_once
from tests.stage import AGENT, INTEGRATION, PERSON, SECOND, TEAM, Case, Stage, fresh

pytestmark = pytest.mark.django_db(transaction=True)

FIFTY, THIRTY = parse_money("50.00", "EUR"), parse_money("30.00", "EUR")


def split(stage: Stage, *, second: str = "FAILURE") -> tuple[Case, Intent]:
    """Refund 80.00 EUR over two payments of 50.00, of which the second answers otherwise."""
    stage.shop.gateway("second", answers=second)
    payments = [Payment(amount="50.00", gateway="first"), Payment(amount="50.00", gateway="second")]
    case = stage.case(amount="80.00", payments=payments)
    return case, stage.work(stage.propose(case, amount="80.00"))


def take(intent: Intent, *, amount: Money = FIFTY, by: Actor = PERSON) -> Intent:
    """Accept it."""
    return accept(intent=intent, amount=amount, reason="agreed by phone", by=by, at=now())


def reverse(stage: Stage, intent: Intent) -> Intent:
    """Let the store take back what had succeeded."""
    stage.shop.settle_refund(intent.external_objects.get().identifier, "FAILURE")
    stage.read(intent)
    intent = fresh(intent)
    assert intent.state == "reversed"
    return intent


@pytest.mark.parametrize("by", [PERSON, TEAM])
def test_a_person_accepts_exactly_what_stands_with_a_reason(stage: Stage, by: Actor) -> None:
    _, intent = split(stage)
    assert (intent.state, standing_money(intent)) == ("partially_confirmed", FIFTY)
    sends = len(stage.shop.requests(operation="refundCreate"))
    accepted = take(intent, by=by)
    assert (accepted.state, accepted.needs_human_reason) == ("accepted", "")
    assert accepted.due_at is not None  # it is looked at again for a while
    assert accepted.confirmed_at is None
    assert accepted.accepted_reason is not None
    assert sealed.unseal(accepted.accepted_reason) == "agreed by phone"
    event = accepted.events.get(name="accepted")
    assert event.reason == "a person accepts 50.00 EUR instead of 80.00 EUR"
    assert (event.by_kind, event.by_identity) == (by.kind, by.identity)
    assert len(stage.shop.requests(operation="refundCreate")) == sends


@pytest.mark.parametrize("by", [AGENT, INTEGRATION])
def test_nobody_but_a_person_accepts(stage: Stage, by: Actor) -> None:
    _, intent = split(stage)
    with pytest.raises(OnlyAPerson):
        take(intent, by=by)
    assert fresh(intent).state == "partially_confirmed"


@pytest.mark.parametrize("amount", ["80.00", "49.99", "50.01"])
def test_no_other_amount_is_accepted_than_the_one_that_stands(stage: Stage, amount: str) -> None:
    _, intent = split(stage)
    with pytest.raises(AnotherAmount) as other:
        take(intent, amount=parse_money(amount, "EUR"))
    assert (other.value.stands, fresh(intent).state) == (FIFTY, "partially_confirmed")


def test_fifty_dollars_are_not_fifty_euro(stage: Stage) -> None:
    _, intent = split(stage)
    with pytest.raises(AnotherAmount):
        take(intent, amount=parse_money("50.00", "USD"))
    assert fresh(intent).state == "partially_confirmed"


@pytest.mark.parametrize("second", ["PENDING", "SUCCESS"])
def test_while_a_part_may_still_move_or_all_is_as_asked_there_is_nothing_to_accept(
    stage: Stage, second: str
) -> None:
    _, intent = split(stage, second=second)
    state = {"PENDING": "pending", "SUCCESS": "confirmed"}[second]
    with pytest.raises(NotAcceptable):
        take(intent)
    assert fresh(intent).state == state


@pytest.mark.parametrize("state", ["proposed", "unknown", "failed"])
def test_where_nothing_stands_there_is_nothing_to_accept(stage: Stage, state: str) -> None:
    if state == "unknown":
        stage.shop.fault(FaultKind.LOST_BEFORE, operation="refundCreate")
    stage.shop.gateway("manual", answers="FAILURE")
    intent = stage.propose(stage.case())
    if state != "proposed":
        intent = stage.work(intent)
    assert intent.state == state
    with pytest.raises(NotAcceptable):
        take(intent, amount=Money.zero("EUR"))
    assert fresh(intent).state == state


def test_another_amount_than_was_asked_is_accepted_by_what_the_store_says(stage: Stage) -> None:
    wrong = {"amount": "12.49", "times": 1}
    stage.shop.fault(FaultKind.WRONG_AMOUNT, operation="refundCreate", **wrong)
    intent = stage.work(stage.propose(stage.case()))
    assert (intent.state, intent.needs_human_reason) == ("pending", "mismatch")
    with pytest.raises(AnotherAmount):
        take(intent, amount=parse_money("12.50", "EUR"))
    accepted = take(intent, amount=parse_money("12.49", "EUR"))
    assert (accepted.state, accepted.needs_human_reason) == ("accepted", "")


def test_many_clicks_accept_once(stage: Stage) -> None:
    _, intent = split(stage)

    def click(by: Actor) -> bool:
        try:
            take(intent, by=by)
        except NotAcceptable:
            return False
        return True

    said = at_once(*[partial(click, by) for by in (PERSON, SECOND, TEAM) * 4])
    assert said.count(True) == 1
    assert fresh(intent).events.filter(name="accepted").count() == 1


def test_what_was_accepted_is_reversed_when_the_store_takes_it_back(stage: Stage) -> None:
    _, intent = split(stage)
    assert reverse(stage, take(intent)).needs_human_reason == "reversed"


# --- The rest ------------------------------------------------------------------------------------


def test_the_rest_is_another_intent_and_never_more_than_what_is_missing(stage: Stage) -> None:
    case, intent = split(stage)
    with pytest.raises(NoRest):
        stage.propose(case, amount="30.00", remainder_of=intent)
    accepted = take(intent)
    with pytest.raises(MoreThanTheRest) as more:
        stage.propose(case, amount="30.01", remainder_of=accepted)
    assert more.value.rest == THIRTY
    part = stage.propose(case, amount="20.00", remainder_of=accepted)
    assert (part.remainder_of_id, missing_money(accepted)) == (
        accepted.pk,
        parse_money("10.00", "EUR"),
    )
    with pytest.raises(MoreThanTheRest):
        stage.propose(case, amount="10.01", remainder_of=accepted)
    assert stage.propose(case, amount="20.00", remainder_of=accepted).pk == part.pk
    assert Intent.objects.count() == 2


def test_the_rest_of_another_ticket_or_order_is_nobodys_here(stage: Stage) -> None:
    case, intent = split(stage)
    accepted = take(intent)
    for other in (stage.another_ticket(case), stage.case()):
        with pytest.raises(NoRest):
            stage.propose(other, amount="30.00", remainder_of=accepted)
    assert Intent.objects.count() == 1


def test_the_rest_of_what_was_reversed_is_asked_for_by_a_person_alone(stage: Stage) -> None:
    case, intent = split(stage)
    gone = reverse(stage, take(intent))
    assert missing_money(gone) == parse_money("80.00", "EUR")
    with pytest.raises(PersonRepeats):
        stage.propose(case, amount="80.00", by=AGENT, remainder_of=gone)
    rest = stage.propose(case, amount="80.00", by=PERSON, remainder_of=gone)
    assert (rest.remainder_of_id, missing_money(gone)) == (gone.pk, Money.zero("EUR"))


def test_what_a_rest_was_to_make_up_for_is_missing_again_where_it_ended_without(
    stage: Stage,
) -> None:
    case, intent = split(stage)
    accepted = take(intent)
    stage.policy(cap="29.99")
    rest = stage.propose(case, amount="30.00", remainder_of=accepted)
    assert (rest.state, missing_money(accepted)) == ("refused", THIRTY)


def test_many_who_ask_for_the_rest_at_once_never_get_more_than_it(stage: Stage) -> None:
    case, intent = split(stage)
    accepted = take(intent)

    def ask(cents: int) -> bool:
        try:
            stage.propose(case, amount=f"10.{cents:02}", remainder_of=accepted)
        except MoreThanTheRest:
            return False
        return True

    said = at_once(*[partial(ask, cents) for cents in range(12)])
    assert said.count(True) == 2
    assert missing_money(accepted) < parse_money("10.00", "EUR")
