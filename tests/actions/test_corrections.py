"""What the store refused: its words stand, a correction is linked to it, or it waits for a person.

And what failed and succeeds all the same later: shown at once, closed by a person's word alone.
"""

from datetime import timedelta
from decimal import Decimal
from functools import partial

import pytest

from actions.accepting import accept
from actions.approving import reject
from actions.boundaries import Boundary
from actions.closing import Fulfilment, NotResolvable, resolve
from actions.linking import (
    AlreadyCorrected,
    MoreThanTheRest,
    NotCorrectable,
    PersonCorrects,
    RepeatAsks,
    missing_money,
)
from actions.models import Intent, Outcome
from actions.queries import may_be_said_of
from actions.services import withdraw
from integrations.actors import Actor
from integrations.clock import now
from integrations.money import Money, parse_money
from integrations.sandbox.faults import FaultKind
from integrations.sandbox.records import Payment
from tests.stage import AGENT, PERSON, TEAM, Case, Stage, fresh

pytestmark = pytest.mark.django_db(transaction=True)


def rejected(stage: Stage, case: Case) -> Intent:
    """Have the store reject 60.00 EUR, since staff took 50.00 of 100.00 in the last instant."""
    intent = stage.propose(case, amount="60.00")
    staff = partial(stage.shop.refund_by_staff, case.order.id, amount="50.00")
    with stage.at(Boundary.GATED, staff):
        intent = stage.work(intent)
    assert (intent.state, intent.state_reason) == ("failed", "rejected")
    return intent


def money_failed(stage: Stage, case: Case) -> Intent:
    """Have the payment provider fail it."""
    stage.shop.gateway("manual", answers="FAILURE")
    intent = stage.work(stage.propose(case, amount="60.00"))
    stage.shop.gateway("manual", answers="SUCCESS")
    assert (intent.state, intent.state_reason) == ("failed", "money_failed")
    return intent


def test_what_the_store_refused_stands_with_its_code_and_words_before_a_person(
    stage: Stage,
) -> None:
    intent = rejected(stage, stage.case(amount="60.00"))
    attempt = intent.attempts.get()
    assert attempt.outcome == "rejected"
    assert attempt.outcome_reason is not None
    code, _, words = attempt.outcome_reason.partition(": ")
    event = intent.events.get(name="failed")
    assert event.reason == f"the store rejected it: {code}"
    assert words
    assert (intent.needs_human_reason, intent.due_at) == ("rejected", None)
    assert len(stage.shop.effects()) == 1


@pytest.mark.parametrize("by", [AGENT, PERSON])
def test_a_correction_is_linked_and_once_it_stands_takes_what_it_corrects_from_before_the_person(
    stage: Stage, by: Actor
) -> None:
    case = stage.case(amount="60.00")
    first = rejected(stage, case)
    second = stage.propose(case, amount="50.00", by=by, corrects=first)
    first = fresh(first)
    assert (first.state, first.needs_human_reason) == ("failed", "rejected")
    corrected = first.events.get(name="corrected")
    assert second.public_id in corrected.body
    assert (corrected.by_kind, corrected.by_identity) == (by.kind, by.identity)
    second = stage.work(second)
    # Staff gave back just as much in the last instant: that is for a person to see.
    assert (second.corrects_id, second.state_reason) == (first.pk, "equal_effect")
    assert fresh(first).needs_human_reason == "rejected"
    with pytest.raises(AlreadyCorrected):
        stage.propose(case, amount="49.99", by=by, corrects=first)
    withdraw(intent=second, by=by, at=now())
    third = stage.work(stage.propose(case, amount="49.99", by=by, corrects=first))
    assert (third.state, third.corrects_id) == ("confirmed", first.pk)
    assert list(first.corrections.order_by("pk")) == [second, third]
    first = fresh(first)
    assert (first.state, first.needs_human_since, first.needs_human_reason) == ("failed", None, "")
    assert third.public_id in first.events.get(name="made_good").body


def test_a_correction_that_is_taken_back_unsent_leaves_what_it_corrects_before_the_person(
    stage: Stage,
) -> None:
    case = stage.case(amount="60.00")
    first = rejected(stage, case)
    stage.shop.fault(FaultKind.THROTTLED, operation="refundCreate")
    second = stage.work(stage.propose(case, amount="49.99", corrects=first))
    assert second.state == "authorized"
    withdraw(intent=second, by=AGENT, at=now())
    assert fresh(first).needs_human_reason == "rejected"


