"""Each branch of the guards on attempts, reads, echoes, findings, outcomes and the gate's rows, met by raw SQL."""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

import pytest

from actions.models import Attempt, AttemptOutcome, ExternalObject, Intent, ResolvedHow
from actions.states import State
from integrations.clock import now
from integrations.ports import Standing
from tests import factories
from tests.refusals import accepted, add, change, copy, refused_by

pytestmark = pytest.mark.django_db
ATTEMPT, READ, OBJECT, ECHO, PART, FINDING = (
    f"actions_{name}"
    for name in ("attempt", "read", "externalobject", "echo", "echopart", "finding")
)
OUTCOME, DECISION, TARGET = (f"actions_{name}" for name in ("outcome", "gatedecision", "target"))
BIRTH = f"{ATTEMPT}_birth"
HOUR = timedelta(hours=1)
SUCCESS = [(Standing.SUCCEEDED, factories.AMOUNT)]


# --- attempts -------------------------------------------------------------------------------------------------


def resendable() -> Intent:
    """Return an unknown intent whose only attempt is resolved as absent, on evidence."""
    intent = factories.unknown_intent()
    _prove_absent(intent)
    return intent


def _prove_absent(intent: Intent) -> None:
    assert intent.settles_at is not None
    with accepted():
        factories.find_absent(intent=intent, at=intent.settles_at)
        factories.resolve_attempts(intent, ResolvedHow.ABSENT, at=now())


def again(intent: Intent, **columns: object) -> Attempt:
    """Open another attempt, ten minutes after the last could land."""
    assert intent.settles_at is not None
    at = intent.settles_at + timedelta(minutes=10)
    return factories.open_attempt(intent=intent, at=at, **columns)


def test_what_is_proven_absent_is_sent_again() -> None:
    with accepted():
        assert again(resendable()).number == 2


@pytest.mark.parametrize("state", set(State) - {State.AUTHORIZED, State.UNKNOWN})
def test_an_attempt_is_opened_on_nothing_but_authorized_or_unknown(state: State) -> None:
    intent = factories.intent_in(state)
    sent = factories.unknown_intent().attempts.get()
    with refused_by(BIRTH, "on an authorized or an unknown intent"):
        copy(ATTEMPT, sent.pk, intent_id=intent.pk, workspace_id=intent.workspace_id)


def test_an_attempt_is_opened_open_and_after_its_intent() -> None:
    attempt = factories.unknown_intent().attempts.get()
    for columns in ({"number": 2}, {"intent_id": 10**9}):
        with refused_by(BIRTH, "on an authorized or an unknown intent"):
            copy(ATTEMPT, attempt.pk, **columns)


@pytest.mark.parametrize("number", [1, 3, 0])
def test_attempts_are_counted_one_by_one(number: int) -> None:
    intent = resendable()
    with refused_by(BIRTH, "counted one by one"):
        again(intent, number=number)


def test_an_intent_is_sent_twelve_times_at_most() -> None:
    intent = factories.intent_in(State.AUTHORIZED)
    unsent = factories.open_attempt(intent=intent, at=now())
    factories.close_attempt(unsent, AttemptOutcome.NOT_SENT, at=now())
    for _ in range(12):
        attempt = again(intent)
        factories.close_attempt(attempt, AttemptOutcome.UNKNOWN, at=now())
        _prove_absent(intent)
    with refused_by(BIRTH, "at most 12 times"):
        again(intent)


@pytest.mark.parametrize(
    "columns", [{"key": "00000000-0000-0000-0000-000000000001"}, {"request_digest": "0" * 64}]
)
def test_bytes_sent_are_bytes_stored_under_the_intent_s_own_key(columns: dict[str, str]) -> None:
    intent = resendable()
    with refused_by(BIRTH, "bytes sent are bytes stored"):
        again(intent, **columns)


def test_nothing_is_sent_outside_its_window() -> None:
    intent = resendable()
    assert intent.first_sent_at is not None
    assert intent.resend_until is not None
    last = intent.resend_until
    for columns in (
        {"started_at": intent.first_sent_at - timedelta(seconds=1)},
        {"started_at": last, "send_by": last + timedelta(seconds=1)},
    ):
        with refused_by(BIRTH, "outside the window"):
            again(intent, **columns)
    unsent = factories.intent_in(State.AUTHORIZED)
    with refused_by(BIRTH, "outside the window"):
        copy(
            ATTEMPT, intent.attempts.get().pk, intent_id=unsent.pk, workspace_id=unsent.workspace_id, key=unsent.key,
            outcome=None, closed_at=None, closed_by=None, resolved_at=None, resolved_how=None,
        )  # fmt: skip


