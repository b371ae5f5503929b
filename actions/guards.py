"""What the database holds about intents, evidence and closing, for every caller, raw SQL included.

Promises: no state without its proof, no transition off the table or without its event, no attempt past the window, no evidence bound twice,
no ticket resolved without outcomes. The arcs come from `actions.states`; a test compares the installed triggers with this text.
Does not replace the code's own checks: it is the guard behind them. Deferred guards look at commit, since rows arrive one by one.
"""

from collections.abc import Iterator

from actions.durations import Durations
from actions.states import PAST_GATE, SETTLED, State, sql_arcs
from integrations.guards import SEARCH_PATH, Guard, refuse

INTENT = "actions_intent"
MAX_SENDS = Durations().max_sends
ABSENCES_APART_SECONDS = int(Durations().absences_apart.total_seconds())


def _quoted(states: "Iterator[State] | list[State]") -> str:
    return ", ".join(f"'{state}'" for state in sorted(states))


_SENT_UNSETTLED = _quoted(
    [State.EXECUTING, State.UNKNOWN, State.PENDING, State.PARTIALLY_CONFIRMED]
)
_ARCS = ", ".join(f"('{origin}', '{to}')" for origin, to in sql_arcs())

FUNCTIONS = (
    # The newest echo of the object that is bound to an intent: null if there is none.
    f"""
    CREATE OR REPLACE FUNCTION public.actions_newest_echo(of_intent bigint) RETURNS bigint LANGUAGE sql STABLE {SEARCH_PATH} AS $fn$
        SELECT e.id FROM public.actions_echo e
        JOIN public.actions_externalobject o ON o.id = e.external_object_id
        WHERE o.intent_id = of_intent ORDER BY e.observed_at DESC, e.id DESC LIMIT 1
    $fn$
    """,
    # What the parts of an echo say: `succeeded`, `failed`, `mixed` or `open`; null unless all of its parts are here.
    f"""
    CREATE OR REPLACE FUNCTION public.actions_echo_standing(of_echo bigint) RETURNS text LANGUAGE sql STABLE {SEARCH_PATH} AS $fn$
        SELECT CASE
            WHEN count(p.id) = 0 OR count(p.id) <> max(e.part_count) THEN NULL
            WHEN bool_or(p.standing = 'open') THEN 'open'
            WHEN bool_and(p.standing = 'succeeded') THEN 'succeeded'
            WHEN bool_and(p.standing = 'failed') THEN 'failed'
            ELSE 'mixed' END
        FROM public.actions_echo e LEFT JOIN public.actions_echopart p ON p.echo_id = e.id
        WHERE e.id = of_echo
    $fn$
    """,
    # Does an echo say exactly this money, on this target, with this marker?
    f"""
    CREATE OR REPLACE FUNCTION public.actions_echo_is_as_asked(of_echo bigint, of_intent bigint) RETURNS boolean LANGUAGE sql STABLE {SEARCH_PATH} AS $fn$
        SELECT (e.target_identifier = t.identifier) AND (e.marker = i.marker) AND (i.amount IS NULL OR (
            (SELECT sum(p.amount) FROM public.actions_echopart p WHERE p.echo_id = e.id) = i.amount
            AND NOT EXISTS (SELECT 1 FROM public.actions_echopart p WHERE p.echo_id = e.id AND p.currency <> i.currency)))
        FROM public.actions_echo e, public.actions_intent i JOIN public.actions_target t ON t.id = i.target_id
        WHERE e.id = of_echo AND i.id = of_intent
    $fn$
    """,
    # Is a ticket's standing what its status says? Returns the sentence at fault, or null.
    f"""
    CREATE OR REPLACE FUNCTION public.actions_ticket_fault(of_ticket bigint) RETURNS text LANGUAGE plpgsql STABLE {SEARCH_PATH} AS $fn$
    DECLARE t public.tickets_ticket; r public.tickets_resolution;
    BEGIN
        SELECT * INTO t FROM public.tickets_ticket WHERE id = of_ticket;
        SELECT * INTO r FROM public.tickets_resolution WHERE ticket_id = of_ticket AND reopened_at IS NULL;
        IF t.status NOT IN ('resolved', 'closed_unresolved') THEN
            RETURN CASE WHEN r.id IS NOT NULL THEN 'an open ticket has a standing resolution' END;
        END IF;
        IF r.id IS NULL OR r.status <> t.status OR r.resolver IS DISTINCT FROM t.resolver THEN
            RETURN 'a closed ticket needs its resolution';
        END IF;
        IF t.status = 'closed_unresolved' THEN
            RETURN CASE WHEN EXISTS (
                SELECT 1 FROM public.actions_intent i WHERE i.ticket_id = of_ticket AND i.state NOT IN ({_quoted(SETTLED)})
                AND NOT (i.state IN ({_SENT_UNSETTLED}) AND r.closed_by_kind IN ('human_node', 'brand_team'))
            ) THEN 'a ticket closes over an unsettled intent only if it was sent and a person closes it' END;
        END IF;
        IF EXISTS (SELECT 1 FROM public.actions_intent i WHERE i.ticket_id = of_ticket AND i.state NOT IN ({_quoted(SETTLED)})) THEN
            RETURN 'a ticket resolves over no unsettled intent';
        END IF;
        IF NOT EXISTS (SELECT 1 FROM public.tickets_request q WHERE q.ticket_id = of_ticket) THEN
            RETURN 'a resolved ticket needs a request';
        END IF;
        IF EXISTS (
            SELECT 1 FROM public.tickets_request q WHERE q.ticket_id = of_ticket
            AND NOT EXISTS (SELECT 1 FROM public.tickets_request newer WHERE newer.revises_id = q.id)
            AND NOT EXISTS (
                SELECT 1 FROM public.actions_outcome o LEFT JOIN public.actions_intent i ON i.id = o.intent_id
                WHERE o.request_id = q.id AND (o.intent_id IS NULL OR i.state IN ('confirmed', 'accepted'))
            )
        ) THEN RETURN 'a resolved ticket needs an outcome for each request'; END IF;
        IF t.connection_id IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM public.actions_intent i WHERE i.ticket_id = of_ticket AND i.kind = 'reply' AND i.state = 'confirmed'
        ) THEN RETURN 'a resolved ticket needs its closing reply delivered'; END IF;
        RETURN NULL;
    END
    $fn$
    """,
)


