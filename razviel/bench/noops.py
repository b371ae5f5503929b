"""What Celery does with nothing to do: late-acknowledged no-ops per second on this broker.

Promises: the messages wait in the queue before the worker takes the first, so that nothing but
taking, running and acknowledging is measured. Does not know the product's tasks.
"""

from threading import Event
from time import monotonic

from razviel.bench.rows import Row
from razviel.bench.worker import publish, purge, waiting_count
from razviel.demo.stack import START_SECONDS, Stack, start_worker

NOOPS = "celery_noops"

_COUNT = 3000
_LOOK_SECONDS = 0.005


class NothingHappens(Exception):
    """The worker took no message in time; its last lines are in the message."""


def measure_noops(stack: Stack) -> Row:
    """Let one worker, on as many threads as in production, drain a queue of no-ops."""
    purge()
    publish(_COUNT)
    worker = start_worker(stack, application="razviel.bench.worker", queues="bench")
    try:
        _wait_until_below(_COUNT, stack)
        taken = _COUNT - waiting_count()
        begin = monotonic()
        _wait_until_below(1, stack)
        seconds = monotonic() - begin
    finally:
        stack.end(worker)
    return Row(name=NOOPS, value=round((_COUNT - taken) / seconds, 1), unit="per s")


def _wait_until_below(count: int, stack: Stack) -> None:
    deadline, clock = monotonic() + START_SECONDS, Event()
    while waiting_count() >= count:
        stack.check()
        if monotonic() > deadline:
            raise NothingHappens(stack.processes[-1].last_lines())
        clock.wait(_LOOK_SECONDS)
