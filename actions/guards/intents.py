"""Guards on intents and their events: birth, arcs, frozen request, window, proofs, the chain.

Promises: no state without its proof, no transition off the table or without its event; the arcs
come from `actions.states`.
Does not guard evidence: what a proof is made of stands in `actions.guards.evidence`.
"""

from actions.durations import Durations
from actions.guards.functions import quoted
from actions.states import PAST_GATE, SETTLED, FailedReason, State, sql_arcs
from integrations.guards import Guard, refuse

INTENT = "actions_intent"
_EVENT = "actions_intentevent"
_ABSENCES_APART_SECONDS = int(Durations().absences_apart.total_seconds())
_RESEND_FOR_SECONDS = int(Durations().resend_for.total_seconds())
_ARCS = ", ".join(f"('{origin}', '{to}')" for origin, to in sql_arcs())
_NEVER_SENT = quoted(
    [State.AUTHORIZED, State.WITHDRAWN, State.REFUSED, State.HELD, State.AWAITING_APPROVAL]
)
_ECHOED = quoted(
    [
        State.PENDING,
        State.PARTIALLY_CONFIRMED,
        State.CONFIRMED,
        State.ACCEPTED,
        State.REVERSED,
        State.FAILED,
    ]
)
_PEOPLE = "'human_node', 'brand_team'"
_MAY_HAVE_LEFT = """EXISTS (
        SELECT 1 FROM public.actions_attempt a
        WHERE a.intent_id = NEW.id AND a.outcome IS DISTINCT FROM 'not_sent')"""
_HAS_OBJECT = "EXISTS (SELECT 1 FROM public.actions_externalobject o WHERE o.intent_id = NEW.id)"

