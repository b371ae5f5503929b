"""Steps of a send: claimed, lost, rejected, proven absent, sent again, set aside.

Promises: each is one transaction that the database accepts as it stands.
Does not hear what the platform says: that is `hearing`.
"""

from datetime import datetime, timedelta

from tests.strategies.statements import Statement, insert, update
from tests.strategies.steps.counting import GIVEN_BACK, given_back
from tests.strategies.steps.shared import APP, pk, read_of
from tests.strategies.world import Row, World


def claim(w: World) -> list[Statement]:
    """The first attempt is opened, and a lease taken."""
    intent = w.row(
        "actions_intent",
        "state = 'authorized' AND first_sent_at IS NULL AND resend_ended_at IS NULL AND EXISTS (SELECT 1 FROM tickets_ticket t WHERE t.id = ticket_id AND t.status IN ('open', 'in_progress'))",
    )
    return _claimed(w, intent, w.moment())


def _claimed(w: World, intent: Row, at: datetime) -> list[Statement]:
    number = len(w.rows("actions_attempt", "intent_id = %s", intent["id"])) + 1
    window = (
        {}
        if intent["first_sent_at"]
        else {"first_sent_at": at, "resend_until": at + timedelta(hours=20)}
    )
    return [
        update("actions_intent", pk(intent), **window, settles_at=at + timedelta(minutes=12)),
        insert(
            "actions_attempt",
            w.new_id("actions_attempt"),
            workspace_id=intent["workspace_id"],
            intent_id=intent["id"],
            number=number,
            app=APP,
            key=intent["key"],
            request_digest=intent["body_digest"],
            started_at=at,
            send_by=at + timedelta(seconds=10),
        ),
        *w.move(intent, to="executing", at=at, lease_until=at + timedelta(seconds=60)),
    ]


def close_attempt(w: World, intent: Row, *, outcome: str, at: datetime) -> Statement:
    attempt = w.row("actions_attempt", "intent_id = %s AND closed_at IS NULL", intent["id"])
    return update("actions_attempt", pk(attempt), outcome=outcome, closed_at=at, closed_by="answer")


def not_sent(w: World) -> list[Statement]:
    """Provably nothing left: authorized again, and the window is taken back."""
    intent, at = (
        w.row(
            "actions_intent",
            "state = 'executing' AND NOT EXISTS (SELECT 1 FROM actions_attempt a WHERE a.intent_id = actions_intent.id AND a.outcome IS NOT NULL AND a.outcome <> 'not_sent')",
        ),
        w.moment(),
    )
    return [
        close_attempt(w, intent, outcome="not_sent", at=at),
        *w.move(
            intent, to="authorized", at=at, first_sent_at=None, resend_until=None, settles_at=None
        ),
    ]


def lose_answer(w: World) -> list[Statement]:
    """Sent, and no answer can be read."""
    intent, at = w.row("actions_intent", "state = 'executing'"), w.moment()
    return [
        close_attempt(w, intent, outcome="unknown", at=at),
        *w.move(intent, to="unknown", at=at, unknown_since=at),
    ]


def reject(w: World) -> list[Statement]:
    """The platform says no."""
    intent, at = w.row("actions_intent", "state = 'executing'"), w.moment()
    return [
        close_attempt(w, intent, outcome="rejected", at=at),
        *given_back(w, intent),
        *w.move(intent, to="failed", at=at, state_reason="rejected", **GIVEN_BACK),
    ]


def _absent(w: World, intent: Row, at: datetime) -> list[Statement]:
    read = read_of(w, intent, at)
    return [
        read,
        insert(
            "actions_finding",
            w.new_id("actions_finding"),
            workspace_id=intent["workspace_id"],
            read_id=read.row_id,
            intent_id=intent["id"],
            result="absent",
        ),
    ]


IN_DOUBT = "state = 'unknown' AND set_aside_at IS NULL AND NOT EXISTS (SELECT 1 FROM actions_externalobject o WHERE o.intent_id = actions_intent.id)"


def _resolved_absent(w: World, intent: Row, at: datetime) -> list[Statement]:
    return [
        update("actions_attempt", pk(a), resolved_how="absent", resolved_at=at)
        for a in w.rows(
            "actions_attempt",
            "intent_id = %s AND outcome = 'unknown' AND resolved_at IS NULL",
            intent["id"],
        )
    ]


def prove_absent(w: World) -> list[Statement]:
    """A complete read after the last send could still land: absent, the attempts resolved."""
    intent = w.row("actions_intent", IN_DOUBT)
    settles_at = intent["settles_at"]
    assert isinstance(settles_at, datetime)
    at = settles_at + timedelta(minutes=1)
    return [*_absent(w, intent, at), *_resolved_absent(w, intent, at)]


def resend(w: World) -> list[Statement]:
    """Proven absent inside the window: the same bytes go again."""
    intent = w.row("actions_intent", IN_DOUBT + _RESENDABLE)
    settles_at = intent["settles_at"]
    assert isinstance(settles_at, datetime)
    return _claimed(w, intent, settles_at + timedelta(minutes=2))


_RESENDABLE = """
    AND resend_ended_at IS NULL AND resend_until > settles_at + interval '1 hour'
    AND NOT EXISTS (SELECT 1 FROM actions_attempt a WHERE a.intent_id = actions_intent.id AND a.resolved_at IS NULL AND a.outcome = 'unknown')
    AND EXISTS (SELECT 1 FROM tickets_ticket t WHERE t.id = ticket_id AND t.status IN ('open', 'in_progress'))
"""


def fail_as_absent(w: World) -> list[Statement]:
    """Two complete absences, apart, after the last send could still land."""
    intent = w.row("actions_intent", IN_DOUBT)
    settles_at = intent["settles_at"]
    assert isinstance(settles_at, datetime)
    first = settles_at + timedelta(minutes=1)
    return [
        *_absent(w, intent, first),
        *_absent(w, intent, first + timedelta(minutes=4)),
        *_resolved_absent(w, intent, first),
        *given_back(w, intent),
        *w.move(intent, to="failed", at=first, state_reason="absent", **GIVEN_BACK),
    ]


def set_aside(w: World) -> list[Statement]:
    """A person sets an intent aside that can never be read again.

    Another only loses its right to resend, and is flagged.
    """
    intent, at = w.row("actions_intent", IN_DOUBT + " AND resend_ended_at IS NULL"), w.moment()
    payload = w.row("integrations_sealedpayload", "workspace_id = %s", intent["workspace_id"])
    flagged = update(
        "actions_intent",
        pk(intent),
        resend_ended_at=at,
        needs_human_since=at,
        needs_human_reason="exhausted_schedule",
        due_at=None,
    )
    if w.rng.random() < 0.6:
        return [flagged]
    aside = update(
        "actions_intent",
        pk(intent),
        set_aside_at=at,
        set_aside_by_kind="human_node",
        set_aside_by_identity="node-1",
        set_aside_reason_id=payload["id"],
    )
    return [flagged, aside]
