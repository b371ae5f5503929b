"""`manage.py loop`: everything is done with no broker and no beat, and it stops when told."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.db import DatabaseError, connections
from structlog.testing import capture_logs

from actions import looping
from actions.advance import advance
from actions.dispatch import claim_due
from actions.looping import Loop
from actions.models import Intent
from actions.states import State
from integrations.clock import now
from razviel.celery import app
from tests.integrations.commands.running import Shell
from tests.stage import Stage, fresh

pytestmark = pytest.mark.django_db(transaction=True)

PROJECT = Path(__file__).resolve().parents[3]
DEAD_BROKER = "redis://127.0.0.1:1/0"


@pytest.fixture
def no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Point this process at a broker that isn't there; open connections are left aside."""
    monkeypatch.setattr(app.conf, "broker_url", DEAD_BROKER)
    monkeypatch.setattr(app.amqp, "_producer_pool", None)


def proposed(stage: Stage, *amounts: str) -> list[Intent]:
    return [stage.propose(stage.case(amount=amount), amount=amount) for amount in amounts]


def states(intents: list[Intent]) -> list[str]:
    return [fresh(intent).state for intent in intents]


def test_once_does_all_that_is_due_and_ends(shell: Shell, stage: Stage) -> None:
    intents = proposed(stage, "1.00", "2.00", "3.00", "4.00", "5.00")
    ran = shell("loop", "--once", "--threads", "2")
    assert (ran.status, ran.out, ran.err) == (0, "5 done\n", "")
    assert states(intents) == [State.CONFIRMED] * 5
    assert len(stage.shop.effects()) == 5
    assert shell("loop", "--once").out == "0 done\n"


def test_what_is_not_due_waits(shell: Shell, stage: Stage) -> None:
    (intent,) = proposed(stage, "1.00")
    Intent.objects.update(due_at="2100-01-01T00:00:00Z")
    assert shell("loop", "--once").out == "0 done\n"
    assert fresh(intent).state == State.PROPOSED
    assert stage.shop.requests() == ()


def test_without_any_broker_proposals_end_confirmed(
    shell: Shell, no_broker: None, stage: Stage
) -> None:
    with capture_logs() as events:
        intents = proposed(stage, "1.00", "2.00")
    woken = [event["event"] for event in events if event["event"].startswith("dispatch.")]
    assert woken == ["dispatch.not_woken"] * 2
    assert shell("loop", "--once").status == 0
    assert states(intents) == [State.CONFIRMED] * 2


