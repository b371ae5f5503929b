"""Many workers, sweeps and reads on the same intent or the same order: one effect, one truth.

Promises: everything runs in threads that begin at one barrier, each with its own connection; the
store forgets keys, so that only our own rows prevent a double.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal
from functools import partial

import pytest
from celery import Celery

from actions import dispatch
from actions.advance import advance
from actions.boundaries import Boundary
from actions.dispatch import claim_due
from actions.execution import claim
from actions.gate import judge_in_worker
from actions.looping import Loop
from actions.models import Attempt, ExternalObject, Intent, ReadCause
from actions.reconcile import read_target
from actions.settling import take_over
from integrations import registry
from integrations.clock import now
from integrations.sandbox.faults import FaultKind
from tests.factories.intents import asked
from tests.faults.threads import at_once, meanwhile
from tests.stage import Stage, fresh

pytestmark = pytest.mark.django_db(transaction=True)

MINUTE, SECOND = timedelta(minutes=1), timedelta(seconds=1)
LEASE = timedelta(seconds=56)
DEAD_BROKER = "redis://127.0.0.1:1/0"


@pytest.fixture(autouse=True)
def _forgetful(stage: Stage) -> None:
    stage.shop.keys(remember=False)


def sends(stage: Stage) -> int:
    """Return how many refund requests reached the store."""
    return len(stage.shop.requests(operation="refundCreate"))


def states(intent: Intent) -> list[str]:
    """Return the states that an intent went through."""
    events = intent.events.order_by("number")
    return [event.to_state for event in events if event.to_state != event.from_state]


def assert_done_once(stage: Stage, intent: Intent) -> None:
    """The store holds one refund, it is ours, and we say so."""
    (effect,) = stage.shop.effects(order=intent.target.identifier)
    assert fresh(intent).state == "confirmed"
    assert (effect.amount, effect.note) == (Decimal("12.50"), intent.marker)
    assert [one.identifier for one in intent.external_objects.all()] == [effect.id]


@contextmanager
def hanging(stage: Stage, intent: Intent, kind: FaultKind) -> Iterator[None]:
    """Have a worker hang in its call while the block runs; its lease has run out by then."""
    fault = stage.shop.fault(kind, operation="refundCreate")
    with meanwhile(partial(advance, intent.pk)):
        assert fault.reached()
        stage.pass_time(LEASE)
        try:
            yield
        finally:
            fault.release()


# --- One intent ---------------------------------------------------------------------------------


def test_eight_workers_that_advance_one_intent_send_it_once(stage: Stage) -> None:
    intent = stage.propose(stage.case())
    at_once(*[partial(advance, intent.pk)] * 8)
    intent = stage.settle(intent)
    assert states(intent) == ["proposed", "authorized", "executing", "confirmed"]
    assert (sends(stage), intent.attempts.count()) == (1, 1)
    assert_done_once(stage, intent)


def test_eight_workers_that_claim_one_intent_open_one_attempt(stage: Stage) -> None:
    intent = stage.propose(stage.case())
    assert judge_in_worker(intent.pk)
    port = registry.store(stage.connection)
    claimed = at_once(*[partial(claim, intent.pk, port=port, app=stage.shop.app_id)] * 8)
    assert [one is not None for one in claimed].count(True) == 1
    assert Attempt.objects.filter(intent=intent, closed_at=None).count() == 1
    assert states(intent) == ["proposed", "authorized", "executing"]
    assert sends(stage) == 0


def test_eight_workers_resend_what_is_proven_absent_once(stage: Stage) -> None:
    stage.shop.fault(FaultKind.LOST_BEFORE, operation="refundCreate")
    intent = stage.work(stage.propose(stage.case()))
    assert intent.settles_at is not None
    stage.pass_time(intent.settles_at + SECOND - now())
    at_once(*[partial(advance, intent.pk)] * 8)
    stage.settle(intent)
    assert sends(stage) == 2
    assert_done_once(stage, intent)


def test_takeovers_and_workers_on_an_expired_lease_leave_one_takeover(stage: Stage) -> None:
    intent = stage.propose(stage.case())
    with hanging(stage, intent, FaultKind.HANG_AFTER):
        at_once(*[partial(take_over, intent.pk)] * 4, *[partial(advance, intent.pk)] * 4)
        assert states(intent)[:4] == ["proposed", "authorized", "executing", "unknown"]
    stage.settle(intent)
    assert states(intent).count("unknown") == 1
    assert sends(stage) == 1
    assert_done_once(stage, intent)


def test_a_claim_and_a_takeover_of_the_same_intent_never_both_hold_it(stage: Stage) -> None:
    stage.shop.fault(FaultKind.LOST_BEFORE, operation="refundCreate")
    intent = stage.work(stage.propose(stage.case()))
    assert intent.settles_at is not None
    stage.pass_time(intent.settles_at + SECOND - now())
    read_target(intent.target_id, cause=ReadCause.DOUBT)
    port = registry.store(stage.connection)
    claims: list[Callable[[], object]] = [
        partial(claim, intent.pk, port=port, app=stage.shop.app_id)
    ] * 4
    takeovers: list[Callable[[], object]] = [partial(take_over, intent.pk)] * 4
    at_once(*claims, *takeovers)
    intent = fresh(intent)
    assert (intent.state, intent.attempts.count()) == ("executing", 2)
    assert intent.attempts.filter(closed_at=None).count() == 1


def test_eight_reads_at_once_adopt_one_effect_once(stage: Stage) -> None:
    stage.shop.fault(FaultKind.LOST_AFTER, operation="refundCreate")
    stage.shop.fault(FaultKind.READ_ERROR, operation="order", skip=1)
    intent = stage.work(stage.propose(stage.case()))
    assert intent.state == "unknown"
    at_once(*[partial(read_target, intent.target_id, cause=ReadCause.DOUBT)] * 8)
    assert states(intent).count("confirmed") == 1
    assert ExternalObject.objects.get(intent=intent).echoes.count() == 1
    assert_done_once(stage, intent)


# --- Wake-ups -----------------------------------------------------------------------------------


def test_fifty_copies_of_one_wake_up_send_once(stage: Stage) -> None:
    intent = stage.propose(stage.case())

    def five_times() -> None:
        for _ in range(5):
            advance(intent.pk)

    at_once(*[five_times] * 10)
    stage.settle(intent)
    assert sends(stage) == 1
    assert_done_once(stage, intent)


def test_a_wake_up_that_comes_when_all_is_done_does_nothing(stage: Stage) -> None:
    intent = stage.work(stage.propose(stage.case()))
    requests_before, events_before = len(stage.shop.requests()), intent.event_count
    stage.pass_time(timedelta(days=2))
    advance(intent.pk)
    assert (len(stage.shop.requests()), fresh(intent).event_count) == (
        requests_before,
        events_before,
    )


def test_with_no_broker_at_all_the_loop_alone_finishes_everything(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = Celery("away", broker=DEAD_BROKER, set_as_current=False)
    away.conf.broker_transport_options = {"max_retries": 0, "socket_connect_timeout": 1}
    monkeypatch.setattr(dispatch, "current_app", away)
    stage.shop.fault(FaultKind.LOST_BEFORE, operation="refundCreate")
    intents = [stage.propose(stage.case()) for _ in range(3)]
    assert Loop(thread_count=2, interval_seconds=1).run_once() == 3
    stage.pass_time(13 * MINUTE)
    Loop(thread_count=2, interval_seconds=1).run_once()
    assert sends(stage) == 4
    for intent in intents:
        assert_done_once(stage, intent)


def test_two_sweeps_never_take_the_same_row(stage: Stage) -> None:
    intents = {stage.propose(stage.case()).pk for _ in range(6)}
    taken = at_once(*[lambda: claim_due(now=now(), limit=3)] * 4)
    assert sorted(pk for few in taken for pk in few) == sorted(intents)


# --- Wishes -------------------------------------------------------------------------------------


def test_twenty_proposals_of_the_same_wish_are_one_row(stage: Stage) -> None:
    case = stage.case()
    proposed = at_once(*[lambda: stage.propose(case).pk] * 20)
    assert len(set(proposed)) == 1
    assert Intent.objects.count() == 1
    intent = stage.settle(Intent.objects.get())
    assert intent.events.filter(name="proposed").count() == 1
    assert sends(stage) == 1
    assert_done_once(stage, intent)


def test_partial_refunds_of_one_order_never_ask_for_more_than_it_holds(stage: Stage) -> None:
    """I8: what is under way is kept back from the others, so the store never has to refuse."""
    case = stage.case(amount="155.00", total="100.00")
    amounts = [f"{amount}.00" for amount in range(11, 21)]
    intents = at_once(*[partial(stage.propose, case, amount=amount) for amount in amounts])
    for _ in range(12):
        at_once(*[partial(advance, intent.pk) for intent in intents])
        stage.pass_time(SECOND)
    kept = [fresh(intent) for intent in intents]
    done = [intent for intent in kept if intent.state == "confirmed"]
    rest = [intent for intent in kept if intent.state != "confirmed"]
    assert {intent.state for intent in rest} <= {"held", "refused"}
    left = Decimal(100) - sum(asked(intent) for intent in done)
    assert all(asked(intent) > left for intent in rest)
    effects = stage.shop.effects()
    assert sorted(effect.amount for effect in effects) == sorted(asked(intent) for intent in done)
    assert Decimal(80) < sum(effect.amount for effect in effects) <= Decimal(100)
    assert {attempt.outcome for attempt in Attempt.objects.all()} == {"echoed"}


def test_two_refunds_of_the_same_amount_on_one_order_are_not_both_made(stage: Stage) -> None:
    """Hyperswitch #13182: two at once of 60 on a payment of 100."""
    case = stage.case(amount="60.00", total="100.00")
    again = stage.another_ticket(case)
    intents = at_once(*[partial(stage.propose, one, amount="60.00") for one in (case, again)])
    for _ in range(4):
        at_once(*[partial(advance, intent.pk) for intent in intents])
        stage.pass_time(SECOND)
    assert [effect.amount for effect in stage.shop.effects()] == [Decimal("60.00")]
    assert sorted(fresh(intent).state for intent in intents) in (
        ["confirmed", "held"],
        ["confirmed", "refused"],
    )
    assert Attempt.objects.count() == 1