def test_a_correction_that_is_refused_leaves_what_it_corrects_before_the_person(
    stage: Stage,
) -> None:
    case = stage.case(amount="60.00")
    first = rejected(stage, case)
    second = stage.work(stage.propose(case, amount="150.00", corrects=first))
    assert second.state == "refused"
    assert fresh(first).needs_human_reason == "rejected"


def test_without_a_correction_it_stays_before_a_person(stage: Stage) -> None:
    case = stage.case(amount="60.00")
    first = rejected(stage, case)
    other = stage.work(stage.propose(case, amount="10.00"))
    assert other.state == "confirmed"
    assert fresh(first).needs_human_reason == "rejected"


def test_a_correction_of_what_failed_at_the_provider_waits_for_a_person(stage: Stage) -> None:
    """A merchant may still retry the first one by hand."""
    case = stage.case(amount="60.00")
    first = money_failed(stage, case)
    second = stage.work(stage.propose(case, amount="59.00", corrects=first))
    assert (second.state, second.state_reason) == ("held", "failed_refund_object")
    assert stage.clear(second).state == "confirmed"


def test_what_a_person_or_the_gate_refused_may_be_corrected(stage: Stage) -> None:
    stage.policy(cap="50.00", approval_above="40.00")
    case = stage.case(amount="60.00")
    over = stage.propose(case, amount="60.00")
    assert (over.state, over.state_reason) == ("refused", "over_cap")
    asked = stage.work(stage.propose(case, amount="45.00", corrects=over))
    no = reject(intent=asked, word=stage.word(asked))
    with pytest.raises(PersonCorrects):
        stage.propose(case, amount="39.00", corrects=no)
    less = stage.work(stage.propose(case, amount="39.00", by=PERSON, corrects=no))
    assert (less.state, less.corrects_id, no.corrects_id) == ("confirmed", no.pk, over.pk)
    with pytest.raises(AlreadyCorrected):
        stage.propose(case, amount="38.00", by=PERSON, corrects=no)


@pytest.mark.parametrize("state", ["proposed", "unknown", "confirmed", "withdrawn"])
def test_what_did_not_end_so_is_not_corrected(stage: Stage, state: str) -> None:
    case = stage.case()
    if state == "unknown":
        stage.shop.fault(FaultKind.LOST_BEFORE, operation="refundCreate")
    intent = stage.propose(case)
    if state == "withdrawn":
        withdraw(intent=intent, by=PERSON, at=now())
    elif state != "proposed":
        intent = stage.work(intent)
    with pytest.raises(NotCorrectable):
        stage.propose(case, amount="12.49", corrects=fresh(intent))
    assert (fresh(intent).state, Intent.objects.count()) == (state, 1)


def test_what_another_ticket_had_refused_is_not_corrected_here(stage: Stage) -> None:
    case = stage.case(amount="60.00")
    first = rejected(stage, case)
    with pytest.raises(NotCorrectable):
        stage.propose(stage.another_ticket(case), amount="49.00", corrects=first)
    assert (fresh(first).needs_human_reason, Intent.objects.count()) == ("rejected", 1)


# --- Success after failure -----------------------------------------------------------------------


def late_success(stage: Stage, case: Case) -> Intent:
    """Have the merchant retry by hand what failed, and somebody look."""
    intent = money_failed(stage, case)
    stage.shop.retry_refund(intent.external_objects.get().identifier)
    stage.read(intent)
    return fresh(intent)


def test_a_success_after_failure_stands_before_a_person_and_is_no_confirmation(
    stage: Stage,
) -> None:
    intent = late_success(stage, stage.case(amount="60.00"))
    assert (intent.state, intent.state_reason) == ("failed", "money_failed")
    assert (intent.needs_human_reason, intent.confirmed_at) == ("late_success", None)
    statuses = [e.parts.get().status for e in intent.external_objects.get().echoes.order_by("pk")]
    assert statuses == ["FAILURE", "SUCCESS"]


def test_a_persons_word_that_names_it_closes_the_ticket_and_takes_the_flag_away(
    stage: Stage,
) -> None:
    case = stage.case(amount="60.00")
    intent = late_success(stage, case)
    named = [Fulfilment(request=case.request, why="the shop retried it", intent=intent)]
    for by, fulfilments in ((AGENT, named), (AGENT, []), (PERSON, [])):
        with pytest.raises(NotResolvable):
            resolve(ticket=case.ticket, by=by, at=now(), fulfilments=fulfilments)
    assert (fresh(intent).needs_human_reason, Outcome.objects.count()) == ("late_success", 0)
    resolution = resolve(ticket=case.ticket, by=PERSON, at=now(), fulfilments=named)
    outcome = Outcome.objects.get(request=case.request)
    assert (outcome.intent_id, outcome.external_object) == (
        intent.pk,
        intent.external_objects.get(),
    )
    assert resolution.references["external_objects"] == [intent.external_objects.get().identifier]
    intent = fresh(intent)
    assert (intent.state, intent.needs_human_reason, intent.needs_human_since) == (
        "failed",
        "",
        None,
    )
    explained = intent.events.get(name="explained")
    assert (explained.by_kind, explained.by_identity) == (PERSON.kind, PERSON.identity)


