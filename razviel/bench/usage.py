"""Whose processor time it was: the seconds that each part of the path used while it was measured.

Promises: a process counts with its children, those that have ended included; on a system without
/proc nothing is told rather than guessed. Does not know what was measured.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")
# https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html (read 2026-11-30): fields 4 and 14 to
# 17, counted behind the name, which may hold anything.
_PARENT, _TIMES = 1, slice(11, 15)
_IDLE = (3, 4)
"""Columns of /proc/stat's first line that are not work: idle and waiting for disks."""

_NEARLY_ALL = 0.85


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What had been used at one moment."""

    at: float
    by_part: Mapping[str, float]
    machine_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Cores used between two moments: 1.0 is one core all the time."""

    cores: Mapping[str, float]
    machine_cores: float
    core_count: int

    @property
    def sentence(self) -> str:
        """Say which part limits the rate, and what the others used."""
        if not self.cores:
            return "What limits it was not measured: this system has no /proc."
        busiest = max(self.cores, key=lambda part: self.cores[part])
        used = ", ".join(f"{part} {share:.2f}" for part, share in _by_share(self.cores))
        return f"{self._limit(busiest)} Cores used: {used}; others {self._others:.2f}."

    def _limit(self, busiest: str) -> str:
        if self.cores[busiest] >= _NEARLY_ALL and busiest != "database":
            return f"The {busiest} limits it: one Python process fills one core, not more."
        if self.machine_cores >= _NEARLY_ALL * self.core_count:
            return (
                f"The machine limits it: its {self.core_count} cores are full, the {busiest} first."
            )
        return f"Waiting limits it, not processors; the {busiest} works most."

    @property
    def _others(self) -> float:
        return max(0.0, self.machine_cores - sum(self.cores.values()))


def moment(parts: Mapping[str, int]) -> Moment:
    """Return what the parts have used until now.

    Args:
        parts: Process ids by the name of the part.
    """
    children = _children()
    others = set(parts.values())
    used = {
        name: _tree_seconds(pid, children, without=others - {pid}) for name, pid in parts.items()
    }
    return Moment(
        at=monotonic(), by_part=used if children else {}, machine_seconds=_machine_seconds()
    )


def between(begin: Moment, end: Moment) -> Usage:
    """Return the cores used between two moments."""
    seconds = max(end.at - begin.at, 1e-9)
    return Usage(
        cores={name: (used - begin.by_part[name]) / seconds for name, used in end.by_part.items()},
        machine_cores=(end.machine_seconds - begin.machine_seconds) / seconds,
        core_count=os.cpu_count() or 1,
    )


def parent_of(pid: int) -> int | None:
    """Return a process's parent; None where there is no such process here."""
    fields = _fields(pid)
    return None if fields is None else int(fields[_PARENT])


def _by_share(cores: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(cores.items(), key=lambda item: -item[1])


def _children() -> dict[int, list[int]]:
    children: dict[int, list[int]] = {}
    for folder in _PROC.glob("[0-9]*"):
        pid = int(folder.name)
        parent = parent_of(pid)
        if parent is not None:
            children.setdefault(parent, []).append(pid)
    return children


def _tree_seconds(pid: int, children: Mapping[int, list[int]], *, without: set[int]) -> float:
    """Return the time of a process, of its ended children, and of those that run."""
    fields = _fields(pid)
    own = 0.0 if fields is None else sum(int(ticks) for ticks in fields[_TIMES]) / _TICKS
    below = [child for child in children.get(pid, []) if child not in without]
    return own + sum(_tree_seconds(child, children, without=without) for child in below)


def _fields(pid: int) -> list[str] | None:
    try:
        text = (_PROC / str(pid) / "stat").read_text()
    except OSError:  # it has ended, or there is no /proc
        return None
    return text.rpartition(")")[2].split()


def _machine_seconds() -> float:
    try:
        ticks = [int(word) for word in (_PROC / "stat").read_text().splitlines()[0].split()[1:9]]
    except OSError:
        return 0.0
    return sum(count for column, count in enumerate(ticks) if column not in _IDLE) / _TICKS
