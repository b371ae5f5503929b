"""Each branch of the guards on intents and events, met by raw SQL; beside it the legal neighbour."""

import json
from datetime import timedelta
from decimal import Decimal
from hashlib import sha256
from typing import Any
from uuid import UUID

import pytest

from actions.models import AttemptOutcome, Intent, IntentEvent, ResolvedHow
from actions.states import State, sql_arcs
from integrations.clock import now
from integrations.ports import Standing
from tests import factories
from tests.refusals import accepted, add, change, copy, execute, refused_by

pytestmark = pytest.mark.django_db
INTENT, EVENT = "actions_intent", "actions_intentevent"
BIRTH, MOVES, FROZEN, PROOF = (f"{INTENT}_{name}" for name in ("birth", "moves", "frozen", "proof"))


def event_of(
    intent: Intent,
    *,
    to: str,
    by: tuple[str, str] = ("system", "razviel"),
    named: str = "",
    called: str | None = None,
    **columns: object,
) -> None:
    """Insert an event that says of itself what it should, unless told otherwise."""
    last = intent.events.order_by("number").last()
    number = 1 if last is None else last.number + 1
    previous = "" if last is None else last.digest
    at = now()
    said = {
        "at": at.isoformat(), "by": by[1], "by_kind": by[0], "details": {}, "from": intent.state if last else "",
        "intent": named or intent.public_id, "name": to if called is None else called, "number": number, "reason": "", "to": to,
    }  # fmt: skip
    body = json.dumps(said)
    row = {
        "workspace_id": intent.workspace_id, "intent_id": intent.pk, "number": number, "name": said["name"], "from_state": said["from"],
        "to_state": to, "by_kind": by[0], "by_identity": by[1], "reason": "", "at": at, "body": body,
        "previous_digest": previous, "digest": sha256((previous + body).encode()).hexdigest(),
    } | columns  # fmt: skip
    add(EVENT, **row)


def raw_move(
    intent: Intent, to: str, by: tuple[str, str] = ("system", "razviel"), **columns: object
) -> None:
    """Move an intent as raw SQL would: the row and its event."""
    changes: dict[str, object] = {
        "state": to,
        "event_count": intent.event_count + 1,
        "lease_until": None,
    }
    if to in (State.HELD, State.REFUSED):
        changes["state_reason"] = "paused"
    change(INTENT, intent.pk, **changes | columns)
    event_of(intent, to=to, by=by)


# --- birth ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "columns",
    [
        {"state": "authorized"},
        {"event_count": 2},
        {"first_sent_at": "now", "resend_until": "now", "settles_at": "now"},
        {"confirmed_at": "now"},
        {"resend_ended_at": "now"},
        {"set_aside_at": "now"},
    ],
)
def test_an_intent_is_born_proposed_and_unsent(columns: dict[str, object]) -> None:
    intent = factories.make_intent()
    with refused_by(BIRTH, "born proposed"):
        copy(INTENT, intent.pk, **columns)


def test_an_intent_is_born_without_a_decision() -> None:
    held = factories.intent_in(State.HELD)
    decision = held.decisions.get()
    with refused_by(BIRTH, "born proposed"):
        copy(INTENT, held.pk, state="proposed", event_count=1, decision_id=decision.pk)


@pytest.mark.parametrize("status", ["handed_over", "closed_unresolved", "resolved"])
def test_a_ticket_that_is_not_open_takes_no_new_intent(status: str) -> None:
    intent = factories.make_intent()
    resolver = "ai" if status == "resolved" else None
    with refused_by(BIRTH, "takes no new intent"):
        change("tickets_ticket", intent.ticket_id, status=status, resolver=resolver)
        copy(INTENT, intent.pk)


def test_an_intent_is_not_born_before_its_ticket() -> None:
    intent = factories.make_intent()
    with refused_by(BIRTH, "takes no new intent"):
        copy(INTENT, intent.pk, ticket_id=10**9)


