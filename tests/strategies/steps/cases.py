"""Steps of a case: customer, ticket, message, requests, path, hand-over.

Promises: each is one transaction that the database accepts as it stands.
Does not close anything.
"""

from decimal import Decimal

from tests.strategies.statements import Statement, insert, update
from tests.strategies.steps.shared import AI, PEOPLE, pk, reopened
from tests.strategies.world import Row, World


def some_case(w: World) -> list[Statement]:
    """A customer, the ticket, its message, its request."""
    ws = pk(w.row("integrations_workspace"))
    desk = w.rng.random() < 0.15 and w.row(
        "integrations_connection", "workspace_id = %s AND platform = 'gorgias'", ws
    )
    key, payload, customer = (
        w.new_id(t)
        for t in ("integrations_subjectkey", "integrations_sealedpayload", "tickets_customer")
    )
    ticket, at = w.new_id("tickets_ticket"), w.moment()
    money = w.rng.random() < 0.8
    return [
        insert("integrations_subjectkey", key, workspace_id=ws, wrapped=b"wrapped"),
        insert(
            "integrations_sealedpayload",
            payload,
            workspace_id=ws,
            subject_key_id=key,
            field="x",
            sealed=b"sealed",
        ),
        insert(
            "tickets_customer",
            customer,
            workspace_id=ws,
            public_id=w.word("cus"),
            subject_key_id=key,
            email_id=payload,
            store_identifier=w.word("customer"),
        ),
        insert(
            "tickets_ticket",
            ticket,
            workspace_id=ws,
            public_id=w.word("tkt"),
            external_id=w.word("case"),
            connection_id=pk(desk) if desk else None,
            opening_digest="0" * 64,
            customer_id=customer,
            subject_id=payload,
            path=[{"kind": "ai", "identity": "agent-1", "since": at.isoformat()}],
        ),
        insert(
            "tickets_message",
            w.new_id("tickets_message"),
            workspace_id=ws,
            public_id=w.word("msg"),
            ticket_id=ticket,
            external_id=w.word("message"),
            direction="from_customer",
            body_id=payload,
            sent_at=at,
        ),
        insert(
            "tickets_request",
            w.new_id("tickets_request"),
            workspace_id=ws,
            public_id=w.word("req"),
            ticket_id=ticket,
            number=1,
            kind="refund" if money else "add_tag",
            amount=Decimal("12.5") if money else None,
            currency="EUR" if money else "",
            stated_by_kind="ai",
            stated_by_identity="agent-1",
            text_id=payload,
        ),
    ]


def work_on_case(w: World) -> list[Statement]:
    """Someone acts: the path grows; the customer is verified; the request is revised."""
    ticket = w.row("tickets_ticket", "status IN ('open', 'in_progress')")
    customer = w.row("tickets_customer", "id = %s", ticket["customer_id"])
    request = w.row(
        "tickets_request",
        "ticket_id = %s AND NOT EXISTS (SELECT 1 FROM tickets_request n WHERE n.revises_id = tickets_request.id)",
        ticket["id"],
    )
    numbers = [
        int(str(r["number"])) for r in w.rows("tickets_request", "ticket_id = %s", ticket["id"])
    ]
    at, who = w.moment(), w.rng.choice([*PEOPLE, AI])
    path = ticket["path"]
    assert isinstance(path, list)
    return [
        update(
            "tickets_ticket",
            pk(ticket),
            status="in_progress",
            updated_at=at,
            path=[*path, {"kind": who[0], "identity": who[1], "since": at.isoformat()}],
        ),
        update(
            "tickets_customer",
            pk(customer),
            verified_at=at,
            verified_by_kind="human_node",
            verified_by_identity="node-1",
        ),
        insert(
            "tickets_request",
            w.new_id("tickets_request"),
            workspace_id=ticket["workspace_id"],
            public_id=w.word("req"),
            ticket_id=ticket["id"],
            number=max(numbers) + 1,
            kind=request["kind"],
            amount=request["amount"],
            currency=request["currency"],
            stated_by_kind=who[0],
            stated_by_identity=who[1],
            revises_id=request["id"],
        ),
    ]


def hand_over(w: World) -> list[Statement]:
    """The case goes to the desk, and comes back."""
    ticket = w.row("tickets_ticket", "status IN ('open', 'in_progress')")
    return [
        update("tickets_ticket", pk(ticket), status="handed_over"),
        update("tickets_ticket", pk(ticket), status="in_progress"),
    ]


def ask_more(w: World) -> list[Statement]:
    """Another request, on a ticket that was not resolved."""
    ticket = w.row("tickets_ticket", "status <> 'resolved'")
    return [_request(w, ticket)]


def ask_on_resolved(w: World) -> list[Statement]:
    """A request comes in on a resolved ticket: it is reopened by it."""
    resolution, at = (
        w.row("tickets_resolution", "reopened_at IS NULL AND status = 'resolved'"),
        w.moment(),
    )
    ticket = w.row("tickets_ticket", "id = %s", resolution["ticket_id"])
    return [_request(w, ticket), *reopened(resolution, at)]


def _request(w: World, ticket: Row) -> Statement:
    numbers = [
        int(str(r["number"])) for r in w.rows("tickets_request", "ticket_id = %s", ticket["id"])
    ]
    return insert(
        "tickets_request",
        w.new_id("tickets_request"),
        workspace_id=ticket["workspace_id"],
        public_id=w.word("req"),
        ticket_id=ticket["id"],
        number=max([0, *numbers]) + 1,
        kind="refund",
        amount=Decimal("12.5"),
        currency="EUR",
        stated_by_kind="ai",
        stated_by_identity="agent-1",
    )
