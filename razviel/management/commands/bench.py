"""`manage.py bench`: measure the whole path on this machine; `make bench` brings the servers.

Promises: what is measured and on what is said with the figures; a run that does not count says so
and still exits 0, since the figures are there to be judged. Does not know how anything is measured.
"""

import json
import logging
from argparse import ArgumentTypeError, Namespace

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser

from razviel.bench.measuring import INTENT_COUNT, MEASURES, Measured, run
from razviel.bench.rows import as_json, as_table
from razviel.demo.screen import Screen
from razviel.management.reports import writable


class Command(BaseCommand):
    """Measure."""

    help = "Measure settled intents per second, beside the commits per second of the same database."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take what to measure and where to write it."""
        parser.add_argument("--only", choices=sorted(MEASURES), help="measure one row alone")
        parser.add_argument(
            "--count", type=_count, default=INTENT_COUNT, help=f"intents ({INTENT_COUNT})"
        )
        parser.add_argument(
            "--report", type=writable, metavar="FILE", help="write the rows as JSON"
        )

    def handle(self, *_args: object, **options: object) -> None:
        """Measure and tell."""
        asked = Namespace(**options)
        logging.getLogger().setLevel(logging.WARNING)
        call_command("migrate", database="owner", verbosity=0, interactive=False)
        screen = Screen.on_standard_output()
        with screen.waiting("measuring") as tell:
            names = [asked.only] if asked.only else list(MEASURES)
            measured = run(names, count=asked.count, tell=tell)
        screen.show(as_table(measured.rows))
        for note in [*measured.notes, measured.verdict]:
            screen.say(note)
        if asked.report:
            asked.report.write_text(_report(measured))


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text)):
        raise ArgumentTypeError("give a number from 1 on")
    return int(text)


def _report(measured: Measured) -> str:
    return f"{json.dumps(as_json(measured.rows), indent=2)}\n"
