"""The REST API as an integration holds it: JSON over HTTP with a token.

Promises: standard library only, one connection a call; an answer that is no success is raised with
the sentence of its problem document. Does not know what is asked.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any, TypeAlias
from urllib.parse import urlsplit

Document: TypeAlias = dict[str, Any]
"""A JSON object in the API's own shape."""

_TIMEOUT_SECONDS = 30.0
_SUCCESSES = range(200, 300)


class ApiRefused(Exception):
    """The API answered with a problem document; the message is what it says."""

    def __init__(self, asked: str, *, status: int, text: bytes) -> None:
        super().__init__(f"{asked}: {status} {_problem(text)}")
        self.status = status
        self.document = _document(text)

    @property
    def name(self) -> str:
        """Return the last part of the problem's type, which is a contract."""
        return str(self.document.get("type", "")).rpartition(":")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A success: 200, 201 or 202, and the document."""

    status: int
    document: Document


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """The API at an address, for one token's actor and workspace."""

    url: str
    token: str

    def post(self, path: str, body: Mapping[str, object]) -> Answer:
        """Send a document.

        Raises:
            ApiRefused: The answer is no success.
        """
        return self._call("POST", path, body)

    def get(self, path: str) -> Document:
        """Look something up.

        Raises:
            ApiRefused: The answer is no success.
        """
        return self._call("GET", path, None).document

    def _call(self, method: str, path: str, body: Mapping[str, object] | None) -> Answer:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        connection = HTTPConnection(str(urlsplit(self.url).netloc), timeout=_TIMEOUT_SECONDS)
        try:
            sent = None if body is None else json.dumps(body)
            connection.request(method, f"/api/v1/{path}", sent, headers)
            answer = connection.getresponse()
            status, text = answer.status, answer.read()
        finally:
            connection.close()
        if status not in _SUCCESSES:
            raise ApiRefused(f"{method} {path}", status=status, text=text)
        return Answer(status=status, document=json.loads(text))


def _problem(text: bytes) -> str:
    problem = _document(text)
    if "title" not in problem:
        return text[:200].decode(errors="replace")
    return f"{problem['title']}. {problem.get('detail', '')} {problem.get('errors', '')}".strip()


def _document(text: bytes) -> Document:
    """Read a problem document; empty where it is a proxy's or a server's page instead."""
    try:
        read = json.loads(text)
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}
