"""requests and urllib3, bent so that they connect, write and give up exactly as an `Exchange` says.

Promises: a socket is made only by `Exchange.connect`, and no byte of a request is written before
`Exchange.permit_write` has passed, whichever way urllib3 gets there. Nothing is pooled,
redirected, retried or taken from the environment.
Does not know what is sent, or what an answer means.
"""

import logging
import ssl
from collections.abc import Callable
from typing import Any

from requests import PreparedRequest
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.util.retry import Retry

from integrations.http.exchange import Exchange

# What urllib3 has to say about a malformed answer quotes it, and answers hold personal data.
logging.getLogger("urllib3").setLevel(logging.CRITICAL)

NO_RETRIES = Retry(0, read=False, redirect=False, respect_retry_after_header=False)


class GuardedConnection(HTTPConnection):
    """A connection that dials and writes only with its exchange's leave."""

    # urllib3 hands a pool's own arguments through to its connections; there are too many to name
    # them again.
    def __init__(self, *args: Any, exchange: Exchange, **options: Any) -> None:
        super().__init__(*args, **options)
        self._exchange = exchange

    def _new_conn(self) -> Any:
        # urllib3's own seam for making the socket, under plain and TLS connections alike. TLS
        # still checks the certificate against the host's name, whatever address was dialled.
        return self._exchange.connect(self.host, int(self.port))

    def send(self, data: Any) -> None:
        """Write, after the last check has passed."""
        if self.sock is None:
            self.connect()
        self._exchange.permit_write()
        super().send(data)


class GuardedSecureConnection(GuardedConnection, HTTPSConnection):
    """The same over TLS."""


class _Pool(HTTPConnectionPool):
    ConnectionCls = GuardedConnection


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = GuardedSecureConnection


class OneExchange(HTTPAdapter):
    """A transport for one request, used without a Session, whose extras are all unwanted here.

    A Session would follow redirects, read the body of a redirect without a limit, keep cookies,
    and take proxies, certificates and passwords from the environment.
    """

    def __init__(self, *, exchange: Exchange, trust: Callable[[], ssl.SSLContext]) -> None:
        super().__init__(max_retries=NO_RETRIES)
        self._exchange = exchange
        self._trust = trust
        self._pool: HTTPConnectionPool | None = None

    def get_connection_with_tls_context(
        self,
        request: PreparedRequest,
        verify: Any,
        proxies: Any = None,  # noqa: ARG002 - never a proxy; the name is requests'
        cert: Any = None,
    ) -> HTTPConnectionPool:
        """Return a pool for this one request."""
        attributes, _ = self.build_connection_pool_key_attributes(request, verify, cert)
        host, port = attributes["host"], attributes["port"]
        if attributes["scheme"] == "https":
            self._pool = _SecurePool(host, port, exchange=self._exchange, ssl_context=self._trust())
        else:
            self._pool = _Pool(host, port, exchange=self._exchange)
        return self._pool

    def cert_verify(self, conn: Any, url: Any, verify: Any, cert: Any) -> None:
        """Leave trust to the pool's own context; requests would load its bundle for each call."""

    def close(self) -> None:
        """Close the connection."""
        super().close()
        if self._pool is not None:
            self._pool.close()