def test_nothing_is_resent_once_that_right_has_ended() -> None:
    intent = resendable()
    change("actions_intent", intent.pk, resend_ended_at=now())
    with refused_by(BIRTH, "outside the window"):
        again(intent)


def test_nothing_is_resent_that_a_person_has_set_aside() -> None:
    intent = resendable()
    payload = factories.make_payload(workspace=intent.workspace)
    change(
        "actions_intent", intent.pk, set_aside_at=now(), set_aside_by_kind="human_node", set_aside_by_identity="node-1",
        set_aside_reason_id=payload.pk,
    )  # fmt: skip
    with refused_by(BIRTH, "outside the window"):
        again(intent)


def test_a_request_settles_no_earlier_than_it_may_be_sent() -> None:
    intent = resendable()
    assert intent.settles_at is not None
    at = intent.settles_at
    with refused_by(BIRTH, "settles no earlier"):
        factories.open_attempt(intent=intent, at=at, send_by=at + HOUR)


@pytest.mark.parametrize("status", ["handed_over", "closed_unresolved"])
def test_nothing_is_sent_on_a_closed_or_handed_over_ticket(status: str) -> None:
    intent = resendable()
    with refused_by(BIRTH, "closed or handed-over ticket"):
        change("tickets_ticket", intent.ticket_id, status=status)
        again(intent)


def test_after_a_change_of_app_nothing_is_resent() -> None:
    intent = resendable()
    with refused_by(BIRTH, "after a change of app"):
        again(intent, app="gid://shopify/App/2")


@pytest.mark.parametrize("how", [None, "found"])
def test_nothing_is_resent_over_doubt_or_a_found_effect(how: str | None) -> None:
    intent = factories.unknown_intent()
    if how is not None:
        factories.resolve_attempts(intent, ResolvedHow(how), at=now())
    with refused_by(BIRTH, "proven unsent or absent"):
        again(intent)


def test_an_intent_has_one_open_attempt_at_most() -> None:
    intent, at = factories.intent_in(State.AUTHORIZED), now()
    factories.open_attempt(intent=intent, at=at)
    with refused_by("attempt_open_once"):
        factories.open_attempt(intent=intent, at=at)


def test_an_attempt_is_closed_with_an_outcome_and_resolved_with_a_way() -> None:
    at = now()
    open_one = factories.intent_in(State.EXECUTING).attempts.get()
    in_doubt = factories.unknown_intent().attempts.get()
    for columns in ({}, {"closed_by": "answer"}, {"outcome": "unknown"}):
        with refused_by("attempt_closed_with_outcome"):
            change(ATTEMPT, open_one.pk, closed_at=at, **columns)
    with refused_by("attempt_resolved_only_if_unknown"):
        change(ATTEMPT, in_doubt.pk, resolved_at=at)
    with refused_by("attempt_resolved_only_if_unknown"):
        change(ATTEMPT, open_one.pk, resolved_at=at, resolved_how="found")


@pytest.mark.parametrize("outcome", ["not_sent", "rejected"])
def test_an_attempt_that_brought_an_echo_had_an_effect(outcome: str) -> None:
    intent, at = factories.intent_in(State.EXECUTING), now()
    attempt = intent.attempts.get()
    bound = factories.make_object(target=intent.target, intent=intent)
    factories.make_echo(external_object=bound, source=attempt, at=at, parts=SUCCESS)
    with refused_by(f"{ATTEMPT}_closing"):
        factories.close_attempt(attempt, AttemptOutcome(outcome), at=at)
    with accepted():
        change(ATTEMPT, attempt.pk, outcome="echoed", closed_at=at, closed_by="answer")


@pytest.mark.parametrize(
    ("early_seconds", "result", "may"),
    [(0, "complete", True), (1, "complete", False), (0, "truncated", False)],
)
def test_absent_is_said_of_an_attempt_on_a_complete_read_after_it_could_land(
    early_seconds: int, result: str, may: bool
) -> None:
    intent = factories.unknown_intent()
    assert intent.settles_at is not None
    with accepted() if may else refused_by(f"{ATTEMPT}_absence"):
        factories.resolve_attempts(intent, ResolvedHow.ABSENT, at=now())
        at = intent.settles_at - timedelta(seconds=early_seconds)
        factories.find_absent(intent=intent, at=at, result=result)


# --- reads, objects, echoes, findings --------------------------------------------------------------------


def other_target(intent: Intent) -> int:
    """Return a target of the same workspace on another connection."""
    connection = factories.make_connection(workspace=intent.workspace)
    return factories.make_target(connection=connection).pk


