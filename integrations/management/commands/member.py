"""`manage.py member`: who works in a workspace's Console, and as what.

Promises: a password comes from standard input or a terminal without echo, is held to the rules for
passwords, and is never asked of a user who has one; a person has one role in a workspace.
Does not know what a role may do: the Console does.
"""

from argparse import Namespace

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from integrations.management.verbs import Verb, VerbCommand
from integrations.models import Membership, Role
from integrations.rows import IDENTITY_LENGTH_MAX
from integrations.terminal import read_new_password


class Command(VerbCommand):
    """Add, remove and list members."""

    help = "Members of a workspace."

    def verbs(self) -> dict[str, Verb]:
        """Return what can be done with members."""
        return {
            "add": Verb(
                help="give a person a role; a new user's password is read from standard input",
                takes=_person_and_role,
                run=self.add,
            ),
            "remove": Verb(help="take a person's place away", takes=_person, run=self.remove),
            "list": Verb(help="show the members", takes=_workspace, run=self.list),
        }

    def add(self, asked: Namespace) -> None:
        """Give a person a role in a workspace, making the user where there is none."""
        workspace = self.workspace(asked)
        user = User.objects.filter(username=asked.username).first()
        new = "" if user else ", a new user,"
        user = user or _new_user(asked.username)
        with transaction.atomic():
            user.is_staff = True
            user.save()
            member, _ = Membership.objects.get_or_create(
                workspace=workspace, user=user, defaults={"role": asked.role}
            )
            # The role alone: the database lets no other column of a membership change.
            Membership.objects.filter(pk=member.pk).update(role=asked.role)
        self.say(f"{asked.username}{new} is {Role(asked.role).label} in {workspace.slug}.")

    def remove(self, asked: Namespace) -> None:
        """Take a person's place in a workspace away; the user stays."""
        workspace = self.workspace(asked)
        members = Membership.objects.filter(workspace=workspace, user__username=asked.username)
        count, _ = members.delete()
        if not count:
            raise CommandError(f"{asked.username} is no member of {workspace.slug}.")
        self.say(f"{asked.username} is no member of {workspace.slug} any more.")

    def list(self, asked: Namespace) -> None:
        """Show the members, one a line."""
        members = Membership.objects.filter(workspace=self.workspace(asked))
        for member in members.select_related("user").order_by("user__username"):
            self.stdout.write(f"{member.user.get_username()}\t{member.role}")


def _new_user(username: str) -> User:
    if len(username) > IDENTITY_LENGTH_MAX:
        raise CommandError(f"A username is {IDENTITY_LENGTH_MAX} letters at most.")
    user = User(username=username)
    try:
        user.clean_fields(exclude=["password"])
        password = read_new_password()
        validate_password(password, user)
    except ValidationError as invalid:
        raise CommandError(" ".join(invalid.messages)) from invalid
    user.set_password(password)
    return user


def _workspace(parser: CommandParser) -> None:
    parser.add_argument("workspace", help="its slug")


def _person(parser: CommandParser) -> None:
    _workspace(parser)
    parser.add_argument("username")


def _person_and_role(parser: CommandParser) -> None:
    _person(parser)
    parser.add_argument("--role", required=True, choices=Role.values)
