"""No test leaves this machine: a connection to anything but loopback is refused.

Promises: refused before a packet leaves, in every thread. Does not know: name look-ups, which
answer from the hosts file for loopback names and are refused by the address afterwards.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable

import pytest


class OutsideNetwork(AssertionError):
    """A test tried to reach another machine; give it the sandbox's address."""


def refuse_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let sockets connect to loopback and Unix sockets only."""
    for name in ("connect", "connect_ex"):
        original = getattr(socket.socket, name)
        monkeypatch.setattr(socket.socket, name, _guarded(original))


def _guarded(original: Callable[..., object]) -> Callable[..., object]:
    def connect(self: socket.socket, address: object) -> object:
        if self.family in {socket.AF_INET, socket.AF_INET6} and not _is_loopback(address):
            message = f"A test tried to reach {address!r}."
            raise OutsideNetwork(message)
        return original(self, address)

    return connect


def _is_loopback(address: object) -> bool:
    host = str(address[0]) if isinstance(address, tuple) and address else ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.split("%", maxsplit=1)[0]).is_loopback
    except ValueError:
        return False
