"""Each question finds what it asks for, once the guard that forbids it is away and the lie is planted.

Promises: guard and lie are gone again afterwards. Without this, a question that can find nothing would look like a guard that holds.
"""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from actions.states import State
from tests import factories
from tests.database import TestDatabase
from tests.factories.everything import one_of_each
from tests.property.falsehoods import QUESTIONS, Witness, found

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def owner(test_database: TestDatabase) -> psycopg.Connection:
    """The owner's connection."""
    assert test_database.connection is not None
    return test_database.connection


def planted(
    owner: psycopg.Connection, *, away: dict[str, str], lie: str
) -> dict[str, list[object]]:
    """Return what the questions find once a lie is planted; guards and rows are as before afterwards.

    Args:
        away: The guards to take away, each with its table.
        lie: The statement that they would refuse.
    """
    with owner.transaction(force_rollback=True):
        for guard, table in away.items():
            how = "DROP CONSTRAINT" if _is_constraint(owner, guard) else "DISABLE TRIGGER"
            owner.execute(f"ALTER TABLE {table} {how} {guard}")
        owner.execute(lie)
        answers = found(owner)
    assert found(owner) == {}
    return answers


def _is_constraint(owner: psycopg.Connection, guard: str) -> bool:
    rows = owner.execute(
        "SELECT 1 FROM pg_constraint WHERE conname = %s AND contype <> 't'", [guard]
    )
    return rows.fetchone() is not None


def test_the_guard_refuses_each_lie_that_is_planted_here(owner: psycopg.Connection) -> None:
    intent = factories.unknown_intent()
    with pytest.raises(psycopg.errors.IntegrityConstraintViolation):
        owner.execute(
            f"UPDATE actions_intent SET state = 'confirmed', confirmed_at = now(), event_count = event_count + 1 WHERE id = {intent.pk}"
        )


INTENT = "actions_intent"
MOVING = {
    "actions_intent_proof": INTENT, "actions_intent_event": INTENT, "actions_intent_moves": INTENT,
    "actions_intent_ticket_standing": INTENT,
}  # fmt: skip


@pytest.mark.parametrize(
    ("origin", "columns", "question"),
    [
        (
            State.UNKNOWN,
            "state = 'confirmed', confirmed_at = now()",
            "confirmed without an echo of exactly what was asked",
        ),
        (
            State.PENDING,
            "state = 'confirmed', confirmed_at = now()",
            "confirmed without an echo of exactly what was asked",
        ),
        (
            State.UNKNOWN,
            "state = 'failed', state_reason = 'absent'",
            "failed as absent without two complete absences, apart, after it could still land",
        ),
        (
            State.PENDING,
            "state = 'failed', state_reason = 'rejected'",
            "failed without money's failure while an external object is bound",
        ),
        (State.UNKNOWN, "state = 'authorized'", "said to be unsent, and an attempt may have left"),
        (State.UNKNOWN, "decision_id = NULL", "past the gate without its yes"),
        (
            State.UNKNOWN,
            "resend_until = first_sent_at",
            "sent past its window, or with other bytes or another key",
        ),
    ],
)
def test_a_state_without_its_proof_is_found(
    origin: State, columns: str, question: str, owner: psycopg.Connection
) -> None:
    intent = factories.intent_in(origin)
    away = {**MOVING, "actions_intent_frozen": INTENT, "intent_gated_and_frozen": INTENT}
    answers = planted(owner, away=away, lie=f"UPDATE {INTENT} SET {columns} WHERE id = {intent.pk}")
    assert answers[question] == [intent.attempts.get().pk if "window" in question else intent.pk]


def test_a_second_open_attempt_is_found(owner: psycopg.Connection) -> None:
    attempt = factories.intent_in(State.EXECUTING).attempts.get()
    with owner.transaction(force_rollback=True):
        owner.execute("ALTER TABLE actions_attempt DISABLE TRIGGER actions_attempt_birth")
        owner.execute("DROP INDEX attempt_open_once")
        owner.execute(
            "INSERT INTO actions_attempt (workspace_id, intent_id, number, app, key, request_digest, started_at, send_by) "
            f"SELECT workspace_id, intent_id, 2, app, key, request_digest, started_at, send_by FROM actions_attempt WHERE id = {attempt.pk}"
        )
        assert found(owner)["more than one open attempt"] == [attempt.intent_id]


@pytest.mark.parametrize(
    ("lie", "question"),
    [
        (
            "status = 'resolved', resolver = 'ai'",
            "a resolver without a resolution, or the other way round",
        ),
        ("status = 'resolved', resolver = 'ai'", "resolved over an unsettled intent"),
        (
            "status = 'resolved', resolver = 'ai'",
            "resolved without a request, or with one that has no outcome",
        ),
        ("status = 'closed_unresolved'", "closed unresolved over what was never sent"),
    ],
)
def test_a_ticket_that_stands_on_nothing_is_found(
    lie: str, question: str, owner: psycopg.Connection
) -> None:
    ticket = factories.make_intent().ticket
    answers = planted(
        owner,
        away={"tickets_ticket_ticket_standing": "tickets_ticket"},
        lie=f"UPDATE tickets_ticket SET {lie} WHERE id = {ticket.pk}",
    )
    assert answers[question] == [ticket.pk]


