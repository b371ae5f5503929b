"""The policy as data: read strictly, and every fault named."""

from collections.abc import Mapping

import pytest

from actions.policy import InvalidPolicy, parse_policy
from integrations.actors import ActorKind
from tests.actions.policy.cases import POLICY, eur, kind_policy, money

CAP = {"cap": "100.00", "approval_above": "50.00"}


def said(**changes: object) -> list[str]:
    with pytest.raises(InvalidPolicy) as refused:
        kind_policy(**changes)
    return str(refused.value).split("; kinds.")


def test_the_default_policy_survives_a_round_trip() -> None:
    assert parse_policy(POLICY.as_record()) == POLICY


@pytest.mark.parametrize("kind", ["refund", "store_credit"])
def test_the_default_is_small_alone_larger_with_a_second_person_and_wide_beyond(kind: str) -> None:
    rules = POLICY.kinds[kind]
    assert rules.enabled_for == frozenset(ActorKind)
    assert (rules.notify, rules.ownership_required) == (False, True)
    assert rules.order_age_max_days == 90
    assert (rules.cap("EUR"), rules.approval_above("EUR")) == (eur("200"), eur("100"))
    assert rules.per_order("EUR") == eur("1000")
    assert rules.per_customer_day("EUR") == eur("1000")
    assert rules.per_day("EUR") == eur("10000")
    assert rules.per_day("JPY") == money("1500000", "JPY")
    assert rules.per_day("SEK") is None
    assert (rules.counts.per_order, rules.counts.per_customer_day) == (20, 20)
    assert rules.counts.per_day == 1000
    assert rules.velocity is not None
    assert (rules.velocity.count, rules.velocity.minutes) == (200, 10)


def test_a_policy_from_before_there_were_counts_reads_and_is_written_as_it_was() -> None:
    stored = {
        "format": 1,
        "kinds": {
            "refund": {
                "enabled_for": ["ai", "human_node"],
                "limits": {"EUR": CAP},
                "order_age_max_days": 90,
                "ownership_required": True,
                "notify": False,
            }
        },
    }
    policy = parse_policy(stored)
    assert policy.as_record() == stored
    rules = policy.kinds["refund"]
    assert (rules.per_order("EUR"), rules.counts.per_day, rules.velocity) == (None, None, None)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_amount": "1"}, "kinds.refund.max_amount: Extra inputs are not permitted"),
        ({"notify": "yes"}, "kinds.refund.notify: Input should be a valid boolean"),
        (
            {"order_age_max_days": 0},
            "kinds.refund.order_age_max_days: Input should be greater than or equal to 1",
        ),
        (
            {"enabled_for": ["robot"]},
            (
                "kinds.refund.enabled_for.0: "
                "Input should be 'ai', 'human_node', 'brand_team' or 'system'"
            ),
        ),
        (
            {"limits": {"EUR": CAP | {"cap": 100}}},
            "kinds.refund.limits.EUR.cap: Input should be a valid string",
        ),
        (
            {"limits": {"EUR": {"cap": "1"}}},
            "kinds.refund.limits.EUR.approval_above: Field required",
        ),
        (
            {"limits": {"EUR": CAP | {"per_week": "1"}}},
            "kinds.refund.limits.EUR.per_week: Extra inputs are not permitted",
        ),
        (
            {"limits": {"EUR": CAP | {"per_day": 1000}}},
            "kinds.refund.limits.EUR.per_day: Input should be a valid string",
        ),
        (
            {"counts": {"per_order": 0}},
            "kinds.refund.counts.per_order: Input should be greater than or equal to 1",
        ),
        (
            {"counts": {"per_day": "3"}},
            "kinds.refund.counts.per_day: Input should be a valid integer",
        ),
        (
            {"counts": {"per_week": 3}},
            "kinds.refund.counts.per_week: Extra inputs are not permitted",
        ),
        ({"velocity": {"count": 1}}, "kinds.refund.velocity.minutes: Field required"),
        (
            {"velocity": {"count": 1, "minutes": 1441}},
            "kinds.refund.velocity.minutes: Input should be less than or equal to 1440",
        ),
        (
            {"velocity": {"count": 0, "minutes": 1}},
            "kinds.refund.velocity.count: Input should be greater than or equal to 1",
        ),
    ],
)
def test_a_field_that_can_not_be_read_as_written_is_named(
    changes: dict[str, object], message: str
) -> None:
    assert said(**changes) == [message]


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (
            {"EUR": CAP | {"cap": "100.001"}},
            "EUR.cap: '100.001' has more decimals than the 2 of EUR; write it as 12.50.",
        ),
        (
            {"EUR": CAP | {"per_day": "-1"}},
            "EUR.per_day: '-1' has a sign; write the amount without one, as 12.50.",
        ),
        (
            {"EUR": CAP | {"approval_above": "-0"}},
            "EUR.approval_above: '-0' has a sign; write the amount without one, as 12.50.",
        ),
        (
            {"EUR": CAP | {"per_order": "0"}},
            "EUR.per_order: 0 EUR is nothing; ask for more than zero.",
        ),
        (
            {"JPY": {"cap": "100.0", "approval_above": "0"}},
            "JPY.cap: '100.0' has more decimals than the 0 of JPY; write it as 12.",
        ),
        (
            {"EUX": CAP},
            ("EUX: 'EUX' is not an active ISO 4217 currency; write its code in capitals, as EUR."),
        ),
        (
            {"EUR": CAP | {"approval_above": "101"}},
            "EUR.approval_above: 101.00 EUR is over the cap 100.00 EUR; lower it.",
        ),
        (
            {"EUR": CAP | {"per_order": "99.99"}},
            "EUR.per_order: 99.99 EUR is below the cap 100.00 EUR; raise it or lower that.",
        ),
        (
            {"EUR": CAP | {"per_customer_day": "99"}},
            "EUR.per_customer_day: 99.00 EUR is below the cap 100.00 EUR; raise it or lower that.",
        ),
        (
            {"EUR": CAP | {"per_day": "99"}},
            "EUR.per_day: 99.00 EUR is below the cap 100.00 EUR; raise it or lower that.",
        ),
        (
            {"EUR": CAP | {"per_customer_day": "300", "per_day": "299"}},
            (
                "EUR.per_day: 299.00 EUR is below per_customer_day 300.00 EUR; "
                "raise it or lower that."
            ),
        ),
    ],
)
def test_a_limit_that_can_not_be_meant_is_named(limits: Mapping[str, object], message: str) -> None:
    assert said(limits=limits) == [f"kinds.refund.limits.{message}"]


