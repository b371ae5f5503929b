"""The gate's guards, each with the fault that it prevents and a way to switch it off in the code.

Promises: as in `switched_off`: limits, approvals, repeats and clearings, each switched off as a
whole, with what the database holds behind it.
Does not assert anything: `test_guards_matter` does.
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial
from threading import Barrier, BrokenBarrierError
from typing import Any

import pytest

from actions import approving, counters, gate, gathering, moves, services
from actions.advance import advance
from actions.approving import OwnProposal, Word
from actions.counters import Place
from actions.linking import PersonRepeats
from actions.locks import Locked
from actions.models import Approval, GateDecision, Intent
from actions.policy import Cleared, Finding, Ruling, Usage, clearing
from actions.reading import Reading
from integrations.sandbox.faults import FaultKind
from integrations.sandbox.records import Payment
from tests.faults.switched_off import Guard, Seen
from tests.faults.threads import at_once
from tests.stage import AGENT, PERSON, SECOND, Stage, fresh

MORE_THAN_A_MINUTE = timedelta(seconds=61)


# --- Limits -------------------------------------------------------------------------------------


def _no_counter_lock(patch: pytest.MonkeyPatch) -> None:
    """Nobody waits for anybody; of two that begin together, both look before either takes."""
    both_have_looked = Barrier(2)
    usage_of = counters.usage_of

    def look(intent: Intent, place: Place, **given: Any) -> Usage:
        usage = usage_of(intent, place, **{**given, "taking": False})
        if given["taking"] and usage.day.count:
            with suppress(BrokenBarrierError):
                both_have_looked.wait(10)
        return usage

    patch.setattr(gathering, "usage_of", look)


def _two_orders_and_room_for_one(stage: Stage, _patch: pytest.MonkeyPatch) -> Intent:
    """Return the one that didn't go through; either, where both did."""
    stage.policy(cap="20.00", per_day="20.00")
    assert stage.work(stage.propose(stage.case(), amount="5.00")).state == "confirmed"
    intents = [stage.propose(stage.case()) for _ in range(2)]
    at_once(*[partial(advance, intent.pk) for intent in intents])
    return max(map(fresh, intents), key=lambda intent: intent.state)


def _nothing_given_back(patch: pytest.MonkeyPatch) -> None:
    for module in (gate, moves):
        patch.setattr(module, "recount", lambda *_, **__: False)


def _judged_again_unsent(stage: Stage, _patch: pytest.MonkeyPatch) -> Intent:
    stage.policy(cap="12.50", per_day="12.50")
    stage.shop.fault(FaultKind.THROTTLED, operation="refundCreate")
    intent = stage.work(stage.propose(stage.case()))
    stage.pass_time(MORE_THAN_A_MINUTE)
    return stage.work(intent)


def _a_customer_for_each_ticket(patch: pytest.MonkeyPatch) -> None:
    def by_ticket(locked: Locked, _reading: Reading | None) -> str:
        return str(locked.ticket.customer_id)

    patch.setattr(gathering, "_counted_for", by_ticket)


def _two_tickets_of_one_customer(stage: Stage, _patch: pytest.MonkeyPatch) -> Intent:
    stage.policy(counts={"per_customer_day": 1})
    stage.work(stage.propose(stage.case()))
    return stage.work(stage.propose(stage.case()))


# --- Approvals ----------------------------------------------------------------------------------


def _any_approval(patch: pytest.MonkeyPatch) -> None:
    def whatever_was_shown(intent: Intent, **_: object) -> Approval | None:
        return intent.approvals.filter(approves=True).last()

    patch.setattr(gate, "standing_approval", whatever_was_shown)


def _staff_refunds_before_the_approval(stage: Stage, _patch: pytest.MonkeyPatch) -> Intent:
    stage.policy(approval_above="50.00")
    payments = [Payment(amount="60.00", gateway="card"), Payment(amount="60.00", gateway="voucher")]
    case = stage.case(amount="60.00", total="120.00", payments=payments)
    intent = stage.work(stage.propose(case, amount="60.00"))
    stage.shop.refund_by_staff(case.order.id, amount="20.00", payment=case.order.payments[0])
    return stage.approve(intent)