INTENT_BIRTH = Guard(
    name="actions_intent_birth",
    table=INTENT,
    when="BEFORE INSERT",
    declare="standing text; earlier public.actions_intent;",
    body=f"""
    IF NEW.state <> 'proposed' OR NEW.event_count <> 1 OR NEW.first_sent_at IS NOT NULL
       OR NEW.confirmed_at IS NOT NULL OR NEW.decision_id IS NOT NULL OR NEW.resend_ended_at IS NOT NULL
       OR NEW.set_aside_at IS NOT NULL THEN
        {refuse("actions_intent_birth", "an intent is born proposed, with its first event and nothing sent")}
    END IF;
    -- Locks the ticket first, so that it cannot be closed over an intent that is being born.
    SELECT status INTO standing FROM public.tickets_ticket WHERE id = NEW.ticket_id FOR SHARE;
    IF standing IS NULL OR standing NOT IN ('open', 'in_progress') THEN
        {refuse("actions_intent_birth", "a closed or handed-over ticket takes no new intent: reopen it, or take it back")}
    END IF;
    IF NOT EXISTS (SELECT 1 FROM public.tickets_request
                   WHERE id = NEW.request_id AND ticket_id = NEW.ticket_id) THEN
        {refuse("actions_intent_birth", "an intent serves a request of its own ticket")}
    END IF;
    IF NOT EXISTS (SELECT 1 FROM public.actions_target
                   WHERE id = NEW.target_id AND connection_id = NEW.connection_id) THEN
        {refuse("actions_intent_birth", "an intent acts on a target of its own connection")}
    END IF;
    IF NEW.repeat_of_id IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM public.actions_intent i WHERE i.id = NEW.repeat_of_id AND i.ticket_id = NEW.ticket_id
        AND i.kind = NEW.kind AND i.occurrence = NEW.occurrence - 1) THEN
        {refuse("actions_intent_birth", "a repeat is the next occurrence of an intent of its ticket and kind")}
    END IF;
    IF NEW.repeat_of_id IS NOT NULL AND EXISTS (
        SELECT 1 FROM public.actions_intent i WHERE i.id = NEW.repeat_of_id
        AND i.state NOT IN ({quoted(SETTLED)}) AND i.set_aside_at IS NULL) THEN
        {refuse("actions_intent_birth", "nobody repeats what has not ended")}
    END IF;
    IF NEW.repeat_of_id IS NOT NULL AND NEW.proposer_kind NOT IN ({_PEOPLE}) AND EXISTS (
        WITH RECURSIVE earlier AS (
            SELECT i.id, i.repeat_of_id, i.state FROM public.actions_intent i WHERE i.id = NEW.repeat_of_id
            UNION ALL
            SELECT i.id, i.repeat_of_id, i.state FROM public.actions_intent i JOIN earlier e ON i.id = e.repeat_of_id)
        SELECT 1 FROM earlier WHERE state NOT IN ('refused', 'withdrawn')) THEN
        {refuse("actions_intent_birth", "what may have left is repeated by a person alone")}
    END IF;
    IF NEW.corrects_id IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM public.actions_intent i WHERE i.id = NEW.corrects_id AND i.ticket_id = NEW.ticket_id
        AND i.state IN ('failed', 'refused')) THEN
        {refuse("actions_intent_birth", "only what failed or was refused on the same ticket is corrected")}
    END IF;
    IF NEW.remainder_of_id IS NOT NULL THEN
        -- Locks it, so that two rests at one moment don't both find the same money missing.
        PERFORM 1 FROM public.actions_intent WHERE id = public.actions_rest_root(NEW.remainder_of_id) FOR NO KEY UPDATE;
        SELECT * INTO earlier FROM public.actions_intent WHERE id = NEW.remainder_of_id FOR NO KEY UPDATE;
        IF earlier.id IS NULL OR (earlier.ticket_id, earlier.target_id, earlier.currency) <> (NEW.ticket_id, NEW.target_id, NEW.currency)
           OR NOT (earlier.state = 'accepted' OR (earlier.state = 'reversed' AND NEW.proposer_kind IN ({_PEOPLE}))) THEN
            {refuse("actions_intent_birth", "a remainder follows an accepted or reversed intent of its ticket, target and currency; a reversed one is made up for by a person alone")}
        END IF;
        IF (NEW.amount <= public.actions_missing_money(earlier.id)) IS NOT TRUE THEN
            {refuse("actions_intent_birth", "a remainder is no more than what is missing of what was asked")}
        END IF;
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
        IF current_setting('transaction_isolation') <> 'read committed' THEN
            {refuse("actions_intent_moves", "a move looks at the newest evidence: read committed alone shows it")}
        END IF;
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
    -- The same bytes as `integrations.ports.FrozenRequest.digest`.
    IF NEW.body IS NOT NULL AND NEW.body_digest <> encode(sha256(
            convert_to(NEW.document, 'UTF8') || decode('00', 'hex') || convert_to(NEW.api_version, 'UTF8')
            || decode('00', 'hex') || NEW.body), 'hex') THEN
        {refuse("actions_intent_frozen", "the digest of the frozen request is that of its document, version and body")}
    END IF;
    IF NEW.resend_until > NEW.first_sent_at + interval '{_RESEND_FOR_SECONDS} seconds' THEN
        {refuse("actions_intent_frozen", "the window is never longer than a key may live")}
    END IF;
    IF NEW.settles_at < OLD.settles_at THEN
        {refuse("actions_intent_frozen", "the moment by which a lost request has landed never comes earlier")}
    END IF;
    IF OLD.first_sent_at IS NULL THEN RETURN NEW; END IF;
    IF ROW(NEW.document, NEW.api_version, NEW.body, NEW.body_digest)
       IS DISTINCT FROM ROW(OLD.document, OLD.api_version, OLD.body, OLD.body_digest) THEN
        {refuse("actions_intent_frozen", "the frozen request never changes once a send may have left")}
    END IF;
    IF ROW(NEW.first_sent_at, NEW.resend_until) IS DISTINCT FROM ROW(OLD.first_sent_at, OLD.resend_until)
       AND (NEW.first_sent_at IS NOT NULL OR {_MAY_HAVE_LEFT}) THEN
        {refuse("actions_intent_frozen", "the window starts at the first attempt that is not proven unsent, and stays")}
    END IF;
    IF NEW.decision_id IS DISTINCT FROM OLD.decision_id AND {_MAY_HAVE_LEFT} THEN
        {refuse("actions_intent_frozen", "what may have been sent keeps the decision that let it go")}
    END IF;
    RETURN NEW;""",
)

