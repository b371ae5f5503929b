"""A real worker process, killed by SIGKILL between two truths, against a real sandbox over HTTP.

Promises: the workers are Celery's own, on the test's database and broker; both their threads die
at the named boundary in one blow, one with a refund on a store that remembers keys, one on a store
that forgets them. Later workers and sweeps alone bring everything to its end.
Clocks, the workers', the store's and ours, are moved by hand from one worker to the next.
"""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Event
from time import monotonic
from urllib.parse import urlsplit

import pytest

from actions.boundaries import Boundary
from actions.models import Intent
from integrations.sandbox.faults import FaultKind
from integrations.sandbox.surface import ShopControls
from razviel.celery import app
from tests.database import TestDatabase
from tests.faults import nursery
from tests.stage import Stage, connect

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.slow,
    pytest.mark.timeout(600),
]

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 60.0
LEASE = timedelta(seconds=60)
SETTLING = timedelta(minutes=13)
KILLS = 20

HOW_TO_GET_THERE: dict[Boundary, FaultKind | None] = {
    Boundary.CLAIMED: None,
    Boundary.CONNECTED: None,
    Boundary.ANSWERED: None,
    Boundary.SETTLED: None,
    Boundary.FACTS_READ: None,
    Boundary.GATED: None,
    Boundary.TARGET_READ: FaultKind.LOST_AFTER,
    Boundary.RECONCILED: FaultKind.LOST_AFTER,
}
"""What must go wrong on the way, if anything, for a worker to come by each boundary."""


class Scene:
    """Two stores, one that remembers keys and one that forgets them, and the workers' clock."""

    def __init__(self, stage: Stage, database: TestDatabase) -> None:
        self.stage = stage
        self.passed = timedelta()
        self.remembering = stage.shop
        self.remembering.keys(remember=True)
        self.forgetful = stage.sandbox.shop("forgetful.myshopify.com")
        self.forgetful.keys(remember=False)
        self._connections = (stage.connection, connect(stage.workspace, self.forgetful))
        self._environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.settings",
            "DATABASE_URL": urlsplit(os.environ["DATABASE_URL"])
            ._replace(path=f"/{database.name}")
            .geturl(),
        }

    @property
    def shops(self) -> tuple[ShopControls, ShopControls]:
        """Return both stores."""
        return self.remembering, self.forgetful

    def pass_time(self, wait: timedelta) -> None:
        """Let time pass for us, for the stores, and for the workers to come."""
        self.stage.pass_time(wait)
        self.passed += wait

    def propose(self, fault: FaultKind | None) -> None:
        """Propose a refund on each store; that wakes a worker for each."""
        for shop, connection in zip(self.shops, self._connections, strict=True):
            if fault is not None:
                shop.fault(fault, operation="refundCreate")
            self.stage.shop, self.stage.connection = shop, connection
            self.stage.propose(self.stage.case())

    def environment(self, boundary: Boundary | None) -> dict[str, str]:
        """Return what a worker is told: its clock, and where to die."""
        return {
            **self._environment,
            "FAULTS_CLOCK_SECONDS": str(self.passed.total_seconds()),
            "FAULTS_TOGETHER": "2",
            "FAULTS_BOUNDARY": boundary or "",
        }

    def assert_one_refund_each(self) -> None:
        """Every intent is confirmed by the one refund that its store holds for it."""
        told = {
            (intent.marker, external.identifier)
            for intent in Intent.objects.filter(state="confirmed")
            for external in intent.external_objects.all()
        }
        held = [(effect.note, effect.id) for shop in self.shops for effect in shop.effects()]
        assert len(held) == Intent.objects.count()
        assert set(held) == told


class Nursery:
    """The process that runs workers one after the other."""

    def __init__(self, process: "subprocess.Popen[bytes]", log: Path) -> None:
        self._process = process
        self._log = log

    def run_to_its_end(self, environment: dict[str, str]) -> int:
        """Run a worker until it ends, and return its exit status; a signal's is negative."""
        asked, told = self._process.stdin, self._process.stdout
        assert asked is not None
        assert told is not None
        asked.write(json.dumps(environment).encode() + b"\n")
        asked.flush()
        ready, _, _ = select.select([told], [], [], PATIENCE_SECONDS)
        assert ready, f"no worker came by its boundary:\n{self._log.read_text()[-4000:]}"
        return int(json.loads(told.readline())["signal"])


@pytest.fixture
def scene(stage: Stage, test_database: TestDatabase) -> Scene:
    app.control.purge()
    return Scene(stage, test_database)


@pytest.fixture
def workers(scene: Scene, tmp_path: Path) -> Iterator[Nursery]:
    log = tmp_path / "workers.log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", nursery.__name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=file,
            env=scene.environment(None),
            cwd=ROOT,
        )
    try:
        yield Nursery(process, log)
    finally:
        process.kill()  # a worker that is running goes with it
        process.communicate()


@contextmanager
def living_worker(scene: Scene) -> Iterator[None]:
    """Run a worker by its command, as a deployment does, for the time of a `with` block."""
    command = [sys.executable, "-m", *nursery.WORKER, *nursery.OPTIONS]
    process = subprocess.Popen(
        [*command, "-I", "tests.faults.doomed"],
        env=scene.environment(None),
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.terminate()
        assert process.wait(PATIENCE_SECONDS) == 0


def sweep() -> None:
    """Do what beat does every ten seconds."""
    app.send_task("actions.dispatch_due")


def wait_until_all_is_settled() -> None:
    """Wait until nothing is due any more, looking ten times a second."""
    ends = monotonic() + PATIENCE_SECONDS
    pause = Event()
    while Intent.objects.exclude(state="confirmed").exists():
        assert monotonic() < ends, list(Intent.objects.values_list("state", flat=True))
        pause.wait(0.1)


def test_twenty_workers_killed_between_answer_and_commit_leave_one_refund_each(
    scene: Scene, workers: Nursery
) -> None:
    for _ in range(KILLS):
        scene.propose(None)
        sweep()
        died_of = workers.run_to_its_end(scene.environment(Boundary.ANSWERED))
        assert died_of == -signal.SIGKILL
        scene.pass_time(LEASE)
    assert Intent.objects.count() == 2 * KILLS
    with living_worker(scene):
        sweep()
        wait_until_all_is_settled()
    assert [len(shop.requests(operation="refundCreate")) for shop in scene.shops] == [KILLS] * 2
    scene.assert_one_refund_each()


def test_workers_killed_at_each_boundary_leave_one_refund_each(
    scene: Scene, workers: Nursery
) -> None:
    for boundary, fault in HOW_TO_GET_THERE.items():
        scene.propose(fault)
        died_of = workers.run_to_its_end(scene.environment(boundary))
        assert (boundary, died_of) == (boundary, -signal.SIGKILL)
        scene.pass_time(LEASE)
    scene.pass_time(SETTLING)
    with living_worker(scene):
        sweep()
        wait_until_all_is_settled()
    scene.assert_one_refund_each()


def test_a_worker_is_killed_at_every_boundary_that_the_code_names() -> None:
    assert set(HOW_TO_GET_THERE) == set(Boundary)
