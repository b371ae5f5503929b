"""The named boundaries of execution: each place where a process can die between two truths.

Promises: `reached` does nothing but call the one observer that a test process may set, so that
faults can be planted at every boundary by name; the list is closed, and a test fails for a
boundary that no fault test visits.
Does not know what an observer does. Production sets none.
"""

from collections.abc import Callable
from enum import StrEnum


class Boundary(StrEnum):
    """Where an I/O or a commit separates what we know from what is."""

    CLAIMED = "execution.claimed"
    """The attempt is committed; no byte has left."""
    CONNECTED = "execution.connected"
    """The socket is open and the fence has been passed; no byte has left."""
    ANSWERED = "execution.answered"
    """The platform has answered; nothing of it is committed."""
    SETTLED = "execution.settled"
    """The answer is committed; nobody has been told."""
    FACTS_READ = "gate.facts_read"
    """The order was read for the gate; nothing is decided."""
    GATED = "gate.committed"
    """The decision is committed."""
    TARGET_READ = "reconcile.target_read"
    """The target was read; nothing of it is committed."""
    RECONCILED = "reconcile.committed"
    """What the read said is committed."""


_observers: list[Callable[[Boundary], None]] = []


def observe(observer: Callable[[Boundary], None]) -> None:
    """Have an observer called at every boundary from now on in this process. For tests alone."""
    _observers.append(observer)


def forget(observer: Callable[[Boundary], None]) -> None:
    """Stop calling an observer."""
    _observers.remove(observer)


def reached(boundary: Boundary) -> None:
    """Say that a boundary is reached."""
    for observer in _observers:
        observer(boundary)
