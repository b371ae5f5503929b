"""May this actor do this here, now?"""

from dataclasses import replace

import pytest

from actions.policy import Check, Circumstances, Ruling, parse_policy
from actions.states import HeldReason, RefusedReason, State
from tests.actions.policy.cases import FINE, judged, kind_policy, proposing, verdict_of


@pytest.mark.parametrize(
    ("circumstances", "reason", "sentence"),
    [
        (
            Circumstances(kill_switch=True),
            HeldReason.KILL_SWITCH,
            "The kill switch is on: nothing is written.",
        ),
        (
            Circumstances(paused=True),
            HeldReason.PAUSED,
            "The workspace is paused; it goes on when resumed.",
        ),
        (
            Circumstances(blocked_by="credential"),
            HeldReason.BLOCKED_CONNECTION,
            "The connection is blocked (credential); connect it again.",
        ),
        (
            Circumstances(missing_scopes=("write_orders",)),
            HeldReason.MISSING_SCOPE,
            "The app lacks write_orders on the store; grant it and reconnect.",
        ),
        (
            Circumstances(circuit_open=True),
            HeldReason.CIRCUIT,
            "The store has been failing; it is tried again by itself.",
        ),
    ],
)
def test_what_stands_in_the_way_and_may_pass_holds(
    circumstances: Circumstances, reason: HeldReason, sentence: str
) -> None:
    verdict = verdict_of(Check.PERMITTED, replace(FINE, circumstances=circumstances))
    assert (verdict.ruling, verdict.reason) == (Ruling.HOLD, reason)
    assert verdict.sentence == sentence


def test_a_kind_that_is_off_is_refused() -> None:
    for policy in (parse_policy({"format": 1, "kinds": {}}), kind_policy(enabled_for=[])):
        decision = judged(FINE, policy)
        assert (decision.state, decision.reason) == (State.REFUSED, RefusedReason.KIND_OFF)


def test_a_kind_that_an_older_policy_does_not_name_is_off() -> None:
    record = kind_policy().as_record()
    del record["kinds"]["store_credit"]  # type: ignore[attr-defined]  # a record that we just made
    decision = judged(proposing(kind="store_credit", to_store_credit=True), parse_policy(record))
    assert (decision.state, decision.reason) == (State.REFUSED, RefusedReason.KIND_OFF)
    assert decision.sentence == "This brand has the store credit switched off."


def test_an_actor_kind_that_the_policy_leaves_out_is_refused() -> None:
    verdict = verdict_of(Check.PERMITTED, FINE, kind_policy(enabled_for=["human_node"]))
    assert (verdict.ruling, verdict.reason) == (Ruling.REFUSE, RefusedReason.ACTOR_KIND)
    assert verdict.sentence == "This brand lets human_node do a refund, not ai."
