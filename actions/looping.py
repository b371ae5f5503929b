"""A second trigger, with neither beat nor broker: claim what is due, and do it in threads.

Promises: takes only as many rows as it has threads free, so that none lies about while its time
runs; one intent's failure is logged and stops nothing else; told to stop, it takes nothing new and
finishes what is out; waits without turning.
Does not know what is done for an intent: that is `actions.advance`. Any number of loops and
workers may run side by side.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, SimpleQueue

import structlog
from django.db import DatabaseError, close_old_connections, connections

from actions.advance import advance
from actions.dispatch import claim_due
from integrations.clock import now

log = structlog.get_logger(__name__)


class Loop:
    """Does what is due, until told to stop.

    Args:
        thread_count: How many intents are worked on at once.
        interval_seconds: How long to wait before looking again where nothing was due.
    """

    def __init__(self, *, thread_count: int, interval_seconds: float) -> None:
        self._thread_count = thread_count
        self._interval_seconds = interval_seconds
        self._is_stopping = False
        # A queue, since a signal's handler runs in the middle of whatever the main thread does: an
        # Event's lock may be held there,
        # SimpleQueue.put is made to be called at any time.
        # https://docs.python.org/3/library/queue.html#queue.SimpleQueue.put (read 2026-11-30)
        self._news: SimpleQueue[None] = SimpleQueue()

    def stop(self) -> None:
        """Take nothing new, and end once what is running is done; safe in a signal's handler."""
        self._is_stopping = True
        self._news.put(None)

    def run(self) -> None:
        """Do what is due, now and later, until `stop`."""
        running: set[Future[None]] = set()
        with ThreadPoolExecutor(self._thread_count, thread_name_prefix="loop") as pool:
            while not self._is_stopping:
                running = {future for future in running if not future.done()}
                for intent in self._take(self._thread_count - len(running)):
                    future = pool.submit(_do, intent)
                    running.add(future)
                    future.add_done_callback(lambda _done: self._news.put(None))
                self._wait()

    def run_once(self) -> int:
        """Do what is due now, each intent once; return how many there were.

        Raises:
            DatabaseError: The database can't be asked what is due.
        """
        # One moment for the whole run: whatever an intent's own step plans is later than that, so
        # that the run ends.
        until, count = now(), 0
        with ThreadPoolExecutor(self._thread_count, thread_name_prefix="loop") as pool:
            while not self._is_stopping:
                taken = claim_due(now=until, limit=self._thread_count)
                if not taken:
                    break
                list(pool.map(_do, taken))
                count += len(taken)
        return count

    def _take(self, limit: int) -> list[int]:
        if not limit:
            return []
        close_old_connections()
        try:
            return claim_due(now=now(), limit=limit)
        except DatabaseError as error:
            # A database that is away comes back: the next look is one interval later.
            log.error("loop.nothing_claimed", error=type(error).__name__)  # noqa: TRY400 - as below
            return []

    def _wait(self) -> None:
        """Wait until a thread is free, a stop is asked for, or it is time to look again."""
        with suppress(Empty):
            self._news.get(timeout=self._interval_seconds)
            while True:
                self._news.get_nowait()


def _do(intent_pk: int) -> None:
    """Do what is due for one intent; this thread's database connections are closed after it."""
    try:
        advance(intent_pk)
    # Whatever is wrong with one intent stops no other; its row is due again in a while.
    except Exception as error:  # noqa: BLE001 - as said above
        event = {"intent": intent_pk, "error": type(error).__name__}
        log.error("loop.intent_failed", **event)  # noqa: TRY400 - a message may hold what a row holds
    finally:
        connections.close_all()
