"""Each CHECK and UNIQUE by its name, each reference, each column that never changes, each privilege: met by raw SQL.

Promises: a constraint that is dropped fails a test here, and one that is new fails until it has a test.
Does not test triggers with a body of their own: those have tests beside their guards.
"""

import psycopg
import pytest
from django.db import transaction

from actions.states import State
from integrations.clock import now
from integrations.rows import ScopedForeignKey, WorkspaceRow
from tests import factories
from tests.database import TestDatabase
from tests.factories.everything import one_of_each
from tests.refusals import (
    accepted,
    change,
    copy,
    delete,
    execute,
    not_permitted,
    refused_by,
    value_of,
)
from tests.strategies.catalogue import Form, installed
from tests.strategies.statements import FIELDS, MODELS
from tests.strategies.variants import ways_of

pytestmark = pytest.mark.django_db
Values = dict[str, object]

INSERTS: dict[str, tuple[str, Values]] = {
    "actions_echo_part_count_check": ("actions_echo", {"part_count": -1}),
    "actions_gatedecision_target_version_check": (
        "actions_gatedecision",
        {"number": 2, "target_version": -1},
    ),
    "actions_intent_occurrence_check": ("actions_intent", {"occurrence": -1}),
    "actions_policyversion_number_check": ("actions_policyversion", {"number": -1}),
    "actions_read_duration_ms_check": ("actions_read", {"duration_ms": -1}),
    "actions_read_http_status_check": ("actions_read", {"http_status": -1}),
    "actions_target_version_check": ("actions_target", {"version": -1}),
    "apitoken_actor": ("integrations_apitoken", {"actor_kind": "robot"}),
    "approval_by_a_person": ("actions_approval", {"approver_kind": "system"}),
    "approval_expires": ("actions_approval", {"expires_at": "2000-01-01"}),
    "connection_blocked_since": ("integrations_connection", {"blocked_by": "credential"}),
    "connection_time_scale_is_for_sandboxes": ("integrations_connection", {"time_scale": "0.5"}),
    "counter_not_negative": ("actions_counter", {"used": -1, "subject": "other"}),
    "customer_verified_by_no_ai": ("tickets_customer", {"verified_by_kind": "ai"}),
    "echo_names_what_brought_it": ("actions_echo", {"attempt_id": None, "read_id": None}),
    "externalobject_named": ("actions_externalobject", {"identifier": "", "intent_id": None}),
    "finding_found_names_its_object": ("actions_finding", {"result": "found"}),
    "finding_result": ("actions_finding", {"result": "perhaps"}),
    "gatedecision_phase": ("actions_gatedecision", {"number": 2, "phase": "later"}),
    "gatedecision_reason": ("actions_gatedecision", {"number": 2, "ruling": "hold", "reason": ""}),
    "gatedecision_ruling": (
        "actions_gatedecision",
        {"number": 2, "ruling": "perhaps", "reason": "x"},
    ),
    "intent_money": ("actions_intent", {"amount": 0}),
    "intent_named": ("actions_intent", {"kind": ""}),
    "intent_needs_human_reason": (
        "actions_intent",
        {"needs_human_since": "now", "needs_human_reason": "dull"},
    ),
    "intent_occurrence": ("actions_intent", {"occurrence": 2}),
    "intent_proposer": ("actions_intent", {"proposer_kind": "robot"}),
    "intent_shop_money": ("actions_intent", {"shop_amount": "NaN", "shop_currency": "EUR"}),
    "membership_role": ("integrations_membership", {"role": "king", "user_id": 10**6}),
    "message_direction": ("tickets_message", {"direction": "up"}),
    "outcome_by": ("actions_outcome", {"by_identity": ""}),
    "outcome_is_a_fact_or_a_statement": (
        "actions_outcome",
        {"external_object_id": None, "intent_id": None},
    ),
    "policyversion_author": ("actions_policyversion", {"number": 2, "author_identity": ""}),
    "read_cause": ("actions_read", {"cause": "whim"}),
    "read_result": ("actions_read", {"result": "perhaps"}),
    "read_took_time": ("actions_read", {"finished_at": "2000-01-01"}),
    "request_kind": ("tickets_request", {"number": 2, "kind": ""}),
    "request_stated_by": ("tickets_request", {"number": 2, "stated_by_kind": "robot"}),
    "resolution_closed_by": ("tickets_resolution", {"closed_by_kind": "robot"}),
    "resolution_resolved_or_reason": ("tickets_resolution", {"reason": "spam"}),
    "sealedpayload_field": ("integrations_sealedpayload", {"field": ""}),
    "senderidentity_user": (
        "integrations_senderidentity",
        {"external_user": "", "actor_identity": "other"},
    ),
    "subjectkey_there_or_destroyed": ("integrations_subjectkey", {"wrapped": None}),
    "target_named": ("actions_target", {"identifier": ""}),
    "tickets_request_number_check": ("tickets_request", {"number": -1}),
    "ticket_external_id": ("tickets_ticket", {"external_id": ""}),
    "ticket_status": ("tickets_ticket", {"status": "lost", "resolver": None}),
    "ticket_resolver_iff_resolved": ("tickets_ticket", {"status": "open", "resolver": "ai"}),
}
"""For each CHECK that an insert meets: a table, and what is wrong with a copy of its newest row."""

