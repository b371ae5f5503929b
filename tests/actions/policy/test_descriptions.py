"""The policy described for whoever edits it: by a schema, and by what has changed."""

from jsonschema import Draft202012Validator

from actions.policy import Difference, Policy, differences, policy_schema
from tests.actions.policy.cases import POLICY, kind_policy

CAP = {"cap": "100.00", "approval_above": "50.00"}


# --- the schema -------------------------------------------------------------------------------


def faults(document: object) -> list[str]:
    validator = Draft202012Validator(policy_schema())
    return sorted(error.json_path for error in validator.iter_errors(document))


def test_the_schema_is_one_and_every_policy_that_reads_is_valid_by_it() -> None:
    Draft202012Validator.check_schema(policy_schema())
    assert policy_schema()["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert faults(POLICY.as_record()) == []
    assert faults(kind_policy(limits={"EUR": CAP}, counts={}, velocity=None).as_record()) == []


def test_the_schema_finds_what_an_editor_can_see_at_once() -> None:
    document = POLICY.as_record()
    document["kinds"]["refund"] |= {  # type: ignore[index]  # a record that we just made
        "limits": {"EUR": {"cap": 100, "approval_above": "-1"}, "euro": CAP},
        "counts": {"per_order": 0},
        "velocity": {"count": 1, "minutes": 1441},
        "max_amount": "1",
    }
    assert faults(document) == [
        "$.kinds.refund",
        "$.kinds.refund.counts.per_order",
        "$.kinds.refund.limits",
        "$.kinds.refund.limits.EUR.approval_above",
        "$.kinds.refund.limits.EUR.cap",
        "$.kinds.refund.velocity",
    ]


def test_every_field_of_the_schema_says_what_it_is() -> None:
    schema = policy_schema()
    models = [schema, *schema["$defs"].values()]  # type: ignore[attr-defined]  # as pydantic writes
    fields = [field for model in models for field in model.get("properties", {}).values()]
    assert len(fields) == 19
    assert [field for field in fields if not field.get("description")] == []
    assert [model for model in models if not model.get("description")] == []


# --- what has changed -------------------------------------------------------------------------


def test_the_same_policy_has_no_differences_however_its_amounts_are_spelled() -> None:
    assert differences(POLICY, POLICY) == ()
    plain = kind_policy(limits={"EUR": {"cap": "100", "approval_above": "50.0"}})
    assert differences(kind_policy(limits={"EUR": CAP}), plain) == ()


def test_every_difference_is_a_line_in_a_stable_order() -> None:
    old = kind_policy(limits={"EUR": CAP}, velocity=None)
    new = kind_policy(
        limits={"EUR": CAP | {"cap": "150", "per_day": "900"}},
        enabled_for=["human_node"],
        counts={"per_order": 2},
        velocity={"count": 5, "minutes": 60},
        notify=True,
    )
    assert [str(difference) for difference in differences(old, new)] == [
        "kinds.refund.counts.per_customer_day: removed, was 20",
        "kinds.refund.counts.per_day: removed, was 1000",
        "kinds.refund.counts.per_order: 20 → 2",
        "kinds.refund.enabled_for: ai, brand_team, human_node, system → human_node",
        "kinds.refund.limits.EUR.cap: 100.00 → 150.00",
        "kinds.refund.limits.EUR.per_day: added, 900.00",
        "kinds.refund.notify: no → yes",
        "kinds.refund.velocity.count: added, 5",
        "kinds.refund.velocity.minutes: added, 60",
    ]


def test_a_difference_has_its_three_strings() -> None:
    off = kind_policy(enabled_for=[])
    (difference,) = differences(POLICY, off)
    assert difference == Difference(
        path="kinds.refund.enabled_for", old="ai, brand_team, human_node, system", new="nobody"
    )
    assert difference.as_record() == {
        "path": "kinds.refund.enabled_for",
        "old": "ai, brand_team, human_node, system",
        "new": "nobody",
    }


def test_a_kind_that_is_switched_on_is_added_field_by_field() -> None:
    none = Policy(format=1, kinds={})
    added = differences(none, kind_policy(limits={"EUR": CAP}, counts={}, velocity=None))
    assert [str(difference) for difference in added if ".refund." in difference.path] == [
        "kinds.refund.enabled_for: added, ai, brand_team, human_node, system",
        "kinds.refund.limits.EUR.approval_above: added, 50.00",
        "kinds.refund.limits.EUR.cap: added, 100.00",
        "kinds.refund.notify: added, no",
        "kinds.refund.order_age_max_days: added, 90",
        "kinds.refund.ownership_required: added, yes",
    ]
