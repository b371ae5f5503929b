"""Opening a ticket: the same body is the same ticket, another body a conflict."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from integrations.actors import Actor
from integrations.models import SealedPayload
from tests.caller import Answer, Caller
from tests.factories import AI, NODE, TEAM, make_workspace
from tests.stage import INTEGRATION
from tickets.models import Customer, Message, Ticket

pytestmark = pytest.mark.django_db(transaction=True)

OPENING = {
    "external_id": "case-1",
    "customer": {
        "store_identifier": "gid://shopify/Customer/1001",
        "email": "ann@example.com",
        "verified": True,
    },
    "subject": "My parcel came broken",
    "channel": "chat",
    "order_reference": "#1001",
    "message": "I want my money back",
}


def test_a_new_ticket_is_201_with_its_document() -> None:
    answer = Caller(make_workspace(), INTEGRATION).post("tickets/", OPENING)
    ticket = Ticket.objects.get()
    assert ticket.customer is not None
    opened_at = answer.body["created_at"]
    assert answer.status == 201
    assert answer.body == {
        "id": ticket.public_id,
        "source": "api",
        "external_id": "case-1",
        "status": "open",
        "desk_status": "",
        "channel": "chat",
        "order_reference": "#1001",
        "customer": {
            "id": ticket.customer.public_id,
            "store_identifier": "gid://shopify/Customer/1001",
            "verified_at": opened_at,
            "verified_by": {"kind": "system", "identity": "integration-1"},
        },
        "path": [
            {
                "kind": "system",
                "identity": "integration-1",
                "since": answer.body["path"][0]["since"],
            }
        ],
        "resolver": None,
        "reply_channel": {
            "available": False,
            "says": (
                "The ticket came by the API, which has no reply channel: "
                "answer the customer where they wrote."
            ),
        },
        "requests": [],
        "intents": [],
        "resolutions": [],
        "created_at": opened_at,
        "updated_at": opened_at,
    }


def test_no_personal_data_is_answered() -> None:
    caller = Caller(make_workspace(), INTEGRATION)
    opened = caller.post("tickets/", OPENING)
    shown = caller.get(f"tickets/{opened.body['id']}/")
    assert shown.body == opened.body
    for word in (b"ann@example.com", b"broken", b"money back"):
        assert word not in opened.response.content + shown.response.content
    assert Message.objects.count() == 1
    assert SealedPayload.objects.count() == 3


def test_the_same_body_again_is_200_with_the_first_ticket() -> None:
    workspace = make_workspace()
    first = Caller(workspace, INTEGRATION).post("tickets/", OPENING)
    again = Caller(workspace, NODE).post("tickets/", OPENING)
    assert (first.status, again.status) == (201, 200)
    assert again.body == first.body
    assert (Ticket.objects.count(), Customer.objects.count()) == (1, 1)


@pytest.mark.parametrize(
    "change",
    [
        {"subject": "Another"},
        {"customer": {"store_identifier": "gid://shopify/Customer/1001"}},
        {"message": ""},
    ],
)
def test_another_body_is_409_and_names_the_first_ticket(change: dict[str, object]) -> None:
    caller = Caller(make_workspace(), INTEGRATION)
    first = caller.post("tickets/", OPENING)
    other = caller.post("tickets/", OPENING | change)
    assert (other.status, other.problem) == (409, "opened-differently")
    assert other.body["ticket"] == first.body["id"]
    assert other.body["detail"] == (
        "A ticket with this external id was opened with another content: use another external id."
    )
    assert Ticket.objects.count() == 1


def test_the_same_external_id_in_two_workspaces_is_two_tickets() -> None:
    answers = [Caller(make_workspace(), INTEGRATION).post("tickets/", OPENING) for _ in range(2)]
    assert [answer.status for answer in answers] == [201, 201]
    assert answers[0].body["id"] != answers[1].body["id"]


@pytest.mark.parametrize(
    ("actor", "status"), [(AI, 403), (NODE, 201), (TEAM, 201), (INTEGRATION, 201)]
)
def test_an_ai_alone_may_not_state_that_a_customer_is_verified(actor: Actor, status: int) -> None:
    answer = Caller(make_workspace(), actor).post("tickets/", OPENING)
    assert answer.status == status
    assert Ticket.objects.count() == (status == 201)
    if status == 403:
        assert answer.problem == "may-not-verify"
        assert answer.body["detail"] == (
            "An AI can't state `verified`: leave it out; "
            "a Human Node or the integration may state it."
        )


def test_an_ai_may_open_a_ticket_of_an_unverified_customer() -> None:
    caller = Caller(make_workspace(), AI)
    answer = caller.post("tickets/", {"external_id": "case-1", "customer": {"verified": False}})
    assert answer.status == 201
    assert answer.body["customer"]["verified_at"] is None
    assert answer.body["customer"]["verified_by"] is None


def test_two_at_once_open_one_ticket() -> None:
    caller = Caller(make_workspace(), INTEGRATION)
    barrier = Barrier(8)

    def open_it(_: int) -> Answer:
        try:
            barrier.wait()
            return caller.post("tickets/", OPENING)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(open_it, range(8)))
    assert sorted(answer.status for answer in answers) == [200] * 7 + [201]
    assert len({answer.body["id"] for answer in answers}) == 1
    assert (Ticket.objects.count(), Customer.objects.count(), Message.objects.count()) == (1, 1, 1)