UPDATES: dict[str, tuple[State, str, Values]] = {
    "actions_attempt_duration_ms_check": (State.EXECUTING, "actions_attempt", {"duration_ms": -1}),
    "actions_attempt_http_status_check": (State.EXECUTING, "actions_attempt", {"http_status": -1}),
    "attempt_closed_with_outcome": (State.EXECUTING, "actions_attempt", {"outcome": "unknown"}),
    "attempt_resolved_only_if_unknown": (
        State.CONFIRMED, "actions_attempt", {"resolved_how": "found", "resolved_at": "now"},
    ),
    "intent_confirmed_at": (State.PENDING, "actions_intent", {"confirmed_at": "now"}),
    "intent_gated_and_frozen": (State.AUTHORIZED, "actions_intent", {"body": None, "body_digest": ""}),
    "intent_lease_iff_executing": (State.PENDING, "actions_intent", {"lease_until": "now"}),
    "intent_nothing_was_sent": (
        State.WITHDRAWN, "actions_intent", {"first_sent_at": "now", "resend_until": "now", "settles_at": "now"},
    ),
    "intent_set_aside_by_a_person": (State.UNKNOWN, "actions_intent", {"set_aside_at": "now"}),
    "intent_state_reason": (State.HELD, "actions_intent", {"state_reason": ""}),
    "intent_unknown_since": (State.UNKNOWN, "actions_intent", {"unknown_since": None}),
    "intent_window": (State.PROPOSED, "actions_intent", {"first_sent_at": "now"}),
    "subjectkey_there_or_destroyed": (State.PROPOSED, "integrations_subjectkey", {"wrapped": None}),
}  # fmt: skip
"""For each CHECK that an update meets: an intent's state, a table, and the change."""

UNIQUE: dict[str, Values] = {
    "actions_intent_marker_key": {},
    "approval_once": {},
    "connection_account": {},
    "connection_domain": {},
    "counter_once": {},
    "finding_once": {},
    "integrations_apitoken_digest_key": {},
    "integrations_workspace_slug_key": {},
    "membership_once": {},
    "message_once": {},
    "policyversion_number": {},
    "request_number": {},
    "senderidentity_once": {},
    "target_once": {},
    "ticket_source_once": {"status": "open", "resolver": None},
}
"""Each UNIQUE that a copy of a row meets, and what else the copy needs."""

BESIDE_THEIR_GUARDS = {
    "actions_counter_count_check", "approval_used_in_time", "attempt_open_once", "echopart_amount", "echopart_shop_amount",
    "externalobject_once", "externalobject_proves_one_intent", "intent_accepted_with_a_reason", "intent_counted_in_shop_money", "intent_key", "intentevent_by", "intentevent_name", "intentevent_number", "outcome_fulfils_one_request", "request_money", "request_revised_once",
    "resolution_reopened_by", "resolution_standing_once",
}  # fmt: skip
"""Met in tests/actions/guards and tests/tickets/test_guards.py."""

BELOW = {
    "attempt_send_by", "echopart_once", "echopart_standing", "intent_repeated_once",
    "outcome_statement_by_a_person",
}  # fmt: skip
"""Met by a test of their own further down."""


@pytest.mark.parametrize("name", INSERTS)
def test_no_row_comes_that_a_check_forbids(name: str) -> None:
    table, values = INSERTS[name]
    row = one_of_each()[table]
    with refused_by(name):
        copy(table, row, **values)


@pytest.mark.parametrize("name", UPDATES)
def test_no_row_becomes_what_a_check_forbids(name: str) -> None:
    state, table, values = UPDATES[name]
    factories.intent_in(state)
    row = MODELS[table]._default_manager.latest("pk").pk
    with refused_by(name):
        change(table, row, **values)


