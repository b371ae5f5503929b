"""`make run`: web, worker and beat on this machine, as a deployment would run them.

Promises: migrates first; stops all when one ends or on Ctrl-C, and leaves none behind.
Does not know: the sandbox, which `make demo` adds.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from types import FrameType

from razviel.embedded.faults import PortTaken
from razviel.embedded.processes import Child, start_child

_STOP_SECONDS = 40  # a worker finishes the calls that are out


def main() -> int:
    """Run until a process ends or a signal comes, and return the exit status."""
    address = os.environ.get("RAZVIEL_BIND", "127.0.0.1:8000")
    try:
        look_at(address)
    except PortTaken as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    subprocess.run([sys.executable, "manage.py", "migrate", "--database", "owner"], check=True)
    application = {name: v for name, v in os.environ.items() if name != "DATABASE_OWNER_URL"}
    children = [
        start_child([sys.executable, *command], environment=application)
        for command in _commands(address)
    ]
    sys.stdout.write(f"Razviel is at http://{address}/console/ (Ctrl-C stops it)\n")
    sys.stdout.flush()
    ended = threading.Event()

    def stop(_number: int, _frame: FrameType | None) -> None:
        ended.set()

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    while not ended.wait(0.5) and all(child.process.poll() is None for child in children):
        pass
    return _stop_all(children, asked=ended.is_set())


def look_at(address: str) -> None:
    """Refuse an address that can't be listened on before anything is started for it.

    Raises:
        PortTaken: It is no host:port, or somebody else listens there.
    """
    host, _, port = address.rpartition(":")
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((host.strip("[]"), int(port)))
    except (OSError, ValueError, OverflowError) as problem:
        message = f"Can't listen at {address} ({problem}): set RAZVIEL_BIND=127.0.0.1:PORT."
        raise PortTaken(message) from problem


def _commands(address: str) -> list[list[str]]:
    # As root Celery warns, although nothing but JSON is read from the queue.
    quiet = ["-W", "ignore:You're running the worker with superuser"]
    celery = [*quiet, "-m", "celery", "-A", "razviel", "--quiet"]
    web = ["-m", "gunicorn", "razviel.wsgi", "--no-control-socket", "--log-level", "warning"]
    queues = "money,messages,reads,inbox"
    return [
        [*web, "--bind", address, "--workers", "2", "--threads", "8"],
        [*celery, "worker", "--queues", queues, "--loglevel", "warning", "--without-mingle"],
        [*celery, "beat", "--loglevel", "warning"],
    ]


def _stop_all(children: list[Child], *, asked: bool) -> int:
    failed = [child.process.returncode for child in children if child.process.returncode]
    for child in children:
        if child.process.poll() is None:
            child.process.send_signal(child.stop_signal)
    for child in children:
        child.stop(timeout_seconds=_STOP_SECONDS)
    return 0 if asked or not failed else 1


if __name__ == "__main__":
    sys.exit(main())
