"""`manage.py demo`: play the cases end to end; `make demo` brings the servers.

Promises: exits 0 only if every scene was as expected and both records say the same; at a terminal
the Console stays open until Ctrl-C; nothing is left running. Does not know the scenes.
"""

import json
import logging
import signal
import sys
from argparse import Namespace
from collections.abc import Sequence
from threading import Event
from time import monotonic

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from razviel.demo.comparing import Comparison
from razviel.demo.playing import Played, Running, compared, played, running
from razviel.demo.scenes import SCENES
from razviel.demo.screen import Screen
from razviel.demo.stack import ProcessEnded
from razviel.demo.stage import TIME_SCALE
from razviel.demo.telling import tell_comparison, tell_scene
from razviel.management.reports import writable

_INTERRUPTED = 128 + signal.SIGINT
_LOOK_SECONDS = 1.0


class Command(BaseCommand):
    """Play the demo."""

    help = "Play the cases end to end against a simulated store, and compare both records."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take where to report, and whether the Console stays open."""
        parser.add_argument(
            "--report", type=writable, metavar="FILE", help="write the result as JSON"
        )
        names = [scene.name for scene in SCENES]
        parser.add_argument("--only", choices=names, metavar="SCENE", help=", ".join(names))
        parser.add_argument(
            "--no-serve", action="store_true", help="do not keep the Console open at a terminal"
        )

    def handle(self, *_args: object, **options: object) -> None:
        """Play, tell, compare, and keep the Console open where somebody sits."""
        asked = Namespace(**options)
        if not settings.RAZVIEL_ALLOW_PRIVATE_PLATFORMS:
            raise CommandError(
                "The demo's store is on this machine: set RAZVIEL_ALLOW_PRIVATE_PLATFORMS=1, or"
                " use `make demo`."
            )
        # What this process logs would stand between the lines for people.
        logging.getLogger().setLevel(logging.WARNING)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.default_int_handler)
        try:
            _play(asked)
        except ProcessEnded as ended:
            raise CommandError(str(ended)) from ended
        except KeyboardInterrupt:
            self.stderr.write("Stopped.")
            sys.exit(_INTERRUPTED)


def _play(asked: Namespace) -> None:
    began = monotonic()
    screen = Screen.on_standard_output()
    scenes = [scene for scene in SCENES if asked.only in (None, scene.name)]
    with screen.waiting("starting web, worker, beat, loop and a store") as tell, running() as up:
        _introduce(screen, up, seconds=monotonic() - began)
        plays = []
        tell("playing")
        for number, scene in enumerate(played(up.stage, scenes), start=1):
            tell_scene(screen, scene, number=number)
            plays.append(scene)
        found = compared(up.stage)
        seconds = monotonic() - began
        tell_comparison(screen, found)
        if asked.report:
            asked.report.write_text(report(found.comparison, plays, seconds=seconds))
        failures = failed(found.comparison, plays)
        if failures:
            screen.say(up.stage.stack.last_words())
            raise CommandError(failures)
        screen.say(f"All {len(plays)} scenes as expected, in {seconds:.1f} s.")
        if screen.is_terminal and not asked.no_serve:
            tell("serving the Console; Ctrl-C ends the demo")
            _serve(screen, up)


def failed(comparison: Comparison, plays: Sequence[Played]) -> str:
    """Say what was not as it should be; empty if all was."""
    bad = [play.scene.name for play in plays if not play.ok]
    sentences = [f"Not as expected: {', '.join(bad)}."] if bad else []
    if not comparison.holds:
        sentences.append(f"Our record and the stores' differ: {comparison.sentence}.")
    return " ".join(sentences)


def report(comparison: Comparison, plays: Sequence[Played], *, seconds: float) -> str:
    """Return the result as JSON."""
    scenes = [
        {
            "name": play.scene.name,
            "expected": play.scene.expected,
            "seen": play.said,
            "ok": play.ok,
        }
        for play in plays
    ]
    told = {
        "intents": comparison.intents,
        "confirmed": comparison.confirmed,
        "accepted": comparison.accepted,
        "effects": comparison.effects,
        "doubled": comparison.doubled,
        "false": comparison.false,
        "lost": comparison.lost,
        "seconds": round(seconds, 1),
        "scenes": scenes,
    }
    return f"{json.dumps(told, indent=2)}\n"


def _introduce(screen: Screen, up: Running, *, seconds: float) -> None:
    faster = round(1 / float(TIME_SCALE))
    stores = " and ".join(brand.shop.url for brand in (up.stage.brand, up.stage.forgetful))
    screen.say(
        f"Web, worker, beat, loop and two simulated stores are running after {seconds:.1f} s:"
        f" {stores}. They are a sandbox, no real stores, and time runs {faster} times faster on"
        " them: what waits 12 minutes waits 7 seconds."
    )


def _serve(screen: Screen, up: Running) -> None:
    """Keep the Console open until Ctrl-C."""
    screen.say()
    screen.say(f"The Console is at {up.url}/console/", style="bold")
    screen.say(f"user {up.login.username}, password {up.login.password} (Ctrl-C ends the demo)")
    asked = Event()
    try:
        # A terminal that was closed is none any more: then nobody looks.
        while sys.stdout.isatty() and not asked.wait(_LOOK_SECONDS):
            up.stage.stack.check()
    except KeyboardInterrupt:
        screen.say("Stopping.")
