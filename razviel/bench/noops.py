"""What Celery does with nothing to do: late-acknowledged no-ops per second on this broker.

Promises: the messages wait in the queue before the worker takes the first, so that nothing but
taking, running and acknowledging is measured. Does not know the product's tasks.
"""

from collections.abc import Callable
from threading import Event
from time import monotonic

from razviel.bench.rows import Row
from razviel.bench.worker import counting, publish, purge
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
        with counting() as waiting_count:
            _wait_while(lambda: waiting_count() == _COUNT, stack)
            begin, waiting = monotonic(), waiting_count()
            _wait_while(lambda: waiting_count() > 0, stack)
            seconds = monotonic() - begin
    finally:
        stack.end(worker)
    return Row(name=NOOPS, value=round(waiting / seconds, 1), unit="per s")


def _wait_while(busy: Callable[[], bool], stack: Stack) -> None:
    deadline, clock = monotonic() + START_SECONDS, Event()
    while busy():
        stack.check()
        if monotonic() > deadline:
            raise NothingHappens(stack.processes[-1].last_lines())
        clock.wait(_LOOK_SECONDS)
