"""Steps from the proposal to the gate's word: born, decided, approved, withdrawn.

Promises: each is one transaction that the database accepts as it stands.
Does not send anything.
"""

from datetime import datetime, timedelta

from tests.strategies.statements import Statement, insert, update
from tests.strategies.steps.shared import AI, FROZEN, PEOPLE
from tests.strategies.world import Row, World


def propose(w: World) -> list[Statement]:
    """An intent is born, with its first event."""
    ticket = w.row("tickets_ticket", "status IN ('open', 'in_progress')")
    request = w.row("tickets_request", "ticket_id = %s", ticket["id"])
    target = w.row("actions_target", "workspace_id = %s", ticket["workspace_id"])
    return _born(
        w,
        ticket=ticket,
        request=request,
        target=target,
        kind=str(request["kind"]),
        amount=request["amount"],
    )


def propose_reply(w: World) -> list[Statement]:
    """A reply is born on a ticket that came from a desk."""
    ticket = w.row(
        "tickets_ticket", "status IN ('open', 'in_progress') AND connection_id IS NOT NULL"
    )
    request = w.row("tickets_request", "ticket_id = %s", ticket["id"])
    target = w.row("actions_target", "workspace_id = %s", ticket["workspace_id"])
    return _born(w, ticket=ticket, request=request, target=target, kind="reply", amount=None)


def repeat(w: World) -> list[Statement]:
    """The next occurrence of an intent that ended."""
    ended = w.row(
        "actions_intent",
        "state IN ('failed', 'refused', 'withdrawn', 'reversed') AND NOT EXISTS (SELECT 1 FROM actions_intent n WHERE n.repeat_of_id = actions_intent.id) AND EXISTS (SELECT 1 FROM tickets_ticket t WHERE t.id = ticket_id AND t.status IN ('open', 'in_progress'))",
    )
    ticket, request, target = (
        w.row(table, "id = %s", ended[column])
        for table, column in (
            ("tickets_ticket", "ticket_id"),
            ("tickets_request", "request_id"),
            ("actions_target", "target_id"),
        )
    )
    payload = w.row("integrations_sealedpayload", "workspace_id = %s", ended["workspace_id"])
    return _born(
        w,
        ticket=ticket,
        request=request,
        target=target,
        kind=str(ended["kind"]),
        amount=ended["amount"],
        repeat_of_id=ended["id"],
        occurrence=int(str(ended["occurrence"])) + 1,
        corrects_id=ended["id"],
        remainder_of_id=ended["id"],
        waits_for_id=ended["id"],
        reason_id=payload["id"],
    )


def _born(
    w: World,
    *,
    ticket: Row,
    request: Row,
    target: Row,
    kind: str,
    amount: object,
    **columns: object,
) -> list[Statement]:
    at, intent = w.moment(), w.new_id("actions_intent")
    row = {
        "id": intent,
        "workspace_id": ticket["workspace_id"],
        "public_id": w.word("int"),
        "ticket_id": ticket["id"],
        "request_id": request["id"],
        "connection_id": target["connection_id"],
        "target_id": target["id"],
        "kind": kind,
        "parameters": {},
        "amount": amount,
        "currency": "" if amount is None else "EUR",
        "proposer_kind": AI[0],
        "proposer_identity": AI[1],
        "key": w.key(),
        "marker": w.word("rzv"),
        "event_count": 1,
        "created_at": at,
        "updated_at": at,
    } | columns
    born = w.event_row(row, number=1, origin="", to="proposed", by=AI, at=at, previous="")
    return [insert("actions_intent", intent, **{k: v for k, v in row.items() if k != "id"}), born]


def _decision(
    w: World, intent: Row, *, ruling: str, at: datetime, digest: str = "", **columns: object
) -> Statement:
    number = len(w.rows("actions_gatedecision", "intent_id = %s", intent["id"])) + 1
    policy = w.row("actions_policyversion", "workspace_id = %s", intent["workspace_id"])
    return insert(
        "actions_gatedecision",
        w.new_id("actions_gatedecision"),
        workspace_id=intent["workspace_id"],
        public_id=w.word("dec"),
        intent_id=intent["id"],
        number=number,
        **{
            "phase": "worker",
            "policy_version_id": policy["id"],
            "target_version": 0,
            "ruling": ruling,
            "reason": "" if ruling in ("allow", "approve") else "paused",
            "verdicts": [],
            "facts": {},
            "shown_digest": digest or w.word("shown"),
            "decided_at": at,
        }
        | columns,
    )


def allow(w: World) -> list[Statement]:
    """The gate says yes, and the request is frozen."""
    intent, at = w.row("actions_intent", "state IN ('proposed', 'held')"), w.moment()
    decided = _decision(w, intent, ruling="allow", at=at)
    return [
        decided,
        *w.move(intent, to="authorized", at=at, decision_id=decided.row_id, due_at=at, **FROZEN),
    ]


def hold(w: World) -> list[Statement]:
    """The gate can't say yes yet."""
    intent, at = w.row("actions_intent", "state IN ('proposed', 'awaiting_approval')"), w.moment()
    decided = _decision(w, intent, ruling="hold", at=at)
    return [
        decided,
        *w.move(intent, to="held", at=at, decision_id=decided.row_id, state_reason="paused"),
    ]


def want_approval(w: World) -> list[Statement]:
    """The gate wants a second person."""
    intent, at = w.row("actions_intent", "state IN ('proposed', 'held')"), w.moment()
    decided = _decision(w, intent, ruling="approve", at=at)
    return [decided, *w.move(intent, to="awaiting_approval", at=at, decision_id=decided.row_id)]


def refuse(w: World) -> list[Statement]:
    """The gate says no."""
    intent, at = (
        w.row("actions_intent", "state IN ('proposed', 'held', 'awaiting_approval')"),
        w.moment(),
    )
    decided = _decision(w, intent, ruling="refuse", at=at)
    return [
        decided,
        *w.move(intent, to="refused", at=at, decision_id=decided.row_id, state_reason="over_cap"),
    ]


def withdraw(w: World) -> list[Statement]:
    """Taken back before anything was sent."""
    intent = w.row(
        "actions_intent",
        "state IN ('proposed', 'held', 'awaiting_approval') OR (state = 'authorized' AND first_sent_at IS NULL)",
    )
    return w.move(intent, to="withdrawn", at=w.moment(), by=AI)


def approve(w: World) -> list[Statement]:
    """A second person says yes to just what was shown; the gate decides again, and it is used."""
    intent, at = w.row("actions_intent", "state = 'awaiting_approval'"), w.moment()
    shown = w.row("actions_gatedecision", "id = %s", intent["decision_id"])
    approval, (kind, who) = w.new_id("actions_approval"), w.rng.choice(PEOPLE)
    decided = _decision(w, intent, ruling="approve", at=at, digest=str(shown["shown_digest"]))
    return [
        insert(
            "actions_approval",
            approval,
            workspace_id=intent["workspace_id"],
            public_id=w.word("apr"),
            intent_id=intent["id"],
            decision_id=shown["id"],
            approver_kind=kind,
            approver_identity=who,
            approves=True,
            digest=shown["shown_digest"],
            given_at=at,
            expires_at=at + timedelta(hours=24),
        ),
        decided,
        update("actions_approval", approval, used_at=at),
        *w.move(intent, to="authorized", at=at, decision_id=decided.row_id, **FROZEN),
    ]
