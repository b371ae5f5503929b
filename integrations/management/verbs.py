"""A command with verbs, such as `manage.py workspace create`.

Promises: each verb declares its own arguments and does one thing; what is refused leaves as one
sentence and exit status 1; words go to standard error where a script would pipe on what stands on
standard output.
Does not know any verb.
"""

from argparse import SUPPRESS, Namespace
from collections.abc import Callable
from dataclasses import dataclass

from django.core.management.base import BaseCommand, CommandError, CommandParser

from integrations.models import Workspace
from integrations.terminal import Unusable, confirmed
from integrations.workspaces import NoSuchWorkspace, workspace_named


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """One verb: what it is for, what it takes, what it does."""

    help: str
    run: Callable[[Namespace], None]
    takes: Callable[[CommandParser], object] = lambda _parser: None


class VerbCommand(BaseCommand):
    """A command whose first argument says what to do."""

    def verbs(self) -> dict[str, Verb]:
        """Return the verbs by name, in the order of the help."""
        raise NotImplementedError

    def add_arguments(self, parser: CommandParser) -> None:
        """Take a verb, and what it needs."""
        choices = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
        for name, verb in self.verbs().items():
            chosen = choices.add_parser(name, help=verb.help, description=verb.help)
            verb.takes(chosen)
            # Django knows these before the verb only; people write them after it.
            chosen.add_argument(
                "-v", "--verbosity", default=SUPPRESS, type=int, choices=[0, 1, 2, 3]
            )
            chosen.add_argument("--no-color", default=SUPPRESS, action="store_true")

    def handle(self, *_args: object, **options: object) -> None:
        """Do what the verb says."""
        asked = Namespace(**options)
        self.is_quiet = asked.verbosity == 0
        try:
            self.verbs()[asked.verb].run(asked)
        except (Unusable, NoSuchWorkspace) as refusal:
            raise CommandError(str(refusal)) from refusal

    def say(self, sentence: str) -> None:
        """Tell what was done."""
        if not self.is_quiet:
            self.stdout.write(sentence, self.style.SUCCESS)

    def say_aside(self, sentence: str) -> None:
        """Tell a person something that must not stand in what a script reads."""
        if not self.is_quiet:
            self.stderr.write(sentence, self.style.NOTICE)

    def workspace(self, asked: Namespace) -> Workspace:
        """Return the workspace that is named.

        Raises:
            NoSuchWorkspace: There is none.
        """
        return workspace_named(asked.workspace)

    def confirm(self, asked: Namespace, question: str) -> None:
        """Go on only if a person or `--yes` says so.

        Raises:
            CommandError: They say no.
            Unusable: There is nobody to ask.
        """
        if not asked.yes and not confirmed(question):
            raise CommandError("Nothing was changed.")
