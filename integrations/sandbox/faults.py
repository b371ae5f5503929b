"""The faults that the sandbox can be told to commit, and which request gets which.

Promises: deterministic: faults are taken in the order they were declared, each for the next so-many
matching requests, so the same requests meet the same faults. Knows only what each kind means; how
it is done is in `delivery`, `tampering` and `service`.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from threading import Event


class FaultKind(StrEnum):
    """What goes wrong. Unless it says otherwise the request is executed."""

    LOST_BEFORE = "lost_before"
    """The request is read and the connection closed. Not executed."""
    LOST_AFTER = "lost_after"
    """Executed; the connection is closed without an answer."""
    LATE = "late"
    """The connection is closed at once; executed `delay` later on the sandbox's clock."""
    RESET_MID_ANSWER = "reset_mid_answer"
    """Half the answer, then a TCP reset."""
    TRUNCATED_BODY = "truncated_body"
    """Fewer bytes than Content-Length says, then an orderly close."""
    TRUNCATED_JSON = "truncated_json"
    """A complete HTTP answer whose JSON breaks off."""
    STATUS_BEFORE = "status_before"
    """HTTP `status` instead of an execution (401, 402, 403, 423, 430, 500, 502, 503, 504 …)."""
    STATUS_AFTER = "status_after"
    """Executed, then HTTP `status`."""
    TOO_MANY_REQUESTS = "too_many_requests"
    """HTTP 429 with Retry-After. Not executed."""
    THROTTLED = "throttled"
    """HTTP 200 with the THROTTLED error. Not executed."""
    ACCESS_DENIED = "access_denied"
    """ACCESS_DENIED at the root field. Not executed."""
    INTERNAL_ERROR_BEFORE = "internal_error_before"
    """INTERNAL_SERVER_ERROR without a path. Not executed."""
    INTERNAL_ERROR_AFTER = "internal_error_after"
    """Executed, then INTERNAL_SERVER_ERROR without a path."""
    DEEP_ERROR = "deep_error"
    """Executed; an error deeper than the root nulls `nulls` ("refund", "order", "payload")."""
    NO_ID = "no_id"
    """Executed; 200 with `refund: null` and no errors at all."""
    NO_ID_BEFORE = "no_id_before"
    """The same answer without an execution."""
    WRONG_ID_TYPE = "wrong_id_type"
    """Executed; the refund's id is the order's gid."""
    OTHER_ID = "other_id"
    """Executed; the refund's id is `other` (of another order's), else one that exists nowhere."""
    WRONG_AMOUNT = "wrong_amount"
    """Executed as asked; the answer says `amount` in every transaction."""
    WRONG_CURRENCY = "wrong_currency"
    """Executed as asked; the answer says `currency`."""
    WRONG_VERSION = "wrong_version"
    """Executed; the header says that `version` answered."""
    REDIRECT = "redirect"
    """HTTP 307 to `url`. Not executed."""
    HTML = "html"
    """Executed; 200 with a page of HTML."""
    OVERSIZE = "oversize"
    """Executed; a body that goes on for `size_bytes`, no Content-Length."""
    GZIP_BOMB = "gzip_bomb"
    """Executed; Content-Encoding gzip, `size_bytes` of spaces when unpacked."""
    BAD_CHARSET = "bad_charset"
    """Executed; bytes that are not UTF-8."""
    DRIPPING_BODY = "dripping_body"
    """Executed; one byte of the body each `interval`, for ever."""
    DRIPPING_HEADERS = "dripping_headers"
    """Executed; one byte of a header each `interval`, for ever."""
    HANG_BEFORE = "hang_before"
    """Waits until released, then executes and answers."""
    HANG_EXECUTING = "hang_executing"
    """Claims its key, waits until released with the key in progress, then executes, answers."""
    HANG_AFTER = "hang_after"
    """Executes, waits until released, then answers."""
    ORDER_NULL = "order_null"
    """A read answers `order: null`."""
    READ_ERROR = "read_error"
    """A read answers INTERNAL_SERVER_ERROR. Nothing is said of the object."""
    TRUNCATED_REFUNDS = "truncated_refunds"
    """A read gives the first `keep` refunds of an order; its agreements say that there are more,
    and those are out of reach by identifier too, until the order's list is read without it."""


