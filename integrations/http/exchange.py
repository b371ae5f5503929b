"""One exchange as it happens: how far it got, how long it may take, whether a byte has left.

Promises: `has_written` is set before the first byte is handed to the socket and never taken back,
so that "not sent" is never said of something that left. One deadline covers everything: when it
passes, the connection is shut, which ends a read that is fed a byte a second as surely as one that
is fed none.
Does not know HTTP.
"""

import queue
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import ip_address
from types import TracebackType
from typing import Self

from integrations.addresses import forbidden

DEADLINE = "deadline"
"""The reason code where the time was over."""
ADDRESS_FORBIDDEN = "address_forbidden"
"""The reason code where a name leads to an address that must not be dialled."""


class Stage(StrEnum):
    """Where an exchange stands; the value is the reason code if it ends there."""

    RESOLVING = "name_not_resolved"
    CONNECTING = "connect_failed"
    SECURING = "tls_failed"
    FENCING = "fenced"
    WRITING = "connection_lost"


class NotConnected(Exception):
    """The exchange ended before its first byte: nothing was sent."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


Resolve = Callable[[str, int], Sequence[str]]
"""A host and a port to IP addresses; raises OSError."""
Dial = Callable[[str, int, float], socket.socket]
"""An IP address, a port and a timeout in seconds to a connected socket; raises OSError."""


def resolve(host: str, port: int) -> Sequence[str]:
    """Ask the system for the addresses of a host."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def dial(address: str, port: int, timeout_seconds: float) -> socket.socket:
    """Connect to one IP address; no name is looked up again."""
    family = socket.AF_INET6 if ip_address(address).version == 6 else socket.AF_INET
    connected = socket.socket(family, socket.SOCK_STREAM)
    try:
        connected.settimeout(timeout_seconds)
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connected.connect((address, port))
    except BaseException:
        connected.close()
        raise
    return connected


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How a client gets to the outside: its seams for tests, and the operator's leave."""

    allow_private: bool
    resolve: Resolve = resolve
    dial: Dial = dial


class Exchange:
    """The state of one exchange; use as a context manager around everything that it does."""

    def __init__(
        self, *, reach: Reach, deadline_seconds: float, before_write: Callable[[], None]
    ) -> None:
        self._reach = reach
        self._before_write = before_write
        self._started = time.monotonic()
        self._ends = self._started + deadline_seconds
        self._lock = threading.Lock()
        self._line: socket.socket | None = None
        self._watchdog = threading.Timer(deadline_seconds, self._expire)
        self._watchdog.daemon = True
        self.stage = Stage.RESOLVING
        self.has_written = False
        self._has_expired = False

    def __enter__(self) -> Self:
        self._watchdog.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._watchdog.cancel()
        with self._lock:
            if self._line is not None:
                self._line.close()
                self._line = None

    @property
    def duration_ms(self) -> int:
        """Return how long the exchange has taken."""
        return round((time.monotonic() - self._started) * 1000)

    @property
    def is_over(self) -> bool:
        """Return whether the deadline has passed."""
        return self._has_expired or time.monotonic() >= self._ends

    def time_left(self) -> float:
        """Return for how many seconds the exchange may still go on before its first byte.

        Raises:
            NotConnected: Its time is over. (After the first byte it is the watchdog that ends it.)
        """
        left = self._ends - time.monotonic()
        if left <= 0:
            raise NotConnected(DEADLINE)
        return left

    def connect(self, host: str, port: int) -> socket.socket:
        """Look the host up once, check every address, and connect to one that was checked.

        Raises:
            NotConnected: No such name, a forbidden address among the answers, or no address
                answers in time.
        """
        addresses = self._checked_addresses(host, port)
        self.stage = Stage.CONNECTING
        reason = str(self.stage)
        for position, address in enumerate(addresses):
            share = self.time_left() / (len(addresses) - position)
            try:
                return self._watched(self._reach.dial(address, port, share))
            except TimeoutError:
                reason = DEADLINE
            except OSError:
                reason = str(Stage.CONNECTING)
        raise NotConnected(reason)

    def permit_write(self) -> None:
        """Pass the last check before the first byte, once.

        Raises:
            NotConnected: The deadline passed while the check was made.
            Fenced: The check said no.
        """
        if self.has_written:
            return
        self.stage = Stage.FENCING
        self._before_write()
        self.time_left()
        self.stage = Stage.WRITING
        self.has_written = True

    def _checked_addresses(self, host: str, port: int) -> Sequence[str]:
        addresses = self._resolve_in_time(host, port)
        if not addresses:
            raise NotConnected(Stage.RESOLVING)
        # One forbidden answer condemns the name: an honest platform has none, and choosing among
        # them would let whoever answers for the name try again until we choose wrong.
        if any(
            forbidden(address, allow_private=self._reach.allow_private) for address in addresses
        ):
            raise NotConnected(ADDRESS_FORBIDDEN)
        return addresses

    def _resolve_in_time(self, host: str, port: int) -> Sequence[str]:
        if _is_address(host):
            return (host,)
        # getaddrinfo can't be interrupted, so it waits in a thread of its own and is left behind
        # if it is late.
        answers: queue.SimpleQueue[Sequence[str]] = queue.SimpleQueue()

        def ask() -> None:
            try:
                answers.put(self._reach.resolve(host, port))
            except (OSError, UnicodeError):
                answers.put(())

        threading.Thread(target=ask, name="resolve", daemon=True).start()
        try:
            return answers.get(timeout=self.time_left())
        except queue.Empty:
            raise NotConnected(DEADLINE) from None

    def _watched(self, connected: socket.socket) -> socket.socket:
        # The watchdog holds a duplicate: TLS takes the original away, and a number that was closed
        # and given out again must never be shut. Shutting the duplicate ends the connection
        # itself.
        with self._lock:
            if self._has_expired:
                connected.close()
                raise NotConnected(DEADLINE)
            self._line = connected.dup()
        self.stage = Stage.SECURING
        return connected

    def _expire(self) -> None:
        with self._lock:
            self._has_expired = True
            if self._line is not None:
                _shut(self._line)


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _shut(line: socket.socket) -> None:
    try:
        line.shutdown(socket.SHUT_RDWR)
    except OSError:
        # The other side was faster: the connection is gone, which is all that was wanted.
        return
