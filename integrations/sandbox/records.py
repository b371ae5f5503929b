"""What the controls of a sandbox take and hand out, and its clock and ledger.

Promises: records are read-only copies. Knows only how to perform a command, not where.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from integrations.sandbox.ledger import Effect, Received, effect_from_json, received_from_json

# What a command answers is JSON of a shape that its own caller below knows.
Perform: TypeAlias = Callable[[str, dict[str, object]], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedOrder:
    """An order on a simulated shop."""

    id: str
    name: str
    payments: tuple[str, ...]
    """Its payments' transaction identifiers, in order."""
    lines: tuple[str, ...]
    duties: tuple[str, ...]
    """Those of all lines, in order; a line without one has none."""
    customer: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeRefund:
    """A refund on a simulated shop, with its transactions' statuses by identifier."""

    id: str
    transactions: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Payment:
    """A payment to place an order with."""

    amount: str
    gateway: str = "manual"
    kind: str = "SALE"
    status: str = "SUCCESS"


class DeclaredFault:
    """A fault that waits for its requests."""

    def __init__(self, perform: Perform, number: int) -> None:
        self._perform = perform
        self.number = number

    def reached(self, *, timeout_seconds: float = 10.0) -> bool:
        """Wait until a request has met it, and a hang holds that request; False if none has."""
        asked: dict[str, object] = {"number": self.number, "timeout_seconds": timeout_seconds}
        return bool(self._perform("reached", asked))

    def release(self) -> None:
        """Let go the requests that hang on it, those to come included."""
        self._perform("release", {"number": self.number})


class ClockControls:
    """The sandbox's clock."""

    def __init__(self, perform: Perform) -> None:
        self._perform = perform

    def now(self) -> datetime:
        """Tell the sandbox's time."""
        return datetime.fromisoformat(self._perform("now", {}))

    def advance(self, by: timedelta) -> datetime:
        """Move it forward, do what becomes due, and tell the new time."""
        return datetime.fromisoformat(self._perform("advance", {"seconds": by.total_seconds()}))


class LedgerView:
    """The ground truth, read afresh at each call."""

    def __init__(self, perform: Perform) -> None:
        self._perform = perform

    def effects(self, *, shop: str | None = None, order: str | None = None) -> tuple[Effect, ...]:
        """Return every refund that the stores hold, oldest first."""
        told = self._perform("ledger", {"shop": shop, "order": order})
        return tuple(effect_from_json(item) for item in told["effects"])

    def requests(
        self, *, shop: str | None = None, operation: str | None = None
    ) -> tuple[Received, ...]:
        """Return every request that arrived, oldest first."""
        told = self._perform("ledger", {"shop": shop})
        found = (received_from_json(item) for item in told["requests"])
        return tuple(item for item in found if operation in (None, item.operation))