def _ticket_standing(table: str, ticket: str) -> Guard:
    name = f"{table}_ticket_standing"
    return Guard(
        name=name,
        table=table,
        when="AFTER INSERT OR UPDATE",
        deferred=True,
        declare="fault text;",
        body=f"""
        fault := public.actions_ticket_fault({ticket});
        IF fault IS NOT NULL THEN
            RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = '{name}', MESSAGE = fault;
        END IF;
        RETURN NULL;""",
    )


INTENT_BIRTH = Guard(
    name="actions_intent_birth",
    table=INTENT,
    when="BEFORE INSERT",
    declare="standing text;",
    body=f"""
    IF NEW.state <> 'proposed' OR NEW.event_count <> 1 OR NEW.first_sent_at IS NOT NULL OR NEW.confirmed_at IS NOT NULL
       OR NEW.decision_id IS NOT NULL OR NEW.resend_ended_at IS NOT NULL OR NEW.set_aside_at IS NOT NULL THEN
        {refuse("actions_intent_birth", "an intent is born proposed, with its first event and nothing sent")}
    END IF;
    -- Locks the ticket first, so that it cannot be closed over an intent that is being born.
    SELECT status INTO standing FROM public.tickets_ticket WHERE id = NEW.ticket_id FOR SHARE;
    IF standing NOT IN ('open', 'in_progress') THEN
        {refuse("actions_intent_birth", "a closed or handed-over ticket takes no new intent: reopen it, or take it back")}
    END IF;
    IF NOT EXISTS (SELECT 1 FROM public.tickets_request WHERE id = NEW.request_id AND ticket_id = NEW.ticket_id) THEN
        {refuse("actions_intent_birth", "an intent serves a request of its own ticket")}
    END IF;
    IF NOT EXISTS (SELECT 1 FROM public.actions_target WHERE id = NEW.target_id AND connection_id = NEW.connection_id) THEN
        {refuse("actions_intent_birth", "an intent acts on a target of its own connection")}
    END IF;
    RETURN NEW;""",
)