def _one_pair_of_eyes(patch: pytest.MonkeyPatch) -> None:
    def whoever_speaks(intent: Intent, word: Word) -> GateDecision:
        return approving._shown(intent, word, ruling=Ruling.APPROVE)

    patch.setattr(approving, "_awaited", whoever_speaks)


def _approved_by_its_proposer(stage: Stage, _patch: pytest.MonkeyPatch) -> Intent:
    stage.policy(approval_above="1.00")
    intent = stage.work(stage.propose(stage.case(), by=SECOND))
    with suppress(OwnProposal):
        stage.approve(intent, by=SECOND)
    return intent


# --- Repeats and clearings ----------------------------------------------------------------------


def _anyone_repeats(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(services, "hold_to_repeat", lambda *_, **__: None)


def _repeated_by_an_ai(stage: Stage, _patch: pytest.MonkeyPatch) -> Intent:
    case = stage.case()
    intent = stage.work(stage.propose(case))
    with suppress(PersonRepeats):
        intent = stage.propose(case, by=AGENT, repeat_of=intent)
    return stage.work(intent)


def _cleared_whatever_was_seen(patch: pytest.MonkeyPatch) -> None:
    def by_its_reason(finding: Finding, cleared: Sequence[Cleared]) -> Cleared | None:
        return next((entry for entry in cleared if entry.reason == finding.reason), None)

    patch.setattr(clearing, "_entry_for", by_its_reason)


def _another_equal_effect_after_the_look(stage: Stage, _patch: pytest.MonkeyPatch) -> Intent:
    case = stage.case()
    stage.work(stage.propose(case))
    twin = stage.work(stage.propose(stage.another_ticket(case)))
    approving.clear(intent=twin, word=stage.word(twin, by=PERSON))
    stage.shop.refund_by_staff(case.order.id, amount="12.50")
    return stage.work(twin)


GATE_GUARDS = (
    Guard(
        name="counters are locked before they are judged",
        off=_no_counter_lock,
        play=_two_orders_and_room_for_one,
        right=Seen(state="held", sends=2, effects=0),
        wrong=Seen(state="confirmed", sends=3, effects=1),
    ),
    Guard(
        name="what an intent took is given back before it is judged again",
        off=_nothing_given_back,
        play=_judged_again_unsent,
        right=Seen(state="confirmed", sends=2, effects=1),
        wrong=Seen(state="held", sends=1, effects=0),
    ),
    Guard(
        name="a customer is one in however many tickets",
        off=_a_customer_for_each_ticket,
        play=_two_tickets_of_one_customer,
        right=Seen(state="held", sends=1, effects=0),
        wrong=Seen(state="confirmed", sends=2, effects=1),
    ),
    Guard(
        name="an approval covers what was shown",
        off=_any_approval,
        play=_staff_refunds_before_the_approval,
        right=Seen(state="awaiting_approval", sends=0, effects=1),
        wrong=Seen(state="confirmed", sends=1, effects=2),
        behind=("actions_intent_proof",),
    ),
    Guard(
        name="the approver is not the proposer",
        off=_one_pair_of_eyes,
        play=_approved_by_its_proposer,
        right=Seen(state="awaiting_approval", sends=0, effects=0),
        wrong=Seen(state="confirmed", sends=1, effects=1),
        behind=("actions_approval_person",),
    ),
    Guard(
        name="what left is repeated by a person alone",
        off=_anyone_repeats,
        play=_repeated_by_an_ai,
        right=Seen(state="confirmed", sends=1, effects=1),
        wrong=Seen(state="confirmed", sends=2, effects=2),
        behind=("actions_intent_birth",),
    ),
    Guard(
        name="a clearing covers the evidence that was seen",
        off=_cleared_whatever_was_seen,
        play=_another_equal_effect_after_the_look,
        right=Seen(state="held", sends=1, effects=2),
        wrong=Seen(state="confirmed", sends=2, effects=3),
    ),
)
