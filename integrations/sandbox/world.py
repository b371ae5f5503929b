"""All that the sandbox simulates, behind one lock: clock, shops, ledger, faults, identifiers.

Promises: identifiers are drawn in order, so the same calls give the same world; whoever holds the
lock sees a state in which all that is due has happened. Does not know HTTP or GraphQL.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import count
from threading import Event, Lock

from integrations.sandbox.clock import SandboxClock
from integrations.sandbox.faults import FaultPlan
from integrations.sandbox.ledger import Ledger
from integrations.sandbox.store import Shop, gid

# How late a request whose connection dropped may still be executed: assumption A1 of the fault
# catalogue, 10 minutes.
LATENESS_BOUND = timedelta(minutes=10)
SERVED_VERSIONS = ("2026-04", "2026-07", "2026-10")
FIRST_NUMBER = 8_700_000_000_001


class World:
    """The simulated outside. Every reader and writer holds `lock`."""

    def __init__(
        self,
        *,
        starts_at: datetime | None = None,
        lateness_bound: timedelta = LATENESS_BOUND,
        first_number: int = FIRST_NUMBER,
    ) -> None:
        self.lock = Lock()
        self.clock = SandboxClock(starts_at=starts_at)
        self.ledger = Ledger()
        self.faults = FaultPlan()
        self.shops: dict[str, Shop] = {}
        self.lateness_bound: timedelta | None = lateness_bound
        self.served_versions = SERVED_VERSIONS
        self.stopping = Event()
        self._numbers = count(first_number)

    def new_id(self, kind: str) -> str:
        """Draw the next global identifier."""
        return gid(kind, next(self._numbers))

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Hold the lock over a state in which all that is due has happened."""
        with self.lock:
            self.clock.run_due()
            yield

    @contextmanager
    def left(self) -> Iterator[None]:
        """Let others in for a while, from within `entered`."""
        self.lock.release()
        try:
            yield
        finally:
            self.lock.acquire()
            self.clock.run_due()

    def served_version(self, shop: Shop | None, *, asked: str) -> str:
        """Return the API version that answers when `asked` is asked for."""
        if shop is not None and shop.served_version is not None:
            return shop.served_version
        # An expired version is served as the oldest supported one (reference, section 6; from
        # knowledge, not recorded).
        return asked if asked in self.served_versions else self.served_versions[0]