INTENT_MOVES = Guard(
    name="actions_intent_moves",
    table=INTENT,
    when="BEFORE UPDATE",
    body=f"""
    IF NEW.event_count NOT IN (OLD.event_count, OLD.event_count + 1) THEN
        {refuse("actions_intent_moves", "events are counted one by one")}
    END IF;
    IF NEW.state <> OLD.state THEN
        IF (OLD.state, NEW.state) NOT IN (VALUES {_ARCS}) THEN
            {refuse("actions_intent_moves", "the table of states has no such arc")}
        END IF;
        IF NEW.event_count = OLD.event_count THEN
            {refuse("actions_intent_moves", "a transition leaves an event")}
        END IF;
    END IF;
    RETURN NEW;""",
)

INTENT_FROZEN = Guard(
    name="actions_intent_frozen",
    table=INTENT,
    when="BEFORE UPDATE",
    body=f"""
    IF OLD.first_sent_at IS NOT NULL AND
       ROW(NEW.document, NEW.api_version, NEW.body, NEW.body_digest) IS DISTINCT FROM ROW(OLD.document, OLD.api_version, OLD.body, OLD.body_digest) THEN
        {refuse("actions_intent_frozen", "the frozen request never changes once a send may have left")}
    END IF;
    IF OLD.first_sent_at IS NOT NULL AND
       ROW(NEW.first_sent_at, NEW.resend_until) IS DISTINCT FROM ROW(OLD.first_sent_at, OLD.resend_until) AND
       (NEW.first_sent_at IS NOT NULL OR EXISTS (
            SELECT 1 FROM public.actions_attempt a WHERE a.intent_id = NEW.id AND a.outcome IS DISTINCT FROM 'not_sent')) THEN
        {refuse("actions_intent_frozen", "the window starts at the first attempt that is not proven unsent, and stays")}
    END IF;
    IF NEW.settles_at < OLD.settles_at THEN
        {refuse("actions_intent_frozen", "the moment by which a lost request has landed never comes earlier")}
    END IF;
    RETURN NEW;""",
)

