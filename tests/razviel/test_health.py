"""Probes learn whether to send work here, and nothing else."""

from __future__ import annotations

import pytest
from django.db import OperationalError, connection
from django.test import Client

from razviel import health


def test_healthz_asks_nobody(client: Client) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"process": "ok"})


@pytest.mark.django_db
def test_readyz_says_that_database_and_broker_answer(client: Client) -> None:
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (200, {"database": "ok", "broker": "ok"})


@pytest.mark.django_db
def test_readyz_says_which_one_is_away_and_no_more(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_arguments: object, **_options: object) -> None:
        message = "connection to db.example failed for user razviel_app"
        raise OperationalError(message)

    monkeypatch.setattr(connection, "cursor", away)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (503, {"database": "unreachable", "broker": "ok"})


@pytest.mark.django_db
def test_readyz_says_that_the_broker_is_away(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "ping_broker", lambda **_options: False)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (503, {"database": "ok", "broker": "unreachable"})


@pytest.mark.parametrize("address", ["/healthz", "/readyz"])
def test_probes_only_read_and_are_never_cached(client: Client, address: str) -> None:
    assert client.post(address).status_code == 405
    assert "no-store" in client.get("/healthz").headers["Cache-Control"]
