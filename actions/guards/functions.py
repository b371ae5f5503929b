"""What several guards ask of the rows: the newest echo, its parts, a ticket's true standing.

Promises: each function reads and changes nothing, by a search path of its own.
Does not refuse: the guards do.
"""

from actions.states import SETTLED, State
from integrations.guards import SEARCH_PATH


def quoted(states: "frozenset[State] | list[State]") -> str:
    """Return states as a list of SQL literals."""
    return ", ".join(f"'{state}'" for state in sorted(states))


_SETTLED = quoted(SETTLED)
_BY_PARTS = quoted(SETTLED - {State.CONFIRMED})
_SENT_UNSETTLED = quoted([State.EXECUTING, State.UNKNOWN, State.PENDING, State.PARTIALLY_CONFIRMED])

_NEWEST_ECHO = f"""
    CREATE OR REPLACE FUNCTION public.actions_newest_echo(of_object bigint) RETURNS bigint
    LANGUAGE sql STABLE {SEARCH_PATH} AS $fn$
        SELECT e.id FROM public.actions_echo e WHERE e.external_object_id = of_object
        ORDER BY e.id DESC LIMIT 1
    $fn$
"""

# `succeeded`, `failed`, `mixed` or `open`; `none` for an effect without parts; null unless all of
# an echo's parts are here.
_ECHO_STANDING = f"""
    CREATE OR REPLACE FUNCTION public.actions_echo_standing(of_echo bigint) RETURNS text
    LANGUAGE sql STABLE {SEARCH_PATH} AS $fn$
        SELECT CASE
            WHEN max(e.part_count) IS NULL OR count(p.id) <> max(e.part_count) THEN NULL
            WHEN count(p.id) = 0 THEN 'none'
            WHEN bool_or(p.standing = 'open') THEN 'open'
            WHEN bool_and(p.standing = 'succeeded') THEN 'succeeded'
            WHEN bool_and(p.standing = 'failed') THEN 'failed'
            ELSE 'mixed' END
        FROM public.actions_echo e LEFT JOIN public.actions_echopart p ON p.echo_id = e.id
        WHERE e.id = of_echo
    $fn$
"""

# Does an echo say exactly this money? Null asks for none.
_ECHO_IS_MONEY = f"""
    CREATE OR REPLACE FUNCTION public.actions_echo_is_money(
        of_echo bigint, asked numeric, asked_currency text
    ) RETURNS boolean LANGUAGE sql STABLE {SEARCH_PATH} AS $fn$
        SELECT asked IS NULL OR (
            (SELECT sum(p.amount) FROM public.actions_echopart p WHERE p.echo_id = of_echo)
                IS NOT DISTINCT FROM asked
            AND NOT EXISTS (SELECT 1 FROM public.actions_echopart p
                            WHERE p.echo_id = of_echo AND p.currency <> asked_currency))
    $fn$
"""

# Does an echo say exactly this money, on this target, with this marker?
_ECHO_IS_AS_ASKED = f"""
    CREATE OR REPLACE FUNCTION public.actions_echo_is_as_asked(of_echo bigint, of_intent bigint)
    RETURNS boolean LANGUAGE sql STABLE {SEARCH_PATH} AS $fn$
        SELECT e.target_identifier = t.identifier AND e.marker = i.marker
            AND public.actions_echo_is_money(e.id, i.amount, i.currency)
        FROM public.actions_echo e, public.actions_intent i
        JOIN public.actions_target t ON t.id = i.target_id
        WHERE e.id = of_echo AND i.id = of_intent
    $fn$
"""

# How much of what was asked neither stands nor is being made up for: the same rule as
# `actions.linking.missing_money`, from the first of the family. One that ended with less than it
# asked counts as what of it stands or is under way; in another currency than was asked nobody can
# reckon, so that nothing is missing.
_MISSING_MONEY = f"""
    CREATE OR REPLACE FUNCTION public.actions_missing_money(of_intent bigint) RETURNS numeric
    LANGUAGE sql STABLE {SEARCH_PATH} AS $fn$
        WITH RECURSIVE up AS (
            SELECT i.id, i.remainder_of_id FROM public.actions_intent i WHERE i.id = of_intent
            UNION ALL
            SELECT i.id, i.remainder_of_id FROM public.actions_intent i JOIN up ON i.id = up.remainder_of_id
        ), family AS (
            SELECT i.id, i.amount, i.currency, i.state FROM public.actions_intent i
            JOIN up ON up.id = i.id AND up.remainder_of_id IS NULL
            UNION ALL
            SELECT r.id, r.amount, r.currency, r.state
            FROM public.actions_intent r JOIN family f ON r.remainder_of_id = f.id
        ), root AS (
            SELECT i.amount, i.currency FROM public.actions_intent i JOIN up ON up.id = i.id AND up.remainder_of_id IS NULL
        )
        SELECT (SELECT root.amount FROM root) - sum(
            CASE WHEN f.state NOT IN ({_BY_PARTS}) THEN f.amount ELSE (
                SELECT CASE WHEN bool_or(p.currency <> (SELECT root.currency FROM root)) THEN (SELECT root.amount FROM root)
                    ELSE COALESCE(sum(p.amount), 0) END
                FROM public.actions_externalobject o JOIN public.actions_echopart p
                ON p.echo_id = public.actions_newest_echo(o.id) AND p.standing <> 'failed'
                WHERE o.intent_id = f.id) END)
        FROM family f
    $fn$
"""

