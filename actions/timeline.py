"""The life of one intent in one line: wish, record, verdicts, sends, reads, echoes, moves, outcome.

Promises: all in the order in which it happened; a fixed number of questions, and no more rows of a
sort than the bound, of which the newest are kept.
Does not judge or word anything, and does not decide who may see it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.db.models import Model, Prefetch, QuerySet

from actions.models import Echo, EchoPart, Intent

ROWS_MAX = 100
"""No more rows of a sort: schedules and gates that judge again may leave many."""


class Step(StrEnum):
    """What a line of the timeline tells, in the order in which equal moments are shown."""

    PROPOSED = "proposed"
    RECORDED = "recorded"
    DECISION = "decision"
    APPROVAL = "approval"
    ATTEMPT = "attempt"
    FINDING = "finding"
    ECHO = "echo"
    OUTCOME = "outcome"
    EVENT = "event"


_ORDER = {step: place for place, step in enumerate(Step)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line: when, what sort, and the row that says it."""

    at: datetime
    step: Step
    row: Model
    number: int = 0
    """Keeps rows of one sort and one moment in their own order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """All lines, oldest first, and whether some were left out."""

    entries: tuple[Entry, ...]
    is_cut: bool


def timeline(intent: Intent) -> Timeline:
    """Return the life of an intent."""
    sorts = [list(rows) for rows in _sorts(intent)]
    entries = [entry for rows in sorts for entry in rows[:ROWS_MAX]]
    entries.sort(key=lambda entry: (entry.at, _ORDER[entry.step], entry.number))
    return Timeline(entries=tuple(entries), is_cut=any(len(rows) > ROWS_MAX for rows in sorts))


def _sorts(intent: Intent) -> Iterator[Iterable[Entry]]:
    yield [Entry(at=intent.created_at, step=Step.RECORDED, row=intent)]
    yield (
        Entry(
            at=event.at,
            step=Step.PROPOSED if event.number == 1 else Step.EVENT,
            row=event,
            number=event.number,
        )
        for event in _newest(intent.events.all(), "number")
    )
    yield (
        Entry(at=decision.decided_at, step=Step.DECISION, row=decision, number=decision.number)
        for decision in _newest(intent.decisions.select_related("policy_version"), "number")
    )
    yield (
        Entry(at=approval.given_at, step=Step.APPROVAL, row=approval)
        for approval in _newest(
            intent.approvals.select_related("decision", "reason__subject_key"), "given_at"
        )
    )
    yield (
        Entry(at=attempt.started_at, step=Step.ATTEMPT, row=attempt, number=attempt.number)
        for attempt in _newest(intent.attempts.all(), "number")
    )
    yield from _observations(intent)


def _observations(intent: Intent) -> Iterator[Iterable[Entry]]:
    echoes = Echo.objects.filter(external_object__intent=intent).select_related(
        "external_object", "attempt", "read"
    )
    with_parts = echoes.prefetch_related(
        Prefetch("parts", queryset=EchoPart.objects.order_by("pk"))
    )
    yield (
        Entry(at=finding.read.finished_at, step=Step.FINDING, row=finding)
        for finding in _newest(intent.findings.select_related("read", "external_object"), "read")
    )
    yield (
        Entry(at=echo.observed_at, step=Step.ECHO, row=echo, number=echo.pk)
        for echo in _newest(with_parts, "observed_at")
    )
    yield (
        Entry(at=outcome.created_at, step=Step.OUTCOME, row=outcome)
        for outcome in _newest(
            intent.outcomes.select_related("request", "external_object", "statement__subject_key"),
            "created_at",
        )
    )


def _newest(rows: QuerySet, by: str) -> QuerySet:  # type: ignore[type-arg]  # rows of any kind
    return rows.order_by(f"-{by}", "-pk")[: ROWS_MAX + 1]
