"""Figures in rows: their percentiles, their ratios, and when a run does not count."""

import pytest

from razviel.bench.commits import Durability
from razviel.bench.measuring import Measured
from razviel.bench.rows import Row, as_json, beside, percentile

SAFE = Durability(fsync="on", synchronous_commit="on")


def _commits(value: float) -> Row:
    return Row(name="commits", value=value, unit="per s")


@pytest.mark.parametrize(
    ("count", "share", "expected"),
    [(1, 0.5, 1), (2, 0.5, 1), (4, 0.5, 2), (100, 0.99, 99), (101, 0.99, 100), (10, 1.0, 10)],
)
def test_a_percentile_is_a_value_that_was_measured(
    count: int, share: float, expected: float
) -> None:
    assert percentile(range(count, 0, -1), share) == expected


def test_a_ratio_names_what_it_is_to() -> None:
    row = beside(Row(name="settled", value=50.0, unit="per s"), _commits(4000.0))
    assert as_json([row]) == [
        {"name": "settled", "value": 50.0, "unit": "per s", "ratio_to": "commits", "ratio": 0.0125}
    ]


@pytest.mark.parametrize(
    ("after", "durability", "is_void"),
    [
        (81.0, SAFE, False),
        (125.0, SAFE, False),
        (79.0, SAFE, True),
        (126.0, SAFE, True),
        (100.0, Durability(fsync="off", synchronous_commit="on"), True),
        (100.0, Durability(fsync="on", synchronous_commit="off"), True),
    ],
)
def test_a_run_is_void_where_the_ground_moved_or_does_not_keep_commits(
    after: float, durability: Durability, is_void: bool
) -> None:
    measured = Measured(durability=durability, rows=[_commits(100.0), _commits(after)])
    assert measured.is_void is is_void
    assert measured.verdict.startswith("VOID") is is_void
