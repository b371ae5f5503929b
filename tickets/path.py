"""The path column of a ticket: who worked on it, in order; and who therefore resolved it.

Promises: a path only grows; an actor appears when it first acts and again when it returns; the
resolver follows from the path and from who closed, and from nothing else.
Does not know rows: the column holds these entries as they are, and a trigger keeps old ones.
"""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import TypedDict

from integrations.actors import Actor, ActorKind


class PathEntry(TypedDict):
    """One stay of an actor on a ticket, as the JSON column holds it."""

    kind: str
    identity: str
    since: str
    """The moment of its first act in this stay, ISO 8601 with offset."""


class Resolver(StrEnum):
    """Who closed a resolved ticket; stored values are never renamed."""

    AI = "ai"
    AI_WITH_HUMAN_NODE = "ai_with_human_node"
    BRAND_TEAM = "brand_team"


def with_actor(path: Sequence[PathEntry], *, actor: Actor, now: datetime) -> list[PathEntry]:
    """Return the path after an act: longer by one entry if the actor is new or returns."""
    if path and _is(path[-1], actor):
        return list(path)
    entry = PathEntry(
        kind=actor.kind.value, identity=actor.identity, since=now.isoformat(timespec="microseconds")
    )
    return [*path, entry]


def resolver_of(path: Sequence[PathEntry], *, closed_by: Actor) -> Resolver:
    """Derive who resolved a ticket.

    The desk closed it: the brand's team. We closed it and a Human Node acted, alone or with the AI:
    AI with Human Node. Else the AI. What the brand's team did earlier stays in the path only.

    Args:
        path: All who worked on it; an approval is an act.
        closed_by: Whose hand closed it; of kind `brand_team` where the desk did.
    """
    if closed_by.kind is ActorKind.BRAND_TEAM:
        return Resolver.BRAND_TEAM
    kinds = {entry["kind"] for entry in path} | {closed_by.kind.value}
    if ActorKind.HUMAN_NODE.value in kinds:
        return Resolver.AI_WITH_HUMAN_NODE
    return Resolver.AI


def _is(entry: PathEntry, actor: Actor) -> bool:
    return (entry["kind"], entry["identity"]) == (actor.kind.value, actor.identity)
