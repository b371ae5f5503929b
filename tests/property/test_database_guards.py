"""Twenty thousand statements in the application's role, then questions that know no guard.

Promises: the run is the same each time; each guard that the catalogue knows refuses at least 50
times, so that a new guard fails this test until the generator reaches it; what the questions find
is nothing.
"""

from collections.abc import Iterator

import psycopg
import pytest

from tests.database import TestDatabase
from tests.property.falsehoods import Witness, found
from tests.strategies.catalogue import Installed, installed
from tests.strategies.siege import Siege, Tally

SEED = 20261130
QUOTA = 50
AT_LEAST, AT_MOST = 20_000, 120_000

SHADOWED = {
    # A row that the trigger looks up through another reference of the same row is in the same
    # workspace already.
    "actions_approval_decision_id_scoped": "actions_approval_person",
    "actions_echo_attempt_id_scoped": "actions_echo_source",
    "actions_echo_read_id_scoped": "actions_echo_source",
    "actions_externalobject_intent_id_scoped": "actions_externalobject_binding",
    "actions_externalobject_target_id_scoped": "actions_externalobject_binding",
    "actions_finding_external_object_id_scoped": "actions_finding_target",
    "actions_finding_intent_id_scoped": "actions_finding_target",
    "actions_intent_connection_id_scoped": "actions_intent_birth",
    "actions_intent_corrects_id_scoped": "actions_intent_birth",
    "actions_intent_decision_id_scoped": "actions_intent_proof",
    "actions_intent_remainder_of_id_scoped": "actions_intent_birth",
    "actions_intent_repeat_of_id_scoped": "actions_intent_birth",
    "actions_intent_request_id_scoped": "actions_intent_birth",
    "actions_intent_target_id_scoped": "actions_intent_birth",
    "actions_outcome_intent_id_scoped": "actions_outcome_fact",
    "actions_read_target_id_scoped": "actions_read_target",
    "tickets_request_revises_id_scoped": "tickets_request_revision",
    # Counting one by one leaves these to two callers at the same moment.
    "attempt_number": "actions_attempt_birth",
    "gatedecision_number": "actions_gatedecision_counted",
    "actions_attempt_number_check": "actions_attempt_birth",
    "actions_gatedecision_number_check": "actions_gatedecision_counted",
    "actions_intent_event_count_check": "actions_intent_moves",
    "actions_intentevent_number_check": "actions_intentevent_chain",
    # Births are proposed, and no arc leads to a state that is none.
    "intent_state": "actions_intent_moves",
}
"""Guards behind a trigger that always refuses first; each is met once that trigger is away."""

_TRIGGERS_AWAY = sorted({*SHADOWED.values(), "actions_intent_birth"})


@pytest.fixture
def owner(test_database: TestDatabase) -> Iterator[psycopg.Connection]:
    """The owner's connection, with people who may be members; every table is emptied afterwards."""
    connection = test_database.connection
    assert connection is not None
    test_database.reset()
    connection.execute(
        "INSERT INTO auth_user (id, username, password, is_superuser, is_staff, is_active, "
        "first_name, last_name, email, date_joined) "
        "SELECT n, 'user-' || n, '', false, false, true, '', '', '', now() "
        "FROM generate_series(1, 6) n"
    )
    yield connection
    test_database.reset()


@pytest.fixture
def witness(owner: psycopg.Connection) -> Iterator[Witness]:
    """What keeps, on the owner's side, how each row came."""
    witness = Witness(owner)
    witness.set_up()
    yield witness
    witness.tear_down()


@pytest.fixture
def application(test_database: TestDatabase) -> Iterator[psycopg.Connection]:
    """A connection of the application's role."""
    parameters = {**test_database.application_parameters, "dbname": test_database.name}
    with psycopg.connect(autocommit=True, **parameters) as connection:  # type: ignore[arg-type]  # libpq's own
        yield connection


@pytest.mark.timeout(600)
def test_no_statement_of_the_application_makes_a_false_row(
    owner: psycopg.Connection, witness: Witness, application: psycopg.Connection
) -> None:
    guards = [guard for guard in installed(owner) if not guard.name.startswith("zz_")]
    siege = Siege(
        connection=application, guards=guards, shadowed=set(SHADOWED), quota=QUOTA, seed=SEED
    )
    tally = siege.run(at_least=AT_LEAST, at_most=AT_MOST)
    told = _told(tally)

    assert found(owner) == {}, told
    assert witness.contradictions() == {}, told
    assert tally.sent >= AT_LEAST, told
    assert 3 * tally.accepted >= tally.sent, told
    behind = _behind(siege, owner, guards)
    refused = {
        g.name: behind[g.name] if g.name in SHADOWED else tally.refused[g.name] for g in guards
    }
    assert {name: count for name, count in refused.items() if count < QUOTA} == {}, told


def _behind(siege: Siege, owner: psycopg.Connection, guards: list[Installed]) -> dict[str, int]:
    """Meet the guards behind a trigger while the owner has it away; nothing of it is kept."""
    tables = {guard.name: guard.table for guard in guards}
    for name in _TRIGGERS_AWAY:
        owner.execute(f"ALTER TABLE {tables[name]} DISABLE TRIGGER {name}")
    try:
        return siege.run_behind([g for g in guards if g.name in SHADOWED], at_most=AT_MOST)
    finally:
        for name in _TRIGGERS_AWAY:
            owner.execute(f"ALTER TABLE {tables[name]} ENABLE TRIGGER {name}")


def _told(tally: Tally) -> str:
    rarest = sorted(tally.refused.items(), key=lambda entry: entry[1])[:20]
    return (
        f"{tally.sent} statements, {tally.accepted} accepted, {tally.refused.total()} refused by "
        f"{len(tally.refused)} guards, {tally.unnamed.total()} as no value of their type; "
        f"rarest: {rarest}"
    )
