"""GraphQL over HTTP as Shopify speaks it: bytes out, a reply in.

Promises: the bytes given are the bytes sent. A `Reply` is a JSON object that came with HTTP 200;
whatever else happens is an outcome that says what is known. The token goes into one header and
nowhere else.
Does not know what is asked, or what the reply means for a refund.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from integrations.http.client import HttpClient
from integrations.http.messages import Answer, HttpRequest
from integrations.platforms.shopify.account import ShopifyAccount
from integrations.platforms.shopify.documents import Document
from integrations.ports import CallTrace, NotSent, OutcomeUnknown

_OK = 200
_VERSION_MAX = 20
"""As much as a row keeps of it; a longer one is another version all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a GraphQL answer says, as far as it has the right shape."""

    data: Mapping[str, object] | None = field(repr=False)
    errors: Sequence[Mapping[str, object]] = field(repr=False)
    extensions: Mapping[str, object] = field(repr=False)
    trace: CallTrace


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An answer whose HTTP status is not 200."""

    status: int
    retry_after: str
    trace: CallTrace


Heard = Reply | Refusal | NotSent | OutcomeUnknown


class ShopifyClient:
    """Speaks to one shop."""

    def __init__(
        self, *, account: ShopifyAccount, http: HttpClient, deadline_seconds: float
    ) -> None:
        self._account = account
        self._http = http
        self._deadline_seconds = deadline_seconds

    def post(
        self, *, body: bytes, api_version: str, before_write: Callable[[], None] = lambda: None
    ) -> Heard:
        """Send one request body as it stands."""
        # https://shopify.dev/docs/api/admin-graphql (read 2026-11-30): address and header of a
        # call.
        request = HttpRequest(
            base=self._account.base(),
            target=f"/admin/api/{api_version}/graphql.json",
            headers={
                "X-Shopify-Access-Token": self._account.access_token,
                "Content-Type": "application/json",
                "Accept": "application/json",
            },
            body=body,
            deadline_seconds=self._deadline_seconds,
        )
        outcome = self._http.exchange(request=request, before_write=before_write)
        return _heard(outcome) if isinstance(outcome, Answer) else outcome


def body_of(document: Document, variables: Mapping[str, object]) -> bytes:
    """Write a request body: the same document and variables give the same bytes."""
    content = {"query": document.text, "operationName": document.name, "variables": variables}
    return json.dumps(content, separators=(",", ":")).encode()


def _heard(answer: Answer) -> Reply | Refusal | OutcomeUnknown:
    trace = CallTrace(
        http_status=answer.status,
        platform_request_id=_word(answer.header("X-Request-Id")),
        api_version=_word(answer.header("X-Shopify-API-Version"))[:_VERSION_MAX],
        duration_ms=answer.duration_ms,
    )
    if answer.status != _OK:
        retry_after = answer.header("Retry-After")
        return Refusal(status=answer.status, retry_after=retry_after, trace=trace)
    try:
        content = json.loads(answer.body, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return OutcomeUnknown(reason="answer_is_no_json", trace=trace)
    if not isinstance(content, dict):
        return OutcomeUnknown(reason="answer_is_no_object", trace=trace)
    return _reply(content, trace)


def _reply(content: Mapping[str, object], trace: CallTrace) -> Reply | OutcomeUnknown:
    data, errors = content.get("data"), content.get("errors") or []
    extensions = content.get("extensions")
    if not isinstance(data, dict | None) or not isinstance(errors, list):
        return OutcomeUnknown(reason="answer_is_no_graphql", trace=trace)
    return Reply(
        data=data,
        errors=[error if isinstance(error, dict) else {} for error in errors],
        extensions=extensions if isinstance(extensions, dict) else {},
        trace=trace,
    )


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def _word(text: str) -> str:
    """Cut a header's value to something short that can stand in a row and a log."""
    return "".join(letter for letter in text[:100] if letter.isascii() and letter.isprintable())
