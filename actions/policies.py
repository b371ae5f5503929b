"""Which policy a workspace has: the newest of its versions, or the default as its first.

Promises: versions are only ever added, with their author; a workspace that never chose has the
default, recorded as version 1.
Does not judge anything: that is `actions.policy`.
"""

from dataclasses import dataclass

from actions.models import PolicyVersion
from actions.policy import Policy, default_policy, parse_policy
from integrations.actors import SYSTEM, Actor
from integrations.models import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentPolicy:
    """A policy with the version that holds it."""

    version: PolicyVersion
    policy: Policy


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


def put_policy(workspace: Workspace, policy: Policy, *, author: Actor) -> PolicyVersion:
    """Add a version, which is in force from now on."""
    number = current_policy(workspace).version.number + 1
    return PolicyVersion.objects.create(
        workspace=workspace,
        number=number,
        document=policy.as_record(),
        author_kind=author.kind,
        author_identity=author.identity,
    )
