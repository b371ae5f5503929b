"""Database time: the one clock that every deadline uses (I17).

Promises: `now()` is PostgreSQL's `clock_timestamp()`, aware, in UTC, plus an offset that only tests set.
Does not know what the time is for: moments are handed down as arguments.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from django.db import connection

_offsets: list[timedelta] = []


def now() -> datetime:
    """Return the database's clock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (moment,) = cursor.fetchone()
    return sum(_offsets, start=moment.astimezone(UTC))


@contextmanager
def shifted(offset: timedelta) -> Iterator[None]:
    """Let `now()` answer `offset` later while the block runs. For tests alone."""
    _offsets.append(offset)
    try:
        yield
    finally:
        _offsets.remove(offset)
