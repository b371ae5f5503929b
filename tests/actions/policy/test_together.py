"""Four verdicts and one decision."""

from dataclasses import replace

import pytest

from actions.policy import Check, Circumstances, Ownership, Ruling, decide
from actions.states import RefusedReason, State
from tests.actions.policy.cases import FINE, PAID, asked, judged, verdict_of


def test_a_small_refund_on_the_customer_s_own_paid_order_is_authorized() -> None:
    decision = judged(FINE)
    assert (decision.ruling, decision.state) == (Ruling.ALLOW, State.AUTHORIZED)
    assert decision.reason is None
    assert [v.sentence for v in decision.verdicts] == [
        "Actors of kind ai may do a refund here, now.",
        (
            "0.00 EUR refunded + 45.00 EUR asked ≤ 150.00 EUR received, "
            "on an order of this ticket's customer."
        ),
        (
            "45.00 EUR asked ≤ 100.00 EUR that need no second person, "
            "with room in every limit that adds up."
        ),
        "No equal effect on this order, and room beside what is under way.",
    ]


def test_at_the_proposal_grounded_is_not_read_yet_and_nothing_is_authorized() -> None:
    decision = judged(replace(FINE, order=None))
    assert [v.ruling for v in decision.verdicts] == [
        Ruling.ALLOW,
        Ruling.NOT_READ,
        Ruling.ALLOW,
        Ruling.ALLOW,
    ]
    assert decision.state is State.PROPOSED
    assert decision.sentence == "The store has not been read yet."


def test_at_the_proposal_no_verdict_speaks_of_what_only_the_store_can_show() -> None:
    verdict = verdict_of(Check.NOT_ALREADY_DONE, replace(FINE, order=None))
    assert verdict.sentence == (
        "No equal effect of ours on this order; the store has not been read."
    )


def test_nothing_unread_is_put_to_an_approver() -> None:
    assert judged(replace(FINE, proposal=asked("150.00"), order=None)).state is State.PROPOSED


def test_what_the_policy_refuses_is_refused_without_a_read() -> None:
    decision = judged(replace(FINE, proposal=asked("200.01"), order=None))
    assert (decision.state, decision.reason) == (State.REFUSED, RefusedReason.OVER_CAP)


def test_refuse_beats_hold_beats_approval_beats_allow() -> None:
    approval = replace(FINE, proposal=asked("120.00"))
    held = replace(approval, circumstances=Circumstances(paused=True))
    refused = replace(held, order=replace(PAID, ownership=Ownership.FOREIGN))
    assert [judged(facts).state for facts in (FINE, approval, held, refused)] == [
        State.AUTHORIZED,
        State.AWAITING_APPROVAL,
        State.HELD,
        State.REFUSED,
    ]


def test_the_gate_never_decides_on_less_than_its_four_checks() -> None:
    verdicts = judged(FINE).verdicts
    for some in (verdicts[:3], (), (*verdicts, verdicts[0]), (*verdicts[:3], verdicts[0])):
        with pytest.raises(ValueError, match="each of its four checks once"):
            decide(some)


def test_a_verdict_is_stored_with_all_that_it_found() -> None:
    facts = replace(FINE, circumstances=Circumstances(paused=True, circuit_open=True))
    assert verdict_of(Check.PERMITTED, facts).as_record() == {
        "check": "permitted",
        "ruling": "hold",
        "reason": "paused",
        "sentence": "The workspace is paused; it goes on when resumed.",
        "evidence": [],
        "also": [
            {
                "ruling": "hold",
                "reason": "circuit",
                "sentence": "The store has been failing; it is tried again by itself.",
                "evidence": [],
            }
        ],
        "facts": {
            "kind": "refund",
            "actor_kind": "ai",
            "enabled_for": ["ai", "brand_team", "human_node", "system"],
            "paused": True,
            "kill_switch": False,
            "blocked_by": None,
            "circuit_open": True,
            "missing_scopes": [],
        },
    }
