"""An order whose refunds don't fit one answer: every one that is named is fetched, or missed."""

from collections.abc import Sequence

import pytest

from integrations.platforms.shopify.order_reading import (
    PARTS_FIRST,
    PARTS_MAX,
    REFUNDS_BATCH,
    REFUNDS_FIRST,
)
from integrations.ports import OrderSnapshot, Unreadable
from tests.integrations.http.raw_server import RawServer
from tests.integrations.shopify.shop import ORDER, http, transaction, transactions
from tests.integrations.shopify.test_reading_an_order import (
    agreement,
    agreements,
    denied,
    order,
    read,
    read_refund,
    variables,
)


def refund_gid(number: int) -> str:
    return f"gid://shopify/Refund/{number}"


def listed(count: int, *, start: int = 1) -> list[dict[str, object]]:
    return [read_refund(id=refund_gid(n)) for n in range(start, start + count)]


def whole(shown: Sequence[object], *, named: Sequence[int] = (), **changes: object) -> bytes:
    rows = [agreement(refund_gid(n)) for n in named]
    said = order(refunds=list(shown), agreements=agreements(*rows), **changes)
    return http(200, {"data": {"order": said}})


def identifiers(count: int) -> bytes:
    rows = [{"id": refund_gid(n)} for n in range(1, count + 1)]
    return http(200, {"data": {"order": {"id": ORDER, "refunds": rows}}})


def nodes(*rows: object, errors: Sequence[object] = ()) -> bytes:
    return http(200, {"data": {"nodes": list(rows)}, "errors": list(errors)})


def seen(*answers: bytes) -> tuple[OrderSnapshot, RawServer]:
    found, server = read(*answers)
    assert isinstance(found, OrderSnapshot), found
    return found, server


def fetched(server: RawServer) -> list[tuple[int, int]]:
    """How many refunds each question asked for by identifier, and how many parts of each."""
    asked = [one for one in variables(server) if "ids" in one]
    return [(len(list(map(str, one["ids"]))), int(str(one["parts"]))) for one in asked]  # type: ignore[call-overload]  # a list of identifiers


def test_an_order_with_few_refunds_is_asked_for_once() -> None:
    found, server = seen(whole(listed(REFUNDS_FIRST - 1)))
    assert (len(found.refunds), found.complete) == (REFUNDS_FIRST - 1, True)
    assert [(one["refunds"], one["parts"]) for one in variables(server)] == [
        (REFUNDS_FIRST, PARTS_FIRST)
    ]


def test_the_refunds_that_the_first_answer_had_no_room_for_are_fetched_in_batches() -> None:
    count = REFUNDS_FIRST + REFUNDS_BATCH + 1
    rest = listed(REFUNDS_BATCH + 1, start=REFUNDS_FIRST + 1)
    found, server = seen(
        whole(listed(REFUNDS_FIRST), named=range(1, count + 1)),
        identifiers(count),
        nodes(*rest[:REFUNDS_BATCH]),
        nodes(*rest[REFUNDS_BATCH:]),
    )
    assert [one.identifier for one in found.refunds] == sorted(map(refund_gid, range(1, count + 1)))
    assert found.complete
    assert fetched(server) == [(REFUNDS_BATCH, PARTS_FIRST), (1, PARTS_FIRST)]


def test_a_list_of_249_is_whole_without_agreements() -> None:
    hidden = http(200, {"data": {"order": None}, "errors": [denied("order", "agreements")]})
    without = order(refunds=listed(REFUNDS_FIRST))
    del without["agreements"]
    batches = [
        nodes(*listed(min(REFUNDS_BATCH, 250 - start), start=start))
        for start in range(REFUNDS_FIRST + 1, 250, REFUNDS_BATCH)
    ]
    found, _ = seen(hidden, http(200, {"data": {"order": without}}), identifiers(249), *batches)
    assert (len(found.refunds), found.complete) == (249, True)


