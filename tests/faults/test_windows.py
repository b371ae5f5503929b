"""When a doubtful refund may be sent again, and when never: lateness, the window, what has changed.

Promises: both clocks are moved, ours and the store's; the store forgets keys wherever a key could
hide a mistake of ours; where nothing may be sent, the store's own list of requests says so.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from actions import execution
from actions.advance import advance
from actions.boundaries import Boundary
from actions.models import Intent
from actions.services import withdraw
from integrations import vault
from integrations.clock import local_seconds, now
from integrations.markers import new_marker
from integrations.models import Connection, Workspace
from integrations.registry import credentials_context
from integrations.sandbox.faults import FaultKind
from tests.stage import PERSON, Stage, fresh
from tickets.models import Ticket

pytestmark = pytest.mark.django_db(transaction=True)

HOUR, MINUTE, SECOND = timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1)


@pytest.fixture
def forgetful(stage: Stage) -> Stage:
    """A stage whose store forgets keys: nothing but our own rules prevents a double."""
    stage.shop.keys(remember=False)
    return stage


@pytest.fixture(params=[True, False], ids=["keys remembered", "keys forgotten"])
def either(request: pytest.FixtureRequest, stage: Stage) -> Stage:
    """A stage whose store remembers keys, and one whose store forgets them."""
    stage.shop.keys(remember=request.param)
    return stage


def lose(stage: Stage, kind: FaultKind = FaultKind.LOST_BEFORE, **details: object) -> Intent:
    """Send a refund whose answer never comes; return it in doubt."""
    stage.shop.fault(kind, operation="refundCreate", **details)
    intent = stage.work(stage.propose(stage.case()))
    assert (intent.state, sends(stage)) == ("unknown", 1)
    return intent


def sends(stage: Stage) -> int:
    """Return how many refund requests reached the store."""
    return len(stage.shop.requests(operation="refundCreate"))


def pass_until(stage: Stage, moment: datetime) -> None:
    """Let time pass, here and on the store, until just after a moment of ours."""
    stage.pass_time(moment - now() + timedelta(milliseconds=1))


def work_at(stage: Stage, intent: Intent, moment: datetime | None) -> Intent:
    """Let time pass until a moment, and do what a worker does."""
    assert moment is not None
    pass_until(stage, moment)
    return stage.work(intent)


def absences(intent: Intent) -> int:
    """Return how many complete reads found nothing."""
    return intent.findings.filter(result="absent", read__result="complete").count()


def past_the_window(stage: Stage, intent: Intent) -> Intent:
    """Let the window pass, and read twice."""
    intent = work_at(stage, intent, intent.resend_until)
    return work_at(stage, intent, now() + 3 * MINUTE)


# --- Lateness -----------------------------------------------------------------------------------


def test_a_request_that_lands_nine_minutes_late_is_confirmed_once(either: Stage) -> None:
    """F23: absence is not believed while a request may still be under way."""
    intent = lose(either, FaultKind.LATE, delay=9 * MINUTE)
    intent = either.settle(intent)
    assert (intent.state, sends(either), len(either.shop.effects())) == ("confirmed", 1, 1)
    assert absences(intent) >= 2


def test_a_store_that_breaks_its_declared_lateness_doubles_and_the_double_is_told(
    forgetful: Stage,
) -> None:
    """What the guarantee leans on: without keys, what lands after the bound is a second refund."""
    stage = forgetful
    stage.sandbox.break_lateness_bound()
    intent = stage.settle(lose(stage, FaultKind.LATE, delay=30 * MINUTE))
    assert (intent.state, len(stage.shop.effects())) == ("confirmed", 1)
    stage.pass_time(30 * MINUTE)
    assert [effect.note for effect in stage.shop.effects()] == [intent.marker, intent.marker]
    stage.read(intent)
    intent = fresh(intent)
    assert (intent.state, intent.needs_human_reason) == ("confirmed", "two_matches")


def test_the_same_lateness_doubles_nothing_where_the_store_remembers_keys(stage: Stage) -> None:
    stage.sandbox.break_lateness_bound()
    intent = stage.settle(lose(stage, FaultKind.LATE, delay=30 * MINUTE))
    stage.pass_time(30 * MINUTE)
    assert (intent.state, sends(stage), len(stage.shop.effects())) == ("confirmed", 2, 1)


def test_an_effect_that_appears_after_it_was_called_absent_stands_before_a_person(
    forgetful: Stage,
) -> None:
    stage = forgetful
    stage.sandbox.break_lateness_bound()
    intent = lose(stage, FaultKind.LATE, delay=HOUR)
    withdraw(intent=intent, by=PERSON, at=now())
    intent = stage.settle(intent)
    assert (intent.state, intent.state_reason) == ("failed", "absent")
    stage.pass_time(HOUR)
    (effect,) = stage.shop.effects()
    stage.read(intent)
    intent = fresh(intent)
    assert (intent.state, intent.needs_human_reason) == ("failed", "late_success")
    assert intent.external_objects.get().identifier == effect.id


def test_nothing_is_sent_again_before_the_last_send_has_settled(forgetful: Stage) -> None:
    intent = lose(forgetful)
    assert intent.settles_at == intent.attempts.get().send_by + 12 * MINUTE
    intent = work_at(forgetful, intent, intent.settles_at - SECOND)
    assert (intent.state, sends(forgetful)) == ("unknown", 1)
    intent = work_at(forgetful, intent, intent.settles_at)
    assert (intent.state, sends(forgetful)) == ("confirmed", 2)


# --- The window ---------------------------------------------------------------------------------


def _unread_until(stage: Stage, age: timedelta) -> Intent:
    """Lose a request, read nothing but errors, and return it when its first send is so long ago."""
    stage.shop.fault(FaultKind.READ_ERROR, operation="order", skip=1, times=None)
    intent = lose(stage)
    assert intent.first_sent_at is not None
    stage.pass_time(intent.first_sent_at + age - now())
    stage.shop.clear_faults()
    return intent


def test_a_minute_before_twenty_hours_it_is_sent_again(either: Stage) -> None:
    intent = either.work(_unread_until(either, 20 * HOUR - MINUTE))
    assert (intent.state, sends(either), len(either.shop.effects())) == ("confirmed", 2, 1)


@pytest.mark.parametrize(
    "age",
    [20 * HOUR - 9 * SECOND, 20 * HOUR, 24 * HOUR, 24 * HOUR + SECOND, 72 * HOUR],
    ids=str,
)
def test_from_twenty_hours_on_nothing_is_sent_and_two_absences_end_it(
    stage: Stage, age: timedelta
) -> None:
    """F49: a key that the store may have forgotten is never sent again."""
    intent = stage.work(_unread_until(stage, age))
    assert (intent.state, absences(intent)) == ("unknown", 1)
    intent = work_at(stage, intent, now() + 3 * MINUTE)
    assert (intent.state, intent.state_reason, absences(intent)) == ("failed", "absent", 2)
    assert intent.needs_human_reason == "resend_ended"
    assert (sends(stage), stage.shop.effects()) == (1, ())


def test_one_absence_is_not_enough_and_two_close_ones_are_not_either(stage: Stage) -> None:
    intent = stage.work(_unread_until(stage, 21 * HOUR))
    for _ in range(3):
        intent = work_at(stage, intent, now() + 50 * SECOND)
        assert intent.state == "unknown"
    assert absences(intent) == 4
    intent = work_at(stage, intent, now() + 50 * SECOND)
    assert (intent.state, sends(stage)) == ("failed", 1)


def test_an_effect_that_only_the_second_read_sees_is_confirmed_and_never_called_absent(
    stage: Stage,
) -> None:
    """M16: one read of a lagging replica proves nothing."""
    stage.shop.read_lag(14 * MINUTE)
    intent = lose(stage, FaultKind.LOST_AFTER)
    withdraw(intent=intent, by=PERSON, at=now())
    intent = work_at(stage, intent, intent.settles_at)
    assert (intent.state, absences(intent)) == ("unknown", 2)
    intent = stage.settle(intent)
    assert (intent.state, sends(stage), len(stage.shop.effects())) == ("confirmed", 1, 1)


# --- What proves nothing ------------------------------------------------------------------------

UNREAD = [
    (FaultKind.TRUNCATED_REFUNDS, "truncated"),
    (FaultKind.READ_ERROR, "error"),
    (FaultKind.ORDER_NULL, "error"),
]


@pytest.mark.parametrize(("kind", "result"), UNREAD, ids=str)
def test_an_incomplete_read_proves_nothing_and_leads_to_no_send(
    forgetful: Stage, kind: FaultKind, result: str
) -> None:
    """F46: the refund is there; who believed these reads would double it, or call it failed."""
    stage = forgetful
    stage.shop.fault(kind, operation="order", skip=1, times=None)
    intent = lose(stage, FaultKind.LOST_AFTER)
    for age in (MINUTE, 13 * MINUTE, HOUR, 19 * HOUR, 21 * HOUR, 25 * HOUR):
        intent = work_at(stage, intent, intent.created_at + age)
        assert (intent.state, absences(intent)) == ("unknown", 0)
    reads = intent.findings.values_list("result", "read__result").distinct()
    assert list(reads) == [("nothing_said", result)]
    assert (intent.needs_human_reason, sends(stage)) == ("unknown_too_long", 1)
    stage.shop.clear_faults()
    intent = stage.work(intent)
    assert (intent.state, sends(stage), len(stage.shop.effects())) == ("confirmed", 1, 1)


def test_a_schedule_that_ends_leaves_it_unknown_before_a_person(stage: Stage) -> None:
    stage.shop.fault(FaultKind.READ_ERROR, operation="order", skip=1, times=None)
    intent = lose(stage)
    intent = work_at(stage, intent, intent.created_at + 40 * HOUR)
    assert (intent.state, intent.needs_human_reason, intent.due_at) == (
        "unknown",
        "exhausted_schedule",
        None,
    )
    assert sends(stage) == 1


# --- What ends the right to resend --------------------------------------------------------------


def _withdraw(_stage: Stage, intent: Intent) -> None:
    withdraw(intent=intent, by=PERSON, at=now())


def _hand_over(_stage: Stage, intent: Intent) -> None:
    Ticket.objects.filter(pk=intent.ticket_id).update(status="handed_over")


def _change_app(stage: Stage, _intent: Intent) -> None:
    other = stage.shop.with_token("shpat_other", app="Another app")
    connection = Connection.objects.get(pk=stage.connection.pk)
    connection.app = other.app_id
    connection.credentials = vault.seal(
        other.token.encode(), context=credentials_context(connection)
    )
    connection.save(update_fields=["app", "credentials"])


ENDED: list[Callable[[Stage, Intent], None]] = [_withdraw, _hand_over, _change_app]


@pytest.mark.parametrize("end", ENDED)
def test_what_may_not_be_sent_again_and_is_absent_fails(
    forgetful: Stage, end: Callable[[Stage, Intent], None]
) -> None:
    intent = lose(forgetful)
    end(forgetful, intent)
    intent = forgetful.settle(intent)
    assert (intent.state, intent.state_reason) == ("failed", "absent")
    assert (sends(forgetful), forgetful.shop.effects()) == (1, ())


@pytest.mark.parametrize("end", ENDED)
def test_what_may_not_be_sent_again_and_is_there_is_confirmed(
    forgetful: Stage, end: Callable[[Stage, Intent], None]
) -> None:
    intent = lose(forgetful, FaultKind.LATE, delay=5 * MINUTE)
    end(forgetful, intent)
    intent = forgetful.settle(intent)
    assert (intent.state, sends(forgetful), len(forgetful.shop.effects())) == ("confirmed", 1, 1)


def test_a_withdrawal_after_a_send_is_never_called_withdrawn(forgetful: Stage) -> None:
    intent = lose(forgetful)
    intent = withdraw(intent=intent, by=PERSON, at=now())
    assert (intent.state, intent.resend_ended_at is not None) == ("unknown", True)
    assert forgetful.settle(intent).state == "failed"


def test_an_intent_is_sent_twelve_times_at_most(forgetful: Stage) -> None:
    stage = forgetful
    stage.shop.fault(FaultKind.LOST_BEFORE, operation="refundCreate", times=None)
    intent = stage.work(stage.propose(stage.case()))
    for _ in range(12):
        intent = work_at(stage, intent, intent.settles_at)
    assert (intent.state, intent.needs_human_reason, sends(stage)) == (
        "unknown",
        "exhausted_sends",
        12,
    )
    intent = past_the_window(stage, intent)
    assert (intent.state, intent.state_reason, sends(stage)) == ("failed", "absent", 12)


# --- What a person must see before anything is sent again ---------------------------------------


def _equal_refund_by_staff(stage: Stage, intent: Intent) -> None:
    stage.shop.refund_by_staff(intent.target.identifier, amount="12.50")


def _equal_refund_by_another_app(stage: Stage, intent: Intent) -> None:
    other = stage.shop.with_token("shpat_other", app="Another app")
    stage.shop.refund_by_staff(intent.target.identifier, amount="12.50", app_id=other.app_id)


def _cancellation(stage: Stage, intent: Intent) -> None:
    stage.shop.cancel_order(intent.target.identifier)


def _dispute(stage: Stage, intent: Intent) -> None:
    stage.shop.open_dispute(intent.target.identifier)


@pytest.mark.parametrize(
    ("happen", "reason"),
    [
        (_equal_refund_by_staff, "foreign_effect"),
        (_equal_refund_by_another_app, "foreign_effect"),
        (_cancellation, "order_changed"),
        (_dispute, "order_changed"),
    ],
)
def test_what_changed_before_a_resend_goes_to_a_person_and_nothing_is_sent(
    forgetful: Stage, happen: Callable[[Stage, Intent], None], reason: str
) -> None:
    stage = forgetful
    intent = lose(stage)
    happen(stage, intent)
    before = stage.shop.effects()
    intent = work_at(stage, intent, intent.settles_at)
    assert (intent.state, intent.needs_human_reason, sends(stage)) == ("unknown", reason, 1)
    intent = past_the_window(stage, intent)
    assert (intent.state, intent.state_reason, sends(stage)) == ("failed", "absent", 1)
    assert stage.shop.effects() == before


def test_another_amount_refunded_meanwhile_does_not_stop_a_resend(forgetful: Stage) -> None:
    intent = lose(forgetful)
    forgetful.shop.refund_by_staff(intent.target.identifier, amount="3.00")
    intent = forgetful.settle(intent)
    assert (intent.state, sends(forgetful)) == ("confirmed", 2)


def test_an_equal_refund_by_staff_is_never_taken_for_ours(stage: Stage) -> None:
    """F42, M5: the marker alone says whose it is."""
    intent = lose(stage)
    made = stage.shop.refund_by_staff(intent.target.identifier, amount="12.50")
    intent = past_the_window(stage, intent)
    assert intent.state == "failed"
    assert not intent.external_objects.exists()
    assert [effect.id for effect in stage.shop.effects()] == [made.id]


def test_a_longer_word_that_holds_our_marker_is_not_our_marker(forgetful: Stage) -> None:
    intent = lose(forgetful)
    note = f"see {intent.marker}0 and x{intent.marker}"
    forgetful.shop.refund_by_staff(intent.target.identifier, amount="5.00", note=note)
    intent = forgetful.settle(intent)
    ours = [effect for effect in forgetful.shop.effects() if effect.note == intent.marker]
    assert (intent.state, sends(forgetful), len(ours)) == ("confirmed", 2, 1)
    assert intent.external_objects.get().identifier == ours[0].id


def _by_another_app(stage: Stage, intent: Intent) -> None:
    other = stage.shop.with_token("shpat_other", app="Another app")
    stage.shop.refund_by_staff(
        intent.target.identifier, amount="12.50", note=intent.marker, app_id=other.app_id
    )


def _with_two_markers(stage: Stage, intent: Intent) -> None:
    note = f"{intent.marker} {new_marker()}"
    stage.shop.refund_by_staff(
        intent.target.identifier, amount="12.50", note=note, app_id=stage.shop.app_id
    )


def _twice(stage: Stage, intent: Intent) -> None:
    for _ in range(2):
        stage.shop.refund_by_staff(
            intent.target.identifier, amount="12.50", note=intent.marker, app_id=stage.shop.app_id
        )


@pytest.mark.parametrize(
    ("happen", "reason"),
    [
        (_by_another_app, "marker_disagrees"),
        (_with_two_markers, "marker_disagrees"),
        (_twice, "two_matches"),
    ],
)
def test_our_marker_on_what_is_not_ours_goes_to_a_person_and_never_counts_as_absent(
    forgetful: Stage, happen: Callable[[Stage, Intent], None], reason: str
) -> None:
    stage = forgetful
    intent = lose(stage)
    happen(stage, intent)
    absences_before = absences(intent)
    for age in (13 * MINUTE, 21 * HOUR, 21 * HOUR + 4 * MINUTE):
        intent = work_at(stage, intent, intent.created_at + age)
        assert (intent.state, intent.needs_human_reason, sends(stage)) == ("unknown", reason, 1)
    assert absences(intent) == absences_before
    assert not intent.external_objects.exists()


def test_our_marker_from_long_before_the_first_send_goes_to_a_person(stage: Stage) -> None:
    intent = stage.propose(stage.case())
    stage.shop.refund_by_staff(
        intent.target.identifier, amount="5.00", note=intent.marker, app_id=stage.shop.app_id
    )
    stage.pass_time(6 * MINUTE)
    stage.shop.fault(FaultKind.LOST_BEFORE, operation="refundCreate")
    intent = stage.work(intent)
    assert (intent.state, intent.needs_human_reason) == ("unknown", "marker_disagrees")


def test_our_marker_on_another_order_is_not_looked_for_and_not_taken(forgetful: Stage) -> None:
    intent = lose(forgetful)
    elsewhere = forgetful.shop.order()
    forgetful.shop.refund_by_staff(
        elsewhere.id, amount="12.50", note=intent.marker, app_id=forgetful.shop.app_id
    )
    intent = forgetful.settle(intent)
    assert (intent.state, sends(forgetful)) == ("confirmed", 2)
    (effect,) = forgetful.shop.effects(order=intent.target.identifier)
    assert intent.external_objects.get().identifier == effect.id


# --- An answer with other money -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "details"),
    [
        (FaultKind.WRONG_AMOUNT, {"amount": "12.49"}),
        (FaultKind.WRONG_CURRENCY, {"currency": "USD"}),
    ],
)
def test_an_answer_with_other_money_is_pending_before_a_person_until_a_read_says_what_is(
    either: Stage, kind: FaultKind, details: dict[str, object]
) -> None:
    """F31: the answer alone never confirms; the store's own record, read later, may."""
    either.shop.fault(kind, operation="refundCreate", **details)
    intent = either.work(either.propose(either.case()))
    assert (intent.state, intent.needs_human_reason) == ("pending", "mismatch")
    assert intent.confirmed_at is None
    intent = either.settle(intent)
    assert (intent.state, sends(either)) == ("confirmed", 1)
    (effect,) = either.shop.effects()
    assert effect.amount == Decimal("12.50")