# --- Who comes last -----------------------------------------------------------------------------


def test_a_read_settles_what_a_hanging_worker_holds_and_its_late_answer_is_kept(
    stage: Stage,
) -> None:
    """F40: the old worker's word comes last, regresses nothing, and is evidence still."""
    intent = stage.propose(stage.case())
    with hanging(stage, intent, FaultKind.HANG_AFTER):
        assert stage.work(intent).state == "confirmed"
        confirmed_at = fresh(intent).confirmed_at
    intent = fresh(intent)
    assert (intent.state, intent.confirmed_at) == ("confirmed", confirmed_at)
    (attempt,) = intent.attempts.all()
    assert (attempt.outcome, attempt.closed_by, attempt.resolved_how) == (
        "unknown",
        "takeover",
        "found",
    )
    echoes = intent.external_objects.get().echoes.order_by("pk")
    assert [(echo.read_id is None, echo.attempt_id) for echo in echoes] == [
        (False, None),
        (True, attempt.pk),
    ]
    assert intent.events.filter(name="late_answer").count() == 1
    assert_done_once(stage, intent)


def test_an_answer_that_comes_after_all_hope_stops_the_resend_that_is_on_its_way(
    stage: Stage,
) -> None:
    """The first request lands far too late, just before the second leaves: the fence sees it."""
    intent = stage.propose(stage.case())
    fault = stage.shop.fault(FaultKind.HANG_BEFORE, operation="refundCreate")
    with meanwhile(partial(advance, intent.pk)) as first:
        assert fault.reached()
        stage.pass_time(LEASE)
        assert stage.work(intent).state == "unknown"
        stage.pass_time(13 * MINUTE)

        def let_the_first_land() -> None:
            fault.release()
            first.result(timeout=30)

        with stage.at(Boundary.CONNECTED, let_the_first_land):
            advance(intent.pk)
    outcomes = intent.attempts.order_by("number").values_list("outcome", "resolved_how")
    assert list(outcomes) == [("unknown", "absent"), ("not_sent", None)]
    assert sends(stage) == 1
    assert_done_once(stage, intent)


