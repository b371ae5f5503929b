"""The Celery application: queues, routes by task name, and the schedule.

Promises: a message carries an id and may be lost, doubled or late without harm, since the row is
the queue; nothing is retried and nothing is delayed here. Task names are a contract with queued
messages. Does not know: what a task does.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from celery import Celery, Task
from django.db import close_old_connections
from kombu import Exchange, Queue
from kombu.exceptions import KombuError

if TYPE_CHECKING:
    from kombu.connection import Connection

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "razviel.settings")

QUEUE_NAMES = ("money", "messages", "reads", "inbox")
ROUTES = {
    "actions.advance_intent": {"queue": "money"},
    "actions.dispatch_due": {"queue": "reads"},
}
DISPATCH_SECONDS = 10.0


def _every(task: str, seconds: float) -> dict[str, object]:
    # A sweep that waited longer than its period is worth nothing: the next one does its work.
    return {"task": task, "schedule": seconds, "options": {"expires": seconds}}


SCHEDULE = {
    "dispatch due": _every("actions.dispatch_due", DISPATCH_SECONDS),
}

TASKS_A_CONNECTION = 1_000
"""For how many tasks a database connection serves. Celery's default closes it after each one:
connecting anew cost a fifth of a worker's CPU time and nearly half of the database's."""


class ConnectedTask(Task):  # type: ignore[type-arg]  # the stubs' two parameters say nothing here
    """A task on a database connection that answers: one that broke meanwhile is closed first."""

    def __call__(self, *args: object, **kwargs: object) -> object:
        """Run the task."""
        close_old_connections()
        return super().__call__(*args, **kwargs)


app = Celery("razviel", task_cls=ConnectedTask)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.update(
    # Each with its exchange: without one all four would be bound to the default queue's.
    task_queues=[Queue(name, Exchange(name), routing_key=name) for name in QUEUE_NAMES],
    task_routes=ROUTES,
    beat_schedule=SCHEDULE,
    CELERY_DB_REUSE_MAX=TASKS_A_CONNECTION,
)
app.autodiscover_tasks()
# Threads of a web process see Celery's default application, not the one that was made last.
app.set_default()


def ping_broker(*, timeout_seconds: float) -> bool:
    """Tell whether the broker answers within the time."""
    connection: Connection = app.connection_for_read(connect_timeout=timeout_seconds)
    connection.transport_options = {
        **(connection.transport_options or {}),
        "socket_connect_timeout": timeout_seconds,
        "socket_timeout": timeout_seconds,
    }
    try:
        connection.ensure_connection(max_retries=0)
    except (KombuError, OSError):
        return False
    finally:
        connection.release()
    return True
