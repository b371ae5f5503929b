"""What is installed is what the code says today: triggers, functions, references, grants, migrations.

Promises: a guard that was changed in code and not in a migrated database fails here, and so does one that only a database has.
Does not test that guards work: they have tests of their own.
"""

from collections.abc import Iterable

import psycopg
import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import models
from django.db.migrations import RunPython
from django.db.migrations.loader import MigrationLoader

from actions import guards as actions_guards
from actions.guards.intents import INTENT_MOVES
from actions.states import sql_arcs
from integrations.guards import Guard, changes_guard, statements
from integrations.rows import GuardedRow, ScopedForeignKey, WorkspaceRow
from tests.database import TestDatabase
from tests.strategies.statements import FIELDS, MODELS
from tickets import guards as tickets_guards

OUR_APPS = ("integrations", "tickets", "actions")
GUARDS: dict[str, Guard] = {
    guard.name: guard
    for guard in (
        *actions_guards.GUARDS,
        *tickets_guards.GUARDS,
        *(changes_guard(model) for model in MODELS.values()),
    )
}


@pytest.fixture
def owner(test_database: TestDatabase) -> psycopg.Connection:
    """The owner's connection to a migrated database."""
    assert test_database.connection is not None
    return test_database.connection


def test_every_model_of_ours_is_guarded() -> None:
    ours = {m for label in OUR_APPS for m in apps.get_app_config(label).get_models()}
    assert {model for model in ours if not issubclass(model, GuardedRow)} == set()
    assert set(MODELS.values()) == ours


def test_what_a_model_says_may_change_are_columns_that_it_has() -> None:
    for table, model in MODELS.items():
        named = [*model.mutable, *model.write_once]
        assert set(named) <= set(FIELDS[table]), table
        assert len(named) == len(set(named)), table
        assert all(FIELDS[table][column].null for column in model.write_once), table


def test_evidence_is_never_changed_nor_deleted() -> None:
    append_only = {
        table for table, model in MODELS.items() if not (model.mutable or model.write_once)
    }
    assert append_only == {
        "integrations_sealedpayload", "tickets_message", "tickets_request", "actions_policyversion", "actions_gatedecision",
        "actions_read", "actions_finding", "actions_echo", "actions_echopart", "actions_outcome", "actions_intentevent",
    }  # fmt: skip
    assert {table for table, model in MODELS.items() if model.deletable} == {
        "integrations_membership", "integrations_senderidentity",
    }  # fmt: skip


def test_every_reference_between_rows_of_a_workspace_carries_the_workspace(
    owner: psycopg.Connection,
) -> None:
    declared = {}
    for table, fields in FIELDS.items():
        for column, described in fields.items():
            related = described.related_model
            if isinstance(related, type) and issubclass(related, WorkspaceRow):
                assert isinstance(described, ScopedForeignKey), f"{table}.{column}"
                declared[f"{table}_{column}_scoped"[:63]] = (
                    f"FOREIGN KEY (workspace_id, {column}) REFERENCES {related._meta.db_table}(workspace_id, id)"
                )
    there = owner.execute(
        "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conname LIKE '%scoped' AND convalidated"
    )
    assert dict(there.fetchall()) == declared


def test_every_workspace_row_names_a_workspace_that_there_is(owner: psycopg.Connection) -> None:
    scoped = {table for table, model in MODELS.items() if issubclass(model, WorkspaceRow)}
    assert set(MODELS) - scoped == {"integrations_workspace"}
    rows = owner.execute(
        "SELECT conrelid::regclass::text FROM pg_constraint WHERE contype = 'f' AND confrelid = 'integrations_workspace'::regclass"
    ).fetchall()
    assert {table for (table,) in rows} == scoped


def test_the_installed_triggers_are_those_of_the_code(owner: psycopg.Connection) -> None:
    rows = owner.execute(
        "SELECT tgname, tgrelid::regclass::text, tgenabled, tginitdeferred, tgtype FROM pg_trigger "
        "WHERE NOT tgisinternal AND tgrelid::regclass::text = ANY(%s)",
        [list(MODELS)],
    ).fetchall()
    installed = {
        name: (table, enabled, deferred, kind) for name, table, enabled, deferred, kind in rows
    }
    assert installed == {
        guard.name: (guard.table, "O", guard.deferred, _kind(guard.when))
        for guard in GUARDS.values()
    }


_BITS = {"BEFORE": 2, "INSERT": 4, "DELETE": 8, "UPDATE": 16}
_FOR_EACH_ROW = 1


