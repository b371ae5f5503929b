"""The view that every endpoint is made from.

Promises: a token or 401; https or 403, never a redirect; query parameters as strict as bodies; what
is answered is kept by no cache; a document is read at one moment.
Does not know what is asked.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, ClassVar

from django.conf import settings
from django.db import connection, transaction
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from integrations.actors import Actor
from integrations.api.authentication import BearerAuthentication, HasToken
from integrations.api.bodies import Body, NoBody
from integrations.api.problems import LENGTH_REQUIRED, Problem, ProblemTable, ProblemType
from integrations.models import ApiToken, Workspace

PLAIN_HTTP = ProblemType(
    name="plain-http",
    status=HTTPStatus.FORBIDDEN,
    title="The token came unencrypted",
    advice="Send it to https. Whoever could read this has the token: revoke it, make another.",
)


class ApiView(APIView):
    """An endpoint of the API."""

    http_method_names = ["get", "head", "post", "put", "patch", "delete"]  # what `Allow` may name
    authentication_classes = (BearerAuthentication,)
    permission_classes = (HasToken,)
    query: ClassVar[type[Body]] = NoBody
    """What the query string may say."""
    problems: ClassVar[ProblemTable] = {}
    """How the errors of this endpoint's services are answered."""

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        """Let the request in, or say why not."""
        if settings.SECURE_SSL_REDIRECT and not request.is_secure():
            raise Problem(PLAIN_HTTP)
        super().initial(request, *args, **kwargs)
        if "chunked" in request.headers.get("Transfer-Encoding", "").lower():
            raise Problem(LENGTH_REQUIRED)
        self.asked = read_as(self.query, _single(request.query_params.lists()))

    def finalize_response(
        self, request: Request, response: Any, *args: object, **kwargs: object
    ) -> Any:
        """Let no cache keep what only this token may see."""
        finalized = super().finalize_response(request, response, *args, **kwargs)
        finalized.headers.setdefault("Cache-Control", "no-store")
        return finalized

    @property
    def token(self) -> ApiToken:
        """Return the caller's token."""
        if not isinstance(self.request.auth, ApiToken):
            raise TypeError("A view without HasToken asked for the token.")
        return self.request.auth

    @property
    def workspace(self) -> Workspace:
        """Return the workspace in which everything is looked up."""
        return self.token.workspace

    @property
    def actor(self) -> Actor:
        """Return whom the token speaks for."""
        return self.token.actor

    def body(self, kind: type[Body]) -> dict[str, Any]:
        """Return the request's body, read as `kind`.

        Raises:
            ValidationError: With sentences by field.
        """
        return read_as(kind, self.request.data)

    def document(self, data: object, *, status: HTTPStatus = HTTPStatus.OK) -> Response:
        """Answer with a document."""
        return Response(data, status=status)


def read_as(kind: type[Body], data: object) -> dict[str, Any]:
    """Read data as a kind of body.

    Raises:
        ValidationError: With sentences by field.
    """
    reader = kind(data=data)
    reader.is_valid(raise_exception=True)
    return dict(reader.validated_data)


def _single(parameters: Any) -> Mapping[str, str]:
    """Take each query parameter once; an empty one is as good as none."""
    found = dict(parameters)
    twice = {name: ["It is given twice; give it once."] for name in found if len(found[name]) > 1}
    if twice:
        raise ValidationError(twice)
    return {name: value for name, (value,) in found.items() if value}


@contextmanager
def one_moment() -> Iterator[None]:
    """Read everything inside as it stood at one moment, so that no document shows half a move."""
    with transaction.atomic(durable=True):
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield
