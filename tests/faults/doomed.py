"""Loaded by a worker under test: its clock is moved, and at one boundary it dies as by a power cut.

Promises: SIGKILL to its own process, once as many of its threads stand at the boundary as were
asked for; nothing is flushed, closed or acknowledged. Without a boundary only the clock is moved.
Does not know the work. Reads FAULTS_CLOCK_SECONDS, FAULTS_BOUNDARY and FAULTS_TOGETHER.
"""

import os
import signal
from contextlib import ExitStack
from datetime import timedelta
from threading import Barrier

from actions.boundaries import Boundary, observe
from integrations.clock import shifted

_clock = ExitStack()
_clock.enter_context(shifted(timedelta(seconds=float(os.environ["FAULTS_CLOCK_SECONDS"]))))

_together = Barrier(
    int(os.environ.get("FAULTS_TOGETHER", "1")),
    action=lambda: os.kill(os.getpid(), signal.SIGKILL),
)


def _die(at: Boundary) -> None:
    if at == os.environ.get("FAULTS_BOUNDARY"):
        _together.wait()


observe(_die)
