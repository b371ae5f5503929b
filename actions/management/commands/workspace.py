"""`manage.py workspace`: make a brand's workspace, list them, stop and let go their writes.

Promises: a new workspace has its first policy version, the default; what stops or starts money
asks first, unless told `--yes`.
Does not know connections or members: `connect` and `member` do. It stands in `actions` because
policies do.
"""

import re
from argparse import Namespace
from collections.abc import Callable
from zoneinfo import available_timezones

from django.core.management.base import CommandError, CommandParser
from django.db import IntegrityError, transaction

from actions.dispatch import resume_workspace
from actions.policies import current_policy
from integrations.clock import now
from integrations.management.verbs import Verb, VerbCommand
from integrations.models import Workspace
from integrations.workspaces import allow_writes, kill_writes, pause, resume

_NAME_LENGTH_MAX = 120
_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,58}[a-z0-9])?")


class Command(VerbCommand):
    """Make, list, pause, resume, kill and unkill workspaces."""

    help = "Workspaces: one brand each."

    def verbs(self) -> dict[str, Verb]:
        """Return what can be done to a workspace."""
        return {
            "create": Verb(
                help="make a workspace with the default policy", takes=_new, run=self.create
            ),
            "list": Verb(help="show every workspace", run=self.list),
            "pause": Verb(help="hold its writes for the time being", takes=_known, run=self.pause),
            "resume": Verb(help="end the pause", takes=_known, run=self.resume),
            "kill": Verb(help="stop every write at once", takes=_known, run=self.kill),
            "unkill": Verb(help="allow writes again", takes=_known, run=self.unkill),
        }

    def create(self, asked: Namespace) -> None:
        """Make a workspace."""
        if _SLUG.fullmatch(asked.slug) is None:
            raise CommandError(
                "A slug is lower-case letters, digits and inner hyphens, 60 at most: acme-europe."
            )
        if not 0 < len(asked.name.strip()) <= _NAME_LENGTH_MAX:
            raise CommandError("A name is 1 to 120 letters.")
        if asked.time_zone not in available_timezones():
            raise CommandError(
                f"There is no time zone {asked.time_zone[:64]!r}; one is named as Europe/Berlin."
            )
        try:
            with transaction.atomic():
                workspace = Workspace.objects.create(
                    slug=asked.slug, name=asked.name.strip(), time_zone=asked.time_zone
                )
                version = current_policy(workspace).version
        except IntegrityError:
            raise CommandError(f"There is a workspace {asked.slug} already.") from None
        self.say(
            f"Workspace {workspace.slug} ({workspace.public_id}) with policy "
            f"{version.number}, the default."
        )

    def list(self, _asked: Namespace) -> None:
        """Show every workspace, one a line."""
        for workspace in Workspace.objects.order_by("slug"):
            columns = [
                workspace.slug,
                workspace.public_id,
                workspace.time_zone,
                _standing(workspace),
                workspace.name,
            ]
            self.stdout.write("\t".join(columns))

    def pause(self, asked: Namespace) -> None:
        """Hold its writes."""
        self._switch(
            asked,
            question="No reply and no refund of {slug} leaves until it is resumed.",
            switch=lambda workspace: pause(workspace, at=now()),
            said=("{slug} is paused.", "{slug} was paused already, since {paused_at}."),
        )

    def resume(self, asked: Namespace) -> None:
        """End the pause."""
        self._switch(
            asked,
            question="What {slug} held because of the pause is judged again, and may be sent.",
            switch=_then_judge_again(resume),
            said=("{slug} goes on.", "{slug} was not paused."),
        )

    def kill(self, asked: Namespace) -> None:
        """Pull the kill switch."""
        self._switch(
            asked,
            question="Every write of {slug} stops at once, those that are about to leave included.",
            switch=lambda workspace: kill_writes(workspace, at=now()),
            said=(
                "{slug} writes nothing any more.",
                "{slug} was killed already, since {writes_killed_at}.",
            ),
        )

    def unkill(self, asked: Namespace) -> None:
        """Put the kill switch back."""
        self._switch(
            asked,
            question=(
                "What {slug} held because of the kill switch is judged again, and may be sent."
            ),
            switch=_then_judge_again(allow_writes),
            said=("{slug} may write again.", "{slug} was not killed."),
        )

    def _switch(
        self,
        asked: Namespace,
        *,
        question: str,
        switch: Callable[[Workspace], bool],
        said: tuple[str, str],
    ) -> None:
        workspace = self.workspace(asked)
        self.confirm(asked, question.format(slug=workspace.slug))
        changed = switch(workspace)
        self.say((said[0] if changed else said[1]).format(**vars(workspace)))


def _then_judge_again(switch: Callable[[Workspace], bool]) -> Callable[[Workspace], bool]:
    """Let what was held because of a switch come due once that is off."""

    def switched(workspace: Workspace) -> bool:
        changed = switch(workspace)
        resume_workspace(workspace, now=now())
        return changed

    return switched


def _new(parser: CommandParser) -> None:
    parser.add_argument("slug", help="its short name, which never changes")
    parser.add_argument("--name", required=True, help="its name for people")
    parser.add_argument("--time-zone", default="UTC", help="in which its day begins: Europe/Berlin")


def _known(parser: CommandParser) -> None:
    parser.add_argument("workspace", help="its slug")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def _standing(workspace: Workspace) -> str:
    if workspace.writes_killed_at is not None:
        return "killed"
    return "running" if workspace.paused_at is None else "paused"
