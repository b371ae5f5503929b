"""Guards on evidence: attempts, reads, findings, objects, echoes, outcomes, the gate's own rows.

Promises: no attempt past the window or over doubt, nothing bound twice or across targets, an echo
arrives whole and stays as it came, an approval comes from someone else.
Does not say what evidence means for a state: that is `actions.guards.intents`.
"""

from actions.durations import Durations
from actions.states import CLEARABLE
from integrations.guards import Guard, refuse

_CLEARABLE = ", ".join(f"'{reason}'" for reason in sorted(CLEARABLE))
_MAX_SENDS = Durations().max_sends

ATTEMPT_BIRTH = Guard(
    name="actions_attempt_birth",
    table="actions_attempt",
    when="BEFORE INSERT",
    declare="i public.actions_intent;",
    body=f"""
    -- Locks the intent, so that it cannot be withdrawn under an attempt that is being opened.
    SELECT * INTO i FROM public.actions_intent WHERE id = NEW.intent_id FOR NO KEY UPDATE;
    IF i.id IS NULL OR NEW.closed_at IS NOT NULL OR i.state NOT IN ('authorized', 'unknown') THEN
        {refuse("actions_attempt_birth", "an attempt is opened on an authorized or an unknown intent")}
    END IF;
    IF NEW.number <> 1 + (
            SELECT count(*) FROM public.actions_attempt a WHERE a.intent_id = NEW.intent_id) THEN
        {refuse("actions_attempt_birth", "attempts are counted one by one")}
    END IF;
    IF {_MAX_SENDS} <= (
            SELECT count(*) FROM public.actions_attempt a
            WHERE a.intent_id = NEW.intent_id AND a.outcome IS DISTINCT FROM 'not_sent') THEN
        {refuse("actions_attempt_birth", f"one intent is sent at most {_MAX_SENDS} times")}
    END IF;
    IF NEW.key <> i.key OR NEW.request_digest <> i.body_digest THEN
        {refuse("actions_attempt_birth", "bytes sent are bytes stored, under the intent''s own key")}
    END IF;
    IF i.resend_ended_at IS NOT NULL OR i.set_aside_at IS NOT NULL OR i.first_sent_at IS NULL
       OR NEW.started_at < i.first_sent_at OR NEW.send_by > i.resend_until THEN
        {refuse("actions_attempt_birth", "outside the window, or after the right to resend has ended, nothing is sent")}
    END IF;
    IF NEW.send_by > i.settles_at THEN
        {refuse("actions_attempt_birth", "a request settles no earlier than it may be sent")}
    END IF;
    IF NOT EXISTS (SELECT 1 FROM public.tickets_ticket t
                   WHERE t.id = i.ticket_id AND t.status IN ('open', 'in_progress')) THEN
        {refuse("actions_attempt_birth", "nothing is sent on a closed or handed-over ticket")}
    END IF;
    IF EXISTS (SELECT 1 FROM public.actions_attempt a WHERE a.intent_id = NEW.intent_id
               AND a.app <> NEW.app AND a.outcome IS DISTINCT FROM 'not_sent') THEN
        {refuse("actions_attempt_birth", "after a change of app nothing is resent")}
    END IF;
    IF EXISTS (SELECT 1 FROM public.actions_attempt a WHERE a.intent_id = NEW.intent_id AND a.closed_at IS NOT NULL
               AND NOT (a.outcome = 'not_sent' OR (a.outcome = 'unknown' AND a.resolved_how IS NOT DISTINCT FROM 'absent'))) THEN
        {refuse("actions_attempt_birth", "nothing is resent unless every earlier attempt is proven unsent or absent: read first")}
    END IF;
    RETURN NEW;""",
)

ATTEMPT_CLOSING = Guard(
    name="actions_attempt_closing",
    table="actions_attempt",
    when="BEFORE UPDATE",
    body=f"""
    IF NEW.outcome IN ('not_sent', 'rejected') AND EXISTS (
        SELECT 1 FROM public.actions_echo e WHERE e.attempt_id = NEW.id) THEN
        {refuse("actions_attempt_closing", "an attempt that brought an echo had an effect")}
    END IF;
    RETURN NEW;""",
)

