"""Every way to fail is a problem document that says what to do, and nothing is written by it."""

from typing import Any

import pytest
from django.db import connection
from django.test import RequestFactory
from rest_framework.exceptions import Throttled
from rest_framework.request import Request as HttpRequest

from integrations.api.failures import answer_failure
from integrations.sealed import destroy
from tests.caller import Answer, Caller
from tests.factories import AI, make_workspace
from tickets.api import views
from tickets.models import Ticket

pytestmark = pytest.mark.django_db(transaction=True)

OPENING = b'{"external_id": "case-1", "customer": {}}'
MIB = 1024 * 1024


@pytest.fixture
def caller() -> Caller:
    return Caller(make_workspace(), AI)


def refused(answer: Answer, *, status: int, problem: str) -> Any:
    """Assert what an answer is, and that nothing was written; return its document."""
    assert (answer.status, answer.problem) == (status, problem)
    assert not Ticket.objects.exists()
    return answer.body


@pytest.mark.parametrize(
    ("content", "detail"),
    [
        (b"{", "The body is not JSON: line 1, column 2."),
        (b"external_id=case-1", "The body is not JSON: line 1, column 1."),
        (b'{"external_id": NaN}', "The body holds NaN, which is not JSON."),
        (b'{"external_id": -Infinity}', "The body holds -Infinity, which is not JSON."),
        (
            b'{"external_id": "a", "external_id": "b"}',
            "The body names a field twice in one object; name each once.",
        ),
        (
            b'{"customer": {"email": "a@b", "email": "c@d"}}',
            "The body names a field twice in one object; name each once.",
        ),
        (b"[" * 100_000, "The body is nested deeper than 16 levels."),
        (b"[" * 18 + b"]" * 18, "The body is nested deeper than 16 levels."),
        (b'{"external_id": "\xff"}', "The body is not UTF-8; encode it so."),
        (
            b'{"external_id": "a\\u0000b"}',
            "The body holds a NUL or half a surrogate pair, which is no text.",
        ),
        (
            b'{"\\ud800": "a"}',
            "The body holds a NUL or half a surrogate pair, which is no text.",
        ),
        (
            b'{"external_id": ' + b"9" * 5000 + b"}",
            "The body is not JSON: a number has too many digits.",
        ),
    ],
    ids=range(12),
)
def test_what_is_not_the_json_that_we_read_is_400(
    caller: Caller, content: bytes, detail: str
) -> None:
    answer = caller.call("POST", "tickets/", content=content)
    assert refused(answer, status=400, problem="unreadable-body")["detail"] == detail


@pytest.mark.parametrize("content", [b"[]", b'"text"', b"7", b"null", b"true"])
def test_a_body_that_is_no_object_is_400(caller: Caller, content: bytes) -> None:
    answer = caller.call("POST", "tickets/", content=content)
    document = refused(answer, status=400, problem="invalid-fields")
    assert list(document["errors"]) == ["body"]


def test_each_field_at_fault_has_its_sentence(caller: Caller) -> None:
    answer = caller.post(
        "tickets/",
        {
            "external_id": 7,
            "customer": {"email": "nobody", "verified": "yes", "vip": True},
            "channel": None,
            "colour": "red",
        },
    )
    assert refused(answer, status=400, problem="invalid-fields") == {
        "type": "urn:razviel:problem:invalid-fields",
        "title": "Some fields can't be taken as they are",
        "status": 400,
        "detail": "Nothing was written. Correct each field as `errors` says, and send it again.",
        "instance": "/api/v1/tickets/",
        "errors": {"colour": ["There is no such field; leave it out."]},
    }
    answer = caller.post(
        "tickets/",
        {"external_id": 7, "customer": {"email": "nobody", "verified": "yes"}, "channel": None},
    )
    assert refused(answer, status=400, problem="invalid-fields")["errors"] == {
        "external_id": ["It must be text, in quotes."],
        "customer.email": ["It must be an e-mail address."],
        "customer.verified": ["It must be true or false, without quotes."],
        "channel": ["It is null; give it or leave it out."],
    }


@pytest.mark.parametrize("name", [" case-1", "case-1 ", "", "   ", "a\u202eb", "a\nb", "a" * 201])
def test_a_name_that_looks_like_another_is_400(caller: Caller, name: str) -> None:
    answer = caller.post("tickets/", {"external_id": name, "customer": {}})
    document = refused(answer, status=400, problem="invalid-fields")
    assert list(document["errors"]) == ["external_id"]


