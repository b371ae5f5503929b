"""The legal steps of the product's rows, as raw statements.

Promises: each step is one transaction that the database accepts as it stands; together they reach
every table and every arc of an intent; a step that finds no row to start from raises NoSuchRow.
Does not use the product's own code: what it would write is written here a second time.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from hashlib import sha256
from typing import Any

from tests.strategies.statements import Statement, delete, insert, update
from tests.strategies.world import Row, World

Step = Callable[[World], list[Statement]]
PEOPLE = [("human_node", "node-1"), ("brand_team", "team-1")]
AI = ("ai", "agent-1")
APP = "gid://shopify/App/1"
DOCUMENT, VERSION, BODY = "mutation refund", "2026-10", b'{"input":1}'
DIGEST = sha256(b"\0".join([DOCUMENT.encode(), VERSION.encode(), BODY])).hexdigest()
UNSETTLED_SENT = "state IN ('unknown', 'pending', 'partially_confirmed')"


def pk(row: Row) -> int:
    """Return a row's id."""
    return int(str(row["id"]))


def some_workspace(w: World) -> list[Statement]:
    """A brand, its policy, a token, a person's place."""
    ws = w.new_id("integrations_workspace")
    return [
        insert(
            "integrations_workspace",
            ws,
            public_id=w.word("wsp"),
            slug=w.word("brand"),
            name="Brand",
        ),
        insert(
            "actions_policyversion",
            w.new_id("actions_policyversion"),
            workspace_id=ws,
            number=1,
            document={},
            author_kind="system",
            author_identity="setup",
        ),
    ]


def some_access(w: World) -> list[Statement]:
    """A token, a membership, a next policy version."""
    ws = pk(w.row("integrations_workspace"))
    taken = {row["user_id"] for row in w.rows("integrations_membership", "workspace_id = %s", ws)}
    free = [user for user in range(1, 7) if user not in taken]
    number = len(w.rows("actions_policyversion", "workspace_id = %s", ws)) + 1
    membership = (
        [
            insert(
                "integrations_membership",
                w.new_id("integrations_membership"),
                workspace_id=ws,
                user_id=free[0],
                role="approver",
            )
        ]
        if free
        else []
    )
    return [
        *membership,
        insert(
            "integrations_apitoken",
            w.new_id("integrations_apitoken"),
            workspace_id=ws,
            public_id=w.word("tok"),
            name="agent",
            actor_kind="ai",
            actor_identity="agent-1",
            digest=w.word("digest"),
        ),
        insert(
            "actions_policyversion",
            w.new_id("actions_policyversion"),
            workspace_id=ws,
            number=number,
            document={},
            author_kind="human_node",
            author_identity="node-1",
        ),
    ]


def change_access(w: World) -> list[Statement]:
    """Another role, a place given up, a token revoked."""
    member, token = (
        w.row("integrations_membership"),
        w.row("integrations_apitoken", "revoked_at IS NULL"),
    )
    return [
        update("integrations_membership", pk(member), role=w.rng.choice(["auditor", "operator"])),
        update("integrations_apitoken", pk(token), revoked_at=w.moment()),
        delete("integrations_membership", pk(member)),
    ]


def some_connection(w: World) -> list[Statement]:
    """A store and a desk, with an identity that speaks there."""
    ws = pk(w.row("integrations_workspace"))
    sandbox = w.rng.random() < 0.3
    shop, desk, domain = (
        w.new_id("integrations_connection"),
        w.new_id("integrations_connection"),
        w.word("shop"),
    )
    return [
        insert(
            "integrations_connection",
            shop,
            workspace_id=ws,
            public_id=w.word("con"),
            platform="shopify",
            domain=domain,
            base_url=f"http://{domain}" if sandbox else f"https://{domain}",
            account=None if sandbox else domain,
            app=APP,
            currency="EUR",
            is_sandbox=sandbox,
            time_scale=Decimal("0.5") if sandbox else Decimal(1),
        ),
        insert(
            "integrations_connection",
            desk,
            workspace_id=ws,
            public_id=w.word("con"),
            platform="gorgias",
            domain=w.word("desk"),
            base_url="https://desk.example",
            app=APP,
        ),
        insert(
            "integrations_senderidentity",
            w.new_id("integrations_senderidentity"),
            workspace_id=ws,
            connection_id=desk,
            actor_kind="ai",
            actor_identity="agent-1",
            external_user="7",
        ),
        insert(
            "actions_target",
            w.new_id("actions_target"),
            workspace_id=ws,
            connection_id=shop,
            kind="order",
            identifier=w.word("order"),
        ),
    ]


