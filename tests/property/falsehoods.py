"""What must not be found in the database, asked in plain SQL that shares nothing with the guards.

Promises: each question returns the rows at fault; none calls a function of ours. The witness keeps
what evidence was when it came, on the owner's side, where the application's role reaches nothing.
Does not know how a row got there.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from hashlib import sha256

import psycopg
from django.db import models

from integrations.rows import GuardedRow, WorkspaceRow
from tests.strategies.statements import FIELDS, MODELS

QUESTIONS: dict[str, str] = {
    "confirmed without an echo of exactly what was asked": """
        SELECT i.id FROM actions_intent i JOIN actions_target t ON t.id = i.target_id
        WHERE i.state = 'confirmed' AND NOT EXISTS (
            SELECT 1 FROM actions_externalobject o JOIN actions_echo e ON e.external_object_id = o.id
            WHERE o.intent_id = i.id AND e.marker = i.marker AND e.target_identifier = t.identifier
            AND (i.amount IS NULL OR EXISTS (
                SELECT 1 FROM actions_echopart p WHERE p.echo_id = e.id HAVING sum(p.amount) = i.amount
                AND bool_and(p.standing = 'succeeded' AND p.currency = i.currency) AND count(*) = e.part_count)))
    """,
    "an external object that proves two intents, or an intent with two": """
        SELECT min(o.id) FROM actions_externalobject o GROUP BY connection_id, type, identifier HAVING count(*) > 1
        UNION ALL SELECT min(o.id) FROM actions_externalobject o WHERE o.intent_id IS NOT NULL GROUP BY o.intent_id HAVING count(*) > 1
    """,
    "failed as absent without two complete absences, apart, after it could still land": """
        SELECT i.id FROM actions_intent i JOIN integrations_connection c ON c.id = i.connection_id
        WHERE i.state = 'failed' AND i.state_reason = 'absent' AND (
            SELECT max(r.started_at) - min(r.started_at) FROM actions_finding f JOIN actions_read r ON r.id = f.read_id
            WHERE f.intent_id = i.id AND f.result = 'absent' AND r.result = 'complete' AND r.target_id = i.target_id
            AND r.started_at >= i.settles_at) IS DISTINCT FROM GREATEST(interval '3 minutes' * c.time_scale, (
            SELECT max(r.started_at) - min(r.started_at) FROM actions_finding f JOIN actions_read r ON r.id = f.read_id
            WHERE f.intent_id = i.id AND f.result = 'absent' AND r.result = 'complete' AND r.target_id = i.target_id
            AND r.started_at >= i.settles_at))
    """,
    "failed without money's failure while an external object is bound": """
        SELECT i.id FROM actions_intent i JOIN actions_externalobject o ON o.intent_id = i.id
        WHERE i.state = 'failed' AND i.state_reason IN ('absent', 'rejected')
    """,
    "said to be unsent, and an attempt may have left": """
        SELECT i.id FROM actions_intent i JOIN actions_attempt a ON a.intent_id = i.id
        WHERE i.state IN ('proposed', 'held', 'awaiting_approval', 'authorized', 'refused', 'withdrawn') AND (a.outcome IS NULL OR a.outcome <> 'not_sent')
        AND NOT EXISTS (SELECT 1 FROM actions_attempt b WHERE b.id = a.id AND i.state = 'authorized' AND b.outcome IS NULL)
    """,
    "more than one open attempt": """
        SELECT a.intent_id FROM actions_attempt a WHERE a.closed_at IS NULL GROUP BY a.intent_id HAVING count(*) > 1
    """,
    "sent past its window, or with other bytes or another key": """
        SELECT a.id FROM actions_attempt a JOIN actions_intent i ON i.id = a.intent_id
        WHERE a.key <> i.key OR a.number > 12 OR (a.outcome IS DISTINCT FROM 'not_sent' AND (
            a.request_digest <> i.body_digest OR a.send_by > i.resend_until OR i.resend_until > i.first_sent_at + interval '20 hours'))
    """,
    "past the gate without its yes": """
        SELECT i.id FROM actions_intent i LEFT JOIN actions_gatedecision d ON d.id = i.decision_id AND d.intent_id = i.id AND d.phase = 'worker'
        WHERE i.state IN ('authorized', 'executing', 'unknown', 'pending', 'partially_confirmed', 'confirmed', 'accepted')
        AND (d.id IS NULL OR (d.ruling <> 'allow' AND NOT (d.ruling = 'approve' AND EXISTS (
            SELECT 1 FROM actions_approval p JOIN actions_gatedecision s ON s.id = p.decision_id AND s.intent_id = i.id AND s.ruling = 'approve'
            WHERE p.intent_id = i.id AND p.approves AND p.used_at < p.expires_at AND p.digest = d.shown_digest AND s.shown_digest = d.shown_digest
            AND p.approver_kind IN ('human_node', 'brand_team')
            AND (p.approver_kind <> i.proposer_kind OR p.approver_identity <> i.proposer_identity)))))
    """,
    "a word of its own proposer on what wanted a second person": """
        SELECT p.id FROM actions_approval p JOIN actions_gatedecision s ON s.id = p.decision_id JOIN actions_intent i ON i.id = p.intent_id
        WHERE s.ruling NOT IN ('hold') AND p.approver_kind = i.proposer_kind AND p.approver_identity = i.proposer_identity
    """,
    "a word on what nobody was asked, or by no person": """
        SELECT p.id FROM actions_approval p LEFT JOIN actions_gatedecision s
        ON s.id = p.decision_id AND s.intent_id = p.intent_id AND s.shown_digest = p.digest
        WHERE s.id IS NULL OR p.approver_kind NOT IN ('human_node', 'brand_team') OR NOT (s.ruling = 'approve' OR (s.ruling = 'hold' AND p.approves
            AND s.reason IN ('unverified_customer', 'ownership_unclear', 'dispute', 'equal_effect', 'failed_refund_object')))
    """,
    "a repeat of what has not ended, or of something else": """
        SELECT n.id FROM actions_intent n LEFT JOIN actions_intent i ON i.id = n.repeat_of_id
        WHERE n.occurrence > 1 AND (i.id IS NULL OR i.ticket_id <> n.ticket_id OR i.kind <> n.kind OR i.occurrence <> n.occurrence - 1 OR (i.set_aside_at IS NULL
            AND i.state IN ('proposed', 'held', 'awaiting_approval', 'authorized', 'executing', 'unknown', 'pending', 'partially_confirmed')))
    """,
    "repeated by no person, and an attempt of what is repeated may have left": """
        WITH RECURSIVE before AS (
            SELECT n.id AS newest, n.repeat_of_id AS at FROM actions_intent n
            WHERE n.repeat_of_id IS NOT NULL AND n.proposer_kind NOT IN ('human_node', 'brand_team')
            UNION SELECT b.newest, i.repeat_of_id FROM before b JOIN actions_intent i ON i.id = b.at WHERE i.repeat_of_id IS NOT NULL)
        SELECT DISTINCT b.newest FROM before b JOIN actions_attempt a ON a.intent_id = b.at WHERE a.outcome IS DISTINCT FROM 'not_sent'
    """,
    "a correction of what stands, or may": """
        SELECT n.id FROM actions_intent n JOIN actions_intent i ON i.id = n.corrects_id
        WHERE i.ticket_id <> n.ticket_id OR i.state NOT IN ('failed', 'refused')
    """,
    "a remainder that is not less than the whole": """
        SELECT n.id FROM actions_intent n JOIN actions_intent i ON i.id = n.remainder_of_id
        WHERE i.ticket_id <> n.ticket_id OR i.target_id <> n.target_id OR i.currency <> n.currency OR n.amount IS NULL OR n.amount > i.amount
        OR i.state NOT IN ('accepted', 'reversed') OR n.amount + (
            SELECT COALESCE(sum(p.amount), 0) FROM actions_echopart p WHERE p.standing = 'succeeded' AND p.echo_id = (
                SELECT e.id FROM actions_echo e JOIN actions_externalobject o ON o.id = e.external_object_id
                WHERE o.intent_id = i.id AND e.observed_at <= n.created_at ORDER BY e.id DESC LIMIT 1)) > i.amount
    """,
    "remainders that are more than the whole": """
        SELECT i.id FROM actions_intent i JOIN actions_intent n ON n.remainder_of_id = i.id
        WHERE n.state NOT IN ('failed', 'refused', 'withdrawn', 'reversed') GROUP BY i.id HAVING sum(n.amount) > i.amount
    """,
    "made up for by no person after it was reversed": """
        SELECT n.id FROM actions_intent n JOIN actions_intentevent e ON e.intent_id = n.remainder_of_id AND e.to_state = 'reversed'
        JOIN actions_intentevent b ON b.intent_id = n.id AND b.number = 1
        WHERE e.from_state <> 'reversed' AND b.id > e.id AND n.proposer_kind NOT IN ('human_node', 'brand_team')
    """,
    "accepted without a person or a reason": """
        SELECT i.id FROM actions_intent i LEFT JOIN actions_intentevent e ON e.intent_id = i.id AND e.to_state = 'accepted' AND e.from_state <> 'accepted'
        LEFT JOIN integrations_sealedpayload s ON s.id = i.accepted_reason_id
        WHERE (i.state = 'accepted' OR e.id IS NOT NULL) AND (e.id IS NULL OR s.id IS NULL OR e.by_kind NOT IN ('human_node', 'brand_team'))
    """,
    "an outcome by an intent that brought nothing": """
        SELECT o.id FROM actions_outcome o JOIN actions_intent i ON i.id = o.intent_id
        WHERE i.state NOT IN ('confirmed', 'accepted', 'reversed') AND NOT (i.state = 'failed'
            AND o.statement_id IS NOT NULL AND o.by_kind IN ('human_node', 'brand_team') AND EXISTS (
                SELECT 1 FROM actions_echo e JOIN actions_echopart p ON p.echo_id = e.id
                WHERE e.external_object_id = o.external_object_id GROUP BY e.id HAVING bool_and(p.standing = 'succeeded')))
    """,
    "counted below zero, or without a day or shop money": """
        SELECT id FROM actions_counter WHERE used < 0 OR count < 0 UNION ALL
        SELECT id FROM actions_intent WHERE (counted_at IS NULL) <> (counted_on IS NULL) OR (counted_at IS NOT NULL AND shop_amount IS NULL)
    """,
    "an amount without its currency, or the other way round": """
        SELECT id FROM actions_intent WHERE (amount IS NULL) <> (currency = '') OR (shop_amount IS NULL) <> (shop_currency = '') UNION ALL
        SELECT id FROM actions_echopart WHERE currency = '' OR (shop_amount IS NULL) <> (shop_currency = '')
    """,
    "set aside without a person or a reason": """
        SELECT id FROM actions_intent WHERE set_aside_at IS NOT NULL AND (set_aside_by_kind IS NULL
        OR set_aside_by_kind NOT IN ('human_node', 'brand_team') OR set_aside_by_identity IS NULL OR set_aside_reason_id IS NULL)
    """,
    "an attempt closed without an outcome, or resolved without a way": """
        SELECT id FROM actions_attempt WHERE (closed_at IS NULL) <> (outcome IS NULL) OR (resolved_at IS NULL) <> (resolved_how IS NULL)
    """,
    "a resolver without a resolution, or the other way round": """
        SELECT t.id FROM tickets_ticket t WHERE (t.resolver IS NOT NULL) <> (t.status = 'resolved')
        OR (t.status IN ('resolved', 'closed_unresolved')) <> EXISTS (
            SELECT 1 FROM tickets_resolution r WHERE r.ticket_id = t.id AND r.reopened_at IS NULL AND r.status = t.status
            AND r.resolver IS NOT DISTINCT FROM t.resolver)
    """,
    "resolved over an unsettled intent": """
        SELECT t.id FROM tickets_ticket t JOIN actions_intent i ON i.ticket_id = t.id WHERE t.status = 'resolved'
        AND i.state IN ('proposed', 'held', 'awaiting_approval', 'authorized', 'executing', 'unknown', 'pending', 'partially_confirmed')
    """,
    "closed unresolved over what was never sent": """
        SELECT t.id FROM tickets_ticket t JOIN actions_intent i ON i.ticket_id = t.id WHERE t.status = 'closed_unresolved'
        AND i.state IN ('proposed', 'held', 'awaiting_approval', 'authorized')
    """,
    "resolved without a request, or with one that has no outcome": """
        SELECT t.id FROM tickets_ticket t WHERE t.status = 'resolved' AND (
            NOT EXISTS (SELECT 1 FROM tickets_request q WHERE q.ticket_id = t.id)
            OR EXISTS (SELECT 1 FROM tickets_request q WHERE q.ticket_id = t.id
                AND q.number >= ALL (SELECT n.number FROM tickets_request n WHERE n.revises_id = q.id)
                AND NOT EXISTS (SELECT 1 FROM tickets_request n WHERE n.revises_id = q.id)
                AND NOT EXISTS (SELECT 1 FROM actions_outcome o WHERE o.request_id = q.id AND (
                    (o.statement_id IS NOT NULL AND o.by_kind IN ('human_node', 'brand_team'))
                    OR EXISTS (SELECT 1 FROM actions_externalobject x JOIN actions_echo e ON e.external_object_id = x.id
                               WHERE x.id = o.external_object_id)))))
    """,
    "a request that no last revision stands for": """
        SELECT q.id FROM tickets_request q JOIN tickets_request n ON n.revises_id = q.id
        WHERE n.ticket_id <> q.ticket_id OR n.number <= q.number
    """,
    "an echo that has not the parts it said it has": """
        SELECT e.id FROM actions_echo e WHERE e.part_count <> (SELECT count(*) FROM actions_echopart p WHERE p.echo_id = e.id)
    """,
    "an amount that is no number": """
        SELECT id FROM actions_intent WHERE amount = 'NaN' OR shop_amount = 'NaN' UNION ALL
        SELECT id FROM actions_echopart WHERE amount = 'NaN' OR shop_amount = 'NaN' UNION ALL SELECT id FROM tickets_request WHERE amount = 'NaN'
        UNION ALL SELECT id FROM actions_counter WHERE used = 'NaN'
    """,
}
"""Each question by what it would find."""


def found(owner: psycopg.Connection) -> dict[str, list[object]]:
    """Return what is false in the database, by name; empty if nothing is."""
    answers = {name: [row[0] for row in owner.execute(sql)] for name, sql in QUESTIONS.items()}
    answers |= dict(_across_workspaces(owner))
    answers["an event chain that does not verify"] = list(_broken_chains(owner))
    return {name: rows for name, rows in answers.items() if rows}


def _across_workspaces(owner: psycopg.Connection) -> Iterator[tuple[str, list[object]]]:
    """Ask of every reference between rows of a workspace whether it points across, or nowhere."""
    for table, fields in FIELDS.items():
        for column, described in fields.items():
            related = described.related_model
            if not (isinstance(related, type) and issubclass(related, WorkspaceRow)):
                continue
            question = f"""
                SELECT a.id FROM {table} a LEFT JOIN {related._meta.db_table} b ON b.id = a.{column}
                WHERE a.{column} IS NOT NULL AND b.workspace_id IS DISTINCT FROM a.workspace_id
            """
            rows = owner.execute(question).fetchall()
            yield f"{table}.{column} points across", [row[0] for row in rows]


def _broken_chains(owner: psycopg.Connection) -> Iterator[object]:
    chains: dict[int, list[tuple[object, ...]]] = defaultdict(list)
    for intent, *event in owner.execute(
        "SELECT intent_id, number, previous_digest, digest, body, from_state, to_state FROM actions_intentevent ORDER BY intent_id, number"
    ):
        chains[intent].append(tuple(event))
    intents = owner.execute(
        "SELECT id, public_id, state, event_count FROM actions_intent"
    ).fetchall()
    for intent, public_id, state, count in intents:
        if not _verifies(chains.pop(intent, []), public_id=public_id, state=state, count=count):
            yield intent
    yield from chains


def _verifies(events: list[tuple[object, ...]], *, public_id: str, state: str, count: int) -> bool:
    digest, at = "", ""
    for expected, (number, previous, own, body, origin, to) in enumerate(events, start=1):
        content = json.loads(str(body))
        said = (content["number"], content["from"], content["to"], content["intent"])
        if (number, previous, said) != (expected, digest, (expected, origin, to, public_id)):
            return False
        if origin != at or own != sha256((digest + str(body)).encode()).hexdigest():
            return False
        digest, at = str(own), str(to)
    return (at, len(events)) == (state, count)


class Witness:
    """Keeps, on the owner's side, what each guarded row was when it came, and how it changed."""

    def __init__(self, owner: psycopg.Connection) -> None:
        self._owner = owner

    def set_up(self) -> None:
        """Install the witness: triggers that run as the owner."""
        self._owner.execute(
            "CREATE TABLE witness_row (place text, row_id bigint, digest text, PRIMARY KEY (place, row_id))"
        )
        self._owner.execute(
            "CREATE TABLE witness_change (place text, row_id bigint, before jsonb, after jsonb)"
        )
        for table, model in MODELS.items():
            for statement in self._triggers(table, model):
                self._owner.execute(statement)

    def tear_down(self) -> None:
        """Take the witness away, with all that it kept."""
        for table in MODELS:
            self._owner.execute(f"DROP FUNCTION IF EXISTS witness_{table} CASCADE")
        self._owner.execute("DROP TABLE IF EXISTS witness_row, witness_change")

    def contradictions(self) -> dict[str, list[object]]:
        """Return the rows that are not what they were when they came, by what is wrong."""
        answers: dict[str, list[object]] = {}
        for table, model in MODELS.items():
            question = f"""
                SELECT w.row_id FROM witness_row w LEFT JOIN {table} t ON t.id = w.row_id
                WHERE w.place = '{table}' AND ({_digest(model, "t")}) IS DISTINCT FROM w.digest {_unless_deletable(model)}
                UNION ALL SELECT t.id FROM {table} t WHERE NOT EXISTS (SELECT 1 FROM witness_row w WHERE w.place = '{table}' AND w.row_id = t.id)
            """
            rows = self._owner.execute(question).fetchall()
            answers[f"{table}: a row that never changes has changed"] = [row[0] for row in rows]
            answers[f"{table}: written twice"] = list(self._written_twice(table, model))
        answers["a path that did not only grow"] = list(self._shrunk_paths())
        return {name: rows for name, rows in answers.items() if rows}

    def _written_twice(self, table: str, model: type[GuardedRow]) -> Iterator[object]:
        for column in model.write_once:
            rows = self._owner.execute(
                "SELECT row_id FROM witness_change WHERE place = %s AND before -> %s <> 'null' AND before -> %s IS DISTINCT FROM after -> %s",
                [table, column, column, column],
            )
            yield from (row[0] for row in rows)

    def _shrunk_paths(self) -> Iterator[object]:
        rows = self._owner.execute(
            "SELECT row_id, before -> 'path', after -> 'path' FROM witness_change WHERE place = 'tickets_ticket'"
        )
        return (ticket for ticket, before, after in rows if after[: len(before)] != before)

    def _triggers(self, table: str, model: type[GuardedRow]) -> Iterator[str]:
        yield f"""
            CREATE FUNCTION witness_{table}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $w$
            BEGIN
                IF TG_OP = 'INSERT' THEN INSERT INTO witness_row VALUES ('{table}', NEW.id, {_digest(model, "NEW")});
                ELSE INSERT INTO witness_change VALUES ('{table}', NEW.id, to_jsonb(OLD), to_jsonb(NEW)); END IF;
                RETURN NULL;
            END $w$
        """
        yield (
            f"CREATE TRIGGER zz_witness AFTER INSERT OR UPDATE ON {table} "
            f"FOR EACH ROW EXECUTE FUNCTION witness_{table}()"
        )


def _digest(model: type[GuardedRow], row: str) -> str:
    changeable = {*model.mutable, *model.write_once}
    fields: list[models.Field[object, object]] = list(model._meta.concrete_fields)
    columns = ", ".join(f"{row}.{f.column}" for f in fields if f.column not in changeable)
    return f"md5(ROW({columns})::text)"


def _unless_deletable(model: type[GuardedRow]) -> str:
    return "AND t.id IS NOT NULL" if model.deletable else ""