_GATE_PROOF = f"""
    IF NEW.decision_id IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM public.actions_gatedecision d WHERE d.id = NEW.decision_id AND d.intent_id = NEW.id) THEN
        {refuse("actions_intent_proof", "an intent stands on a decision about itself")}
    END IF;
    IF NEW.state IN ({quoted(PAST_GATE)}) AND NOT EXISTS (
        SELECT 1 FROM public.actions_gatedecision d
        WHERE d.id = NEW.decision_id AND d.intent_id = NEW.id AND d.phase = 'worker' AND (
            d.ruling = 'allow' OR (d.ruling = 'approve' AND EXISTS (
                SELECT 1 FROM public.actions_approval p
                JOIN public.actions_gatedecision shown ON shown.id = p.decision_id
                WHERE p.intent_id = NEW.id AND p.approves AND p.digest = d.shown_digest
                AND shown.ruling = 'approve' AND p.used_at IS NOT NULL)))) THEN
        {refuse("actions_intent_proof", "past the gate needs the gate''s own yes, or an approval of exactly what was shown")}
    END IF;
    IF NEW.state = 'authorized' AND EXISTS (
        SELECT 1 FROM public.actions_gatedecision d
        JOIN public.actions_gatedecision newer ON newer.intent_id = d.intent_id AND newer.number > d.number
        WHERE d.id = NEW.decision_id) THEN
        {refuse("actions_intent_proof", "what is authorized stands on the gate''s last word")}
    END IF;"""

_SEND_PROOF = f"""
    IF NEW.state = 'executing' AND NOT EXISTS (
        SELECT 1 FROM public.actions_attempt a WHERE a.intent_id = NEW.id AND a.closed_at IS NULL) THEN
        {refuse("actions_intent_proof", "executing needs an open attempt")}
    END IF;
    IF NEW.state = 'unknown' AND NOT {_MAY_HAVE_LEFT} THEN
        {refuse("actions_intent_proof", "unknown needs an attempt that may have left")}
    END IF;
    IF NEW.state IN ({_NEVER_SENT}) AND {_MAY_HAVE_LEFT} THEN
        {refuse("actions_intent_proof", "what may have been sent is not unsent again")}
    END IF;"""

_FAILED_PROOF = f"""
    IF NEW.state = 'failed' AND NEW.state_reason NOT IN ({", ".join(f"'{r}'" for r in FailedReason)}) THEN
        {refuse("actions_intent_proof", "failed says how: rejected, absent or money failed")}
    END IF;
    IF NEW.state = 'failed' AND NEW.state_reason <> 'money_failed' AND ({_HAS_OBJECT} OR EXISTS (
            SELECT 1 FROM public.actions_attempt a WHERE a.intent_id = NEW.id
            AND (a.closed_at IS NULL OR a.outcome = 'echoed'
                 OR (a.outcome = 'unknown' AND a.resolved_how IS DISTINCT FROM 'absent')))) THEN
        {refuse("actions_intent_proof", "failed needs every attempt closed without an effect, or resolved as absent")}
    END IF;
    IF NEW.state = 'failed' AND NEW.state_reason = 'absent' THEN
        SELECT c.time_scale INTO scale FROM public.integrations_connection c WHERE c.id = NEW.connection_id;
        IF NOT EXISTS (
            SELECT 1 FROM public.actions_finding f JOIN public.actions_read r ON r.id = f.read_id
            JOIN public.actions_finding g ON g.intent_id = f.intent_id JOIN public.actions_read s ON s.id = g.read_id
            WHERE f.intent_id = NEW.id AND f.result = 'absent' AND g.result = 'absent'
            AND r.result = 'complete' AND s.result = 'complete'
            AND r.target_id = NEW.target_id AND s.target_id = NEW.target_id AND r.started_at >= NEW.settles_at
            AND s.started_at >= r.started_at + interval '{_ABSENCES_APART_SECONDS} seconds' * scale
        ) THEN {refuse("actions_intent_proof", "absent needs two complete findings of absence, apart, after the last send could still land")} END IF;
        RETURN NEW;
    END IF;
    IF NEW.state = 'failed' AND NEW.state_reason = 'rejected' THEN
        IF NOT EXISTS (SELECT 1 FROM public.actions_attempt a
                       WHERE a.intent_id = NEW.id AND a.outcome = 'rejected') THEN
            {refuse("actions_intent_proof", "rejected needs an attempt that the platform rejected")}
        END IF;
        RETURN NEW;
    END IF;"""

