"""Where a credential may go: what was used to trick others is refused, one by one."""

import socket

import pytest

from integrations.addresses import BadAddress, PlatformUrl, forbidden, platform_url, shop_name
from integrations.http.client import HttpClient
from integrations.http.exchange import Reach
from integrations.http.messages import Answer
from integrations.ports import BlockedBy, NotSent
from tests.integrations.http.calls import SHOP, call, local
from tests.integrations.http.raw_server import RawServer

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

NO_SHOPS = [
    "",
    "acme",
    "acme.myshopify.com.evil.com",
    "evil.com#.myshopify.com",
    "evil.com/.myshopify.com",
    "evil.com?.myshopify.com",
    "user@acme.myshopify.com",
    "user:pass@acme.myshopify.com",
    "acme.myshopify.com:443",
    "acme.myshopify.com\n",
    " acme.myshopify.com",
    "ACME.myshopify.com",
    "-acme.myshopify.com",
    "a.b.myshopify.com",
    "acme.myshopify.com.",
    "acme\u3002myshopify\u3002com",
    "acme\uff0emyshopify\uff0ecom",
    "\u0430cme.myshopify.com",
    "xn--cme.myshopify\u3002com",
    ".myshopify.com",
    "acme.myshopify.co",
    "acme_.myshopify.com",
    "a" * 61 + ".myshopify.com",
]

NOT_PUBLIC = [
    "0.0.0.0",  # noqa: S104 - refused here, bound nowhere
    "10.1.2.3",
    "100.64.0.1",
    "127.0.0.1",
    "127.8.8.8",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.168.1.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:a9fe:a9fe",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "::8.8.8.8",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:a9fe:a9fe::1",
    "3fff::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "2606:4700::1%eth0",
    "ff02::1",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "127.1",
    "localhost",
    "",
]

PUBLIC = [
    "8.8.8.8",
    "23.227.38.32",
    "172.32.0.1",
    "100.128.0.1",
    "2606:4700::1",
    "2620:127:f00f::1",
]


def test_a_shop_is_named_by_its_permanent_name() -> None:
    assert shop_name(SHOP) == SHOP
    assert shop_name("0-a-1.myshopify.com") == "0-a-1.myshopify.com"


@pytest.mark.parametrize("text", NO_SHOPS)
def test_whatever_else_is_no_shop(text: str) -> None:
    with pytest.raises(BadAddress):
        shop_name(text)
    with pytest.raises(BadAddress):
        platform_url("", shop=text, allow_private=True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "https://acme.myshopify.com",
        "https://acme.myshopify.com/",
        "https://acme.myshopify.com:443",
    ],
)
def test_a_shop_is_called_by_https_at_its_own_host(text: str) -> None:
    url = platform_url(text, shop=SHOP, allow_private=False)
    assert url == PlatformUrl(scheme="https", host=SHOP, port=443, path="")
    assert str(url) == "https://acme.myshopify.com"


@pytest.mark.parametrize(
    "text",
    [
        "http://acme.myshopify.com",
        "https://other.myshopify.com",
        "https://acme.myshopify.com:8443",
        "https://acme.myshopify.com/path",
        "https://acme.myshopify.com.evil.com",
        "https://127.0.0.1:8000",
        "http://169.254.169.254",
        "http://[::ffff:a9fe:a9fe]",
        "http://2130706433",
        "http://0177.0.0.1",
        "http://169.254.169.254.nip.io",
        "http://localhost:8000/shops/acme.myshopify.com",
    ],
)
def test_without_leave_no_other_address_is_called(text: str) -> None:
    with pytest.raises(BadAddress):
        platform_url(text, shop=SHOP, allow_private=False)


