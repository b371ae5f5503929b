"""The bench, run small on servers of its own: the rows are there, and the records agree."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]
ADDRESSES = ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


def test_one_row_alone_is_measured_beside_the_commits_and_reported(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    environment = {name: value for name, value in os.environ.items() if name not in ADDRESSES}
    environment |= {
        "DJANGO_SETTINGS_MODULE": "razviel.settings",
        "RAZVIEL_ALLOW_PRIVATE_PLATFORMS": "1",
    }
    asked = ["--only", "settled_intents", "--count", "8", "--report", str(report)]
    ran = subprocess.run(
        [sys.executable, "-m", "razviel.embedded", "manage.py", "bench", *asked],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    rows = json.loads(report.read_text())
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
    assert all(row["value"] > 0 for row in rows)
    # The warm-up, one alone, and those that were counted.
    assert "25 intents, 25 confirmed = 25 effects, 0 doubled, 0 false, 0 lost" in ran.stdout
    assert "fsync on, synchronous_commit on" in ran.stdout
