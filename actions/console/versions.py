"""A brand's policy, version by version, as a page shows it: who set it, when, what it changed.

Promises: the differences are those that `actions.policies` finds between two stored versions; the
newest is in force. Read-only: a version is added by the API or a command.
Does not know who may read it: the page asks the seat.
"""

import json
from dataclasses import dataclass

from actions.policies import PolicyChange, policy_history
from integrations.models import Workspace

VERSIONS_MAX = 50
"""One page shows this many versions, the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version with what it changed."""

    change: PolicyChange
    is_in_force: bool
    document: str
    """As JSON, for people to read."""

    @property
    def before_number(self) -> int:
        """Return the number of the version before; 0 of the first."""
        return self.change.version.number - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """The newest versions of a policy, the one in force first, and whether there are older ones."""

    shown: tuple[Version, ...]
    has_more: bool


def versions_of(workspace: Workspace) -> Versions:
    """Return the newest versions of a policy."""
    history = policy_history(workspace, limit=VERSIONS_MAX)
    return Versions(
        shown=tuple(
            Version(
                change=change,
                is_in_force=place == 0,
                document=json.dumps(change.version.document, indent=2, ensure_ascii=False),
            )
            for place, change in enumerate(history.changes)
        ),
        has_more=history.has_more,
    )