_ECHO_PROOF = f"""
    IF NEW.state IN ({_ECHOED}) THEN
        echo := public.actions_newest_echo(
            (SELECT o.id FROM public.actions_externalobject o WHERE o.intent_id = NEW.id));
        standing := public.actions_echo_standing(echo);
        as_asked := COALESCE(public.actions_echo_is_as_asked(echo, NEW.id), false)
            AND COALESCE(standing = 'succeeded' OR (standing = 'none' AND NEW.amount IS NULL), false);
        IF echo IS NULL THEN
            {refuse("actions_intent_proof", "this state needs an external object bound to the intent, and an echo of it")}
        END IF;
        IF NEW.state = 'confirmed' AND NOT as_asked THEN
            {refuse("actions_intent_proof", "confirmed needs an echo that says success, with exactly what was asked")}
        END IF;
        IF NEW.state = 'failed' AND standing IS DISTINCT FROM 'failed' THEN
            {refuse("actions_intent_proof", "money failed needs an echo whose parts all failed")}
        END IF;
        IF NEW.state = 'partially_confirmed' AND standing IS DISTINCT FROM 'mixed' THEN
            {refuse("actions_intent_proof", "partially confirmed needs final parts that differ")}
        END IF;
        IF NEW.state = 'reversed' AND as_asked THEN
            {refuse("actions_intent_proof", "reversed needs an echo that says otherwise")}
        END IF;
    END IF;"""

INTENT_PROOF = Guard(
    name="actions_intent_proof",
    table=INTENT,
    when="BEFORE UPDATE",
    declare="echo bigint; standing text; as_asked boolean; scale numeric;",
    body=f"""
    IF NEW.state = OLD.state AND NEW.decision_id IS NOT DISTINCT FROM OLD.decision_id
       AND (NEW.state <> 'failed' OR NEW.state_reason = OLD.state_reason) THEN
        RETURN NEW;
    END IF;
    {_GATE_PROOF}
    {_SEND_PROOF}
    {_FAILED_PROOF}
    {_ECHO_PROOF}
    RETURN NEW;""",
)

INTENT_EVENT = Guard(
    name="actions_intent_event",
    table=INTENT,
    when="AFTER INSERT OR UPDATE",
    deferred=True,
    body=f"""
    IF NOT EXISTS (
        SELECT 1 FROM public.actions_intentevent e
        WHERE e.intent_id = NEW.id AND e.number = NEW.event_count AND e.to_state = NEW.state
        AND e.from_state = CASE WHEN TG_OP = 'INSERT' THEN ''
            WHEN NEW.event_count = OLD.event_count THEN e.from_state ELSE OLD.state END
        AND (NEW.state <> 'accepted' OR e.from_state = 'accepted' OR e.by_kind IN ('human_node', 'brand_team'))
    ) THEN {refuse("actions_intent_event", "each transition has its event in the same transaction; a person alone accepts")} END IF;
    RETURN NULL;""",
)

EVENT_CHAIN = Guard(
    name="actions_intentevent_chain",
    table=_EVENT,
    when="BEFORE INSERT",
    declare="previous text; content jsonb;",
    body=f"""
    SELECT e.digest INTO previous FROM public.actions_intentevent e
        WHERE e.intent_id = NEW.intent_id AND e.number = NEW.number - 1;
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
    table=_EVENT,
    when="AFTER INSERT",
    deferred=True,
    body=f"""
    IF NOT EXISTS (SELECT 1 FROM public.actions_intent i
                   WHERE i.id = NEW.intent_id AND i.event_count >= NEW.number) THEN
        {refuse("actions_intentevent_counted", "an event belongs to a move of its intent")}
    END IF;
    RETURN NULL;""",
)

GUARDS = (
    INTENT_BIRTH,
    INTENT_MOVES,
    INTENT_FROZEN,
    INTENT_PROOF,
    INTENT_EVENT,
    EVENT_CHAIN,
    EVENT_COUNTED,
)
