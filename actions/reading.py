"""Asking the store what a target holds, and keeping that it was asked.

Promises: every read that a decision stands on leaves a row with its cause, its times and what it
is worth.
Does not know what a read means: gate and reconciliation do.
"""

from dataclasses import dataclass
from datetime import datetime

from actions.models import Read, ReadCause, ReadResult, Target
from integrations.clock import now
from integrations.ports import OrderSnapshot, RefundBasis, StorePort, Unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One read with its times, by the database's clock."""

    snapshot: OrderSnapshot | Unreadable
    started_at: datetime
    finished_at: datetime

    @property
    def result(self) -> ReadResult:
        """Return what it is worth: only a complete read can prove absence."""
        if isinstance(self.snapshot, Unreadable):
            return ReadResult.ERROR
        return ReadResult.COMPLETE if self.snapshot.complete else ReadResult.TRUNCATED


def read_order(port: StorePort, *, order: str, basis: RefundBasis | None = None) -> Reading:
    """Read an order; no transaction is open.

    Args:
        port: The store.
        order: By its identifier.
        basis: What a refund of it is for, to be reckoned by the store.
    """
    started_at = now()
    snapshot = port.read_order(order=order, basis=basis)
    return Reading(snapshot=snapshot, started_at=started_at, finished_at=now())


def record_read(reading: Reading, *, target: Target, cause: ReadCause) -> Read:
    """Keep that the store was asked, and what the answer is worth."""
    snapshot, trace = reading.snapshot, reading.snapshot.trace
    return Read.objects.create(
        workspace_id=target.workspace_id,
        connection_id=target.connection_id,
        target=target,
        cause=cause,
        started_at=reading.started_at,
        finished_at=reading.finished_at,
        result=reading.result,
        reason=snapshot.reason[:200] if isinstance(snapshot, Unreadable) else "",
        http_status=trace.http_status,
        platform_request_id=trace.platform_request_id,
        duration_ms=trace.duration_ms,
    )
