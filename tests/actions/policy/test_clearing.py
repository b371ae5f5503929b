"""What a person has cleared: that reason, that evidence, and nothing else."""

from dataclasses import replace

import pytest

from actions.policy import Check, Circumstances, Facts, Finding, Ownership, Ruling, is_clearable
from actions.states import CLEARABLE, HeldReason, RefusedReason, State
from integrations.ports import Unreadable
from tests.actions.policy.cases import (
    FINE,
    ORDER,
    PAID,
    REFUND,
    cleared,
    judged,
    on,
    other,
    refunded,
    used,
    verdict_of,
)

DISPUTED = on(open_disputes=("d1", "d2"))


@pytest.mark.parametrize(
    ("facts", "reason", "evidence"),
    [
        (on(ownership=Ownership.UNVERIFIED), HeldReason.UNVERIFIED_CUSTOMER, (ORDER,)),
        (on(ownership=Ownership.UNCLEAR), HeldReason.OWNERSHIP_UNCLEAR, (ORDER,)),
        (DISPUTED, HeldReason.DISPUTE, ("d1", "d2")),
        (replace(FINE, others=(other("45.00"),)), HeldReason.EQUAL_EFFECT, ("int_2",)),
        (on(refunds=(refunded("45.00"),)), HeldReason.EQUAL_EFFECT, (REFUND,)),
        (on(refunds=(refunded("1", failed=True),)), HeldReason.FAILED_REFUND_OBJECT, (REFUND,)),
    ],
)
def test_each_reason_of_the_closed_list_can_be_cleared_by_its_own_evidence(
    facts: Facts, reason: HeldReason, evidence: tuple[str, ...]
) -> None:
    held = judged(facts)
    assert (held.state, held.reason) == (State.HELD, reason)
    assert held.deciding.strongest.evidence == evidence
    decision = judged(replace(facts, cleared=(cleared(reason, *evidence),)))
    assert (decision.state, decision.reason) == (State.AUTHORIZED, None)


def test_the_closed_list_is_wholly_tested_here() -> None:
    assert {
        HeldReason.UNVERIFIED_CUSTOMER,
        HeldReason.OWNERSHIP_UNCLEAR,
        HeldReason.DISPUTE,
        HeldReason.EQUAL_EFFECT,
        HeldReason.FAILED_REFUND_OBJECT,
    } == CLEARABLE


def test_a_cleared_hold_keeps_its_reason_and_evidence_and_says_by_whom() -> None:
    facts = replace(DISPUTED, cleared=(cleared(HeldReason.DISPUTE, "d1", "d2", "d3"),))
    verdict = verdict_of(Check.GROUNDED, facts)
    assert verdict.findings == (
        Finding(
            ruling=Ruling.ALLOW,
            reason=HeldReason.DISPUTE,
            sentence="A dispute is open: the bank may give the money back too."
            " Cleared by human_node node-1.",
            evidence=("d1", "d2"),
        ),
    )
    assert verdict.reason is None
    record = verdict.as_record()
    assert (record["ruling"], record["reason"]) == ("allow", "dispute")
    assert verdict.facts["cleared"] == [
        {"reason": "dispute", "evidence": ["d1", "d2", "d3"], "by": "human_node node-1"}
    ]


@pytest.mark.parametrize(
    "entries",
    [
        (),
        (cleared(HeldReason.DISPUTE, "d1"),),
        (cleared(HeldReason.DISPUTE, "d1"), cleared(HeldReason.DISPUTE, "d2")),
        (cleared(HeldReason.DISPUTE),),
        (cleared(HeldReason.EQUAL_EFFECT, "d1", "d2"),),
    ],
)
def test_evidence_that_the_person_did_not_see_whole_holds_again(
    entries: tuple[object, ...],
) -> None:
    decision = judged(replace(DISPUTED, cleared=entries))  # type: ignore[arg-type]  # as given
    assert (decision.state, decision.reason) == (State.HELD, HeldReason.DISPUTE)


def test_a_new_equal_effect_holds_after_an_older_one_was_cleared() -> None:
    twin = replace(other("45.00"), identifier="int_3")
    seen = (cleared(HeldReason.EQUAL_EFFECT, "int_2"),)
    facts = replace(on(received=PAID.received + PAID.received), others=(other("45.00"), twin))
    verdict = verdict_of(Check.NOT_ALREADY_DONE, replace(facts, cleared=seen))
    assert (verdict.reason, verdict.strongest.evidence) == (HeldReason.EQUAL_EFFECT, ("int_3",))


def test_clearing_one_reason_waives_no_other() -> None:
    facts = replace(DISPUTED, others=(other("45.00"),))
    one = replace(facts, cleared=(cleared(HeldReason.DISPUTE, "d1", "d2"),))
    assert judged(one).reason is HeldReason.EQUAL_EFFECT
    both = replace(one, cleared=(*one.cleared, cleared(HeldReason.EQUAL_EFFECT, "int_2")))
    assert judged(both).state is State.AUTHORIZED


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        (replace(FINE, circumstances=Circumstances(paused=True)), HeldReason.PAUSED),
        (replace(FINE, order=Unreadable(reason="timed out")), HeldReason.FACTS_UNAVAILABLE),
        (replace(FINE, others=(other("149.00"),)), HeldReason.RESERVATION),
        (replace(FINE, usage=replace(FINE.usage, day=used("9999", 1))), HeldReason.COUNTER),
        (replace(FINE, usage=replace(FINE.usage, recent=200)), HeldReason.VELOCITY),
    ],
)
def test_what_is_not_on_the_closed_list_is_cleared_by_nobody(
    facts: Facts, reason: HeldReason
) -> None:
    everything = tuple(cleared(any_reason, ORDER, REFUND, "int_2") for any_reason in HeldReason)
    decision = judged(replace(facts, cleared=everything))
    assert (decision.state, decision.reason) == (State.HELD, reason)


def test_a_foreign_order_stays_refused_whatever_was_cleared() -> None:
    everything = tuple(cleared(any_reason, ORDER) for any_reason in HeldReason)
    facts = replace(on(ownership=Ownership.FOREIGN), cleared=everything)
    assert judged(facts).reason is RefusedReason.FOREIGN_ORDER


def test_a_hold_that_shows_no_evidence_is_not_offered_for_clearing() -> None:
    shown = verdict_of(Check.GROUNDED, DISPUTED).strongest
    assert is_clearable(shown)
    assert not is_clearable(replace(shown, evidence=()))
    assert not is_clearable(replace(shown, reason=HeldReason.RESERVATION))
    assert not is_clearable(replace(shown, ruling=Ruling.REFUSE))
