"""`manage.py sandbox`: run the simulated platforms as a process of its own.

Promises: prints its address once it answers, and stops cleanly on SIGTERM or SIGINT. For demo and
trials; the process shares nothing with the product but the network.
"""

import signal
from threading import Thread
from types import FrameType

from django.core.management.base import BaseCommand, CommandError, CommandParser

from integrations.sandbox.server import Sandbox
from integrations.sandbox.world import FIRST_NUMBER


class Command(BaseCommand):
    """Serve the sandbox until told to stop."""

    help = "Run the simulated platforms (never a real store) on the loopback address."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the port and where identifiers begin."""
        parser.add_argument("--port", type=int, default=8900, help="0 for any that is free")
        # A store's identifier belongs to one connection for ever, in whichever sandbox it is.
        parser.add_argument(
            "--first-number",
            type=int,
            default=FIRST_NUMBER,
            help="where identifiers begin, so that the stores of two sandboxes differ",
        )

    def handle(self, *_args: object, **options: object) -> None:
        """Serve."""
        port = int(str(options["port"]))
        try:
            sandbox = Sandbox(port=port, first_number=int(str(options["first_number"])))
        except OSError as error:
            message = f"Port {port} can't be used ({error}). Choose another with --port, or 0."
            raise CommandError(message) from error

        def stop(_signal: int, _frame: FrameType | None) -> None:
            # shutdown() waits for the serving loop, which runs in this very thread.
            Thread(target=sandbox.stop).start()

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, stop)
        self.stdout.write(f"sandbox {sandbox.url}")
        self.stdout.flush()
        sandbox.serve()
        self.stdout.write("sandbox stopped")
