"""Idempotency keys, as far as the documents say (reference 1.3, 1.4), and a store that forgets."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from integrations.sandbox.server import Sandbox
from integrations.sandbox.surface import ShopControls
from tests.integrations.sandbox.asking import REFUND, ask, read, refund, refund_input

_NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
IN_PROGRESS = "This request is currently in progress, please try again."
MISMATCH = "The same idempotency key cannot be used with different operation parameters."
FAILED = "A previous request with this idempotency key failed. Retry with a new idempotency key."


def test_a_repeat_is_answered_with_the_first_refund(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    first, second = (refund(shop, order, "5.00").payload for _ in range(2))
    assert second == first
    assert len(shop.effects()) == 1


def test_a_replay_shows_the_present_state_not_the_first_answer(shop: ShopControls) -> None:
    shop.gateway("slow", answers="PENDING")
    order = shop.order(total="15.00", gateway="slow")
    first = refund(shop, order, "5.00").payload
    assert first["refund"]["transactions"]["nodes"][0]["status"] == "PENDING"
    shop.settle_refund(first["refund"]["id"], "SUCCESS")
    second = refund(shop, order, "5.00").payload
    assert second["refund"]["id"] == first["refund"]["id"]
    assert second["refund"]["transactions"]["nodes"][0]["status"] == "SUCCESS"
    assert second["order"]["displayFinancialStatus"] == "PARTIALLY_REFUNDED"


@pytest.mark.parametrize(("seconds", "effects"), [(24 * 3600 - 1, 1), (24 * 3600, 2)])
def test_a_key_lives_exactly_24_hours_from_its_first_request(seconds: int, effects: int) -> None:
    with Sandbox.running(starts_at=_NOON) as sandbox:
        shop = sandbox.shop("acme.myshopify.com")
        order = shop.order(total="15.00")
        refund(shop, order, "5.00")
        sandbox.clock.advance(timedelta(hours=12))
        refund(shop, order, "5.00")
        sandbox.clock.advance(timedelta(seconds=seconds) - timedelta(hours=12))
        assert refund(shop, order, "5.00").user_errors == []
        assert len(shop.effects()) == effects


@pytest.mark.parametrize("change", ["amount", "note", "order of the fields"])
def test_other_parameters_under_the_same_key_are_a_mismatch(
    shop: ShopControls, change: str
) -> None:
    order = shop.order(total="15.00")
    refund(shop, order, "5.00", note="a")
    asked = {
        "amount": refund_input(order, "6.00", note="a"),
        "note": refund_input(order, "5.00", note="b"),
        "order of the fields": dict(reversed(refund_input(order, "5.00", note="a").items())),
    }[change]
    answer = ask(shop, REFUND, {"input": asked, "key": "key-1"})
    assert answer.payload["refund"] is None
    assert answer.user_errors == [{"field": None, "message": MISMATCH}]
    assert len(shop.effects()) == 1


def test_another_selection_is_no_mismatch(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    first = refund(shop, order, "5.00").payload["refund"]["id"]
    shorter = """mutation Short($input: RefundInput!, $key: String!) {
  refundCreate(input: $input) @idempotent(key: $key) { refund { id } }
}"""
    asked = {"input": refund_input(order, "5.00"), "key": "key-1"}
    assert ask(shop, shorter, asked).payload == {"refund": {"id": first}}


def test_a_second_request_while_the_first_runs_is_told_to_wait(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    hang = shop.fault("hang_executing", operation="refundCreate")
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(refund, shop, order, "5.00")
        assert hang.reached()
        second = refund(shop, order, "5.00")
        assert second.payload["refund"] is None
        assert second.user_errors == [{"field": None, "message": IN_PROGRESS}]
        assert shop.effects() == ()
        hang.release()
        assert first.result().user_errors == []
    [effect] = shop.effects()
    assert refund(shop, order, "5.00").payload["refund"]["id"] == effect.id


def test_the_codes_can_travel_at_the_top_level(shop: ShopControls) -> None:
    shop.keys(carrier="top_level")
    order = shop.order(total="15.00")
    refund(shop, order, "5.00")
    answer = refund(shop, order, "6.00")
    assert answer.json["data"] == {"refundCreate": None}
    [error] = answer.json["errors"]
    assert error["message"] == MISMATCH
    assert error["path"] == ["refundCreate"]
    assert error["extensions"] == {"code": "IDEMPOTENCY_KEY_PARAMETER_MISMATCH"}
    assert len(shop.effects()) == 1


def test_a_refused_request_can_burn_its_key(shop: ShopControls) -> None:
    shop.keys(after_refusal="previous_failed")
    order = shop.order(total="15.00")
    refund(shop, order, "25.00")
    again = refund(shop, order, "25.00")
    assert again.user_errors == [{"field": None, "message": FAILED}]
    assert shop.effects() == ()


def test_a_refused_request_leaves_its_key_free_by_default(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    refund(shop, order, "25.00")
    again = refund(shop, order, "25.00")
    assert again.user_errors[0]["message"].startswith("Refund amount $25.00 is greater")


def test_a_store_that_forgets_keys_refunds_twice(shop: ShopControls) -> None:
    shop.keys(remember=False)
    order = shop.order(total="15.00")
    for _ in range(2):
        assert refund(shop, order, "5.00").user_errors == []
    assert len(shop.effects()) == 2
    assert len(read(shop, order)["refunds"]) == 2


def test_a_forgetful_store_knows_neither_mismatch_nor_concurrency(shop: ShopControls) -> None:
    shop.keys(remember=False)
    order = shop.order(total="15.00")
    hang = shop.fault("hang_executing")
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(refund, shop, order, "5.00")
        assert hang.reached()
        assert refund(shop, order, "6.00").user_errors == []
        hang.release()
        assert first.result().user_errors == []
    assert [effect.amount for effect in shop.effects()] == [6, 5]


def test_a_purged_key_starts_anew(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    refund(shop, order, "5.00")
    shop.keys(forget_now=True)
    refund(shop, order, "5.00")
    assert len(shop.effects()) == 2


def test_apps_do_not_share_keys(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    other = shop.with_token("shpat_other", app="Other")
    refund(shop, order, "5.00")
    refund(other, order, "5.00")
    assert [effect.app_id for effect in shop.effects()] == [shop.app_id, other.app_id]
