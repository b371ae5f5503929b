"""`manage.py policy`: what a brand allows, shown, compared and put in force.

Promises: what is put is read strictly and shown as differences before anyone is asked; a version is
only ever added; what the old limits held is judged again. A policy stands alone on standard output,
so that it can be kept, edited and put.
Does not know the rules: `actions.policy` reads them.
"""

import getpass
import json
from argparse import Namespace
from pathlib import Path

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from actions.dispatch import follow_policy
from actions.policies import (
    NoSuchVersion,
    PolicyChange,
    StalePolicy,
    current_policy,
    hold_to_known_kinds,
    policy_history,
    policy_of_version,
    put_policy,
)
from actions.policy import (
    Difference,
    InvalidPolicy,
    Policy,
    differences,
    parse_policy,
    policy_schema,
)
from integrations.actors import Actor, ActorKind
from integrations.clock import now
from integrations.management.verbs import Verb, VerbCommand
from integrations.terminal import Unusable

_LENGTH_MAX = 120
_VERSIONS_MAX = 50


class Command(VerbCommand):
    """Show, compare and put policies."""

    help = "A workspace's policy: data, versioned."

    def verbs(self) -> dict[str, Verb]:
        """Return what can be done with a policy."""
        return {
            "show": Verb(help="print the policy that is in force", takes=_known, run=self.show),
            "schema": Verb(help="print the form of a policy, a JSON Schema", run=self.schema),
            "history": Verb(
                help="show its versions, newest first, and what each changed",
                takes=_history,
                run=self.history,
            ),
            "diff": Verb(help="show what differs between two versions", takes=_two, run=self.diff),
            "put": Verb(help="put a policy in force, from a file", takes=_file, run=self.put),
        }

    def show(self, asked: Namespace) -> None:
        """Print the policy that is in force, as JSON."""
        current = current_policy(self.workspace(asked))
        self.stdout.write(json.dumps(current.policy.as_record(), indent=2))
        version = current.version
        self.say_aside(
            f"Version {version.number}, by {version.author_kind} {version.author_identity}."
        )

    def schema(self, _asked: Namespace) -> None:
        """Print the JSON Schema."""
        self.stdout.write(json.dumps(policy_schema(), indent=2))

    def history(self, asked: Namespace) -> None:
        """Show versions, each with author, moment and differences."""
        workspace = self.workspace(asked)
        current_policy(workspace)  # a workspace that never chose has its first from here on
        page = policy_history(workspace, limit=_VERSIONS_MAX, before=asked.before)
        for change in page.changes:
            self._show_change(change)
        if page.has_more:
            oldest = page.changes[-1].version.number
            self.say_aside(f"There are older ones: add --before {oldest}.")

    def _show_change(self, change: PolicyChange) -> None:
        version = change.version
        author = f"{version.author_kind} {version.author_identity}"
        moment = version.created_at.isoformat(timespec="seconds")
        self.stdout.write(f"{version.number}\t{moment}\t{author}")
        self._show_differences(change.differences)

    def _show_differences(self, found: tuple[Difference, ...]) -> None:
        for difference in found:
            self.stdout.write(f"  {difference}")

    def diff(self, asked: Namespace) -> None:
        """Show what differs between two versions, one field a line."""
        workspace = self.workspace(asked)
        try:
            old, new = (policy_of_version(workspace, number) for number in (asked.a, asked.b))
        except NoSuchVersion as missing:
            raise CommandError(
                f"{missing} `manage.py policy history {workspace.slug}` shows those that it has."
            ) from missing
        self._show_differences(differences(old, new))

    def put(self, asked: Namespace) -> None:
        """Show what a file would change, ask, and put it in force."""
        workspace, author = self.workspace(asked), _author(asked)
        policy = _policy_in(asked.file)
        current = current_policy(workspace)
        found = differences(current.policy, policy)
        if not found:
            self.say(f"Nothing differs from version {current.version.number}: it stays in force.")
            return
        self._show_differences(found)
        self.confirm(asked, f"This replaces version {current.version.number} of {workspace.slug}.")
        try:
            with transaction.atomic():
                version = put_policy(
                    workspace, policy, author=author, based_on=current.version.number
                )
                follow_policy(workspace, now=now())
        except StalePolicy as stale:
            raise CommandError(f"Nothing was changed. {stale}") from stale
        self.say(f"Version {version.number} of {workspace.slug} is in force, by {author}.")


def _policy_in(file: str) -> Policy:
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeError, ValueError):
        raise Unusable(f"{file} can't be read: is it there, and text?") from None
    try:
        document = json.loads(text, object_pairs_hook=_each_once)
    except (ValueError, RecursionError) as broken:
        raise Unusable(f"{file} is not JSON as it is read here: {_place(broken)}.") from None
    if not isinstance(document, dict):
        raise Unusable(f"{file} holds no policy: it must be an object, in braces.")
    try:
        policy = parse_policy(document)
        hold_to_known_kinds(policy)
    except InvalidPolicy as invalid:
        raise Unusable(f"{file} can't be taken: {invalid}") from invalid
    return policy


def _place(broken: Exception) -> str:
    if isinstance(broken, json.JSONDecodeError):
        return f"line {broken.lineno}, column {broken.colno}"
    return "it is nested too deeply" if isinstance(broken, RecursionError) else str(broken)


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("it names a field twice in one object")
    return found


def _author(asked: Namespace) -> Actor:
    """Return who puts it: the name given, else who is logged in at this machine."""
    identity = (asked.author or _login()).strip()
    if not 0 < len(identity) <= _LENGTH_MAX:
        raise CommandError("An author's name is 1 to 120 letters.")
    return Actor(kind=ActorKind.BRAND_TEAM, identity=identity)


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        raise CommandError("Nobody is logged in here: say with --author who decides it.") from None


def _known(parser: CommandParser) -> None:
    parser.add_argument("workspace", help="its slug")


def _history(parser: CommandParser) -> None:
    _known(parser)
    parser.add_argument("--before", type=int, help="only older versions than this")


def _two(parser: CommandParser) -> None:
    _known(parser)
    parser.add_argument("a", type=int, help="the number of the older version")
    parser.add_argument("b", type=int, help="the number of the newer one")


def _file(parser: CommandParser) -> None:
    _known(parser)
    parser.add_argument("file", help="a JSON file with the whole policy, as `show` prints it")
    parser.add_argument("--author", help="who decides it, of the brand's team; else your login")
    parser.add_argument("--yes", action="store_true", help="do not ask")
