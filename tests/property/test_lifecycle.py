"""A refund's whole life under drawn faults, steps and waits, on real database and sandbox.

Promises: whatever is drawn, what we say at the end is what the store's own ledger says; the draw is
the same at each run. Both key modes are drawn; faults stay within what the store declares.
"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from hashlib import sha256
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actions.advance import advance
from actions.models import Intent
from actions.services import AlreadySettled, withdraw
from actions.states import SETTLED, State
from integrations.clock import now
from integrations.sandbox.faults import FaultKind
from integrations.sandbox.ledger import Effect
from tests.stage import PERSON, Stage, fresh

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(300)]

MINUTE = timedelta(minutes=1)

SPOILED_SENDS: list[tuple[FaultKind, dict[str, object]]] = [
    (FaultKind.LOST_BEFORE, {}),
    (FaultKind.LOST_AFTER, {}),
    (FaultKind.LATE, {"delay": 9 * MINUTE}),
    (FaultKind.LATE, {"delay": MINUTE}),
    (FaultKind.RESET_MID_ANSWER, {}),
    (FaultKind.TRUNCATED_JSON, {}),
    (FaultKind.STATUS_BEFORE, {"status": 503}),
    (FaultKind.STATUS_AFTER, {"status": 502}),
    (FaultKind.TOO_MANY_REQUESTS, {"retry_after_seconds": 30}),
    (FaultKind.THROTTLED, {}),
    (FaultKind.INTERNAL_ERROR_AFTER, {}),
    (FaultKind.DEEP_ERROR, {"nulls": "payload"}),
    (FaultKind.NO_ID, {}),
    (FaultKind.WRONG_AMOUNT, {"amount": "12.49"}),
]
SPOILED_READS = [FaultKind.READ_ERROR, FaultKind.ORDER_NULL, FaultKind.TRUNCATED_REFUNDS]
GATEWAYS = {
    "quick": {"answers": "SUCCESS"},
    "slow": {"answers": "PENDING", "turns": "SUCCESS", "after": timedelta(hours=1)},
    "broken": {"answers": "FAILURE"},
}
STEPS: list[str | int] = ["advance", "withdraw", 1, 14, 120, 1260]
"""Work on it, take it back, or wait for so many minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """What happens to one refund."""

    remember: bool
    gateway: str
    sends: list[tuple[FaultKind, dict[str, object]]]
    reads: list[tuple[FaultKind, int]]
    """What spoils a read, and how many reads pass unharmed first."""
    steps: list[str | int]

    @classmethod
    def drawn(cls, seed: int) -> "Life":
        """Draw a life evenly: Hypothesis alone draws long runs of lives that hardly differ."""
        draw = Random(seed)  # noqa: S311 - faults need no secrecy
        reads = draw.choice([0, 0, 1, 2, 3])
        return cls(
            remember=draw.random() < 1 / 3,
            gateway=draw.choice(["quick", "quick", "quick", "slow", "broken"]),
            sends=draw.choices(SPOILED_SENDS, k=draw.randint(1, 4)),
            reads=[(draw.choice(SPOILED_READS), draw.randint(1, 3)) for _ in range(reads)],
            steps=draw.choices(STEPS, k=draw.randint(1, 6)),
        )


@settings(
    max_examples=60,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(life=st.integers(min_value=0, max_value=2**64).map(Life.drawn))
def test_at_the_end_of_every_life_we_say_what_the_store_holds(stage: Stage, life: Life) -> None:
    intent = live(stage, life)
    effects = [one for one in stage.shop.effects() if one.note == intent.marker]
    assert len(effects) <= 1
    assert_said_truly(intent, effects)
    assert_same_bytes(stage, intent)
    assert_chained(intent)


def live(stage: Stage, life: Life) -> Intent:
    """Play a life, heal what was spoiled, and work until nothing is due any more."""
    stage.shop.keys(remember=life.remember)
    for name, answers in GATEWAYS.items():
        stage.shop.gateway(name, **answers)  # type: ignore[arg-type]  # as the table above says
    intent = stage.propose(stage.case(gateway=life.gateway))
    for kind, details in life.sends:
        stage.shop.fault(kind, operation="refundCreate", **details)
    for read, skip in life.reads:
        stage.shop.fault(read, operation="order", skip=skip)
    for step in life.steps:
        take(stage, intent, step)
    stage.shop.clear_faults()
    intent = stage.settle(intent)
    stage.pass_time(10 * MINUTE)  # whatever is still under way has landed by then
    return fresh(intent)


def take(stage: Stage, intent: Intent, step: str | int) -> None:
    """Take one step of a life."""
    if isinstance(step, int):
        stage.pass_time(step * MINUTE)
    elif step == "withdraw":
        with suppress(AlreadySettled):
            withdraw(intent=fresh(intent), by=PERSON, at=now())
    advance(intent.pk)


def assert_said_truly(intent: Intent, effects: list[Effect]) -> None:
    """Confirmed if and only if it is there as asked; ended otherwise only if it is not."""
    state = State(intent.state)
    assert state in SETTLED
    statuses = {part.status for effect in effects for part in effect.parts}
    proofs = [one.identifier for one in intent.external_objects.all()]
    assert proofs == [effect.id for effect in effects]
    assert (state is State.CONFIRMED) is (statuses == {"SUCCESS"})
    if state is State.CONFIRMED:
        assert [effect.amount for effect in effects] == [Decimal("12.50")]
    elif intent.state_reason == "money_failed":
        assert (state, statuses) == (State.FAILED, {"FAILURE"})
    else:
        assert effects == []


def assert_same_bytes(stage: Stage, intent: Intent) -> None:
    """Whatever was sent, was sent with the same bytes: those that are stored."""
    sent = {
        one.body_sha256
        for one in stage.shop.requests(operation="refundCreate")
        if one.key == str(intent.key)
    }
    assert sent <= {sha256(bytes(intent.body or b"")).hexdigest()}
    attempts = intent.attempts.values_list("request_digest", flat=True)
    assert set(attempts) <= {intent.body_digest}
    assert intent.attempts.count() <= 12


def assert_chained(intent: Intent) -> None:
    """Each event covers the one before it, and they lead from the first state to this one."""
    digest, state = "", ""
    for number, event in enumerate(intent.events.order_by("number"), start=1):
        assert (event.number, event.previous_digest) == (number, digest)
        assert event.digest == sha256((digest + event.body).encode()).hexdigest()
        assert event.from_state == state
        digest, state = event.digest, event.to_state
    assert state == intent.state
    assert number == intent.event_count