ATTEMPT_ABSENCE = Guard(
    name="actions_attempt_absence",
    table="actions_attempt",
    when="AFTER UPDATE",
    deferred=True,
    body=f"""
    IF NEW.resolved_how = 'absent' AND OLD.resolved_how IS NULL AND NOT EXISTS (
        SELECT 1 FROM public.actions_finding f JOIN public.actions_read r ON r.id = f.read_id
        JOIN public.actions_intent i ON i.id = f.intent_id
        WHERE f.intent_id = NEW.intent_id AND f.result = 'absent' AND r.result = 'complete'
        AND r.target_id = i.target_id AND r.started_at >= i.settles_at) THEN
        {refuse("actions_attempt_absence", "absent needs a complete read that began after the last send could still land")}
    END IF;
    RETURN NULL;""",
)

READ_TARGET = Guard(
    name="actions_read_target",
    table="actions_read",
    when="BEFORE INSERT",
    body=f"""
    IF NOT EXISTS (SELECT 1 FROM public.actions_target t
                   WHERE t.id = NEW.target_id AND t.connection_id = NEW.connection_id) THEN
        {refuse("actions_read_target", "a read asks for a target of its own connection")}
    END IF;
    RETURN NEW;""",
)

OBJECT_BINDING = Guard(
    name="actions_externalobject_binding",
    table="actions_externalobject",
    when="BEFORE INSERT OR UPDATE",
    body=f"""
    IF NOT EXISTS (SELECT 1 FROM public.actions_target t
                   WHERE t.id = NEW.target_id AND t.connection_id = NEW.connection_id) THEN
        {refuse("actions_externalobject_binding", "an external object stands on a target of its own connection")}
    END IF;
    IF NEW.intent_id IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM public.actions_intent i WHERE i.id = NEW.intent_id
        AND i.target_id = NEW.target_id AND i.connection_id = NEW.connection_id) THEN
        {refuse("actions_externalobject_binding", "an external object belongs to an intent on its own target")}
    END IF;
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
        AND (a.outcome IS NULL OR a.outcome NOT IN ('not_sent', 'rejected'))) THEN
        {refuse("actions_echo_source", "an echo in an answer speaks of the attempt''s own intent, and of an effect")}
    END IF;
    IF NEW.read_id IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM public.actions_read r JOIN public.actions_externalobject o ON o.target_id = r.target_id
        WHERE r.id = NEW.read_id AND o.id = NEW.external_object_id AND r.result <> 'error') THEN
        {refuse("actions_echo_source", "an echo in a read speaks of the read''s own target, and an error says nothing")}
    END IF;
    RETURN NEW;""",
)

ECHO_WHOLE = Guard(
    name="actions_echo_whole",
    table="actions_echo",
    when="AFTER INSERT",
    deferred=True,
    body=f"""
    IF NEW.part_count <> (SELECT count(*) FROM public.actions_echopart p WHERE p.echo_id = NEW.id) THEN
        {refuse("actions_echo_whole", "an echo comes with all of its parts in one transaction")}
    END IF;
    RETURN NULL;""",
)

ECHO_PARTS = Guard(
    name="actions_echopart_count",
    table="actions_echopart",
    when="BEFORE INSERT",
    body=f"""
    IF (SELECT count(*) FROM public.actions_echopart p WHERE p.echo_id = NEW.echo_id)
       >= COALESCE((SELECT e.part_count FROM public.actions_echo e WHERE e.id = NEW.echo_id), 0) THEN
        {refuse("actions_echopart_count", "an echo has the parts it said it has")}
    END IF;
    RETURN NEW;""",
)