def test_an_intent_serves_a_request_of_its_own_ticket() -> None:
    intent = factories.make_intent()
    other = factories.make_request(ticket=factories.make_ticket(workspace=intent.workspace))
    with refused_by(BIRTH, "request of its own ticket"):
        copy(INTENT, intent.pk, request_id=other.pk)


def test_an_intent_acts_on_a_target_of_its_own_connection() -> None:
    intent = factories.make_intent()
    other = factories.make_target(connection=factories.make_connection(workspace=intent.workspace))
    with refused_by(BIRTH, "target of its own connection"):
        copy(INTENT, intent.pk, target_id=other.pk)


# --- moves ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("origin", State)
def test_no_arc_outside_the_table_is_taken(origin: State) -> None:
    intent = factories.intent_in(origin)
    legal = {to for source, to in sql_arcs() if source == origin}
    for to in set(State) - legal - {origin}:
        with refused_by(MOVES, "no such arc"):
            change(INTENT, intent.pk, state=to, event_count=intent.event_count + 1)


def test_a_transition_leaves_an_event() -> None:
    intent = factories.make_intent()
    with refused_by(MOVES, "leaves an event"):
        change(INTENT, intent.pk, state="withdrawn")
    with refused_by(f"{INTENT}_event"):
        change(INTENT, intent.pk, state="withdrawn", event_count=2)
    with accepted():
        raw_move(intent, "withdrawn")


@pytest.mark.parametrize("count", [0, 3])
def test_events_are_counted_one_by_one(count: int) -> None:
    intent = factories.make_intent()
    with refused_by(MOVES, "counted one by one"):
        change(INTENT, intent.pk, event_count=count)


@pytest.mark.django_db(transaction=True)
def test_an_intent_moves_only_where_the_newest_evidence_is_seen() -> None:
    intent = factories.make_intent()
    with refused_by(MOVES, "read committed alone"):
        execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        change(INTENT, intent.pk, state="withdrawn", event_count=2)


def test_the_event_of_a_transition_tells_that_transition() -> None:
    intent = factories.make_intent()
    with refused_by(f"{INTENT}_event"):
        change(INTENT, intent.pk, state="withdrawn", event_count=2)
        event_of(intent, to="held")


def test_an_event_belongs_to_a_move() -> None:
    intent = factories.make_intent()
    with refused_by(f"{EVENT}_counted"):
        event_of(intent, to="withdrawn")


@pytest.mark.parametrize(
    ("kind", "may"), [("human_node", True), ("brand_team", True), ("ai", False), ("system", False)]
)
def test_a_person_alone_accepts_what_the_platform_holds_instead(kind: str, may: bool) -> None:
    intent = factories.intent_in(State.PARTIALLY_CONFIRMED)
    reason = factories.make_payload(workspace=intent.workspace)
    with accepted() if may else refused_by(f"{INTENT}_event", "a person alone accepts"):
        raw_move(intent, "accepted", by=(kind, "someone"), accepted_reason_id=reason.pk)


@pytest.mark.parametrize("origin", [State.PENDING, State.PARTIALLY_CONFIRMED])
def test_nothing_is_accepted_without_a_reason(origin: State) -> None:
    intent = factories.intent_in(origin)
    with refused_by("intent_accepted_with_a_reason"):
        raw_move(intent, "accepted", by=("human_node", "node-1"))


def test_the_reason_of_what_was_accepted_stays() -> None:
    intent = factories.intent_in(State.ACCEPTED)
    another = factories.make_payload(workspace=intent.workspace)
    for instead in (another.pk, None):
        with refused_by(f"{INTENT}_changes", "accepted_reason_id is written once"):
            change(INTENT, intent.pk, accepted_reason_id=instead)