# The first of a family that makes up for each other.
_REST_ROOT = f"""
    CREATE OR REPLACE FUNCTION public.actions_rest_root(of_intent bigint) RETURNS bigint
    LANGUAGE sql STABLE {SEARCH_PATH} AS $fn$
        WITH RECURSIVE up AS (
            SELECT i.id, i.remainder_of_id FROM public.actions_intent i WHERE i.id = of_intent
            UNION ALL
            SELECT i.id, i.remainder_of_id FROM public.actions_intent i JOIN up ON i.id = up.remainder_of_id
        )
        SELECT up.id FROM up WHERE up.remainder_of_id IS NULL
    $fn$
"""

# The resolver is derived, never chosen: the same rule as `tickets.path.resolver_of`.
_RESOLVER = f"""
    CREATE OR REPLACE FUNCTION public.actions_resolver(path jsonb, closed_by text) RETURNS text
    LANGUAGE sql IMMUTABLE {SEARCH_PATH} AS $fn$
        SELECT CASE
            WHEN closed_by = 'brand_team' THEN 'brand_team'
            WHEN closed_by = 'human_node' OR path @> '[{{"kind": "human_node"}}]' THEN 'ai_with_human_node'
            ELSE 'ai' END
    $fn$
"""

# Is a ticket's standing what its status says? Returns the sentence at fault, or null.
_TICKET_FAULT = f"""
    CREATE OR REPLACE FUNCTION public.actions_ticket_fault(of_ticket bigint) RETURNS text
    LANGUAGE plpgsql STABLE {SEARCH_PATH} AS $fn$
    DECLARE t public.tickets_ticket; r public.tickets_resolution;
    BEGIN
        SELECT * INTO t FROM public.tickets_ticket WHERE id = of_ticket;
        SELECT * INTO r FROM public.tickets_resolution
            WHERE ticket_id = of_ticket AND reopened_at IS NULL;
        IF t.status NOT IN ('resolved', 'closed_unresolved') THEN
            RETURN CASE WHEN r.id IS NOT NULL THEN 'an open ticket has a standing resolution' END;
        END IF;
        IF r.id IS NULL OR r.status <> t.status OR r.resolver IS DISTINCT FROM t.resolver THEN
            RETURN 'a closed ticket needs its resolution';
        END IF;
        IF t.status = 'closed_unresolved' THEN
            RETURN CASE WHEN EXISTS (
                SELECT 1 FROM public.actions_intent i
                WHERE i.ticket_id = of_ticket AND i.state NOT IN ({_SETTLED})
                AND NOT (i.state IN ({_SENT_UNSETTLED})
                         AND r.closed_by_kind IN ('human_node', 'brand_team'))
            ) THEN 'a ticket closes over an unsettled intent only if it was sent and a person closes it' END;
        END IF;
        IF t.resolver IS DISTINCT FROM public.actions_resolver(t.path, r.closed_by_kind) THEN
            RETURN 'the resolver follows from the path and from who closed';
        END IF;
        IF EXISTS (SELECT 1 FROM public.actions_intent i
                   WHERE i.ticket_id = of_ticket AND i.state NOT IN ({_SETTLED})) THEN
            RETURN 'a ticket resolves over no unsettled intent';
        END IF;
        IF NOT EXISTS (SELECT 1 FROM public.tickets_request q WHERE q.ticket_id = of_ticket) THEN
            RETURN 'a resolved ticket needs a request';
        END IF;
        IF EXISTS (
            SELECT 1 FROM public.tickets_request q WHERE q.ticket_id = of_ticket
            AND NOT EXISTS (SELECT 1 FROM public.tickets_request newer WHERE newer.revises_id = q.id)
            AND NOT EXISTS (
                SELECT 1 FROM public.actions_outcome o
                LEFT JOIN public.actions_intent i ON i.id = o.intent_id
                WHERE o.request_id = q.id
                AND (o.intent_id IS NULL OR i.state IN ('confirmed', 'accepted')
                     OR (i.state = 'failed' AND o.statement_id IS NOT NULL))
            )
        ) THEN RETURN 'a resolved ticket needs an outcome for each request'; END IF;
        IF t.connection_id IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM public.actions_intent i
            WHERE i.ticket_id = of_ticket AND i.kind = 'reply' AND i.state = 'confirmed'
        ) THEN RETURN 'a resolved ticket needs its closing reply delivered'; END IF;
        RETURN NULL;
    END
    $fn$
"""

FUNCTIONS = (
    _NEWEST_ECHO,
    _ECHO_STANDING,
    _ECHO_IS_MONEY,
    _ECHO_IS_AS_ASKED,
    _MISSING_MONEY,
    _REST_ROOT,
    _RESOLVER,
    _TICKET_FAULT,
)
"""In the order in which they may be created: SQL functions look at what they call."""
