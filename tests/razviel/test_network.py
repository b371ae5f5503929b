"""No test leaves this machine."""

from __future__ import annotations

import socket

import pytest

from tests.network import OutsideNetwork


# Documentation addresses: https://www.rfc-editor.org/rfc/rfc5737 (read 2026-11-30).
@pytest.mark.parametrize(
    ("family", "address"),
    [
        (socket.AF_INET, ("192.0.2.1", 443)),
        (socket.AF_INET, ("shop.example", 443)),
        (socket.AF_INET6, ("2001:db8::1", 443)),
    ],
)
def test_another_machine_is_refused(family: socket.AddressFamily, address: tuple[str, int]) -> None:
    with socket.socket(family) as outside, pytest.raises(OutsideNetwork):
        outside.connect(address)


def test_loopback_is_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as caller:
        caller.connect(server.getsockname())
        assert caller.getpeername() == server.getsockname()