# --- the chain ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"previous_digest": "0" * 64}, "names the digest of the one before it"),
        ({"number": 7}, "names the digest of the one before it"),
        ({"digest": "0" * 64}, "covers the one before it and its own body"),
        ({"name": "another"}, "say what its body says"),
        ({"from_state": "held"}, "say what its body says"),
        ({"to_state": "held"}, "say what its body says"),
        ({"by_kind": "human_node"}, "say what its body says"),
        ({"by_identity": "someone-else"}, "say what its body says"),
        ({"reason": "another"}, "say what its body says"),
        ({"at": "2026-01-01T00:00:00Z"}, "say what its body says"),
    ],
)
def test_an_event_that_contradicts_itself_or_the_chain_is_refused(
    columns: dict[str, Any], sentence: str
) -> None:
    intent = factories.make_intent()
    with refused_by(f"{EVENT}_chain", sentence):
        event_of(intent, to="proposed", **columns)
    with accepted():
        change(INTENT, intent.pk, event_count=2)
        event_of(intent, to="proposed")


def test_an_event_s_body_names_its_own_intent() -> None:
    intent = factories.make_intent()
    with refused_by(f"{EVENT}_chain", "say what its body says"):
        event_of(intent, to="proposed", named=factories.make_intent().public_id)


def test_an_event_has_a_name_and_an_author_of_a_known_kind() -> None:
    intent = factories.make_intent()
    with refused_by("intentevent_name"):
        event_of(intent, to="proposed", called="")
    with refused_by("intentevent_by"):
        event_of(intent, to="proposed", by=("robot", "r2"))


def test_an_event_comes_once() -> None:
    event = factories.make_intent().events.get()
    with refused_by("intentevent_number"):
        execute(
            f"INSERT INTO {EVENT} ({', '.join(_EVENT_COLUMNS)}) SELECT {', '.join(_EVENT_COLUMNS)} FROM {EVENT} WHERE id = %s",
            event.pk,
        )


_EVENT_COLUMNS = [str(f.column) for f in IntentEvent._meta.concrete_fields if f.column != "id"]


# --- the frozen request and the window --------------------------------------------------------------------


@pytest.mark.parametrize("column", ["document", "api_version", "body", "body_digest"])
def test_the_digest_is_that_of_the_bytes(column: str) -> None:
    intent = factories.intent_in(State.AUTHORIZED)
    with refused_by(FROZEN, "the digest of the frozen request"):
        change(INTENT, intent.pk, **{column: b"other" if column == "body" else "other"})


def test_the_bytes_never_change_once_a_send_may_have_left() -> None:
    intent, unsent = factories.unknown_intent(), factories.intent_in(State.AUTHORIZED)
    document = "mutation another"
    content = b"\0".join([document.encode(), b"2026-10", factories.FROZEN.body])
    columns = {"document": document, "body_digest": sha256(content).hexdigest()}
    with refused_by(FROZEN, "never changes once a send may have left"):
        change(INTENT, intent.pk, **columns)
    with accepted():
        change(INTENT, unsent.pk, **columns)


@pytest.mark.parametrize("state", [State.EXECUTING, State.UNKNOWN])
def test_the_window_neither_moves_nor_goes_away(state: State) -> None:
    intent = factories.intent_in(state)
    hour = timedelta(hours=1)
    assert intent.first_sent_at is not None
    assert intent.resend_until is not None
    for columns in (
        {"first_sent_at": intent.first_sent_at + hour},
        {"resend_until": intent.resend_until - hour},
        {"first_sent_at": None, "resend_until": None, "settles_at": None},
    ):
        with refused_by(FROZEN, "the window starts at the first attempt"):
            change(INTENT, intent.pk, **columns)


def test_the_window_goes_away_with_the_last_attempt_that_may_have_left() -> None:
    intent = factories.intent_in(State.EXECUTING)
    with accepted():
        factories.close_attempt(intent.attempts.get(), AttemptOutcome.NOT_SENT, at=now())
        raw_move(intent, "authorized", first_sent_at=None, resend_until=None, settles_at=None)