INTENT_PROOF = Guard(
    name="actions_intent_proof",
    table=INTENT,
    when="BEFORE UPDATE",
    declare="echo bigint; standing text; scale numeric;",
    body=f"""
    IF NEW.state = OLD.state AND NEW.decision_id IS NOT DISTINCT FROM OLD.decision_id THEN RETURN NEW; END IF;
    IF NEW.state IN ({_quoted(PAST_GATE)}) AND NOT EXISTS (
        SELECT 1 FROM public.actions_gatedecision d WHERE d.id = NEW.decision_id AND d.intent_id = NEW.id AND d.phase = 'worker' AND (
            d.ruling = 'allow' OR (d.ruling = 'approve' AND EXISTS (
                SELECT 1 FROM public.actions_approval p WHERE p.intent_id = NEW.id AND p.approves AND p.digest = d.shown_digest
                AND p.used_at IS NOT NULL AND p.used_at < p.expires_at)))) THEN
        {refuse("actions_intent_proof", "past the gate needs the gate''s own yes, or an approval of exactly what was shown")}
    END IF;
    IF NEW.state = 'executing' AND NOT EXISTS (
        SELECT 1 FROM public.actions_attempt a WHERE a.intent_id = NEW.id AND a.closed_at IS NULL) THEN
        {refuse("actions_intent_proof", "executing needs an open attempt")}
    END IF;
    IF NEW.state = 'unknown' AND NOT EXISTS (
        SELECT 1 FROM public.actions_attempt a WHERE a.intent_id = NEW.id AND a.outcome IS DISTINCT FROM 'not_sent') THEN
        {refuse("actions_intent_proof", "unknown needs an attempt that may have left")}
    END IF;
    IF NEW.state IN ('authorized', 'withdrawn', 'refused', 'held', 'awaiting_approval') AND EXISTS (
        SELECT 1 FROM public.actions_attempt a WHERE a.intent_id = NEW.id AND a.outcome IS DISTINCT FROM 'not_sent') THEN
        {refuse("actions_intent_proof", "what may have been sent is not unsent again")}
    END IF;
    IF NEW.state = 'failed' AND NEW.state_reason = 'absent' THEN
        SELECT c.time_scale INTO scale FROM public.integrations_connection c WHERE c.id = NEW.connection_id;
        IF NOT EXISTS (
            SELECT 1 FROM public.actions_finding f JOIN public.actions_read r ON r.id = f.read_id
            JOIN public.actions_finding g ON g.intent_id = f.intent_id JOIN public.actions_read s ON s.id = g.read_id
            WHERE f.intent_id = NEW.id AND f.result = 'absent' AND g.result = 'absent' AND r.result = 'complete' AND s.result = 'complete'
            AND r.target_id = NEW.target_id AND s.target_id = NEW.target_id
            AND r.started_at >= NEW.settles_at AND s.started_at >= r.started_at + interval '{ABSENCES_APART_SECONDS} seconds' * scale
        ) THEN {refuse("actions_intent_proof", "absent needs two complete findings of absence, apart, after the last send could still land")} END IF;
        RETURN NEW;
    END IF;
    IF NEW.state = 'failed' AND NEW.state_reason = 'rejected' THEN
        IF NOT EXISTS (SELECT 1 FROM public.actions_attempt a WHERE a.intent_id = NEW.id AND a.outcome = 'rejected')
           OR EXISTS (SELECT 1 FROM public.actions_attempt a WHERE a.intent_id = NEW.id
                      AND (a.closed_at IS NULL OR (a.outcome = 'unknown' AND a.resolved_at IS NULL))) THEN
            {refuse("actions_intent_proof", "a rejection is final only if no other attempt is unresolved")}
        END IF;
        RETURN NEW;
    END IF;
    IF NEW.state IN ('pending', 'partially_confirmed', 'confirmed', 'accepted', 'reversed', 'failed') THEN
        echo := public.actions_newest_echo(NEW.id);
        standing := public.actions_echo_standing(echo);
        IF echo IS NULL THEN
            {refuse("actions_intent_proof", "this state needs an external object bound to the intent, and an echo of it")}
        END IF;
        IF NEW.state = 'confirmed' AND NOT (
            public.actions_echo_is_as_asked(echo, NEW.id) AND (NEW.amount IS NULL OR standing IS NOT DISTINCT FROM 'succeeded')) THEN
            {refuse("actions_intent_proof", "confirmed needs an echo that says success, with exactly what was asked")}
        END IF;
        IF NEW.state = 'failed' AND standing IS DISTINCT FROM 'failed' THEN
            {refuse("actions_intent_proof", "failed needs a rejection, absence, or an echo whose parts all failed")}
        END IF;
        IF NEW.state = 'partially_confirmed' AND standing IS DISTINCT FROM 'mixed' THEN
            {refuse("actions_intent_proof", "partially confirmed needs final parts that differ")}
        END IF;
        IF NEW.state = 'reversed' AND standing IS NOT DISTINCT FROM 'succeeded' AND public.actions_echo_is_as_asked(echo, NEW.id) THEN
            {refuse("actions_intent_proof", "reversed needs an echo that says otherwise")}
        END IF;
    END IF;
    RETURN NEW;""",
)

