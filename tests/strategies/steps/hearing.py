"""Steps that hear the platform: an answer, a read, a bounce; and a person who accepts.

Promises: each echo names what brought it, and the move is what its parts mean.
Does not send anything.
"""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from tests.strategies.statements import Statement, insert, update
from tests.strategies.steps.sending import close_attempt
from tests.strategies.steps.shared import APP, PEOPLE, part_of, pk, read_of, reopened
from tests.strategies.world import Row, World


def answer(w: World) -> list[Statement]:
    """The platform answers with its identifier."""
    intent, at = w.row("actions_intent", "state = 'executing'"), w.moment()
    closed = close_attempt(w, intent, outcome="echoed", at=at)
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
    read = read_of(w, intent, at)
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
    read = read_of(w, intent, at)
    external = w.row("actions_externalobject", "intent_id = %s", intent["id"])
    heard = _heard(w, intent, at=at, external_id=pk(external), source={"read_id": read.row_id})
    standing = w.rows(
        "tickets_resolution",
        "ticket_id = %s AND reopened_at IS NULL AND status = 'resolved'",
        intent["ticket_id"],
    )
    return [read, *heard, *(s for resolution in standing for s in reopened(resolution, at))]


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
        *(part_of(w, intent, echo, standing, money) for standing, money in parts),
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


def accept(w: World) -> list[Statement]:
    """A person accepts what the platform holds instead."""
    intent = w.row("actions_intent", "state IN ('pending', 'partially_confirmed')")
    payload = w.row("integrations_sealedpayload", "workspace_id = %s", intent["workspace_id"])
    by = w.rng.choice(PEOPLE)
    return w.move(intent, to="accepted", at=w.moment(), by=by, accepted_reason_id=payload["id"])


def look(w: World) -> list[Statement]:
    """A read shows an effect that nobody here made; it says nothing of an intent."""
    target, at = w.row("actions_target"), w.moment()
    about = {
        "workspace_id": target["workspace_id"],
        "connection_id": target["connection_id"],
        "target_id": target["id"],
    }
    read = read_of(w, about, at, cause="poll")
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
        part_of(w, target, echo, "succeeded", Decimal("12.5")),
        *said,
    ]
