"""The one rule after a doubtful send: from facts to what may be done next (design 5.6). Pure.

Promises: what is found is adopted at any time; absence is believed only from a complete read that
began after the last send could still land; nothing is sent again without such a read, nor past
the window, nor over a change that a person must see.
Does not know rows, platforms or clocks: facts in, decision out, so that production and a
simulator use the same lines.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from actions.states import FailedReason, NeedsHuman


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """An effect on the platform that carries our marker."""

    identifier: str
    disagreements: tuple[str, ...] = ()
    """What it says otherwise than we asked: target, author, age, another marker beside ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """What is known, after one read of its target, of an intent whose last send has no answer."""

    read_started_at: datetime
    complete: bool
    """Was the read complete? An error or a cut list proves nothing."""
    matches: tuple[Match, ...]
    settles_at: datetime
    """By when a lost request has landed or never will, reads' lag included."""
    resend_until: datetime
    """Until when a read may lead to a resend: the window's end, less what a send takes to leave."""
    resend_ended: bool
    """Was the right to resend given up: withdrawn, handed over, another app, the key used anew?"""
    found_again: bool
    """Does the platform replay our key, or do we find our effect again exactly?"""
    rejected: bool
    """Was a later attempt rejected? Final once absence is proven."""
    earlier_absence_at: datetime | None
    """When the earliest read that proves absence began; None if there was none."""
    absences_apart: timedelta
    obstacle: NeedsHuman | None
    """What the read shows that a person must see before anything is sent again."""
    sends_left: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Adopt:
    """The effect is there, once, and agrees: it is ours."""

    identifier: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Resend:
    """Proven absent inside the window: the same key and the same bytes may go again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fail:
    """Proven absent for good."""

    reason: FailedReason


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Nothing is proven yet: read again by schedule, or at `not_before`, when it proves more."""

    not_before: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A person must look; reading goes on meanwhile."""

    reason: NeedsHuman


Decision: TypeAlias = Adopt | Resend | Fail | Wait | Ask


def decide(doubt: Doubt) -> Decision:
    """Say what a read of the target means for an intent in doubt."""
    if doubt.matches:
        return _of_matches(doubt.matches)
    if not doubt.complete:
        return Wait()
    if doubt.read_started_at < doubt.settles_at:
        return Wait(not_before=doubt.settles_at)
    return _of_absence(doubt)


def _of_matches(matches: tuple[Match, ...]) -> Decision:
    if len(matches) > 1:
        return Ask(reason=NeedsHuman.TWO_MATCHES)
    (match,) = matches
    if match.disagreements:
        return Ask(reason=NeedsHuman.MARKER_DISAGREES)
    return Adopt(identifier=match.identifier)


def _of_absence(doubt: Doubt) -> Decision:
    if doubt.rejected:
        return Fail(reason=FailedReason.REJECTED)
    if doubt.resend_ended or doubt.read_started_at >= doubt.resend_until:
        return _past_the_window(doubt)
    return _inside_the_window(doubt)


def _inside_the_window(doubt: Doubt) -> Decision:
    if doubt.obstacle is not None:
        return Ask(reason=doubt.obstacle)
    if not doubt.found_again:
        return Ask(reason=NeedsHuman.AMBIGUOUS_READ)
    if not doubt.sends_left:
        return Ask(reason=NeedsHuman.EXHAUSTED_SENDS)
    return Resend()


def _past_the_window(doubt: Doubt) -> Decision:
    first = doubt.earlier_absence_at
    if first is not None and doubt.read_started_at >= first + doubt.absences_apart:
        return Fail(reason=FailedReason.ABSENT)
    return Wait(not_before=(first or doubt.read_started_at) + doubt.absences_apart)