def test_the_window_is_never_longer_than_a_key_may_live() -> None:
    intent, at = factories.intent_in(State.AUTHORIZED), now()
    longest = at + timedelta(hours=20)
    with refused_by(FROZEN, "never longer than a key may live"):
        change(
            INTENT,
            intent.pk,
            first_sent_at=at,
            resend_until=longest + timedelta(seconds=1),
            settles_at=at,
        )
    with accepted():
        change(INTENT, intent.pk, first_sent_at=at, resend_until=longest, settles_at=at)


def test_a_lost_request_never_lands_earlier_than_was_said() -> None:
    intent = factories.unknown_intent()
    assert intent.settles_at is not None
    with refused_by(FROZEN, "never comes earlier"):
        change(INTENT, intent.pk, settles_at=intent.settles_at - timedelta(seconds=1))
    with accepted():
        change(INTENT, intent.pk, settles_at=intent.settles_at + timedelta(seconds=1))


def test_what_may_have_been_sent_keeps_its_decision() -> None:
    intent = factories.unknown_intent()
    later = factories.make_decision(intent=intent, ruling="allow", at=now())
    with refused_by(FROZEN, "keeps the decision"):
        change(INTENT, intent.pk, decision_id=later.pk)


# --- proof: the gate --------------------------------------------------------------------------------------


def authorizing(decision_id: int) -> dict[str, Any]:
    """Return the columns of a move to authorized on a decision."""
    frozen = factories.FROZEN
    return {
        "decision_id": decision_id, "document": frozen.document, "api_version": frozen.api_version, "body": frozen.body,
        "body_digest": frozen.digest,
    }  # fmt: skip


def test_an_allowing_decision_in_the_worker_authorizes() -> None:
    intent = factories.make_intent()
    allowed = factories.make_decision(intent=intent, ruling="allow", at=now())
    with accepted():
        raw_move(intent, "authorized", **authorizing(allowed.pk))


@pytest.mark.parametrize(
    "columns",
    [
        {"ruling": "allow", "phase": "proposal"},
        {"ruling": "hold", "reason": "paused"},
        {"ruling": "approve"},
    ],
)
def test_no_other_decision_authorizes(columns: dict[str, str]) -> None:
    intent = factories.make_intent()
    decision = factories.make_decision(intent=intent, at=now(), **columns)
    with refused_by(PROOF, "past the gate needs"):
        raw_move(intent, "authorized", **authorizing(decision.pk))


def test_a_decision_about_another_intent_authorizes_nothing() -> None:
    intent = factories.make_intent()
    other = factories.make_intent(ticket=intent.ticket, target=intent.target)
    foreign = factories.make_decision(intent=other, ruling="allow", at=now())
    with refused_by(PROOF, "a decision about itself"):
        raw_move(intent, "authorized", **authorizing(foreign.pk))


def test_an_older_yes_does_not_outlive_a_newer_no() -> None:
    intent = factories.make_intent()
    allowed = factories.make_decision(intent=intent, ruling="allow", at=now())
    factories.make_decision(intent=intent, ruling="hold", reason="paused", at=now())
    with refused_by(PROOF, "the gate's last word"):
        raw_move(intent, "authorized", **authorizing(allowed.pk))


@pytest.mark.parametrize(
    ("columns", "is_used", "may"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"digest": "another"}, True, False),
    ],
)
def test_an_approval_counts_once_used_and_for_exactly_what_was_shown(
    columns: dict[str, str], is_used: bool, may: bool
) -> None:
    intent = factories.intent_in(State.AWAITING_APPROVAL)
    shown, at = intent.decisions.get(), now()
    approval = factories.make_approval(decision=shown, at=at)
    if is_used:
        change("actions_approval", approval.pk, used_at=at)
    again = factories.make_decision(
        intent=intent,
        ruling="approve",
        at=at,
        shown_digest=columns.get("digest", shown.shown_digest),
    )
    with accepted() if may else refused_by(PROOF, "past the gate needs"):
        raw_move(intent, "authorized", **authorizing(again.pk))


