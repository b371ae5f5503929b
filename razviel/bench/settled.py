"""The whole path: proposed, judged, claimed, sent, answered and confirmed, per second.

Promises: each intent is a refund on an order of its own, proposed through the product's service,
woken through the broker, carried by one worker process and sent to a simulated store in another;
it counts when PostgreSQL says confirmed, and in the end the store's ledger must say the same.
Orders, tickets and requests are made before the clock starts.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from os import getpid
from queue import SimpleQueue
from threading import Event, Thread
from time import monotonic

from django.db import connection, connections

from actions.models import Intent
from razviel.bench.cases import Case, open_brand, open_case, propose_refund
from razviel.bench.rows import Row, percentile
from razviel.bench.usage import Usage, between, moment, parent_of
from razviel.demo.comparing import Comparison, compare
from razviel.demo.records import our_intents, their_effects
from razviel.demo.stack import (
    Process,
    Stack,
    address_of_sandbox,
    start_sandbox,
    start_worker,
)

SETTLED = "settled_intents"
IN_FLIGHT = 16

_LOOK_SECONDS = 0.005
_PATIENCE_SECONDS = 15.0
_WARM_UP_COUNT = 16
_ALONE_SHARE = 8
"""One of so many is settled once more, alone, to see what one takes where nothing waits."""


class NotSettled(Exception):
    """An intent did not end as confirmed in time, or the store's ledger says something else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one run came to."""

    seconds: float
    latencies_seconds: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The rows, whose processor time it was, and both records held against each other."""

    rows: list[Row]
    usage: Usage
    comparison: Comparison


class Watcher:
    """Looks for confirmed intents every few milliseconds, for all who wait."""

    def __init__(self) -> None:
        self._waiting: dict[int, Event] = {}
        self._news: SimpleQueue[tuple[int, Event]] = SimpleQueue()
        self._ended = Event()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Look, in a thread, while the block runs."""
        thread = Thread(target=self._run, name="watcher")
        thread.start()
        try:
            yield
        finally:
            self._ended.set()
            thread.join()

    def wait_for(self, intent_pk: int) -> None:
        """Wait until an intent is confirmed.

        Raises:
            NotSettled: It is not, in time.
        """
        confirmed = Event()
        self._news.put((intent_pk, confirmed))
        if not confirmed.wait(_PATIENCE_SECONDS):
            state = Intent.objects.values_list("state", flat=True).get(pk=intent_pk)
            raise NotSettled(f"Intent {intent_pk} is {state} after {_PATIENCE_SECONDS:.0f} s.")

    def _run(self) -> None:
        while not self._ended.wait(_LOOK_SECONDS):
            while not self._news.empty():
                pk, event = self._news.get()
                self._waiting[pk] = event
            done = Intent.objects.filter(pk__in=list(self._waiting), confirmed_at__isnull=False)
            for pk in done.values_list("pk", flat=True):
                self._waiting.pop(pk).set()
        connections.close_all()


def measure_settled(stack: Stack, *, count: int) -> Settled:
    """Measure alone and with many in flight.

    Args:
        count: How many are settled with many in flight.
    """
    sandbox, worker = start_sandbox(stack), start_worker(stack)
    url = address_of_sandbox(stack, sandbox)
    stack.said(worker, r"(celery@\S+) ready")
    brand = open_brand(url)
    cases = [open_case(brand) for _ in range(_WARM_UP_COUNT + alone_count(count) + count)]
    watcher, parts = Watcher(), _parts(stack, worker)
    with watcher.watching():
        _run(watcher, cases[:_WARM_UP_COUNT], in_flight=IN_FLIGHT)
        alone = _run(watcher, cases[_WARM_UP_COUNT:-count], in_flight=1)
        begin = moment(parts)
        many = _run(watcher, cases[-count:], in_flight=IN_FLIGHT)
        usage = between(begin, moment(parts))
    comparison = compare(our_intents([brand.workspace.slug]), their_effects([brand.shop]))
    if not comparison.holds:
        raise NotSettled(f"The figures are worth nothing: {comparison.sentence}.")
    return Settled(rows=[*_rows(many, alone)], usage=usage, comparison=comparison)


def alone_count(count: int) -> int:
    """Return how many are settled one after the other."""
    return max(1, count // _ALONE_SHARE)


def _rows(many: Run, alone: Run) -> Iterator[Row]:
    rate = round(len(many.latencies_seconds) / many.seconds, 2)
    yield Row(name=SETTLED, value=rate, unit="per s")
    for run, name in ((many, f"{IN_FLIGHT}_in_flight"), (alone, "alone")):
        for share in (50, 99):
            value = percentile(run.latencies_seconds, share / 100) * 1000
            yield Row(name=f"settled_p{share}_{name}", value=round(value, 1), unit="ms")


def _run(watcher: Watcher, cases: Sequence[Case], *, in_flight: int) -> Run:
    def settle(case: Case) -> float:
        begin = monotonic()
        watcher.wait_for(propose_refund(case))
        return monotonic() - begin

    begin = monotonic()
    with ThreadPoolExecutor(in_flight, thread_name_prefix="proposer") as pool:
        latencies = tuple(pool.map(settle, cases))
        seconds = monotonic() - begin
        list(pool.map(lambda _: connections.close_all(), range(in_flight)))
    return Run(seconds=seconds, latencies_seconds=latencies)


def _parts(stack: Stack, worker: Process) -> dict[str, int]:
    """Return the process of each part of the path, as far as it runs here."""
    parts = {process.name: process.pid for process in stack.processes}
    parts |= {"worker": worker.pid, "proposers": getpid()}
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid(), inet_server_addr() IS NULL")
        backend, is_here = cursor.fetchone()
    postmaster = parent_of(backend) if is_here else None
    return parts if postmaster is None else parts | {"database": postmaster}
