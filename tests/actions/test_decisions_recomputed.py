"""Every decision that was ever kept is what its policy version says of its stored facts, exactly.

Promises: the mix is drawn from fixed seeds, over a real store, through every ruling; ruling, reason
and all four verdicts come out again to the last letter, from JSON alone (issue 3, item 8).
"""

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from actions import approving
from actions.linking import NotRepeatable, PersonRepeats, RepeatAsks
from actions.models import GateDecision, Intent
from actions.policy import facts_of, judge, parse_policy
from actions.services import AlreadySettled, withdraw
from integrations.clock import now
from integrations.models import Connection
from integrations.sandbox.commands import ControlRefused
from integrations.sandbox.faults import FaultKind
from integrations.sandbox.records import Payment
from tests.actions.counted import recount, standing
from tests.stage import AGENT, INTEGRATION, PERSON, SECOND, TEAM, Case, Stage, fresh
from tickets.services import CustomerStatement

pytestmark = pytest.mark.django_db(transaction=True)

POLICIES: tuple[dict[str, Any], ...] = (
    {"cap": "40.00", "approval_above": "20.00"},
    {"cap": "60.00", "per_day": "120.00", "per_customer_day": "90.00", "per_order": "60.00"},
    {"counts": {"per_customer_day": 3, "per_day": 9, "per_order": 2}},
    {"velocity": {"count": 3, "minutes": 10}, "approval_above": "30.00"},
    {"enabled_for": ["human_node", "brand_team"], "order_age_max_days": 30},
    {"currency": "USD", "ownership_required": False},
)


class Drawn:
    """A brand's day, drawn from a seed: orders, proposals, words, faults and the time between."""

    def __init__(self, stage: Stage, seed: int) -> None:
        self.stage = stage
        self.random = Random(seed)  # noqa: S311 - the same seed must give the same day
        self.intents: list[Intent] = []
        self.cases: list[Case] = [self._case(number) for number in range(6)]

    def play(self, steps: int) -> None:
        """Do so many things, one after the other, then let everything come to its end."""
        moves: list[Callable[[], object]] = [
            self._propose,
            self._propose,
            self._work,
            self._work,
            self._speak,
            self._disturb,
            self._decide,
        ]
        self._meet_every_ruling()
        for _ in range(steps):
            self.random.choice(moves)()
        self.stage.resume()
        self.stage.shop.clear_faults()
        for intent in self.intents:
            self.stage.work(intent)

    def _meet_every_ruling(self) -> None:
        """Whatever is drawn later: each phase has ruled in each way that it can."""
        self.stage.policy(**POLICIES[0])
        order = self.cases[4].order
        self.stage.shop.refund_by_staff(order.id, amount="65.00", payment=order.payments[1])
        for number, amount in (
            (0, "12.50"),
            (3, "25.00"),
            (4, "38.00"),
            (5, "5.00"),
            (5, "120.00"),
        ):
            self.intents.append(self.stage.propose(self.cases[number], amount=amount))
        self.stage.work_due()
        self.stage.pause()
        self.intents.append(self.stage.propose(self.cases[5], amount="6.00"))
        self.stage.resume()

    def _case(self, number: int) -> Case:
        payments = [Payment(amount="30.00", gateway="card"), Payment(amount="70.00", gateway="two")]
        named: dict[int, dict[str, Any]] = {
            0: {"customer_statement": CustomerStatement(email="buyer-0@example.com")},
            1: {"currency": "USD", "rate": "0.9"},
            2: {"created_at": now() - timedelta(days=45)},
        }
        details = named.get(number, {"payments": payments})
        name = f"buyer-{number % 3}"
        return self.stage.case(email=f"{name}@example.com", customer=name, **details)

    def _propose(self) -> None:
        case = self.random.choice(self.cases)
        if self.random.random() < 0.3:
            case = self.stage.another_ticket(case)
        amount = self.random.choice(["5.00", "12.50", "25.00", "45.00", "80.00", "120.00"])
        by = self.random.choice([AGENT, AGENT, PERSON, INTEGRATION])
        kind = self.random.choice(["refund", "refund", "refund", "store_credit"])
        intent = self.stage.propose(case, amount=amount, by=by, kind=kind)
        self.intents.append(intent)

    def _work(self) -> None:
        self.stage.pass_time(timedelta(seconds=self.random.choice([0, 5, 70])))
        self.stage.work_due()

    def _speak(self) -> None:
        if not self.intents:
            return
        intent = fresh(self.random.choice(self.intents))
        by = self.random.choice([PERSON, SECOND, TEAM])
        with suppress(
            approving.NotWaiting,
            approving.NotClearable,
            approving.ShownOtherwise,
            approving.OwnProposal,
            AlreadySettled,
            NotRepeatable,
            PersonRepeats,
            RepeatAsks,
        ):
            self._say(intent, self.random.randrange(5), self.stage.word(intent, by=by))

    def _say(self, intent: Intent, what: int, word: approving.Word) -> None:
        match what:
            case 0 | 1 if intent.state == "awaiting_approval":
                approving.approve(intent=intent, word=word)
            case 0 | 1:
                approving.clear(intent=intent, word=word)
            case 2:
                approving.judge_again(intent=intent, by=word.by, at=now())
            case 3:
                withdraw(intent=intent, by=word.by, at=now())
            case _:
                approving.reject(intent=intent, word=word)

    def _disturb(self) -> None:
        order = self.random.choice(self.cases).order.id
        shop = self.stage.shop
        match self.random.randrange(7):
            case 0:
                with suppress(ControlRefused):  # less than that is left
                    shop.refund_by_staff(order, amount=self.random.choice(["5.00", "12.50"]))
            case 1:
                shop.open_dispute(order)
            case 2:
                shop.fault(FaultKind.READ_ERROR, operation="order")
            case 3:
                shop.fault(FaultKind.THROTTLED, operation="refundCreate", times=2)
            case 4:
                shop.fault(FaultKind.LOST_AFTER, operation="refundCreate")
            case 5:
                self.stage.pause()
            case _:
                shop.gateway("two", answers=self.random.choice(["SUCCESS", "FAILURE", "PENDING"]))

    def _decide(self) -> None:
        self.stage.resume()
        kind = self.random.choice(["refund", "store_credit"])
        self.stage.policy(kind=kind, **self.random.choice(POLICIES))