INTENT_EVENT = Guard(
    name="actions_intent_event",
    table=INTENT,
    when="AFTER INSERT OR UPDATE",
    deferred=True,
    body=f"""
    IF NOT EXISTS (
        SELECT 1 FROM public.actions_intentevent e WHERE e.intent_id = NEW.id AND e.number = NEW.event_count AND e.to_state = NEW.state
        AND e.from_state = CASE WHEN TG_OP = 'INSERT' THEN '' WHEN NEW.event_count = OLD.event_count THEN e.from_state ELSE OLD.state END
    ) THEN {refuse("actions_intent_event", "each transition has its event in the same transaction")} END IF;
    RETURN NULL;""",
)

EVENT_CHAIN = Guard(
    name="actions_intentevent_chain",
    table="actions_intentevent",
    when="BEFORE INSERT",
    declare="previous text; content jsonb;",
    body=f"""
    SELECT e.digest INTO previous FROM public.actions_intentevent e WHERE e.intent_id = NEW.intent_id AND e.number = NEW.number - 1;
    IF NEW.previous_digest <> COALESCE(previous, '') OR (previous IS NULL AND NEW.number <> 1) THEN
        {refuse("actions_intentevent_chain", "an event names the digest of the one before it")}
    END IF;
    IF NEW.digest <> encode(sha256(convert_to(NEW.previous_digest || NEW.body, 'UTF8')), 'hex') THEN
        {refuse("actions_intentevent_chain", "an event''s digest covers the one before it and its own body")}
    END IF;
    content := NEW.body::jsonb;
    IF ROW(content->>'number', content->>'name', content->>'from', content->>'to', content->>'by_kind', content->>'by', content->>'reason')
       IS DISTINCT FROM ROW(NEW.number::text, NEW.name, NEW.from_state, NEW.to_state, NEW.by_kind, NEW.by_identity, NEW.reason)
       OR (content->>'at')::timestamptz IS DISTINCT FROM NEW.at
       OR content->>'intent' IS DISTINCT FROM (SELECT i.public_id FROM public.actions_intent i WHERE i.id = NEW.intent_id) THEN
        {refuse("actions_intentevent_chain", "an event''s columns say what its body says")}
    END IF;
    RETURN NEW;""",
)

EVENT_COUNTED = Guard(
    name="actions_intentevent_counted",
    table="actions_intentevent",
    when="AFTER INSERT",
    deferred=True,
    body=f"""
    IF NOT EXISTS (SELECT 1 FROM public.actions_intent i WHERE i.id = NEW.intent_id AND i.event_count >= NEW.number) THEN
        {refuse("actions_intentevent_counted", "an event belongs to a move of its intent")}
    END IF;
    RETURN NULL;""",
)

ATTEMPT_BIRTH = Guard(
    name="actions_attempt_birth",
    table="actions_attempt",
    when="BEFORE INSERT",
    declare="i public.actions_intent;",
    body=f"""
    SELECT * INTO i FROM public.actions_intent WHERE id = NEW.intent_id;
    IF NEW.closed_at IS NOT NULL OR i.state NOT IN ('authorized', 'unknown') THEN
        {refuse("actions_attempt_birth", "an attempt is opened on an authorized or an unknown intent")}
    END IF;
    IF NEW.number > {MAX_SENDS} OR NEW.number <> 1 + (SELECT count(*) FROM public.actions_attempt a WHERE a.intent_id = NEW.intent_id) THEN
        {refuse("actions_attempt_birth", f"attempts are counted one by one, up to {MAX_SENDS}")}
    END IF;
    IF NEW.key <> i.key OR NEW.request_digest <> i.body_digest THEN
        {refuse("actions_attempt_birth", "bytes sent are bytes stored, under the intent''s own key")}
    END IF;
    IF i.resend_ended_at IS NOT NULL OR i.first_sent_at IS NULL OR NEW.send_by > i.resend_until THEN
        {refuse("actions_attempt_birth", "past the window, or after the right to resend has ended, nothing is sent")}
    END IF;
    IF EXISTS (SELECT 1 FROM public.actions_attempt a WHERE a.intent_id = NEW.intent_id AND a.app <> NEW.app AND a.outcome IS DISTINCT FROM 'not_sent') THEN
        {refuse("actions_attempt_birth", "after a change of app nothing is resent")}
    END IF;
    IF EXISTS (SELECT 1 FROM public.actions_attempt a WHERE a.intent_id = NEW.intent_id AND a.outcome = 'unknown' AND a.resolved_at IS NULL) THEN
        {refuse("actions_attempt_birth", "nothing is resent while an earlier attempt is unresolved: read first")}
    END IF;
    RETURN NEW;""",
)