def test_a_refusal_that_comes_after_another_answer_confirmed_changes_nothing(
    stage: Stage,
) -> None:
    """M17 turned around: the second attempt is refused, since the first one has taken the money."""
    case = stage.case(amount="100.00", total="100.00")
    intent = stage.propose(case, amount="100.00")
    first_fault = stage.shop.fault(FaultKind.HANG_BEFORE, operation="refundCreate")
    with meanwhile(partial(advance, intent.pk)) as first:
        assert first_fault.reached()
        stage.pass_time(LEASE)
        stage.work(intent)
        stage.pass_time(13 * MINUTE)
        second_fault = stage.shop.fault(FaultKind.HANG_BEFORE, operation="refundCreate")
        with meanwhile(partial(advance, intent.pk)):
            assert second_fault.reached()
            first_fault.release()
            first.result(timeout=30)
            assert fresh(intent).state == "confirmed"
            second_fault.release()
    intent = fresh(intent)
    assert (intent.state, len(stage.shop.effects())) == ("confirmed", 1)
    assert [one.outcome for one in intent.attempts.order_by("number")] == ["unknown", "rejected"]


def test_a_read_from_before_a_resend_proves_nothing_after_it(stage: Stage) -> None:
    """M12, F45: the slow reader saw nothing, truly; by the time it speaks that is an old story."""
    stage.shop.fault(FaultKind.LOST_BEFORE, operation="refundCreate")
    intent = stage.work(stage.propose(stage.case()))
    assert intent.settles_at is not None
    stage.pass_time(intent.settles_at + SECOND - now())
    stage.shop.fault(FaultKind.LOST_AFTER, operation="refundCreate")
    stage.shop.fault(FaultKind.READ_ERROR, operation="order", skip=2)

    def resend_and_lose_the_answer() -> None:
        advance(intent.pk)
        assert (fresh(intent).state, sends(stage)) == ("unknown", 2)

    with stage.at(Boundary.TARGET_READ, resend_and_lose_the_answer):
        read_target(intent.target_id, cause=ReadCause.DOUBT)
    assert (fresh(intent).state, sends(stage)) == ("unknown", 2)
    stage.settle(intent)
    assert sends(stage) == 2
    assert_done_once(stage, intent)


def test_two_workers_that_judge_on_facts_of_the_same_moment_authorize_one(stage: Stage) -> None:
    """The second finds that the target has moved since it read, and judges again."""
    case = stage.case(amount="60.00", total="100.00")
    other = stage.another_ticket(case)
    first, second = stage.propose(case, amount="60.00"), stage.propose(other, amount="55.00")
    with stage.at(Boundary.FACTS_READ, lambda: judge_in_worker(second.pk)):
        assert not judge_in_worker(first.pk)
    assert (fresh(first).state, fresh(second).state) == ("proposed", "authorized")
    stage.work(first)
    assert fresh(first).state in ("held", "refused")
    assert sends(stage) == 0
