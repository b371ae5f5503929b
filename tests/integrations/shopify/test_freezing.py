"""What is frozen: golden bytes, exact amounts, and nothing about a person."""

import json
from dataclasses import replace
from decimal import Decimal
from hashlib import sha256

import pytest

from integrations.money import Money
from integrations.platforms.shopify.adapter import REFUND_CAPABILITIES, STORE_CREDIT_GATEWAY
from integrations.platforms.shopify.documents import API_VERSION, REFUND_CREATE
from integrations.ports import (
    DutyShare,
    FindsBy,
    RefundBasis,
    RefundDuty,
    RefundLine,
    RefundOrder,
    RefundPart,
    Restock,
)
from tests.integrations.shopify.shop import ASKED, KEY, MARKER, ORDER, adapter_at

INPUT = (
    '"variables":{"input":{"orderId":"gid://shopify/Order/1001","currency":"EUR",'
    '"note":"rzv:0123456789abcdef0123456789abcd","notify":false,"transactions":['
    '{"orderId":"gid://shopify/Order/1001","parentId":"gid://shopify/OrderTransaction/5001",'
    '"gateway":"manual","kind":"REFUND","amount":"12.50"}]},'
    '"key":"3e2b1a52-6f0c-5d4e-9a3b-0c1d2e3f4a5b"}}'
)

BODY_SHA256 = "a502171e13ea0e157ddc0105ee1d7ba7a33d781e66d0caa5bb2e9d98f110d45a"
LINE = "gid://shopify/LineItem/301"
OTHER_LINE = "gid://shopify/LineItem/302"
LOCATION = "gid://shopify/Location/9"
DUTY = "gid://shopify/Duty/41"
TRANSACTIONS = INPUT[INPUT.index('"transactions"') : INPUT.index('},"key"')]
KEPT_HEAD = INPUT[: INPUT.index('"transactions"')]
KEPT_TAIL = INPUT[INPUT.index('},"key"') :]


def eur(amount: str) -> Money:
    return Money(amount=Decimal(amount), currency="EUR")


def given(refund: RefundOrder) -> str:
    """What stands in the input from its transactions on; before it, nothing differs."""
    body = adapter_at(1).freeze_refund(refund=refund).body.decode()
    assert KEPT_HEAD in body
    assert body.endswith(KEPT_TAIL)
    return body.partition(KEPT_HEAD)[2].removesuffix(KEPT_TAIL)


def part(amount: str, currency: str, parent: int = 5001) -> RefundPart:
    return RefundPart(
        parent=f"gid://shopify/OrderTransaction/{parent}",
        gateway="manual",
        money=Money(amount=Decimal(amount), currency=currency),
    )


def to_credit(amount: str, currency: str) -> RefundPart:
    return RefundPart(
        parent=None,
        gateway=STORE_CREDIT_GATEWAY,
        money=Money(amount=Decimal(amount), currency=currency),
    )


def test_the_variables_are_these_bytes_in_this_order() -> None:
    frozen = adapter_at(1).freeze_refund(refund=ASKED)
    assert frozen.body.decode().endswith(INPUT)
    assert frozen.api_version == API_VERSION == "2026-10"
    assert frozen.document == REFUND_CREATE.text
    # All of it, document included: whoever changes it changes what a key is compared with.
    assert sha256(frozen.body).hexdigest() == BODY_SHA256


@pytest.mark.parametrize(
    ("basis", "text"),
    [
        (
            RefundBasis(
                lines=(
                    RefundLine(line=LINE, quantity=2, restock=Restock.RETURN, location=LOCATION),
                    RefundLine(line=LINE, quantity=1, restock=Restock.CANCEL),
                    RefundLine(line=OTHER_LINE, quantity=1, restock=Restock.NO_RESTOCK),
                )
            ),
            (
                ',"refundLineItems":['
                '{"lineItemId":"gid://shopify/LineItem/301","quantity":2,"restockType":"RETURN",'
                '"locationId":"gid://shopify/Location/9"},'
                '{"lineItemId":"gid://shopify/LineItem/301","quantity":1,"restockType":"CANCEL"},'
                '{"lineItemId":"gid://shopify/LineItem/302","quantity":1,"restockType":"NO_RESTOCK"}]'
            ),
        ),
        (RefundBasis(shipping=eur("4.9")), ',"shipping":{"amount":"4.90"}'),
        (
            RefundBasis(
                duties=(
                    RefundDuty(duty=DUTY, share=DutyShare.FULL),
                    RefundDuty(duty="gid://shopify/Duty/42", share=DutyShare.PROPORTIONAL),
                )
            ),
            (
                ',"refundDuties":[{"dutyId":"gid://shopify/Duty/41","refundType":"FULL"},'
                '{"dutyId":"gid://shopify/Duty/42","refundType":"PROPORTIONAL"}]'
            ),
        ),
        (
            RefundBasis(
                lines=(RefundLine(line=LINE, quantity=1, restock=Restock.NO_RESTOCK),),
                shipping=eur("1"),
                duties=(RefundDuty(duty=DUTY, share=DutyShare.FULL),),
            ),
            (
                ',"refundLineItems":[{"lineItemId":"gid://shopify/LineItem/301","quantity":1,'
                '"restockType":"NO_RESTOCK"}],"shipping":{"amount":"1.00"},'
                '"refundDuties":[{"dutyId":"gid://shopify/Duty/41","refundType":"FULL"}]'
            ),
        ),
    ],
    ids=["lines", "shipping", "duties", "all three"],
)
def test_what_a_refund_is_for_stands_behind_its_transactions(basis: RefundBasis, text: str) -> None:
    assert given(replace(ASKED, basis=basis)) == TRANSACTIONS + text