def _kind(when: str) -> int:
    """Return PostgreSQL's `tgtype` for the words of a trigger."""
    return _FOR_EACH_ROW | sum(bit for word, bit in _BITS.items() if word in when)


@pytest.mark.parametrize("name", GUARDS)
def test_the_installed_function_of_a_guard_is_that_of_the_code(
    name: str, owner: psycopg.Connection
) -> None:
    guard = GUARDS[name]
    row = owner.execute(
        "SELECT prosrc, proconfig, prosecdef, provolatile FROM pg_proc WHERE proname = %s", [name]
    ).fetchone()
    assert row == (
        f"\nDECLARE\n{guard.declare}\nBEGIN\n{guard.body}\nEND\n",
        ["search_path=pg_catalog, public, pg_temp"],
        False,
        "v",
    )


def test_the_installed_functions_that_guards_ask_are_those_of_the_code(
    owner: psycopg.Connection,
) -> None:
    rows = owner.execute(
        "SELECT proname, prosrc, proconfig FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prorettype <> 'trigger'::regtype"
    ).fetchall()
    installed = {name: source for name, source, _ in rows}
    declared = {}
    for text in actions_guards.FUNCTIONS:
        head, source, _ = text.split("$fn$")
        declared[head.split("public.")[1].split("(")[0]] = source
    assert installed == declared
    assert {tuple(config) for *_, config in rows} == {("search_path=pg_catalog, public, pg_temp",)}


def test_no_function_is_installed_that_the_code_does_not_know(owner: psycopg.Connection) -> None:
    rows = owner.execute(
        "SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prorettype = 'trigger'::regtype"
    ).fetchall()
    assert {name for (name,) in rows} == set(GUARDS)


def test_the_installed_trigger_knows_exactly_the_arcs_of_the_table(
    owner: psycopg.Connection,
) -> None:
    row = owner.execute(
        "SELECT prosrc FROM pg_proc WHERE proname = %s", [INTENT_MOVES.name]
    ).fetchone()
    assert row is not None
    listed = row[0].split("(VALUES ")[1].split(") THEN")[0]
    arcs = [tuple(pair.strip("()' ").split("', '")) for pair in listed.split("), (")]
    assert arcs == list(sql_arcs())


def test_installing_the_guards_again_changes_nothing(owner: psycopg.Connection) -> None:
    before = _definitions(owner)
    with owner.transaction(force_rollback=True):
        for text in actions_guards.FUNCTIONS:
            owner.execute(text)
        for label, extra in (
            ("integrations", ()),
            ("tickets", tickets_guards.GUARDS),
            ("actions", actions_guards.GUARDS),
        ):
            for statement in statements(_models(label), extra):
                owner.execute(statement)
        assert _definitions(owner) == before


def _models(label: str) -> Iterable[type[models.Model]]:
    return apps.get_app_config(label).get_models()


def _definitions(owner: psycopg.Connection) -> list[tuple[object, ...]]:
    return owner.execute(
        "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal UNION ALL "
        "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace UNION ALL "
        "SELECT proname, pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace UNION ALL "
        "SELECT relname, relacl::text FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1, 2"
    ).fetchall()


@pytest.mark.parametrize("table", MODELS)
def test_the_application_is_granted_what_the_model_says_and_no_more(
    table: str, owner: psycopg.Connection, test_database: TestDatabase
) -> None:
    model, role = MODELS[table], str(test_database.application_parameters["user"])
    whole = owner.execute(
        "SELECT privilege_type FROM information_schema.role_table_grants WHERE table_name = %s AND grantee IN (%s, 'PUBLIC')",
        [table, role],
    ).fetchall()
    expected = {"SELECT", "INSERT"} | ({"DELETE"} if model.deletable else set())
    assert {privilege for (privilege,) in whole} == expected
    changeable = owner.execute(
        "SELECT column_name FROM information_schema.role_column_grants WHERE table_name = %s AND grantee IN (%s, 'PUBLIC') AND privilege_type = 'UPDATE'",
        [table, role],
    ).fetchall()
    assert {column for (column,) in changeable} == {*model.mutable, *model.write_once}


@pytest.mark.parametrize("label", OUR_APPS)
def test_the_newest_migration_of_an_app_installs_its_guards_again(label: str) -> None:
    loader = MigrationLoader(None)
    ((_, newest),) = loader.graph.leaf_nodes(label)
    assert newest.endswith("_guards")
    (installing,) = loader.get_migration(label, newest).operations
    assert isinstance(installing, RunPython)


@pytest.mark.django_db
def test_no_change_of_a_model_waits_for_its_migration() -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)