def change_connection(w: World) -> list[Statement]:
    """An account that first answers, a block and its end, another sender, a workspace's switch."""
    connection, sender = (
        w.row("integrations_connection", "account IS NULL"),
        w.row("integrations_senderidentity"),
    )
    at = w.moment()
    return [
        update(
            "integrations_connection",
            pk(connection),
            account=w.word("account"),
            scopes=["read_orders"],
        ),
        update("integrations_connection", pk(connection), blocked_by="credential", blocked_at=at),
        update(
            "integrations_connection", pk(connection), blocked_by="", blocked_at=None, checked_at=at
        ),
        update("integrations_senderidentity", pk(sender), external_user=w.word("user")),
        update(
            "integrations_workspace",
            int(str(connection["workspace_id"])),
            paused_at=None,
            name="Brand again",
        ),
    ]


def drop_sender(w: World) -> list[Statement]:
    """An identity that no longer speaks."""
    return [delete("integrations_senderidentity", pk(w.row("integrations_senderidentity")))]


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


def erase(w: World) -> list[Statement]:
    """A person's key is destroyed."""
    key = w.row("integrations_subjectkey", "destroyed_at IS NULL")
    return [update("integrations_subjectkey", pk(key), wrapped=None, destroyed_at=w.moment())]


def count_and_bump(w: World) -> list[Statement]:
    """A counter opens and is used; a target's version rises."""
    target = w.row("actions_target")
    counter = w.new_id("actions_counter")
    return [
        insert(
            "actions_counter",
            counter,
            workspace_id=target["workspace_id"],
            name="orders",
            subject=w.word("order"),
            currency="EUR",
        ),
        update("actions_counter", counter, used=Decimal("12.5")),
        update("actions_target", pk(target), version=int(str(target["version"])) + 1),
    ]


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


FROZEN: dict[str, Any] = {
    "document": DOCUMENT,
    "api_version": VERSION,
    "body": BODY,
    "body_digest": DIGEST,
}


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


def claim(w: World) -> list[Statement]:
    """The first attempt is opened, and a lease taken."""
    intent = w.row(
        "actions_intent",
        "state = 'authorized' AND first_sent_at IS NULL AND resend_ended_at IS NULL AND EXISTS (SELECT 1 FROM tickets_ticket t WHERE t.id = ticket_id AND t.status IN ('open', 'in_progress'))",
    )
    return _claimed(w, intent, w.moment())


def _claimed(w: World, intent: Row, at: datetime) -> list[Statement]:
    number = len(w.rows("actions_attempt", "intent_id = %s", intent["id"])) + 1
    window = (
        {}
        if intent["first_sent_at"]
        else {"first_sent_at": at, "resend_until": at + timedelta(hours=20)}
    )
    return [
        update("actions_intent", pk(intent), **window, settles_at=at + timedelta(minutes=12)),
        insert(
            "actions_attempt",
            w.new_id("actions_attempt"),
            workspace_id=intent["workspace_id"],
            intent_id=intent["id"],
            number=number,
            app=APP,
            key=intent["key"],
            request_digest=intent["body_digest"],
            started_at=at,
            send_by=at + timedelta(seconds=10),
        ),
        *w.move(intent, to="executing", at=at, lease_until=at + timedelta(seconds=60)),
    ]


