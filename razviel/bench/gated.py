"""The Policy Gate by itself: decisions per second over many orders, and on one hot order.

Promises: each is the worker's own judgement (the order read from a simulated store over HTTP, then
facts, counters and decision under lock, and the bytes frozen), up to *authorized*; nothing is sent,
and what was let go is taken back in the end; the brand's counter must then have said the sum.
The rules alone are measured apart, on the facts of the last decision.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from threading import Event
from time import monotonic

from django.db import connections
from django.db.models import Count, Sum

from actions.gate import judge_in_worker
from actions.models import Counter, GateDecision, Intent, Phase, Read
from actions.policy import facts_of, judge, parse_policy
from actions.services import withdraw
from actions.states import State
from integrations.actors import SYSTEM
from integrations.clock import now
from integrations.models import Workspace
from razviel.bench.cases import (
    AMOUNT,
    open_brand,
    open_case,
    open_cases_of_one_order,
    propose_refund,
)
from razviel.bench.rows import Row, percentile
from razviel.demo.stack import Stack, address_of_sandbox, start_sandbox

GATED = "gate_decisions_many_orders"
GATED_HOT = "gate_decisions_hot_order"
RULES = "gate_rules_alone"
THREADS = 16

_HOT_SHARE = 4
_RULES_SECONDS = 1.0
_PATIENCE_SECONDS = 60.0
_CENT = Decimal("0.01")


class NotDecided(Exception):
    """An intent was not let go, or the brand's counter says another sum than the intents do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How fast the gate let intents go, and how often it looked."""

    decisions: int
    judgements: int
    seconds: float

    @property
    def per_second(self) -> float:
        """Return decisions per second."""
        return round(self.decisions / self.seconds, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gated:
    """The rows, and what a reader must know of them."""

    rows: list[Row]
    read_p50_ms: float
    hot: Rate


def measure_gate(stack: Stack, *, count: int) -> Gated:
    """Judge intents on an order each, and then many on one order.

    Args:
        count: How many on an order each; a quarter as many on the hot one.
    """
    brand = open_brand(address_of_sandbox(stack, start_sandbox(stack)))
    cases = [open_case(brand) for _ in range(count)]
    many = _judge_all([propose_refund(case) for case in cases])
    hot_cases = open_cases_of_one_order(brand, hot_count(count))
    # No two of the same amount: an equal one on the same order is held.
    amounts = [str(Decimal(AMOUNT) + _CENT * number) for number in range(len(hot_cases))]
    hot = _judge_all([propose_refund(c, amount=a) for c, a in zip(hot_cases, amounts, strict=True)])
    _hold_to_the_counter(brand.workspace)
    reads = Read.objects.filter(workspace=brand.workspace).values_list("duration_ms", flat=True)
    gated = Gated(
        rows=[
            Row(name=GATED, value=many.per_second, unit="per s"),
            Row(name=GATED_HOT, value=hot.per_second, unit="per s"),
            Row(name=RULES, value=_rules_per_second(brand.workspace), unit="per s"),
        ],
        read_p50_ms=percentile(reads, 0.5),
        hot=hot,
    )
    _take_back(brand.workspace)
    return gated


def hot_count(count: int) -> int:
    """Return how many are judged on the hot order."""
    return max(1, count // _HOT_SHARE)


def _judge_all(intents: Sequence[int]) -> Rate:
    begin = monotonic()
    with ThreadPoolExecutor(THREADS, thread_name_prefix="gate") as pool:
        looks = list(pool.map(_judge, intents))
        seconds = monotonic() - begin
        list(pool.map(lambda _: connections.close_all(), range(THREADS)))
    return Rate(decisions=len(looks), judgements=sum(looks), seconds=seconds)


def _judge(intent_pk: int) -> int:
    """Judge an intent until it is let go; return how often that took.

    Where another moved the target meanwhile, again when the row says.

    Raises:
        NotDecided: It was not let go in time.
    """
    deadline, clock = monotonic() + _PATIENCE_SECONDS, Event()
    for looks in _from_one():
        if judge_in_worker(intent_pk):
            return looks
        row = Intent.objects.only("state", "state_reason", "due_at").get(pk=intent_pk)
        if row.state != State.PROPOSED or row.due_at is None or monotonic() > deadline:
            raise NotDecided(f"Intent {intent_pk} is {row.state} {row.state_reason}.")
        clock.wait(max(0.0, (row.due_at - now()).total_seconds()))
    raise NotDecided


def _from_one() -> Iterator[int]:
    number = 0
    while True:
        number += 1
        yield number


def _hold_to_the_counter(workspace: Workspace) -> None:
    let_go = Intent.objects.filter(workspace=workspace, state=State.AUTHORIZED)
    told = let_go.aggregate(used=Sum("shop_amount"), count=Count("pk"))
    day = Counter.objects.filter(workspace=workspace, name="refund.day")
    counted = day.aggregate(used=Sum("used"), count=Sum("count"))
    if told != counted:
        raise NotDecided(f"The figures are worth nothing: {told} let go, {counted} counted.")


def _rules_per_second(workspace: Workspace) -> float:
    """Judge the facts of the last decision again and again: no store, no database."""
    decisions = GateDecision.objects.filter(workspace=workspace, phase=Phase.WORKER)
    last = decisions.select_related("policy_version").latest("pk")
    policy, facts = parse_policy(last.policy_version.document), facts_of(last.facts)
    count, begin = 0, monotonic()
    while monotonic() - begin < _RULES_SECONDS:
        judge(policy=policy, facts=facts)
        count += 1
    return round(count / (monotonic() - begin), 1)


def _take_back(workspace: Workspace) -> None:
    """Withdraw what was let go: a wake-up that waits in the broker finds nothing to send."""
    for intent in Intent.objects.filter(workspace=workspace, state=State.AUTHORIZED):
        withdraw(intent=intent, by=SYSTEM, at=now())
