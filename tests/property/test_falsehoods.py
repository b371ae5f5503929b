"""Each question finds what it asks for, once the guard that forbids it is away and the lie is planted.

Promises: guard and lie are gone again afterwards. Without this, a question that can find nothing would look like a guard that holds.
"""

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Unpack

import psycopg
import pytest

from actions.models import Counter, Intent
from actions.states import State
from integrations.clock import now
from tests import factories
from tests.database import TestDatabase
from tests.factories.everything import one_of_each
from tests.factories.intents import Given
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


# --- what people say, and what follows what -------------------------------------------------------------------


def approved() -> Intent:
    """Return an authorized intent that wanted a second person, and has one's yes."""
    intent, at = factories.intent_in(State.AWAITING_APPROVAL), now()
    approval = factories.make_approval(decision=intent.decisions.get(), at=at)
    approval.used_at = at
    approval.save(update_fields=["used_at"])
    factories.authorize(intent, at=at, ruling="approve")
    return intent


@pytest.mark.parametrize(
    ("away", "lie"),
    [
        (
            {"actions_gatedecision_changes": "actions_gatedecision"},
            "UPDATE actions_gatedecision SET ruling = 'hold', reason = 'dispute' WHERE intent_id = {intent} AND number = 1",
        ),
        (
            {"actions_approval_changes": "actions_approval"},
            "UPDATE actions_approval SET approver_kind = 'ai', approver_identity = 'agent-1' WHERE intent_id = {intent}",
        ),
        (
            {"actions_intent_changes": INTENT},
            "UPDATE actions_intent SET proposer_kind = 'brand_team', proposer_identity = 'team-1' WHERE id = {intent}",
        ),
        (
            {"actions_approval_changes": "actions_approval", "approval_used_in_time": "actions_approval"},
            "UPDATE actions_approval SET approves = false WHERE intent_id = {intent}",
        ),
    ],
)  # fmt: skip
def test_what_is_no_second_person_s_yes_is_found(
    away: dict[str, str], lie: str, owner: psycopg.Connection
) -> None:
    intent = approved()
    away = {"approval_by_a_person": "actions_approval", **away}
    answers = planted(owner, away=away, lie=lie.format(intent=intent.pk))
    assert answers["past the gate without its yes"] == [intent.pk]


@pytest.mark.parametrize("approves", [True, False])
def test_a_word_of_the_proposer_s_own_is_found(approves: bool, owner: psycopg.Connection) -> None:
    intent = factories.intent_in(State.AWAITING_APPROVAL)
    decision = intent.decisions.get()
    word = factories.make_approval(decision=decision, at=now(), approves=approves)
    answers = planted(
        owner,
        away={"actions_intent_changes": INTENT},
        lie=f"UPDATE {INTENT} SET proposer_kind = 'brand_team', proposer_identity = 'team-1' WHERE id = {intent.pk}",
    )
    assert answers == {"a word of its own proposer on what wanted a second person": [word.pk]}


@pytest.mark.parametrize(
    "lie",
    [
        "UPDATE actions_gatedecision SET reason = 'paused' WHERE id = {decision}",
        "UPDATE actions_gatedecision SET ruling = 'refuse' WHERE id = {decision}",
        "UPDATE actions_gatedecision SET shown_digest = 'another' WHERE id = {decision}",
        "UPDATE actions_approval SET approves = false WHERE decision_id = {decision}",
        "UPDATE actions_approval SET approver_kind = 'ai' WHERE decision_id = {decision}",
    ],
)
def test_a_word_that_clears_nothing_is_found(lie: str, owner: psycopg.Connection) -> None:
    intent, at = factories.make_intent(), now()
    held = factories.make_decision(intent=intent, ruling="hold", reason="dispute", at=at)
    word = factories.make_approval(decision=held, at=at)
    away = {
        "actions_gatedecision_changes": "actions_gatedecision", "actions_approval_changes": "actions_approval",
        "approval_by_a_person": "actions_approval",
    }  # fmt: skip
    answers = planted(owner, away=away, lie=lie.format(decision=held.pk))
    assert answers == {"a word on what nobody was asked, or by no person": [word.pk]}


def following(earlier: Intent, **given: Unpack[Given]) -> Given:
    """Return what an intent that follows another is given: a person's, unless told otherwise."""
    beside: Given = {"ticket": earlier.ticket, "request": earlier.request}
    return {"by": factories.NODE, "target": earlier.target} | beside | given


