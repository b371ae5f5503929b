"""The settings refuse what is missing, and are safe where nothing is said."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection

PROJECT = Path(__file__).resolve().parents[2]
COMPLETE = {
    "RAZVIEL_SECRET_KEY": "s" * 50,
    "RAZVIEL_VAULT_KEYS": "k1:" + base64.urlsafe_b64encode(bytes(32)).decode(),
    "DATABASE_URL": "postgres://app:hidden@db.example/razviel",
    "REDIS_URL": "redis://broker.example/0",
}


def read(statement: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", f"import razviel.settings as s; {statement}"],
        env={"PATH": os.environ["PATH"], **environment},
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("missing", sorted(COMPLETE))
def test_a_missing_variable_stops_the_start_with_its_name(missing: str) -> None:
    given = {name: value for name, value in COMPLETE.items() if name != missing}
    done = read("", given)
    assert done.returncode == 1
    assert f"Razviel does not start without {missing}: set it to" in done.stderr


def test_whatever_is_left_out_is_the_safe_choice() -> None:
    done = read(
        "print(s.DEBUG, s.ALLOWED_HOSTS, s.RAZVIEL_ALLOW_PRIVATE_PLATFORMS, s.SECURE_SSL_REDIRECT,"
        " s.SESSION_COOKIE_SECURE, s.CSRF_COOKIE_SECURE, s.SECURE_HSTS_SECONDS,"
        " s.DATABASES['default']['ATOMIC_REQUESTS'], s.DATABASES['default']['CONN_MAX_AGE'])",
        COMPLETE,
    )
    assert done.stdout == "False [] False True True True 31536000 False 60\n"


def test_rabbitmq_takes_one_variable() -> None:
    done = read(
        "print(s.CELERY_BROKER_URL, hasattr(s, 'CELERY_BROKER_TRANSPORT_OPTIONS'))",
        {**COMPLETE, "RAZVIEL_BROKER_URL": "amqp://queue.example//"},
    )
    assert done.stdout == "amqp://queue.example// False\n"


def test_unfit_vault_keys_stop_the_start_and_are_not_quoted() -> None:
    done = read("", {**COMPLETE, "RAZVIEL_VAULT_KEYS": "k1:c2hvcnQ="})
    assert done.returncode == 1
    assert "RAZVIEL_VAULT_KEYS is not a list `id:base64-of-32-bytes,...`" in done.stderr
    assert "c2hvcnQ=" not in done.stderr


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("idle_in_transaction_session_timeout", "5s"),
        ("lock_timeout", "2s"),
        ("statement_timeout", "10s"),
    ],
)
def test_the_application_outlives_no_stuck_statement(setting: str, value: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SHOW {setting}")
        assert cursor.fetchone() == (value,)
