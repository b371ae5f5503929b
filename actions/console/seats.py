"""Who a member is when they act, and what their role lets them do.

Promises: an auditor never acts; a brand admin acts as the brand's team, everyone else as a Human
Node, under their own name; what is not listed for a role is refused, and the refusal names who may.
Does not know whether a word is fit for what stands there: the services say that.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from actions.models import Intent
from integrations.actors import PEOPLE, Actor, ActorKind
from integrations.admin import Person
from integrations.models import Membership, Role, Workspace


class Deed(StrEnum):
    """Something that a person does in the Console."""

    APPROVE = "approve"
    REJECT = "reject"
    CLEAR = "clear"
    JUDGE_AGAIN = "judge_again"
    ACCEPT = "accept"
    REPEAT = "repeat"
    WITHDRAW = "withdraw"
    PREVIEW = "preview"
    PROPOSE = "propose"
    READ_POLICY = "read_policy"


_ACTOR_KINDS: Mapping[Role, ActorKind] = {
    Role.HUMAN_NODE: ActorKind.HUMAN_NODE,
    Role.APPROVER: ActorKind.HUMAN_NODE,
    Role.OPERATOR: ActorKind.HUMAN_NODE,
    Role.BRAND_ADMIN: ActorKind.BRAND_TEAM,
}
_WORKS = (Role.HUMAN_NODE, Role.APPROVER, Role.BRAND_ADMIN)
_ALLOWED: Mapping[Deed, tuple[Role, ...]] = {
    Deed.APPROVE: (Role.APPROVER, Role.BRAND_ADMIN),
    Deed.REJECT: (Role.APPROVER, Role.BRAND_ADMIN),
    Deed.CLEAR: _WORKS,
    Deed.JUDGE_AGAIN: _WORKS,
    Deed.ACCEPT: _WORKS,
    Deed.REPEAT: _WORKS,
    Deed.WITHDRAW: _WORKS,
    Deed.PREVIEW: (*_WORKS, Role.OPERATOR),
    Deed.PROPOSE: _WORKS,
    Deed.READ_POLICY: (Role.APPROVER, Role.BRAND_ADMIN, Role.AUDITOR),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """A member's place in one workspace."""

    role: Role
    username: str

    @property
    def actor(self) -> Actor:
        """Return who acts.

        Raises:
            KeyError: An auditor never acts; ask `may` first.
        """
        return Actor(kind=_ACTOR_KINDS[self.role], identity=self.username)

    def may(self, deed: Deed) -> bool:
        """Say whether the role allows a deed."""
        return self.role in _ALLOWED[deed]

    def proposed(self, intent: Intent) -> bool:
        """Say whether this person proposed an intent, in whatever role they had then."""
        return intent.proposer_kind in PEOPLE and intent.proposer_identity == self.username


def seats_of(person: Person) -> dict[int, Seat]:
    """Return a person's seats, by the workspace's primary key."""
    rows = Membership.objects.filter(user=person.pk or 0).values_list("workspace", "role")
    name = person.get_username()
    return {workspace: Seat(role=Role(role), username=name) for workspace, role in rows}


def seat_in(workspace: Workspace, person: Person) -> Seat:
    """Return a member's seat in a workspace.

    Raises:
        KeyError: They are no member.
    """
    return seats_of(person)[workspace.pk]


def who_may(deed: Deed) -> str:
    """Return the roles that allow a deed, as a sentence."""
    labels = [f"{'an' if role.label[0] in 'AO' else 'a'} {role.label}" for role in _ALLOWED[deed]]
    return f"{', '.join(labels[:-1])} or {labels[-1]} may do this; your role does not allow it."
