"""The database as a generator of statements sees it: what rows there are, drawn with a seed.

Promises: the same seed draws the same rows, identifiers and moments; nothing is drawn from a clock.
Does not write.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from random import Random
from uuid import UUID

import psycopg
from psycopg.rows import dict_row

from tests.strategies.statements import Statement, insert, update

Row = Mapping[str, object]
BEGINNING = datetime(2026, 11, 30, 12, tzinfo=UTC)


class World:
    """What may be referred to, read afresh each time through the connection of whoever writes."""

    def __init__(
        self, *, connection: psycopg.Connection, seed: int, before_reading: Callable[[], None]
    ) -> None:
        self.rng = Random(seed)  # noqa: S311 - a test's own dice
        self._before_reading = before_reading
        self._cursor = connection.cursor(row_factory=dict_row)
        self._ids: dict[str, int] = defaultdict(int)
        self._moment = BEGINNING

    def new_id(self, table: str) -> int:
        """Return an id that no row of the table has or had."""
        self._ids[table] += 1
        return self._ids[table]

    def word(self, prefix: str) -> str:
        """Return a text that was not drawn before."""
        return f"{prefix}-{self.rng.getrandbits(64):016x}"

    def key(self) -> UUID:
        """Return a key that was not drawn before."""
        return UUID(int=self.rng.getrandbits(128))

    def moment(self) -> datetime:
        """Return a moment later than every one before."""
        self._moment += timedelta(hours=1)
        return self._moment

    def row(self, table: str, condition: str = "true", *arguments: object) -> dict[str, object]:
        """Return a row that meets a condition, drawn at random.

        Raises:
            NoSuchRow: There is none.
        """
        self._before_reading()
        start = self.rng.randint(1, max(1, self._ids[table]))
        for compared in (">=", "<"):
            text = f"SELECT * FROM {table} WHERE ({condition}) AND id {compared} %s ORDER BY id LIMIT 1"
            found = self._cursor.execute(text, [*arguments, start]).fetchone()
            if found is not None:
                return found
        raise NoSuchRow(table)

    def rows(self, table: str, condition: str, *arguments: object) -> list[dict[str, object]]:
        """Return every row that meets a condition."""
        self._before_reading()
        text = f"SELECT * FROM {table} WHERE {condition} ORDER BY id"
        return self._cursor.execute(text, list(arguments)).fetchall()

    def event(
        self, intent: Row, *, to: str, by: tuple[str, str] = ("system", "razviel"), at: datetime
    ) -> Statement:
        """Return the insert of an intent's next event, as `actions.moves` would write it."""
        number = int(str(intent["event_count"])) + 1
        last = self.rows(
            "actions_intentevent", "intent_id = %s AND number = %s", intent["id"], number - 1
        )
        previous = str(last[0]["digest"]) if last else ""
        return self.event_row(
            intent,
            number=number,
            origin=str(intent["state"]),
            to=to,
            by=by,
            at=at,
            previous=previous,
        )

    def event_row(
        self,
        intent: Row,
        *,
        number: int,
        origin: str,
        to: str,
        by: tuple[str, str],
        at: datetime,
        previous: str,
    ) -> Statement:
        """Return the insert of one event, its body and digest included."""
        content = {
            "at": at.isoformat(),
            "by": by[1],
            "by_kind": by[0],
            "details": {},
            "from": origin,
            "intent": intent["public_id"],
            "name": to,
            "number": number,
            "reason": "",
            "to": to,
        }
        body = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return insert(
            "actions_intentevent",
            self.new_id("actions_intentevent"),
            workspace_id=intent["workspace_id"],
            intent_id=intent["id"],
            number=number,
            name=to,
            from_state=origin,
            to_state=to,
            by_kind=by[0],
            by_identity=by[1],
            reason="",
            at=at,
            body=body,
            previous_digest=previous,
            digest=sha256((previous + body).encode()).hexdigest(),
        )

    def move(
        self,
        intent: Row,
        *,
        to: str,
        at: datetime,
        by: tuple[str, str] = ("system", "razviel"),
        **changes: object,
    ) -> list[Statement]:
        """Return the two statements of a transition."""
        implied: dict[str, object] = {
            "state": to,
            "event_count": int(str(intent["event_count"])) + 1,
            "updated_at": at,
            "lease_until": None,
            "state_reason": "",
        }
        return [
            update("actions_intent", int(str(intent["id"])), **implied | changes),
            self.event(intent, to=to, by=by, at=at),
        ]


class NoSuchRow(Exception):
    """No row meets the condition yet: draw another step."""