def repeating(earlier: Intent) -> Given:
    """Return what a person's repeat of an intent is given."""
    return following(earlier, repeat_of=earlier, occurrence=earlier.occurrence + 1)


@pytest.mark.parametrize(
    "columns",
    [
        "kind = 'reply'", "occurrence = 7", "state = 'proposed'", "state = 'held'",
        "state = 'authorized', decision_id = 1, body = '1', document = '1', body_digest = '1'",
    ],
)  # fmt: skip
def test_a_repeat_of_what_has_not_ended_or_of_something_else_is_found(
    columns: str, owner: psycopg.Connection
) -> None:
    earlier = factories.intent_in(State.WITHDRAWN)
    again = factories.make_intent(**repeating(earlier))
    away = {**MOVING, "actions_intent_changes": INTENT, "actions_intent_frozen": INTENT}
    away |= {"intent_occurrence": INTENT, "actions_intent_decision_id_scoped": INTENT}
    away |= {"intent_state_reason": INTENT}
    answers = planted(
        owner, away=away, lie=f"UPDATE {INTENT} SET {columns} WHERE id = {earlier.pk}"
    )
    assert again.pk in answers["a repeat of what has not ended, or of something else"]


@pytest.mark.parametrize("state", [State.CONFIRMED, State.FAILED, State.REVERSED])
@pytest.mark.parametrize("withdrawn_between", [0, 2])
def test_a_repeat_by_no_person_of_what_may_have_left_is_found(
    state: State, withdrawn_between: int, owner: psycopg.Connection
) -> None:
    earlier = factories.intent_in(state)
    for _ in range(withdrawn_between):
        earlier = factories.intent_in(State.WITHDRAWN, **repeating(earlier))
    again = factories.make_intent(**repeating(earlier))
    answers = planted(
        owner,
        away={"actions_intent_changes": INTENT},
        lie=f"UPDATE {INTENT} SET proposer_kind = 'ai' WHERE id = {again.pk}",
    )
    assert answers == {
        "repeated by no person, and an attempt of what is repeated may have left": [again.pk]
    }


def test_a_correction_of_what_stands_is_found(owner: psycopg.Connection) -> None:
    failed = factories.intent_in(State.FAILED)
    stands = factories.confirmed_intent(ticket=failed.ticket)
    corrected = factories.make_intent(**following(failed, corrects=failed))
    answers = planted(
        owner,
        away={"actions_intent_changes": INTENT},
        lie=f"UPDATE {INTENT} SET corrects_id = {stands.pk} WHERE id = {corrected.pk}",
    )
    assert answers == {"a correction of what stands, or may": [corrected.pk]}


@pytest.mark.parametrize("state", [State.ACCEPTED, State.REVERSED])
@pytest.mark.parametrize(
    "columns", ["amount = 12.51", "currency = 'USD'", "amount = NULL, currency = ''"]
)
def test_a_remainder_that_is_not_less_is_found(
    state: State, columns: str, owner: psycopg.Connection
) -> None:
    earlier = factories.intent_in(state)
    rest = factories.make_intent(**following(earlier, remainder_of=earlier, amount=Decimal(2)))
    answers = planted(
        owner,
        away={"actions_intent_changes": INTENT},
        lie=f"UPDATE {INTENT} SET {columns} WHERE id = {rest.pk}",
    )
    assert answers["a remainder that is not less than the whole"] == [rest.pk]


def test_a_remainder_of_more_than_is_missing_is_found(owner: psycopg.Connection) -> None:
    earlier = factories.intent_in(State.ACCEPTED)
    rest = factories.make_intent(**following(earlier, remainder_of=earlier, amount=Decimal(6)))
    answers = planted(
        owner,
        away={"actions_intent_changes": INTENT},
        lie=f"UPDATE {INTENT} SET amount = 6.26 WHERE id = {rest.pk}",
    )
    assert answers == {"a remainder that is not less than the whole": [rest.pk]}


def test_remainders_that_are_too_much_together_are_found(owner: psycopg.Connection) -> None:
    earlier = factories.intent_in(State.REVERSED)
    _, rest = (
        factories.make_intent(**following(earlier, remainder_of=earlier, amount=Decimal(6)))
        for _ in range(2)
    )
    answers = planted(
        owner,
        away={"actions_intent_changes": INTENT},
        lie=f"UPDATE {INTENT} SET amount = 6.51 WHERE id = {rest.pk}",
    )
    assert answers == {"remainders that are more than the whole": [earlier.pk]}