def test_a_read_asks_for_a_target_of_its_own_connection() -> None:
    intent = factories.make_intent()
    read = factories.make_read(target=intent.target, at=now())
    with refused_by(f"{READ}_target"):
        copy(READ, read.pk, target_id=other_target(intent))
    with accepted():
        copy(READ, read.pk)


def test_an_object_stands_on_a_target_of_its_own_connection() -> None:
    intent = factories.make_intent()
    free = factories.make_object(target=intent.target)
    with refused_by(f"{OBJECT}_binding", "target of its own connection"):
        copy(OBJECT, free.pk, target_id=other_target(intent))


def test_an_object_belongs_to_an_intent_on_its_own_target() -> None:
    intent = factories.unknown_intent()
    beside = factories.make_target(connection=intent.connection)
    elsewhere = factories.make_object(target=beside)
    with refused_by(f"{OBJECT}_binding", "an intent on its own target"):
        change(OBJECT, elsewhere.pk, intent_id=intent.pk)
    here = factories.make_object(target=intent.target)
    with accepted():
        change(OBJECT, here.pk, intent_id=intent.pk)


def test_an_object_proves_one_intent_and_an_intent_has_one_object() -> None:
    intent = factories.confirmed_intent()
    external = intent.external_objects.get()
    with refused_by("externalobject_once"):
        copy(OBJECT, external.pk, identifier=external.identifier, intent_id=None)
    with refused_by("externalobject_proves_one_intent"):
        copy(OBJECT, external.pk)
    twin = factories.make_intent(ticket=intent.ticket, target=intent.target)
    for instead in (twin.pk, None):
        with refused_by(f"{OBJECT}_changes", "written once"):
            change(OBJECT, external.pk, intent_id=instead)


def echoed_by(external: ExternalObject, **source: object) -> int:
    """Insert an echo without parts of an object."""
    at = now()
    return copy(
        ECHO,
        _some_echo(),
        external_object_id=external.pk,
        workspace_id=external.workspace_id,
        part_count=0,
        observed_at=at,
        **source,
    )


def _some_echo() -> int:
    return factories.confirmed_intent().external_objects.get().echoes.get().pk


def test_an_answer_speaks_of_the_attempt_s_own_intent() -> None:
    intent, at = factories.unknown_intent(), now()
    free = factories.make_object(target=intent.target)
    attempt = intent.attempts.get()
    with refused_by(f"{ECHO}_source", "the attempt's own intent"):
        echoed_by(free, attempt_id=attempt.pk, read_id=None)
    change(OBJECT, free.pk, intent_id=intent.pk)
    with accepted():
        echoed_by(free, attempt_id=attempt.pk, read_id=None)
    assert at is not None


@pytest.mark.parametrize("outcome", ["not_sent", "rejected"])
def test_an_attempt_without_an_effect_brings_no_echo(outcome: str) -> None:
    intent = factories.intent_in(State.EXECUTING)
    attempt = intent.attempts.get()
    factories.close_attempt(attempt, AttemptOutcome(outcome), at=now())
    bound = factories.make_object(target=intent.target, intent=intent)
    with refused_by(f"{ECHO}_source", "of an effect"):
        echoed_by(bound, attempt_id=attempt.pk, read_id=None)


def test_a_read_speaks_of_its_own_target_and_an_error_says_nothing() -> None:
    intent, at = factories.make_intent(), now()
    free = factories.make_object(target=intent.target)
    beside = factories.make_target(connection=intent.connection)
    good, bad, elsewhere = (
        factories.make_read(target=target, at=at, result=result).pk
        for target, result in (
            (intent.target, "truncated"),
            (intent.target, "error"),
            (beside, "complete"),
        )
    )
    for read in (bad, elsewhere):
        with refused_by(f"{ECHO}_source", "an echo in a read"):
            echoed_by(free, attempt_id=None, read_id=read)
    with accepted():
        echoed_by(free, attempt_id=None, read_id=good)


def test_an_echo_comes_with_all_of_its_parts_at_once() -> None:
    echo = factories.confirmed_intent().external_objects.get().echoes.get()
    with refused_by(f"{ECHO}_whole"):
        copy(ECHO, echo.pk)
    with accepted():
        copy(PART, echo.parts.get().pk, echo_id=copy(ECHO, echo.pk))


def test_an_echo_gets_no_part_later_and_a_part_never_comes_first() -> None:
    echo = factories.confirmed_intent().external_objects.get().echoes.get()
    for columns in ({}, {"echo_id": 10**9}):
        with refused_by(f"{PART}_count"):
            copy(PART, echo.parts.get().pk, **columns)


