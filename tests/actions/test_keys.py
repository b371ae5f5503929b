"""The key and the canonical form, frozen by golden values."""

from decimal import Decimal
from uuid import UUID

import pytest

from actions.keys import (
    KEY_NAMESPACE,
    Canonical,
    NotCanonical,
    canonical_json,
    derive_key,
    digest,
)
from integrations.money import parse_money

ORDER = "gid://shopify/Order/1001"
REFUND = {"order": ORDER, "amount": "12.50", "currency": "EUR"}


def key(
    *,
    workspace: str = "w1",
    ticket: str = "t1",
    kind: str = "refund",
    key_parameters: dict[str, Canonical] | None = None,
    occurrence: int = 1,
) -> UUID:
    return derive_key(
        workspace=workspace,
        ticket=ticket,
        kind=kind,
        key_parameters=key_parameters or {**REFUND},
        occurrence=occurrence,
    )


def test_the_form_of_a_key_is_frozen() -> None:
    assert UUID("5f73890a-3018-549c-bc58-6a48f054c5f1") == KEY_NAMESPACE
    assert key() == UUID("b33155da-f18f-5ad8-88c9-b3c9a0b2bdfe")
    assert key(occurrence=2) == UUID("a27527ac-816c-5637-bbc3-492ab6cf7ad7")
    assert key().version == 5


def test_the_canonical_form_is_frozen() -> None:
    value: Canonical = ["é", {"b": 1, "a": parse_money("12.5", "EUR")}, None, True]
    assert canonical_json(value) == '["\\u00e9",{"a":"12.50 EUR","b":1},null,true]'
    assert digest(value) == "b4fb4a9405226765707e1f5309509285dd7ebbe747ccd36c40b6594fbd1c5102"


@pytest.mark.parametrize(
    "other",
    [
        {"workspace": "w2"},
        {"ticket": "t2"},
        {"kind": "cancel_order"},
        {"occurrence": 2},
        {"key_parameters": {**REFUND, "amount": "12.51"}},
        {"key_parameters": {**REFUND, "currency": "USD"}},
        {"key_parameters": {**REFUND, "order": "gid://shopify/Order/10010"}},
        {"key_parameters": {**REFUND, "note": None}},
    ],
)
def test_anything_different_gives_another_key(other: dict[str, object]) -> None:
    assert key(**other) != key()  # type: ignore[arg-type]  # each row changes one field


def test_order_and_normal_form_of_the_parameters_do_not_matter() -> None:
    backwards: dict[str, Canonical] = dict(reversed(REFUND.items()))
    assert key(key_parameters=backwards) == key()
    assert key(kind="r\u00e9") == key(kind="re\u0301")


@pytest.mark.parametrize("value", [12.5, float("nan"), Decimal("12.5"), b"12.5", {1, 2}, object()])
def test_what_has_no_single_spelling_is_refused(value: object) -> None:
    with pytest.raises(NotCanonical, match="has no single spelling"):
        canonical_json({"amount": value})  # type: ignore[dict-item]  # the point of the test


def test_two_names_that_are_one_when_normalised_are_refused() -> None:
    with pytest.raises(NotCanonical, match="stands twice"):
        canonical_json({"r\u00e9": 1, "re\u0301": 2})