def _close(w: World, intent: Row, *, outcome: str, at: datetime) -> Statement:
    attempt = w.row("actions_attempt", "intent_id = %s AND closed_at IS NULL", intent["id"])
    return update("actions_attempt", pk(attempt), outcome=outcome, closed_at=at, closed_by="answer")


def not_sent(w: World) -> list[Statement]:
    """Provably nothing left: authorized again, and the window is taken back."""
    intent, at = (
        w.row(
            "actions_intent",
            "state = 'executing' AND NOT EXISTS (SELECT 1 FROM actions_attempt a WHERE a.intent_id = actions_intent.id AND a.outcome IS NOT NULL AND a.outcome <> 'not_sent')",
        ),
        w.moment(),
    )
    return [
        _close(w, intent, outcome="not_sent", at=at),
        *w.move(
            intent, to="authorized", at=at, first_sent_at=None, resend_until=None, settles_at=None
        ),
    ]


def lose_answer(w: World) -> list[Statement]:
    """Sent, and no answer can be read."""
    intent, at = w.row("actions_intent", "state = 'executing'"), w.moment()
    return [
        _close(w, intent, outcome="unknown", at=at),
        *w.move(intent, to="unknown", at=at, unknown_since=at),
    ]


def reject(w: World) -> list[Statement]:
    """The platform says no."""
    intent, at = w.row("actions_intent", "state = 'executing'"), w.moment()
    return [
        _close(w, intent, outcome="rejected", at=at),
        *w.move(intent, to="failed", at=at, state_reason="rejected"),
    ]


def answer(w: World) -> list[Statement]:
    """The platform answers with its identifier."""
    intent, at = w.row("actions_intent", "state = 'executing'"), w.moment()
    closed = _close(w, intent, outcome="echoed", at=at)
    bound = _object(w, intent)
    heard = _heard(
        w, intent, at=at, external_id=bound[0].row_id, source={"attempt_id": closed.row_id}
    )
    last = 1 + max(
        i for i, s in enumerate(heard) if s.table in ("actions_echo", "actions_echopart")
    )
    if w.rng.random() < 0.5:
        return [*bound, *heard[:last], closed, *heard[last:]]
    return [closed, *bound, *heard]


def find(w: World) -> list[Statement]:
    """A read finds the effect of an intent in doubt."""
    intent, at = (
        w.row(
            "actions_intent",
            "state = 'unknown' AND NOT EXISTS (SELECT 1 FROM actions_externalobject o WHERE o.intent_id = actions_intent.id) AND set_aside_at IS NULL",
        ),
        w.moment(),
    )
    read = _read(w, intent, at)
    bound = _object(w, intent)
    found = insert(
        "actions_finding",
        w.new_id("actions_finding"),
        workspace_id=intent["workspace_id"],
        read_id=read.row_id,
        intent_id=intent["id"],
        result="found",
        external_object_id=bound[0].row_id,
    )
    resolved = [
        update("actions_attempt", pk(a), resolved_how="found", resolved_at=at)
        for a in w.rows(
            "actions_attempt",
            "intent_id = %s AND outcome = 'unknown' AND resolved_at IS NULL",
            intent["id"],
        )
    ]
    return [
        read,
        *bound,
        found,
        *resolved,
        *_heard(w, intent, at=at, external_id=bound[0].row_id, source={"read_id": read.row_id}),
    ]


def poll(w: World) -> list[Statement]:
    """A later read of an object that was not final, or that now says otherwise."""
    intent = w.row(
        "actions_intent", "state IN ('pending', 'partially_confirmed', 'confirmed', 'accepted')"
    )
    return _polled(w, intent)


def bounce(w: World) -> list[Statement]:
    """A refund bounces after its ticket was resolved: reversed, and the ticket reopened."""
    return _polled(w, w.row("actions_intent", _BOUNCES))


