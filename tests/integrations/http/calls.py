"""How the tests of the HTTP client call it.

Promises: a client that reaches loopback, and a request whose parts are easy to find in bytes.
"""

from collections.abc import Callable

from integrations.addresses import PlatformUrl, platform_url
from integrations.http.client import HttpClient
from integrations.http.exchange import Reach
from integrations.http.messages import HttpOutcome, HttpRequest

SHOP = "acme.myshopify.com"
TOKEN = "shpat_canary_of_the_http_tests"
BODY = b'{"query": "canary-body"}'


def local(port: int, scheme: str = "http", host: str = "127.0.0.1") -> PlatformUrl:
    return platform_url(f"{scheme}://{host}:{port}", shop=SHOP, allow_private=True)


def request_to(base: PlatformUrl, deadline_seconds: float = 5.0) -> HttpRequest:
    return HttpRequest(
        base=base,
        target="/admin/graphql.json",
        headers={"X-Shopify-Access-Token": TOKEN, "Content-Type": "application/json"},
        body=BODY,
        deadline_seconds=deadline_seconds,
    )


def call(
    base: PlatformUrl,
    *,
    client: HttpClient | None = None,
    deadline_seconds: float = 5.0,
    before_write: Callable[[], None] = lambda: None,
) -> HttpOutcome:
    used = client or HttpClient(reach=Reach(allow_private=True))
    return used.exchange(request=request_to(base, deadline_seconds), before_write=before_write)
