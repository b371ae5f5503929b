"""What several steps are made of: actors, the frozen request, a read, a part, a reopening.

Promises: names and bytes are fixed, so that digests agree.
Does not know in which order steps come.
"""

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from hashlib import sha256
from typing import Any

from tests.strategies.statements import Statement, insert, update
from tests.strategies.world import Row, World

Step = Callable[[World], list[Statement]]


PEOPLE = [("human_node", "node-1"), ("brand_team", "team-1")]


AI = ("ai", "agent-1")


APP = "gid://shopify/App/1"


DOCUMENT, VERSION, BODY = "mutation refund", "2026-10", b'{"input":1}'


DIGEST = sha256(b"\0".join([DOCUMENT.encode(), VERSION.encode(), BODY])).hexdigest()


def pk(row: Row) -> int:
    """Return a row's id."""
    return int(str(row["id"]))


FROZEN: dict[str, Any] = {
    "document": DOCUMENT,
    "api_version": VERSION,
    "body": BODY,
    "body_digest": DIGEST,
}


def read_of(w: World, intent: Row, at: datetime, **columns: object) -> Statement:
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


def part_of(w: World, intent: Row, echo: int, standing: str, money: Decimal) -> Statement:
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
        shop_amount=money,
        shop_currency="EUR",
    )


def reopened(resolution: Row, at: datetime) -> list[Statement]:
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
