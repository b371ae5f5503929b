"""Several workers at once, each with a database connection of its own.

Promises: all begin at one barrier; what any of them raises is raised here; every connection is
closed, so that no test meets another's.
Does not know what the workers do.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from threading import Barrier
from typing import TypeVar

from django.db import connections

Result = TypeVar("Result")

PATIENCE_SECONDS = 60


def at_once(*acts: Callable[[], Result]) -> list[Result]:
    """Do everything at once, each in a thread of its own; return what each returned, in order."""
    barrier = Barrier(len(acts))

    def begin(act: Callable[[], Result]) -> Result:
        barrier.wait(PATIENCE_SECONDS)
        return act()

    with ThreadPoolExecutor(len(acts)) as pool:
        futures = [pool.submit(_closing, partial(begin, act)) for act in acts]
        return [future.result(PATIENCE_SECONDS) for future in futures]


@contextmanager
def meanwhile(act: Callable[[], Result]) -> Iterator[Future[Result]]:
    """Do something in a thread while the block runs; wait for it at the end."""
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(_closing, act)
        yield future
        future.result(PATIENCE_SECONDS)


def _closing(act: Callable[[], Result]) -> Result:
    try:
        return act()
    finally:
        connections.close_all()
