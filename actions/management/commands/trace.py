"""`manage.py trace TICKET`: ours and the store's own word on each of its intents, side by side.

Promises: reads the store live and writes nothing; exits 0 where all agrees, 1 where something
differs or is in doubt, 2 where the store could not be read whole. `--json` gives the same to
scripts.
Does not know how the two are compared: that is `actions.tracing`.
"""

import json
import shutil
from argparse import Namespace
from dataclasses import asdict
from io import StringIO
from sys import exit as leave

from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from actions.tracing import Trace, TracedIntent, Unreachable, Verdict, trace
from integrations import registry
from integrations.clock import now
from integrations.models import Connection
from integrations.ports import StorePort, Unusable
from tickets.models import Ticket

DIFFERS = 1
NOT_READ = 2
_PIPE_WIDTH = 1000
"""Nothing wraps where nobody looks: a line of the table stays a line for grep."""
_WORDS = {
    Verdict.AGREES: ("agrees", "green"),
    Verdict.DIFFERS: ("differs", "red"),
    Verdict.NOT_ON_STORE: ("not on the store", "red"),
    Verdict.NOT_KNOWN: ("we don't know", "yellow"),
}


class Command(BaseCommand):
    """Compare a ticket's record with the store."""

    help = (
        "Read the store live and compare: 0 all agrees, 1 something differs or is in doubt, 2 "
        "the store could not be read."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the ticket."""
        parser.add_argument("ticket", help="its id, tkt_…")
        parser.add_argument("--json", action="store_true", help="for scripts")

    def handle(self, *_args: object, **options: object) -> None:
        """Compare, show, and leave with what came out."""
        asked = Namespace(**options)
        ticket = Ticket.objects.filter(public_id=asked.ticket).first()
        if ticket is None:
            raise CommandError(
                f"There is no ticket {asked.ticket[:60]!r}: give its public id, tkt_…",
                returncode=NOT_READ,
            )
        traced = trace(ticket, store=_store, at=now())
        if asked.json:
            self.stdout.write(json.dumps(_as_json(traced), indent=2))
        else:
            self._show(traced, no_color=asked.no_color)
        if not traced.was_read:
            leave(NOT_READ)
        if not traced.agrees:
            leave(DIFFERS)

    def _show(self, traced: Trace, *, no_color: bool) -> None:
        at_terminal = self.stdout.isatty()
        text = StringIO()
        console = Console(
            file=text,
            force_terminal=at_terminal and not no_color,
            no_color=no_color,
            width=shutil.get_terminal_size().columns if at_terminal else _PIPE_WIDTH,
            highlight=False,
            emoji=False,
            markup=False,
        )
        if not traced.intents:
            console.print(f"{traced.ticket}: nothing was proposed.")
        for intent in traced.intents:
            console.print(
                f"{intent.identifier}  {intent.kind} of {intent.asked}, {intent.state}; "
                f"{intent.target} on {intent.store}"
            )
            console.print(_table(intent))
        # As rich made it: the table's own blanks at the end of a line say nothing.
        self.stdout.write("\n".join(line.rstrip() for line in text.getvalue().splitlines()))


def _store(connection: Connection) -> StorePort:
    try:
        return registry.store(connection)
    except Unusable as problem:
        raise Unreachable(f"{problem}: connect it again") from problem


def _table(intent: TracedIntent) -> Table:
    table = Table("", "ours", "theirs", "verdict", box=SIMPLE_HEAD)
    for line in intent.lines:
        word, style = _WORDS[line.verdict]
        said = f"{word}: {line.why}" if line.why else word
        cells = (line.what, line.ours or "-", line.theirs or "-")
        table.add_row(*(Text(cell, overflow="fold") for cell in cells), Text(said, style=style))
    return table


def _as_json(traced: Trace) -> dict[str, object]:
    return {"agrees": traced.agrees, "was_read": traced.was_read, **asdict(traced)}
