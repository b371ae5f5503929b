"""Closing over HTTP: resolved over outcomes or a person's word, unresolved with a reason."""

import pytest

from actions.models import Intent, Outcome
from actions.states import State
from tests.caller import Caller
from tests.factories import (
    AI,
    NODE,
    confirmed_intent,
    intent_in,
    make_intent,
    make_request,
    make_ticket,
    unknown_intent,
)
from tickets.models import Resolution, Ticket

pytestmark = pytest.mark.django_db(transaction=True)


def close_of(ticket: Ticket) -> str:
    """Return the address at which a ticket is closed."""
    return f"tickets/{ticket.public_id}/close/"


def test_a_ticket_without_a_request_is_not_resolved() -> None:
    ticket = make_ticket()
    answer = Caller(ticket.workspace, AI).post(close_of(ticket), {"status": "resolved"})
    assert (answer.status, answer.problem) == (409, "not-resolvable")
    assert answer.body["errors"] == {
        "status": ["state what the customer asked for: a resolved ticket needs a request"]
    }
    assert not Resolution.objects.exists()


def test_a_request_without_an_outcome_is_named() -> None:
    ticket = make_ticket()
    request = make_request(ticket=ticket)
    answer = Caller(ticket.workspace, AI).post(close_of(ticket), {"status": "resolved"})
    assert answer.body["errors"] == {
        "status": [f"{request.public_id} (refund) has no confirmed action that is what was asked"]
    }
    assert not Resolution.objects.exists()


def test_a_person_says_why_something_else_fulfils_a_request() -> None:
    ticket = make_ticket()
    request = make_request(ticket=ticket)
    word = {"request": request.public_id, "why": "The customer took a voucher instead"}
    said = {"status": "resolved", "fulfilments": [word]}
    by_ai = Caller(ticket.workspace, AI).post(close_of(ticket), said)
    assert (by_ai.status, by_ai.problem) == (409, "not-resolvable")
    assert not Outcome.objects.exists()
    by_person = Caller(ticket.workspace, NODE).post(close_of(ticket), said)
    assert (by_person.status, by_person.body["resolver"]) == (200, "ai_with_human_node")
    (outcome,) = by_person.body["requests"][0]["outcomes"]
    assert outcome == {
        "external_reference": None,
        "intent": None,
        "stated_by_a_person": True,
        "by": {"kind": "human_node", "identity": "node-1"},
        "created_at": outcome["created_at"],
    }
    assert b"voucher" not in by_person.response.content


def test_an_outcome_that_already_fulfils_one_request_is_refused_for_another() -> None:
    intent = confirmed_intent()
    ticket = intent.ticket
    other = make_request(ticket=ticket, target="gid://shopify/Order/other")
    words = [
        {"request": row.public_id, "why": "the same refund", "intent": intent.public_id}
        for row in (intent.request, other)
    ]
    said = {"status": "resolved", "fulfilments": words}
    answer = Caller(ticket.workspace, NODE).post(close_of(ticket), said)
    assert (answer.status, answer.problem) == (409, "conflict")
    assert answer.body["detail"] == (
        "The database refused this; nothing was written. Read it again and decide anew."
    )
    assert not Outcome.objects.exists()
    assert not Resolution.objects.exists()


@pytest.mark.parametrize("of", ["request", "intent"])
def test_a_word_about_what_is_elsewhere_is_404(of: str) -> None:
    ticket = make_ticket()
    request = make_request(ticket=ticket)
    neighbour = make_intent(ticket=make_ticket(workspace=ticket.workspace))
    foreign = make_intent()
    caller = Caller(ticket.workspace, NODE)
    for elsewhere in (neighbour, foreign, None):
        row = elsewhere and getattr(elsewhere, of, elsewhere)
        word = {"request": request.public_id, "why": "because"}
        word[of] = row.public_id if row else "x_none"
        answer = caller.post(close_of(ticket), {"status": "resolved", "fulfilments": [word]})
        assert (answer.status, answer.problem) == (404, "not-found")
        assert list(answer.body["errors"]) == [f"fulfilments.0.{of}"]
    assert not Outcome.objects.exists()