# --- proof: sending ---------------------------------------------------------------------------------------


def test_executing_needs_an_open_attempt() -> None:
    intent = factories.intent_in(State.AUTHORIZED)
    with refused_by(PROOF, "executing needs an open attempt"):
        raw_move(intent, "executing", lease_until=now())


def test_unknown_needs_an_attempt_that_may_have_left() -> None:
    intent, at = factories.intent_in(State.EXECUTING), now()
    with refused_by(PROOF, "unknown needs an attempt"):
        factories.close_attempt(intent.attempts.get(), AttemptOutcome.NOT_SENT, at=at)
        raw_move(intent, "unknown", unknown_since=at)


@pytest.mark.parametrize("outcome", ["unknown", "rejected", "echoed", None])
def test_what_may_have_been_sent_is_not_unsent_again(outcome: str | None) -> None:
    intent = factories.intent_in(State.EXECUTING)
    if outcome is not None:
        factories.close_attempt(intent.attempts.get(), AttemptOutcome(outcome), at=now())
    with refused_by(PROOF, "is not unsent again"):
        raw_move(intent, "authorized")


def test_what_an_open_attempt_may_send_is_not_withdrawn() -> None:
    intent = factories.intent_in(State.AUTHORIZED)
    factories.open_attempt(intent=intent, at=now())
    with refused_by(PROOF, "is not unsent again"):
        raw_move(intent, "withdrawn")


@pytest.mark.parametrize(
    "without", ["set_aside_by_kind", "set_aside_by_identity", "set_aside_reason_id", "set_aside_at"]
)
def test_what_is_set_aside_says_when_by_whom_and_why(without: str) -> None:
    intent = factories.unknown_intent()
    payload = factories.make_payload(workspace=intent.workspace)
    columns: dict[str, object] = {
        "set_aside_at": now(), "set_aside_by_kind": "human_node", "set_aside_by_identity": "node-1", "set_aside_reason_id": payload.pk,
    }  # fmt: skip
    for otherwise in ({without: None}, {"set_aside_by_kind": "ai"}):
        with refused_by("intent_set_aside_by_a_person"):
            change(INTENT, intent.pk, **columns | otherwise)
    with accepted():
        change(INTENT, intent.pk, **columns)


# --- proof: failure ---------------------------------------------------------------------------------------


def test_failed_says_how() -> None:
    intent = factories.intent_in(State.EXECUTING)
    with refused_by(PROOF, "failed says how"):
        raw_move(intent, "failed", state_reason="somehow")


def test_a_rejection_needs_an_attempt_that_was_rejected() -> None:
    intent = factories.unknown_intent()
    assert intent.settles_at is not None
    factories.find_absent(intent=intent, at=intent.settles_at)
    factories.resolve_attempts(intent, ResolvedHow.ABSENT, at=now())
    with refused_by(PROOF, "an attempt that the platform rejected"):
        raw_move(intent, "failed", state_reason="rejected")


@pytest.mark.parametrize("reason", ["rejected", "absent"])
def test_nothing_fails_over_an_open_or_doubtful_attempt(reason: str) -> None:
    for intent in (factories.intent_in(State.EXECUTING), factories.unknown_intent()):
        with refused_by(PROOF, "every attempt closed without an effect"):
            raw_move(intent, "failed", state_reason=reason)


@pytest.mark.parametrize("reason", ["rejected", "absent"])
def test_nothing_fails_as_rejected_or_absent_while_its_effect_is_known(reason: str) -> None:
    intent = factories.intent_in(State.PENDING)
    with refused_by(PROOF, "every attempt closed without an effect"):
        raw_move(intent, "failed", state_reason=reason)


