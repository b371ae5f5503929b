"""The ground: how many single-row inserts, each with its commit, this PostgreSQL does per second.

Promises: one connection, one statement and one commit at a time, as the database's owner, in a
table of its own that is gone afterwards. Does not know the product's tables.
"""

from dataclasses import dataclass
from time import monotonic

from django.db import connections

from razviel.bench.rows import Row

COMMITS = "commits_before"
COMMITS_AFTER = "commits_after"
DRIFT_MAX = 0.20
"""Past this difference the run is void: something else used the machine meanwhile."""

_SECONDS = 1.5
_WARM_UP = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Durability:
    """Whether a commit survives a crash, as the server says."""

    fsync: str
    synchronous_commit: str

    @property
    def is_on(self) -> bool:
        """Are both on?"""
        return self.fsync == "on" and self.synchronous_commit == "on"


def durability() -> Durability:
    """Ask the server."""
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT current_setting('fsync'), current_setting('synchronous_commit')")
        fsync, synchronous_commit = cursor.fetchone()
    return Durability(fsync=str(fsync), synchronous_commit=str(synchronous_commit))


def measure_commits(name: str) -> Row:
    """Count commits for a moment."""
    with connections["owner"].cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS bench_commit")
        cursor.execute("CREATE TABLE bench_commit (id bigserial PRIMARY KEY, payload text)")
        try:
            for _ in range(_WARM_UP):
                _insert(cursor)
            count, begin = 0, monotonic()
            while monotonic() - begin < _SECONDS:
                _insert(cursor)
                count += 1
            seconds = monotonic() - begin
        finally:
            cursor.execute("DROP TABLE bench_commit")
    connections["owner"].close()
    return Row(name=name, value=round(count / seconds, 1), unit="per s")


def drift(before: Row, after: Row) -> float:
    """Return by which share the two differ."""
    return abs(before.value - after.value) / max(before.value, after.value)


def _insert(cursor: object) -> None:
    # Outside a transaction Django's connections commit each statement.
    cursor.execute("INSERT INTO bench_commit (payload) VALUES ('one row')")  # type: ignore[attr-defined]  # Django's cursor wrapper has no public type
