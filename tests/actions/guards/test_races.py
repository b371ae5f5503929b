"""Two callers at one moment, either of whom alone would be let through: one waits, and is refused.

Promises: who waits is seen to wait by the database's own list of locks; nothing is timed.
Does not test the code's own locks: raw SQL takes none.
"""

import json
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from hashlib import sha256

import psycopg
import pytest

from actions.models import Intent
from actions.states import State
from integrations.clock import now
from tests import factories
from tests.database import TestDatabase

pytestmark = pytest.mark.django_db(transaction=True)


class Caller:
    """A connection of the application's role, in a transaction that is committed by hand."""

    def __init__(self, database: TestDatabase, connection: psycopg.Connection) -> None:
        self.connection = connection
        self._owner = database.connection
        self._thread = ThreadPoolExecutor(max_workers=1)

    def does(self, *statements: str) -> None:
        """Run statements at once."""
        for statement in statements:
            self.connection.execute(statement)

    def begins(self, statement: str) -> Future[object]:
        """Run a statement that must wait for the other caller, and return once it waits."""
        running: Future[object] = self._thread.submit(self.connection.execute, statement)
        assert self._owner is not None
        while (
            not running.done()
            and not self._owner.execute(
                "SELECT 1 FROM pg_locks WHERE pid = %s AND NOT granted",
                [self.connection.info.backend_pid],
            ).fetchone()
        ):
            pass
        assert not running.done()
        return running


@contextmanager
def two_callers(database: TestDatabase) -> Iterator[tuple[Caller, Caller]]:
    """Connect two callers."""
    parameters = {**database.application_parameters, "dbname": database.name}
    with ExitStack() as stack:
        first, second = (
            stack.enter_context(psycopg.connect(autocommit=True, **parameters))  # type: ignore[arg-type]  # libpq's own
            for _ in range(2)
        )
        yield Caller(database, first), Caller(database, second)


def refusal(running: Future[object]) -> str | None:
    """Return the guard that refused a statement that had to wait."""
    with pytest.raises(psycopg.errors.IntegrityError) as refused:
        running.result()
    return refused.value.diag.constraint_name


def resolving(intent: Intent) -> tuple[str, ...]:
    """Return the statements that resolve a ticket on its one confirmed intent."""
    ticket, workspace = intent.ticket_id, intent.workspace_id
    return (
        f"UPDATE tickets_ticket SET status = 'resolved', resolver = 'ai' WHERE id = {ticket}",
        (
            "INSERT INTO tickets_resolution (workspace_id, public_id, ticket_id, status, resolver, reason, "
            'closed_by_kind, closed_by_identity, "references", closed_at) '
            f"VALUES ({workspace}, 'res-race', {ticket}, 'resolved', 'ai', '', 'ai', 'agent-1', '{{}}', now())"
        ),
    )


def asking(intent: Intent) -> str:
    """Return the statement that states another request on an intent's ticket."""
    return (
        "INSERT INTO tickets_request (workspace_id, public_id, ticket_id, number, kind, target, currency, stated_by_kind, "
        f"stated_by_identity) VALUES ({intent.workspace_id}, 'req-race', {intent.ticket_id}, 2, 'reply', '', '', 'ai', 'agent-1')"
    )


def test_a_request_that_comes_in_while_its_ticket_is_being_resolved_is_refused(
    test_database: TestDatabase,
) -> None:
    intent = factories.confirmed_intent()
    factories.make_outcome(intent=intent)
    with two_callers(test_database) as (closing, asking_more):
        closing.does("BEGIN", *resolving(intent))
        asking_more.does("BEGIN", asking(intent))
        waiting = asking_more.begins("COMMIT")
        closing.does("COMMIT")
        assert refusal(waiting) == "tickets_request_ticket_standing"


def test_a_ticket_is_not_resolved_over_a_request_that_came_in_meanwhile(
    test_database: TestDatabase,
) -> None:
    intent = factories.confirmed_intent()
    factories.make_outcome(intent=intent)
    with two_callers(test_database) as (closing, asking_more):
        asking_more.does("BEGIN", asking(intent), "SET CONSTRAINTS ALL IMMEDIATE")
        closing.does("BEGIN")
        waiting = closing.begins(resolving(intent)[0])
        asking_more.does("COMMIT")
        waiting.result()
        closing.does(resolving(intent)[1])
        with pytest.raises(psycopg.errors.IntegrityError, match="an outcome for each request"):
            closing.does("COMMIT")