@pytest.mark.parametrize("name", UNIQUE)
def test_no_second_row_is_equal_in_what_must_be_unique(
    name: str, test_database: TestDatabase
) -> None:
    guard = next(g for g in installed(_owner(test_database)) if g.name == name)
    row = one_of_each()[guard.table]
    equal = {column: value_of(guard.table, row, column) for column in guard.columns}
    with refused_by(name):
        copy(guard.table, row, **equal | UNIQUE[name])


def test_a_send_ends_after_it_starts() -> None:
    intent, at = factories.intent_in(State.AUTHORIZED), now()
    with refused_by("attempt_send_by"):
        factories.open_attempt(intent=intent, at=at, send_by=at)


def test_a_part_comes_once_with_a_standing_that_there_is() -> None:
    echo = factories.confirmed_intent().external_objects.get().echoes.get()
    part = echo.parts.get().pk
    with refused_by("echopart_once"):
        new = copy("actions_echo", echo.pk, part_count=2)
        for _ in range(2):
            copy("actions_echopart", part, echo_id=new, identifier="the same")
    with refused_by("echopart_standing"):
        copy("actions_echopart", part, echo_id=copy("actions_echo", echo.pk), standing="good")


def test_an_intent_is_repeated_once() -> None:
    failed = factories.intent_in(State.FAILED)
    for guard in ("", "intent_repeated_once"):
        with refused_by(guard) if guard else accepted():
            factories.make_intent(
                ticket=failed.ticket,
                target=failed.target,
                by=factories.NODE,
                repeat_of=failed,
                occurrence=2,
            )


def test_a_statement_is_a_person_s() -> None:
    outcome = factories.make_statement(request=factories.make_intent().request)
    with refused_by("outcome_statement_by_a_person"):
        copy("actions_outcome", outcome.pk, by_kind="ai")


def test_every_check_and_unique_has_a_test_here_or_beside_its_guard(
    test_database: TestDatabase,
) -> None:
    named = {*INSERTS, *UPDATES, *UNIQUE, *BESIDE_THEIR_GUARDS, *BELOW}
    # Identities are Django's own; these stand behind counting one by one, and births that are proposed.
    behind = {
        "actions_attempt_number_check", "actions_gatedecision_number_check", "actions_intent_event_count_check",
        "actions_intentevent_number_check", "attempt_number", "gatedecision_number", "intent_state",
    }  # fmt: skip
    there = {
        guard.name
        for guard in installed(_owner(test_database))
        if guard.form in (Form.CHECK, Form.UNIQUE)
        and guard.columns not in (("id",), ("public_id",))
    }
    assert there == named | behind


# --- references -----------------------------------------------------------------------------------------------


SCOPED = [
    (table, column)
    for table, fields in FIELDS.items()
    for column, described in fields.items()
    if isinstance(described, ScopedForeignKey)
]


@pytest.mark.django_db(transaction=True)
def test_no_reference_points_into_another_workspace_or_nowhere(test_database: TestDatabase) -> None:
    abroad, here = one_of_each(), one_of_each()
    owner = _owner(test_database)
    for table, column in SCOPED:
        related = FIELDS[table][column].related_model
        assert isinstance(related, type)
        with owner.transaction(force_rollback=True):
            _strip(owner, table, kept="f")
            for pointing_at in (abroad[related._meta.db_table], 10**9):
                said = _refused(
                    owner, f"UPDATE {table} SET {column} = {pointing_at} WHERE id = {here[table]}"
                )
                assert isinstance(said, psycopg.errors.ForeignKeyViolation)
                assert said.diag.constraint_name == f"{table}_{column}_scoped"[:63]


def _strip(owner: psycopg.Connection, table: str, *, kept: str) -> None:
    """Take a table's other guards away, so that what is left answers for itself: a trigger by name, or constraints by type."""
    for (name,) in owner.execute(
        "SELECT conname FROM pg_constraint WHERE conrelid = %s::regclass AND contype IN ('c', 'f', 'u') AND contype::text <> %s",
        [table, kept],
    ).fetchall():
        owner.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
    for (name,) in owner.execute(
        "SELECT tgname FROM pg_trigger WHERE tgrelid = %s::regclass AND NOT tgisinternal AND tgname <> %s",
        [table, kept],
    ).fetchall():
        owner.execute(f"ALTER TABLE {table} DISABLE TRIGGER {name}")


