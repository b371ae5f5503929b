"""The table under random walks, and the rule of parts against every mixture."""

from decimal import Decimal
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from actions.states import (
    ARCS,
    INITIAL,
    SETTLED,
    WITHDRAWABLE,
    State,
    may,
    state_of_parts,
    takes_back,
)
from integrations.money import Money
from integrations.ports import Part, Standing

TERMINAL = {State.FAILED, State.REFUSED, State.WITHDRAWN, State.REVERSED}
LEFT_US = {State.UNKNOWN, State.PENDING, State.PARTIALLY_CONFIRMED}


@st.composite
def walks(draw: st.DrawFn) -> list[State]:
    walk = [INITIAL]
    for wish in draw(st.lists(st.sampled_from(State), max_size=60)):
        if may(walk[-1], wish):
            walk.append(wish)
    return walk


@given(walk=walks())
def test_no_walk_leaves_an_end_or_undoes_a_success_but_by_reversal(walk: list[State]) -> None:
    for before, after in pairwise(walk):
        assert before not in TERMINAL
        assert before not in SETTLED or after is State.REVERSED


@given(walk=walks())
def test_no_walk_is_withdrawn_or_refused_once_the_platform_may_hold_it(walk: list[State]) -> None:
    doubtful = [number for number, state in enumerate(walk) if state in LEFT_US]
    if doubtful and walk[-1] in {State.WITHDRAWN, State.REFUSED}:
        # Only by way of `authorized`, which says that provably nothing was sent.
        assert State.AUTHORIZED in walk[doubtful[-1] :]
    assert walk[-1] is not State.WITHDRAWN or walk[-2] in WITHDRAWABLE


@given(walk=walks())
def test_every_walk_that_ends_in_success_passed_the_gate_and_a_claim(walk: list[State]) -> None:
    if walk[-1] in {State.CONFIRMED, State.ACCEPTED, State.REVERSED, State.FAILED}:
        assert walk.index(State.AUTHORIZED) < walk.index(State.EXECUTING) < len(walk) - 1


def test_every_state_is_reached_and_no_state_is_a_trap() -> None:
    reached, new = {INITIAL}, {INITIAL}
    while new:
        new = {target for source in new for target in ARCS[source]} - reached
        reached |= new
    assert reached == set(State)
    assert {state for state in State if not ARCS[state]} == TERMINAL


PARTS = st.lists(
    st.builds(
        lambda number, standing, minor, currency: Part(
            identifier=str(number),
            status=standing.upper(),
            standing=standing,
            money=Money(amount=Decimal(minor), currency=currency),
            gateway="g",
            parent=None,
        ),
        st.integers(1, 9),
        st.sampled_from(Standing),
        st.integers(0, 4),
        st.sampled_from(["EUR", "EUR", "EUR", "USD"]),
    ),
    max_size=5,
    unique_by=lambda part: part.identifier,
)


@given(parts=PARTS, asked=st.integers(1, 9))
def test_confirmed_means_success_alone_with_exactly_what_was_asked(
    parts: list[Part], asked: int
) -> None:
    money = Money(amount=Decimal(asked), currency="EUR")
    exact = (
        bool(parts)
        and {part.standing for part in parts} == {Standing.SUCCEEDED}
        and {part.money.currency for part in parts} == {"EUR"}
        and sum(part.money.amount for part in parts) == asked
    )
    judged = state_of_parts(parts, asked=money)
    assert (judged.state is State.CONFIRMED) is exact
    assert not (judged.mismatch and judged.state is not State.PENDING)


@given(parts=PARTS, asked=st.integers(1, 9))
def test_failed_means_that_every_part_is_final_and_failed(parts: list[Part], asked: int) -> None:
    judged = state_of_parts(parts, asked=Money(amount=Decimal(asked), currency="EUR"))
    all_failed = {part.standing for part in parts} == {Standing.FAILED}
    assert (judged.state is State.FAILED) is all_failed


@given(parts=PARTS, asked=st.integers(1, 9))
def test_an_open_part_keeps_everything_pending_and_the_order_of_parts_never_matters(
    parts: list[Part], asked: int
) -> None:
    money = Money(amount=Decimal(asked), currency="EUR")
    judged = state_of_parts(parts, asked=money)
    assert judged == state_of_parts(parts[::-1], asked=money)
    if Standing.OPEN in {part.standing for part in parts}:
        assert judged.state is State.PENDING


@given(before=PARTS, now=PARTS)
def test_only_a_success_that_failed_takes_back(before: list[Part], now: list[Part]) -> None:
    was = {part.identifier: part.standing for part in before}
    turned = [
        part
        for part in now
        if part.standing is Standing.FAILED and was.get(part.identifier) is Standing.SUCCEEDED
    ]
    assert takes_back(now, before=before) is bool(turned)
