"""Steps that close a ticket and reopen it.

Promises: each is one transaction that the database accepts as it stands.
Does not send anything.
"""

from datetime import datetime

from tests.strategies.statements import Statement, insert, update
from tests.strategies.steps.counting import GIVEN_BACK, given_back
from tests.strategies.steps.shared import AI, PEOPLE, pk, reopened
from tests.strategies.world import Row, World


def resolve_ticket(w: World) -> list[Statement]:
    """Each request gets its outcome, and the ticket its resolution."""
    done = " AND EXISTS (SELECT 1 FROM actions_intent i WHERE i.ticket_id = tickets_ticket.id AND i.state = 'confirmed')"
    ticket = w.row("tickets_ticket", _RESOLVABLE + (done if w.rng.random() < 0.7 else ""))
    at, by = w.moment(), w.rng.choice([AI, *PEOPLE])
    return [
        *_outcomes(w, ticket, at),
        update("tickets_ticket", pk(ticket), status="resolved", resolver=_resolver(ticket, by)),
        insert(
            "tickets_resolution",
            w.new_id("tickets_resolution"),
            workspace_id=ticket["workspace_id"],
            public_id=w.word("res"),
            ticket_id=ticket["id"],
            status="resolved",
            resolver=_resolver(ticket, by),
            closed_by_kind=by[0],
            closed_by_identity=by[1],
            closed_at=at,
        ),
    ]


_RESOLVABLE = """
    status IN ('open', 'in_progress')
    AND EXISTS (SELECT 1 FROM tickets_request q WHERE q.ticket_id = tickets_ticket.id)
    AND NOT EXISTS (SELECT 1 FROM actions_intent i WHERE i.ticket_id = tickets_ticket.id AND i.state NOT IN ('confirmed', 'accepted', 'failed', 'refused', 'withdrawn', 'reversed'))
    AND (connection_id IS NULL OR EXISTS (SELECT 1 FROM actions_intent i WHERE i.ticket_id = tickets_ticket.id AND i.kind = 'reply' AND i.state = 'confirmed'))
"""


def _resolver(ticket: Row, by: tuple[str, str]) -> str:
    path = ticket["path"]
    assert isinstance(path, list)
    if by[0] == "brand_team":
        return "brand_team"
    nodes = by[0] == "human_node" or any(entry["kind"] == "human_node" for entry in path)
    return "ai_with_human_node" if nodes else "ai"


def _outcomes(w: World, ticket: Row, at: datetime) -> list[Statement]:
    """Return an outcome for each open request: its confirmed intent's object, or a statement."""
    payload = w.row("integrations_sealedpayload", "workspace_id = %s", ticket["workspace_id"])
    made: list[Statement] = []
    for request in w.rows(
        "tickets_request",
        "ticket_id = %s AND NOT EXISTS (SELECT 1 FROM tickets_request n WHERE n.revises_id = tickets_request.id)",
        ticket["id"],
    ):
        proven = w.rows(
            "actions_externalobject",
            "intent_id IN (SELECT id FROM actions_intent WHERE ticket_id = %s AND kind = %s AND state = 'confirmed') AND NOT EXISTS (SELECT 1 FROM actions_outcome o WHERE o.external_object_id = actions_externalobject.id)",
            ticket["id"],
            request["kind"],
        )
        columns: dict[str, object] = {
            "by_kind": "human_node",
            "by_identity": "node-1",
            "created_at": at,
        }
        columns |= (
            {"external_object_id": proven[0]["id"], "intent_id": proven[0]["intent_id"]}
            if proven
            else {"statement_id": payload["id"]}
        )
        made.append(
            insert(
                "actions_outcome",
                w.new_id("actions_outcome"),
                workspace_id=ticket["workspace_id"],
                request_id=request["id"],
                **columns,
            )
        )
    return made


def close_unresolved(w: World) -> list[Statement]:
    """A person closes what can't be resolved, over what was sent at most."""
    ticket = w.row(
        "tickets_ticket",
        "status IN ('open', 'in_progress') AND NOT EXISTS (SELECT 1 FROM actions_intent i WHERE i.ticket_id = tickets_ticket.id AND i.state IN ('proposed', 'held', 'awaiting_approval', 'authorized'))",
    )
    at, by = w.moment(), w.rng.choice(PEOPLE)
    return [
        update("tickets_ticket", pk(ticket), status="closed_unresolved"),
        insert(
            "tickets_resolution",
            w.new_id("tickets_resolution"),
            workspace_id=ticket["workspace_id"],
            public_id=w.word("res"),
            ticket_id=ticket["id"],
            status="closed_unresolved",
            reason="silence",
            closed_by_kind=by[0],
            closed_by_identity=by[1],
            closed_at=at,
        ),
    ]


def withdraw_and_close(w: World) -> list[Statement]:
    """A ticket is closed unresolved, and what was never sent on it is withdrawn with it."""
    first, at = w.row("actions_intent", _UNSENT_ALONE), w.moment()
    ticket = w.row("tickets_ticket", "id = %s", first["ticket_id"])
    unsent = w.rows(
        "actions_intent",
        "ticket_id = %s AND state IN ('proposed', 'held', 'awaiting_approval', 'authorized')",
        ticket["id"],
    )
    return [
        *given_back(w, *unsent),
        *(
            s
            for intent in unsent
            for s in w.move(intent, to="withdrawn", at=at, by=AI, **GIVEN_BACK)
        ),
        update("tickets_ticket", pk(ticket), status="closed_unresolved"),
        insert(
            "tickets_resolution",
            w.new_id("tickets_resolution"),
            workspace_id=ticket["workspace_id"],
            public_id=w.word("res"),
            ticket_id=ticket["id"],
            status="closed_unresolved",
            reason="declined",
            closed_by_kind="ai",
            closed_by_identity="agent-1",
            closed_at=at,
        ),
    ]


_UNSENT_ALONE = """
    state IN ('proposed', 'held', 'awaiting_approval')
    AND EXISTS (SELECT 1 FROM tickets_ticket t WHERE t.id = ticket_id AND t.status IN ('open', 'in_progress'))
    AND NOT EXISTS (SELECT 1 FROM actions_intent i WHERE i.ticket_id = actions_intent.ticket_id AND (
        i.state IN ('executing', 'unknown', 'pending', 'partially_confirmed') OR (i.state = 'authorized' AND i.first_sent_at IS NOT NULL)))
"""


def reopen(w: World) -> list[Statement]:
    """The customer writes again."""
    return reopened(w.row("tickets_resolution", "reopened_at IS NULL"), w.moment())
