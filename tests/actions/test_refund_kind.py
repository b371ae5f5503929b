"""The kind refund: its parameters, its key fields, its allocation and its wording."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from actions.catalogue import (
    KINDS,
    REFUND,
    STORE_CREDIT_KIND,
    InvalidParameters,
    UnknownKind,
    kind_named,
)
from actions.catalogue.refund import (
    CannotAllocate,
    allocate,
    allocation_digest,
    to_store_credit,
)
from actions.states import State
from integrations.money import Money
from integrations.ports import RefundBasis, RefundLine, RefundPart, Restock, SuggestedPart

ASKED: dict[str, object] = {
    "order": "gid://shopify/Order/1001",
    "amount": "12.5",
    "currency": "EUR",
}


def eur(amount: str) -> Money:
    return Money(amount=Decimal(amount), currency="EUR")


def payment(name: str, maximum: str) -> SuggestedPart:
    return SuggestedPart(parent=name, gateway="shopify_payments", maximum=eur(maximum))


def taken(name: str, amount: str) -> RefundPart:
    return RefundPart(parent=name, gateway="shopify_payments", money=eur(amount))


def test_parameters_are_kept_in_their_canonical_form() -> None:
    refund = REFUND.parse(ASKED)
    assert refund.money == eur("12.50")
    assert refund.target == "gid://shopify/Order/1001"
    assert (
        refund.canonical()
        == refund.key_parameters()
        == {"order": "gid://shopify/Order/1001", "amount": "12.50", "currency": "EUR"}
    )


@pytest.mark.parametrize(
    ("change", "sentences"),
    [
        ({"amount": 12.5}, {"amount": "It must be text, in quotes."}),
        (
            {"amount": "1e3"},
            {"amount": "'1e3' is in exponent form; write all its digits, as 12.50."},
        ),
        (
            {"currency": "eur"},
            {
                "currency": (
                    "'eur' is not an active ISO 4217 currency; write its code in capitals, as EUR."
                )
            },
        ),
        (
            {"note": "rzv:1"},
            {"note": "There is no such parameter; leave it out."},
        ),
    ],
)
def test_a_wrong_parameter_is_answered_with_what_would_be_right(
    change: dict[str, object], sentences: dict[str, str]
) -> None:
    with pytest.raises(InvalidParameters) as refused:
        REFUND.parse({**ASKED, **change})
    assert refused.value.sentences == sentences


@pytest.mark.parametrize(
    "order",
    [
        "gid://shopify/Refund/1001",
        "gid://shopify/Order/01",
        "gid://shopify/Order/0",
        "gid://shopify/Order/1\n",
        "gid://shopify/Order/1?x=1",
        "gid://shopify/Order/\u0661",
        "#1001",
        "1001",
        "",
    ],
)
def test_an_order_is_named_by_its_full_identifier(order: str) -> None:
    with pytest.raises(InvalidParameters) as refused:
        REFUND.parse({**ASKED, "order": order})
    assert refused.value.sentences == {
        "order": "Give the order's full identifier, as gid://shopify/Order/1001."
    }


def test_each_missing_parameter_is_named() -> None:
    with pytest.raises(InvalidParameters) as refused:
        REFUND.parse({})
    assert sorted(refused.value.sentences) == ["amount", "currency", "order"]


def test_what_was_given_is_in_no_traceback() -> None:
    with pytest.raises(InvalidParameters) as refused:
        REFUND.parse({**ASKED, "email": "ada@example.com"})
    assert "ada@example.com" not in f"{refused.value}{refused.value.__cause__}"


def test_an_amount_goes_over_the_payments_in_the_store_s_order() -> None:
    payments = [payment("a", "10.00"), payment("b", "5.00"), payment("c", "9.00")]
    assert allocate(eur("12.50"), suggested=payments) == (taken("a", "10.00"), taken("b", "2.50"))
    assert allocate(eur("10.00"), suggested=payments) == (taken("a", "10.00"),)
    assert allocate(eur("24.00"), suggested=payments) == (
        taken("a", "10.00"),
        taken("b", "5.00"),
        taken("c", "9.00"),
    )


def test_what_others_reserve_on_a_payment_is_left_to_them() -> None:
    payments = [payment("a", "10.00"), payment("b", "5.00")]
    parts = allocate(eur("6.00"), suggested=payments, reserved=[taken("a", "7.00")])
    assert parts == (taken("a", "3.00"), taken("b", "3.00"))
    parts = allocate(eur("5.00"), suggested=payments, reserved=[taken("a", "11.00")])
    assert parts == (taken("b", "5.00"),)


@pytest.mark.parametrize(
    ("amount", "maxima"), [("10.01", ["10.00"]), ("1.00", []), ("1.00", ["0.00"]), ("0", ["5"])]
)
def test_a_sum_that_can_not_be_exact_is_not_allocated(amount: str, maxima: list[str]) -> None:
    payments = [payment(str(number), maximum) for number, maximum in enumerate(maxima)]
    with pytest.raises(CannotAllocate, match="finds no payment to go back over"):
        allocate(eur(amount), suggested=payments)


def test_an_allocation_s_digest_is_frozen_and_tells_every_change() -> None:
    order, parts = "gid://shopify/Order/1001", (taken("a", "10.00"), taken("b", "2.50"))
    line = RefundLine(line="gid://shopify/LineItem/1", quantity=1, restock=Restock.RETURN)
    asked: dict[str, Any] = {
        "order": order,
        "parts": parts,
        "basis": RefundBasis(lines=(line,)),
        "notify": False,
    }
    digest = allocation_digest(**asked)
    assert digest == "19f017d69bf3496a4da66dfc9d6af2984b50381e79a324b54c7b201a3b119dda"
    changes: list[dict[str, Any]] = [
        {"order": "gid://shopify/Order/1002"},
        {"parts": parts[:1]},
        {"parts": parts[::-1]},
        {"parts": (taken("a", "10.00"), taken("b", "2.51"))},
        {"parts": (taken("a", "10.00"), taken("c", "2.50"))},
        {"parts": to_store_credit(eur("12.50"))},
        {"basis": RefundBasis()},
        {"basis": RefundBasis(lines=(replace(line, quantity=2),))},
        {"basis": RefundBasis(lines=(replace(line, restock=Restock.NO_RESTOCK),))},
        {"basis": RefundBasis(lines=(line,), shipping=eur("2.00"))},
        {"notify": True},
    ]
    assert len({digest, *(allocation_digest(**asked | change) for change in changes)}) == 12


GIVEN = {"order": "gid://shopify/Order/1001", "amount": "12.50", "currency": "EUR"}
LINE = {"line": "gid://shopify/LineItem/1", "quantity": 1, "restock": "return"}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"shipping": "12.51"}, "12.51 EUR of shipping is more than the amount of 12.50."),
        ({"lines": [LINE, LINE]}, "Name each line and each duty once."),
        (
            {"lines": [LINE | {"restock": "no_restock", "location": "gid://shopify/Location/1"}]},
            "Items that are not put back have no location; leave it out.",
        ),
        (
            {"lines": [LINE | {"line": "1"}]},
            "Give its full identifier, with the kind that belongs here.",
        ),
    ],
)
def test_what_a_refund_is_for_is_held_to_sense(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidParameters) as refused:
        REFUND.parse({**GIVEN, **given})
    assert list(refused.value.sentences.values()) == [sentence]


def test_a_refund_by_amount_alone_keeps_the_key_that_it_had_before_there_were_lines() -> None:
    assert REFUND.parse(GIVEN).key_parameters() == GIVEN
    with_lines = REFUND.parse({**GIVEN, "lines": [LINE]}).key_parameters()
    assert with_lines == {**GIVEN, "lines": [LINE]}


@pytest.mark.parametrize("state", State)
def test_every_state_has_a_sentence_and_only_confirmed_says_refunded(state: State) -> None:
    sentence = REFUND.may_be_said(state=state, money=eur("12.50"))
    assert "12.50 EUR" in sentence
    assert ("have been refunded" in sentence) is (state is State.CONFIRMED)


@pytest.mark.parametrize(
    "state", [State.EXECUTING, State.UNKNOWN, State.PENDING, State.PARTIALLY_CONFIRMED]
)
def test_until_it_is_settled_a_refund_is_being_processed(state: State) -> None:
    sentence = REFUND.may_be_said(state=state, money=eur("12.50"))
    assert sentence == "The refund of 12.50 EUR is being processed."


def test_the_catalogue_holds_the_refund_and_names_what_there_is() -> None:
    assert KINDS == {"refund": REFUND, "store_credit": STORE_CREDIT_KIND}
    assert kind_named("refund") is REFUND
    with pytest.raises(UnknownKind, match="no kind 'gift'; there is refund, store_credit"):
        kind_named("gift")
