"""Stating a request: once however often it is sent, revised and never deleted."""

import pytest

from tests.caller import Caller
from tests.factories import AI, NODE, make_request, make_ticket
from tickets.models import Request, Ticket, TicketStatus

pytestmark = pytest.mark.django_db(transaction=True)

ASKED = {
    "kind": "refund",
    "target": "gid://shopify/Order/1001",
    "amount": "12.50",
    "currency": "EUR",
    "text": "I want my money back",
}


@pytest.fixture
def ticket() -> Ticket:
    return make_ticket()


@pytest.fixture
def caller(ticket: Ticket) -> Caller:
    return Caller(ticket.workspace, AI)


def test_a_new_request_is_201_with_its_document(ticket: Ticket, caller: Caller) -> None:
    answer = caller.post(f"tickets/{ticket.public_id}/requests/", ASKED)
    request = Request.objects.get()
    assert answer.status == 201
    assert answer.body == {
        "id": request.public_id,
        "number": 1,
        "kind": "refund",
        "target": "gid://shopify/Order/1001",
        "amount": "12.50",
        "currency": "EUR",
        "stated_by": {"kind": "ai", "identity": "agent-1"},
        "revises": None,
        "revised_by": None,
        "created_at": answer.body["created_at"],
        "outcomes": [],
    }
    shown = caller.get(f"tickets/{ticket.public_id}/")
    assert shown.body["requests"] == [answer.body]
    assert shown.body["status"] == "in_progress"


def test_the_same_statement_again_is_200_with_the_first(ticket: Ticket, caller: Caller) -> None:
    first = caller.post(f"tickets/{ticket.public_id}/requests/", ASKED)
    again = Caller(ticket.workspace, NODE).post(f"tickets/{ticket.public_id}/requests/", ASKED)
    assert (first.status, again.status) == (201, 200)
    assert again.body == first.body
    assert Request.objects.count() == 1


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "cancel_order"},
        {"target": "gid://shopify/Order/1002"},
        {"amount": "12.51"},
        {"currency": "USD"},
        {"text": "And an apology"},
        {"text": ""},
    ],
)
def test_another_statement_is_another_request(
    ticket: Ticket, caller: Caller, change: dict[str, str]
) -> None:
    caller.post(f"tickets/{ticket.public_id}/requests/", ASKED)
    other = caller.post(f"tickets/{ticket.public_id}/requests/", ASKED | change)
    assert (other.status, other.body["number"]) == (201, 2)


def test_a_revision_replaces_and_keeps_what_it_revises(ticket: Ticket, caller: Caller) -> None:
    path = f"tickets/{ticket.public_id}/requests/"
    first = caller.post(path, ASKED).body["id"]
    revision = {**ASKED, "amount": "10.00", "revises": first}
    revised = caller.post(path, revision)
    assert (revised.status, revised.body["revises"]) == (201, first)
    again = caller.post(path, revision)
    assert (again.status, again.body["id"]) == (200, revised.body["id"])
    shown = caller.get(f"tickets/{ticket.public_id}/").body["requests"]
    assert [(row["id"], row["revised_by"]) for row in shown] == [
        (first, revised.body["id"]),
        (revised.body["id"], None),
    ]
    other = caller.post(path, {**ASKED, "amount": "9.00", "revises": first})
    assert (other.status, other.problem) == (409, "already-revised")
    assert Request.objects.count() == 2


