"""The rows that `make bench` knows, and one run over them.

Promises: each entry of `MEASURES` stands alone, so that `--only` can run it and later issues add
theirs; the commits of the same database are taken before and after whatever runs between.
Does not know how it is shown.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from razviel.bench.commits import (
    COMMITS,
    COMMITS_AFTER,
    DRIFT_MAX,
    Durability,
    drift,
    durability,
    measure_commits,
)
from razviel.bench.gated import GATED, GATED_HOT, RULES, THREADS, measure_gate
from razviel.bench.noops import NOOPS, measure_noops
from razviel.bench.rows import Row, beside
from razviel.bench.settled import IN_FLIGHT, SETTLED, alone_count, measure_settled
from razviel.bench.statements import STATEMENTS, measure_statements
from razviel.demo.stack import Stack, application_environment

INTENT_COUNT = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one measure found: its rows, and what a reader must know of them."""

    rows: Sequence[Row]
    notes: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A run: its rows, the ground first and last, and what a reader must know of them."""

    durability: Durability
    rows: Sequence[Row]
    notes: Sequence[str] = field(default=())

    @property
    def is_void(self) -> bool:
        """Did the ground move under the run, or was it not the ground that counts?"""
        return self._drift > DRIFT_MAX or not self.durability.is_on

    @property
    def verdict(self) -> str:
        """Say whether the run counts."""
        durability = self.durability
        said = f"fsync {durability.fsync}, synchronous_commit {durability.synchronous_commit}"
        moved = f"commits before and after differ by {self._drift:.0%}"
        if not self.is_void:
            return f"{said}; {moved}."
        return f"VOID: {said}; {moved} (at most {DRIFT_MAX:.0%} counts). Run it on a quiet machine."

    @property
    def _drift(self) -> float:
        return drift(self.rows[0], self.rows[-1])


Measure: TypeAlias = Callable[[Stack, int], Part]
"""Takes processes to start its own in, and how many intents to settle where it settles any."""


def _settled(stack: Stack, count: int) -> Part:
    """Measure the whole path."""
    settled = measure_settled(stack, count=count)
    how = (
        f"{SETTLED}: {count} refunds with {IN_FLIGHT} in flight, {alone_count(count)} alone,"
        f" proposed through the service; 1 worker process with {_threads(stack)} threads, 1 sandbox"
        f" process at zero latency, {IN_FLIGHT} proposing threads in 1 process. Sandbox figures."
    )
    both = f"Both records: {settled.comparison.sentence}."
    return Part(rows=settled.rows, notes=[how, settled.usage.sentence, both])


def _noops(stack: Stack, _count: int) -> Part:
    """Measure Celery by itself."""
    row = measure_noops(stack)
    return Part(rows=[row], notes=[f"{NOOPS}: 1 worker process with {_threads(stack)} threads."])


def _gated(stack: Stack, count: int) -> Part:
    """Measure the Policy Gate by itself."""
    gated = measure_gate(stack, count=count)
    how = (
        f"{GATED}: {count} judgements with {THREADS} threads in 1 process, each with its read of"
        f" the order from 1 sandbox process at zero latency (median {gated.read_p50_ms:.0f} ms)."
    )
    hot = (
        f"{GATED_HOT}: {gated.hot.decisions} on one order, each beside all before it;"
        f" {gated.hot.judgements} looks: whoever lost the race looks again when its row is due."
    )
    rules = f"{RULES}: the four checks on stored facts, in 1 thread, no store and no database."
    return Part(rows=gated.rows, notes=[how, hot, rules])


def _statements(stack: Stack, _count: int) -> Part:
    """Count the database's statements."""
    return Part(rows=measure_statements(stack), notes=[])


MEASURES: dict[str, Measure] = {
    SETTLED: _settled,
    GATED: _gated,
    STATEMENTS: _statements,
    NOOPS: _noops,
}
"""What can be measured, by the name of its first row; later issues add theirs here."""


def run(names: Sequence[str], *, count: int, tell: Callable[[str], None]) -> Measured:
    """Measure these, between two looks at the ground.

    Args:
        names: Of `MEASURES`.
        count: How many intents to settle.
        tell: Says what takes time.
    """
    tell(COMMITS)
    before, parts = measure_commits(COMMITS), []
    for name in names:
        tell(name)
        with Stack(application_environment()) as stack:
            parts.append(MEASURES[name](stack, count))
    tell(COMMITS_AFTER)
    rows = [*(row for part in parts for row in part.rows), measure_commits(COMMITS_AFTER)]
    return Measured(
        durability=durability(),
        rows=[before, *(_beside(row, before) for row in rows)],
        notes=[note for part in parts for note in part.notes],
    )


def _beside(row: Row, ground: Row) -> Row:
    return beside(row, ground) if row.unit == ground.unit else row


def _threads(stack: Stack) -> str:
    return stack.environment.get("RAZVIEL_WORKER_THREADS", "16")
