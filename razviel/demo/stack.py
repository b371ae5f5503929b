"""The product's processes on this machine: started, watched, and stopped by their own ids.

Promises: each child dies with this process, however that ends; its output is in a file, and its
last words are in the error when it ends by itself; a program that takes a free port says which.
Start them from the main thread: the kernel ties their end to it.
Does not know what they are for.
"""

import os
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from secrets import randbelow
from threading import Event
from time import monotonic
from types import TracebackType
from typing import Self

from razviel.embedded.account import server_account
from razviel.embedded.processes import Child, start_child
from razviel.embedded.state import open_throw_away

START_SECONDS = 90.0
"""For one process, on a machine with something else to do."""

_STOP_SECONDS = 20.0
_LOOK_SECONDS = 0.05
_LAST_LINES = 25


class ProcessEnded(Exception):
    """A process of the product ended, or did not become ready; the message has its last lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One of them."""

    name: str
    child: Child
    log: Path

    @property
    def pid(self) -> int:
        """Return its process id."""
        return self.child.process.pid

    @property
    def has_ended(self) -> bool:
        """Did it end?"""
        return self.child.process.poll() is not None

    def last_lines(self) -> str:
        """Return the end of its output, indented."""
        lines = self.log.read_text(errors="replace").splitlines()[-_LAST_LINES:]
        return "\n".join(f"    {line}" for line in lines) or "    (it said nothing)"


class Stack:
    """Processes with one environment and one folder of logs; leave it to stop them all.

    Args:
        environment: Of every process.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment = dict(environment)
        self.processes: list[Process] = []
        self._folder = open_throw_away(server_account())
        self._stopping = Event()

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop all, and remove their logs; an error takes their last words along."""
        if isinstance(error, Exception):
            error.add_note(self.last_words())
        with ExitStack() as stack:
            stack.callback(self._folder.release)
            stack.callback(self.stop)

    def start(self, name: str, command: Sequence[str]) -> Process:
        """Start Python with these arguments."""
        log = self._folder.path / f"{name}.log"
        with log.open("wb") as output:
            child = start_child(
                [sys.executable, *command],
                environment={**self.environment, "PYTHONUNBUFFERED": "1"},
                output=output,
            )
        process = Process(name=name, child=child, log=log)
        self.processes.append(process)
        return process

    def said(self, process: Process, pattern: str) -> str:
        """Wait until a process writes what matches, and return the first group.

        Raises:
            ProcessEnded: It ended, or did not say it in time.
        """
        deadline = monotonic() + START_SECONDS
        while monotonic() < deadline:
            found = re.search(pattern, process.log.read_text(errors="replace"))
            if found:
                return found.group(1)
            self.check()
            self._stopping.wait(_LOOK_SECONDS)
        raise ProcessEnded(
            f"{process.name} is not ready after {START_SECONDS:.0f} s:\n{process.last_lines()}"
        )

    def check(self) -> None:
        """See that all are running.

        Raises:
            ProcessEnded: One is not.
        """
        for process in self.processes:
            if process.has_ended:
                status = process.child.process.returncode
                raise ProcessEnded(
                    f"{process.name} ended with status {status}:\n{process.last_lines()}"
                )

    def last_words(self) -> str:
        """Return the end of each process's output."""
        return "\n".join(
            f"  the last lines of {process.name}:\n{process.last_lines()}"
            for process in self.processes
        )

    def end(self, process: Process) -> None:
        """Stop one of them."""
        self.processes.remove(process)
        process.child.stop(timeout_seconds=_STOP_SECONDS)

    def stop(self) -> None:
        """Ask all to stop, newest first, and wait for each."""
        for process in reversed(self.processes):
            if not process.has_ended:
                process.child.process.send_signal(process.child.stop_signal)
        for process in reversed(self.processes):
            process.child.stop(timeout_seconds=_STOP_SECONDS)
        self.processes.clear()


def application_environment() -> dict[str, str]:
    """Return our environment without the owner's address: a process needs the application's."""
    return {name: value for name, value in os.environ.items() if name != "DATABASE_OWNER_URL"}


def start_sandbox(stack: Stack) -> Process:
    """Start the simulated store on a free port, with identifiers that no earlier one had.

    A store belongs to one workspace for ever, and the database may outlive this sandbox.
    """
    first_number = (10**9 + randbelow(10**9)) * 1000
    command = ["manage.py", "sandbox", "--port", "0", "--first-number", str(first_number)]
    return stack.start("sandbox", command)


def address_of_sandbox(stack: Stack, sandbox: Process) -> str:
    """Wait until the simulated store listens, and return its address."""
    return stack.said(sandbox, r"sandbox (http://\S+)")


def start_web(stack: Stack) -> Process:
    """Start the web process on a free port."""
    command = ["-m", "gunicorn", "razviel.wsgi", "--no-control-socket", "--log-level", "info"]
    size = ["--bind", "127.0.0.1:0", "--workers", "2", "--threads", "8", "--preload"]
    return stack.start("web", [*command, *size])


def address_of_web(stack: Stack, web: Process) -> str:
    """Wait until the web process listens, and return its address."""
    return stack.said(web, r"Listening at: (http://\S+)")


def start_worker(
    stack: Stack, *, application: str = "razviel", queues: str = "money,messages,reads,inbox"
) -> Process:
    """Start one Celery worker on threads."""
    asked = [
        "worker",
        "--queues",
        queues,
        "--loglevel",
        "info",
        "--without-mingle",
        "--without-gossip",
    ]
    return stack.start("worker", [*_celery(application), *asked])


def start_beat(stack: Stack) -> Process:
    """Start Celery's clock."""
    return stack.start("beat", [*_celery("razviel"), "beat", "--loglevel", "warning"])


def start_loop(stack: Stack) -> Process:
    """Start the second trigger, which needs neither beat nor broker."""
    return stack.start("loop", ["manage.py", "loop", "--interval", "0.5", "--threads", "4"])


def _celery(application: str) -> list[str]:
    # As root Celery warns, although nothing but JSON is read from the queue.
    quiet = ["-W", "ignore:You're running the worker with superuser"]
    return [*quiet, "-m", "celery", "-A", application, "--quiet"]