@pytest.mark.parametrize(
    "table", [table for table, model in MODELS.items() if issubclass(model, WorkspaceRow)]
)
def test_no_row_leaves_its_workspace(table: str) -> None:
    row = one_of_each()[table]
    with not_permitted():
        change(table, row, workspace_id=factories.make_workspace().pk)


# --- what never changes -------------------------------------------------------------------------------------


FROZEN = [
    (table, column)
    for table, model in MODELS.items()
    for column in ("id", *FIELDS[table])
    if column not in (*model.mutable, *model.write_once)
]


@pytest.mark.parametrize(("table", "column"), FROZEN)
def test_the_application_has_no_right_to_change_what_never_changes(table: str, column: str) -> None:
    with not_permitted():
        execute(f'UPDATE {table} SET "{column}" = "{column}"')


@pytest.mark.parametrize("table", [table for table, model in MODELS.items() if not model.deletable])
def test_the_application_has_no_right_to_delete_what_stays(table: str) -> None:
    with not_permitted():
        execute(f"DELETE FROM {table}")


@pytest.mark.parametrize("table", [table for table, model in MODELS.items() if model.deletable])
def test_what_may_go_goes(table: str) -> None:
    row = one_of_each()[table]
    with accepted():
        delete(table, row)


WRITTEN_ONCE = [(table, column) for table, model in MODELS.items() for column in model.write_once]


@pytest.mark.parametrize(("table", "column"), WRITTEN_ONCE)
def test_what_is_written_once_is_named_and_can_be_unset_at_first(table: str, column: str) -> None:
    described = FIELDS[table][column]
    assert described.null
    assert "null" in ways_of(described)


@pytest.mark.django_db(transaction=True)
def test_behind_the_grants_a_trigger_refuses_even_the_owner(test_database: TestDatabase) -> None:
    owner = _owner(test_database)
    for table, row in one_of_each().items():
        model, guard = MODELS[table], f"{table}_changes"
        frozen = next(
            column
            for column, described in FIELDS[table].items()
            if column not in (*model.mutable, *model.write_once) and described.related_model is None
        )
        other = _OTHER.get(_type(owner, table, frozen), "'other'")
        said = _refused(owner, f'UPDATE {table} SET "{frozen}" = {other} WHERE id = {row}')
        assert said.diag.constraint_name == guard
        assert "never changes" in str(said)
        if not model.deletable:
            said = _refused(owner, f"DELETE FROM {table} WHERE id = {row}")
            assert said.diag.constraint_name == guard
            assert "never deleted" in str(said)


_OTHER = {"integer": "7", "timestamp with time zone": "'2000-01-01'"}
"""A value that no row of these tests has, by a column's type."""


@pytest.mark.django_db(transaction=True)
def test_what_was_written_once_is_not_written_again(test_database: TestDatabase) -> None:
    rows, owner = one_of_each(), _owner(test_database)
    for table, column in WRITTEN_ONCE:
        first, second = _two_values(_type(owner, table, column))
        with owner.transaction(force_rollback=True):
            _strip(owner, table, kept=f"{table}_changes")
            if _value(owner, table, rows[table], column) is None:
                owner.execute(f'UPDATE {table} SET "{column}" = {first} WHERE id = {rows[table]}')
            for value in (second, "NULL"):
                said = _refused(
                    owner, f'UPDATE {table} SET "{column}" = {value} WHERE id = {rows[table]}'
                )
                assert said.diag.constraint_name == f"{table}_changes"
                assert f"{table}.{column} is written once" in str(said)


def _two_values(kind: str) -> tuple[str, str]:
    if kind.startswith("timestamp"):
        return "'2001-01-01'", "'2002-01-01'"
    return ("1", "2") if "int" in kind else ("'one'", "'two'")


def _value(owner: psycopg.Connection, table: str, row: int, column: str) -> object:
    found = owner.execute(f'SELECT "{column}" FROM {table} WHERE id = {row}').fetchone()
    assert found is not None
    return found[0]


def _type(owner: psycopg.Connection, table: str, column: str) -> str:
    found = owner.execute(
        "SELECT data_type FROM information_schema.columns WHERE table_name = %s AND column_name = %s",
        [table, column],
    ).fetchone()
    assert found is not None
    return str(found[0])


def _refused(owner: psycopg.Connection, sql: str) -> psycopg.Error:
    with pytest.raises(psycopg.errors.IntegrityError) as refused, owner.transaction():
        owner.execute(sql)
    return refused.value


