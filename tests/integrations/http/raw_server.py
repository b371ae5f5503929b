"""A server made of one socket, for tests of what really crosses the line.

Promises: it speaks exactly the bytes that a test gives it, and keeps every byte that it was sent.
Does not know HTTP beyond where a request ends.
"""

import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

Speak = Callable[["Line"], None]


class Line:
    """One accepted connection."""

    def __init__(self, connected: socket.socket, stopped: threading.Event) -> None:
        self.socket = connected
        self.stopped = stopped
        self.received = b""

    def hear_request(self) -> bytes:
        """Read one request with its body."""
        while b"\r\n\r\n" not in self.received and self._hear():
            pass
        head, _, body = self.received.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
        while len(body) < length and self._hear():
            body = self.received.partition(b"\r\n\r\n")[2]
        return self.received

    def hear_something(self) -> bytes:
        """Read whatever comes first."""
        self._hear()
        return self.received

    def hear_everything(self) -> bytes:
        """Read until the other side is done."""
        while self._hear():
            pass
        return self.received

    def answer(self, raw: bytes) -> None:
        """Read a request, then say these bytes."""
        self.hear_request()
        self.socket.sendall(raw)

    def drip(self, raw: bytes) -> None:
        """Say the bytes one by one for as long as anybody takes them, then the last one again."""
        with suppress(OSError):
            while not self.stopped.is_set():
                self.socket.sendall(raw[:1])
                raw = raw[1:] or raw
                self.stopped.wait(0.005)

    def flood(self, piece: bytes) -> None:
        """Say the same again and again for as long as anybody takes it."""
        with suppress(OSError):
            while not self.stopped.is_set():
                self.socket.sendall(piece)

    def reset(self) -> None:
        """End the connection with a reset instead of a goodbye."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def _hear(self) -> bool:
        try:
            piece = self.socket.recv(65536)
        except OSError:
            return False
        self.received += piece
        return bool(piece)


class RawServer:
    """Accepts connections on loopback, one after the other, and lets a test speak on each."""

    def __init__(self, speak: Speak) -> None:
        self._speak = speak
        self._stopped = threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._last: object = None
        self.lines: list[Line] = []

    @property
    def port(self) -> int:
        return int(self._listening.getsockname()[1])

    @property
    def received(self) -> list[bytes]:
        """What came over each connection."""
        return [line.received for line in self.lines]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._stopped.set()
        # They are accepted in order: when the last one has come, every earlier one was heard.
        with socket.socket() as last:
            last.bind(("127.0.0.1", 0))
            self._last = last.getsockname()
            last.connect(self._listening.getsockname())
            self._thread.join(timeout=10)
        self._listening.close()

    def _serve(self) -> None:
        while True:
            connected, peer = self._listening.accept()
            if peer == self._last:
                connected.close()
                return
            connected.settimeout(10)
            line = Line(connected, self._stopped)
            self.lines.append(line)
            with connected, suppress(OSError):
                self._speak(line)
                line.hear_everything()
