"""Which policy a workspace has: the newest of its versions, or the default as its first.

Promises: versions are only ever added, one at a time and only where something changes, each with
its author; a workspace that never chose has the default, recorded as version 1.
Does not judge anything: that is `actions.policy`. Whoever puts a policy has those judged again that
the old limits hold: `dispatch.follow_policy`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from actions.catalogue import KINDS
from actions.models import PolicyVersion
from actions.policy import (
    Difference,
    InvalidPolicy,
    Policy,
    default_policy,
    differences,
    parse_policy,
)
from integrations.actors import SYSTEM, Actor
from integrations.models import Workspace


class NoSuchVersion(LookupError):
    """The workspace's policy has no version of that number: its history shows those that it has."""


class StalePolicy(Exception):
    """Another version is in force than yours is based on: look at what it changed, then decide."""

    def __init__(self, in_force: int) -> None:
        super().__init__(f"Version {in_force} is in force: {self.__doc__}")
        self.in_force = in_force


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentPolicy:
    """A policy with the version that holds it."""

    version: PolicyVersion
    policy: Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyChange:
    """One version, and what it changed of the one before."""

    version: PolicyVersion
    differences: tuple[Difference, ...]
    """Empty for the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyHistory:
    """Some versions, newest first, and whether older ones follow."""

    changes: Sequence[PolicyChange]
    has_more: bool


def current_policy(workspace: Workspace) -> CurrentPolicy:
    """Return the policy that is in force."""
    version = PolicyVersion.objects.filter(workspace=workspace).order_by("-number").first()
    if version is None:
        version, _ = PolicyVersion.objects.get_or_create(
            workspace=workspace,
            number=1,
            defaults={
                "document": default_policy().as_record(),
                "author_kind": SYSTEM.kind,
                "author_identity": SYSTEM.identity,
            },
        )
    return CurrentPolicy(version=version, policy=parse_policy(version.document))


def put_policy(
    workspace: Workspace, policy: Policy, *, author: Actor, based_on: int | None = None
) -> PolicyVersion:
    """Return the version that is in force from now on: a new one, if anything changes.

    Args:
        workspace: Locked until the transaction ends, so that versions follow one another.
        policy: All of it.
        author: Who decides it.
        based_on: The version that the author had before them; None where they don't say.

    Raises:
        InvalidPolicy: It names a kind that the catalogue doesn't know: misspelled, it would be off.
        StalePolicy: Another version is in force than `based_on`, and it says otherwise.
    """
    hold_to_known_kinds(policy)
    with transaction.atomic():
        Workspace.objects.select_for_update(no_key=True).get(pk=workspace.pk)
        current = current_policy(workspace)
        if not differences(current.policy, policy):
            return current.version
        if based_on not in (None, current.version.number):
            raise StalePolicy(current.version.number)
        return PolicyVersion.objects.create(
            workspace=workspace,
            number=current.version.number + 1,
            document=policy.as_record(),
            author_kind=author.kind,
            author_identity=author.identity,
        )


def hold_to_known_kinds(policy: Policy) -> None:
    """Let only kinds of the catalogue stand in a policy.

    Raises:
        InvalidPolicy: Another is named.
    """
    unknown = [name for name in policy.kinds if name not in KINDS]
    if unknown:
        known = ", ".join(sorted(KINDS))
        raise InvalidPolicy(
            [(f"kinds.{name}", f"There is no such kind; there is {known}.") for name in unknown]
        )


def policy_of_version(workspace: Workspace, number: int) -> Policy:
    """Return the policy of one version.

    Raises:
        NoSuchVersion: There is none of that number.
    """
    version = PolicyVersion.objects.filter(workspace=workspace, number=number).first()
    if version is None:
        raise NoSuchVersion(f"There is no version {number} of this policy.")
    return parse_policy(version.document)


def policy_history(workspace: Workspace, *, limit: int, before: int | None = None) -> PolicyHistory:
    """Return versions, newest first, each with what it changed of the one before.

    Args:
        workspace: Whose.
        limit: How many at most.
        before: Only versions with a smaller number; None: from the newest on.
    """
    rows = PolicyVersion.objects.filter(workspace=workspace).order_by("-number")
    if before is not None:
        rows = rows.filter(number__lt=before)
    versions = list(rows[: limit + 1])
    policies = [parse_policy(version.document) for version in versions]
    changes = [
        PolicyChange(
            version=version,
            differences=differences(older, newer) if older is not None else (),
        )
        for version, newer, older in zip(versions, policies, [*policies[1:], None], strict=True)
    ]
    return PolicyHistory(changes=changes[:limit], has_more=len(changes) > limit)
