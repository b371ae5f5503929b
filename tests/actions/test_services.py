"""Proposing and taking back: one wish is one row, and what was sent can't be unsent."""

from datetime import timedelta

import pytest

from actions.boundaries import Boundary
from actions.catalogue import InvalidParameters, UnknownKind
from actions.models import Intent
from actions.services import AlreadySettled, NoStore, Wish, propose, withdraw
from integrations.sandbox.faults import FaultKind
from tests.factories import make_ticket
from tests.stage import AGENT, PERSON, Stage
from tickets.services import NotOpen

pytestmark = pytest.mark.django_db(transaction=True)

ORDER = "gid://shopify/Order/1"


def test_the_same_wish_gives_the_same_row_whoever_proposes_it_and_however_it_is_spelled(
    stage: Stage,
) -> None:
    case = stage.case()
    first = stage.propose(case, amount="12.50", by=AGENT)
    assert stage.propose(case, amount="12.5", by=PERSON).pk == first.pk
    assert Intent.objects.count() == 1
    assert first.proposer == AGENT


def test_another_amount_ticket_or_order_is_another_wish(stage: Stage) -> None:
    case = stage.case()
    keys = {
        stage.propose(case).key,
        stage.propose(case, amount="13.00").key,
        stage.propose(stage.another_ticket(case)).key,
        stage.propose(stage.case()).key,
    }
    assert len(keys) == 4


def test_a_wish_is_answered_with_its_row_even_after_its_ticket_is_closed(stage: Stage) -> None:
    case = stage.case()
    intent = stage.work(stage.propose(case))
    stage.resolve(case)
    assert stage.propose(case).pk == intent.pk
    with pytest.raises(NotOpen):
        stage.propose(case, amount="1.00")


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"kind": "gift"}, UnknownKind),
        ({"parameters": {"order": "1001", "amount": "1.00", "currency": "EUR"}}, InvalidParameters),
        ({"parameters": {"order": ORDER, "amount": "-1", "currency": "EUR"}}, InvalidParameters),
        ({"parameters": {"order": ORDER, "amount": "1.00"}}, InvalidParameters),
    ],
)
def test_what_can_not_be_understood_leaves_no_row(
    stage: Stage, changes: dict[str, object], error: type[Exception]
) -> None:
    case = stage.case()
    wish: dict[str, object] = {
        "kind": "refund",
        "request": case.request,
        "parameters": {"order": case.order.id, "amount": "1.00", "currency": "EUR"},
    }
    with pytest.raises(error):
        propose(ticket=case.ticket, wish=Wish(**{**wish, **changes}), by=AGENT, at=stage.now())  # type: ignore[arg-type]  # wrong on purpose
    assert Intent.objects.count() == 0
    assert stage.shop.requests() == ()


def test_without_a_store_nothing_is_recorded(stage: Stage) -> None:
    case = stage.case()
    parameters = {"order": case.order.id, "amount": "1.00", "currency": "EUR"}
    wish = Wish(kind="refund", request=case.request, parameters=parameters)
    with pytest.raises(NoStore):
        propose(ticket=make_ticket(), wish=wish, by=AGENT, at=stage.now())
    assert Intent.objects.count() == 0


def test_what_was_never_sent_is_withdrawn_and_never_sent(stage: Stage) -> None:
    intent = stage.propose(stage.case())
    withdrawn = withdraw(intent=intent, by=PERSON, at=stage.now())
    assert (withdrawn.state, withdrawn.due_at) == ("withdrawn", None)
    assert stage.work(intent).state == "withdrawn"
    assert stage.shop.requests() == ()
    last = intent.events.order_by("-number")[0]
    assert (last.by_kind, last.by_identity) == ("human_node", "node-1")


def test_taking_back_twice_is_taking_back_once(stage: Stage) -> None:
    intent = stage.propose(stage.case())
    first = withdraw(intent=intent, by=PERSON, at=stage.now())
    second = withdraw(intent=intent, by=PERSON, at=stage.now())
    assert (second.state, second.event_count) == ("withdrawn", first.event_count)


def test_what_was_sent_ends_as_the_store_says_and_is_not_sent_again(stage: Stage) -> None:
    stage.shop.fault(FaultKind.LOST_BEFORE, operation="refundCreate")
    intent = stage.work(stage.propose(stage.case()))
    assert intent.state == "unknown"
    taken_back = withdraw(intent=intent, by=PERSON, at=stage.now())
    assert taken_back.state == "unknown"
    assert taken_back.resend_ended_at is not None
    intent = stage.settle(intent)
    assert (intent.state, intent.state_reason) == ("failed", "absent")
    assert len(stage.shop.requests(operation="refundCreate")) == 1
    assert stage.shop.effects() == ()


def test_what_was_executed_and_taken_back_meanwhile_is_still_confirmed(stage: Stage) -> None:
    stage.shop.fault(FaultKind.LOST_AFTER, operation="refundCreate")
    stage.shop.fault(FaultKind.READ_ERROR, operation="order", skip=1)
    intent = stage.work(stage.propose(stage.case()))
    withdraw(intent=intent, by=PERSON, at=stage.now())
    assert stage.settle(intent).state == "confirmed"


def test_what_has_ended_can_not_be_taken_back(stage: Stage) -> None:
    intent = stage.work(stage.propose(stage.case()))
    with pytest.raises(AlreadySettled):
        withdraw(intent=intent, by=PERSON, at=stage.now())
    intent.refresh_from_db()
    assert intent.state == "confirmed"


def test_a_worker_that_holds_a_withdrawn_intents_facts_sends_nothing(stage: Stage) -> None:
    intent = stage.propose(stage.case())

    def take_back() -> None:
        withdraw(intent=intent, by=PERSON, at=stage.now())

    with stage.at(Boundary.FACTS_READ, take_back):
        intent = stage.work(intent)
    assert intent.state == "withdrawn"
    assert stage.shop.requests(operation="refundCreate") == ()


def test_the_reason_is_sealed_with_the_customers_key(stage: Stage) -> None:
    intent = stage.propose(stage.case())
    assert intent.reason is not None
    assert intent.ticket.customer is not None
    assert b"parcel" not in bytes(intent.reason.sealed)
    assert intent.reason.subject_key_id == intent.ticket.customer.subject_key_id


def test_a_key_protects_for_twenty_hours_from_the_first_send_that_may_have_left(
    stage: Stage,
) -> None:
    stage.shop.fault(FaultKind.THROTTLED, operation="refundCreate")
    intent = stage.work(stage.propose(stage.case()))
    assert (intent.first_sent_at, intent.resend_until) == (None, None)
    intent = stage.settle(intent)
    first, second = intent.attempts.order_by("number")
    assert intent.first_sent_at == second.started_at > first.started_at
    assert intent.resend_until == second.started_at + timedelta(hours=20)
