"""Closing: resolved over outcomes that the platform echoed, or unresolved with a reason."""

import pytest
from django.db import transaction

from actions.closing import Fulfilment, NotResolvable, close_unresolved, resolve
from actions.models import Outcome
from integrations.actors import Actor, ActorKind
from integrations.sandbox.faults import FaultKind
from tests.stage import AGENT, PERSON, Stage
from tickets.models import CloseReason, TicketStatus
from tickets.services import NotOpen, Statement, lock_ticket, reopen, state_request

pytestmark = pytest.mark.django_db(transaction=True)

TEAM = Actor(kind=ActorKind.BRAND_TEAM, identity="team-1")


@pytest.mark.parametrize(
    ("closed_by", "resolver"),
    [(AGENT, "ai"), (PERSON, "ai_with_human_node"), (TEAM, "brand_team")],
)
def test_a_confirmed_refund_resolves_its_ticket_with_the_same_record_whoever_closes(
    stage: Stage, closed_by: Actor, resolver: str
) -> None:
    case = stage.case()
    intent = stage.work(stage.propose(case))
    resolution = resolve(ticket=case.ticket, by=closed_by, at=stage.now())
    case.ticket.refresh_from_db()
    assert (case.ticket.status, case.ticket.resolver) == ("resolved", resolver)
    outcome = Outcome.objects.get(request=case.request)
    assert (outcome.intent_id, outcome.external_object) == (
        intent.pk,
        intent.external_objects.get(),
    )
    assert resolution.references == {
        "external_objects": [intent.external_objects.get().identifier],
        "reply_channel": "none: the ticket came by the API",
    }
    assert [entry["identity"] for entry in case.ticket.path] == list(
        dict.fromkeys(["integration-1", "agent-1", closed_by.identity])
    )


def test_a_ticket_without_a_request_does_not_resolve(stage: Stage) -> None:
    ticket = stage.ticket_without_request()
    with pytest.raises(NotResolvable, match="a resolved ticket needs a request"):
        resolve(ticket=ticket, by=AGENT, at=stage.now())
    ticket.refresh_from_db()
    assert (ticket.status, ticket.resolver, ticket.resolution_set.count()) == ("open", None, 0)


def test_a_ticket_does_not_resolve_over_what_is_on_its_way(stage: Stage) -> None:
    stage.shop.gateway("manual", answers="PENDING")
    case = stage.case()
    intent = stage.work(stage.propose(case))
    with pytest.raises(NotResolvable, match=f"{intent.public_id} is pending"):
        resolve(ticket=case.ticket, by=AGENT, at=stage.now())
    case.ticket.refresh_from_db()
    assert case.ticket.status == "in_progress"


def test_a_request_that_no_confirmed_action_answers_keeps_the_ticket_open(stage: Stage) -> None:
    case = stage.case(amount="20.00")
    stage.work(stage.propose(case, amount="12.50"))
    with pytest.raises(NotResolvable, match="has no confirmed action that is what was asked"):
        resolve(ticket=case.ticket, by=PERSON, at=stage.now())
    assert Outcome.objects.count() == 0


def test_a_person_says_why_another_amount_fulfils_a_request_and_an_ai_may_not(stage: Stage) -> None:
    case = stage.case(amount="20.00")
    intent = stage.work(stage.propose(case, amount="12.50"))
    why = [Fulfilment(request=case.request, why="she settled for the postage", intent=intent)]
    with pytest.raises(NotResolvable, match="only a Human Node or the brand's team"):
        resolve(ticket=case.ticket, by=AGENT, at=stage.now(), fulfilments=why)
    resolve(ticket=case.ticket, by=PERSON, at=stage.now(), fulfilments=why)
    outcome = Outcome.objects.get(request=case.request)
    assert (outcome.by_kind, outcome.intent_id) == ("human_node", intent.pk)
    assert outcome.statement is not None


def test_a_revised_request_counts_as_revised(stage: Stage) -> None:
    case = stage.case(amount="20.00")
    intent = stage.work(stage.propose(case, amount="12.50"))
    statement = Statement(
        kind="refund", target=case.order.id, money=intent.money, revises=case.request
    )
    state_request(ticket=case.ticket, statement=statement, by=PERSON, at=stage.now())
    resolve(ticket=case.ticket, by=AGENT, at=stage.now())
    case.ticket.refresh_from_db()
    assert (case.ticket.status, case.ticket.resolver) == ("resolved", "ai_with_human_node")


def test_closing_unresolved_takes_back_what_was_never_sent(stage: Stage) -> None:
    case = stage.case()
    intent = stage.propose(case)
    close_unresolved(ticket=case.ticket, reason=CloseReason.DECLINED, by=AGENT, at=stage.now())
    intent.refresh_from_db()
    case.ticket.refresh_from_db()
    assert (intent.state, intent.due_at) == ("withdrawn", None)
    assert (case.ticket.status, case.ticket.resolver) == ("closed_unresolved", None)
    assert stage.work(intent).state == "withdrawn"
    assert stage.shop.requests() == ()


def test_only_a_person_closes_over_an_unknown_and_it_still_ends_as_the_store_says(
    stage: Stage,
) -> None:
    stage.shop.fault(FaultKind.LOST_AFTER, operation="refundCreate")
    stage.shop.fault(FaultKind.READ_ERROR, operation="order", skip=1)
    case = stage.case()
    intent = stage.work(stage.propose(case))
    assert intent.state == "unknown"
    with pytest.raises(NotResolvable, match="only a person may close over what is on its way"):
        close_unresolved(ticket=case.ticket, reason=CloseReason.SILENCE, by=AGENT, at=stage.now())
    close_unresolved(ticket=case.ticket, reason=CloseReason.UNKNOWABLE, by=PERSON, at=stage.now())
    intent = stage.settle(intent)
    assert (intent.state, intent.needs_human_reason) == ("confirmed", "confirmed_after_close")


def test_a_closed_ticket_takes_no_proposal_and_no_request(stage: Stage) -> None:
    case = stage.case()
    close_unresolved(ticket=case.ticket, reason=CloseReason.SPAM, by=AGENT, at=stage.now())
    with pytest.raises(NotOpen):
        stage.propose(case)
    with pytest.raises(NotOpen):
        state_request(
            ticket=case.ticket, statement=Statement(kind="refund"), by=AGENT, at=stage.now()
        )
    with pytest.raises(NotOpen):
        resolve(ticket=case.ticket, by=AGENT, at=stage.now())


def test_reopening_keeps_the_resolution_and_takes_the_resolver_back(stage: Stage) -> None:
    case = stage.case()
    stage.work(stage.propose(case))
    resolution = resolve(ticket=case.ticket, by=AGENT, at=stage.now())
    with transaction.atomic():
        reopen(lock_ticket(case.ticket), by=PERSON, at=stage.now())
    case.ticket.refresh_from_db()
    resolution.refresh_from_db()
    assert (case.ticket.status, case.ticket.resolver) == (TicketStatus.IN_PROGRESS, None)
    assert (resolution.reopened_by_kind, resolution.resolver) == ("human_node", "ai")
    second = resolve(ticket=case.ticket, by=AGENT, at=stage.now())
    assert (second.resolver, case.ticket.resolution_set.count()) == ("ai_with_human_node", 2)
