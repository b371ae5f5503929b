"""`python -m razviel.embedded COMMAND…`: run a command of the project on embedded servers.

Promises: DATABASE_URL, DATABASE_OWNER_URL, REDIS_URL and the secrets of a local run are set for
COMMAND, which runs in the project's Python; Ctrl-C and TERM reach it; the servers stop after it;
the exit status is its own. Does not know: what COMMAND does.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType

from razviel.embedded.faults import EmbeddedFault
from razviel.embedded.local import local_settings
from razviel.embedded.processes import start_child
from razviel.embedded.surroundings import surroundings


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    chosen = _parser().parse_args(arguments)
    command = [sys.executable, *chosen.command]
    keep = Path(chosen.keep).resolve() if chosen.keep else None
    try:
        with surroundings(os.environ, durable=not chosen.fast, keep=keep) as made:
            _tell(made.summary)
            return _run(command, {**local_settings(keep), **made.environment})
    except EmbeddedFault as fault:
        _tell(str(fault))
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m razviel.embedded",
        description="Run a command of the project with the database and broker it needs.",
    )
    parser.add_argument("--fast", action="store_true", help="data need not survive a crash")
    parser.add_argument("--keep", metavar="FOLDER", help="keep the data here between runs")
    parser.add_argument(
        "command",
        nargs=argparse.REMAINDER,
        help="what Python runs, such as: manage.py demo --report FILE",
    )
    return parser


def _run(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run the command in our group, pass signals on, and wait for it to end in its own time."""
    child = start_child(command, environment=environment, own_group=False)

    def pass_on(number: int, _frame: FrameType | None) -> None:
        if child.process.poll() is None:
            child.process.send_signal(number)

    # A terminal sends Ctrl-C to the whole group, so the command has it already.
    signal.signal(signal.SIGINT, signal.SIG_IGN if sys.stdin.isatty() else pass_on)
    signal.signal(signal.SIGTERM, pass_on)
    status = child.process.wait()
    return 128 - status if status < 0 else status


def _tell(sentence: str) -> None:
    sys.stderr.write(f"{sentence}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