@pytest.mark.parametrize("allow_private", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        "https://user@acme.myshopify.com",
        "https://user:pass@acme.myshopify.com",
        "https://acme.myshopify.com@evil.com",
        "https://evil.com#.myshopify.com",
        "https://evil.com?.myshopify.com",
        "https://evil.com\\.myshopify.com",
        "https://acme.myshopify\u3002com",
        "https://\u0430cme.myshopify.com",
        "https://acme.myshopify.com/%2e%2e",
        "https://acme.myshopify.com/../admin",
        "https://acme.myshopify.com\t.evil.com",
        "https://acme.myshopify.com\r\nHost: evil.com",
        "https:// acme.myshopify.com",
        "https://acme.myshopify.com:0",
        "https://acme.myshopify.com:99999",
        "https://[::1",
        "ftp://acme.myshopify.com",
        "file:///etc/passwd",
        "//acme.myshopify.com",
        "acme.myshopify.com",
        "https://",
        "https:///path",
    ],
)
def test_a_url_that_two_readers_could_understand_differently_is_refused(
    text: str, allow_private: bool
) -> None:
    with pytest.raises(BadAddress):
        platform_url(text, shop=SHOP, allow_private=allow_private)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://127.0.0.1:8000/shops/acme.myshopify.com", None),
        ("http://[::1]:8000", None),
        ("http://sandbox:80/", "http://sandbox"),
    ],
)
def test_with_leave_a_private_platform_may_be_called(text: str, url: str | None) -> None:
    assert str(platform_url(text, shop=SHOP, allow_private=True)) == (url or text)


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_an_address_that_is_not_public_is_forbidden(address: str) -> None:
    assert forbidden(address, allow_private=False)


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_allowed(address: str) -> None:
    assert not forbidden(address, allow_private=False)
    assert not forbidden(address, allow_private=True)


def test_leave_for_private_platforms_opens_private_networks_and_never_metadata() -> None:
    opened = {address for address in NOT_PUBLIC if not forbidden(address, allow_private=True)}
    assert opened == {
        "10.1.2.3",
        "127.0.0.1",
        "127.8.8.8",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "::1",
        "fc00::1",
        "fd00:ec2::254",
    }


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_a_name_that_leads_to_such_an_address_is_not_dialled(address: str) -> None:
    dialled: list[str] = []

    def dial(address: str, port: int, timeout_seconds: float) -> socket.socket:
        dialled.append(address)
        raise OSError

    reach = Reach(allow_private=False, resolve=lambda host, port: ["8.8.8.8", address], dial=dial)
    base = platform_url("", shop=SHOP, allow_private=False)
    outcome = call(base, client=HttpClient(reach=reach))
    assert isinstance(outcome, NotSent)
    assert (outcome.reason, outcome.blocked_by) == ("address_forbidden", BlockedBy.ADDRESS)
    assert dialled == []


@pytest.mark.parametrize("host", ["2130706433", "0x7f000001", "0177.0.0.1", "127.1", "[::1]"])
def test_a_number_written_in_another_way_is_judged_by_what_it_means(host: str) -> None:
    with RawServer(lambda line: None) as server:
        base = local(server.port, host=host)
        outcome = call(base, client=HttpClient(reach=Reach(allow_private=False)))
    assert isinstance(outcome, NotSent)
    assert outcome.blocked_by is BlockedBy.ADDRESS
    assert server.lines == []


def test_a_name_that_changes_its_answer_is_asked_once_and_the_checked_address_is_dialled() -> None:
    answers = [["23.227.38.32"], ["127.0.0.1"]]
    dialled: list[str] = []

    def dial(address: str, port: int, timeout_seconds: float) -> socket.socket:
        dialled.append(address)
        return socket.create_connection(("127.0.0.1", port), timeout=timeout_seconds)

    with RawServer(lambda line: line.answer(OK)) as server:
        reach = Reach(allow_private=False, resolve=lambda host, port: answers.pop(0), dial=dial)
        base = local(server.port, host="rebinding.example")
        outcome = call(base, client=HttpClient(reach=reach))
    assert isinstance(outcome, Answer)
    assert dialled == ["23.227.38.32"]
    assert answers == [["127.0.0.1"]]
