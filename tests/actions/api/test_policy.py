"""The policy over HTTP: read by all, put by the brand alone, version by version."""

import json
from functools import partial
from typing import Any

import jsonschema
import pytest

from actions.models import PolicyVersion
from actions.policies import put_policy
from actions.policy import default_policy, parse_policy, policy_schema
from integrations.actors import Actor, ActorKind
from integrations.models import Workspace
from tests.actions.api.wishes import everything, proposed
from tests.caller import Answer, Caller
from tests.factories import AI, NODE, TEAM, make_workspace
from tests.faults.threads import at_once
from tests.stage import AGENT, Stage

pytestmark = pytest.mark.django_db(transaction=True)

SETUP = {"kind": "system", "identity": "setup"}
BRAND = {"kind": "brand_team", "identity": "team-1"}
PROGRAM = Actor(kind=ActorKind.SYSTEM, identity="integration-1")


@pytest.fixture
def workspace() -> Workspace:
    return make_workspace()


@pytest.fixture
def brand(workspace: Workspace) -> Caller:
    """Return the brand's own token."""
    return Caller(workspace, TEAM)


def policy(**refund: object) -> dict[str, Any]:
    """Return the default policy's document, with changes to what it says of refunds."""
    document = default_policy().as_record()
    document["kinds"]["refund"] |= refund  # type: ignore[index]  # JSON
    return document


def put(caller: Caller, document: object, **said: object) -> Answer:
    """Put a policy."""
    content = json.dumps({"document": document} | said).encode()
    return caller.call("PUT", "policy/", content=content)


def test_everyone_reads_what_is_in_force(workspace: Workspace, brand: Caller) -> None:
    for caller in (brand, Caller(workspace, AI)):
        answer = caller.get("policy/")
        assert answer.status == 200
        assert answer.body == {
            "number": 1,
            "document": policy(),
            "author": SETUP,
            "created_at": answer.body["created_at"],
        }


def test_a_workspace_that_never_chose_has_the_default(brand: Caller) -> None:
    bare = Workspace.objects.create(slug="bare", name="Bare")
    answer = Caller(bare, AI).get("policy/")
    assert (answer.body["number"], answer.body["document"]) == (1, policy())
    assert answer.body["author"] == {"kind": "system", "identity": "razviel"}


def test_the_form_is_a_json_schema_that_holds_the_policy(brand: Caller) -> None:
    answer = brand.get("policy/schema/")
    assert (answer.status, answer.body) == (200, json.loads(json.dumps(policy_schema())))
    jsonschema.Draft202012Validator(answer.body).validate(brand.get("policy/").body["document"])


def test_the_brand_puts_a_version_and_the_history_says_what_it_changed(brand: Caller) -> None:
    document = policy(notify=True, velocity=None)
    del document["kinds"]["refund"]["velocity"]
    document["kinds"]["refund"]["limits"]["EUR"]["cap"] = "250.00"
    answer = put(brand, document, based_on=1)
    assert answer.status == 200
    assert answer.body == {
        "number": 2,
        "document": document,
        "author": BRAND,
        "created_at": answer.body["created_at"],
    }
    assert brand.get("policy/").body == answer.body
    history = brand.get("policy/versions/").body
    assert history == {
        "versions": [
            {
                "number": 2,
                "author": BRAND,
                "created_at": answer.body["created_at"],
                "differences": [
                    {"path": "kinds.refund.limits.EUR.cap", "old": "200.00", "new": "250.00"},
                    {"path": "kinds.refund.notify", "old": "no", "new": "yes"},
                    {"path": "kinds.refund.velocity.count", "old": "200", "new": None},
                    {"path": "kinds.refund.velocity.minutes", "old": "10", "new": None},
                ],
            },
            {
                "number": 1,
                "author": SETUP,
                "created_at": history["versions"][1]["created_at"],
                "differences": [],
            },
        ],
        "next": None,
    }


def test_what_changes_nothing_is_no_version(brand: Caller) -> None:
    document = policy()
    document["kinds"]["refund"]["limits"]["EUR"]["cap"] = "200"
    before = everything()
    for same in (policy(), document):
        answer = put(brand, same)
        assert (answer.status, answer.body) == (200, brand.get("policy/").body)
    assert everything() == before


def test_a_put_that_was_answered_may_be_sent_again(brand: Caller) -> None:
    first = put(brand, policy(notify=True), based_on=1)
    again = put(brand, policy(notify=True), based_on=1)
    assert (again.status, again.body) == (200, first.body)
    assert PolicyVersion.objects.count() == 2


def test_what_is_based_on_an_older_version_is_told_which_is_in_force(brand: Caller) -> None:
    put(brand, policy(notify=True))
    before = everything()
    answer = put(brand, policy(order_age_max_days=30), based_on=1)
    assert (answer.status, answer.problem) == (409, "policy-moved-on")
    assert answer.body["number"] == 2
    assert answer.body["detail"] == (
        "Version 2 is in force: Another version is in force than yours is based on: look at what "
        "it changed, then decide."
    )
    assert everything() == before
    assert put(brand, policy(order_age_max_days=30), based_on=2).body["number"] == 3