_BOUNCES = """
    state IN ('confirmed', 'accepted')
    AND EXISTS (SELECT 1 FROM tickets_ticket t WHERE t.id = ticket_id AND t.status = 'resolved')
"""


def _polled(w: World, intent: Row) -> list[Statement]:
    at = w.moment()
    read = _read(w, intent, at)
    external = w.row("actions_externalobject", "intent_id = %s", intent["id"])
    heard = _heard(w, intent, at=at, external_id=pk(external), source={"read_id": read.row_id})
    standing = w.rows(
        "tickets_resolution",
        "ticket_id = %s AND reopened_at IS NULL AND status = 'resolved'",
        intent["ticket_id"],
    )
    return [read, *heard, *(s for resolution in standing for s in _reopened(resolution, at))]


def _read(w: World, intent: Row, at: datetime, **columns: object) -> Statement:
    return insert(
        "actions_read",
        w.new_id("actions_read"),
        **{
            "workspace_id": intent["workspace_id"],
            "connection_id": intent["connection_id"],
            "target_id": intent["target_id"],
            "cause": "doubt",
            "started_at": at,
            "finished_at": at,
            "result": "complete",
        }
        | columns,
    )


def _object(w: World, intent: Row) -> list[Statement]:
    external = w.new_id("actions_externalobject")
    columns = {
        "workspace_id": intent["workspace_id"],
        "connection_id": intent["connection_id"],
        "target_id": intent["target_id"],
        "type": "refund",
        "identifier": w.word("refund"),
    }
    if w.rng.random() < 0.3:
        return [
            insert("actions_externalobject", external, **columns),
            update("actions_externalobject", external, intent_id=intent["id"]),
        ]
    return [insert("actions_externalobject", external, intent_id=intent["id"], **columns)]


_MAY_BECOME = {
    "executing": [
        "pending",
        "partially_confirmed",
        "confirmed",
        "confirmed",
        "confirmed",
        "failed",
    ],
    "unknown": ["pending", "partially_confirmed", "confirmed", "failed"],
    "pending": ["partially_confirmed", "confirmed", "failed"],
    "partially_confirmed": ["confirmed", "reversed"],
    "confirmed": ["reversed"],
    "accepted": ["reversed"],
}


def _heard(
    w: World, intent: Row, *, at: datetime, external_id: int, source: dict[str, object]
) -> list[Statement]:
    """Return an echo, its parts, and the move that they mean."""
    target = w.row("actions_target", "id = %s", intent["target_id"])
    amount = intent["amount"]
    choices = _MAY_BECOME[str(intent["state"])]
    to = w.rng.choice(
        [c for c in choices if amount is not None or c in ("pending", "confirmed")] or choices
    )
    parts = _parts(to, amount if isinstance(amount, Decimal) else None)
    echo = w.new_id("actions_echo")
    changes: dict[str, Any] = {"confirmed_at": at} if to == "confirmed" else {}
    changes |= {"state_reason": "money_failed"} if to == "failed" else {}
    return [
        insert(
            "actions_echo",
            echo,
            workspace_id=intent["workspace_id"],
            external_object_id=external_id,
            **source,
            target_identifier=target["identifier"],
            marker=intent["marker"],
            author=APP,
            platform_created_at=at,
            part_count=len(parts),
            observed_at=at,
        ),
        *(_part(w, intent, echo, standing, money) for standing, money in parts),
        *w.move(intent, to=to, at=at, **changes),
    ]


def _parts(to: str, amount: Decimal | None) -> Sequence[tuple[str, Decimal]]:
    money = amount or Decimal(1)
    if amount is None and to == "confirmed":
        return []
    if to == "partially_confirmed":
        return [("succeeded", money / 2), ("failed", money / 2)]
    standing = {
        "pending": "open",
        "confirmed": "succeeded",
        "failed": "failed",
        "reversed": "failed",
    }[to]
    return [(standing, money / 2), (standing, money / 2)]