@pytest.mark.parametrize("result", ["absent", "nothing_said"])
def test_a_finding_speaks_of_an_intent_on_the_target_that_was_read(result: str) -> None:
    intent, at = factories.unknown_intent(), now()
    beside = factories.make_target(connection=intent.connection)
    read, elsewhere = (
        factories.make_read(target=intent.target, at=at),
        factories.make_read(target=beside, at=at),
    )
    finding = factories.find_absent(intent=intent, at=at)
    with refused_by(f"{FINDING}_target"):
        copy(FINDING, finding.pk, read_id=elsewhere.pk, result=result)
    with accepted():
        copy(FINDING, finding.pk, read_id=read.pk, result=result)


def test_an_error_finds_nothing() -> None:
    intent, at = factories.unknown_intent(), now()
    error = factories.make_read(target=intent.target, at=at, result="error")
    finding = factories.find_absent(intent=intent, at=at)
    with refused_by(f"{FINDING}_target"):
        copy(FINDING, finding.pk, read_id=error.pk)
    with accepted():
        copy(FINDING, finding.pk, read_id=error.pk, result="nothing_said")


def test_what_is_found_stands_on_the_target_that_was_read() -> None:
    intent, at = factories.unknown_intent(), now()
    elsewhere = factories.make_object(target=factories.make_target(connection=intent.connection))
    read, finding = (
        factories.make_read(target=intent.target, at=at),
        factories.find_absent(intent=intent, at=at),
    )
    with refused_by(f"{FINDING}_target"):
        copy(FINDING, finding.pk, read_id=read.pk, result="found", external_object_id=elsewhere.pk)


# --- outcomes -------------------------------------------------------------------------------------------------


def outcome_of(intent: Intent, **columns: object) -> None:
    """Insert the outcome that an intent's object gives its request, unless told otherwise."""
    external = ExternalObject.objects.filter(intent=intent).first()
    row = {
        "workspace_id": intent.workspace_id, "request_id": intent.request_id, "external_object_id": external and external.pk,
        "intent_id": intent.pk, "statement_id": None, "by_kind": "ai", "by_identity": "agent-1", "created_at": now(),
    } | columns  # fmt: skip
    add(OUTCOME, **row)


def test_a_confirmed_intent_fulfils_what_it_was_asked_once() -> None:
    intent = factories.confirmed_intent()
    with accepted():
        outcome_of(intent)
    later = factories.make_request(ticket=intent.ticket)
    with refused_by("outcome_fulfils_one_request"):
        outcome_of(intent, request_id=later.pk)


@pytest.mark.parametrize(
    "asked",
    [
        {"amount": factories.AMOUNT + 1},
        {"currency": "USD"},
        {"kind": "reply"},
        {"target": "gid://shopify/Order/another"},
    ],
)
def test_an_outcome_is_what_was_asked_or_a_person_says_why_it_will_do(
    asked: dict[str, object],
) -> None:
    intent = factories.confirmed_intent()
    other = factories.make_request(ticket=intent.ticket, **asked)
    with refused_by(f"{OUTCOME}_fact", "has the kind, target, amount and currency asked"):
        outcome_of(intent, request_id=other.pk)
    payload = factories.make_payload(workspace=intent.workspace)
    with accepted():
        outcome_of(intent, request_id=other.pk, statement_id=payload.pk, by_kind="human_node")


def test_an_outcome_names_the_intent_that_its_object_belongs_to() -> None:
    intent = factories.confirmed_intent()
    for claimed in (None, factories.confirmed_intent(ticket=intent.ticket).pk):
        with refused_by(f"{OUTCOME}_fact", "names the intent that its object belongs to"):
            outcome_of(intent, intent_id=claimed)


@pytest.mark.parametrize("state", [State.PENDING, State.PARTIALLY_CONFIRMED, State.REVERSED])
def test_an_intent_that_is_not_confirmed_fulfils_nothing(state: State) -> None:
    with refused_by(f"{OUTCOME}_fact", "confirmed or accepted"):
        outcome_of(factories.intent_in(state))


def test_an_accepted_intent_fulfils_with_a_person_s_word_alone() -> None:
    intent = factories.intent_in(State.ACCEPTED)
    payload = factories.make_payload(workspace=intent.workspace)
    with refused_by(f"{OUTCOME}_fact", "or a person says why"):
        outcome_of(intent)
    with accepted():
        outcome_of(intent, statement_id=payload.pk, by_kind="human_node")


