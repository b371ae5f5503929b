"""Queues, routes and schedule: a contract with messages that are already queued."""

from __future__ import annotations

import kombu
import pytest
import redis
from django.db import connection
from kombu.exceptions import OperationalError

from actions.tasks import dispatch_due
from razviel.celery import app, ping_broker

DEAD_BROKER = "redis://127.0.0.1:1/0"


def test_the_queues_are_these() -> None:
    assert sorted(queue.name for queue in app.conf.task_queues) == [
        "inbox",
        "messages",
        "money",
        "reads",
    ]


@pytest.mark.parametrize(
    ("task", "queue"),
    [
        ("actions.advance_intent", "money"),
        ("actions.dispatch_due", "reads"),
    ],
)
def test_a_task_is_routed_by_its_name(task: str, queue: str) -> None:
    assert app.amqp.router.route({}, task)["queue"].name == queue


def test_the_schedule_is_this() -> None:
    seen = {entry["task"]: entry["schedule"] for entry in app.conf.beat_schedule.values()}
    assert seen == {"actions.dispatch_due": 10.0}


def test_a_message_reaches_its_own_queue_and_no_other(redis_url: str) -> None:
    names = sorted(app.amqp.queues)
    with redis.Redis.from_url(redis_url) as broker, kombu.Connection(redis_url) as connection:
        broker.delete(*names)
        app.send_task("actions.advance_intent", args=["an id"], connection=connection)
        assert [(name, broker.llen(name)) for name in names if broker.llen(name)] == [("money", 1)]
        broker.delete(*names)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("task_always_eager", False),
        ("task_ignore_result", True),
        ("result_backend", None),
        ("task_acks_late", True),
        ("task_publish_retry", False),
        ("accept_content", ["json"]),
        ("task_serializer", "json"),
        ("worker_pool", "threads"),
        ("worker_prefetch_multiplier", 1),
        ("timezone", "UTC"),
    ],
)
def test_what_correctness_leans_on_is_set(setting: str, value: object) -> None:
    assert app.conf[setting] == value


def test_a_broker_that_is_away_makes_a_publisher_fail_at_once() -> None:
    options = app.conf.broker_transport_options
    with (
        kombu.Connection(DEAD_BROKER, transport_options=options) as connection,
        pytest.raises(OperationalError),
    ):
        app.send_task("actions.advance_intent", args=["an id"], connection=connection)


def test_the_broker_answers_a_ping() -> None:
    assert ping_broker(timeout_seconds=5.0) is True


def _backend() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (backend,) = cursor.fetchone()
    return int(backend)


def test_a_connection_that_broke_between_two_tasks_is_replaced_before_the_second(
    transactional_db: None,
) -> None:
    dispatch_due()
    broken = _backend()
    other = connection.copy()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [broken])
    other.close()
    dispatch_due()
    assert _backend() != broken