def _owner(test_database: TestDatabase) -> psycopg.Connection:
    assert test_database.connection is not None
    return test_database.connection


# --- what else the application's role can't do ------------------------------------------------------------


@pytest.mark.parametrize(
    "sql",
    [
        "TRUNCATE actions_echo",
        "ALTER TABLE actions_echo DISABLE TRIGGER ALL",
        "ALTER TABLE actions_echo DISABLE TRIGGER actions_echo_changes",
        "ALTER TABLE actions_echo DROP CONSTRAINT echo_names_what_brought_it",
        "DROP TRIGGER actions_echo_source ON actions_echo",
        "DROP TABLE actions_echo",
        "CREATE TRIGGER mine BEFORE INSERT ON actions_echo EXECUTE FUNCTION actions_echo_source()",
        "CREATE RULE mine AS ON UPDATE TO actions_echo DO INSTEAD NOTHING",
        "CREATE POLICY mine ON actions_echo",
        "CREATE OR REPLACE FUNCTION public.actions_newest_echo(bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'",
        "ALTER FUNCTION public.actions_newest_echo(bigint) RESET ALL",
        "CREATE FUNCTION public.mine() RETURNS void LANGUAGE sql AS 'SELECT'",
        "CREATE SCHEMA mine",
        "CREATE TEMPORARY TABLE actions_echo (id bigint)",
        "SET session_replication_role = 'replica'",
        "COPY actions_echo TO PROGRAM 'true'",
        "DO $$ BEGIN EXECUTE 'ALTER TABLE actions_echo DISABLE TRIGGER ALL'; END $$",
        "INSERT INTO actions_policyversion SELECT * FROM actions_policyversion ON CONFLICT (id) DO UPDATE SET number = 1",
        "MERGE INTO actions_echo e USING actions_echo f ON e.id = f.id WHEN MATCHED THEN UPDATE SET marker = ''",
    ],
)
def test_the_application_can_not_step_around_the_guards(sql: str) -> None:
    with not_permitted():
        execute(sql)


def test_what_the_application_may_do_it_may_not_pass_on() -> None:
    execute("GRANT ALL ON actions_echo TO PUBLIC")  # only a warning: nothing of it is granted
    assert execute(
        "SELECT count(*) FROM information_schema.role_table_grants WHERE table_name = 'actions_echo' AND grantee = 'PUBLIC'"
    ) == [(0,)]


def test_the_application_owns_nothing() -> None:
    assert execute(
        "SELECT count(*) FROM pg_class WHERE relowner = current_user::regrole UNION ALL "
        "SELECT count(*) FROM pg_proc WHERE proowner = current_user::regrole UNION ALL "
        "SELECT count(*) FROM pg_auth_members WHERE member = current_user::regrole"
    ) == [(0,), (0,), (0,)]


@pytest.mark.django_db(transaction=True)
def test_a_guard_does_not_look_at_a_temporary_table_that_calls_itself_evidence(
    test_database: TestDatabase,
) -> None:
    intent = factories.unknown_intent()
    owner = _owner(test_database)
    database, role = test_database.name, str(test_database.application_parameters["user"])
    owner.execute(f'GRANT TEMPORARY ON DATABASE "{database}" TO "{role}"')
    try:
        with refused_by("actions_intent_proof", "needs an external object bound"):
            for table in ("actions_externalobject", "actions_echo", "actions_echopart"):
                execute(f"CREATE TEMPORARY TABLE {table} (LIKE public.{table})")
            execute("SET LOCAL search_path = pg_temp, public")
            execute(
                "INSERT INTO actions_externalobject (id, workspace_id, connection_id, target_id, intent_id, type, identifier, created_at) VALUES (1, 1, 1, 1, %s, 'refund', 'x', now())",
                intent.pk,
            )
            change(
                "actions_intent",
                intent.pk,
                state="confirmed",
                event_count=intent.event_count + 1,
                confirmed_at="now",
            )
    finally:
        owner.execute(f'REVOKE TEMPORARY ON DATABASE "{database}" FROM "{role}"')


@pytest.mark.django_db(transaction=True)
def test_postponing_every_constraint_postpones_no_scoped_reference() -> None:
    intent = factories.make_intent()
    with refused_by("actions_target_connection_id_scoped"), transaction.atomic():
        execute("SET CONSTRAINTS ALL DEFERRED")
        copy("actions_target", intent.target_id, connection_id=10**9)