@pytest.mark.parametrize("by", [AI, NODE, PROGRAM])
def test_nobody_but_the_brand_puts_one(workspace: Workspace, by: Actor) -> None:
    caller = Caller(workspace, by)
    before = everything()
    answer = put(caller, policy(notify=True))
    assert (answer.status, answer.problem) == (403, "only-the-brand")
    assert answer.body["detail"] == "Use a token of the brand's own team (brand_team)."
    assert everything() == before


def _limits(**changes: object) -> dict[str, Any]:
    return policy(limits={"EUR": {"cap": "200.00", "approval_above": "100.00"} | changes})


@pytest.mark.parametrize(
    ("document", "errors"),
    [
        (
            _limits(caps="1.00"),
            {
                "document.kinds.refund.limits.EUR.caps": ["Extra inputs are not permitted"],
            },
        ),
        (
            _limits(approval_above="300.00", per_day="1.00"),
            {
                "document.kinds.refund.limits.EUR.approval_above": [
                    "300.00 EUR is over the cap 200.00 EUR; lower it."
                ],
                "document.kinds.refund.limits.EUR.per_day": [
                    "1.00 EUR is below the cap 200.00 EUR; raise it or lower that."
                ],
            },
        ),
        (
            {"format": 1},
            {"document.kinds": ["Field required"]},
        ),
        (
            {"format": 1, "kinds": {"refnd": policy()["kinds"]["refund"]}},
            {"document.kinds.refnd": ["There is no such kind; there is refund, store_credit."]},
        ),
        ([], {"document": ["It must be an object, in braces."]}),
    ],
)
def test_a_policy_that_can_not_be_meant_is_400_with_a_sentence_a_field(
    brand: Caller, document: object, errors: object
) -> None:
    before = everything()
    answer = put(brand, document)
    assert (answer.status, answer.problem, answer.body["errors"]) == (400, "invalid-fields", errors)
    assert everything() == before


@pytest.mark.parametrize("said", [0, -1, "1", 1.0, True, 2**31])
def test_a_version_is_named_by_its_number(brand: Caller, said: object) -> None:
    answer = put(brand, policy(notify=True), based_on=said)
    assert (answer.status, answer.body["errors"]) == (
        400,
        {"based_on": ["It must be a number from 1 to 2147483647."]},
    )
    assert PolicyVersion.objects.count() == 1


def test_the_history_comes_in_pages_that_meet_each_version_once(brand: Caller) -> None:
    for days in range(30, 34):
        put(brand, policy(order_age_max_days=days))
    first = brand.get("policy/versions/", limit="2").body
    put(brand, policy(order_age_max_days=99))
    second = brand.get(first["next"].removeprefix("/api/v1/")).body
    third = brand.get(second["next"].removeprefix("/api/v1/")).body
    pages = [first, second, third]
    numbers = [[version["number"] for version in page["versions"]] for page in pages]
    assert numbers == [[5, 4], [3, 2], [1]]
    assert third["next"] is None
    changed = [version["differences"] for page in pages for version in page["versions"]]
    assert [len(differences) for differences in changed] == [1, 1, 1, 1, 0]
    assert changed[1] == [{"path": "kinds.refund.order_age_max_days", "old": "31", "new": "32"}]


@pytest.mark.parametrize("query", [{"limit": "0"}, {"limit": "x"}, {"before": "0"}, {"by": "ada"}])
def test_a_question_that_can_not_be_read_is_400(brand: Caller, query: dict[str, str]) -> None:
    answer = brand.get("policy/versions/", **query)
    assert (answer.status, list(answer.body["errors"])) == (400, list(query))


def test_no_workspace_sees_or_changes_anothers_policy(workspace: Workspace, brand: Caller) -> None:
    others = Caller(make_workspace(), TEAM)
    put_policy(others.token.workspace, parse_policy(policy(notify=True)), author=TEAM)
    assert brand.get("policy/").body["number"] == 1
    assert len(brand.get("policy/versions/").body["versions"]) == 1
    put(brand, policy(order_age_max_days=30))
    put(brand, policy(order_age_max_days=31))
    assert others.get("policy/").body["number"] == 2
    assert others.get("policy/").body["document"] == policy(notify=True)


def test_two_that_put_at_once_make_one_version_each_or_are_told(brand: Caller) -> None:
    answered = at_once(
        *[
            partial(put, brand, policy(order_age_max_days=days), based_on=1)
            for days in range(30, 36)
        ]
    )
    assert sorted(answer.status for answer in answered) == [200] + [409] * 5
    assert {a.problem for a in answered if a.status == 409} == {"policy-moved-on"}
    assert PolicyVersion.objects.count() == 2


def test_what_the_old_limits_held_is_judged_by_the_new_ones(stage: Stage) -> None:
    put_policy(stage.workspace, parse_policy(policy(counts={"per_day": 1})), author=TEAM)
    agent, brand = Caller(stage.workspace, AGENT), Caller(stage.workspace, TEAM)
    assert stage.work(proposed(agent, stage.case())).state == "confirmed"
    held = stage.work(proposed(agent, stage.case()))
    assert (held.state, held.state_reason) == ("held", "counter")
    assert held.due_at is not None
    assert held.due_at > stage.now()
    put(brand, policy(counts={"per_day": 2}))
    held.refresh_from_db()
    assert held.due_at is not None
    assert held.due_at <= stage.now()
    assert stage.work(held).state == "confirmed"
    assert len(stage.shop.effects()) == 2
