"""Kinds of failure, as problem documents (RFC 9457) name them.

Promises: the name of a kind is a contract and never changes; its advice says what is so and what to
do. Does not know which error is which kind: that is `integrations.api.failures`, and each view's
own table.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus

# https://www.rfc-editor.org/rfc/rfc9457#section-3 (read 2026-11-30)
MEDIA_TYPE = "application/problem+json"


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
    advice="Nothing was written. Correct each field as `errors` says, and send it again.",
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
    advice="Send `Authorization: Bearer` and a valid token; `manage.py token` makes one.",
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
    advice="The workspace has nothing by this identifier: check it, and whose token it is.",
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
    advice="The database refused this; nothing was written. Read it again and decide anew.",
)
ERASED = ProblemType(
    name="erased",
    status=HTTPStatus.CONFLICT,
    title="The customer's data was erased",
    advice="It takes nothing new: open a new ticket under another external id.",
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
    advice="It was logged. The same request may be sent again: no proposal is made twice.",
)
BUSY = ProblemType(
    name="busy",
    status=HTTPStatus.SERVICE_UNAVAILABLE,
    title="Razviel can't answer now",
    advice="Send the same request again in a moment: no proposal is made twice.",
)
MALFORMED = ProblemType(
    name="malformed-request",
    status=HTTPStatus.BAD_REQUEST,
    title="The request can't be read",
    advice="Check the request line and the headers, the `Host` first of all.",
)

ProblemTable = Mapping[type[Exception], ProblemType]
"""Which error is which kind."""
