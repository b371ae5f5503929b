"""`python -m razviel.embedded COMMAND…`: run a command of the project on embedded servers.

Promises: DATABASE_URL, DATABASE_OWNER_URL, REDIS_URL and the secrets of a local run are set for
COMMAND, which runs in the project's Python; Ctrl-C and TERM reach it; the servers stop after it;
the exit status is its own. Does not know: what COMMAND does.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from razviel.embedded.faults import EmbeddedFault
from razviel.embedded.local import local_settings
from razviel.embedded.processes import start_child
from razviel.embedded.surroundings import look_for_broker, surroundings


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of this module: what to run and what its data may suffer."""

    command: list[str]
    keep: Path | None
    durable: bool
    join: bool


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    call = parse(sys.argv[1:] if arguments is None else arguments)
    try:
        if os.environ.get("REDIS_URL"):
            look_for_broker(os.environ["REDIS_URL"])
        with surroundings(os.environ, durable=call.durable, keep=call.keep, join=call.join) as made:
            _tell(made.summary)
            environment = {**local_settings(call.keep), **made.environment}
            if call.join and not made.joined:
                _migrate(environment)
            return _run([sys.executable, *call.command], environment)
    except EmbeddedFault as fault:
        _tell(str(fault))
        return 1
    except KeyboardInterrupt:  # while the servers started; they are stopped already
        return 128 + signal.SIGINT


def parse(arguments: Sequence[str]) -> Call:
    """Read our own options up to the command, whose options are left alone.

    argparse would take `-m` for an unknown option of ours, so what follows ours is split off first.
    """
    start = 0
    while start < len(arguments) and arguments[start].startswith("--"):
        start += 2 if arguments[start] == "--keep" else 1
    parser = argparse.ArgumentParser(
        prog="python -m razviel.embedded",
        usage="%(prog)s [--fast] [--keep FOLDER [--join]] COMMAND...",
        description="Run what Python runs, such as `manage.py demo`, with database and broker.",
    )
    parser.add_argument("--fast", action="store_true", help="data need not survive a crash")
    parser.add_argument("--keep", metavar="FOLDER", help="keep the data here between runs")
    parser.add_argument("--join", action="store_true", help="use what runs on that data already")
    chosen = parser.parse_args(arguments[:start])
    command = list(arguments[start:])
    if not command:
        parser.error("a command is missing, such as: manage.py check")
    keep = Path(chosen.keep).resolve() if chosen.keep else None
    return Call(command=command, keep=keep, durable=not chosen.fast, join=chosen.join)


def _migrate(environment: Mapping[str, str]) -> None:
    """Bring kept data up to date before a command looks at it, as `make run` does."""
    command = [sys.executable, "manage.py", "migrate", "--database", "owner", "--verbosity", "0"]
    subprocess.run(command, env=dict(environment), stdin=subprocess.DEVNULL, check=True)


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
