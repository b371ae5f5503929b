"""Starts Celery workers quickly, one after the other: everything is imported once, each is a fork.

Promises: each worker is a process of its own that runs the command `celery -A razviel.celery
worker` from its first line, on connections of its own (none is open before the fork). For each
line on standard input (a JSON object of environment variables) one worker is run to its end, and
its end is told in a line on standard output.
Does not know what the workers do, or why they die.
"""

import json
import os
import signal
import sys
from importlib import import_module

import django
from celery.__main__ import main

from razviel.embedded.processes import _die_with_parent

WORKER = ["celery", "-A", "razviel.celery", "worker", "-P", "threads", "-c", "2"]
IMPORTED_ONCE = [
    "razviel.celery",
    "actions.tasks",
    "celery.bin.celery",
    "celery.apps.worker",
    "celery.concurrency.thread",
    "celery.worker.components",
    "celery.worker.consumer",
    "celery.worker.strategy",
    "kombu.transport.redis",
    "psycopg",
]
OPTIONS = ["--without-gossip", "--without-mingle", "--without-heartbeat", "-l", "warning"]


def run() -> None:
    """Run a worker for each line."""
    django.setup()
    for name in IMPORTED_ONCE:
        import_module(name)
    for line in iter(sys.stdin.readline, ""):
        end_with_us = _die_with_parent(signal.SIGKILL)
        pid = os.fork()
        if pid == 0:
            _work(json.loads(line), end_with_us)
        _, status = os.waitpid(pid, 0)
        print(json.dumps({"signal": os.waitstatus_to_exitcode(status)}), flush=True)  # noqa: T201 - this is the answer


def _work(environment: dict[str, str], end_with_us: object) -> None:
    if callable(end_with_us):
        end_with_us()
    os.environ.update(environment)
    sys.argv = [*WORKER, *OPTIONS, "-I", "tests.faults.doomed"]
    sys.stdin = open(os.devnull)  # noqa: SIM115 - for the life of the process
    os.dup2(2, 1)  # answers alone go to standard output
    sys.exit(main())


if __name__ == "__main__":
    run()
