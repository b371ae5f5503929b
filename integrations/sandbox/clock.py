"""The sandbox's own time, and what it has agreed to do later.

Promises: everything that is due has happened before anybody looks, in the order of its due times,
and sees its own due time as now. Does not know what is due: it calls what it was given. No thread
runs in the background.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from itertools import count


class SandboxClock:
    """Wall time plus what was added; or, given a start, a time that only moves when told to."""

    def __init__(self, *, starts_at: datetime | None = None) -> None:
        self._starts_at = starts_at
        self._added = timedelta(0)
        self._as_of: datetime | None = None
        self._agenda: list[tuple[datetime, int, Callable[[], None]]] = []
        self._numbers = count()

    def now(self) -> datetime:
        """Return the sandbox's present moment."""
        if self._as_of is not None:
            return self._as_of
        return (self._starts_at or datetime.now(UTC)) + self._added

    def advance(self, by: timedelta) -> None:
        """Move time forward and do all that has become due.

        Raises:
            ValueError: `by` is negative; platforms do not run backwards.
        """
        if by < timedelta(0):
            raise ValueError("The sandbox's clock only moves forward.")
        self._added += by
        self.run_due()

    def at(self, due_at: datetime, action: Callable[[], None]) -> None:
        """Do `action` once the clock has reached `due_at`."""
        heappush(self._agenda, (due_at, next(self._numbers), action))

    def run_due(self) -> None:
        """Do what is due. Called before every request and every control."""
        if self._as_of is not None:
            return
        while self._agenda and self._agenda[0][0] <= self.now():
            due_at, _, action = heappop(self._agenda)
            self._as_of = due_at
            try:
                action()
            finally:
                self._as_of = None
