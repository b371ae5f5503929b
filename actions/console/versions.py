"""A brand's policy, version by version: who set it, when, and what it changed.

Promises: the differences are those between two stored versions, worked out anew each time; the
newest is in force. Read-only: a version is added by the API or a command.
Does not know who may read it: the page asks the seat.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from actions.models import PolicyVersion
from actions.policy import Difference, differences, parse_policy
from integrations.models import Workspace

VERSIONS_MAX = 50
"""One page shows this many versions, the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version with what it changed."""

    row: PolicyVersion
    changes: tuple[Difference, ...]
    before_number: int | None
    is_first: bool
    is_in_force: bool
    document: str
    """As JSON, for people to read."""


def versions_of(workspace: Workspace) -> list[Version]:
    """Return the newest versions of a policy, the one in force first."""
    rows = list(
        PolicyVersion.objects.filter(workspace=workspace).order_by("-number")[: VERSIONS_MAX + 1]
    )
    return [
        _version(row, rows[place + 1 : place + 2], is_in_force=place == 0)
        for place, row in enumerate(rows[:VERSIONS_MAX])
    ]


def _version(row: PolicyVersion, before: Sequence[PolicyVersion], *, is_in_force: bool) -> Version:
    changes: tuple[Difference, ...] = ()
    if before:
        changes = differences(parse_policy(before[0].document), parse_policy(row.document))
    return Version(
        row=row,
        changes=changes,
        before_number=before[0].number if before else None,
        is_first=not before,
        is_in_force=is_in_force,
        document=json.dumps(row.document, indent=2, ensure_ascii=False),
    )
