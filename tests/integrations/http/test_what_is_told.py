"""What an exchange leaves in logs and reprs: which host, which status, how long; never a secret."""

import logging

import pytest
from structlog.testing import capture_logs

from integrations.http.messages import Answer, BadRequest, HttpRequest
from integrations.ports import NotSent
from tests.integrations.http.calls import BODY, TOKEN, call, local, request_to
from tests.integrations.http.raw_server import Line, RawServer

ANSWER = (
    b"HTTP/1.1 403 Forbidden\r\nContent-Length: 15\r\nX-Request-Id: r-1\x1b[0m\r\n"
    b"X-Customer: canary-header\r\n\r\ncanary-customer"
)


def test_an_answer_is_logged_without_bodies_headers_or_tokens(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    with capture_logs() as events, RawServer(lambda line: line.answer(ANSWER)) as server:
        outcome = call(local(server.port))
    assert isinstance(outcome, Answer)
    assert [event.pop("duration_ms") for event in events] == [outcome.duration_ms]
    assert events == [
        {
            "event": "http.exchanged",
            "log_level": "info",
            "host": "127.0.0.1",
            "outcome": "answered",
            "status": 403,
            "request_id": "r-1[0m",
        }
    ]
    for canary in ("canary", TOKEN):
        assert canary not in caplog.text
        assert canary not in repr(outcome)


def test_an_exchange_without_an_answer_is_logged_with_its_reason() -> None:
    def speak(line: Line) -> None:
        line.hear_request()
        line.reset()

    with capture_logs() as events, RawServer(speak) as server:
        call(local(server.port))
    assert [(e["outcome"], e["reason"], e["host"]) for e in events] == [
        ("outcome_unknown", "connection_lost", "127.0.0.1")
    ]
    with capture_logs() as events:
        outcome = call(local(1))
    assert isinstance(outcome, NotSent)
    assert [(e["outcome"], e["reason"]) for e in events] == [("not_sent", "connect_failed")]


def test_a_malformed_answer_is_not_quoted_in_logs(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    raw = b"HTTP/1.1 200 OK\r\ncanary-customer\r\nContent-Length: 2\r\n\r\n{}"
    with RawServer(lambda line: line.answer(raw)) as server:
        call(local(server.port))
    assert "canary" not in caplog.text


def test_a_request_shows_neither_headers_nor_body() -> None:
    shown = repr(request_to(local(1)))
    assert TOKEN not in shown
    assert BODY.decode() not in shown


@pytest.mark.parametrize(
    "value", ["canary\r\nX-Evil: 1", "canary\n", " canary", "canär", "", "canary\x00", "日本"]
)
def test_a_header_that_can_not_be_written_is_refused_without_being_quoted(value: str) -> None:
    with pytest.raises(BadRequest) as refusal:
        HttpRequest(
            base=local(1),
            target="/x",
            headers={"X-Token": value},
            body=b"",
            deadline_seconds=1,
        )
    assert str(refusal.value) == "The value of X-Token can't stand in a header."


@pytest.mark.parametrize("target", ["", "x", "/x y", "/x\r\n", "/x?y=1", "//evil/", "/é"])
def test_a_target_that_is_no_plain_path_is_refused(target: str) -> None:
    with pytest.raises(BadRequest):
        HttpRequest(base=local(1), target=target, headers={}, body=b"", deadline_seconds=1)