def test_a_second_refund_is_held_for_the_success_that_came_late(stage: Stage) -> None:
    case = stage.case(amount="60.00", total="200.00")
    first = late_success(stage, case)
    with pytest.raises(RepeatAsks):
        stage.propose(case, amount="60.00", by=TEAM, repeat_of=first)
    stands = first.external_objects.get().identifier
    second = stage.propose(case, amount="60.00", by=TEAM, repeat_of=first, acknowledges=stands)
    assert second.occurrence == 2
    # The repeat was asked for because the first had failed: now that it stands, it is held too.
    second = stage.work(second)
    assert (second.state, second.state_reason) == ("held", "equal_effect")
    twin = stage.work(stage.propose(stage.another_ticket(case), amount="60.00"))
    assert (twin.state, twin.state_reason) == ("held", "equal_effect")
    assert len(stage.shop.effects()) == 1


def test_what_came_late_and_is_explained_is_not_shown_again(stage: Stage) -> None:
    case = stage.case(amount="60.00")
    intent = late_success(stage, case)
    named = [Fulfilment(request=case.request, why="the shop retried it", intent=intent)]
    resolve(ticket=case.ticket, by=PERSON, at=now(), fulfilments=named)
    stage.read(intent)
    assert fresh(intent).needs_human_reason == ""


def test_a_late_success_that_is_taken_back_reopens_the_ticket_that_stood_on_it(
    stage: Stage,
) -> None:
    case = stage.case(amount="60.00")
    intent = late_success(stage, case)
    named = [Fulfilment(request=case.request, why="the shop retried it", intent=intent)]
    resolve(ticket=case.ticket, by=PERSON, at=now(), fulfilments=named)
    stage.shop.settle_refund(intent.external_objects.get().identifier, "FAILURE")
    stage.read(intent)
    intent = fresh(intent)
    assert (intent.state, intent.needs_human_reason) == ("failed", "reversed")
    assert (intent.ticket.status, intent.ticket.resolver) == ("in_progress", None)
    with pytest.raises(NotResolvable):
        resolve(ticket=case.ticket, by=PERSON, at=now())


def test_nothing_else_goes_out_on_an_order_while_a_late_success_is_not_explained(
    stage: Stage,
) -> None:
    case = stage.case(amount="60.00", total="200.00")
    first = money_failed(stage, case)
    # Retried by hand, and no read of ours has seen it.
    stage.shop.retry_refund(first.external_objects.get().identifier)
    other = stage.work(stage.propose(case, amount="59.00"))
    assert (other.state, other.state_reason) == ("held", "failed_refund_object")
    stage.read(first)
    with pytest.raises(NotCorrectable):
        stage.propose(case, amount="58.00", corrects=fresh(first))
    assert len(stage.shop.effects()) == 1


# --- The rest is never more than what is missing on the order -----------------------------------


def accepted_half(stage: Stage) -> tuple[Case, Intent, str]:
    """80.00 asked over two payments: 50.00 stand and are accepted, 30.00 failed."""
    stage.shop.gateway("second", answers="FAILURE")
    payments = [Payment(amount="50.00", gateway=name) for name in ("first", "second", "third")]
    case = stage.case(amount="80.00", payments=payments, total="150.00")
    intent = stage.work(stage.propose(case, amount="80.00"))
    intent = accept(
        intent=intent, amount=parse_money("50.00", "EUR"), reason="agreed", by=PERSON, at=now()
    )
    return case, intent, intent.external_objects.get().identifier


def test_a_rest_is_refused_where_the_merchant_has_retried_meanwhile(stage: Stage) -> None:
    case, first, refund = accepted_half(stage)
    rest = stage.work(stage.propose(case, amount="30.00", remainder_of=first))
    assert (rest.state, rest.state_reason) == ("held", "failed_refund_object")
    stage.shop.retry_refund(refund)
    rest = stage.settle(rest)
    assert (rest.state, rest.state_reason) == ("refused", "over_rest")
    assert [effect.amount for effect in stage.shop.effects()] == [Decimal("80.00")]