def test_a_request_that_revises_another_ticket_s_is_found(owner: psycopg.Connection) -> None:
    first = factories.make_request(ticket=factories.make_ticket())
    stranger = factories.make_request(ticket=factories.make_ticket(workspace=first.workspace))
    answers = planted(
        owner,
        away={"tickets_request_changes": "tickets_request"},
        lie=f"UPDATE tickets_request SET revises_id = {first.pk} WHERE id = {stranger.pk}",
    )
    assert answers["a request that no last revision stands for"] == [first.pk]


@pytest.mark.parametrize(
    "lie",
    [
        "UPDATE actions_intentevent SET body = replace(body, 'proposed', 'mistaken') WHERE id = {event}",
        "UPDATE actions_intentevent SET number = 9 WHERE id = {event}",
        "UPDATE actions_intentevent SET previous_digest = 'x' WHERE id = {event}",
        "DELETE FROM actions_intentevent WHERE id = {event}",
    ],
)
def test_a_broken_chain_is_found(lie: str, owner: psycopg.Connection) -> None:
    intent = factories.confirmed_intent()
    event = intent.events.order_by("number")[0]
    answers = planted(
        owner,
        away={"actions_intentevent_changes": "actions_intentevent"},
        lie=lie.format(event=event.pk),
    )
    assert answers["an event chain that does not verify"] == [intent.pk]


def test_a_reference_across_workspaces_is_found(owner: psycopg.Connection) -> None:
    target, abroad = factories.make_intent().target, factories.make_intent().connection
    answers = planted(
        owner,
        away={
            "actions_target_connection_id_scoped": "actions_target",
            "actions_target_changes": "actions_target",
        },
        lie=f"UPDATE actions_target SET connection_id = {abroad.pk} WHERE id = {target.pk}",
    )
    assert answers == {"actions_target.connection_id points across": [target.pk]}


def test_a_part_that_went_and_an_amount_that_is_no_number_are_found(
    owner: psycopg.Connection,
) -> None:
    part = factories.confirmed_intent().external_objects.get().echoes.get().parts.get()
    away = {"actions_echopart_changes": "actions_echopart", "echopart_amount": "actions_echopart"}
    gone = planted(owner, away=away, lie=f"DELETE FROM actions_echopart WHERE id = {part.pk}")
    assert gone["an echo that has not the parts it said it has"] == [part.echo_id]
    nothing = planted(
        owner, away=away, lie=f"UPDATE actions_echopart SET amount = 'NaN' WHERE id = {part.pk}"
    )
    assert nothing["an amount that is no number"] == [part.pk]


def test_an_object_that_proves_two_intents_is_found(owner: psycopg.Connection) -> None:
    intent = factories.confirmed_intent()
    other = factories.make_object(target=intent.target)
    answers = planted(
        owner,
        away={"externalobject_proves_one_intent": "actions_externalobject"},
        lie=f"UPDATE actions_externalobject SET intent_id = {intent.pk} WHERE id = {other.pk}",
    )
    assert answers["an external object that proves two intents, or an intent with two"] == [
        min(other.pk, intent.external_objects.order_by("pk")[0].pk)
    ]


# --- the witness ----------------------------------------------------------------------------------------------


@pytest.fixture
def witness(owner: psycopg.Connection) -> Iterator[Witness]:
    """What keeps how each row came."""
    witness = Witness(owner)
    witness.set_up()
    yield witness
    witness.tear_down()


@pytest.mark.parametrize(
    ("table", "lie", "contradiction"),
    [
        (
            "actions_echopart",
            "UPDATE {table} SET amount = 99 WHERE id = {row}",
            "a row that never changes has changed",
        ),
        (
            "actions_echopart",
            "DELETE FROM {table} WHERE id = {row}",
            "a row that never changes has changed",
        ),
        (
            "actions_attempt",
            "UPDATE {table} SET send_by = send_by + interval '1 s' WHERE id = {row}",
            "a row that never changes has changed",
        ),
        (
            "actions_attempt",
            "UPDATE {table} SET outcome = 'not_sent' WHERE id = {row}",
            "written twice",
        ),
        (
            "actions_externalobject",
            "UPDATE {table} SET intent_id = NULL WHERE id = {row}",
            "written twice",
        ),
    ],
)
def test_evidence_that_changed_is_found(
    table: str, lie: str, contradiction: str, owner: psycopg.Connection, witness: Witness
) -> None:
    row = one_of_each()[table]
    assert witness.contradictions() == {}
    with owner.transaction(force_rollback=True):
        owner.execute(f"ALTER TABLE {table} DISABLE TRIGGER {table}_changes")
        owner.execute(lie.format(table=table, row=row))
        assert witness.contradictions() == {f"{table}: {contradiction}": [row]}


def test_a_path_that_was_shortened_is_found(owner: psycopg.Connection, witness: Witness) -> None:
    ticket = factories.make_ticket()
    with owner.transaction(force_rollback=True):
        owner.execute("ALTER TABLE tickets_ticket DISABLE TRIGGER tickets_ticket_path")
        owner.execute("UPDATE tickets_ticket SET path = '[]'")
        assert witness.contradictions() == {"a path that did not only grow": [ticket.pk]}


def test_nothing_false_is_found_where_nothing_is_false(owner: psycopg.Connection) -> None:
    one_of_each()
    for state in State:
        factories.intent_in(state)
    assert found(owner) == {}


def test_each_question_is_shown_here_to_find_what_it_asks_for() -> None:
    told = Path(__file__).read_text(encoding="utf-8")
    assert [question for question in QUESTIONS if question not in told] == []