def _part(w: World, intent: Row, echo: int, standing: str, money: Decimal) -> Statement:
    return insert(
        "actions_echopart",
        w.new_id("actions_echopart"),
        workspace_id=intent["workspace_id"],
        echo_id=echo,
        identifier=w.word("transaction"),
        status=standing.upper(),
        standing=standing,
        amount=money,
        currency="EUR",
    )


def accept(w: World) -> list[Statement]:
    """A person accepts what the platform holds instead."""
    intent = w.row("actions_intent", "state IN ('pending', 'partially_confirmed')")
    return w.move(intent, to="accepted", at=w.moment(), by=w.rng.choice(PEOPLE))


def _absent(w: World, intent: Row, at: datetime) -> list[Statement]:
    read = _read(w, intent, at)
    return [
        read,
        insert(
            "actions_finding",
            w.new_id("actions_finding"),
            workspace_id=intent["workspace_id"],
            read_id=read.row_id,
            intent_id=intent["id"],
            result="absent",
        ),
    ]


IN_DOUBT = "state = 'unknown' AND set_aside_at IS NULL AND NOT EXISTS (SELECT 1 FROM actions_externalobject o WHERE o.intent_id = actions_intent.id)"


def _resolved_absent(w: World, intent: Row, at: datetime) -> list[Statement]:
    return [
        update("actions_attempt", pk(a), resolved_how="absent", resolved_at=at)
        for a in w.rows(
            "actions_attempt",
            "intent_id = %s AND outcome = 'unknown' AND resolved_at IS NULL",
            intent["id"],
        )
    ]


def prove_absent(w: World) -> list[Statement]:
    """A complete read after the last send could still land: absent, the attempts resolved."""
    intent = w.row("actions_intent", IN_DOUBT)
    settles_at = intent["settles_at"]
    assert isinstance(settles_at, datetime)
    at = settles_at + timedelta(minutes=1)
    return [*_absent(w, intent, at), *_resolved_absent(w, intent, at)]


def resend(w: World) -> list[Statement]:
    """Proven absent inside the window: the same bytes go again."""
    intent = w.row("actions_intent", IN_DOUBT + _RESENDABLE)
    settles_at = intent["settles_at"]
    assert isinstance(settles_at, datetime)
    return _claimed(w, intent, settles_at + timedelta(minutes=2))


_RESENDABLE = """
    AND resend_ended_at IS NULL AND resend_until > settles_at + interval '1 hour'
    AND NOT EXISTS (SELECT 1 FROM actions_attempt a WHERE a.intent_id = actions_intent.id AND a.resolved_at IS NULL AND a.outcome = 'unknown')
    AND EXISTS (SELECT 1 FROM tickets_ticket t WHERE t.id = ticket_id AND t.status IN ('open', 'in_progress'))
"""


def fail_as_absent(w: World) -> list[Statement]:
    """Two complete absences, apart, after the last send could still land."""
    intent = w.row("actions_intent", IN_DOUBT)
    settles_at = intent["settles_at"]
    assert isinstance(settles_at, datetime)
    first = settles_at + timedelta(minutes=1)
    return [
        *_absent(w, intent, first),
        *_absent(w, intent, first + timedelta(minutes=4)),
        *_resolved_absent(w, intent, first),
        *w.move(intent, to="failed", at=first, state_reason="absent"),
    ]


def set_aside(w: World) -> list[Statement]:
    """A person sets an intent aside that can never be read again.

    Another only loses its right to resend, and is flagged.
    """
    intent, at = w.row("actions_intent", IN_DOUBT + " AND resend_ended_at IS NULL"), w.moment()
    payload = w.row("integrations_sealedpayload", "workspace_id = %s", intent["workspace_id"])
    flagged = update(
        "actions_intent",
        pk(intent),
        resend_ended_at=at,
        needs_human_since=at,
        needs_human_reason="exhausted_schedule",
        due_at=None,
    )
    if w.rng.random() < 0.6:
        return [flagged]
    aside = update(
        "actions_intent",
        pk(intent),
        set_aside_at=at,
        set_aside_by_kind="human_node",
        set_aside_by_identity="node-1",
        set_aside_reason_id=payload["id"],
    )
    return [flagged, aside]