@pytest.mark.parametrize(
    ("change", "errors"),
    [
        (
            {"amount": 12.5},
            {"amount": ["It must be text, in quotes."]},
        ),
        (
            {"amount": "12.505"},
            {"amount": ["'12.505' has more decimals than the 2 of EUR; write it as 12.50."]},
        ),
        (
            {"amount": "0"},
            {"amount": ["0 EUR is nothing; ask for more than zero."]},
        ),
        (
            {"currency": "eur"},
            {
                "currency": [
                    "'eur' is not an active ISO 4217 currency; write its code in capitals, as EUR."
                ]
            },
        ),
        (
            {"kind": "Give me money"},
            {"kind": ["It must be a word in small letters, as refund or change_address."]},
        ),
    ],
)
def test_what_can_not_be_taken_is_400(
    ticket: Ticket, caller: Caller, change: dict[str, object], errors: object
) -> None:
    answer = caller.post(f"tickets/{ticket.public_id}/requests/", ASKED | change)
    assert (answer.status, answer.problem, answer.body["errors"]) == (400, "invalid-fields", errors)
    assert not Request.objects.exists()


@pytest.mark.parametrize("missing", ["amount", "currency"])
def test_amount_and_currency_go_together(ticket: Ticket, caller: Caller, missing: str) -> None:
    said = {name: value for name, value in ASKED.items() if name != missing}
    answer = caller.post(f"tickets/{ticket.public_id}/requests/", said)
    assert answer.status == 400
    assert answer.body["errors"] == {
        missing: ["Amount and currency go together: give both, or neither."]
    }


def test_a_request_of_another_ticket_can_not_be_revised(ticket: Ticket, caller: Caller) -> None:
    elsewhere = make_request(ticket=make_ticket(workspace=ticket.workspace))
    for revises in (elsewhere.public_id, make_request(ticket=make_ticket()).public_id, "req_none"):
        answer = caller.post(f"tickets/{ticket.public_id}/requests/", ASKED | {"revises": revises})
        assert (answer.status, answer.problem) == (404, "not-found")
        assert answer.body["errors"] == {
            "revises": ["The ticket has no such request; its document lists those it has."]
        }
    assert not ticket.request_set.exists()


def test_a_closed_ticket_takes_no_request(ticket: Ticket, caller: Caller) -> None:
    said = {"status": "closed_unresolved", "reason": "spam"}
    assert caller.post(f"tickets/{ticket.public_id}/close/", said).status == 200
    answer = caller.post(f"tickets/{ticket.public_id}/requests/", ASKED)
    assert (answer.status, answer.problem) == (409, "ticket-not-open")
    assert answer.body["detail"] == (
        "The ticket is closed or handed over: reopen it or take it back first."
    )
    assert not Request.objects.exists()


def test_a_reopened_ticket_takes_requests_again(ticket: Ticket, caller: Caller) -> None:
    said = {"status": "closed_unresolved", "reason": "silence"}
    caller.post(f"tickets/{ticket.public_id}/close/", said)
    reopened = caller.post(f"tickets/{ticket.public_id}/reopen/")
    assert (reopened.status, reopened.body["status"], reopened.body["resolver"]) == (
        200,
        "in_progress",
        None,
    )
    (resolution,) = reopened.body["resolutions"]
    assert (resolution["reason"], resolution["reopened_by"]) == (
        "silence",
        {"kind": "ai", "identity": "agent-1"},
    )
    assert resolution["reopened_at"] is not None
    assert caller.post(f"tickets/{ticket.public_id}/requests/", ASKED).status == 201


def test_an_open_ticket_stays_as_it_is_when_reopened(ticket: Ticket, caller: Caller) -> None:
    before = caller.get(f"tickets/{ticket.public_id}/")
    reopened = caller.post(f"tickets/{ticket.public_id}/reopen/", {})
    assert (reopened.status, reopened.body) == (200, before.body)


def test_a_ticket_with_the_brands_team_is_not_reopened(ticket: Ticket, caller: Caller) -> None:
    Ticket.objects.filter(pk=ticket.pk).update(status=TicketStatus.HANDED_OVER)
    answer = caller.post(f"tickets/{ticket.public_id}/reopen/")
    assert (answer.status, answer.problem) == (409, "handed-over")
    assert caller.get(f"tickets/{ticket.public_id}/").body["status"] == "handed_over"
