"""Each way a call can end, over a real socket, and what may be said of it afterwards."""

import gzip
import socket
import threading

import pytest

from integrations.http.client import BODY_MAX_BYTES, HttpClient
from integrations.http.exchange import Reach
from integrations.http.messages import Answer
from integrations.ports import NotSent, OutcomeUnknown
from tests.integrations.http.calls import BODY, call, local
from tests.integrations.http.raw_server import Line, RawServer

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Request-Id: r-1\r\n\r\n{}"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def known(outcome: object) -> tuple[str, str]:
    assert isinstance(outcome, NotSent | OutcomeUnknown)
    return type(outcome).__name__, outcome.reason


def spoken(raw: bytes, deadline_seconds: float = 5.0) -> object:
    with RawServer(lambda line: line.answer(raw)) as server:
        return call(local(server.port), deadline_seconds=deadline_seconds)


def closing(raw: bytes) -> object:
    def speak(line: Line) -> None:
        line.answer(raw)
        line.socket.shutdown(socket.SHUT_RDWR)

    with RawServer(speak) as server:
        return call(local(server.port))


def test_a_whole_answer_is_returned_with_its_status_headers_and_body() -> None:
    with RawServer(lambda line: line.answer(OK)) as server:
        outcome = call(local(server.port))
    assert isinstance(outcome, Answer)
    assert (outcome.status, outcome.body, outcome.header("X-Request-ID")) == (200, b"{}", "r-1")
    assert len(server.received) == 1
    assert server.received[0].startswith(b"POST /admin/graphql.json HTTP/1.1\r\n")
    assert server.received[0].endswith(b"\r\n\r\n" + BODY)
    assert b"Accept-Encoding: identity\r\n" in server.received[0]


def test_a_chunked_answer_is_put_together() -> None:
    outcome = spoken(CHUNKED + b"1\r\n{\r\n1\r\n}\r\n0\r\n\r\n")
    assert isinstance(outcome, Answer)
    assert outcome.body == b"{}"


def test_every_exchange_has_a_connection_of_its_own() -> None:
    with RawServer(lambda line: line.answer(OK)) as server:
        client = HttpClient(reach=Reach(allow_private=True))
        for _ in range(3):
            assert isinstance(call(local(server.port), client=client), Answer)
    assert len(server.received) == 3


def test_a_refused_connection_is_not_sent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    assert known(call(local(port))) == ("NotSent", "connect_failed")


def test_a_name_that_does_not_resolve_is_not_sent() -> None:
    def resolve(host: str, port: int) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    client = HttpClient(reach=Reach(allow_private=True, resolve=resolve))
    outcome = call(local(1, host="gone.example"), client=client)
    assert known(outcome) == ("NotSent", "name_not_resolved")


def test_a_name_that_resolves_to_nothing_is_not_sent() -> None:
    client = HttpClient(reach=Reach(allow_private=True, resolve=lambda host, port: []))
    outcome = call(local(1, host="empty.example"), client=client)
    assert known(outcome) == ("NotSent", "name_not_resolved")


def test_a_name_server_that_hangs_is_left_at_the_deadline() -> None:
    asked, release = threading.Event(), threading.Event()

    def resolve(host: str, port: int) -> list[str]:
        asked.set()
        release.wait(10)
        return ["127.0.0.1"]

    client = HttpClient(reach=Reach(allow_private=True, resolve=resolve))
    outcome = call(local(1, host="slow.example"), client=client, deadline_seconds=0.2)
    assert asked.is_set()
    release.set()
    assert known(outcome) == ("NotSent", "deadline")


def test_a_connection_that_nobody_accepts_is_not_sent() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listening:
        port = listening.getsockname()[1]
        waiting = [socket.socket() for _ in range(4)]
        try:
            for one in waiting:
                one.setblocking(False)
                one.connect_ex(("127.0.0.1", port))
            outcome = call(local(port), deadline_seconds=1.0)
        finally:
            for one in waiting:
                one.close()
    assert known(outcome) == ("NotSent", "deadline")


def test_the_second_address_is_tried_where_the_first_refuses() -> None:
    with RawServer(lambda line: line.answer(OK)) as server:
        client = HttpClient(
            reach=Reach(allow_private=True, resolve=lambda host, port: ["127.0.0.9", "127.0.0.1"])
        )
        outcome = call(local(server.port, host="two.example"), client=client)
    assert isinstance(outcome, Answer)
    assert len(server.received) == 1


def test_a_reset_after_the_request_is_unknown() -> None:
    def speak(line: Line) -> None:
        line.hear_request()
        line.reset()

    with RawServer(speak) as server:
        assert known(call(local(server.port))) == ("OutcomeUnknown", "connection_lost")
        assert server.received[0].endswith(BODY)


def test_a_reset_just_before_the_write_is_unknown_because_the_byte_was_handed_over() -> None:
    is_connected, was_reset = threading.Event(), threading.Event()

    def fence() -> None:
        is_connected.set()
        assert was_reset.wait(5)

    def speak(line: Line) -> None:
        assert is_connected.wait(5)
        line.reset()
        was_reset.set()

    with RawServer(speak) as server:
        outcome = call(local(server.port), before_write=fence)
    assert known(outcome) == ("OutcomeUnknown", "connection_lost")