def test_a_rest_waits_while_the_retry_is_under_way(stage: Stage) -> None:
    case, first, refund = accepted_half(stage)
    rest = stage.propose(case, amount="30.00", remainder_of=first)
    _, failed = held_transactions(stage, case)
    stage.shop.settle_refund(refund, "PENDING", transaction=failed)
    rest = stage.work(rest)
    assert (rest.state, rest.state_reason) == ("held", "reservation")
    stage.read(first)
    with pytest.raises(MoreThanTheRest):
        stage.propose(case, amount="29.00", remainder_of=fresh(first))
    assert len(stage.shop.effects()) == 1


def held_transactions(stage: Stage, case: Case) -> list[str]:
    """Return the transactions of the order's one refund."""
    (refund,) = stage.sandbox._world.shops[stage.shop.name].orders[case.order.id].refunds
    return [transaction.id for transaction in refund.transactions]


def test_more_success_than_was_accepted_stands_before_a_person(stage: Stage) -> None:
    _, first, refund = accepted_half(stage)
    stage.shop.retry_refund(refund)
    stage.read(first)
    first = fresh(first)
    assert (first.state, first.needs_human_reason) == ("accepted", "late_success")
    assert missing_money(first) == Money.zero("EUR")


def test_what_was_reversed_and_succeeds_again_stands_before_a_person(stage: Stage) -> None:
    case = stage.case(amount="60.00")
    intent = stage.work(stage.propose(case, amount="60.00"))
    refund = intent.external_objects.get().identifier
    stage.shop.settle_refund(refund, "FAILURE")
    stage.read(intent)
    assert fresh(intent).state == "reversed"
    stage.shop.retry_refund(refund)
    stage.read(intent)
    intent = fresh(intent)
    assert (intent.state, intent.needs_human_reason) == ("reversed", "late_success")
    assert missing_money(intent) == Money.zero("EUR")


def test_what_stands_in_part_of_a_reversed_intent_is_named_by_who_repeats_it(stage: Stage) -> None:
    case, first, refund = accepted_half(stage)
    stage.shop.settle_refund(refund, "FAILURE", transaction=held_transactions(stage, case)[0])
    stage.read(first)
    first = fresh(first)
    assert first.state == "reversed"
    stage.shop.settle_refund(refund, "SUCCESS", transaction=held_transactions(stage, case)[0])
    stage.read(first)
    with pytest.raises(RepeatAsks):
        stage.propose(case, amount="80.00", by=PERSON, repeat_of=fresh(first))


def test_a_fulfilment_that_names_what_does_not_stand_is_refused_in_a_sentence(
    stage: Stage,
) -> None:
    case = stage.case()
    intent = stage.work(stage.propose(case))
    stage.shop.settle_refund(intent.external_objects.get().identifier, "FAILURE")
    stage.read(intent)
    named = [Fulfilment(request=case.request, why="done", intent=fresh(intent))]
    with pytest.raises(NotResolvable, match="nothing of it stands on the platform"):
        resolve(ticket=case.ticket, by=PERSON, at=now(), fulfilments=named)


# --- What ended otherwise than asked is looked at again, with nobody asking for it ---------------


def test_a_retry_by_the_merchant_is_seen_by_itself(stage: Stage) -> None:
    case = stage.case(amount="60.00")
    intent = money_failed(stage, case)
    assert (intent.state, intent.needs_human_reason) == ("failed", "money_failed")
    assert intent.due_at is not None
    stage.shop.retry_refund(intent.external_objects.get().identifier)
    stage.pass_time(intent.due_at - now())
    intent = stage.work(intent)
    assert (intent.state, intent.needs_human_reason) == ("failed", "late_success")
    assert may_be_said_of(intent) == "The refund of 60.00 EUR is being processed."
    assert intent.due_at is not None


def test_an_accepted_part_that_is_taken_back_is_seen_by_itself(stage: Stage) -> None:
    _, intent, refund = accepted_half(stage)
    assert intent.due_at is not None
    stage.shop.settle_refund(refund, "FAILURE")
    stage.pass_time(intent.due_at - now())
    assert stage.work(intent).state == "reversed"


def test_what_ended_otherwise_is_looked_at_for_a_week_and_then_no_more(stage: Stage) -> None:
    intent = money_failed(stage, stage.case(amount="60.00"))
    began = now()
    ended = stage.settle(intent)
    assert (ended.state, ended.needs_human_reason, ended.due_at) == ("failed", "money_failed", None)
    assert timedelta(days=7) <= now() - began < timedelta(days=9)


def test_what_the_store_rejected_has_nothing_to_look_at(stage: Stage) -> None:
    assert rejected(stage, stage.case(amount="60.00")).due_at is None
