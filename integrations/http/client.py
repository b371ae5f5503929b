"""The one HTTP client: one exchange, one connection, one deadline, and one of three outcomes.

Promises: an `Answer` is complete; `NotSent` is said only where no byte was handed to the socket;
whatever else happens is `OutcomeUnknown`. No redirect is followed, nothing is retried, nothing is
inflated, at most 1 MiB is read. It refuses to run while a database transaction is open, since a
rollback can't take back what a platform has done.
Does not know any platform, or what a status means.
"""

import ssl
from collections.abc import Callable
from functools import lru_cache

import structlog
from django.db import connections
from requests import PreparedRequest, Request, RequestException, Response
from requests.utils import DEFAULT_CA_BUNDLE_PATH
from urllib3.exceptions import HTTPError

from integrations.http.connection import OneExchange
from integrations.http.exchange import ADDRESS_FORBIDDEN, DEADLINE, Exchange, NotConnected, Reach
from integrations.http.messages import Answer, HttpOutcome, HttpRequest
from integrations.ports import BlockedBy, CallTrace, Fenced, NotSent, OutcomeUnknown

BODY_MAX_BYTES = 1024 * 1024
_PIECE_BYTES = 64 * 1024

_TRANSPORT_FAILURES = (RequestException, HTTPError, OSError)

log = structlog.get_logger(__name__)


class TransactionOpen(RuntimeError):
    """A platform was to be called inside a transaction: commit, call, then settle in another."""


class _NotReadable(Exception):
    """The answer began and can't be read to its end as it stands."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def transaction_is_open() -> bool:
    """Return whether this thread has a database transaction open, on any connection."""
    return any(
        connection.in_atomic_block
        or (connection.connection is not None and not connection.autocommit)
        for connection in connections.all(initialized_only=True)
    )


@lru_cache(maxsize=4)
def trusted(ca_file: str) -> ssl.SSLContext:
    """Return what certificates are checked against; reading the bundle costs more than many a call.

    Args:
        ca_file: A bundle of certificates; empty for the one that ships with requests.
    """
    return ssl.create_default_context(cafile=ca_file or DEFAULT_CA_BUNDLE_PATH)


class HttpClient:
    """Makes exchanges.

    Args:
        reach: What may be connected to, and how.
        ca_file: A bundle of certificates to trust instead of the usual one.
        transaction_open: Whether a transaction is open in this thread.
    """

    def __init__(
        self,
        *,
        reach: Reach,
        ca_file: str = "",
        transaction_open: Callable[[], bool] = transaction_is_open,
    ) -> None:
        self._reach = reach
        self._ca_file = ca_file
        self._transaction_open = transaction_open

    def exchange(
        self, *, request: HttpRequest, before_write: Callable[[], None] = lambda: None
    ) -> HttpOutcome:
        """Send one request and read its whole answer.

        Args:
            request: What to send.
            before_write: The last check, after connecting and before the first byte; raises Fenced
                to stop.

        Raises:
            TransactionOpen: Nothing was sent. What `before_write` raises besides Fenced comes
                through too.
        """
        if self._transaction_open():
            raise TransactionOpen
        exchange = Exchange(
            reach=self._reach,
            deadline_seconds=request.deadline_seconds,
            before_write=before_write,
        )
        with exchange:
            outcome = self._run(exchange, request)
        _report(request, outcome)
        return outcome

    def _run(self, exchange: Exchange, request: HttpRequest) -> HttpOutcome:
        transport = OneExchange(exchange=exchange, trust=lambda: trusted(self._ca_file))
        try:
            return _spoken(transport, exchange, request)
        except Fenced as stop:
            return _ended(exchange, f"fenced: {stop.reason}")
        except NotConnected as stop:
            return _ended(exchange, stop.reason)
        except _NotReadable as stop:
            return _ended(exchange, DEADLINE if exchange.is_over else stop.reason)
        except Exception as error:
            # A hostile answer can make the libraries raise anything. Once a byte has left, the one
            # thing that is true is that the outcome is unknown; before, whatever is not a
            # transport's is our own mistake and must be seen.
            if not exchange.has_written and not isinstance(error, _TRANSPORT_FAILURES):
                raise
            return _ended(exchange, DEADLINE if exchange.is_over else str(exchange.stage))
        finally:
            transport.close()


def _spoken(transport: OneExchange, exchange: Exchange, request: HttpRequest) -> Answer:
    response = transport.send(
        _prepared(request), stream=True, timeout=request.deadline_seconds, proxies=None
    )
    try:
        body = _whole_body(response)
    finally:
        response.close()
    if exchange.is_over:
        # What the watchdog cut can look whole, as where only a trailer was still to come.
        raise _NotReadable(DEADLINE)
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Answer(
        status=response.status_code, headers=headers, body=body, duration_ms=exchange.duration_ms
    )


def _prepared(request: HttpRequest) -> PreparedRequest:
    own = {"Accept-Encoding": "identity", "Connection": "close", "User-Agent": "razviel"}
    return Request(
        "POST",
        f"{request.base}{request.target}",
        headers={**own, **request.headers},
        data=request.body,
    ).prepare()


def _whole_body(response: Response) -> bytes:
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        # It was not asked for, and inflating is how a small answer becomes a large one.
        raise _NotReadable("answer_encoded")
    if not _says_its_length(response):
        # It would end with its connection, and so look whole wherever that is cut.
        raise _NotReadable("answer_without_length")
    body = bytearray()
    while piece := response.raw.read(_PIECE_BYTES):
        body += piece
        if len(body) > BODY_MAX_BYTES:
            raise _NotReadable("answer_too_large")
    return bytes(body)


def _says_its_length(response: Response) -> bool:
    chunked = response.headers.get("Transfer-Encoding", "").lower() == "chunked"
    return chunked or response.headers.get("Content-Length", "").isdecimal()


def _ended(exchange: Exchange, reason: str) -> NotSent | OutcomeUnknown:
    """Say what is known of an exchange without an answer: the first byte alone decides."""
    trace = CallTrace(duration_ms=exchange.duration_ms)
    if exchange.has_written:
        return OutcomeUnknown(reason=reason, trace=trace)
    blocked_by = BlockedBy.ADDRESS if reason == ADDRESS_FORBIDDEN else None
    return NotSent(reason=reason, blocked_by=blocked_by, trace=trace)


def _report(request: HttpRequest, outcome: HttpOutcome) -> None:
    match outcome:
        case Answer():
            log.info(
                "http.exchanged",
                host=request.base.host,
                outcome="answered",
                status=outcome.status,
                duration_ms=outcome.duration_ms,
                request_id=_printable(outcome.header("X-Request-Id")),
            )
        case NotSent() | OutcomeUnknown():
            log.info(
                "http.exchanged",
                host=request.base.host,
                outcome="not_sent" if isinstance(outcome, NotSent) else "outcome_unknown",
                reason=outcome.reason,
                duration_ms=outcome.trace.duration_ms,
            )


def _printable(text: str) -> str:
    """Cut what a platform put in a header to something that can't forge a line of a log."""
    return "".join(letter for letter in text[:100] if letter.isascii() and letter.isprintable())