def test_fewer_a_day_than_for_one_customer_can_not_be_meant() -> None:
    assert said(counts={"per_customer_day": 5, "per_day": 4}) == [
        ("kinds.refund.counts.per_day: 4 is below per_customer_day 5; raise it or lower that.")
    ]


def test_every_fault_is_named_at_once() -> None:
    limits = {"EUR": CAP | {"per_order": "1", "per_day": "x"}, "XXX": CAP}
    assert said(limits=limits, counts={"per_customer_day": 2, "per_day": 1}) == [
        (
            "kinds.refund.limits.EUR.per_day: "
            "'x' is not a plain amount; write digits and at most one point, as 12.50."
        ),
        (
            "refund.limits.EUR.per_order: 1.00 EUR is below the cap 100.00 EUR; "
            "raise it or lower that."
        ),
        (
            "refund.limits.XXX: 'XXX' is not an active ISO 4217 currency; "
            "write its code in capitals, as EUR."
        ),
        "refund.counts.per_day: 1 is below per_customer_day 2; raise it or lower that.",
    ]


def test_a_fault_has_its_path_and_its_sentence_apart() -> None:
    with pytest.raises(InvalidPolicy) as refused:
        kind_policy(counts={"per_customer_day": 2, "per_day": 1})
    assert refused.value.found == (
        ("kinds.refund.counts.per_day", "1 is below per_customer_day 2; raise it or lower that."),
    )
    with pytest.raises(InvalidPolicy) as unread:
        parse_policy({"format": 1})
    assert unread.value.found == (("kinds", "Field required"),)


def test_limits_may_be_equal_where_one_may_not_be_less() -> None:
    equal = dict.fromkeys(
        ["cap", "approval_above", "per_order", "per_customer_day", "per_day"], "7"
    )
    counts = {"per_customer_day": 2, "per_day": 2}
    rules = kind_policy(limits={"EUR": equal}, counts=counts).kinds["refund"]
    assert rules.per_day("EUR") == eur("7.00")


def test_a_document_that_is_no_policy_is_refused() -> None:
    with pytest.raises(InvalidPolicy, match=r"^format: Input should be 1; kinds: Field required$"):
        parse_policy({"format": 2})
