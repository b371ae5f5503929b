"""Facts as JSON, and back to the same verdict."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from actions.policy import Cleared, Facts, OtherRecord, RefundFacts, facts_of, facts_record, judge
from actions.states import HeldReason
from integrations.ports import (
    BlockedBy,
    CallTrace,
    DutyShare,
    OrderLine,
    RefundBasis,
    RefundDuty,
    RefundLine,
    Restock,
    Unreadable,
)
from tests.actions.policy.cases import (
    FINE,
    MARKER,
    PAID,
    PAID_IN_DOLLARS,
    POLICY,
    asked,
    cleared,
    eur,
    other,
    part,
    refunded,
)

FULL = replace(
    FINE,
    proposal=replace(
        FINE.proposal,
        basis=RefundBasis(
            lines=(
                RefundLine(line="l1", quantity=2, restock=Restock.RETURN, location="loc"),
                RefundLine(line="l2", quantity=1, restock=Restock.NO_RESTOCK),
            ),
            shipping=eur("5.00"),
            duties=(RefundDuty(duty="d1", share=DutyShare.PROPORTIONAL),),
        ),
        repeats=("int_1",),
    ),
    others=(replace(other("9.00"), effect="gid://r/1", set_aside=True),),
    order=replace(
        PAID,
        refunds=(refunded("20.00", marker=MARKER, under_way="3.00", failed=True),),
        open_disputes=("gid://d/1",),
        lines=(OrderLine(identifier="l1", refundable=2),),
        reckoned=eur("45.00"),
    ),
    cleared=(cleared(HeldReason.DISPUTE, "gid://d/1"),),
)
EVERY_KIND = {
    "plain": FINE,
    "full": FULL,
    "unread": replace(FINE, order=None),
    "unreadable": replace(
        FINE,
        order=Unreadable(
            reason="429",
            blocked_by=BlockedBy.LOCKED,
            retry_after=timedelta(seconds=1, microseconds=500_001),
            not_found=True,
            trace=CallTrace(
                http_status=429, platform_request_id="r", api_version="2026-10", duration_ms=12
            ),
        ),
    ),
    "dollars": replace(FINE, proposal=asked("48.60", "USD"), order=PAID_IN_DOLLARS),
    "yen": replace(FINE, proposal=asked("1000", "JPY"), order=None),
    "disputes not told": replace(FINE, order=replace(PAID, open_disputes=None)),
    "store credit": replace(
        FINE,
        proposal=replace(FINE.proposal, kind="store_credit", to_store_credit=True),
        others=(replace(other("9.00"), parts=(part(eur("9.00"), None),)),),
    ),
}


@pytest.mark.parametrize("facts", EVERY_KIND.values(), ids=EVERY_KIND)
def test_facts_come_back_as_they_were_and_give_the_same_verdicts(facts: Facts) -> None:
    back = facts_of(json.loads(json.dumps(facts_record(facts))))
    assert back == facts
    assert hash(back) == hash(facts)
    assert judge(policy=POLICY, facts=back) == judge(policy=POLICY, facts=facts)


def test_the_record_has_its_format_first_and_amounts_with_their_currency() -> None:
    record = facts_record(FULL)
    assert list(record) == [
        "format",
        "proposal",
        "circumstances",
        "others",
        "order",
        "usage",
        "shop_currency",
        "day",
        "cleared",
        "ended",
        "rest",
    ]
    assert record["format"] == 1
    assert record["day"] == "2026-11-30"
    order: Any = record["order"]
    assert order["received"] == {"amount": "150.00", "currency": "EUR"}
    assert order["open_disputes"] == ["gid://d/1"]
    assert order["cancelled"] is False
    assert order["refunds"] == [
        {
            "identifier": "gid://shopify/Refund/5",
            "markers": [MARKER],
            "taken": {"amount": "20.00", "currency": "EUR"},
            "failed": True,
            "open_parts": [
                {
                    "parent": "gid://shopify/OrderTransaction/9",
                    "gateway": "shopify_payments",
                    "money": {"amount": "3.00", "currency": "EUR"},
                }
            ],
        }
    ]


def _without_day(record: dict[str, Any]) -> None:
    del record["day"]


def _without_a_default(record: dict[str, Any]) -> None:
    del record["proposal"]["repeats"]


def _with_a_field_more(record: dict[str, Any]) -> None:
    record["order"]["note"] = "please"


def _with_a_number_for_an_amount(record: dict[str, Any]) -> None:
    record["proposal"]["money"]["amount"] = 45


def _with_an_amount_spelled_otherwise(record: dict[str, Any]) -> None:
    record["proposal"]["money"]["amount"] = "45.0"


def _with_text_for_money(record: dict[str, Any]) -> None:
    record["proposal"]["money"] = "45.00 EUR"


def _with_text_for_a_boolean(record: dict[str, Any]) -> None:
    record["circumstances"]["paused"] = "false"


def _with_a_state_that_is_none(record: dict[str, Any]) -> None:
    record["others"][0]["state"] = "done"


def _with_an_order_of_no_kind(record: dict[str, Any]) -> None:
    record["order"] = {}


def _with_another_format(record: dict[str, Any]) -> None:
    record["format"] = 2


def _with_true_for_its_format(record: dict[str, Any]) -> None:
    record["format"] = True


def _without_a_format(record: dict[str, Any]) -> None:
    del record["format"]


@pytest.mark.parametrize(
    "spoil",
    [
        _without_day,
        _without_a_default,
        _with_a_field_more,
        _with_a_number_for_an_amount,
        _with_an_amount_spelled_otherwise,
        _with_text_for_money,
        _with_text_for_a_boolean,
        _with_a_state_that_is_none,
        _with_an_order_of_no_kind,
        _with_another_format,
        _with_true_for_its_format,
        _without_a_format,
    ],
)
def test_a_record_of_another_shape_is_refused_and_never_guessed_at(
    spoil: Callable[[dict[str, Any]], None],
) -> None:
    record = json.loads(json.dumps(facts_record(FULL)))
    spoil(record)
    with pytest.raises(OtherRecord):
        facts_of(record)


def test_a_record_says_where_it_differs() -> None:
    record = facts_record(FINE)
    del record["day"]
    with pytest.raises(OtherRecord, match=r"^day: Field required$"):
        facts_of(record)
    with pytest.raises(OtherRecord, match=r"^Format None isn't 1, the one that is read\.$"):
        facts_of({})


def test_evidence_is_kept_in_its_order() -> None:
    entry = Cleared(reason=HeldReason.DISPUTE, evidence=("b", "a"), by="human_node node-1")
    facts = replace(FINE, cleared=(entry,))
    assert facts_of(facts_record(facts)).cleared == (entry,)
    assert isinstance(facts_of(facts_record(FULL)).others[0].parts, tuple)
    assert isinstance(refunded("1"), RefundFacts)