def test_a_close_without_an_answer_is_unknown() -> None:
    def speak(line: Line) -> None:
        line.hear_request()
        line.socket.shutdown(socket.SHUT_RDWR)

    with RawServer(speak) as server:
        assert known(call(local(server.port))) == ("OutcomeUnknown", "connection_lost")


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{}",
        CHUNKED + b"1\r\n{\r\n",
        CHUNKED + b"50\r\n{}",
        CHUNKED + b"zz\r\n{}\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 two OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        b"\x16\x03\x01\x02\x00",
        b"",
    ],
    ids=[
        "body cut",
        "between chunks",
        "within a chunk",
        "no chunk size",
        "another protocol",
        "no status",
        "two lengths",
        "binary",
        "nothing",
    ],
)
def test_an_answer_that_is_cut_or_is_none_is_unknown(raw: bytes) -> None:
    assert known(closing(raw)) == ("OutcomeUnknown", "connection_lost")


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 200 OK\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n{}",
    ],
    ids=["headers cut", "until the connection ends", "no number", "negative", "twice", "identity"],
)
def test_an_answer_that_does_not_say_its_length_can_not_be_known_to_be_whole(raw: bytes) -> None:
    assert known(closing(raw)) == ("OutcomeUnknown", "answer_without_length")


@pytest.mark.parametrize(
    "drip",
    [
        OK[:-6],
        b"HTTP/1.1 100 Continue\r\n\r\n" * 10_000,
        b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n{",
        CHUNKED + b"ffff\r\n{",
        CHUNKED + b"0\r\nTrailer: ",
    ],
    ids=["headers", "endless continue", "body", "chunk", "trailer"],
)
def test_an_answer_that_drips_ends_at_the_deadline(drip: bytes) -> None:
    def speak(line: Line) -> None:
        line.hear_request()
        line.drip(drip)

    with RawServer(speak) as server:
        outcome = call(local(server.port), deadline_seconds=1.0)
    assert known(outcome) == ("OutcomeUnknown", "deadline")
    assert server.received[0].endswith(BODY)


def test_silence_after_the_request_ends_at_the_deadline() -> None:
    with RawServer(lambda line: None) as server:
        outcome = call(local(server.port), deadline_seconds=1.0)
    assert known(outcome) == ("OutcomeUnknown", "deadline")


@pytest.mark.parametrize(
    "head",
    [b"HTTP/1.1 200 OK\r\nContent-Length: 9999999999\r\n\r\n", CHUNKED + b"ffffffff\r\n"],
    ids=["with a length", "chunked"],
)
def test_an_endless_body_is_left_at_the_cap(head: bytes) -> None:
    def speak(line: Line) -> None:
        line.answer(head)
        line.flood(b"a" * 65536)

    with RawServer(speak) as server:
        assert known(call(local(server.port))) == ("OutcomeUnknown", "answer_too_large")


def test_a_body_of_the_cap_is_read_and_one_more_byte_is_not() -> None:
    def of(size: int) -> bytes:
        return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size + b"a" * size

    at_cap = spoken(of(BODY_MAX_BYTES))
    assert isinstance(at_cap, Answer)
    assert len(at_cap.body) == BODY_MAX_BYTES
    assert known(spoken(of(BODY_MAX_BYTES + 1))) == ("OutcomeUnknown", "answer_too_large")


def test_a_bomb_is_not_inflated() -> None:
    bomb = gzip.compress(b"0" * 50_000_000)
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb)
    assert known(spoken(head + bomb)) == ("OutcomeUnknown", "answer_encoded")


def test_a_header_without_an_end_is_unknown() -> None:
    def speak(line: Line) -> None:
        line.answer(b"HTTP/1.1 200 OK\r\nX-Long: ")
        line.flood(b"a" * 65536)

    with RawServer(speak) as server:
        assert known(call(local(server.port))) == ("OutcomeUnknown", "connection_lost")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_another_host_is_an_answer_and_is_not_followed(status: int) -> None:
    with RawServer(lambda line: line.answer(OK)) as elsewhere:
        raw = (
            f"HTTP/1.1 {status} Moved\r\nLocation: http://127.0.0.1:{elsewhere.port}/\r\n"
            "Content-Length: 0\r\n\r\n"
        )
        outcome = spoken(raw.encode())
    assert isinstance(outcome, Answer)
    assert outcome.status == status
    assert elsewhere.received == []


@pytest.mark.parametrize("status", [429, 503])
def test_an_answer_that_asks_for_a_retry_is_returned_and_not_retried(status: int) -> None:
    raw = f"HTTP/1.1 {status} Later\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n".encode()
    with RawServer(lambda line: line.answer(raw)) as server:
        outcome = call(local(server.port))
    assert isinstance(outcome, Answer)
    assert (outcome.status, outcome.header("Retry-After")) == (status, "0")
    assert len(server.received) == 1


def test_nothing_is_taken_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    netrc = tmp_path_factory.mktemp("home") / "netrc"
    netrc.write_text("machine 127.0.0.1 login canary password canary\n")
    netrc.chmod(0o600)
    with (
        RawServer(lambda line: line.answer(OK)) as proxy,
        RawServer(lambda line: line.answer(OK)) as server,
    ):
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv("NETRC", str(netrc))
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        assert isinstance(call(local(server.port)), Answer)
    assert proxy.received == []
    assert b"Authorization" not in server.received[0]
