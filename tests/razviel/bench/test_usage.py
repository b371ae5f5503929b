"""Processor time is counted by part, and what limits a rate is said from it."""

import os
import subprocess
import sys

import pytest

from razviel.bench.usage import Usage, between, moment, parent_of

WORKING = "import time\nwhile time.process_time() < 0.5: pass\nprint('done', flush=True)\ninput()"


def _usage(machine_cores: float, **cores: float) -> Usage:
    return Usage(cores=cores, machine_cores=machine_cores, core_count=2)


def test_a_child_of_ours_that_is_a_part_of_its_own_is_not_counted_as_ours() -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", WORKING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    parts = {"us": os.getpid(), "child": child.pid}
    with child:
        begin = moment(parts)
        assert child.stdout is not None
        assert child.stdout.readline() == "done\n"
        end = moment(parts)
        child.communicate("\n")
    assert end.by_part["child"] >= 0.4
    assert end.by_part["us"] - begin.by_part["us"] < 0.4


def test_a_process_knows_its_parent_and_one_that_is_not_there_has_none() -> None:
    assert parent_of(os.getpid()) == os.getppid()
    assert parent_of(2**22 + 1) is None


@pytest.mark.parametrize(
    ("usage", "said"),
    [
        (_usage(1.4, worker=0.95, sandbox=0.2), "The worker limits it"),
        (_usage(1.9, worker=0.6, database=0.7), "The machine limits it: its 2 cores are full"),
        (_usage(0.6, worker=0.3, database=0.1), "Waiting limits it"),
        (_usage(1.2, worker=0.2, database=0.9), "Waiting limits it"),
        (_usage(0.0), "What limits it was not measured"),
    ],
)
def test_what_limits_the_rate_is_said(usage: Usage, said: str) -> None:
    assert usage.sentence.startswith(said)


def test_cores_are_seconds_of_work_over_seconds_that_passed() -> None:
    begin = moment({"us": os.getpid()})
    usage = between(begin, begin)
    assert usage.cores == {"us": 0.0}