OBJECT_BINDING = Guard(
    name="actions_externalobject_binding",
    table="actions_externalobject",
    when="BEFORE INSERT OR UPDATE",
    body=f"""
    IF NEW.intent_id IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM public.actions_intent i WHERE i.id = NEW.intent_id AND i.target_id = NEW.target_id AND i.connection_id = NEW.connection_id
    ) THEN {refuse("actions_externalobject_binding", "an external object belongs to an intent on its own target")} END IF;
    RETURN NEW;""",
)

ECHO_SOURCE = Guard(
    name="actions_echo_source",
    table="actions_echo",
    when="BEFORE INSERT",
    body=f"""
    IF NEW.attempt_id IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM public.actions_attempt a JOIN public.actions_externalobject o ON o.intent_id = a.intent_id
        WHERE a.id = NEW.attempt_id AND o.id = NEW.external_object_id
    ) THEN {refuse("actions_echo_source", "an echo in an answer speaks of the attempt''s own intent")} END IF;
    IF NEW.read_id IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM public.actions_read r JOIN public.actions_externalobject o ON o.target_id = r.target_id
        WHERE r.id = NEW.read_id AND o.id = NEW.external_object_id
    ) THEN {refuse("actions_echo_source", "an echo in a read speaks of the read''s own target")} END IF;
    RETURN NEW;""",
)

ECHO_PARTS = Guard(
    name="actions_echopart_count",
    table="actions_echopart",
    when="BEFORE INSERT",
    body=f"""
    IF (SELECT count(*) FROM public.actions_echopart p WHERE p.echo_id = NEW.echo_id)
       >= (SELECT e.part_count FROM public.actions_echo e WHERE e.id = NEW.echo_id) THEN
        {refuse("actions_echopart_count", "an echo has the parts it said it has")}
    END IF;
    RETURN NEW;""",
)

FINDING_TARGET = Guard(
    name="actions_finding_target",
    table="actions_finding",
    when="BEFORE INSERT",
    body=f"""
    IF NOT EXISTS (SELECT 1 FROM public.actions_read r JOIN public.actions_intent i ON i.target_id = r.target_id
                   WHERE r.id = NEW.read_id AND i.id = NEW.intent_id AND (r.result <> 'error' OR NEW.result = 'nothing_said')) THEN
        {refuse("actions_finding_target", "a finding speaks of an intent on the target that was read, and an error says nothing")}
    END IF;
    RETURN NEW;""",
)

