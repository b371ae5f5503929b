"""From errors to problem documents: how every failure of the API is answered.

Promises: no error that is known becomes a 500; a refusal by the database is a conflict; nothing of
a body or a credential is repeated. Does not know the errors of tickets and actions: each view
brings its own table.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import structlog
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db import IntegrityError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from django.views import defaults
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response

from integrations.api.problems import (
    BROKEN,
    BUSY,
    CONFLICT,
    ERASED,
    FORBIDDEN,
    INVALID_FIELDS,
    MALFORMED,
    MEDIA,
    MEDIA_TYPE,
    METHOD,
    NO_SUCH_ADDRESS,
    NOT_ACCEPTABLE,
    NOT_HERE,
    THROTTLED,
    TOO_LARGE,
    UNAUTHENTICATED,
    UNREADABLE_BODY,
    Problem,
    ProblemTable,
    ProblemType,
)
from integrations.queries import NotHere
from integrations.sealed import Erased

log = structlog.get_logger(__name__)

API_PREFIX = "/api/"

_TABLE: ProblemTable = {
    exceptions.ParseError: UNREADABLE_BODY,
    UnreadablePostError: UNREADABLE_BODY,
    exceptions.NotAuthenticated: UNAUTHENTICATED,
    exceptions.AuthenticationFailed: UNAUTHENTICATED,
    exceptions.PermissionDenied: FORBIDDEN,
    PermissionDenied: FORBIDDEN,
    exceptions.NotFound: NO_SUCH_ADDRESS,
    Http404: NO_SUCH_ADDRESS,
    NotHere: NOT_HERE,
    exceptions.MethodNotAllowed: METHOD,
    exceptions.NotAcceptable: NOT_ACCEPTABLE,
    exceptions.UnsupportedMediaType: MEDIA,
    exceptions.Throttled: THROTTLED,
    RequestDataTooBig: TOO_LARGE,
    IntegrityError: CONFLICT,
    OperationalError: BUSY,
    Erased: ERASED,
}
_SPEAK_FOR_THEMSELVES = (exceptions.ParseError,)
"""Of the errors above, those whose own text is meant for the caller."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    kind: ProblemType
    detail: str
    errors: Mapping[str, Sequence[str]] | None = None
    members: Mapping[str, object] = field(default_factory=dict)

    def document(self, *, instance: str) -> dict[str, object]:
        """Return the members of the problem document, in the order of the RFC."""
        document: dict[str, object] = {
            "type": self.kind.uri,
            "title": self.kind.title,
            "status": self.kind.status.value,
            "detail": self.detail,
            "instance": instance,
        }
        if self.errors is not None:
            document["errors"] = {name: list(said) for name, said in self.errors.items()}
        return document | dict(self.members)


def answer_failure(error: Exception, context: Mapping[str, object]) -> Response | None:
    """Answer an error of a view with its problem document; None where it is none that we know."""
    view = context["view"]
    answer = _answer(error, getattr(view, "problems", {}))
    if answer is None:
        return None
    if isinstance(error, IntegrityError | OperationalError):
        log.error("api.database_refused", error=type(error).__name__, guard=_guard(error))
    request = context["request"]
    return Response(
        answer.document(instance=str(getattr(request, "path", ""))),
        status=answer.kind.status,
        headers=_headers(error, answer.kind),
        content_type=MEDIA_TYPE,
    )


def _answer(error: Exception, own: ProblemTable) -> _Answer | None:
    if isinstance(error, Problem):
        return _Answer(
            kind=error.kind, detail=error.detail, errors=error.errors, members=error.members
        )
    if isinstance(error, exceptions.ValidationError):
        errors = dict(flattened(error.detail))
        return _Answer(kind=INVALID_FIELDS, detail=INVALID_FIELDS.advice, errors=errors)
    for step in type(error).__mro__:
        if step in own:
            return _Answer(kind=own[step], detail=str(error) or str(error.__doc__))
        if step in _TABLE:
            said = str(error) if isinstance(error, _SPEAK_FOR_THEMSELVES) else ""
            return _Answer(kind=_TABLE[step], detail=said or _TABLE[step].advice)
    return None


def flattened(detail: object, *, path: str = "") -> list[tuple[str, list[str]]]:
    """Turn nested field errors into sentences by dotted names; the body as a whole is `body`."""
    if isinstance(detail, Mapping):
        return [
            entry
            for name, inner in detail.items()
            for entry in flattened(inner, path=_below(path, str(name)))
        ]
    if isinstance(detail, Sequence) and not isinstance(detail, str):
        if any(isinstance(inner, Mapping) for inner in detail):
            return [
                entry
                for number, inner in enumerate(detail)
                for entry in flattened(inner, path=_below(path, str(number)))
            ]
        return [(path or "body", [str(sentence) for sentence in detail])]
    return [(path or "body", [str(detail)])]


def _below(path: str, name: str) -> str:
    if name == "non_field_errors":
        return path
    return f"{path}.{name}" if path else name


def _headers(error: Exception, kind: ProblemType) -> dict[str, str]:
    headers = {}
    if kind is UNAUTHENTICATED:
        headers["WWW-Authenticate"] = 'Bearer realm="razviel"'
    if kind is BUSY:
        headers["Retry-After"] = "1"
    if (wait_seconds := getattr(error, "wait", None)) is not None:
        headers["Retry-After"] = f"{wait_seconds:.0f}"
    return headers


def _guard(error: Exception) -> str:
    """Return the name of the constraint or guard that refused, for the log."""
    diagnosis = getattr(error.__cause__, "diag", None)
    return str(getattr(diagnosis, "constraint_name", None) or "")


def plain_response(kind: ProblemType, request: HttpRequest) -> HttpResponse:
    """Answer with a problem document outside any view."""
    answer = _Answer(kind=kind, detail=kind.advice)
    content = JSONRenderer().render(answer.document(instance=request.path))
    return HttpResponse(content, status=kind.status, content_type=MEDIA_TYPE)


@csrf_exempt  # no cookie counts here, and a page about one would say nothing of the address
def no_such_address(request: HttpRequest) -> HttpResponse:
    """Answer what has no endpoint under the API's prefix; a redirect would lose the body."""
    return plain_response(NO_SUCH_ADDRESS, request)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer what Django refuses before any view, a foreign `Host` for instance."""
    if request.path.startswith(API_PREFIX):
        return plain_response(MALFORMED, request)
    return defaults.bad_request(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer a failure that nobody foresaw; it is in the log."""
    if request.path.startswith(API_PREFIX):
        return plain_response(BROKEN, request)
    return defaults.server_error(request)
