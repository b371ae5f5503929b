"""Someone who calls the API as a client would, and holds each answer to the published document.

Promises: no call goes through another door than HTTP's; every answer is checked against
`docs/openapi.yaml` by its status and media type.
Does not know what a test is after.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import yaml
from django.test import Client
from django.urls import resolve

from integrations.actors import Actor
from integrations.models import ApiToken, Workspace
from integrations.tokens import create_token

OPENAPI = Path(__file__).parent.parent / "docs" / "openapi.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back."""

    status: int
    body: Any
    response: Any

    @property
    def problem(self) -> str:
        """Return the name of the problem that it is."""
        assert self.response["Content-Type"] == "application/problem+json"
        assert self.body["status"] == self.status
        return str(self.body["type"]).removeprefix("urn:razviel:problem:")


class Caller:
    """A client with a token."""

    def __init__(self, workspace: Workspace, actor: Actor) -> None:
        self.token: ApiToken
        self.token, self.plain = create_token(workspace=workspace, name="test", actor=actor)

    def get(self, path: str, **query: str) -> Answer:
        """Ask."""
        return self.call("GET", path, query=query)

    def post(self, path: str, body: object = None) -> Answer:
        """Send JSON."""
        content = b"" if body is None else json.dumps(body).encode()
        return self.call("POST", path, content=content)

    def call(
        self,
        method: str,
        path: str,
        *,
        content: bytes = b"",
        query: dict[str, str] | None = None,
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send anything."""
        sent = {"Authorization": f"Bearer {self.plain}"} | dict(headers or {})
        response = Client(raise_request_exception=False).generic(
            method, f"/api/v1/{path}", content, content_type, headers=sent, query_params=query or {}
        )
        body = json.loads(response.content) if response.content else None
        check_against_openapi(method, f"/api/v1/{path}", response, body)
        return Answer(status=response.status_code, body=body, response=response)


@cache
def openapi() -> Any:
    """Return the published document."""
    return yaml.safe_load(OPENAPI.read_text())


def check_against_openapi(method: str, path: str, response: Any, body: object) -> None:
    """Hold an answer to what its operation promises; what is no operation promises nothing."""
    route = re.sub(r"<slug:(\w+)>", r"{\1}", "/" + resolve(path.partition("?")[0]).route)
    operation = openapi()["paths"].get(route, {}).get(method.lower())
    if operation is None:
        return
    stated = operation["responses"][str(response.status_code)]["content"]
    schema = stated[response["Content-Type"]]["schema"]
    document = {"components": openapi()["components"], **schema}
    jsonschema.Draft202012Validator(document).validate(body)
