"""`manage.py loop`: execute what is due, as a process that needs neither beat nor broker.

Promises: on SIGTERM or SIGINT it takes nothing new, finishes the calls that are out, and exits 0;
`--once` does what is due now and ends.
Does not know the work; beside Celery's workers it does no harm, and alone it does everything.
"""

import signal
from argparse import ArgumentTypeError, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from actions.looping import Loop

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_INTERVAL_SECONDS = 1.0
_INTERVAL_SECONDS_MAX = 3600.0
_THREADS_MAX = 64


class Command(BaseCommand):
    """Do what is due."""

    help = (
        "Claim and execute what is due, without Celery. Any number of these may run, beside "
        "workers or alone."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Take how long to wait and how much to do at once."""
        parser.add_argument("--once", action="store_true", help="do what is due now, then end")
        parser.add_argument(
            "--interval",
            type=_seconds,
            default=_INTERVAL_SECONDS,
            metavar="SECONDS",
            help="how long to wait where nothing is due (1)",
        )
        parser.add_argument(
            "--threads",
            type=_count,
            default=settings.CELERY_WORKER_CONCURRENCY,
            metavar="N",
            help=f"how many at once, {_THREADS_MAX} at most (as many as a worker has)",
        )

    def handle(self, *_args: object, **options: object) -> None:
        """Run."""
        asked = Namespace(**options)
        loop = Loop(thread_count=asked.threads, interval_seconds=asked.interval)
        with _stopped_by_signals(loop):
            if asked.once:
                self._once(loop, asked)
            else:
                self._until_stopped(loop, asked)

    def _once(self, loop: Loop, asked: Namespace) -> None:
        try:
            count = loop.run_once()
        except DatabaseError as error:
            raise CommandError(
                f"The database can't be asked what is due ({type(error).__name__}): is it "
                "there, and migrated?"
            ) from error
        if asked.verbosity:
            self.stdout.write(f"{count} done")

    def _until_stopped(self, loop: Loop, asked: Namespace) -> None:
        if asked.verbosity:
            self.stdout.write(f"looping with {asked.threads} threads")
            self.stdout.flush()
        loop.run()
        if asked.verbosity:
            self.stdout.write("stopped")


@contextmanager
def _stopped_by_signals(loop: Loop) -> Iterator[None]:
    def stop(_number: int, _frame: FrameType | None) -> None:
        loop.stop()

    before = {number: signal.signal(number, stop) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= _INTERVAL_SECONDS_MAX:
        raise ArgumentTypeError("give seconds, more than 0 and at most 3600")
    return seconds


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= _THREADS_MAX):
        raise ArgumentTypeError(f"give a number from 1 to {_THREADS_MAX}")
    return int(text)
