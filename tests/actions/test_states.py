"""The table of moves, and what an echo's parts mean."""

from decimal import Decimal

import pytest

from actions.states import (
    ARCS,
    INITIAL,
    PAST_GATE,
    SETTLED,
    WITHDRAWABLE,
    Judged,
    State,
    diagram,
    may,
    sql_arcs,
    state_of_parts,
    takes_back,
)
from integrations.money import Money
from integrations.ports import Part, Standing

S = State


def eur(amount: str) -> Money:
    return Money(amount=Decimal(amount), currency="EUR")


def part(standing: Standing, money: Money, identifier: str = "1") -> Part:
    return Part(
        identifier=f"gid://shopify/OrderTransaction/{identifier}",
        status=standing.upper(),
        standing=standing,
        money=money,
        gateway="shopify_payments",
        parent="gid://shopify/OrderTransaction/9",
    )


# Design 5.1, written out by hand and not derived from the table.
MOVES = {
    S.PROPOSED: {S.HELD, S.AWAITING_APPROVAL, S.AUTHORIZED, S.REFUSED, S.WITHDRAWN},
    S.HELD: {S.AWAITING_APPROVAL, S.AUTHORIZED, S.REFUSED, S.WITHDRAWN},
    S.AWAITING_APPROVAL: {S.HELD, S.AUTHORIZED, S.REFUSED, S.WITHDRAWN},
    S.AUTHORIZED: {S.EXECUTING, S.HELD, S.AWAITING_APPROVAL, S.REFUSED, S.WITHDRAWN},
    S.EXECUTING: {
        S.AUTHORIZED,
        S.UNKNOWN,
        S.PENDING,
        S.PARTIALLY_CONFIRMED,
        S.CONFIRMED,
        S.FAILED,
    },
    S.UNKNOWN: {S.EXECUTING, S.PENDING, S.PARTIALLY_CONFIRMED, S.CONFIRMED, S.FAILED},
    S.PENDING: {S.PARTIALLY_CONFIRMED, S.CONFIRMED, S.FAILED, S.ACCEPTED},
    S.PARTIALLY_CONFIRMED: {S.CONFIRMED, S.ACCEPTED, S.REVERSED},
    S.CONFIRMED: {S.REVERSED},
    S.ACCEPTED: {S.REVERSED},
    S.FAILED: set(),
    S.REFUSED: set(),
    S.WITHDRAWN: set(),
    S.REVERSED: set(),
}


@pytest.mark.parametrize("source", State)
@pytest.mark.parametrize("target", State)
def test_the_table_has_the_moves_of_the_design_and_no_others(source: State, target: State) -> None:
    assert may(source, target) is (target in MOVES[source])


def test_every_move_has_a_reason_that_a_diagram_can_show() -> None:
    reasons = [reason for arcs in ARCS.values() for reason in arcs.values()]
    assert len(reasons) == 38
    assert not [reason for reason in reasons if not reason or set(reason) & set(":;\n#")]


def test_nothing_that_may_have_left_is_withdrawn_or_refused() -> None:
    sent = {S.EXECUTING, S.UNKNOWN, S.PENDING, S.PARTIALLY_CONFIRMED, S.CONFIRMED, S.ACCEPTED}
    assert not [s for s in sent if may(s, S.WITHDRAWN) or may(s, S.REFUSED) or may(s, S.HELD)]
    assert {*WITHDRAWABLE} == {S.PROPOSED, S.HELD, S.AWAITING_APPROVAL, S.AUTHORIZED}


def test_a_settled_intent_can_only_be_reversed() -> None:
    assert {target for source in SETTLED for target in ARCS[source]} == {S.REVERSED}
    assert {*SETTLED} == {S.CONFIRMED, S.ACCEPTED, S.FAILED, S.REFUSED, S.WITHDRAWN, S.REVERSED}


def test_only_what_may_take_or_hold_money_stands_in_another_ones_way() -> None:
    assert {*PAST_GATE} == {
        S.AUTHORIZED,
        S.EXECUTING,
        S.UNKNOWN,
        S.PENDING,
        S.PARTIALLY_CONFIRMED,
        S.CONFIRMED,
        S.ACCEPTED,
    }


def test_sending_goes_through_a_claim_and_nothing_else() -> None:
    assert {source for source in ARCS if may(source, S.EXECUTING)} == {S.AUTHORIZED, S.UNKNOWN}


def test_the_trigger_s_arcs_are_the_table_s() -> None:
    assert sql_arcs() == tuple(
        sorted((source.value, target.value) for source in MOVES for target in MOVES[source])
    )


def test_the_diagram_shows_every_arc_the_beginning_and_the_ends() -> None:
    lines = diagram().splitlines()
    assert lines[:2] == ["stateDiagram-v2", "    [*] --> proposed"]
    assert len(lines) == 2 + 38 + 4
    assert "    executing --> unknown: sent, and no answer can be read" in lines
    assert {line.split()[0] for line in lines if line.endswith("--> [*]")} == {
        "failed",
        "refused",
        "withdrawn",
        "reversed",
    }
    assert INITIAL is S.PROPOSED


OK, NO, OPEN = Standing.SUCCEEDED, Standing.FAILED, Standing.OPEN


@pytest.mark.parametrize(
    ("parts", "judged"),
    [
        ([], Judged(state=S.PENDING, mismatch=True)),
        ([(OK, "10.00")], Judged(state=S.CONFIRMED)),
        ([(OK, "4.00"), (OK, "6.00")], Judged(state=S.CONFIRMED)),
        ([(OK, "9.99")], Judged(state=S.PENDING, mismatch=True)),
        ([(OK, "10.01")], Judged(state=S.PENDING, mismatch=True)),
        ([(OPEN, "10.00")], Judged(state=S.PENDING)),
        ([(OK, "4.00"), (OPEN, "6.00")], Judged(state=S.PENDING)),
        ([(NO, "4.00"), (OPEN, "6.00")], Judged(state=S.PENDING)),
        ([(OK, "4.00"), (NO, "6.00")], Judged(state=S.PARTIALLY_CONFIRMED)),
        ([(OK, "10.00"), (NO, "10.00")], Judged(state=S.PARTIALLY_CONFIRMED)),
        ([(NO, "10.00")], Judged(state=S.FAILED)),
        ([(NO, "4.00"), (NO, "5.00")], Judged(state=S.FAILED)),
    ],
)
def test_money_parts_decide_in_the_design_s_order(
    parts: list[tuple[Standing, str]], judged: Judged
) -> None:
    echoed = [part(standing, eur(amount)) for standing, amount in parts]
    assert state_of_parts(echoed, asked=eur("10.00")) == judged


def test_the_right_number_in_another_currency_is_a_mismatch() -> None:
    usd = part(OK, Money(amount=Decimal(10), currency="USD"))
    assert state_of_parts([usd], asked=eur("10.00")) == Judged(state=S.PENDING, mismatch=True)


def test_only_a_part_that_had_succeeded_and_failed_since_takes_back() -> None:
    before = [part(OK, eur("4"), "1"), part(NO, eur("6"), "2")]
    assert not takes_back(before, before=before)
    assert not takes_back([part(OPEN, eur("4"), "1")], before=before)
    assert not takes_back([], before=before)
    assert takes_back([part(NO, eur("4"), "1"), part(NO, eur("6"), "2")], before=before)
