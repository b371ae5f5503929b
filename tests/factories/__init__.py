"""Rows for tests, built the legal way: through the ORM, as the application's role, past every guard of the database.

Promises: what comes out could have been written by the product; amounts (12.50 EUR), actors and identifiers are fixed unless given.
`rows` makes what an intent stands on, `evidence` single facts, `intents` an intent in any state.
"""

from tests.factories.evidence import (
    FROZEN,
    SEND_BY,
    SETTLES_AFTER,
    close_attempt,
    find_absent,
    make_approval,
    make_decision,
    make_echo,
    make_object,
    make_read,
    open_attempt,
    resolve_attempts,
)
from tests.factories.intents import (
    AMOUNT,
    answer,
    authorize,
    claim,
    confirmed_intent,
    fail_as_absent,
    hear,
    intent_in,
    lose_answer,
    make_intent,
    resolved_ticket,
    unknown_intent,
)
from tests.factories.rows import (
    AI,
    APP,
    NODE,
    TEAM,
    make_connection,
    make_customer,
    make_payload,
    make_request,
    make_target,
    make_ticket,
    make_workspace,
)

__all__ = [
    "AI", "AMOUNT", "APP", "FROZEN", "NODE", "SEND_BY", "SETTLES_AFTER", "TEAM", "answer", "authorize", "claim",
    "close_attempt", "confirmed_intent", "fail_as_absent", "find_absent", "hear", "intent_in", "lose_answer",
    "make_approval", "make_connection", "make_customer", "make_decision", "make_echo", "make_intent", "make_object",
    "make_payload", "make_read", "make_request", "make_target", "make_ticket", "make_workspace", "open_attempt",
    "resolve_attempts", "resolved_ticket", "unknown_intent",
]  # fmt: skip
