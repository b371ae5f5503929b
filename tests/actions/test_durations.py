"""The one setting of times, and the schedules in it."""

from datetime import UTC, datetime, timedelta

import pytest

from actions.durations import Durations, next_due

START = datetime(2026, 11, 30, 12, tzinfo=UTC)
SCHEDULE = (timedelta(seconds=10), timedelta(seconds=20), timedelta(seconds=40))


@pytest.mark.parametrize(
    ("elapsed_seconds", "due_seconds"),
    [(0, 10), (9, 10), (10, 30), (29, 30), (30, 70), (69, 70), (70, None), (9999, None)],
)
def test_a_schedule_gives_its_next_moment_and_ends(
    elapsed_seconds: int, due_seconds: int | None
) -> None:
    due_at = next_due(
        SCHEDULE, started_at=START, now=START + timedelta(seconds=elapsed_seconds), jitter=0
    )
    assert due_at == (None if due_seconds is None else START + timedelta(seconds=due_seconds))


def test_jitter_only_draws_a_wait_out() -> None:
    due_at = next_due(SCHEDULE, started_at=START, now=START + timedelta(seconds=15), jitter=0.2)
    assert due_at == START + timedelta(seconds=30 + 4)


def test_the_last_send_with_a_key_is_at_20_of_24_hours() -> None:
    durations = Durations()
    assert durations.resend_window(keys_kept_for=timedelta(hours=24)) == timedelta(hours=20)
    assert durations.resend_window(keys_kept_for=timedelta(hours=1)) == timedelta(minutes=50)
    assert durations.resend_window(keys_kept_for=timedelta(days=30)) == timedelta(hours=20)
    assert durations.resend_window(keys_kept_for=timedelta(0)) == timedelta(hours=20)


def test_reads_after_a_doubtful_send_go_on_past_the_window_and_never_pause_above_30_minutes() -> (
    None
):
    durations = Durations()
    assert max(durations.unknown_schedule) == timedelta(minutes=30)
    assert sum(durations.unknown_schedule, start=timedelta(0)) > timedelta(hours=24)


def test_what_a_day_holds_is_judged_again_past_the_end_of_a_day_of_25_hours() -> None:
    durations = Durations()
    drawn_out = max(durations.held_schedule) * (1 + durations.jitter)
    assert durations.held_patience > timedelta(hours=25) + drawn_out
    assert sum(durations.held_schedule, start=timedelta(0)) >= durations.held_patience


def test_a_sandbox_shortens_waits_and_leaves_machines_and_counts_alone() -> None:
    short = Durations().scaled(0.01)
    assert short.regate_after == timedelta(seconds=0.6)
    assert short.absences_apart == timedelta(seconds=1.8)
    assert short.unknown_schedule[-1] == timedelta(seconds=18)
    assert short.send_by_after_claim == timedelta(seconds=10)
    assert short.lease_slack == timedelta(seconds=30)
    assert short.marker_created_tolerance == timedelta(minutes=5)
    assert (short.max_sends, short.jitter) == (12, 0.2)


@pytest.mark.parametrize("factor", [0, -1, 1.01, float("nan")])
def test_waits_are_never_lengthened_or_abolished(factor: float) -> None:
    with pytest.raises(ValueError, match="more than 0 and at most 1"):
        Durations().scaled(factor)
