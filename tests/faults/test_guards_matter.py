"""Negative controls: each guard of gate and execution, switched off, lets its fault through.

Promises: the same fault is played three times: with the guard, without it (the database's own
guard behind it then refuses, where there is one), and without both. So no test is green by luck,
and no guard stands there for nothing.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from django.db import IntegrityError
from psycopg import sql

from actions.models import Intent
from tests.database import TestDatabase
from tests.faults.gate_switched_off import GATE_GUARDS
from tests.faults.switched_off import GUARDS, Guard, Seen
from tests.stage import Stage, fresh

pytestmark = pytest.mark.django_db(transaction=True)

ALL = (*GUARDS, *GATE_GUARDS)
every_guard = pytest.mark.parametrize("guard", ALL, ids=lambda guard: guard.name)
every_guard_behind = pytest.mark.parametrize(
    "guard", [guard for guard in ALL if guard.behind], ids=lambda guard: guard.name
)


@pytest.fixture(autouse=True)
def _forgetful(stage: Stage) -> None:
    stage.shop.keys(remember=False)


def look(stage: Stage, intent: Intent) -> Seen:
    """Return what we say of an intent, and what the store holds of it."""
    return Seen(
        state=fresh(intent).state,
        sends=len(stage.shop.requests(operation="refundCreate")),
        effects=len(stage.shop.effects(order=intent.target.identifier)),
    )


@contextmanager
def without(database: TestDatabase, names: tuple[str, ...]) -> Iterator[None]:
    """Take guards of the database away, as their owner, while the block runs."""
    owner = database.connection
    assert owner is not None
    restore = [statement for name in names for statement in _take_away(owner, name)]
    try:
        yield
    finally:
        database.reset()  # what they would have refused stands in the tables
        for statement in restore:
            owner.execute(statement)


def _take_away(owner: psycopg.Connection, name: str) -> Iterator[sql.SQL | sql.Composed]:
    trigger = owner.execute(
        "SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname = %s", [name]
    ).fetchone()
    if trigger is not None:
        names = {"table": sql.Identifier(trigger[0]), "name": sql.Identifier(name)}
        owner.execute(sql.SQL("ALTER TABLE {table} DISABLE TRIGGER {name}").format(**names))
        yield sql.SQL("ALTER TABLE {table} ENABLE TRIGGER {name}").format(**names)
        return
    index = owner.execute("SELECT indexdef FROM pg_indexes WHERE indexname = %s", [name]).fetchone()
    assert index is not None, f"the database has no guard {name}"
    owner.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(name)))
    yield sql.Composed([sql.SQL(index[0])])


@every_guard
def test_with_its_guard_the_fault_does_no_harm(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, guard: Guard
) -> None:
    assert look(stage, guard.play(stage, monkeypatch)) == guard.right


@every_guard_behind
def test_without_it_the_database_refuses(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, guard: Guard
) -> None:
    guard.off(monkeypatch)
    with pytest.raises(IntegrityError) as refused:
        guard.play(stage, monkeypatch)
    assert isinstance(refused.value.__cause__, psycopg.Error)
    assert refused.value.__cause__.diag.constraint_name in guard.behind


@every_guard
def test_without_it_and_what_is_behind_it_the_fault_shows(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, guard: Guard, test_database: TestDatabase
) -> None:
    guard.off(monkeypatch)
    with without(test_database, guard.behind):
        assert look(stage, guard.play(stage, monkeypatch)) == guard.wrong


def test_what_was_taken_away_is_there_again(test_database: TestDatabase) -> None:
    owner = test_database.connection
    assert owner is not None
    count = "SELECT count(*) FROM pg_trigger WHERE tgenabled = 'D'"
    indexes = "SELECT count(*) FROM pg_indexes WHERE indexname = 'attempt_open_once'"
    with without(test_database, ("actions_attempt_birth", "attempt_open_once")):
        assert [owner.execute(text).fetchone() for text in (count, indexes)] == [(1,), (0,)]
    assert [owner.execute(text).fetchone() for text in (count, indexes)] == [(0,), (1,)]