def test_store_credit_is_a_refund_method_beside_no_transaction() -> None:
    credit = replace(ASKED, parts=(to_credit("12.50", "EUR"),))
    methods = (
        '"transactions":[],"refundMethods":[{"storeCreditRefund":'
        '{"amount":{"amount":"12.50","currencyCode":"EUR"}}}]'
    )
    assert given(credit) == methods
    line = RefundLine(line=LINE, quantity=1, restock=Restock.CANCEL)
    assert given(replace(credit, basis=RefundBasis(lines=(line,)))) == methods.replace(
        ',"refundMethods"',
        ',"refundLineItems":[{"lineItemId":"gid://shopify/LineItem/301","quantity":1,'
        '"restockType":"CANCEL"}],"refundMethods"',
    )


@pytest.mark.parametrize(
    ("amount", "currency", "text"), [("1000", "JPY", "1000"), ("1.25", "KWD", "1.250")]
)
def test_store_credit_and_shipping_are_written_at_their_currencys_precision(
    amount: str, currency: str, text: str
) -> None:
    shipping = RefundBasis(shipping=Money(amount=Decimal(amount), currency=currency))
    refund = replace(ASKED, parts=(to_credit(amount, currency),), basis=shipping)
    body = json.loads(adapter_at(1).freeze_refund(refund=refund).body)["variables"]["input"]
    assert (body["currency"], body["shipping"]) == (currency, {"amount": text})
    assert body["refundMethods"] == [
        {"storeCreditRefund": {"amount": {"amount": text, "currencyCode": currency}}}
    ]


def test_nothing_is_sent_that_falsifies_a_comparison_or_lifts_a_cap() -> None:
    everything = RefundBasis(
        lines=(RefundLine(line=LINE, quantity=1, restock=Restock.RETURN, location=LOCATION),),
        shipping=eur("1"),
        duties=(RefundDuty(duty=DUTY, share=DutyShare.FULL),),
    )
    for parts in (ASKED.parts, (to_credit("12.50", "EUR"),)):
        refund = replace(ASKED, parts=parts, basis=everything)
        body = adapter_at(1).freeze_refund(refund=refund).body
        assert b"processedAt" not in body
        assert b"allowOverRefunding" not in body


@pytest.mark.parametrize(
    ("basis", "message"),
    [
        (
            RefundBasis(lines=(RefundLine(line=LINE, quantity=0, restock=Restock.CANCEL),)),
            "at least one of its items",
        ),
        (
            RefundBasis(
                lines=(
                    RefundLine(
                        line=LINE, quantity=1, restock=Restock.NO_RESTOCK, location=LOCATION
                    ),
                )
            ),
            "is put back nowhere",
        ),
        (RefundBasis(shipping=eur("0")), "Shipping is more than nothing"),
        (
            RefundBasis(shipping=Money(amount=Decimal(1), currency="USD")),
            "in the refund's own currency",
        ),
    ],
    ids=["no item", "stock of nothing", "no shipping", "another currency"],
)
def test_a_basis_that_no_store_could_follow_is_not_frozen(basis: RefundBasis, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        adapter_at(1).freeze_refund(refund=replace(ASKED, basis=basis))


def test_store_credit_stands_alone() -> None:
    for parts in (
        (to_credit("1", "EUR"), part("1", "EUR")),
        (to_credit("1", "EUR"), to_credit("1", "EUR")),
    ):
        with pytest.raises(ValueError, match="Store credit is one part"):
            adapter_at(1).freeze_refund(refund=replace(ASKED, parts=parts))


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