def late_absent() -> Intent:
    """Return an intent that failed as absent, and whose effect came to light after that."""
    intent = factories.unknown_intent()
    assert intent.first_sent_at is not None
    factories.fail_as_absent(intent, at=intent.first_sent_at)
    bound = factories.make_object(target=intent.target, intent=intent)
    read = factories.make_read(target=intent.target, at=now())
    factories.make_echo(external_object=bound, source=read, at=now(), parts=SUCCESS)
    return intent


@pytest.mark.parametrize("late", [factories.late_success, late_absent])
def test_a_late_success_fulfils_with_a_person_s_word_alone(late: Callable[[], Intent]) -> None:
    intent = late()
    payload = factories.make_payload(workspace=intent.workspace)
    with refused_by(f"{OUTCOME}_fact", "or a late success and a person's word"):
        outcome_of(intent)
    with refused_by("outcome_statement_by_a_person"):
        outcome_of(intent, statement_id=payload.pk)
    with accepted():
        outcome_of(intent, statement_id=payload.pk, by_kind="human_node")


@pytest.mark.parametrize(
    "parts",
    [
        [(Standing.FAILED, factories.AMOUNT)],
        [(Standing.OPEN, factories.AMOUNT)],
        [(Standing.SUCCEEDED, factories.AMOUNT / 2), (Standing.FAILED, factories.AMOUNT / 2)],
        [],
    ],
)
def test_no_word_makes_an_outcome_of_what_failed(parts: list[tuple[Standing, Decimal]]) -> None:
    intent = factories.late_success(parts)
    payload = factories.make_payload(workspace=intent.workspace)
    with refused_by(f"{OUTCOME}_fact", "or a late success and a person's word"):
        outcome_of(intent, statement_id=payload.pk, by_kind="human_node")


def test_a_late_success_fulfils_no_request_of_another_ticket() -> None:
    intent = factories.late_success()
    payload = factories.make_payload(workspace=intent.workspace)
    foreign = factories.make_request(ticket=factories.make_ticket(workspace=intent.workspace))
    with refused_by(f"{OUTCOME}_fact", "on the request's ticket"):
        outcome_of(intent, request_id=foreign.pk, statement_id=payload.pk, by_kind="human_node")


def test_an_intent_fulfils_no_request_of_another_ticket() -> None:
    intent = factories.confirmed_intent()
    foreign = factories.make_request(ticket=factories.make_ticket(workspace=intent.workspace))
    with refused_by(f"{OUTCOME}_fact", "on the request's ticket"):
        outcome_of(intent, request_id=foreign.pk)


def test_an_object_that_the_platform_never_echoed_fulfils_nothing() -> None:
    intent = factories.confirmed_intent()
    silent = factories.make_object(target=intent.target)
    with refused_by(f"{OUTCOME}_fact", "a fact that the platform echoed"):
        outcome_of(intent, external_object_id=silent.pk, intent_id=None)


@pytest.mark.parametrize(
    ("parts", "may"),
    [
        (SUCCESS, True),
        ([(Standing.FAILED, factories.AMOUNT)], False),
        ([(Standing.SUCCEEDED, Decimal(1))], False),
        ([], False),
    ],
)
def test_what_the_brand_s_team_did_by_hand_is_held_to_the_same(
    parts: list[tuple[Standing, Decimal]], may: bool
) -> None:
    intent, at = factories.make_intent(), now()
    by_hand = factories.make_object(target=intent.target)
    read = factories.make_read(target=intent.target, at=at)
    factories.make_echo(external_object=by_hand, source=read, at=at, parts=parts)
    with accepted() if may else refused_by(f"{OUTCOME}_fact", "or a person says why"):
        outcome_of(intent, external_object_id=by_hand.pk, intent_id=None)


def test_an_outcome_comes_after_its_request_even_within_one_statement() -> None:
    intent = factories.confirmed_intent()
    with refused_by(f"{OUTCOME}_fact", "stated before"):
        outcome_of(intent, request_id=10**9)


# --- the gate's rows ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [1, 3])
def test_decisions_are_counted_so_that_the_last_word_is_known(number: int) -> None:
    decision = factories.intent_in(State.HELD).decisions.get()
    with refused_by(f"{DECISION}_counted"):
        copy(DECISION, decision.pk, number=number)
    with accepted():
        copy(DECISION, decision.pk, number=2)


def test_a_target_s_version_only_rises() -> None:
    target = factories.make_intent().target
    with accepted():
        change(TARGET, target.pk, version=5)
    with refused_by(f"{TARGET}_version"):
        change(TARGET, target.pk, version=4)
