"""One ticket's page: path, requests with outcomes, intents, closings, messages."""

import pytest
from django.test import Client

from actions.states import State
from integrations import sealed
from integrations.clock import now
from tests.factories import (
    NODE,
    intent_in,
    make_request,
    make_ticket,
    make_workspace,
    resolved_ticket,
)
from tests.factories.rows import make_customer
from tests.razviel.console.brands import member_of, page_of
from tests.razviel.console.test_intent_page import HOSTILE, words
from tickets.models import Direction, Ticket
from tickets.services import record_message, reopen

pytestmark = pytest.mark.django_db


def shown(ticket: Ticket, client: Client | None = None) -> str:
    """Return the main part of a ticket's page."""
    answer = (client or member_of(ticket.workspace)).get(page_of(ticket))
    assert answer.status_code == 200
    content = answer.content.decode()
    return content[content.index('id="content"') :]


def test_a_resolved_ticket_shows_resolver_outcome_and_closing() -> None:
    ticket = resolved_ticket()
    refund = ticket.intent_set.get().external_objects.get().identifier
    content = words(shown(ticket))
    assert "resolved every request has its outcome" in content
    assert "Resolver ai" in content
    assert f"Outcome {refund} by {ticket.intent_set.get().public_id}" in content
    assert "Resolved , resolver ai, by ai agent-1" in content
    assert "the API, which has no reply channel" in content


def test_a_reopened_ticket_keeps_its_closing_and_says_so() -> None:
    ticket = resolved_ticket()
    reopen(ticket, by=NODE, at=now())
    content = words(shown(ticket))
    assert "Resolver none: it is not resolved" in content
    assert "Reopened by human node node-1" in content
    assert "this closing is no longer durable" in content


def test_the_path_is_told_in_order() -> None:
    ticket = resolved_ticket()
    reopen(ticket, by=NODE, at=now())
    content = words(shown(ticket))
    assert content.index("ai agent-1 since") < content.index("human node node-1 since")


@pytest.mark.parametrize("state", [State.CONFIRMED, State.UNKNOWN, State.REFUSED])
def test_each_intent_stands_with_its_state_and_its_page(state: State) -> None:
    intent = intent_in(state)
    content = shown(intent.ticket)
    assert page_of(intent) in content
    assert ">12.50 EUR<" in content


def test_a_revised_request_stays_in_the_record() -> None:
    ticket = make_ticket()
    first = make_request(ticket=ticket)
    make_request(ticket=ticket, number=2, revises=first)
    content = words(shown(ticket))
    assert "1. refund 12.50 EUR" in content
    assert "2. refund 12.50 EUR" in content
    assert "Revises request 1" in content


def test_hostile_subjects_and_messages_are_text() -> None:
    workspace = make_workspace()
    customer = make_customer(workspace=workspace)
    key = customer.subject_key
    subject = sealed.seal(subject_key=key, field="ticket.subject", text=HOSTILE)
    ticket = make_ticket(workspace=workspace, customer=customer, subject=subject, channel="<b>x")
    text = sealed.seal(subject_key=key, field="request.text", text=HOSTILE)
    make_request(ticket=ticket, text=text)
    record_message(
        ticket=ticket,
        external_id="<i>1",
        direction=Direction.FROM_CUSTOMER,
        body=HOSTILE,
        sent_at=now(),
    )
    client = member_of(workspace)
    for content in (shown(ticket, client), client.get("/console/tickets/ticket/").content.decode()):
        assert "<script>alert" not in content
        assert "<img" not in content
        assert "<b>x" not in content
        assert "<i>1" not in content
        assert '<bdi class="rz-text">&lt;script&gt;alert(1)&lt;/script&gt;' in content


def test_lines_of_a_message_are_kept() -> None:
    ticket = make_ticket()
    record_message(
        ticket=ticket,
        external_id="m",
        direction=Direction.FROM_CUSTOMER,
        body="one\ntwo",
        sent_at=now(),
    )
    assert '<bdi class="rz-text">one\ntwo</bdi>' in shown(ticket)


def test_an_erased_customer_s_words_read_erased_everywhere() -> None:
    workspace = make_workspace()
    customer = make_customer(workspace=workspace)
    key = customer.subject_key
    ticket = make_ticket(
        workspace=workspace,
        customer=customer,
        subject=sealed.seal(subject_key=key, field="ticket.subject", text="private subject"),
    )
    make_request(
        ticket=ticket, text=sealed.seal(subject_key=key, field="request.text", text="private text")
    )
    record_message(
        ticket=ticket,
        external_id="m",
        direction=Direction.FROM_CUSTOMER,
        body="private body",
        sent_at=now(),
    )
    sealed.destroy(key)
    client = member_of(workspace)
    content = shown(ticket, client)
    listed = client.get("/console/tickets/ticket/").content.decode()
    assert content.count('<span class="rz-none">erased</span>') == 4
    assert '<span class="rz-none">erased</span>' in listed
    for private in ("private", "customer@example.com"):
        assert private not in content
        assert private not in listed


def test_a_broken_seal_is_said_and_breaks_no_page() -> None:
    workspace = make_workspace()
    customer, other = (make_customer(workspace=workspace) for _ in range(2))
    foreign = sealed.seal(subject_key=other.subject_key, field="ticket.subject", text="words")
    broken = type(foreign).objects.create(
        workspace=workspace, subject_key=customer.subject_key, field="x", sealed=foreign.sealed
    )
    ticket = make_ticket(workspace=workspace, customer=customer, subject=broken)
    assert "can&#x27;t be read: the seal is broken or its key is missing" in shown(ticket)


def test_a_page_asks_the_same_number_of_questions_however_much_was_done(
    django_assert_num_queries: object,
) -> None:
    intent = intent_in(State.CONFIRMED)
    ticket, client = intent.ticket, member_of(intent.workspace)
    shown(ticket, client)
    with django_assert_num_queries(15):  # type: ignore[operator]
        shown(ticket, client)
    for number in range(4):
        intent_in(State.CONFIRMED, ticket=ticket)
        make_request(ticket=ticket)
        record_message(
            ticket=ticket,
            external_id=f"m{number}",
            direction=Direction.INTERNAL,
            body="x",
            sent_at=now(),
        )
    with django_assert_num_queries(15):  # type: ignore[operator]
        shown(ticket, client)
