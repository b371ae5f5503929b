"""The simulated store's memory for idempotency keys.

Promises: a key lives 24 h from its first request, scoped to shop and app; within that time a repeat
is told apart from a mismatch, a concurrent call and an earlier failure. Can be told to forget
everything. Does not know what a key guards: the caller says what to remember, and rebuilds a replay
from the present state.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


class Admission(StrEnum):
    """What a key says to a request that brings it."""

    NEW = "new"
    REPLAY = "replay"
    IN_PROGRESS = "in_progress"
    MISMATCH = "mismatch"
    PREVIOUS_FAILED = "previous_failed"


class Carrier(StrEnum):
    """How key errors reach the caller: not recorded for refundCreate, so it can be chosen."""

    USER_ERRORS = "user_errors"
    TOP_LEVEL = "top_level"


class AfterRefusal(StrEnum):
    """What a repeat gets after a refusal by user error: undocumented, so it can be chosen."""

    RUN_AGAIN = "run_again"
    PREVIOUS_FAILED = "previous_failed"


# https://shopify.dev/docs/api/usage/implementing-idempotency and the error enums of the schema,
# read 2026-11-30.
MESSAGES = {
    Admission.IN_PROGRESS: (
        "IDEMPOTENCY_CONCURRENT_REQUEST",
        "This request is currently in progress, please try again.",
    ),
    Admission.MISMATCH: (
        "IDEMPOTENCY_KEY_PARAMETER_MISMATCH",
        "The same idempotency key cannot be used with different operation parameters.",
    ),
    Admission.PREVIOUS_FAILED: (
        "IDEMPOTENCY_PREVIOUS_ATTEMPT_FAILED",
        "A previous request with this idempotency key failed. Retry with a new idempotency key.",
    ),
}
# https://shopify.dev/docs/api/usage/implementing-idempotency, read 2026-11-30: 24 h from the
# original request.
KEPT_FOR = timedelta(hours=24)


@dataclass(slots=True, kw_only=True)
class _Entry:
    first_at: datetime
    fingerprint: str
    result_id: str | None = None
    failed: bool = False
    in_progress: bool = True


class KeyMemory:
    """What one shop remembers of keys. Callers hold the world's lock."""

    def __init__(self) -> None:
        self.remembers = True
        self.kept_for = KEPT_FOR
        self.carrier = Carrier.USER_ERRORS
        self.after_refusal = AfterRefusal.RUN_AGAIN
        self._entries: dict[tuple[str, str], _Entry] = {}

    def admit(
        self, *, app_id: str, key: str, fingerprint: str, now: datetime
    ) -> tuple[Admission, str | None]:
        """Say whether a request may run; a replay comes with the identifier of the first result."""
        name = (app_id, key)
        entry = self._entries.get(name)
        if not self.remembers or entry is None or now >= entry.first_at + self.kept_for:
            self._entries[name] = _Entry(first_at=now, fingerprint=fingerprint)
            return Admission.NEW, None
        if entry.fingerprint != fingerprint:
            return Admission.MISMATCH, None
        if entry.in_progress:
            return Admission.IN_PROGRESS, None
        if entry.failed:
            return Admission.PREVIOUS_FAILED, None
        return Admission.REPLAY, entry.result_id

    def settle(self, *, app_id: str, key: str, result_id: str | None) -> None:
        """Remember what the admitted request made; None if it was refused."""
        entry = self._entries.get((app_id, key))
        if entry is None:
            # Forgotten while it ran.
            return
        entry.in_progress = False
        entry.result_id = result_id
        entry.failed = result_id is None
        if entry.failed and self.after_refusal is AfterRefusal.RUN_AGAIN:
            del self._entries[app_id, key]

    def forget(self) -> None:
        """Drop every key remembered so far, as a store that purges early."""
        self._entries.clear()
