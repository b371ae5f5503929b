"""The path grows by stays, and the resolver follows from it."""

from datetime import UTC, datetime

import pytest

from integrations.actors import SYSTEM, Actor, ActorKind
from tickets.path import PathEntry, Resolver, resolver_of, with_actor

AI = Actor(kind=ActorKind.AI, identity="agent-1")
NODE = Actor(kind=ActorKind.HUMAN_NODE, identity="node-1")
OTHER_NODE = Actor(kind=ActorKind.HUMAN_NODE, identity="node-2")
TEAM = Actor(kind=ActorKind.BRAND_TEAM, identity="desk-user-7")
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def path_of(*actors: Actor) -> list[PathEntry]:
    path: list[PathEntry] = []
    for actor in actors:
        path = with_actor(path, actor=actor, now=NOW)
    return path


def test_an_actor_s_first_act_is_an_entry() -> None:
    assert path_of(AI) == [
        {"kind": "ai", "identity": "agent-1", "since": "2026-11-30T12:00:00.000000+00:00"}
    ]


def test_a_second_act_in_the_same_stay_adds_nothing() -> None:
    assert path_of(AI, AI, AI) == path_of(AI)


def test_an_actor_appears_again_when_it_returns() -> None:
    path = path_of(AI, NODE, AI)
    assert [entry["identity"] for entry in path] == ["agent-1", "node-1", "agent-1"]


def test_the_same_name_under_another_kind_is_another_actor() -> None:
    namesake = Actor(kind=ActorKind.BRAND_TEAM, identity="node-1")
    assert len(path_of(NODE, namesake, OTHER_NODE)) == 3


def test_a_path_is_never_changed_in_place() -> None:
    path = path_of(AI)
    with_actor(path, actor=NODE, now=NOW)
    assert path == path_of(AI)


@pytest.mark.parametrize(
    ("worked", "closed_by", "resolver"),
    [
        ((AI,), AI, Resolver.AI),
        ((AI,), SYSTEM, Resolver.AI),
        ((TEAM, AI), AI, Resolver.AI),
        ((AI, NODE, AI), AI, Resolver.AI_WITH_HUMAN_NODE),
        ((AI,), NODE, Resolver.AI_WITH_HUMAN_NODE),
        ((NODE,), NODE, Resolver.AI_WITH_HUMAN_NODE),
        ((AI, NODE), TEAM, Resolver.BRAND_TEAM),
        ((), TEAM, Resolver.BRAND_TEAM),
    ],
)
def test_the_resolver_follows_from_the_path_and_who_closed(
    worked: tuple[Actor, ...], closed_by: Actor, resolver: Resolver
) -> None:
    assert resolver_of(path_of(*worked), closed_by=closed_by) is resolver
