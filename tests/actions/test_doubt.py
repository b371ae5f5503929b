"""The one rule after a doubtful send, as a table, and swept over every combination that matters."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from actions.doubt import Adopt, Ask, Decision, Doubt, Fail, Match, Resend, Wait, decide
from actions.states import FailedReason, NeedsHuman

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
SETTLES_AT = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
RESEND_UNTIL = SETTLES_AT + timedelta(hours=19)
APART = 3 * MINUTE

ABSENT = Doubt(
    read_started_at=SETTLES_AT,
    complete=True,
    matches=(),
    settles_at=SETTLES_AT,
    resend_until=RESEND_UNTIL,
    resend_ended=False,
    found_again=True,
    rejected=False,
    earlier_absence_at=None,
    absences_apart=APART,
    obstacle=None,
    sends_left=True,
)
"""Proven absent inside the window, with nothing in the way."""

OURS = Match(identifier="gid://shopify/Refund/1")
DISAGREEING = Match(identifier="gid://shopify/Refund/2", disagreements=("author",))


@pytest.mark.parametrize(
    ("changes", "decision"),
    [
        ({}, Resend()),
        ({"matches": (OURS,)}, Adopt(identifier=OURS.identifier)),
        ({"matches": (OURS,), "complete": False}, Adopt(identifier=OURS.identifier)),
        ({"matches": (DISAGREEING,)}, Ask(reason=NeedsHuman.MARKER_DISAGREES)),
        ({"matches": (OURS, DISAGREEING)}, Ask(reason=NeedsHuman.TWO_MATCHES)),
        ({"complete": False}, Wait()),
        ({"read_started_at": SETTLES_AT - SECOND}, Wait(not_before=SETTLES_AT)),
        ({"rejected": True}, Fail(reason=FailedReason.REJECTED)),
        (
            {"rejected": True, "read_started_at": SETTLES_AT - SECOND},
            Wait(not_before=SETTLES_AT),
        ),
        (
            {"obstacle": NeedsHuman.FOREIGN_EFFECT},
            Ask(reason=NeedsHuman.FOREIGN_EFFECT),
        ),
        ({"found_again": False}, Ask(reason=NeedsHuman.AMBIGUOUS_READ)),
        ({"sends_left": False}, Ask(reason=NeedsHuman.EXHAUSTED_SENDS)),
        ({"read_started_at": RESEND_UNTIL - SECOND}, Resend()),
        ({"read_started_at": RESEND_UNTIL}, Wait(not_before=RESEND_UNTIL + APART)),
        ({"resend_ended": True}, Wait(not_before=SETTLES_AT + APART)),
        (
            {
                "resend_ended": True,
                "earlier_absence_at": SETTLES_AT,
                "read_started_at": SETTLES_AT + APART - SECOND,
            },
            Wait(not_before=SETTLES_AT + APART),
        ),
        (
            {
                "resend_ended": True,
                "earlier_absence_at": SETTLES_AT,
                "read_started_at": SETTLES_AT + APART,
            },
            Fail(reason=FailedReason.ABSENT),
        ),
    ],
)
def test_a_read_of_an_intent_in_doubt_means(changes: dict[str, object], decision: Decision) -> None:
    assert decide(replace(ABSENT, **changes)) == decision  # type: ignore[arg-type]  # names of fields


def _every_doubt() -> Iterator[Doubt]:
    read_at = [
        SETTLES_AT - SECOND,
        SETTLES_AT,
        SETTLES_AT + APART,
        RESEND_UNTIL - SECOND,
        RESEND_UNTIL,
        RESEND_UNTIL + timedelta(days=3),
    ]
    matches: list[tuple[Match, ...]] = [(), (OURS,), (DISAGREEING,), (OURS, DISAGREEING)]
    earlier = [None, SETTLES_AT, RESEND_UNTIL - MINUTE]
    either = [True, False]
    obstacles = [None, NeedsHuman.ORDER_CHANGED]
    for combination in product(
        read_at, either, matches, either, either, either, earlier, obstacles, either
    ):
        started, complete, found, ended, again, rejected, absence, obstacle, left = combination
        yield replace(
            ABSENT,
            read_started_at=started,
            complete=complete,
            matches=found,
            resend_ended=ended,
            found_again=again,
            rejected=rejected,
            earlier_absence_at=absence,
            obstacle=obstacle,
            sends_left=left,
        )


def test_of_every_combination_only_the_safe_ones_send_again() -> None:
    for doubt in _every_doubt():
        may_send = (
            doubt.complete
            and not doubt.matches
            and SETTLES_AT <= doubt.read_started_at < RESEND_UNTIL
            and not doubt.resend_ended
            and doubt.found_again
            and not doubt.rejected
            and doubt.obstacle is None
            and doubt.sends_left
        )
        assert (decide(doubt) == Resend()) is may_send, doubt


def test_of_every_combination_only_proven_absence_fails() -> None:
    for doubt in _every_doubt():
        decision = decide(doubt)
        if not isinstance(decision, Fail):
            continue
        assert doubt.complete, doubt
        assert not doubt.matches, doubt
        assert doubt.read_started_at >= SETTLES_AT, doubt
        if decision.reason is FailedReason.ABSENT:
            assert doubt.earlier_absence_at is not None, doubt
            assert doubt.read_started_at - doubt.earlier_absence_at >= APART, doubt
            assert doubt.resend_ended or doubt.read_started_at >= RESEND_UNTIL, doubt
        else:
            assert doubt.rejected, doubt


def test_of_every_combination_one_agreeing_match_alone_is_adopted() -> None:
    for doubt in _every_doubt():
        adopted = decide(doubt) == Adopt(identifier=OURS.identifier)
        assert adopted is (doubt.matches == (OURS,)), doubt


def test_every_combination_has_an_answer_that_is_later_or_final() -> None:
    for doubt in _every_doubt():
        decision = decide(doubt)
        if isinstance(decision, Wait) and decision.not_before is not None:
            assert decision.not_before > doubt.read_started_at, doubt
