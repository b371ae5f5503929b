"""Who may ask: a bearer token that is known and not revoked, and nobody else."""

from hashlib import sha256

import pytest
from django.test import Client

from integrations.models import ApiToken
from integrations.tokens import create_token, revoke, token_of
from tests.caller import Caller
from tests.factories import AI, NODE, make_workspace

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_token_is_kept_as_its_digest_alone() -> None:
    row, plain = create_token(workspace=make_workspace(), name="agent", actor=AI)
    assert plain.startswith("rzv_")
    assert len(plain) == len("rzv_") + 43
    stored = ApiToken.objects.values().get()
    assert stored["digest"] == sha256(plain.encode()).hexdigest()
    assert plain not in str(stored)
    assert token_of(plain) == row


def test_two_tokens_of_one_actor_are_different() -> None:
    workspace = make_workspace()
    plains = {create_token(workspace=workspace, name="agent", actor=AI)[1] for _ in range(2)}
    assert len(plains) == 2


def test_a_token_speaks_for_its_actor() -> None:
    caller = Caller(make_workspace(), NODE)
    opened = caller.post("tickets/", {"external_id": "case-1", "customer": {"verified": True}})
    assert opened.status == 201
    assert opened.body["customer"]["verified_by"] == {"kind": "human_node", "identity": "node-1"}


def test_a_revoked_token_finds_nobody() -> None:
    caller = Caller(make_workspace(), AI)
    assert caller.get("intents/").status == 200
    revoke(caller.token)
    answer = caller.get("intents/")
    assert (answer.status, answer.problem) == (401, "unauthenticated")


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Bearer wrong", "Basic cnp2OnJ6dg==", "Token {plain}", "{plain}"],
)
def test_no_other_credentials_are_taken(header: str) -> None:
    caller = Caller(make_workspace(), AI)
    sent = {"Authorization": header.format(plain=caller.plain)}
    answer = caller.call("GET", "intents/", headers=sent)
    assert (answer.status, answer.problem) == (401, "unauthenticated")
    assert answer.response["WWW-Authenticate"] == 'Bearer realm="razviel"'
    assert answer.body == {
        "type": "urn:razviel:problem:unauthenticated",
        "title": "No token that is valid",
        "status": 401,
        "detail": "Send `Authorization: Bearer` and a valid token; `manage.py token` makes one.",
        "instance": "/api/v1/intents/",
    }


def test_a_console_session_is_no_way_in(django_user_model: type) -> None:
    user = django_user_model.objects.create_superuser("root", "root@example.com", "secret")  # type: ignore[attr-defined]  # Django's own user
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)
    assert client.get("/api/v1/intents/").status_code == 401


def test_no_answer_sets_a_cookie_or_may_be_cached() -> None:
    caller = Caller(make_workspace(), AI)
    opened = caller.post("tickets/", {"external_id": "case-1", "customer": {}})
    for answer in (opened, caller.get("intents/"), caller.get("nowhere/")):
        assert not answer.response.cookies
    assert opened.response["Cache-Control"] == "no-store"


def test_a_token_in_plain_text_is_refused_and_not_redirected(settings: object) -> None:
    caller = Caller(make_workspace(), AI)
    settings.SECURE_SSL_REDIRECT = True  # type: ignore[attr-defined]  # pytest-django's settings
    answer = caller.get("intents/")
    assert (answer.status, answer.problem) == (403, "plain-http")
