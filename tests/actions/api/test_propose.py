"""Proposing over HTTP, the whole way: opened, proposed, worked, confirmed, closed."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from actions.models import Intent
from tests.actions.api.wishes import intents_of, wish
from tests.caller import Answer, Caller
from tests.factories import (
    make_connection,
    make_request,
    make_ticket,
    make_workspace,
)
from tests.stage import AGENT, INTEGRATION, PERSON, Stage
from tickets.models import Ticket

pytestmark = pytest.mark.django_db(transaction=True)

_OF_PARTS = ("status", "standing", "amount", "currency", "shop_amount", "shop_currency")


def test_a_refund_goes_the_whole_way_over_http(stage: Stage) -> None:
    order = stage.shop.order(currency="EUR")
    integration, agent = Caller(stage.workspace, INTEGRATION), Caller(stage.workspace, AGENT)
    customer = {"store_identifier": order.customer, "verified": True}
    ticket = integration.post("tickets/", {"external_id": "case-1", "customer": customer}).body[
        "id"
    ]
    money = {"amount": "12.50", "currency": "EUR"}
    asked = {"kind": "refund", "target": order.id} | money
    request = agent.post(f"tickets/{ticket}/requests/", asked).body["id"]
    said = {"kind": "refund", "request": request, "params": {"order": order.id} | money}
    proposed = agent.post(f"tickets/{ticket}/intents/", said)
    assert (proposed.status, proposed.body["state"]) == (202, "proposed")
    early = agent.post(f"tickets/{ticket}/close/", {"status": "resolved"})
    assert early.body["errors"] == {
        "status": [f"{proposed.body['id']} is proposed: wait until it is settled"]
    }
    stage.work(Intent.objects.get())
    shown = agent.get(f"intents/{proposed.body['id']}/").body
    (effect,) = stage.shop.effects()
    assert (shown["state"], shown["external_reference"]["identifier"]) == ("confirmed", effect.id)
    closed = agent.post(f"tickets/{ticket}/close/", {"status": "resolved"})
    assert (closed.status, closed.body["status"], closed.body["resolver"]) == (
        200,
        "resolved",
        "ai",
    )
    (outcome,) = closed.body["requests"][0]["outcomes"]
    assert outcome["external_reference"] == shown["external_reference"]
    assert (outcome["intent"], outcome["stated_by_a_person"]) == (shown["id"], False)
    assert closed.body["resolutions"][0]["references"] == {
        "external_objects": [effect.id],
        "reply_channel": "none: the ticket came by the API",
    }
    again = agent.post(f"tickets/{ticket}/close/", {"status": "resolved"})
    assert (again.status, again.body) == (200, closed.body)


def test_a_new_intent_is_202_and_promises_nothing(stage: Stage) -> None:
    case = stage.case()
    answer = Caller(stage.workspace, AGENT).post(intents_of(case), wish(case))
    intent = Intent.objects.get()
    body = answer.body
    assert answer.status == 202
    assert {
        name: body[name] for name in body if name not in ("decision", "verdicts", "events")
    } == {
        "id": intent.public_id,
        "kind": "refund",
        "state": "proposed",
        "state_reason": None,
        "since": body["created_at"],
        "already_processed": False,
        "may_be_said": "The request for a refund of 12.50 EUR is being processed.",
        "ticket": case.ticket.public_id,
        "request": case.request.public_id,
        "amount": "12.50",
        "currency": "EUR",
        "shop_amount": None,
        "shop_currency": None,
        "external_reference": None,
        "needs_human": None,
        "created_at": body["created_at"],
        "updated_at": body["created_at"],
        "connection": stage.connection.public_id,
        "target": case.order.id,
        "params": {"order": case.order.id, "amount": "12.50", "currency": "EUR"},
        "proposer": {"kind": "ai", "identity": "agent-1"},
        "reason": "the parcel came broken",
        "occurrence": 1,
        "repeat_of": None,
        "repeated_by": None,
        "corrects": None,
        "corrected_by": [],
        "may_be_corrected": False,
        "remainder_of": None,
        "remainders": [],
        "rest": None,
        "waits_for": None,
        "clearable": False,
        "evidence": [],
        "approvals": [],
        "rejection": None,
        "attempts": [],
        "echo": None,
        "window": {"first_sent_at": None, "resend_until": None, "resend_ended_at": None},
        "unknown_since": None,
        "confirmed_at": None,
        "set_aside": None,
    }
    assert [(verdict["check"], verdict["ruling"]) for verdict in body["verdicts"]] == [
        ("permitted", "allow"),
        ("grounded", "not_read"),
        ("within_limits", "allow"),
        ("not_already_done", "allow"),
    ]
    assert body["verdicts"][1]["sentence"] == "The store has not been read yet."
    assert (body["decision"]["phase"], body["decision"]["ruling"]) == ("proposal", "not_read")
    assert [event["to_state"] for event in body["events"]] == ["proposed"]
    assert stage.shop.effects() == ()


def test_a_confirmed_intent_shows_all_that_it_stands_on(stage: Stage) -> None:
    case = stage.case()
    caller = Caller(stage.workspace, AGENT)
    proposed = caller.post(intents_of(case), wish(case)).body
    intent = stage.work(Intent.objects.get())
    (effect,) = stage.shop.effects()
    body = caller.get(f"intents/{proposed['id']}/").body
    assert (body["state"], body["already_processed"], body["may_be_said"]) == (
        "confirmed",
        True,
        "12.50 EUR have been refunded.",
    )
    assert body["since"] == body["confirmed_at"] == body["updated_at"]
    reference = {
        "connection": stage.connection.public_id,
        "type": "refund",
        "identifier": effect.id,
    }
    assert body["external_reference"] == body["echo"]["external_reference"] == reference
    (part,) = body["echo"]["parts"]
    assert {name: part[name] for name in _OF_PARTS} == {
        "status": "SUCCESS",
        "standing": "succeeded",
        "amount": "12.50",
        "currency": "EUR",
        "shop_amount": "12.50",
        "shop_currency": "EUR",
    }
    assert (body["shop_amount"], body["shop_currency"]) == ("12.50", "EUR")
    assert part["identifier"].startswith("gid://shopify/OrderTransaction/")
    assert body["echo"]["brought_by"] == {"attempt": 1, "read": None}
    assert (body["echo"]["target"], body["echo"]["marker"]) == (case.order.id, intent.marker)
    (attempt,) = body["attempts"]
    assert (attempt["number"], attempt["outcome"], attempt["http_status"]) == (1, "echoed", 200)
    assert attempt["platform_request_id"]
    assert attempt["request_digest"] == intent.body_digest
    assert body["window"]["first_sent_at"] == attempt["started_at"]
    assert [verdict["ruling"] for verdict in body["verdicts"]] == ["allow"] * 4
    assert body["verdicts"][1]["sentence"] == (
        "0.00 EUR refunded + 12.50 EUR asked ≤ 100.00 EUR received, "
        "on an order of this ticket's customer."
    )
    assert [event["to_state"] for event in body["events"]] == [
        "proposed",
        "authorized",
        "executing",
        "confirmed",
    ]
    assert body["events"][0]["from_state"] is None


def test_what_was_proposed_before_is_200_with_its_state_and_since_when(stage: Stage) -> None:
    case = stage.case()
    first = Caller(stage.workspace, AGENT).post(intents_of(case), wish(case))
    person = Caller(stage.workspace, PERSON)
    unsettled = person.post(intents_of(case), wish(case, reason="another reason"))
    assert (first.status, unsettled.status) == (202, 200)
    assert unsettled.body == first.body
    assert unsettled.body["already_processed"] is False
    stage.work(Intent.objects.get())
    confirmed = person.post(intents_of(case), wish(case))
    assert (confirmed.status, confirmed.body["id"]) == (200, first.body["id"])
    assert (confirmed.body["state"], confirmed.body["already_processed"]) == ("confirmed", True)
    assert confirmed.body["since"] == confirmed.body["confirmed_at"]
    assert Intent.objects.count() == 1
    assert len(stage.shop.effects()) == 1


def test_an_amount_in_another_form_is_the_same_wish(stage: Stage) -> None:
    case = stage.case()
    caller = Caller(stage.workspace, AGENT)
    first = caller.post(intents_of(case), wish(case))
    params = {"order": case.order.id, "amount": "12.5", "currency": "EUR"}
    again = caller.post(intents_of(case), wish(case, params=params))
    assert (again.status, again.body["id"]) == (200, first.body["id"])


def test_a_proposal_that_is_refused_at_once_is_202_and_says_so(stage: Stage) -> None:
    case = stage.case(amount="250.00")
    params = {"order": case.order.id, "amount": "250.00", "currency": "EUR"}
    answer = Caller(stage.workspace, AGENT).post(intents_of(case), wish(case, params=params))
    assert answer.status == 202
    assert (answer.body["state"], answer.body["state_reason"]) == ("refused", "over_cap")
    assert answer.body["may_be_said"] == "A refund of 250.00 EUR can't be made."
    assert answer.body["already_processed"] is False
    limits = next(row for row in answer.body["verdicts"] if row["check"] == "within_limits")
    assert limits["sentence"] == "250.00 EUR asked > 200.00 EUR allowed for one action."
    again = Caller(stage.workspace, AGENT).post(intents_of(case), wish(case, params=params))
    assert (again.status, again.body) == (200, answer.body)
    assert stage.shop.effects() == ()


def test_two_at_once_propose_one_intent(stage: Stage) -> None:
    case = stage.case()
    callers = [Caller(stage.workspace, AGENT), Caller(stage.workspace, PERSON)]
    barrier = Barrier(8)

    def propose(number: int) -> Answer:
        try:
            barrier.wait()
            return callers[number % 2].post(intents_of(case), wish(case))
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(propose, range(8)))
    assert sorted(answer.status for answer in answers) == [200] * 7 + [202]
    assert len({answer.body["id"] for answer in answers}) == 1
    assert Intent.objects.count() == 1


@pytest.mark.parametrize(
    ("changes", "errors"),
    [
        (
            {"kind": "teleport"},
            {"kind": ["There is no kind 'teleport'; there is refund, store_credit."]},
        ),
        (
            {"params": {"order": "gid://shopify/Order/1", "amount": 12.5, "currency": "EUR"}},
            {"params.amount": ["It must be text, in quotes."]},
        ),
        (
            {"params": {"order": "1001", "amount": "12.50", "currency": "EUR"}},
            {"params.order": ["Give the order's full identifier, as gid://shopify/Order/1001."]},
        ),
        (
            {"params": {"order": "gid://shopify/Order/1", "amount": "1e3", "currency": "EUR"}},
            {
                "params.amount": [
                    "'1e3' is in exponent form; write all its digits, as 12.50.",
                ]
            },
        ),
        (
            {"params": {"order": "gid://shopify/Order/1", "currency": "EUR", "notify": True}},
            {
                "params.amount": ["It is missing; give it."],
                "params.notify": ["There is no such parameter; leave it out."],
            },
        ),
        ({"params": []}, {"params": ["It must be an object, in braces."]}),
        ({"params": None}, {"params": ["It is null; give it or leave it out."]}),
        ({"reason": 7}, {"reason": ["It must be text, in quotes."]}),
    ],
)
def test_what_can_not_be_taken_is_400_with_a_sentence_by_field(
    stage: Stage, changes: dict[str, object], errors: object
) -> None:
    case = stage.case()
    answer = Caller(stage.workspace, AGENT).post(intents_of(case), wish(case, **changes))
    assert (answer.status, answer.problem, answer.body["errors"]) == (400, "invalid-fields", errors)
    assert not Intent.objects.exists()


def test_a_closed_ticket_takes_no_new_intent(stage: Stage) -> None:
    case = stage.case()
    caller = Caller(stage.workspace, AGENT)
    said = {"status": "closed_unresolved", "reason": "declined"}
    assert caller.post(f"tickets/{case.ticket.public_id}/close/", said).status == 200
    answer = caller.post(intents_of(case), wish(case))
    assert (answer.status, answer.problem) == (409, "ticket-not-open")
    assert not Intent.objects.exists()


def test_a_workspace_without_a_store_says_how_to_connect_one() -> None:
    ticket = make_ticket()
    answer = _propose_on(ticket)
    assert (answer.status, answer.problem) == (409, "no-store")
    assert answer.body["detail"] == (
        "The workspace has no connected store: run `manage.py connect shopify` first."
    )


def test_a_workspace_with_two_stores_asks_which() -> None:
    ticket = make_ticket()
    stores = [make_connection(workspace=ticket.workspace) for _ in range(2)]
    answer = _propose_on(ticket)
    assert (answer.status, answer.body["errors"]) == (
        400,
        {"connection": ["The workspace has several stores: name one of them in `connection`."]},
    )
    named = _propose_on(ticket, connection=stores[1].public_id)
    assert (named.status, named.body["connection"]) == (202, stores[1].public_id)
    for elsewhere in (make_connection(workspace=make_workspace()).public_id, "con_none"):
        foreign = _propose_on(ticket, connection=elsewhere)
        assert (foreign.status, foreign.problem) == (404, "not-found")
        assert foreign.body["errors"] == {
            "connection": ["There is no such store; leave it out if you have one."]
        }
    assert Intent.objects.count() == 1


def _propose_on(ticket: Ticket, **changes: object) -> Answer:
    request = ticket.request_set.first() or make_request(ticket=ticket)
    params = {"order": "gid://shopify/Order/1001", "amount": "12.50", "currency": "EUR"}
    said = {"kind": "refund", "request": request.public_id, "params": params} | changes
    path = f"tickets/{ticket.public_id}/intents/"
    return Caller(ticket.workspace, AGENT).post(path, said)
