"""A sandbox in another process, held by the same methods.

Promises: every method of `SandboxControls`, over `/control/`. Standard library only, so that the
demo needs nothing.
"""

import json
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

from integrations.sandbox.commands import ControlRefused
from integrations.sandbox.surface import SandboxControls

TIMEOUT_SECONDS = 10.0


class ControlClient(SandboxControls):
    """Controls the sandbox that listens at an address such as `http://127.0.0.1:8900`."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 80
        super().__init__(self._post, url=url.rstrip("/"))

    def _post(self, command: str, arguments: dict[str, object]) -> Any:  # the commands' own shapes
        connection = HTTPConnection(self._host, self._port, timeout=TIMEOUT_SECONDS)
        try:
            body = json.dumps(arguments)
            connection.request(
                "POST", f"/control/{command}", body, {"Content-Type": "application/json"}
            )
            answer = connection.getresponse()
            told = json.loads(answer.read())
        finally:
            connection.close()
        if answer.status != 200:  # HTTP's own word for done
            raise ControlRefused(str(told["error"]))
        return told["result"]
