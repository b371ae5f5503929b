"""Child processes that never outlive the process that started them.

Promises: on Linux the kernel signals the child when its parent dies, even by SIGKILL; elsewhere
a small shell holds a pipe and does the same. Start children from the main thread: Linux ties
the signal to the thread that started them. Does not know: what the child is.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from razviel.embedded.account import Account

# https://man7.org/linux/man-pages/man2/PR_SET_PDEATHSIG.2const.html (read 2026-11-30)
_PR_SET_PDEATHSIG = 1


@dataclass(slots=True, kw_only=True)
class Child:
    """One child process, how to ask it to stop, and the guard that watches over it."""

    process: subprocess.Popen[bytes]
    stop_signal: signal.Signals
    guard: subprocess.Popen[bytes] | None = None

    def stop(self, *, timeout_seconds: float) -> int:
        """Ask the child to stop, insist after the timeout, and return its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(self.stop_signal)
            try:
                self.process.wait(timeout_seconds)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.guard is not None:
            _dismiss(self.guard)
        return self.process.returncode


def start_child(
    command: Sequence[str | Path],
    *,
    stop_signal: signal.Signals = signal.SIGTERM,
    account: Account | None = None,
    environment: Mapping[str, str] | None = None,
    output: IO[bytes] | int | None = None,
    own_group: bool = True,
) -> Child:
    """Start a process that gets `stop_signal` when this one dies.

    Args:
        command: the program and its arguments.
        stop_signal: what asks this program to stop in an orderly way.
        account: who it runs as; ourselves when left out.
        environment: its whole environment; ours when left out.
        output: where its output goes; ours when left out.
        own_group: False leaves it in our group and on our standard input, so that a Ctrl-C of the
            terminal and what is piped to us reach it.
    """
    process = subprocess.Popen(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL if own_group else None,
        stdout=output,
        stderr=subprocess.STDOUT if output is not None else None,
        cwd="/" if account is not None and account.changes else None,
        env=dict(environment) if environment is not None else None,
        start_new_session=own_group,
        preexec_fn=_die_with_parent(stop_signal),  # noqa: PLW1509 - one system call, no locks
        **(account.spawn_identity() if account is not None else {}),
    )
    guard = None if sys.platform == "linux" else start_guard(process.pid, stop_signal=stop_signal)
    return Child(process=process, stop_signal=stop_signal, guard=guard)


def start_guard(pid: int, *, stop_signal: signal.Signals) -> subprocess.Popen[bytes]:
    """Start a shell that signals `pid` when the pipe from this process breaks."""
    script = f'read -r word; [ "$word" = done ] || kill -{stop_signal.value} "$1"'
    return subprocess.Popen(
        ["/bin/sh", "-c", script, "sh", str(pid)],
        stdin=subprocess.PIPE,
        start_new_session=True,
    )


def _dismiss(guard: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(BrokenPipeError):
        guard.communicate(b"done\n")


def _die_with_parent(stop_signal: signal.Signals) -> Callable[[], None] | None:
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None, use_errno=True)
    parent_pid = os.getpid()

    def ask_the_kernel() -> None:
        # Runs after the change of identity, which would clear the request.
        library.prctl(_PR_SET_PDEATHSIG, stop_signal.value, 0, 0, 0)
        if os.getppid() != parent_pid:  # the parent died before the request was in place
            os._exit(1)

    return ask_the_kernel
