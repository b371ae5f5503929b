"""Each fault does what it says on the wire, and the ledger knows whether the request ran."""

from __future__ import annotations

import gzip
import json
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from http.client import IncompleteRead, RemoteDisconnected
from urllib.parse import urlsplit

import pytest

from integrations.sandbox.commands import ControlRefused
from integrations.sandbox.faults import FaultKind
from integrations.sandbox.server import Sandbox
from integrations.sandbox.surface import ShopControls
from tests.integrations.sandbox.asking import (
    REFUND,
    Answered,
    ask,
    opened,
    read,
    refund,
    refund_input,
)

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def refund_body(shop: ShopControls) -> bytes:
    order = shop.order(total="15.00")
    asked = {"input": refund_input(order, "5.00"), "key": "key-1"}
    return json.dumps({"query": REFUND, "variables": asked}).encode()


def executed(shop: ShopControls) -> bool:
    """What the ledger says of the one refund request, after checking it against the effects."""
    [request] = shop.requests(operation="refundCreate")
    assert len(shop.effects()) == int(request.executed)
    return request.executed


@pytest.mark.parametrize(("kind", "happened"), [("lost_before", False), ("lost_after", True)])
def test_a_lost_answer_says_nothing(shop: ShopControls, kind: str, happened: bool) -> None:
    order = shop.order(total="15.00")
    shop.fault(kind)
    with pytest.raises(RemoteDisconnected):
        refund(shop, order, "5.00")
    assert executed(shop) is happened
    [request] = shop.requests(operation="refundCreate")
    assert (request.fault, request.http_status, request.key) == (kind, None, "key-1")


def test_a_reset_cuts_the_answer_in_its_middle(shop: ShopControls) -> None:
    shop.fault("reset_mid_answer")
    connection, answer = opened(shop, refund_body(shop))
    with pytest.raises((ConnectionResetError, IncompleteRead)):
        answer.read()
    connection.close()
    assert executed(shop) is True


