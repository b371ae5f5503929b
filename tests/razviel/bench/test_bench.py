"""The bench, run small on servers of its own: the rows are there, and the records agree."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).resolve().parents[3]
ADDRESSES = ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


def bench(report: Path, *arguments: str) -> tuple[list[dict[str, Any]], str]:
    """Run the bench, and return its rows and what it printed."""
    environment = {name: value for name, value in os.environ.items() if name not in ADDRESSES}
    environment |= {
        "DJANGO_SETTINGS_MODULE": "razviel.settings",
        "RAZVIEL_ALLOW_PRIVATE_PLATFORMS": "1",
    }
    ran = subprocess.run(
        [
            *(sys.executable, "-m", "razviel.embedded", "manage.py", "bench"),
            *(*arguments, "--report", str(report)),
        ],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    rows: list[dict[str, Any]] = json.loads(report.read_text())
    assert all(row["value"] > 0 for row in rows)
    return rows, ran.stdout


def test_one_row_alone_is_measured_beside_the_commits_and_reported(tmp_path: Path) -> None:
    asked = ["--only", "settled_intents", "--count", "8"]
    rows, printed = bench(tmp_path / "report.json", *asked)
    assert [row["name"] for row in rows] == [
        "commits_before",
        "settled_intents",
        "settled_p50_16_in_flight",
        "settled_p99_16_in_flight",
        "settled_p50_alone",
        "settled_p99_alone",
        "commits_after",
    ]
    assert [(row["unit"], row["ratio_to"]) for row in rows[:3]] == [
        ("per s", None),
        ("per s", "commits_before"),
        ("ms", None),
    ]
    # The warm-up, one alone, and those that were counted.
    assert "25 intents, 25 confirmed = 25 effects, 0 doubled, 0 false, 0 lost" in printed
    assert "fsync on, synchronous_commit on" in printed


def test_the_gate_is_measured_over_many_orders_on_a_hot_one_and_by_its_rules_alone(
    tmp_path: Path,
) -> None:
    asked = ["--only", "gate_decisions_many_orders", "--count", "8"]
    rows, printed = bench(tmp_path / "report.json", *asked)
    assert [(row["name"], row["unit"], row["ratio_to"]) for row in rows] == [
        ("commits_before", "per s", None),
        ("gate_decisions_many_orders", "per s", "commits_before"),
        ("gate_decisions_hot_order", "per s", "commits_before"),
        ("gate_rules_alone", "per s", "commits_before"),
        ("commits_after", "per s", "commits_before"),
    ]
    assert "gate_decisions_hot_order: 2 on one order" in printed


def test_a_refunds_statements_are_counted_to_the_proposal_and_in_all(tmp_path: Path) -> None:
    rows, _ = bench(tmp_path / "report.json", "--only", "statements_per_refund")
    assert [(row["name"], row["unit"]) for row in rows[1:-1]] == [
        ("statements_per_refund", "statements"),
        ("statements_to_propose", "statements"),
    ]
    assert rows[1]["value"] > rows[2]["value"]