FINDING_TARGET = Guard(
    name="actions_finding_target",
    table="actions_finding",
    when="BEFORE INSERT",
    body=f"""
    IF NOT EXISTS (
        SELECT 1 FROM public.actions_read r JOIN public.actions_intent i ON i.target_id = r.target_id
        WHERE r.id = NEW.read_id AND i.id = NEW.intent_id AND (r.result <> 'error' OR NEW.result = 'nothing_said')
        AND (NEW.external_object_id IS NULL OR EXISTS (
            SELECT 1 FROM public.actions_externalobject o
            WHERE o.id = NEW.external_object_id AND o.target_id = r.target_id))) THEN
        {refuse("actions_finding_target", "a finding speaks of an intent and an object on the target that was read, and an error says nothing")}
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
    IF q.id IS NULL THEN {refuse("actions_outcome_fact", "an outcome fulfils a request that was stated before")} END IF;
    IF NEW.external_object_id IS NULL THEN RETURN NEW; END IF;
    SELECT o.intent_id INTO owner FROM public.actions_externalobject o WHERE o.id = NEW.external_object_id;
    IF owner IS DISTINCT FROM NEW.intent_id THEN
        {refuse("actions_outcome_fact", "an outcome names the intent that its object belongs to")}
    END IF;
    newest := public.actions_newest_echo(NEW.external_object_id);
    IF newest IS NULL THEN {refuse("actions_outcome_fact", "an outcome is a fact that the platform echoed")} END IF;
    SELECT * INTO i FROM public.actions_intent WHERE id = NEW.intent_id;
    IF NEW.intent_id IS NOT NULL AND (i.ticket_id <> q.ticket_id OR NOT (i.state IN ('confirmed', 'accepted')
       OR (i.state = 'failed' AND NEW.statement_id IS NOT NULL AND COALESCE(public.actions_echo_standing(newest), 'open') = 'succeeded'))) THEN
        {refuse("actions_outcome_fact", "an outcome by an intent needs that intent confirmed or accepted, or a late success and a person''s word, on the request''s ticket")}
    END IF;
    IF NEW.statement_id IS NULL AND (
        COALESCE(public.actions_echo_standing(newest), 'open') NOT IN ('succeeded', 'none')
        OR (NEW.intent_id IS NOT NULL AND (i.kind <> q.kind OR i.state <> 'confirmed'))
        OR (q.target <> '' AND q.target <> (SELECT e.target_identifier FROM public.actions_echo e WHERE e.id = newest))
        OR NOT public.actions_echo_is_money(newest, q.amount, q.currency)) THEN
        {refuse("actions_outcome_fact", "an outcome has the kind, target, amount and currency asked, or a person says why it fulfils the request")}
    END IF;
    RETURN NEW;""",
)

DECISION_NUMBER = Guard(
    name="actions_gatedecision_counted",
    table="actions_gatedecision",
    when="BEFORE INSERT",
    body=f"""
    IF NEW.number <> 1 + (SELECT count(*) FROM public.actions_gatedecision d WHERE d.intent_id = NEW.intent_id) THEN
        {refuse("actions_gatedecision_counted", "decisions on an intent are counted one by one, so that the last word is known")}
    END IF;
    RETURN NEW;""",
)

APPROVAL_PERSON = Guard(
    name="actions_approval_person",
    table="actions_approval",
    when="BEFORE INSERT",
    declare="shown public.actions_gatedecision;",
    body=f"""
    SELECT * INTO shown FROM public.actions_gatedecision d WHERE d.id = NEW.decision_id;
    IF NEW.used_at IS NOT NULL OR shown.intent_id IS DISTINCT FROM NEW.intent_id
       OR shown.ruling NOT IN ('approve', 'hold') OR shown.shown_digest <> NEW.digest THEN
        {refuse("actions_approval_person", "an approval covers exactly what a decision showed, and is used later")}
    END IF;
    IF shown.ruling = 'approve' AND NOT EXISTS (
        SELECT 1 FROM public.actions_intent i WHERE i.id = NEW.intent_id
        AND (i.proposer_kind, i.proposer_identity) <> (NEW.approver_kind, NEW.approver_identity)) THEN
        {refuse("actions_approval_person", "the approver is not the proposer")}
    END IF;
    IF shown.ruling = 'hold' AND (NOT NEW.approves OR shown.reason NOT IN ({_CLEARABLE})) THEN
        {refuse("actions_approval_person", "a person clears a reason that a look at its evidence can clear, and no other")}
    END IF;
    RETURN NEW;""",
)

TARGET_VERSION = Guard(
    name="actions_target_version",
    table="actions_target",
    when="BEFORE UPDATE",
    body=f"""
    IF NEW.version < OLD.version THEN
        {refuse("actions_target_version", "a version only rises, so that a lost race is noticed")}
    END IF;
    RETURN NEW;""",
)

GUARDS = (
    ATTEMPT_BIRTH,
    ATTEMPT_CLOSING,
    ATTEMPT_ABSENCE,
    READ_TARGET,
    OBJECT_BINDING,
    ECHO_SOURCE,
    ECHO_WHOLE,
    ECHO_PARTS,
    FINDING_TARGET,
    OUTCOME_FACT,
    DECISION_NUMBER,
    APPROVAL_PERSON,
    TARGET_VERSION,
)
