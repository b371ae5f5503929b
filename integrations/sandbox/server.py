"""The sandbox's HTTP server, on the loopback address only.

Promises: speaks HTTP/1.1 and answers `POST /shops/{shop}/admin/api/{version}/graphql.json` as
Shopify, so that `http://127.0.0.1:PORT/shops/{shop}` is a connection's base URL; `POST
/control/{command}` and `GET /control/ledger` for whoever plays fate. Stops cleanly: every hang is
let go, every connection closed.
"""

import json
import re
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

from integrations.sandbox.commands import ControlRefused
from integrations.sandbox.control import perform
from integrations.sandbox.delivery import SocketWire, deliver
from integrations.sandbox.service import Incoming, Reply, plain, serve
from integrations.sandbox.shopify.schema import load_schema
from integrations.sandbox.surface import SandboxControls
from integrations.sandbox.world import FIRST_NUMBER, World

GRAPHQL = re.compile(r"/shops/(?P<shop>[^/]+)/admin/api/(?P<version>[^/]+)/graphql\.json")
CONTROL = re.compile(r"/control/(?P<command>[a-z_]+)")


class Sandbox(SandboxControls):
    """A sandbox in this process: the world, and the server in front of it."""

    def __init__(
        self,
        *,
        port: int = 0,
        starts_at: datetime | None = None,
        first_number: int = FIRST_NUMBER,
    ) -> None:
        load_schema()
        self._world = World(starts_at=starts_at, first_number=first_number)
        self._server = _Server(("127.0.0.1", port), self._world)
        url = f"http://127.0.0.1:{self._server.server_address[1]}"
        super().__init__(self._in_process, url=url)

    @classmethod
    @contextmanager
    def running(cls, *, port: int = 0, starts_at: datetime | None = None) -> Iterator["Sandbox"]:
        """Run a sandbox for the time of a `with` block.

        Args:
            port: 0 for any that is free.
            starts_at: the clock then stands still unless advanced; else it is the wall clock.
        """
        sandbox = cls(port=port, starts_at=starts_at)
        thread = Thread(target=sandbox.serve, name="sandbox")
        thread.start()
        try:
            yield sandbox
        finally:
            sandbox.stop()
            thread.join()

    def serve(self) -> None:
        """Serve until `stop`; then let go what hangs and close every connection."""
        try:
            self._server.serve_forever(poll_interval=0.02)
        finally:
            self._world.stopping.set()
            with self._world.lock:
                self._world.faults.release()
            self._server.hang_up()
            self._server.server_close()

    def stop(self) -> None:
        """Make `serve` return. To be called from another thread."""
        self._server.shutdown()

    def _in_process(
        self, command: str, arguments: dict[str, object]
    ) -> Any:  # the commands' shapes
        # Through JSON and back, so that what works in process works over HTTP.
        told = perform(self._world, command, json.loads(json.dumps(arguments)))
        return json.loads(json.dumps(told))


class _Server(ThreadingHTTPServer):
    """Keeps its threads and connections, so that none outlives it."""

    daemon_threads = False
    request_queue_size = 256
    allow_reuse_address = True

    def __init__(self, address: tuple[str, int], world: World) -> None:
        self.world = world
        self._open: set[socket.socket] = set()
        self._guard = Lock()
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        """Bind without asking any name server who we are."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def keep(self, connection: socket.socket) -> None:
        """Remember a connection that has opened."""
        with self._guard:
            self._open.add(connection)

    def drop(self, connection: socket.socket) -> None:
        """Forget one that is closing."""
        with self._guard:
            self._open.discard(connection)

    def hang_up(self) -> None:
        """End every connection, so that no thread waits for a request that never comes."""
        with self._guard:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(
        self, request: Any, client_address: Any
    ) -> None:  # socketserver's own signature
        """Pass over callers that went away: that is what many tests do on purpose."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def setup(self) -> None:
        """Take the connection."""
        super().setup()
        self.server.keep(self.connection)

    def finish(self) -> None:
        """Give it back."""
        self.server.drop(self.connection)
        super().finish()

    def do_POST(self) -> None:  # the name that http.server calls
        """Route a POST."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        asked = GRAPHQL.fullmatch(self.path)
        control = CONTROL.fullmatch(self.path)
        if asked:
            token = self.headers.get("X-Shopify-Access-Token") or ""
            self._send(
                serve(
                    self.server.world,
                    Incoming(shop=asked["shop"], version=asked["version"], token=token, body=body),
                )
            )
        elif control:
            self._send(self._controlled(control["command"], body))
        else:
            self._send(plain(404))

    def do_GET(self) -> None:  # as above
        """Tell the ledger, or the time as a sign of life."""
        control = CONTROL.fullmatch(self.path)
        known = control is not None and control["command"] in {"ledger", "now"}
        self._send(self._controlled(control["command"], b"{}") if control and known else plain(404))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # http.server's own signature
        """Keep silent: the ledger is the log."""

    def _controlled(self, command: str, body: bytes) -> Reply:
        try:
            told = {"result": perform(self.server.world, command, json.loads(body or b"{}"))}
        except (ControlRefused, ValueError) as refused:
            return Reply(status=400, body=json.dumps({"error": str(refused)}).encode())
        return Reply(status=200, body=json.dumps(told).encode())

    def _send(self, reply: Reply) -> None:
        wire = SocketWire(self.connection, before_reset=self.rfile.close)
        if not deliver(reply, wire, stopping=self.server.world.stopping):
            self.close_connection = True