def test_the_way_of_failing_is_not_changed_without_its_proof() -> None:
    intent = factories.intent_in(State.FAILED)
    with refused_by(PROOF, "absent needs two complete findings"):
        change(INTENT, intent.pk, state_reason="absent")


@pytest.mark.parametrize(
    ("apart_seconds", "before_seconds", "result", "may"),
    [
        (180, 0, "complete", True),
        (179, 0, "complete", False),
        (180, 1, "complete", False),
        (180, 0, "truncated", False),
    ],
)
def test_absent_needs_two_complete_absences_apart_after_the_last_send_could_land(
    apart_seconds: int, before_seconds: int, result: str, may: bool
) -> None:
    intent = factories.unknown_intent()
    assert intent.settles_at is not None
    first = intent.settles_at - timedelta(seconds=before_seconds)
    factories.find_absent(intent=intent, at=first)
    factories.find_absent(intent=intent, at=first + timedelta(seconds=apart_seconds), result=result)
    factories.resolve_attempts(intent, ResolvedHow.ABSENT, at=now())
    with accepted() if may else refused_by(PROOF, "absent needs two complete findings"):
        raw_move(intent, "failed", state_reason="absent")


def test_absences_on_a_sandbox_are_as_far_apart_as_its_time_runs() -> None:
    ticket = factories.make_ticket()
    sandbox = factories.make_connection(
        workspace=ticket.workspace,
        is_sandbox=True,
        time_scale=Decimal("0.5"),
        base_url="http://sandbox",
    )
    intent = factories.unknown_intent(
        ticket=ticket, target=factories.make_target(connection=sandbox)
    )
    assert intent.settles_at is not None
    for seconds in (0, 90):
        factories.find_absent(intent=intent, at=intent.settles_at + timedelta(seconds=seconds))
    factories.resolve_attempts(intent, ResolvedHow.ABSENT, at=now())
    with accepted():
        raw_move(intent, "failed", state_reason="absent")


# --- proof: the echo --------------------------------------------------------------------------------------

MONEY = factories.AMOUNT
SUCCESS = [(Standing.SUCCEEDED, MONEY)]


@pytest.mark.parametrize("to", ["pending", "partially_confirmed", "confirmed", "failed"])
def test_no_word_of_the_platform_no_state_that_stands_on_it(to: str) -> None:
    intent = factories.unknown_intent()
    reason = "money_failed" if to == "failed" else ""
    confirmed_at = now() if to == "confirmed" else None
    with refused_by(PROOF, "needs an external object bound to the intent"):
        raw_move(intent, to, state_reason=reason, confirmed_at=confirmed_at)


@pytest.mark.parametrize(
    ("parts", "columns"),
    [
        ([(Standing.SUCCEEDED, MONEY - Decimal("0.01"))], {}),
        ([(Standing.SUCCEEDED, MONEY + Decimal("0.01"))], {}),
        ([(Standing.OPEN, MONEY)], {}),
        ([(Standing.FAILED, MONEY)], {}),
        ([(Standing.SUCCEEDED, MONEY), (Standing.FAILED, Decimal(0))], {}),
        (SUCCESS, {"currency": "USD"}),
        (SUCCESS, {"target_identifier": "gid://shopify/Order/another"}),
        (SUCCESS, {"marker": "rzv:another"}),
        ([], {}),
    ],
)
def test_confirmed_needs_success_with_exactly_what_was_asked(
    parts: list[tuple[Standing, Decimal]], columns: dict[str, str]
) -> None:
    intent, at = factories.unknown_intent(), now()
    bound = factories.make_object(target=intent.target, intent=intent)
    read = factories.make_read(target=intent.target, at=at)
    factories.make_echo(external_object=bound, source=read, at=at, parts=parts, **columns)
    with refused_by(PROOF, "confirmed needs an echo that says success"):
        raw_move(intent, "confirmed", confirmed_at=at)


