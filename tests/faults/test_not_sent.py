"""What provably had no effect is no failure, and what blocks a connection is no intent's truth."""

from datetime import timedelta

import pytest

from actions.advance import advance
from actions.boundaries import Boundary
from actions.services import withdraw
from integrations.clock import now
from integrations.models import Connection, Workspace
from integrations.sandbox.faults import FaultKind
from tests.stage import PERSON, Stage, fresh

pytestmark = pytest.mark.django_db(transaction=True)

BLOCKING = [
    (401, "credential"),
    (402, "payment"),
    (403, "permission"),
    (404, "address"),
    (423, "locked"),
    (430, "security"),
]


@pytest.mark.parametrize(("status", "blocked_by"), BLOCKING)
def test_a_store_that_shuts_us_out_blocks_the_connection_and_leaves_the_intent_unsent(
    stage: Stage, status: int, blocked_by: str
) -> None:
    stage.shop.fault(FaultKind.STATUS_BEFORE, operation="refundCreate", status=status)
    intent = stage.work(stage.propose(stage.case()))
    assert (intent.state, intent.first_sent_at) == ("authorized", None)
    assert [attempt.outcome for attempt in intent.attempts.all()] == ["not_sent"]
    assert Connection.objects.get(pk=stage.connection.pk).blocked_by == blocked_by
    requests_before = len(stage.shop.requests())
    intent = stage.work(intent)
    assert (intent.state, intent.state_reason) == ("held", "blocked_connection")
    assert len(stage.shop.requests()) == requests_before
    assert stage.shop.effects() == ()


@pytest.mark.parametrize(
    ("kind", "details"),
    [
        (FaultKind.TOO_MANY_REQUESTS, {"retry_after_seconds": 90}),
        (FaultKind.THROTTLED, {}),
    ],
)
def test_a_throttled_send_is_made_later_and_once(
    stage: Stage, kind: FaultKind, details: dict[str, object]
) -> None:
    stage.shop.fault(kind, operation="refundCreate", **details)
    intent = stage.work(stage.propose(stage.case()))
    assert (intent.state, intent.first_sent_at) == ("authorized", None)
    intent = stage.settle(intent)
    assert intent.state == "confirmed"
    assert [attempt.outcome for attempt in intent.attempts.order_by("number")] == [
        "not_sent",
        "echoed",
    ]
    assert len(stage.shop.effects()) == 1


def test_a_redirect_is_not_followed_and_blocks_the_connection(stage: Stage) -> None:
    stage.shop.fault(
        FaultKind.REDIRECT, operation="refundCreate", url="http://127.0.0.1:9/elsewhere"
    )
    intent = stage.work(stage.propose(stage.case()))
    assert intent.state == "authorized"
    assert Connection.objects.get(pk=stage.connection.pk).blocked_by == "address"
    assert stage.shop.effects() == ()


def test_another_api_version_stops_the_connections_sends_with_a_flag_and_an_event(
    stage: Stage,
) -> None:
    stage.shop.fault(FaultKind.WRONG_VERSION, operation="refundCreate", version="2026-07")
    intent = stage.work(stage.propose(stage.case()))
    assert intent.state == "confirmed"
    assert Connection.objects.get(pk=stage.connection.pk).blocked_by == "api_version"
    assert "connection_blocked" in intent.events.values_list("name", flat=True)
    second = stage.work(stage.propose(stage.case()))
    assert (second.state, second.state_reason) == ("held", "blocked_connection")
    assert len(stage.shop.effects()) == 1


@pytest.mark.parametrize("stop", ["paused_at", "writes_killed_at"])
def test_a_pause_or_a_kill_switch_holds_what_is_authorized(stage: Stage, stop: str) -> None:
    stage.shop.fault(FaultKind.THROTTLED, operation="refundCreate")
    intent = stage.work(stage.propose(stage.case()))
    Workspace.objects.filter(pk=stage.workspace.pk).update(**{stop: now()})
    intent = stage.work(intent)
    assert (intent.state, intent.state_reason) == (
        "held",
        "paused" if stop == "paused_at" else "kill_switch",
    )
    Workspace.objects.filter(pk=stage.workspace.pk).update(**{stop: None})
    assert stage.settle(intent).state == "confirmed"
    assert len(stage.shop.effects()) == 1


def test_what_can_not_be_sent_for_long_stands_before_a_person(stage: Stage) -> None:
    stage.shop.fault(FaultKind.THROTTLED, operation="refundCreate", times=None)
    intent = stage.work(stage.propose(stage.case()))
    for _ in range(12):
        stage.pass_time(timedelta(minutes=4))
        advance(intent.pk)
    intent = fresh(intent)
    assert (intent.state, intent.needs_human_reason) == ("authorized", "not_sent_too_long")
    assert stage.shop.effects() == ()


def test_credentials_that_can_not_be_opened_block_the_connection_and_nothing_is_attempted(
    stage: Stage,
) -> None:
    """F19: the vault has lost the key, or the sealed bytes were changed."""
    intent = stage.propose(stage.case())
    Connection.objects.filter(pk=stage.connection.pk).update(credentials=b"changed")
    stage.work(intent)
    assert Connection.objects.get(pk=stage.connection.pk).blocked_by == "credential"
    intent = stage.work(intent)
    assert (intent.state, intent.state_reason) == ("held", "blocked_connection")
    assert (intent.attempts.count(), stage.shop.requests()) == (0, ())


def test_a_send_that_was_taken_back_before_its_first_byte_ends_withdrawn(stage: Stage) -> None:
    intent = stage.propose(stage.case())

    def take_back() -> None:
        withdraw(intent=intent, by=PERSON, at=now())

    with stage.at(Boundary.CLAIMED, take_back):
        intent = stage.work(intent)
    assert (intent.state, intent.due_at) == ("withdrawn", None)
    assert [attempt.outcome for attempt in intent.attempts.all()] == ["not_sent"]
    assert stage.shop.effects() == ()
    assert stage.shop.requests(operation="refundCreate") == ()