def test_a_request_is_named_once_and_as_it_stands() -> None:
    ticket = make_ticket()
    first = make_request(ticket=ticket)
    make_request(ticket=ticket, revises=first)
    caller = Caller(ticket.workspace, NODE)
    word = {"request": first.public_id, "why": "because"}
    answer = caller.post(close_of(ticket), {"status": "resolved", "fulfilments": [word]})
    assert (answer.status, list(answer.body["errors"])) == (400, ["fulfilments.0.request"])
    standing = ticket.request_set.get(number=2)
    twice = [{"request": standing.public_id, "why": "because"}] * 2
    answer = caller.post(close_of(ticket), {"status": "resolved", "fulfilments": twice})
    assert (answer.status, list(answer.body["errors"])) == (400, ["fulfilments.1.request"])
    assert not Outcome.objects.exists()


def test_closing_unresolved_withdraws_the_unsent_and_keeps_the_reason() -> None:
    intent = intent_in(State.HELD)
    caller = Caller(intent.workspace, AI)
    said = {"status": "closed_unresolved", "reason": "withdrawn_by_customer"}
    closed = caller.post(close_of(intent.ticket), said)
    assert (closed.status, closed.body["status"], closed.body["resolver"]) == (
        200,
        "closed_unresolved",
        None,
    )
    assert closed.body["intents"][0]["state"] == "withdrawn"
    assert closed.body["resolutions"][0]["reason"] == "withdrawn_by_customer"
    again = caller.post(close_of(intent.ticket), said)
    assert (again.status, again.body) == (200, closed.body)
    other = caller.post(close_of(intent.ticket), said | {"reason": "spam"})
    assert (other.status, other.problem) == (409, "ticket-not-open")
    assert Resolution.objects.count() == 1


def test_only_a_person_closes_over_what_is_on_its_way() -> None:
    intent = unknown_intent()
    said = {"status": "closed_unresolved", "reason": "unknowable"}
    by_ai = Caller(intent.workspace, AI).post(close_of(intent.ticket), said)
    assert (by_ai.status, by_ai.problem) == (409, "not-resolvable")
    assert by_ai.body["errors"] == {
        "status": [
            f"{intent.public_id} is unknown: wait until it is settled",
            "only a person may close over what is on its way",
        ]
    }
    assert not Resolution.objects.exists()
    by_person = Caller(intent.workspace, NODE).post(close_of(intent.ticket), said)
    assert (by_person.status, by_person.body["status"]) == (200, "closed_unresolved")
    assert Intent.objects.get().state == State.UNKNOWN


@pytest.mark.parametrize(
    ("said", "errors"),
    [
        ({}, {"status": ["It is missing; give it."]}),
        ({"status": "open"}, {"status": ["It must be one of: resolved, closed_unresolved."]}),
        ({"status": "closed_unresolved"}, {"reason": ["It is missing; say why."]}),
        (
            {"status": "resolved", "reason": "spam"},
            {"reason": ["A resolved ticket has outcomes instead of a reason; leave it out."]},
        ),
        (
            {
                "status": "closed_unresolved",
                "reason": "spam",
                "fulfilments": [{"request": "req_1", "why": "because"}],
            },
            {"fulfilments": ["They belong to `resolved`; leave them out."]},
        ),
        (
            {"status": "resolved", "fulfilments": [{"request": "req_1", "why": ""}]},
            {"fulfilments.0.why": ["It is empty; give it or leave it out."]},
        ),
    ],
)
def test_what_can_not_be_taken_is_400(said: object, errors: object) -> None:
    ticket = make_ticket()
    answer = Caller(ticket.workspace, NODE).post(close_of(ticket), said)
    assert (answer.status, answer.body["errors"]) == (400, errors)
    assert not Resolution.objects.exists()
