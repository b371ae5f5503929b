"""Database time: the one clock that every deadline uses (I17).

Promises: `now()` is PostgreSQL's `clock_timestamp()`, aware, in UTC, plus an offset that only
tests set.
Does not know what the time is for: moments are handed down as arguments.
"""

import time
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
    read: datetime = moment.astimezone(UTC)
    return read + sum(_offsets, timedelta())


@contextmanager
def shifted(offset: timedelta) -> Iterator[None]:
    """Let `now()` answer `offset` later while the block runs. For tests alone."""
    _offsets.append(offset)
    try:
        yield
    finally:
        _offsets.remove(offset)


# Linux's CLOCK_BOOTTIME keeps running while the machine sleeps; elsewhere the monotonic clock does.
# https://man7.org/linux/man-pages/man2/clock_gettime.2.html (read 2026-11-30)
_KEEPS_RUNNING = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def local_seconds() -> float:
    """Return this machine's own clock, which never steps and keeps running through a pause."""
    return time.clock_gettime(_KEEPS_RUNNING)