def test_what_no_person_made_up_for_is_found(owner: psycopg.Connection) -> None:
    earlier = factories.intent_in(State.REVERSED)
    rest = factories.make_intent(**following(earlier, remainder_of=earlier, amount=Decimal(6)))
    answers = planted(
        owner,
        away={"actions_intent_changes": INTENT},
        lie=f"UPDATE {INTENT} SET proposer_kind = 'ai' WHERE id = {rest.pk}",
    )
    assert answers == {"made up for by no person after it was reversed": [rest.pk]}


@pytest.mark.parametrize(
    "lie",
    [
        "UPDATE actions_intent SET accepted_reason_id = NULL WHERE id = {intent}",
        "UPDATE actions_intentevent SET by_kind = 'system' WHERE intent_id = {intent} AND to_state = 'accepted'",
        "UPDATE actions_intentevent SET from_state = 'accepted' WHERE intent_id = {intent} AND to_state = 'accepted'",
    ],
)
def test_what_was_accepted_without_a_person_or_a_reason_is_found(
    lie: str, owner: psycopg.Connection
) -> None:
    intent = factories.intent_in(State.ACCEPTED)
    away = {
        "actions_intent_changes": INTENT, "intent_accepted_with_a_reason": INTENT, "actions_intentevent_changes": "actions_intentevent",
    }  # fmt: skip
    answers = planted(owner, away=away, lie=lie.format(intent=intent.pk))
    assert answers["accepted without a person or a reason"] == [intent.pk]


@pytest.mark.parametrize(
    "lie",
    [
        "UPDATE actions_outcome SET statement_id = NULL WHERE id = {outcome}",
        "UPDATE actions_outcome SET by_kind = 'ai' WHERE id = {outcome}",
        "UPDATE actions_echopart SET standing = 'failed' WHERE standing = 'succeeded'",
    ],
)
def test_an_outcome_of_what_brought_nothing_is_found(lie: str, owner: psycopg.Connection) -> None:
    intent = factories.late_success()
    outcome = factories.make_statement(request=intent.request, intent=intent)
    away = {
        "actions_outcome_changes": "actions_outcome", "outcome_statement_by_a_person": "actions_outcome",
        "actions_echopart_changes": "actions_echopart",
    }  # fmt: skip
    answers = planted(owner, away=away, lie=lie.format(outcome=outcome.pk))
    assert answers == {"an outcome by an intent that brought nothing": [outcome.pk]}


@pytest.mark.parametrize(
    ("away", "table", "columns", "question"),
    [
        ("counter_not_negative", "actions_counter", "used = -1", "counted below zero, or without a day or shop money"),
        ("actions_counter_count_check", "actions_counter", "count = -1", "counted below zero, or without a day or shop money"),
        ("intent_counted_in_shop_money", INTENT, "counted_at = now()", "counted below zero, or without a day or shop money"),
        (
            "intent_counted_in_shop_money", INTENT, "counted_at = now(), counted_on = now()",
            "counted below zero, or without a day or shop money",
        ),
        ("intent_shop_money", INTENT, "shop_currency = 'EUR'", "an amount without its currency, or the other way round"),
        ("intent_shop_money", INTENT, "shop_amount = 1", "an amount without its currency, or the other way round"),
        ("intent_set_aside_by_a_person", INTENT, "set_aside_at = now()", "set aside without a person or a reason"),
        (
            "attempt_closed_with_outcome", "actions_attempt", "closed_at = now()",
            "an attempt closed without an outcome, or resolved without a way",
        ),
        (
            "attempt_resolved_only_if_unknown", "actions_attempt", "resolved_at = now()",
            "an attempt closed without an outcome, or resolved without a way",
        ),
    ],
)  # fmt: skip
def test_half_a_fact_is_found(
    away: str, table: str, columns: str, question: str, owner: psycopg.Connection
) -> None:
    intent = factories.intent_in(State.EXECUTING)
    counter = Counter.objects.create(workspace=intent.workspace, name="refund.day", currency="EUR")
    rows = {INTENT: intent.pk, "actions_attempt": intent.attempts.get().pk, "actions_counter": counter.pk}  # fmt: skip
    answers = planted(
        owner, away={away: table}, lie=f"UPDATE {table} SET {columns} WHERE id = {rows[table]}"
    )
    assert answers == {question: [rows[table]]}


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
