"""Guards, each with the fault that it prevents and a way to switch it off in the code.

Promises: each fault is played on a store that forgets keys; a guard is switched off as a whole, so
that nothing of it is left by chance; what the database holds behind it is named.
Does not assert anything: `test_guards_matter` does.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from functools import partial
from itertools import count
from threading import Barrier, BrokenBarrierError

import pytest
from django.db import transaction

from actions import advance, confirming, doubt, execution, moves, reconcile, settling, states
from actions.boundaries import Boundary
from actions.doubt import Decision, Doubt, Fail
from actions.gate import judge_in_worker
from actions.locks import Locked
from actions.models import Attempt, Intent
from actions.services import withdraw
from actions.states import FailedReason, StaleState
from integrations.clock import now
from integrations.http.client import HttpClient, TransactionOpen
from integrations.models import Workspace
from integrations.money import Money
from integrations.platforms.shopify import order_reading, parsing
from integrations.platforms.shopify.adapter import ShopifyAdapter
from integrations.ports import (
    CallTrace,
    Echoed,
    Observation,
    OrderSnapshot,
    Part,
    SendOutcome,
    Standing,
)
from integrations.sandbox.faults import FaultKind
from tests.faults.threads import at_once
from tests.stage import PERSON, Stage, fresh

HOUR, MINUTE, SECOND = timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1)
FAR_AWAY = timedelta(days=3650)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What came of a fault: our word, the requests that reached the store, and what it holds."""

    state: str
    sends: int
    effects: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """One guard of the code, and the fault that shows without it."""

    name: str
    off: Callable[[pytest.MonkeyPatch], None]
    play: Callable[[Stage, pytest.MonkeyPatch], Intent]
    right: Seen
    wrong: Seen
    behind: tuple[str, ...] = ()
    """The database's own guards behind it: one of them refuses, whichever a race comes to first."""


def _lose(stage: Stage, kind: FaultKind = FaultKind.LOST_BEFORE, **details: object) -> Intent:
    stage.shop.fault(kind, operation="refundCreate", **details)
    return stage.work(stage.propose(stage.case()))


def _work_when_settled(stage: Stage, intent: Intent) -> Intent:
    intent = fresh(intent)
    stage.pass_time((intent.settles_at or now()) + SECOND - now())
    return stage.work(intent)


# --- Row lock and compare-and-set ---------------------------------------------------------------


def _no_lock(patch: pytest.MonkeyPatch) -> None:
    both_have_looked = Barrier(2)
    move = moves.move

    def look(intent_pk: int) -> Locked:
        rows = Intent.objects.select_related("connection", "ticket", "target", "workspace")
        intent = rows.get(pk=intent_pk)
        with suppress(BrokenBarrierError):
            both_have_looked.wait(10)
        return Locked(ticket=intent.ticket, target=intent.target, intent=intent)

    def move_whatever_happened(intent: Intent, *args: object, **changes: object) -> None:
        with suppress(StaleState), transaction.atomic():
            move(intent, *args, **changes)  # type: ignore[arg-type]  # handed on as it came

    patch.setattr(execution, "lock_intent", look)
    patch.setattr(execution, "move", move_whatever_happened)


def _two_workers_at_once(stage: Stage, _patch: pytest.MonkeyPatch) -> Intent:
    intent = stage.propose(stage.case())
    assert judge_in_worker(intent.pk)
    at_once(*[partial(execution.send, intent.pk)] * 2)
    return intent


# --- The fence ----------------------------------------------------------------------------------


