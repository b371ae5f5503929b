"""Problem documents (RFC 9457): how every failure of the API reads.

Promises: `type` names the kind of failure and is never renamed, `detail` says what is so and what to do, `errors` has sentences by field; a
refusal by the database is a conflict, never a crash; nothing of a body or a credential is repeated.
Does not know the errors of tickets and actions: each view brings its own table.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus

import structlog
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db import IntegrityError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from django.views import defaults
from rest_framework import exceptions
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response

from integrations.queries import NotHere
from integrations.sealed import Erased

log = structlog.get_logger(__name__)

# https://www.rfc-editor.org/rfc/rfc9457#section-3 (read 2026-11-30)
MEDIA_TYPE = "application/problem+json"

API_PREFIX = "/api/"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemType:
    """One kind of failure."""

    name: str
    """The last part of `type`; a contract with callers."""
    status: HTTPStatus
    title: str
    advice: str = ""
    """What is so and what to do, where the error itself doesn't say."""

    @property
    def uri(self) -> str:
        """Return what `type` says."""
        return f"urn:razviel:problem:{self.name}"


class Problem(Exception):
    """A failure with its own words; the answer says what to do."""

    def __init__(
        self,
        kind: ProblemType,
        *,
        detail: str = "",
        errors: Mapping[str, Sequence[str]] | None = None,
        members: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(kind.name)
        self.kind = kind
        self.detail = detail or kind.advice
        self.errors = errors
        self.members = members or {}


INVALID_FIELDS = ProblemType(
    name="invalid-fields",
    status=HTTPStatus.BAD_REQUEST,
    title="Some fields can't be taken as they are",
    advice="Nothing was written. Correct each field as its sentence in `errors` says, and send it again.",
)
UNREADABLE_BODY = ProblemType(
    name="unreadable-body",
    status=HTTPStatus.BAD_REQUEST,
    title="The body is not the JSON that this API reads",
    advice="The body broke off; send it again.",
)
UNAUTHENTICATED = ProblemType(
    name="unauthenticated",
    status=HTTPStatus.UNAUTHORIZED,
    title="No token that is valid",
    advice="Send `Authorization: Bearer` and a token that is not revoked; `manage.py token` makes one.",
)
FORBIDDEN = ProblemType(
    name="forbidden",
    status=HTTPStatus.FORBIDDEN,
    title="This token may not do this",
    advice="Use a token of an actor that may.",
)
NOT_HERE = ProblemType(
    name="not-found",
    status=HTTPStatus.NOT_FOUND,
    title="Not found",
    advice=str(NotHere.__doc__),
)
NO_SUCH_ADDRESS = ProblemType(
    name="no-such-address",
    status=HTTPStatus.NOT_FOUND,
    title="The API has no such address",
    advice="Check the address; each ends in a slash, and /api/v1/schema/ lists them all.",
)
METHOD = ProblemType(
    name="method-not-allowed",
    status=HTTPStatus.METHOD_NOT_ALLOWED,
    title="This address does not take this method",
    advice="Use a method that the `Allow` header names.",
)
NOT_ACCEPTABLE = ProblemType(
    name="not-acceptable",
    status=HTTPStatus.NOT_ACCEPTABLE,
    title="Only JSON is answered here",
    advice="Send `Accept: application/json`, or no `Accept` at all.",
)
CONFLICT = ProblemType(
    name="conflict",
    status=HTTPStatus.CONFLICT,
    title="At odds with what is recorded",
    advice="The database refused this and nothing was written. Read the ticket or intent again and decide anew.",
)
ERASED = ProblemType(
    name="erased",
    status=HTTPStatus.CONFLICT,
    title="The customer's data was erased",
    advice="What belongs to an erased customer takes nothing new: open a new ticket under another external id.",
)
LENGTH_REQUIRED = ProblemType(
    name="length-required",
    status=HTTPStatus.LENGTH_REQUIRED,
    title="The body has no stated length",
    advice="Send the body in one piece with a `Content-Length`, not chunked.",
)
TOO_LARGE = ProblemType(
    name="body-too-large",
    status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    title="The body is too large",
    advice="Send at most 1 MiB.",
)
MEDIA = ProblemType(
    name="unsupported-media-type",
    status=HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    title="The body is not declared as JSON",
    advice="Send `Content-Type: application/json`.",
)
THROTTLED = ProblemType(
    name="too-many-requests",
    status=HTTPStatus.TOO_MANY_REQUESTS,
    title="Too many requests",
    advice="Wait as long as `Retry-After` says.",
)
BROKEN = ProblemType(
    name="internal",
    status=HTTPStatus.INTERNAL_SERVER_ERROR,
    title="Razviel failed",
    advice="The failure was logged. The same request may be sent again: a proposal is never made twice.",
)
BUSY = ProblemType(
    name="busy",
    status=HTTPStatus.SERVICE_UNAVAILABLE,
    title="Razviel can't answer now",
    advice="Send the same request again in a moment: a proposal is never made twice.",
)
MALFORMED = ProblemType(
    name="malformed-request",
    status=HTTPStatus.BAD_REQUEST,
    title="The request can't be read",
    advice="Check the request line and the headers, the `Host` first of all.",
)

ProblemTable = Mapping[type[Exception], ProblemType]

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


def problem_handler(error: Exception, context: Mapping[str, object]) -> Response | None:
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
    match error:
        case Problem():
            return _Answer(
                kind=error.kind, detail=error.detail, errors=error.errors, members=error.members
            )
        case exceptions.ValidationError():
            return _Answer(
                kind=INVALID_FIELDS,
                detail=INVALID_FIELDS.advice,
                errors=dict(flattened(error.detail)),
            )
    for step in type(error).__mro__:
        if step in own:
            return _Answer(kind=own[step], detail=str(error) or str(error.__doc__))
        if step in _TABLE:
            said = str(error) if isinstance(error, _SPEAK_FOR_THEMSELVES) else ""
            return _Answer(kind=_TABLE[step], detail=said or _TABLE[step].advice)
    return None


def flattened(detail: object, *, path: str = "") -> list[tuple[str, list[str]]]:
    """Turn nested field errors into sentences by dotted field names; the body as a whole is `body`."""
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
    if isinstance(error, exceptions.Throttled) and error.wait is not None:
        headers["Retry-After"] = f"{error.wait:.0f}"
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


def no_such_address(request: HttpRequest) -> HttpResponse:
    """Answer whatever under the API's prefix has no endpoint; a redirect to a guess would lose a body."""
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
