"""The product's processes end with whoever started them, and what they said last is told."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from razviel.demo.stack import ProcessEnded, Stack

PROJECT = Path(__file__).resolve().parents[3]
WAITING = ["-c", "import signal; print('at http://here', flush=True); signal.pause()"]
OWNER = f"""
import os, signal
from razviel.demo.stack import Stack
with Stack(os.environ) as stack:
    process = stack.start("waiting", {WAITING!r})
    stack.said(process, "at (http://\\\\S+)")
    print("ready", flush=True)
    signal.pause()
"""


@pytest.fixture
def stack() -> Iterator[Stack]:
    with Stack(os.environ) as started:
        yield started


def test_a_killed_owner_leaves_no_process_behind() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER], cwd=PROJECT, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "ready\n"
        family = psutil.Process(owner.pid).children(recursive=True)
        assert len(family) == 1
        owner.kill()
    _, alive = psutil.wait_procs(family, timeout=60)
    assert alive == []


def test_what_a_process_says_when_it_is_ready_is_returned(stack: Stack) -> None:
    process = stack.start("waiting", WAITING)
    assert stack.said(process, r"at (http://\S+)") == "http://here"


def test_a_process_that_ends_by_itself_is_told_with_its_last_lines(stack: Stack) -> None:
    process = stack.start("broken", ["-c", "print('no such table'); raise SystemExit(3)"])
    with pytest.raises(ProcessEnded) as ended:
        stack.said(process, "(ready)")
    assert str(ended.value) == "broken ended with status 3:\n    no such table"


def test_leaving_stops_every_process_and_removes_the_logs() -> None:
    with Stack(os.environ) as stack:
        processes = [stack.start(f"waiting-{number}", WAITING) for number in (1, 2)]
        for process in processes:
            stack.said(process, r"at (http://\S+)")
    assert all(process.has_ended for process in processes)
    assert not any(process.log.exists() for process in processes)


def _fail_beside_a_process() -> None:
    with Stack(os.environ) as stack:
        stack.said(stack.start("waiting", WAITING), r"at (http://\S+)")
        raise LookupError


def test_an_error_takes_the_last_words_of_all_along() -> None:
    with pytest.raises(LookupError) as raised:
        _fail_beside_a_process()
    (words,) = raised.value.__notes__
    assert re.search(r"the last lines of waiting:\n +at http://here", words)
