"""`manage.py token`: tokens of the REST API, each for one actor in one workspace.

Promises: a new token stands alone on standard output, once, so that it can be piped to where it
belongs; the words about it go to standard error; a revoked token stays revoked.
Does not know what an actor may do: that is the workspace's policy.
"""

from argparse import Namespace

from django.core.management.base import CommandError, CommandParser

from integrations.actors import Actor, ActorKind
from integrations.management.verbs import Verb, VerbCommand
from integrations.models import ApiToken
from integrations.tokens import create_token, revoke

_LENGTH_MAX = 120


class Command(VerbCommand):
    """Create, revoke and list tokens."""

    help = "Tokens of the REST API."

    def verbs(self) -> dict[str, Verb]:
        """Return what can be done with tokens."""
        return {
            "create": Verb(
                help="make a token and print it, this once", takes=_new, run=self.create
            ),
            "revoke": Verb(help="make a token worthless, for good", takes=_one, run=self.revoke),
            "list": Verb(help="show the tokens, never what they are", takes=_all, run=self.list),
        }

    def create(self, asked: Namespace) -> None:
        """Make a token and print it."""
        workspace = self.workspace(asked)
        if not all(
            0 < len(text.strip()) <= _LENGTH_MAX for text in (asked.name, asked.actor_identity)
        ):
            raise CommandError("A name and an actor's identity are 1 to 120 letters.")
        actor = Actor(kind=ActorKind(asked.actor_kind), identity=asked.actor_identity.strip())
        token, plain = create_token(workspace=workspace, name=asked.name.strip(), actor=actor)
        self.stdout.write(plain)
        self.say_aside(
            f"{token.public_id} speaks for {actor} in {workspace.slug}. It is shown this "
            "once: keep it now."
        )

    def revoke(self, asked: Namespace) -> None:
        """Make a token worthless."""
        workspace = self.workspace(asked)
        token = ApiToken.objects.filter(workspace=workspace, public_id=asked.token).first()
        if token is None:
            # What was given may be a token itself: it is not repeated.
            raise CommandError(
                f"{workspace.slug} has no such token: give its id, as `manage.py token "
                f"list {workspace.slug}` shows it."
            )
        revoke(token)
        token.refresh_from_db(fields=["revoked_at"])
        self.say(f"{token.public_id} ({token.name}) is revoked since {token.revoked_at}.")

    def list(self, asked: Namespace) -> None:
        """Show the tokens, one a line."""
        for token in ApiToken.objects.filter(workspace=self.workspace(asked)).order_by("pk"):
            standing = "valid" if token.revoked_at is None else "revoked"
            self.stdout.write(f"{token.public_id}\t{token.actor}\t{standing}\t{token.name}")


def _all(parser: CommandParser) -> None:
    parser.add_argument("workspace", help="its slug")


def _one(parser: CommandParser) -> None:
    _all(parser)
    parser.add_argument("token", help="its id, tok_…")


def _new(parser: CommandParser) -> None:
    _all(parser)
    parser.add_argument("--name", required=True, help="what it is for")
    parser.add_argument("--actor-kind", required=True, choices=list(ActorKind))
    parser.add_argument(
        "--actor-identity", required=True, help="who it speaks for, within the kind"
    )