def test_parts_that_succeed_and_add_up_confirm() -> None:
    intent, at = factories.unknown_intent(), now()
    bound = factories.make_object(target=intent.target, intent=intent)
    read = factories.make_read(target=intent.target, at=at)
    halves = [(Standing.SUCCEEDED, MONEY / 2)] * 2
    factories.make_echo(external_object=bound, source=read, at=at, parts=halves)
    with accepted():
        raw_move(intent, "confirmed", confirmed_at=at)


def test_an_older_echo_of_success_does_not_confirm_over_a_newer_one() -> None:
    intent, at = factories.intent_in(State.PENDING), now()
    bound, read = intent.external_objects.get(), factories.make_read(target=intent.target, at=at)
    for standing in (Standing.SUCCEEDED, Standing.OPEN):
        factories.make_echo(external_object=bound, source=read, at=at, parts=[(standing, MONEY)])
    with refused_by(PROOF, "confirmed needs an echo that says success"):
        raw_move(intent, "confirmed", confirmed_at=at)


def test_an_object_that_nobody_bound_confirms_nothing() -> None:
    intent, at = factories.unknown_intent(), now()
    free = factories.make_object(target=intent.target)
    read = factories.make_read(target=intent.target, at=at)
    factories.make_echo(
        external_object=free, source=read, at=at, parts=SUCCESS, marker=intent.marker
    )
    with refused_by(PROOF, "needs an external object bound to the intent"):
        raw_move(intent, "confirmed", confirmed_at=at)


def test_an_amount_that_is_no_number_is_no_amount() -> None:
    intent = factories.make_intent()
    with refused_by("intent_money"):
        copy(INTENT, intent.pk, amount="NaN")
    echo = factories.confirmed_intent().external_objects.get().echoes.get()
    with refused_by("echopart_amount"):
        new = copy("actions_echo", echo.pk)
        copy("actions_echopart", echo.parts.get().pk, echo_id=new, amount="NaN")


@pytest.mark.parametrize(
    ("origin", "to", "parts", "sentence"),
    [
        (State.PENDING, "failed", SUCCESS, "whose parts all failed"),
        (State.PENDING, "partially_confirmed", SUCCESS, "final parts that differ"),
        (State.CONFIRMED, "reversed", SUCCESS, "says otherwise"),
    ],
)
def test_a_state_that_the_echo_contradicts_is_refused(
    origin: State, to: str, parts: list[tuple[Standing, Decimal]], sentence: str
) -> None:
    intent, at = factories.intent_in(origin), now()
    bound, read = intent.external_objects.get(), factories.make_read(target=intent.target, at=at)
    factories.make_echo(external_object=bound, source=read, at=at, parts=parts)
    with refused_by(PROOF, sentence):
        raw_move(intent, to, state_reason="money_failed" if to == "failed" else "")


def test_what_moves_no_money_confirms_without_parts_but_not_with_failed_ones() -> None:
    ticket = factories.make_ticket()
    for parts, may in (([], True), ([(Standing.FAILED, Decimal(0))], False)):
        request = factories.make_request(ticket=ticket, kind="add_tag", amount=None, currency="")
        intent = factories.unknown_intent(
            ticket=ticket, request=request, kind="add_tag", amount=None, currency=""
        )
        at = now()
        bound = factories.make_object(target=intent.target, intent=intent)
        read = factories.make_read(target=intent.target, at=at)
        factories.make_echo(external_object=bound, source=read, at=at, parts=parts)
        with accepted() if may else refused_by(PROOF, "confirmed needs an echo"):
            raw_move(intent, "confirmed", confirmed_at=at)


def test_one_key_is_one_intent_within_a_workspace() -> None:
    key = UUID(int=1)
    intent = factories.make_intent(key=key)
    with refused_by("intent_key"):
        copy(INTENT, intent.pk, key=key)
    with accepted():
        factories.make_intent(key=key)
