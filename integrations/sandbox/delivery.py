"""How an answer's bytes reach the caller, or do not: every way to spoil them on the wire.

Promises: what is sent is what the fault says, byte for byte the same each time. Endless deliveries
end when the caller goes away or the sandbox stops.
"""

import json
import socket
import struct
import zlib
from collections.abc import Callable, Iterator
from http.client import responses
from threading import Event
from typing import Protocol

from integrations.sandbox.faults import Fault, FaultKind
from integrations.sandbox.service import Reply

CHUNK = 64 * 1024
ENDLESS = 1_000_000_000
PAGE = b"<!DOCTYPE html><html><body><h1>Something went wrong</h1></body></html>"


class Wire(Protocol):
    """The caller's end of a connection."""

    def send(self, data: bytes) -> None:
        """Write all of the data.

        Raises:
            OSError: the caller has gone.
        """

    def reset(self) -> None:
        """End the connection with a TCP reset."""


class SocketWire:
    """A connection over a real socket."""

    def __init__(self, connection: socket.socket, *, before_reset: Callable[[], object]) -> None:
        self._connection, self._before_reset = connection, before_reset

    def send(self, data: bytes) -> None:
        """Write all of the data."""
        self._connection.sendall(data)

    def reset(self) -> None:
        """Close with a lingering time of zero, so that the peer sees a reset instead of an end."""
        self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._before_reset()
        self._connection.close()


def deliver(reply: Reply, wire: Wire, *, stopping: Event) -> bool:
    """Send a reply; False if the connection can't be used again."""
    spoil = _SPOILERS.get(reply.fault.kind) if reply.fault else None
    if spoil is None or reply.fault is None:
        wire.send(head(reply, length=len(reply.body)) + reply.body)
        return True
    spoil(reply, reply.fault, wire, stopping)
    return reply.fault.kind in _REUSABLE


def head(reply: Reply, *, length: int | None, extra: dict[str, str] | None = None) -> bytes:
    """Spell status line and headers; without a length the connection's end is the body's."""
    phrase = responses.get(reply.status, "Rejected")
    headers = reply.headers | (extra or {})
    headers["Connection" if length is None else "Content-Length"] = (
        "close" if length is None else str(length)
    )
    lines = [
        f"HTTP/1.1 {reply.status} {phrase}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def _silence(_reply: Reply, _fault: Fault, _wire: Wire, _stopping: Event) -> None:
    """Say nothing: the connection is closed behind this."""


def _reset(reply: Reply, _fault: Fault, wire: Wire, _stopping: Event) -> None:
    wire.send(head(reply, length=len(reply.body)) + reply.body[: len(reply.body) // 2])
    wire.reset()


def _truncated_body(reply: Reply, _fault: Fault, wire: Wire, _stopping: Event) -> None:
    wire.send(head(reply, length=len(reply.body)) + reply.body[: len(reply.body) // 2])


def _truncated_json(reply: Reply, _fault: Fault, wire: Wire, _stopping: Event) -> None:
    body = reply.body[: len(reply.body) // 2]
    wire.send(head(reply, length=len(body)) + body)


def _html(reply: Reply, _fault: Fault, wire: Wire, _stopping: Event) -> None:
    wire.send(head(reply, length=len(PAGE), extra={"Content-Type": "text/html"}) + PAGE)


def _bad_charset(reply: Reply, _fault: Fault, wire: Wire, _stopping: Event) -> None:
    body = json.dumps({"data": "?"}).encode().replace(b"?", b"\xff\xfe\xfd")
    wire.send(head(reply, length=len(body)) + body)


def _oversize(reply: Reply, fault: Fault, wire: Wire, stopping: Event) -> None:
    wire.send(head(reply, length=None) + b'{"data": "')
    for _ in range(0, fault.size_bytes, CHUNK):
        if stopping.is_set():
            return
        wire.send(b" " * CHUNK)


def _gzip_bomb(reply: Reply, fault: Fault, wire: Wire, stopping: Event) -> None:
    wire.send(head(reply, length=None, extra={"Content-Encoding": "gzip"}))
    for chunk in _packed(fault.size_bytes):
        if stopping.is_set():
            return
        wire.send(chunk)


def _packed(size_bytes: int) -> Iterator[bytes]:
    packer = zlib.compressobj(level=9, wbits=31)
    for _ in range(0, size_bytes, CHUNK):
        yield packer.compress(b" " * CHUNK)
    yield packer.flush()


def _dripping_body(reply: Reply, fault: Fault, wire: Wire, stopping: Event) -> None:
    wire.send(head(reply, length=ENDLESS))
    _drip(fault, wire, stopping)


def _dripping_headers(_reply: Reply, fault: Fault, wire: Wire, stopping: Event) -> None:
    wire.send(b"HTTP/1.1 200 OK\r\nX-Drip: ")
    _drip(fault, wire, stopping)


def _drip(fault: Fault, wire: Wire, stopping: Event) -> None:
    while not stopping.wait(fault.interval_seconds):
        wire.send(b" ")


_REUSABLE = {FaultKind.TRUNCATED_JSON, FaultKind.HTML, FaultKind.BAD_CHARSET}
_SPOILERS: dict[FaultKind, Callable[[Reply, Fault, Wire, Event], None]] = {
    FaultKind.LOST_BEFORE: _silence,
    FaultKind.LOST_AFTER: _silence,
    FaultKind.LATE: _silence,
    FaultKind.RESET_MID_ANSWER: _reset,
    FaultKind.TRUNCATED_BODY: _truncated_body,
    FaultKind.TRUNCATED_JSON: _truncated_json,
    FaultKind.HTML: _html,
    FaultKind.BAD_CHARSET: _bad_charset,
    FaultKind.OVERSIZE: _oversize,
    FaultKind.GZIP_BOMB: _gzip_bomb,
    FaultKind.DRIPPING_BODY: _dripping_body,
    FaultKind.DRIPPING_HEADERS: _dripping_headers,
}