def recomputed(decision: GateDecision) -> tuple[str, str, object]:
    """Judge what a decision stands on once more: by its own policy version, from JSON."""
    policy = parse_policy(json.loads(json.dumps(decision.policy_version.document)))
    again = judge(policy=policy, facts=facts_of(json.loads(json.dumps(decision.facts))))
    verdicts = [verdict.as_record() for verdict in again.verdicts]
    return again.ruling.value, again.reason or "", json.loads(json.dumps(verdicts))


def test_every_decision_of_a_drawn_day_recomputes_to_the_letter(stage: Stage) -> None:
    """Four days in one: together they meet every ruling and most reasons."""
    scopes = [*stage.connection.scopes, "read_customers", "read_all_orders"]
    Connection.objects.filter(pk=stage.connection.pk).update(scopes=scopes)
    stage.connection.refresh_from_db()
    for seed in range(4):
        Drawn(stage, seed).play(45)
        stage.pass_time(timedelta(days=1))
    decisions = list(GateDecision.objects.select_related("policy_version").order_by("pk"))
    for decision in decisions:
        stored = (decision.ruling, decision.reason, decision.verdicts)
        assert recomputed(decision) == stored, decision.public_id
    met = {(decision.phase, decision.ruling) for decision in decisions}
    assert met == {
        ("proposal", "not_read"),
        ("proposal", "hold"),
        ("proposal", "refuse"),
        ("worker", "allow"),
        ("worker", "approve"),
        ("worker", "hold"),
        ("worker", "refuse"),
    }
    assert len({decision.policy_version_id for decision in decisions}) > 3
    assert standing() == recount()


def test_a_decision_whose_facts_were_touched_no_longer_recomputes(stage: Stage) -> None:
    """The control: what is stored decides, not what was meant."""
    intent = stage.work(stage.propose(stage.case(total="100.00")))
    decision = stage.shown(intent)
    assert recomputed(decision)[0] == decision.ruling == "allow"
    decision.facts["order"]["received"]["amount"] = "10.00"
    assert recomputed(decision)[:2] == ("refuse", "over_remainder")