def test_an_intent_is_not_born_while_its_ticket_is_being_closed(
    test_database: TestDatabase,
) -> None:
    intent = factories.confirmed_intent()
    factories.make_outcome(intent=intent)
    with two_callers(test_database) as (closing, proposing):
        closing.does("BEGIN", *resolving(intent))
        proposing.does("BEGIN")
        waiting = proposing.begins(
            "INSERT INTO actions_intent SELECT (jsonb_populate_record(i, jsonb_build_object('id', 10000, 'public_id', 'int-race', "
            "'marker', 'rzv:race', 'key', gen_random_uuid(), 'state', 'proposed', 'event_count', 1, 'first_sent_at', null, "
            "'resend_until', null, 'settles_at', null, 'confirmed_at', null, 'decision_id', null))).* "
            f"FROM actions_intent i WHERE id = {intent.pk}"
        )
        closing.does("COMMIT")
        assert refusal(waiting) == "actions_intent_birth"


def making_up_for(earlier: Intent, *, number: int) -> str:
    """Return the statement by which a person proposes all that is missing of an accepted intent."""
    unsent = (
        "first_sent_at",
        "resend_until",
        "settles_at",
        "confirmed_at",
        "decision_id",
        "body",
        "accepted_reason_id",
    )
    born = ", ".join(f"'{column}', null" for column in unsent)
    return (
        f"INSERT INTO actions_intent SELECT (jsonb_populate_record(i, jsonb_build_object('id', {10000 + number}, 'public_id', "
        f"'int-{number}', 'marker', 'rzv:{number}', 'key', gen_random_uuid(), 'state', 'proposed', 'event_count', 1, "
        f"'remainder_of_id', i.id, 'amount', i.amount / 2, {born}))).* FROM actions_intent i WHERE id = {earlier.pk}"
    )


def test_two_at_one_moment_do_not_make_up_for_the_same_money(test_database: TestDatabase) -> None:
    earlier = factories.intent_in(State.ACCEPTED)
    with two_callers(test_database) as (first, second):
        first.does("BEGIN", making_up_for(earlier, number=1), event_of_birth(earlier, number=1))
        second.does("BEGIN")
        waiting = second.begins(making_up_for(earlier, number=2))
        first.does("COMMIT")
        assert refusal(waiting) == "actions_intent_birth"


def event_of_birth(earlier: Intent, *, number: int) -> str:
    """Return the statement that inserts the first event of an intent which makes up for another."""
    at = now().isoformat()
    body = json.dumps({
        "at": at, "by": "agent-1", "by_kind": "ai", "details": {}, "from": "", "intent": f"int-{number}", "name": "proposed",
        "number": 1, "reason": "", "to": "proposed",
    })  # fmt: skip
    return (
        "INSERT INTO actions_intentevent (workspace_id, intent_id, number, name, from_state, to_state, by_kind, by_identity, reason, "
        f"at, body, previous_digest, digest) VALUES ({earlier.workspace_id}, {10000 + number}, 1, 'proposed', '', 'proposed', 'ai', "
        f"'agent-1', '', '{at}', '{body}', '', '{sha256(body.encode()).hexdigest()}')"
    )


def test_an_intent_is_not_withdrawn_under_an_attempt_that_is_being_opened(
    test_database: TestDatabase,
) -> None:
    intent = factories.intent_in(State.AUTHORIZED)
    window = "first_sent_at = now(), resend_until = now() + interval '1 hour', settles_at = now() + interval '1 hour'"
    change = f"UPDATE actions_intent SET {window} WHERE id = {intent.pk}"
    opening = (
        "INSERT INTO actions_attempt (workspace_id, intent_id, number, app, key, request_digest, started_at, send_by) "
        f"SELECT workspace_id, id, 1, 'app', key, body_digest, now(), now() + interval '10 s' FROM actions_intent WHERE id = {intent.pk}"
    )
    with two_callers(test_database) as (claiming, withdrawing):
        claiming.does(change.replace("now()", "transaction_timestamp()"))
        claiming.does("BEGIN", opening)
        withdrawing.does("BEGIN")
        waiting = withdrawing.begins(
            "UPDATE actions_intent SET state = 'withdrawn', event_count = event_count + 1, first_sent_at = NULL, resend_until = NULL, "
            f"settles_at = NULL WHERE id = {intent.pk}"
        )
        claiming.does("COMMIT")
        assert refusal(waiting) in ("actions_intent_frozen", "actions_intent_proof")
