"""Who does something: an actor is a kind plus an identity.

Promises: a frozen value that every layer shares, so that `path`, events, tokens and gate speak of
the same person or program.
Does not know what an actor may do: that is the gate's question, asked of the workspace's policy.
"""

from dataclasses import dataclass
from enum import StrEnum


class ActorKind(StrEnum):
    """The four kinds of actor; stored values are never renamed."""

    AI = "ai"
    HUMAN_NODE = "human_node"
    BRAND_TEAM = "brand_team"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Someone who acts: a kind, and an identity that is unique within it in one workspace."""

    kind: ActorKind
    identity: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.identity}"


PEOPLE = frozenset({ActorKind.HUMAN_NODE, ActorKind.BRAND_TEAM})
"""The kinds of actor that are persons: they alone approve, clear, accept and repeat what left."""

SYSTEM = Actor(kind=ActorKind.SYSTEM, identity="razviel")
"""Razviel itself: sweeps, reconciliation, the Policy Gate."""