OUTCOME_FACT = Guard(
    name="actions_outcome_fact",
    table="actions_outcome",
    when="BEFORE INSERT",
    declare="owner bigint; newest bigint; q public.tickets_request; i public.actions_intent;",
    body=f"""
    SELECT * INTO q FROM public.tickets_request WHERE id = NEW.request_id;
    IF NEW.external_object_id IS NULL THEN RETURN NEW; END IF;
    SELECT o.intent_id INTO owner FROM public.actions_externalobject o WHERE o.id = NEW.external_object_id;
    IF owner IS DISTINCT FROM NEW.intent_id THEN
        {refuse("actions_outcome_fact", "an outcome names the intent that its object belongs to")}
    END IF;
    SELECT max(e.id) INTO newest FROM public.actions_echo e WHERE e.external_object_id = NEW.external_object_id;
    IF newest IS NULL THEN {refuse("actions_outcome_fact", "an outcome is a fact that the platform echoed")} END IF;
    SELECT * INTO i FROM public.actions_intent WHERE id = NEW.intent_id;
    IF NEW.intent_id IS NOT NULL AND (i.ticket_id <> q.ticket_id OR i.state NOT IN ('confirmed', 'accepted')) THEN
        {refuse("actions_outcome_fact", "an outcome by an intent needs that intent confirmed or accepted, on the request''s ticket")}
    END IF;
    IF NEW.statement_id IS NULL AND (
        public.actions_echo_standing(newest) IS DISTINCT FROM 'succeeded'
        OR (NEW.intent_id IS NOT NULL AND (i.kind <> q.kind OR i.state <> 'confirmed'))
        OR (q.target <> '' AND q.target <> (SELECT e.target_identifier FROM public.actions_echo e WHERE e.id = newest))
        OR (q.amount IS NOT NULL AND (
            q.amount <> (SELECT sum(p.amount) FROM public.actions_echopart p WHERE p.echo_id = newest)
            OR EXISTS (SELECT 1 FROM public.actions_echopart p WHERE p.echo_id = newest AND p.currency <> q.currency)))) THEN
        {refuse("actions_outcome_fact", "an outcome has the kind, target, amount and currency asked, or a person says why it fulfils the request")}
    END IF;
    RETURN NEW;""",
)

APPROVAL_PERSON = Guard(
    name="actions_approval_person",
    table="actions_approval",
    when="BEFORE INSERT",
    body=f"""
    IF EXISTS (SELECT 1 FROM public.actions_intent i WHERE i.id = NEW.intent_id
               AND i.proposer_kind = NEW.approver_kind AND i.proposer_identity = NEW.approver_identity) THEN
        {refuse("actions_approval_person", "the approver is not the proposer")}
    END IF;
    IF NOT EXISTS (SELECT 1 FROM public.actions_gatedecision d WHERE d.id = NEW.decision_id AND d.intent_id = NEW.intent_id
                   AND d.ruling = 'approve' AND d.shown_digest = NEW.digest) THEN
        {refuse("actions_approval_person", "an approval covers exactly what a decision showed")}
    END IF;
    RETURN NEW;""",
)

TICKET_PATH = Guard(
    name="actions_ticket_path",
    table="tickets_ticket",
    when="BEFORE UPDATE",
    body=f"""
    IF jsonb_typeof(NEW.path) <> 'array' OR jsonb_array_length(NEW.path) < jsonb_array_length(OLD.path) OR EXISTS (
        SELECT 1 FROM generate_series(0, jsonb_array_length(OLD.path) - 1) n WHERE OLD.path->n IS DISTINCT FROM NEW.path->n
    ) THEN {refuse("actions_ticket_path", "the path only grows")} END IF;
    RETURN NEW;""",
)

GUARDS = (
    INTENT_BIRTH,
    INTENT_MOVES,
    INTENT_FROZEN,
    INTENT_PROOF,
    INTENT_EVENT,
    EVENT_CHAIN,
    EVENT_COUNTED,
    ATTEMPT_BIRTH,
    OBJECT_BINDING,
    ECHO_SOURCE,
    ECHO_PARTS,
    FINDING_TARGET,
    OUTCOME_FACT,
    APPROVAL_PERSON,
    TICKET_PATH,
    _ticket_standing("tickets_ticket", "NEW.id"),
    _ticket_standing("tickets_resolution", "NEW.ticket_id"),
    _ticket_standing("tickets_request", "NEW.ticket_id"),
    _ticket_standing(INTENT, "NEW.ticket_id"),
)
"""Every guard of actions, in no particular order: PostgreSQL runs triggers of one table by name."""