def test_an_unknown_query_parameter_is_400(caller: Caller) -> None:
    answer = caller.call("POST", "tickets/", content=OPENING, query={"dry_run": "1"})
    document = refused(answer, status=400, problem="invalid-fields")
    assert document["errors"] == {"dry_run": ["There is no such field; leave it out."]}


@pytest.mark.parametrize(
    "path", ["nowhere/", "tickets/a/b/c/", "tickets/tkt_1", "intents", "tickets/a%00b/"]
)
def test_an_address_that_is_none_is_404_and_never_a_redirect(caller: Caller, path: str) -> None:
    for method in ("GET", "POST"):
        answer = caller.call(method, path, content=OPENING)
        refused(answer, status=404, problem="no-such-address")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "tickets/", "POST"),
        ("PUT", "tickets/", "POST"),
        ("OPTIONS", "tickets/", "POST"),
        ("DELETE", "intents/", "GET, HEAD"),
        ("PATCH", "intents/int_1/", "GET, HEAD"),
        ("POST", "intents/", "GET, HEAD"),
    ],
)
def test_another_method_is_405(caller: Caller, method: str, path: str, allowed: str) -> None:
    answer = caller.call(method, path, content=OPENING)
    refused(answer, status=405, problem="method-not-allowed")
    assert answer.response["Allow"] == allowed


def test_whoever_takes_no_json_gets_406(caller: Caller) -> None:
    answer = caller.call("POST", "tickets/", content=OPENING, headers={"Accept": "text/html"})
    refused(answer, status=406, problem="not-acceptable")


def test_a_body_without_a_stated_length_is_411(caller: Caller) -> None:
    answer = caller.call(
        "POST", "tickets/", content=OPENING, headers={"Transfer-Encoding": "chunked"}
    )
    refused(answer, status=411, problem="length-required")


def test_a_body_over_one_mebibyte_is_413(caller: Caller) -> None:
    filler = b" " * (MIB - len(OPENING))
    answer = caller.call("POST", "tickets/", content=OPENING + filler + b" ")
    assert refused(answer, status=413, problem="body-too-large")["detail"] == "Send at most 1 MiB."
    assert caller.call("POST", "tickets/", content=OPENING + filler).status == 201


@pytest.mark.parametrize(
    "media", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
)
def test_a_body_that_is_not_declared_as_json_is_415(caller: Caller, media: str) -> None:
    answer = caller.call("POST", "tickets/", content=OPENING, content_type=media)
    refused(answer, status=415, problem="unsupported-media-type")


def test_a_row_that_someone_else_holds_is_503_and_the_same_call_works_later(caller: Caller) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = '1ms'")
        try:
            answer = caller.call("POST", "tickets/", content=OPENING)
        finally:
            cursor.execute("SET statement_timeout = '10s'")
    refused(answer, status=503, problem="busy")
    assert answer.response["Retry-After"] == "1"
    assert caller.call("POST", "tickets/", content=OPENING).status == 201


def test_too_many_requests_say_how_long_to_wait() -> None:
    request = HttpRequest(RequestFactory().get("/api/v1/intents/"))
    answer = answer_failure(Throttled(wait=3), {"view": None, "request": request})
    assert answer is not None
    assert (answer.status_code, answer["Retry-After"]) == (429, "3")
    assert answer.data == {
        "type": "urn:razviel:problem:too-many-requests",
        "title": "Too many requests",
        "status": 429,
        "detail": "Wait as long as `Retry-After` says.",
        "instance": "/api/v1/intents/",
    }


def test_what_nobody_foresaw_is_500_and_says_nothing_of_itself(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(**_: object) -> None:
        raise RuntimeError("a secret of the machine")

    monkeypatch.setattr(views, "open_ticket", break_down)
    answer = caller.call("POST", "tickets/", content=OPENING)
    refused(answer, status=500, problem="internal")
    assert b"secret" not in answer.response.content


def test_a_foreign_host_is_400(caller: Caller) -> None:
    answer = caller.call("POST", "tickets/", content=OPENING, headers={"Host": "elsewhere.example"})
    refused(answer, status=400, problem="malformed-request")


def test_what_belongs_to_an_erased_customer_takes_nothing_new(caller: Caller) -> None:
    opened = caller.call("POST", "tickets/", content=OPENING)
    ticket = Ticket.objects.get()
    assert ticket.customer is not None
    destroy(ticket.customer.subject_key)
    again = caller.call("POST", "tickets/", content=OPENING)
    assert (again.status, again.problem) == (409, "erased")
    said = {"kind": "refund", "text": "please"}
    stated = caller.post(f"tickets/{opened.body['id']}/requests/", said)
    assert (stated.status, stated.problem) == (409, "erased")
    assert not ticket.request_set.exists()