def test_a_truncated_body_is_shorter_than_it_said(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    shop.fault("truncated_body")
    with pytest.raises(IncompleteRead):
        refund(shop, order, "5.00")
    assert executed(shop) is True


def test_truncated_json_is_a_complete_answer_that_cannot_be_read(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    shop.fault("truncated_json")
    answer = refund(shop, order, "5.00")
    assert answer.status == 200
    with pytest.raises(json.JSONDecodeError):
        json.loads(answer.body)
    assert executed(shop) is True


@pytest.mark.parametrize("status", [401, 402, 403, 423, 430, 500, 502, 503, 504])
@pytest.mark.parametrize(("kind", "happened"), [("status_before", False), ("status_after", True)])
def test_a_status_comes_before_or_after_the_execution(
    shop: ShopControls, status: int, kind: str, happened: bool
) -> None:
    order = shop.order(total="15.00")
    shop.fault(kind, status=status)
    assert refund(shop, order, "5.00").status == status
    assert executed(shop) is happened


def test_too_many_requests_says_when_to_come_back(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    shop.fault("too_many_requests", retry_after_seconds=7)
    answer = refund(shop, order, "5.00")
    assert (answer.status, answer.headers["Retry-After"]) == (429, "7.0")
    assert executed(shop) is False


def test_throttled_can_be_told(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    shop.fault("throttled")
    answer = refund(shop, order, "5.00")
    assert answer.json["errors"][0]["extensions"]["code"] == "THROTTLED"
    assert "data" not in answer.json
    assert executed(shop) is False


def test_access_denied_at_the_root_runs_nothing(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    shop.fault("access_denied")
    answer = refund(shop, order, "5.00")
    assert answer.json["errors"][0]["path"] == ["refundCreate"]
    assert answer.json["data"] == {"refundCreate": None}
    assert executed(shop) is False


@pytest.mark.parametrize(
    ("kind", "happened"), [("internal_error_before", False), ("internal_error_after", True)]
)
def test_an_internal_error_has_no_path(shop: ShopControls, kind: str, happened: bool) -> None:
    order = shop.order(total="15.00")
    shop.fault(kind)
    answer = refund(shop, order, "5.00")
    [error] = answer.json["errors"]
    assert "path" not in error
    assert answer.json["data"] is None
    assert error["extensions"] == {
        "code": "INTERNAL_SERVER_ERROR",
        "requestId": answer.headers["X-Request-Id"],
    }
    assert executed(shop) is happened


@pytest.mark.parametrize("nulls", ["refund", "order", "payload"])
def test_a_deep_error_comes_with_an_executed_refund(shop: ShopControls, nulls: str) -> None:
    order = shop.order(total="15.00")
    shop.fault("deep_error", nulls=nulls)
    answer = refund(shop, order, "5.00")
    [error] = answer.json["errors"]
    broken = "refund" if nulls == "payload" else nulls
    assert error["path"] == ["refundCreate", broken, "staffMember"]
    assert error["extensions"]["code"] == "ACCESS_DENIED"
    if nulls == "payload":
        assert answer.payload is None
    else:
        assert answer.payload[nulls] is None
    assert executed(shop) is True


@pytest.mark.parametrize(("kind", "happened"), [("no_id", True), ("no_id_before", False)])
def test_an_answer_without_an_id_and_without_errors(
    shop: ShopControls, kind: str, happened: bool
) -> None:
    order = shop.order(total="15.00")
    shop.fault(kind)
    answer = refund(shop, order, "5.00")
    assert "errors" not in answer.json
    assert (answer.payload["refund"], answer.payload["userErrors"]) == (None, [])
    assert executed(shop) is happened


def test_the_id_can_be_of_the_wrong_type(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    shop.fault("wrong_id_type")
    assert refund(shop, order, "5.00").payload["refund"]["id"] == order.id
    assert executed(shop) is True


def test_the_id_can_be_another_orders(shop: ShopControls) -> None:
    order, other = shop.order(total="15.00"), shop.order(total="15.00")
    theirs = shop.refund_by_staff(other.id, amount="5.00")
    shop.fault("other_id", other=theirs.id)
    assert refund(shop, order, "5.00").payload["refund"]["id"] == theirs.id
    assert [effect.order_id for effect in shop.effects()] == [other.id, order.id]


def test_the_answer_can_tell_another_amount_than_was_refunded(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    shop.fault("wrong_amount", amount="6.0")
    [node] = refund(shop, order, "5.00").payload["refund"]["transactions"]["nodes"]
    assert node["amountSet"]["presentmentMoney"]["amount"] == "6.0"
    [effect] = shop.effects()
    assert effect.amount == 5
    assert read(shop, order)["totalRefundedSet"]["presentmentMoney"]["amount"] == "5.0"


def test_the_answer_can_tell_another_currency(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    shop.fault("wrong_currency", currency="JPY")
    [node] = refund(shop, order, "5.00").payload["refund"]["transactions"]["nodes"]
    assert node["amountSet"]["presentmentMoney"]["currencyCode"] == "JPY"
    assert shop.effects()[0].currency == "CAD"


def test_a_redirect_names_another_host(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    shop.fault("redirect", url="http://127.0.0.2:9/")
    answer = refund(shop, order, "5.00")
    assert (answer.status, answer.headers["Location"]) == (307, "http://127.0.0.2:9/")
    assert executed(shop) is False


def test_html_comes_in_the_place_of_json(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    shop.fault("html")
    answer = refund(shop, order, "5.00")
    assert (answer.status, answer.headers["Content-Type"]) == (200, "text/html")
    assert answer.body.startswith(b"<!DOCTYPE html>")
    assert executed(shop) is True


def test_another_version_can_answer(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    shop.fault("wrong_version", version="2025-10")
    assert refund(shop, order, "5.00").headers["X-Shopify-API-Version"] == "2025-10"
    assert executed(shop) is True


def test_a_body_can_be_too_large(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    shop.fault("oversize", size_bytes=3_000_000)
    answer = refund(shop, order, "5.00")
    assert "Content-Length" not in answer.headers
    assert len(answer.body) > 3_000_000
    assert executed(shop) is True


def test_a_body_can_be_a_bomb(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    shop.fault("gzip_bomb", size_bytes=8 * 1024 * 1024)
    answer = refund(shop, order, "5.00")
    assert answer.headers["Content-Encoding"] == "gzip"
    assert len(answer.body) < 20_000
    assert len(gzip.decompress(answer.body)) == 8 * 1024 * 1024


def test_a_body_can_be_no_text(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    shop.fault("bad_charset")
    with pytest.raises(UnicodeDecodeError):
        refund(shop, order, "5.00").body.decode()


def test_a_body_can_drip_for_ever(shop: ShopControls) -> None:
    shop.fault("dripping_body", interval_seconds=0.001)
    connection, answer = opened(shop, refund_body(shop))
    assert answer.status == 200
    assert answer.read(20) == b" " * 20
    answer.close()
    connection.close()
    assert executed(shop) is True


def test_headers_can_drip_for_ever(shop: ShopControls) -> None:
    body = refund_body(shop)
    shop.fault("dripping_headers", interval_seconds=0.001)
    parts = urlsplit(shop.url)
    head = (
        f"POST {parts.path}/admin/api/2026-10/graphql.json HTTP/1.1\r\n"
        f"X-Shopify-Access-Token: {shop.token}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection((str(parts.hostname), int(parts.port or 0)), timeout=5) as line:
        line.sendall(head.encode() + body)
        got = b""
        while len(got) < 60:
            got += line.recv(4096)
    assert got.startswith(b"HTTP/1.1 200 OK\r\nX-Drip:  ")
    assert b"\r\n\r\n" not in got
    assert executed(shop) is True


@pytest.mark.parametrize("kind", ["hang_before", "hang_after"])
def test_a_hang_lasts_until_it_is_released(shop: ShopControls, kind: str) -> None:
    order = shop.order(total="15.00")
    hang = shop.fault(kind)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(refund, shop, order, "5.00")
        assert hang.reached()
        assert len(shop.effects()) == (1 if kind == "hang_after" else 0)
        assert read(shop, order)["id"] == order.id
        assert not waiting.done()
        hang.release()
        assert waiting.result().user_errors == []
    assert executed(shop) is True


def test_stopping_lets_go_what_hangs() -> None:
    with ThreadPoolExecutor(1) as pool:
        with Sandbox.running() as sandbox:
            shop = sandbox.shop("acme.myshopify.com")
            order = shop.order(total="15.00")
            hang = shop.fault("hang_before")
            waiting = pool.submit(refund, shop, order, "5.00")
            assert hang.reached()
        assert isinstance(waiting.exception() or waiting.result(), OSError | Answered)


def test_a_late_request_is_executed_after_its_delay_on_the_sandboxs_clock() -> None:
    with Sandbox.running(starts_at=NOON) as sandbox:
        shop = sandbox.shop("acme.myshopify.com")
        order = shop.order(total="15.00")
        shop.fault("late", delay=timedelta(minutes=9))
        with pytest.raises(RemoteDisconnected):
            refund(shop, order, "5.00")
        sandbox.clock.advance(timedelta(minutes=9) - timedelta(seconds=1))
        assert executed(shop) is False
        assert read(shop, order)["refunds"] == []
        sandbox.clock.advance(timedelta(seconds=1))
        assert executed(shop) is True
        [effect] = shop.effects()
        assert effect.at == NOON + timedelta(minutes=9)
        assert read(shop, order)["refunds"][0]["id"] == effect.id


def test_a_late_request_happens_at_its_own_time_even_if_time_jumps_past_it() -> None:
    with Sandbox.running(starts_at=NOON) as sandbox:
        shop = sandbox.shop("acme.myshopify.com")
        order = shop.order(total="15.00")
        shop.fault("late", delay=timedelta(minutes=2))
        with pytest.raises(RemoteDisconnected):
            refund(shop, order, "5.00")
        sandbox.clock.advance(timedelta(days=3))
        assert shop.effects()[0].at == NOON + timedelta(minutes=2)


def test_a_late_request_replays_what_a_resend_has_done_meanwhile(sandbox: Sandbox) -> None:
    shop = sandbox.shop("acme.myshopify.com")
    order = shop.order(total="15.00")
    shop.fault("late", delay=timedelta(minutes=5))
    with pytest.raises(RemoteDisconnected):
        refund(shop, order, "5.00")
    assert refund(shop, order, "5.00").user_errors == []
    sandbox.clock.advance(timedelta(minutes=5))
    assert len(shop.effects()) == 1


def test_a_late_request_doubles_on_a_store_that_forgets(sandbox: Sandbox) -> None:
    shop = sandbox.shop("acme.myshopify.com")
    shop.keys(remember=False)
    order = shop.order(total="15.00")
    shop.fault("late", delay=timedelta(minutes=5))
    with pytest.raises(RemoteDisconnected):
        refund(shop, order, "5.00")
    refund(shop, order, "5.00")
    sandbox.clock.advance(timedelta(minutes=5))
    assert len(shop.effects()) == 2


def test_later_than_declared_needs_the_bound_to_be_broken(sandbox: Sandbox) -> None:
    shop = sandbox.shop("acme.myshopify.com")
    with pytest.raises(ControlRefused, match="break the bound first"):
        shop.fault("late", delay=timedelta(minutes=10, seconds=1))
    shop.fault("late", delay=timedelta(minutes=10))
    sandbox.declare_lateness(timedelta(seconds=3))
    with pytest.raises(ControlRefused, match="0:00:03"):
        shop.fault("late", delay=timedelta(seconds=4))
    sandbox.break_lateness_bound()
    shop.fault("late", delay=timedelta(hours=5))


def test_an_order_can_read_as_null(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    shop.fault("order_null", operation="order")
    assert read(shop, order) is None
    assert read(shop, order)["id"] == order.id


def test_a_read_can_end_in_an_error(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    shop.fault("read_error", operation="order")
    answer = ask(shop, "query($id: ID!) { order(id: $id) { id } }", {"id": order.id})
    assert answer.json["errors"][0]["extensions"]["code"] == "INTERNAL_SERVER_ERROR"
    assert answer.json["data"] is None


def test_a_list_of_refunds_can_break_off(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    for key in "abc":
        refund(shop, order, "5.00", key=key)
    shop.fault("truncated_refunds", operation="order", keep=1)
    seen = read(shop, order)
    assert [item["id"] for item in seen["refunds"]] == [shop.effects()[0].id]
    named = [node["refund"]["id"] for node in seen["agreements"]["nodes"] if "refund" in node]
    assert named == [shop.effects()[0].id]
    assert seen["agreements"]["pageInfo"] == {"hasNextPage": True}
    query = "query($ids: [ID!]!) { nodes(ids: $ids) { id } }"
    ids = [effect.id for effect in shop.effects()]
    told = ask(shop, query, {"ids": ids}).json["data"]["nodes"]
    assert told == [{"id": ids[0]}, None, None]
    assert len(read(shop, order)["refunds"]) == 3
    assert ask(shop, query, {"ids": ids}).json["data"]["nodes"] == [{"id": one} for one in ids]


def test_what_a_broken_list_left_out_is_back_once_the_faults_are_cleared(
    shop: ShopControls,
) -> None:
    order = shop.order(total="15.00")
    made = refund(shop, order, "5.00").payload["refund"]["id"]
    shop.fault("truncated_refunds", operation="order", times=None)
    assert read(shop, order)["refunds"] == []
    query = "query($id: ID!) { node(id: $id) { id } }"
    assert ask(shop, query, {"id": made}).json["data"] == {"node": None}
    shop.clear_faults()
    assert ask(shop, query, {"id": made}).json["data"] == {"node": {"id": made}}


def test_reads_can_lag_behind(sandbox: Sandbox) -> None:
    shop = sandbox.shop("acme.myshopify.com")
    order = shop.order(total="15.00")
    shop.read_lag(timedelta(minutes=2))
    refund(shop, order, "5.00")
    assert read(shop, order)["refunds"] == []
    sandbox.clock.advance(timedelta(minutes=2))
    assert len(read(shop, order)["refunds"]) == 1


def test_faults_are_taken_in_their_order_and_used_up(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    shop.fault("status_before", status=500, operation="refundCreate", times=2)
    shop.fault("status_before", status=502, operation="refundCreate")
    shop.fault("status_before", status=503, operation="order", times=None)
    statuses = [refund(shop, order, "5.00").status for _ in range(4)]
    assert statuses == [500, 500, 502, 200]
    query = "query($id: ID!) { order(id: $id) { id } }"
    assert [ask(shop, query, {"id": order.id}).status for _ in range(3)] == [503, 503, 503]
    shop.clear_faults()
    assert ask(shop, query, {"id": order.id}).status == 200


def test_a_fault_can_wait_for_a_text_and_let_some_pass(shop: ShopControls) -> None:
    order, other = shop.order(total="15.00"), shop.order(total="15.00")
    shop.fault("status_before", status=500, containing=other.id, skip=1)
    assert refund(shop, order, "5.00", key="a").status == 200
    statuses = [refund(shop, other, "5.00", key="b").status for _ in range(3)]
    assert statuses == [200, 500, 200]


def test_another_shop_meets_no_fault(sandbox: Sandbox) -> None:
    sick, well = (sandbox.shop(f"{name}.myshopify.com") for name in ("sick", "well"))
    sick.fault("status_before", status=500, times=None)
    assert refund(well, well.order(), "5.00").status == 200
    assert refund(sick, sick.order(), "5.00").status == 500


def test_every_kind_of_fault_is_committed_and_the_server_goes_on(shop: ShopControls) -> None:
    endless = {FaultKind.DRIPPING_BODY, FaultKind.DRIPPING_HEADERS}
    hanging = {FaultKind.HANG_BEFORE, FaultKind.HANG_EXECUTING, FaultKind.HANG_AFTER}
    for kind in set(FaultKind) - endless - hanging:
        order = shop.order(total="15.00")
        shop.fault(kind, size_bytes=100_000)
        with suppress(OSError, IncompleteRead):
            refund(shop, order, "5.00", key=kind)
        assert refund(shop, order, "1.00", key=f"{kind} next").user_errors == []
    met = {request.fault for request in shop.requests() if request.fault}
    assert met == {str(kind) for kind in set(FaultKind) - endless - hanging}