@pytest.mark.parametrize(
    ("named", "complete"),
    [(range(1, 252), True), (range(2, 252), False), ((), False)],
    ids=["all that are listed and one more", "not the first", "none"],
)
def test_a_list_of_250_may_be_cut_and_is_whole_only_by_the_agreements(
    named: Sequence[int], complete: bool
) -> None:
    known = sorted({*range(1, 251), *named})
    rest = [n for n in known if n > REFUNDS_FIRST]
    batches = [
        nodes(*(read_refund(id=refund_gid(n)) for n in rest[start : start + REFUNDS_BATCH]))
        for start in range(0, len(rest), REFUNDS_BATCH)
    ]
    first = whole(listed(REFUNDS_FIRST), named=named)
    found, _ = seen(first, identifiers(250), *batches)
    assert (len(found.refunds), found.complete) == (len(known), complete)


def test_a_refund_that_only_the_agreements_name_is_fetched() -> None:
    found, server = seen(whole(listed(1), named=(1, 2)), nodes(read_refund(id=refund_gid(2))))
    assert ([one.identifier for one in found.refunds], found.complete) == (
        [refund_gid(1), refund_gid(2)],
        True,
    )
    assert fetched(server) == [(1, PARTS_FIRST)]


@pytest.mark.parametrize(
    ("row", "errors"),
    [
        (None, ()),
        (None, (denied("nodes", 0),)),
        (read_refund(id=refund_gid(2), note=None), (denied("nodes", 0, "note"),)),
    ],
    ids=["not there", "not shown", "told in part"],
)
def test_a_refund_that_is_named_and_can_not_be_fetched_makes_the_read_incomplete(
    row: object, errors: Sequence[object]
) -> None:
    found, _ = seen(whole(listed(1), named=(1, 2)), nodes(row, errors=errors))
    assert ([one.identifier for one in found.refunds], found.complete) == ([refund_gid(1)], False)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (http(503, b""), "http_503"),
        (http(200, {"data": None, "errors": [denied("nodes")]}), "access_denied"),
        (http(200, {"errors": [{"extensions": {"code": "THROTTLED"}}]}), "throttled"),
        (http(200, {"data": {}}), "unparseable: nodes is not in the answer"),
        (nodes(), "unparseable: nodes is no list of what was asked for"),
        (nodes(read_refund(id=refund_gid(3))), "unparseable: another refund than was asked for"),
        (nodes("x"), "unparseable: nodes is no object"),
    ],
)
def test_a_batch_that_fails_makes_the_order_unreadable(raw: bytes, reason: str) -> None:
    found, _ = read(whole(listed(1), named=(1, 2)), raw)
    assert isinstance(found, Unreadable)
    assert (found.reason, found.not_found) == (reason, False)


def test_a_list_of_identifiers_that_fails_makes_the_order_unreadable() -> None:
    first = whole(listed(REFUNDS_FIRST))
    found, _ = read(first, http(200, {"data": {"order": None}}))
    assert isinstance(found, Unreadable)
    assert found.reason == "unparseable: order is no object"


def test_a_refund_of_many_parts_is_fetched_by_itself() -> None:
    cut = read_refund(id=refund_gid(1), transactions=transactions(transaction(), more=True))
    parts = [transaction(id=f"gid://shopify/OrderTransaction/{n}") for n in range(1, 8)]
    full = read_refund(id=refund_gid(1), transactions=transactions(*parts))
    found, server = seen(whole([cut, *listed(1, start=2)]), nodes(full))
    assert [len(one.parts) for one in found.refunds] == [7, 1]
    assert found.complete
    assert fetched(server) == [(1, PARTS_MAX)]


@pytest.mark.parametrize("again", [True, False], ids=["still cut", "not there"])
def test_a_refund_whose_parts_have_no_end_is_no_evidence(again: bool) -> None:
    cut = read_refund(id=refund_gid(1), transactions=transactions(transaction(), more=True))
    found, _ = read(whole([cut]), nodes(cut if again else None))
    assert isinstance(found, Unreadable)
    assert found.reason == "unparseable: not every transaction of the refund is in the answer"