def test_an_effect_with_another_amount_stays_pending_before_a_person(stage: Stage) -> None:
    intent = lose(stage)
    stage.shop.refund_by_staff(
        intent.target.identifier, amount="12.00", note=intent.marker, app_id=stage.shop.app_id
    )
    intent = work_at(stage, intent, now() + MINUTE)
    assert (intent.state, intent.needs_human_reason) == ("pending", "mismatch")
    intent = work_at(stage, intent, now() + 2 * HOUR)
    assert (intent.state, intent.confirmed_at, sends(stage)) == ("pending", None, 1)


# --- Between the claim and the first byte -------------------------------------------------------


def test_a_worker_that_was_paused_after_its_claim_sends_nothing(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M15, F17: the last look is at a clock that kept running meanwhile."""

    def wake_up_late() -> None:
        woken_at = local_seconds() + 10.0
        monkeypatch.setattr(execution, "local_seconds", lambda: woken_at)

    intent = stage.propose(stage.case())
    with stage.at(Boundary.CONNECTED, wake_up_late):
        intent = stage.work(intent)
    assert [attempt.outcome for attempt in intent.attempts.all()] == ["not_sent"]
    assert (intent.state, intent.first_sent_at, sends(stage)) == ("authorized", None, 0)
    monkeypatch.undo()
    assert (stage.settle(intent).state, sends(stage)) == ("confirmed", 1)


def _pause(stage: Stage, _intent: Intent) -> None:
    Workspace.objects.filter(pk=stage.workspace.pk).update(paused_at=now())


def _kill_workspace(stage: Stage, _intent: Intent) -> None:
    Workspace.objects.filter(pk=stage.workspace.pk).update(writes_killed_at=now())


def _kill_connection(stage: Stage, _intent: Intent) -> None:
    Connection.objects.filter(pk=stage.connection.pk).update(writes_killed_at=now())


def _block(stage: Stage, _intent: Intent) -> None:
    rows = Connection.objects.filter(pk=stage.connection.pk)
    rows.update(blocked_by="credential", blocked_at=now())


def _open_circuit(stage: Stage, _intent: Intent) -> None:
    rows = Connection.objects.filter(pk=stage.connection.pk)
    rows.update(circuit_open_until=now() + HOUR)


@pytest.mark.parametrize("stop", [_pause, _kill_workspace, _kill_connection, _block, _open_circuit])
def test_what_stops_writes_between_claim_and_first_byte_stops_this_one(
    stage: Stage, stop: Callable[[Stage, Intent], None]
) -> None:
    intent = stage.propose(stage.case())
    with stage.at(Boundary.CLAIMED, lambda: stop(stage, intent)):
        intent = stage.work(intent)
    (attempt,) = intent.attempts.all()
    assert (attempt.outcome, str(attempt.outcome_reason)[:7]) == ("not_sent", "fenced:")
    assert (intent.state, intent.first_sent_at, sends(stage)) == ("authorized", None, 0)


@pytest.mark.parametrize("take_back", [_withdraw, _hand_over])
def test_what_is_taken_back_between_claim_and_first_byte_is_withdrawn(
    stage: Stage, take_back: Callable[[Stage, Intent], None]
) -> None:
    intent = stage.propose(stage.case())
    with stage.at(Boundary.CLAIMED, lambda: take_back(stage, intent)):
        intent = stage.work(intent)
    assert [attempt.outcome for attempt in intent.attempts.all()] == ["not_sent"]
    assert (intent.state, intent.due_at, sends(stage)) == ("withdrawn", None, 0)


@pytest.mark.parametrize("stop", [_pause, _kill_connection])
def test_a_stop_between_absence_and_resend_leaves_it_in_doubt_until_it_is_lifted(
    forgetful: Stage, stop: Callable[[Stage, Intent], None]
) -> None:
    stage = forgetful
    intent = lose(stage)
    pass_until(stage, intent.settles_at or now())
    with stage.at(Boundary.RECONCILED, lambda: stop(stage, intent)):
        advance(intent.pk)
    assert (fresh(intent).state, sends(stage)) == ("unknown", 1)
    for _ in range(3):
        stage.pass_time(MINUTE)
        advance(intent.pk)
    assert (fresh(intent).state, sends(stage)) == ("unknown", 1)
    Workspace.objects.filter(pk=stage.workspace.pk).update(paused_at=None)
    Connection.objects.filter(pk=stage.connection.pk).update(writes_killed_at=None)
    intent = stage.settle(intent)
    assert (intent.state, sends(stage), len(stage.shop.effects())) == ("confirmed", 2, 1)
