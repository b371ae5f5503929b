"""`manage.py rotate_keys`: seal everything under the first key of RAZVIEL_VAULT_KEYS.

Promises: may be stopped and run again at any time, beside a working product; says which keys may
go only after looking at every row; exits 1 while anything is left that could not be opened.
Does not know which processes still run with the old list: it says that they must not.
"""

import sys

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from integrations.rotation import KeysInUse, Rotation, keys_in_use, rotate_all, row_count


class Command(BaseCommand):
    """Seal everything under the current key."""

    help = "Seal all credentials and all keys of persons under the first key of RAZVIEL_VAULT_KEYS."

    def handle(self, *_args: object, **options: object) -> None:
        """Rotate, and say what is left to do."""
        rotation = Rotation()
        shown = options["verbosity"] != 0 and sys.stderr.isatty()
        with _progress(shown=shown, no_color=bool(options["no_color"])) as progress:
            task = progress.add_task("sealing", total=row_count())
            for _ in rotate_all(rotation):
                progress.advance(task)
        in_use = keys_in_use()
        if options["verbosity"]:
            self.stdout.write(
                f"{rotation.resealed_count} sealed anew under {in_use.current}, "
                f"{rotation.current_count} already were."
            )
        if rotation.unopened:
            raise CommandError(_left(rotation))
        if options["verbosity"]:
            self.stdout.write(_advice(in_use), self.style.SUCCESS)


def _progress(*, shown: bool, no_color: bool) -> Progress:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=Console(stderr=True, no_color=no_color), disable=not shown)


def _left(rotation: Rotation) -> str:
    rows = "\n".join(f"  {named}" for named in rotation.unopened)
    return (
        f"{len(rotation.unopened)} could not be opened and stay as they are:\n{rows}\n"
        "WrongKey: put the key that sealed it back into RAZVIEL_VAULT_KEYS, behind the "
        "first, and run this again. "
        "Tampered: the value was changed; connect that store again, and find out by whom."
    )


def _advice(in_use: KeysInUse) -> str:
    left = sorted(in_use.needed - {in_use.current})
    if left:
        return (
            f"Still needed: {', '.join(left)}. A process that runs with an older list has "
            "sealed meanwhile: restart it, run this again."
        )
    if not in_use.removable:
        return (
            f"{in_use.current} is the only key in RAZVIEL_VAULT_KEYS; put a new one before it "
            "to rotate."
        )
    return (
        f"Nothing needs {', '.join(in_use.removable)} any more: once every process has "
        "been restarted with this list, run this again, then "
        "take it out of RAZVIEL_VAULT_KEYS. Backups from before today still need it."
    )
