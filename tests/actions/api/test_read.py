"""How an intent reads: what the store refused, what was said of it, at a cost that stays."""

import pytest
from pytest_django import DjangoAssertNumQueries

from actions.boundaries import Boundary
from actions.states import State
from tests.actions.api.wishes import proposed
from tests.caller import Caller
from tests.factories import intent_in, make_approval, make_decision
from tests.stage import AGENT, Stage

pytestmark = pytest.mark.django_db(transaction=True)


def test_what_the_store_rejected_is_shown_by_code_and_words(stage: Stage) -> None:
    case = stage.case(amount="60.00", total="100.00")
    caller = Caller(stage.workspace, AGENT)
    intent = proposed(caller, case, amount="60.00")
    with stage.at(
        Boundary.CLAIMED, lambda: stage.shop.refund_by_staff(case.order.id, amount="70.00")
    ):
        stage.work(intent)
    body = caller.get(f"intents/{intent.public_id}/").body
    assert (body["state"], body["state_reason"]) == ("failed", "rejected")
    rejection = body["rejection"]
    assert (rejection["code"], rejection["attempt"]) == ("over_net_payment", 1)
    assert rejection["message"].startswith("Refund amount €60.00 is greater than")
    assert rejection["at"] == body["attempts"][0]["closed_at"]
    assert body["may_be_corrected"] is True


@pytest.mark.parametrize("count", [1, 5])
def test_an_intent_costs_the_same_however_much_was_said_of_it(
    count: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    intent = intent_in(State.AWAITING_APPROVAL)
    decision = intent.decisions.get()
    for number in range(count):
        make_approval(decision=decision, at=decision.decided_at, approver_identity=f"p-{number}")
    caller = Caller(intent.workspace, AGENT)
    with django_assert_num_queries(14):
        answer = caller.get(f"intents/{intent.public_id}/")
    assert len(answer.body["approvals"]) == count


def test_a_decision_from_before_there_was_evidence_still_reads() -> None:
    intent = intent_in(State.AWAITING_APPROVAL)
    finding: dict[str, object] = {"ruling": "allow", "reason": None, "sentence": "All is well."}
    verdict: dict[str, object] = {
        "check": "permitted",
        **finding,
        "also": [finding],
        "facts": {},
    }
    make_decision(intent=intent, ruling="approve", at=intent.updated_at, verdicts=[verdict])
    body = Caller(intent.workspace, AGENT).get(f"intents/{intent.public_id}/").body
    (shown_now,) = body["verdicts"]
    assert shown_now == {
        **verdict,
        "evidence": [],
        "also": [{**finding, "evidence": []}],
    }