def test_one_intents_exception_stops_no_other_and_says_its_class_alone(
    shell: Shell, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third = proposed(stage, "1.00", "2.00", "3.00")

    def fail_for_one(intent_pk: int) -> None:
        if intent_pk == second.pk:
            raise LookupError("canary: what a row holds")
        advance(intent_pk)

    monkeypatch.setattr(looping, "advance", fail_for_one)
    with capture_logs() as events:
        ran = shell("loop", "--once", "--threads", "1")
    assert (ran.status, ran.out) == (0, "3 done\n")
    assert states([first, second, third]) == [State.CONFIRMED, State.PROPOSED, State.CONFIRMED]
    assert [event for event in events if event["event"].startswith("loop.")] == [
        {
            "event": "loop.intent_failed",
            "log_level": "error",
            "intent": second.pk,
            "error": "LookupError",
        }
    ]
    due_at = fresh(second).due_at
    assert due_at is not None
    assert due_at > now()


def test_every_thread_closes_its_connections(
    shell: Shell, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposed(stage, "1.00", "2.00", "3.00")
    closed: list[bool] = []
    close_all = connections.close_all

    def close_and_look() -> None:
        close_all()
        closed.extend(connections[alias].connection is None for alias in connections)

    monkeypatch.setattr(connections, "close_all", close_and_look)
    assert Loop(thread_count=2, interval_seconds=1).run_once() == 3
    assert closed == [True] * len(closed)
    assert len(closed) >= 3


def test_a_loop_that_is_stopped_finishes_what_is_out(stage: Stage) -> None:
    (intent,) = proposed(stage, "1.00")
    hang = stage.shop.fault("hang_after", operation="refundCreate")
    loop = Loop(thread_count=2, interval_seconds=30)
    thread = Thread(target=_run_and_close, args=(loop,))
    thread.start()
    assert hang.reached()
    (later,) = proposed(stage, "2.00")
    loop.stop()
    hang.release()
    thread.join(timeout=60)
    assert not thread.is_alive()
    assert states([intent, later]) == [State.CONFIRMED, State.PROPOSED]


def _run_and_close(loop: Loop) -> None:
    try:
        loop.run()
    finally:
        connections.close_all()


def test_a_database_that_is_away_is_asked_again(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    (intent,) = proposed(stage, "1.00")
    loop = Loop(thread_count=1, interval_seconds=0.01)
    asked: list[int] = []

    def fail_once(**arguments: object) -> list[int]:
        asked.append(1)
        if len(asked) == 1:
            raise DatabaseError("canary: what a row holds")
        if fresh(intent).state == State.CONFIRMED:
            loop.stop()
        return claim_due(**arguments)  # type: ignore[arg-type]  # passed on as given

    monkeypatch.setattr(looping, "claim_due", fail_once)
    with capture_logs() as events:
        loop.run()
    assert fresh(intent).state == State.CONFIRMED
    assert [event for event in events if event["event"].startswith("loop.")] == [
        {"event": "loop.nothing_claimed", "log_level": "error", "error": "DatabaseError"}
    ]


def test_once_without_a_database_is_a_sentence(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(**_: object) -> list[int]:
        raise DatabaseError

    monkeypatch.setattr(looping, "claim_due", away)
    ran = shell("loop", "--once")
    said = "The database can't be asked what is due (DatabaseError): is it there, and migrated?"
    assert (ran.status, ran.out, ran.err) == (1, "", f"CommandError: {said}\n")


@pytest.mark.parametrize(
    "option",
    [
        *(f"--interval={seconds}" for seconds in ("0", "-1", "nan", "x", "3601")),
        *(f"--threads={count}" for count in ("0", "-1", "65", "x")),
    ],
)
def test_an_unfit_number_is_refused(shell: Shell, option: str) -> None:
    ran = shell("loop", "--once", option)
    assert (ran.status, ran.out) == (2, "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_process_with_no_broker_and_no_beat_does_everything_and_stops_on_a_signal(
    no_broker: None, stage: Stage, number: signal.Signals
) -> None:
    intents = proposed(stage, "1.00", "2.00", "3.00")
    hang = stage.shop.fault("hang_after", containing=intents[2].marker, operation="refundCreate")
    with looping_process("--interval", "0.05", "--threads", "4") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "looping with 4 threads\n"
        assert hang.reached(timeout_seconds=20)
        process.send_signal(number)
        hang.release()
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "stopped\n")
    assert "Traceback" not in err
    assert fresh(intents[2]).state == State.CONFIRMED
    with looping_process("--once") as process:
        process.communicate(timeout=60)
    assert process.returncode == 0
    assert states(intents) == [State.CONFIRMED] * 3
    assert len(stage.shop.effects()) == 3


@contextmanager
def looping_process(*arguments: str) -> Iterator["subprocess.Popen[str]"]:
    """Run `manage.py loop` as a process on this test's database, with a broker that isn't there."""
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "DATABASE_URL": _database_url(),
        "REDIS_URL": DEAD_BROKER,
    }
    environment.pop("DATABASE_OWNER_URL", None)
    with subprocess.Popen(
        [sys.executable, "manage.py", "loop", *arguments],
        cwd=PROJECT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _database_url() -> str:
    """Return the address of the run's database server, with this worker's database."""
    path = f"/{settings.DATABASES['default']['NAME']}"
    return urlsplit(os.environ["DATABASE_URL"])._replace(path=path).geturl()