def look(w: World) -> list[Statement]:
    """A read shows an effect that nobody here made; it says nothing of an intent."""
    target, at = w.row("actions_target"), w.moment()
    about = {
        "workspace_id": target["workspace_id"],
        "connection_id": target["connection_id"],
        "target_id": target["id"],
    }
    read = _read(w, about, at, cause="poll")
    external, echo = w.new_id("actions_externalobject"), w.new_id("actions_echo")
    said = [
        insert(
            "actions_finding",
            w.new_id("actions_finding"),
            workspace_id=i["workspace_id"],
            read_id=read.row_id,
            intent_id=i["id"],
            result="nothing_said",
        )
        for i in w.rows("actions_intent", "target_id = %s", target["id"])[:2]
    ]
    return [
        read,
        insert(
            "actions_externalobject", external, **about, type="refund", identifier=w.word("refund")
        ),
        insert(
            "actions_echo",
            echo,
            workspace_id=target["workspace_id"],
            external_object_id=external,
            read_id=read.row_id,
            target_identifier=target["identifier"],
            platform_created_at=at,
            part_count=1,
            observed_at=at,
        ),
        _part(w, target, echo, "succeeded", Decimal("12.5")),
        *said,
    ]


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
        *(s for intent in unsent for s in w.move(intent, to="withdrawn", at=at, by=AI)),
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
    return _reopened(w.row("tickets_resolution", "reopened_at IS NULL"), w.moment())


def _reopened(resolution: Row, at: datetime) -> list[Statement]:
    return [
        update(
            "tickets_resolution",
            pk(resolution),
            reopened_at=at,
            reopened_by_kind="system",
            reopened_by_identity="razviel",
        ),
        update(
            "tickets_ticket", int(str(resolution["ticket_id"])), status="in_progress", resolver=None
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
    return [_request(w, ticket), *_reopened(resolution, at)]


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


STEPS: tuple[Step, ...] = (
    some_workspace,
    some_access,
    change_access,
    some_connection,
    change_connection,
    drop_sender,
    some_case,
    work_on_case,
    erase,
    count_and_bump,
    propose,
    propose_reply,
    repeat,
    allow,
    hold,
    want_approval,
    refuse,
    withdraw,
    approve,
    claim,
    not_sent,
    lose_answer,
    reject,
    answer,
    find,
    poll,
    bounce,
    accept,
    prove_absent,
    resend,
    fail_as_absent,
    set_aside,
    look,
    resolve_ticket,
    close_unresolved,
    withdraw_and_close,
    reopen,
    hand_over,
    ask_more,
    ask_on_resolved,
)
"""Every legal step."""

WEIGHTS: dict[Step, int] = {
    some_case: 10,
    propose: 20,
    allow: 20,
    claim: 30,
    answer: 14,
    lose_answer: 18,
    prove_absent: 10,
    resend: 6,
    resolve_ticket: 8,
    bounce: 6,
    set_aside: 5,
    work_on_case: 5,
    repeat: 5,
    poll: 2,
    reopen: 1,
    close_unresolved: 1,
    withdraw_and_close: 2,
    hand_over: 1,
    some_workspace: 1,
    refuse: 1,
    withdraw: 1,
    ask_more: 1,
    ask_on_resolved: 1,
    look: 2,
    some_access: 2,
    change_access: 2,
    change_connection: 2,
    count_and_bump: 2,
    want_approval: 8,
    approve: 8,
}
"""How often a step is drawn, 3 unless said: life must go on for later steps to have rows."""
