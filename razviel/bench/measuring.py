"""The rows that `make bench` knows, and one run over them.

Promises: each entry of `MEASURES` stands alone, so that `--only` can run it and later issues add
theirs; the commits of the same database are taken before and after whatever runs between.
Does not know how it is shown.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from razviel.bench.commits import (
    COMMITS,
    COMMITS_AFTER,
    DRIFT_MAX,
    Durability,
    drift,
    durability,
    measure_commits,
)
from razviel.bench.noops import NOOPS, measure_noops
from razviel.bench.rows import Row, beside
from razviel.bench.settled import ALONE_COUNT, COUNT, IN_FLIGHT, SETTLED, measure_settled
from razviel.demo.stack import Stack, application_environment


@dataclass(slots=True, kw_only=True)
class Measured:
    """The rows of a run, and what a reader must know of them."""

    durability: Durability
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def is_void(self) -> bool:
        """Did the ground move under the run, or was it not the ground that counts?"""
        before, after = self.rows[0], self.rows[-1]
        return drift(before, after) > DRIFT_MAX or not self.durability.is_on

    def verdict(self) -> str:
        """Say whether the run counts."""
        durability = self.durability
        said = f"fsync {durability.fsync}, synchronous_commit {durability.synchronous_commit}"
        moved = f"commits before and after differ by {drift(self.rows[0], self.rows[-1]):.0%}"
        if not self.is_void:
            return f"{said}; {moved}."
        return f"VOID: {said}; {moved} (at most {DRIFT_MAX:.0%} counts). Run it on a quiet machine."


Measure = Callable[[Stack, Measured], None]


def _settled(stack: Stack, measured: Measured) -> None:
    """Measure the whole path."""
    settled = measure_settled(stack)
    measured.rows += settled.rows
    threads = _threads(stack)
    how = (
        f"{SETTLED}: {COUNT} refunds with {IN_FLIGHT} in flight, {ALONE_COUNT} alone, through the"
        f" service; 1 worker process with {threads} threads, 1 sandbox process at zero latency,"
        f" {IN_FLIGHT} proposing threads in 1 process. Sandbox figures, no store's."
    )
    both = f"Both records: {settled.comparison.sentence}."
    measured.notes += [how, settled.usage.sentence, both]


def _noops(stack: Stack, measured: Measured) -> None:
    """Measure Celery by itself."""
    measured.rows.append(measure_noops(stack))
    measured.notes.append(f"{NOOPS}: 1 worker process with {_threads(stack)} threads.")


MEASURES: dict[str, Measure] = {SETTLED: _settled, NOOPS: _noops}
"""What can be measured, by the name of its first row; later issues add theirs here."""


def run(names: Sequence[str], *, tell: Callable[[str], None]) -> Measured:
    """Measure these, between two looks at the ground.

    Args:
        names: Of `MEASURES`.
        tell: Says what takes time.
    """
    measured = Measured(durability=durability())
    tell(COMMITS)
    measured.rows.append(measure_commits(COMMITS))
    for name in names:
        tell(name)
        with Stack(application_environment()) as stack:
            MEASURES[name](stack, measured)
    tell(COMMITS_AFTER)
    after = measure_commits(COMMITS_AFTER)
    ground, *others = measured.rows
    measured.rows = [ground, *(_beside(row, ground) for row in [*others, after])]
    return measured


def _beside(row: Row, ground: Row) -> Row:
    return beside(row, ground) if row.unit == ground.unit else row


def _threads(stack: Stack) -> str:
    return stack.environment.get("RAZVIEL_WORKER_THREADS", "16")