def _no_fence(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(execution, "fence", lambda _claimed: None)


def _killed_after_the_claim(stage: Stage, _patch: pytest.MonkeyPatch) -> Intent:
    intent = stage.propose(stage.case())
    rows = Workspace.objects.filter(pk=stage.workspace.pk)
    with stage.at(Boundary.CLAIMED, lambda: rows.update(writes_killed_at=now())):
        return stage.work(intent)


# --- Reading before a resend, and waiting before reading ------------------------------------------


def _no_read_first(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(advance, "may_be_resent", lambda _intent: True)
    patch.setattr(execution, "may_be_resent", lambda _intent: True)


def _answer_lost(stage: Stage, _patch: pytest.MonkeyPatch) -> Intent:
    return _lose(stage, FaultKind.LOST_AFTER)


def _no_settling(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(execution, "settles_after", lambda *_: timedelta())


def _nine_minutes_late(stage: Stage, _patch: pytest.MonkeyPatch) -> Intent:
    intent = stage.settle(_lose(stage, FaultKind.LATE, delay=9 * MINUTE))
    stage.pass_time(10 * MINUTE)
    return intent


# --- Whose effect it is ---------------------------------------------------------------------------


def _marker_in_part(patch: pytest.MonkeyPatch) -> None:
    length = len("rzv:") + 30
    patch.setattr(parsing, "find_markers", lambda text: (text[:length],) if text else ())


def _a_longer_word(stage: Stage, _patch: pytest.MonkeyPatch) -> Intent:
    intent = _lose(stage)
    stage.shop.refund_by_staff(
        intent.target.identifier, amount="12.50", note=f"{intent.marker}0", app_id=stage.shop.app_id
    )
    return _work_when_settled(stage, intent)


def _matched_by_amount(patch: pytest.MonkeyPatch) -> None:
    def same_amount(intent: Intent, seen: tuple[Observation, ...]) -> list[Observation]:
        return [
            one for one in seen if sum(part.money.amount for part in one.parts) == intent.amount
        ]

    patch.setattr(reconcile, "_matching", same_amount)
    patch.setattr(reconcile, "disagreements", lambda *_: ())
    patch.setattr(confirming, "_is_named", lambda *_: True)


def _equal_refund_by_staff(stage: Stage, _patch: pytest.MonkeyPatch) -> Intent:
    intent = _lose(stage)
    stage.shop.refund_by_staff(intent.target.identifier, amount="12.50")
    return _work_when_settled(stage, intent)


def _no_target(patch: pytest.MonkeyPatch) -> None:
    def but_for_the_target(intent: Intent, seen: Observation) -> tuple[str, ...]:
        return tuple(name for name in confirming.disagreements(intent, seen) if name != "target")

    patch.setattr(settling, "disagreements", but_for_the_target)
    patch.setattr(confirming, "_is_named", lambda *_: True)


def _answered_for_another_order(stage: Stage, patch: pytest.MonkeyPatch) -> Intent:
    """The store does nothing, and names a refund on another order."""
    intent, elsewhere = stage.propose(stage.case()), stage.shop.order()
    made = stage.shop.refund_by_staff(elsewhere.id, amount="12.50")
    part = Part(
        identifier=next(iter(made.transactions)),
        status="SUCCESS",
        standing=Standing.SUCCEEDED,
        money=Money(amount=Decimal("12.50"), currency="EUR"),
        gateway="manual",
        parent=elsewhere.payments[0],
    )
    seen = Observation(
        object_type="refund",
        identifier=made.id,
        target=elsewhere.id,
        markers=(intent.marker,),
        author=None,
        created_at=now(),
        parts=(part,),
    )

    def lie(*_: object, **__: object) -> SendOutcome:
        return Echoed(observation=seen, trace=CallTrace())

    patch.setattr(ShopifyAdapter, "send_refund", lie)
    return stage.work(intent)


def _one_for_many(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(confirming, "_is_free", lambda *_: True)


def _answered_with_anothers_refund(stage: Stage, _patch: pytest.MonkeyPatch) -> Intent:
    """The store does nothing, and names the refund that proves another intent."""
    other = stage.work(stage.propose(stage.case()))
    proof = other.external_objects.get().identifier
    stage.shop.fault(FaultKind.OTHER_ID, operation="refundCreate", other=proof)
    stage.shop.fault(FaultKind.READ_ERROR, operation="order", skip=1, times=None)
    return stage.work(stage.propose(stage.case()))


# --- What is confirmed, and what has failed -------------------------------------------------------


def _any_amount(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(states, "_sum_is", lambda *_: True)


def _a_cent_less(stage: Stage, _patch: pytest.MonkeyPatch) -> Intent:
    stage.shop.fault(FaultKind.WRONG_AMOUNT, operation="refundCreate", amount="12.49")
    return stage.work(stage.propose(stage.case()))


def _rejection_is_final(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(settling, "may_have_left", lambda _intent: Attempt.objects.none())


def _refused_since_the_first_took_it_all(stage: Stage, _patch: pytest.MonkeyPatch) -> Intent:
    """Reads lag for longer than was declared, so the resend meets what the first send has done."""
    stage.shop.read_lag(20 * MINUTE)
    stage.shop.fault(FaultKind.LOST_AFTER, operation="refundCreate")
    case = stage.case(amount="100.00", total="100.00")
    return stage.settle(stage.work(stage.propose(case, amount="100.00")))


def _any_read_is_complete(patch: pytest.MonkeyPatch) -> None:
    def whole(*args: object, **facts: object) -> OrderSnapshot:
        return replace(parsing.snapshot(*args, **facts), complete=True)  # type: ignore[arg-type]  # handed on as it came

    patch.setattr(order_reading, "snapshot", whole)


def _only_cut_lists(stage: Stage, _patch: pytest.MonkeyPatch) -> Intent:
    stage.shop.fault(FaultKind.TRUNCATED_REFUNDS, operation="order", skip=1, times=None)
    return _work_when_settled(stage, _lose(stage, FaultKind.LOST_AFTER))


def _one_absence(patch: pytest.MonkeyPatch) -> None:
    absent = Fail(reason=FailedReason.ABSENT)
    patch.setattr(doubt, "_past_the_window", lambda _doubt: absent)


def _seen_by_the_second_read(stage: Stage, _patch: pytest.MonkeyPatch) -> Intent:
    stage.shop.read_lag(14 * MINUTE)
    intent = _lose(stage, FaultKind.LOST_AFTER)
    withdraw(intent=intent, by=PERSON, at=now())
    return stage.settle(_work_when_settled(stage, intent))


# --- The window -----------------------------------------------------------------------------------


def _no_window(patch: pytest.MonkeyPatch) -> None:
    decide = doubt.decide

    def for_ever(known: Doubt) -> Decision:
        return decide(replace(known, resend_until=known.resend_until + FAR_AWAY))

    patch.setattr(reconcile, "decide", for_ever)
    patch.setattr(execution, "_window_is_open", lambda *_: True)
    runs_backwards = count(start=0.0, step=-FAR_AWAY.total_seconds())
    patch.setattr(execution, "local_seconds", lambda: next(runs_backwards))


def _read_after_a_day(stage: Stage, _patch: pytest.MonkeyPatch) -> Intent:
    intent = _lose(stage)
    stage.pass_time(25 * HOUR)
    return stage.work(intent)


# --- No transaction around a call -----------------------------------------------------------------


def _called_inside_a_transaction(patch: pytest.MonkeyPatch) -> None:
    defaults = HttpClient.__init__.__kwdefaults__
    assert defaults is not None
    patch.setitem(defaults, "transaction_open", lambda: False)


class _PowerCut(Exception):
    """The process ends before it commits."""


def _cut_off_before_the_commit(stage: Stage, _patch: pytest.MonkeyPatch) -> Intent:
    intent = stage.propose(stage.case())
    assert judge_in_worker(intent.pk)
    with suppress(_PowerCut, TransactionOpen), transaction.atomic():
        execution.send(intent.pk)
        raise _PowerCut
    return stage.settle(intent)


GUARDS = (
    Guard(
        name="row lock and compare-and-set",
        off=_no_lock,
        play=_two_workers_at_once,
        right=Seen(state="confirmed", sends=1, effects=1),
        wrong=Seen(state="confirmed", sends=2, effects=2),
        behind=("actions_intent_frozen", "actions_attempt_birth", "attempt_open_once"),
    ),
    Guard(
        name="fence",
        off=_no_fence,
        play=_killed_after_the_claim,
        right=Seen(state="authorized", sends=0, effects=0),
        wrong=Seen(state="confirmed", sends=1, effects=1),
    ),
    Guard(
        name="read before a resend",
        off=_no_read_first,
        play=_answer_lost,
        right=Seen(state="confirmed", sends=1, effects=1),
        wrong=Seen(state="confirmed", sends=2, effects=2),
        behind=("actions_attempt_birth",),
    ),
    Guard(
        name="wait until the last send has settled",
        off=_no_settling,
        play=_nine_minutes_late,
        right=Seen(state="confirmed", sends=1, effects=1),
        wrong=Seen(state="confirmed", sends=2, effects=2),
    ),
    Guard(
        name="the marker is matched whole",
        off=_marker_in_part,
        play=_a_longer_word,
        right=Seen(state="unknown", sends=1, effects=1),
        wrong=Seen(state="confirmed", sends=1, effects=1),
    ),
    Guard(
        name="an effect is found by its marker, not by its amount",
        off=_matched_by_amount,
        play=_equal_refund_by_staff,
        right=Seen(state="unknown", sends=1, effects=1),
        wrong=Seen(state="confirmed", sends=1, effects=1),
        behind=("actions_intent_proof",),
    ),
    Guard(
        name="the target is compared",
        off=_no_target,
        play=_answered_for_another_order,
        right=Seen(state="unknown", sends=0, effects=0),
        wrong=Seen(state="confirmed", sends=0, effects=0),
        behind=("actions_intent_proof",),
    ),
    Guard(
        name="one object proves one intent",
        off=_one_for_many,
        play=_answered_with_anothers_refund,
        right=Seen(state="unknown", sends=2, effects=1),
        wrong=Seen(state="confirmed", sends=2, effects=1),
        behind=("actions_echo_source", "actions_intent_proof"),
    ),
    Guard(
        name="the amount is compared",
        off=_any_amount,
        play=_a_cent_less,
        right=Seen(state="pending", sends=1, effects=1),
        wrong=Seen(state="confirmed", sends=1, effects=1),
        behind=("actions_intent_proof",),
    ),
    Guard(
        name="a rejection is not final while another attempt may have had an effect",
        off=_rejection_is_final,
        play=_refused_since_the_first_took_it_all,
        right=Seen(state="confirmed", sends=2, effects=1),
        wrong=Seen(state="failed", sends=2, effects=1),
    ),
    Guard(
        name="absence needs a complete read",
        off=_any_read_is_complete,
        play=_only_cut_lists,
        right=Seen(state="unknown", sends=1, effects=1),
        wrong=Seen(state="confirmed", sends=2, effects=2),
    ),
    Guard(
        name="absence needs two reads",
        off=_one_absence,
        play=_seen_by_the_second_read,
        right=Seen(state="confirmed", sends=1, effects=1),
        wrong=Seen(state="failed", sends=1, effects=1),
        behind=("actions_intent_proof",),
    ),
    Guard(
        name="nothing is sent past the window",
        off=_no_window,
        play=_read_after_a_day,
        right=Seen(state="unknown", sends=1, effects=0),
        wrong=Seen(state="confirmed", sends=2, effects=1),
        behind=("actions_attempt_birth",),
    ),
    Guard(
        name="no call inside a transaction",
        off=_called_inside_a_transaction,
        play=_cut_off_before_the_commit,
        right=Seen(state="confirmed", sends=1, effects=1),
        wrong=Seen(state="confirmed", sends=2, effects=2),
    ),
)