NOT_EXECUTED = {
    FaultKind.LOST_BEFORE,
    FaultKind.LATE,
    FaultKind.STATUS_BEFORE,
    FaultKind.TOO_MANY_REQUESTS,
    FaultKind.THROTTLED,
    FaultKind.ACCESS_DENIED,
    FaultKind.INTERNAL_ERROR_BEFORE,
    FaultKind.NO_ID_BEFORE,
    FaultKind.REDIRECT,
    FaultKind.READ_ERROR,
}


HANGS = {FaultKind.HANG_BEFORE, FaultKind.HANG_EXECUTING, FaultKind.HANG_AFTER}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One declared fault: what, on which requests, how often."""

    number: int
    shop: str
    kind: FaultKind
    released: Event
    reached: Event
    """Set once a request has met it; a hang has by then gone as far as it goes."""
    operation: str | None = None
    """The root field it waits for (`refundCreate`, `order`); None for any."""
    containing: str | None = None
    """Only requests whose body contains this text (a marker, an order's gid)."""
    skip: int = 0
    """How many matching requests pass unharmed first."""
    times: int | None = 1
    """For how many matching requests; None for always."""
    status: int = 503
    retry_after_seconds: int = 2
    delay: timedelta = timedelta(minutes=1)
    interval_seconds: float = 0.05
    size_bytes: int = 64 * 1024 * 1024
    amount: str = "0.01"
    currency: str = "XTS"
    version: str = "2025-10"
    url: str = "http://127.0.0.1:9/elsewhere"
    nulls: str = "refund"
    other: str | None = None
    keep: int = 0

    def hang(self) -> None:
        """Wait until released. To be called without the world's lock."""
        self.reached.set()
        self.released.wait()

    @property
    def executes(self) -> bool:
        """Does a request that meets it still run?"""
        return self.kind not in NOT_EXECUTED


class FaultPlan:
    """The faults declared and not yet used up. Callers hold the world's lock."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._met: dict[int, int] = {}
        self._all: dict[int, Fault] = {}
        self._left_out: dict[tuple[str, str], frozenset[str]] = {}

    @property
    def next_number(self) -> int:
        """The number that the next fault gets, from 1."""
        return len(self._all) + 1

    def declare(self, fault: Fault) -> None:
        """Add a fault behind those declared earlier."""
        self._faults.append(fault)
        self._all[fault.number] = fault

    def take(self, *, shop: str, operation: str, body: str) -> Fault | None:
        """Return the fault that this request meets, and count it."""
        for fault in list(self._faults):
            if not _matches(fault, shop=shop, operation=operation, body=body):
                continue
            met = self._met[fault.number] = self._met.get(fault.number, 0) + 1
            if met <= fault.skip:
                continue
            if fault.times is not None and met >= fault.skip + fault.times:
                self._faults.remove(fault)
            return fault
        return None

    def leave_out(self, *, shop: str, order: str, refunds: frozenset[str]) -> None:
        """Note what the last list of an order's refunds did not show for a fault."""
        self._left_out.pop((shop, order), None)
        if refunds:
            self._left_out[shop, order] = refunds

    def left_out(self, *, shop: str, order: str) -> frozenset[str]:
        """Return the refunds of an order that can't be reached for a fault."""
        return self._left_out.get((shop, order), frozenset())

    def find(self, number: int) -> Fault | None:
        """Return a declared fault, also one that is used up."""
        return self._all.get(number)

    def release(self, number: int | None = None) -> None:
        """Let go what hangs: one fault's requests, or all."""
        for fault in self._all.values():
            if number in (None, fault.number):
                fault.released.set()

    def clear(self, shop: str) -> None:
        """Declare a shop healthy: drop its faults, and let go what hangs."""
        for fault in [fault for fault in self._all.values() if fault.shop == shop]:
            fault.released.set()
        self._faults = [fault for fault in self._faults if fault.shop != shop]
        self._left_out = {key: out for key, out in self._left_out.items() if key[0] != shop}


def _matches(fault: Fault, *, shop: str, operation: str, body: str) -> bool:
    return (
        fault.shop == shop
        and fault.operation in (None, operation)
        and (fault.containing is None or fault.containing in body)
    )
