"""What is frozen: golden bytes, exact amounts, and nothing about a person."""

import json
from dataclasses import replace
from decimal import Decimal

import pytest

from integrations.money import Money
from integrations.platforms.shopify.adapter import REFUND_CAPABILITIES
from integrations.platforms.shopify.documents import API_VERSION, REFUND_CREATE
from integrations.ports import FindsBy, RefundPart
from tests.integrations.shopify.shop import ASKED, KEY, MARKER, ORDER, adapter_at

INPUT = (
    '"variables":{"input":{"orderId":"gid://shopify/Order/1001","currency":"EUR",'
    '"note":"rzv:0123456789abcdef0123456789abcd","notify":false,"transactions":['
    '{"orderId":"gid://shopify/Order/1001","parentId":"gid://shopify/OrderTransaction/5001",'
    '"gateway":"manual","kind":"REFUND","amount":"12.50"}]},'
    '"key":"3e2b1a52-6f0c-5d4e-9a3b-0c1d2e3f4a5b"}}'
)


def part(amount: str, currency: str, parent: int = 5001) -> RefundPart:
    return RefundPart(
        parent=f"gid://shopify/OrderTransaction/{parent}",
        gateway="manual",
        money=Money(amount=Decimal(amount), currency=currency),
    )


def test_the_variables_are_these_bytes_in_this_order() -> None:
    frozen = adapter_at(1).freeze_refund(refund=ASKED)
    assert frozen.body.decode().endswith(INPUT)
    assert frozen.api_version == API_VERSION == "2026-10"
    assert frozen.document == REFUND_CREATE.text


def test_the_document_and_its_name_go_along() -> None:
    body = json.loads(adapter_at(1).freeze_refund(refund=ASKED).body)
    assert list(body) == ["query", "operationName", "variables"]
    assert body["query"] == REFUND_CREATE.text
    assert body["operationName"] == "RefundCreate"
    assert body["query"].count("@idempotent(key: $key)") == 1


def test_the_same_refund_is_frozen_to_the_same_bytes() -> None:
    one, other = (adapter_at(port).freeze_refund(refund=ASKED) for port in (1, 2))
    assert one == other
    assert one.digest == other.digest


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [("1000", "JPY", "1000"), ("1.25", "KWD", "1.250"), ("100", "EUR", "100.00")],
)
def test_an_amount_is_written_at_its_currencys_precision(
    amount: str, currency: str, text: str
) -> None:
    refund = replace(ASKED, parts=(part(amount, currency),))
    given = json.loads(adapter_at(1).freeze_refund(refund=refund).body)["variables"]["input"]
    assert (given["transactions"][0]["amount"], given["currency"]) == (text, currency)


def test_every_part_goes_back_over_its_own_payment_in_order() -> None:
    refund = replace(ASKED, parts=(part("1", "EUR", 5002), part("2", "EUR", 5001)))
    given = json.loads(adapter_at(1).freeze_refund(refund=refund).body)["variables"]["input"]
    assert [(t["parentId"], t["amount"]) for t in given["transactions"]] == [
        ("gid://shopify/OrderTransaction/5002", "1.00"),
        ("gid://shopify/OrderTransaction/5001", "2.00"),
    ]


def test_notify_is_said_either_way() -> None:
    for notify in (False, True):
        frozen = adapter_at(1).freeze_refund(refund=replace(ASKED, notify=notify))
        assert json.loads(frozen.body)["variables"]["input"]["notify"] is notify


def test_nothing_but_what_is_needed_is_frozen() -> None:
    variables = json.loads(adapter_at(1).freeze_refund(refund=ASKED).body)["variables"]
    assert variables["key"] == KEY
    given = variables["input"]
    assert set(given) == {"orderId", "currency", "note", "notify", "transactions"}
    assert (given["orderId"], given["note"]) == (ORDER, MARKER)


@pytest.mark.parametrize(
    "parts",
    [(), (part("1", "EUR"), part("1", "USD")), (part("0", "EUR"),), (part("-1", "EUR"),)],
    ids=["none", "two currencies", "nothing", "less than nothing"],
)
def test_what_is_no_refund_is_not_frozen(parts: tuple[RefundPart, ...]) -> None:
    with pytest.raises(ValueError, match="each more than nothing"):
        adapter_at(1).freeze_refund(refund=replace(ASKED, parts=parts))


def test_the_contract_for_refunds_is_declared_with_its_source() -> None:
    assert REFUND_CAPABILITIES.replays_keys
    assert REFUND_CAPABILITIES.keys_kept_for.total_seconds() == 24 * 3600
    assert "shopify.dev" in REFUND_CAPABILITIES.keys_kept_for_source
    assert REFUND_CAPABILITIES.finds_by is FindsBy.EXACT_MARKER
    assert REFUND_CAPABILITIES.settles_after.total_seconds() == 12 * 60
    assert REFUND_CAPABILITIES.call_deadline.total_seconds() == 25
    assert adapter_at(1).refund_capabilities is REFUND_CAPABILITIES
