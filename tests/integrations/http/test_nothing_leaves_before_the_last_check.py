"""The last check before the first byte, over plain and TLS connections: no leave, no byte."""

import ssl
import threading
from collections.abc import Callable

import pytest
from django.db import transaction

from integrations.http.client import HttpClient, TransactionOpen
from integrations.http.exchange import Reach
from integrations.http.messages import Answer
from integrations.ports import Fenced, NotSent
from tests.integrations.http.calls import BODY, SHOP, TOKEN, call, local
from tests.integrations.http.certificates import Certificate
from tests.integrations.http.raw_server import Line, RawServer

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


def closed_fence() -> None:
    raise Fenced("the case was handed over")


def over_tls(certificate: Certificate, speak: Callable[[Line], None]) -> Callable[[Line], None]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.chain_file, certificate.key_file)

    def speak_securely(line: Line) -> None:
        line.socket = context.wrap_socket(line.socket, server_side=True)
        speak(line)
        line.hear_everything()
        line.socket.close()

    return speak_securely


def test_a_closed_fence_lets_no_byte_pass() -> None:
    with RawServer(lambda line: None) as server:
        outcome = call(local(server.port), before_write=closed_fence)
    assert isinstance(outcome, NotSent)
    assert outcome.reason == "fenced: the case was handed over"
    assert outcome.blocked_by is None
    assert b"".join(server.received) == b""


def test_the_fence_is_asked_once_and_after_connecting() -> None:
    asked: list[int] = []
    accepted = threading.Event()

    def speak(line: Line) -> None:
        accepted.set()
        line.answer(OK)

    def fence() -> None:
        assert accepted.wait(5)
        asked.append(len(server.received[0]))

    with RawServer(speak) as server:
        assert isinstance(call(local(server.port), before_write=fence), Answer)
    assert asked == [0]


def test_a_fence_that_breaks_lets_no_byte_pass_and_is_heard() -> None:
    class DatabaseGone(Exception):
        pass

    def fence() -> None:
        raise DatabaseGone

    with RawServer(lambda line: None) as server, pytest.raises(DatabaseGone):
        call(local(server.port), before_write=fence)
    assert b"".join(server.received) == b""


def test_a_fence_that_takes_all_the_time_lets_no_byte_pass() -> None:
    def fence() -> None:
        threading.Event().wait(0.7)

    with RawServer(lambda line: None) as server:
        outcome = call(
            local(server.port),
            deadline_seconds=0.5,
            before_write=fence,
        )
    assert isinstance(outcome, NotSent)
    assert outcome.reason == "deadline"
    assert b"".join(server.received) == b""


def test_an_open_transaction_refuses_before_connecting() -> None:
    client = HttpClient(reach=Reach(allow_private=True), transaction_open=lambda: True)
    with RawServer(lambda line: None) as server, pytest.raises(TransactionOpen):
        call(local(server.port), client=client)
    assert server.lines == []


@pytest.mark.django_db(transaction=True)
def test_the_database_itself_is_asked_whether_a_transaction_is_open() -> None:
    with RawServer(lambda line: line.answer(OK)) as server:
        with transaction.atomic(), pytest.raises(TransactionOpen):
            call(local(server.port))
        assert server.lines == []
        assert isinstance(call(local(server.port)), Answer)
    assert len(server.received) == 1


@pytest.mark.django_db(transaction=True)
def test_a_transaction_begun_by_hand_counts_too() -> None:
    with RawServer(lambda line: None) as server:
        transaction.set_autocommit(False)
        try:
            with pytest.raises(TransactionOpen):
                call(local(server.port))
        finally:
            transaction.rollback()
            transaction.set_autocommit(True)
    assert server.lines == []


def secure_client(certificate: Certificate | None) -> HttpClient:
    reach = Reach(allow_private=True, resolve=lambda host, port: ["127.0.0.1"])
    return HttpClient(reach=reach, ca_file=str(certificate.chain_file) if certificate else "")


def test_tls_checks_the_name_while_the_address_is_the_checked_one(shops: Certificate) -> None:
    with RawServer(over_tls(shops, lambda line: line.answer(OK))) as server:
        outcome = call(local(server.port, "https", SHOP), client=secure_client(shops))
    assert isinstance(outcome, Answer)
    assert server.received[0].endswith(BODY)


def test_a_certificate_of_another_name_is_not_sent(shops: Certificate) -> None:
    with RawServer(over_tls(shops, lambda line: None)) as server:
        base = local(server.port, "https", "other.myshopify.com")
        outcome = call(base, client=secure_client(shops))
    assert isinstance(outcome, NotSent)
    assert outcome.reason == "tls_failed"
    assert b"".join(server.received) == b""


def test_a_certificate_that_nobody_vouches_for_is_not_sent(shops: Certificate) -> None:
    with RawServer(over_tls(shops, lambda line: None)) as server:
        outcome = call(local(server.port, "https", SHOP), client=secure_client(None))
    assert isinstance(outcome, NotSent)
    assert outcome.reason == "tls_failed"
    assert b"".join(server.received) == b""


def test_a_reset_within_the_handshake_is_not_sent(shops: Certificate) -> None:
    def speak(line: Line) -> None:
        line.hear_something()
        line.reset()

    with RawServer(speak) as server:
        outcome = call(local(server.port, "https", SHOP), client=secure_client(shops))
    assert isinstance(outcome, NotSent)
    assert outcome.reason == "tls_failed"


@pytest.mark.parametrize("drip", [b"", b"\x16\x03\x03\x40\x00" + b"a"], ids=["silent", "dripping"])
def test_a_handshake_without_an_end_is_not_sent(shops: Certificate, drip: bytes) -> None:
    def speak(line: Line) -> None:
        if drip:
            line.drip(drip)

    with RawServer(speak) as server:
        outcome = call(
            local(server.port, "https", SHOP), client=secure_client(shops), deadline_seconds=1.0
        )
    assert isinstance(outcome, NotSent)
    assert outcome.reason == "deadline"
    assert TOKEN.encode() not in server.received[0]


def test_a_closed_fence_lets_no_byte_pass_over_tls(shops: Certificate) -> None:
    with RawServer(over_tls(shops, lambda line: None)) as server:
        outcome = call(
            local(server.port, "https", SHOP),
            client=secure_client(shops),
            before_write=closed_fence,
        )
    assert isinstance(outcome, NotSent)
    assert outcome.reason == "fenced: the case was handed over"
    assert b"".join(server.received) == b""


def test_a_dripped_answer_over_tls_ends_at_the_deadline(shops: Certificate) -> None:
    def speak(line: Line) -> None:
        line.hear_request()
        line.drip(b"HTTP/1.1 200 OK\r\nX: ")

    with RawServer(over_tls(shops, speak)) as server:
        outcome = call(
            local(server.port, "https", SHOP), client=secure_client(shops), deadline_seconds=1.0
        )
    assert (type(outcome).__name__, getattr(outcome, "reason", "")) == (
        "OutcomeUnknown",
        "deadline",
    )
    assert server.received[0].endswith(BODY)
