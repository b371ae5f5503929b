"""The policy in the Console: each version with its author, its moment and what it changed."""

import pytest
from django.urls import reverse

from actions.policies import current_policy, put_policy
from actions.policy import parse_policy
from integrations.actors import Actor, ActorKind
from integrations.models import Role, Workspace
from tests.factories import make_workspace
from tests.razviel.console.brands import member_of
from tests.razviel.console.test_intent_page import words

pytestmark = pytest.mark.django_db


def page(workspace: Workspace) -> str:
    client = member_of(workspace, role=Role.AUDITOR)
    answer = client.get(reverse("console:policy", args=[workspace.public_id]))
    assert answer.status_code == 200
    return answer.content.decode()


def test_each_version_says_who_set_it_and_what_it_changed() -> None:
    workspace = make_workspace()
    document = current_policy(workspace).policy.as_record()
    document["kinds"]["refund"]["limits"]["EUR"]["cap"] = "150.00"  # type: ignore[index]
    document["kinds"]["refund"]["velocity"] = None  # type: ignore[index]
    author = Actor(kind=ActorKind.BRAND_TEAM, identity="ada")
    put_policy(workspace, parse_policy(document), author=author)
    content = words(page(workspace))
    newest, first = content[content.index("Version 2") :].split("Version 1 ")
    assert "Version 2, in force By brand team ada," in newest
    assert "kinds.refund.limits.EUR.cap 200.00 150.00" in newest
    assert "kinds.refund.velocity.count 200 not set" in newest
    assert "&quot;cap&quot;: &quot;150.00&quot;" in newest
    assert "By system setup" in first
    assert "The first version." in first


def test_a_page_offers_nothing_to_change_it() -> None:
    content = page(make_workspace())
    assert content.count("<form") == content.count('action="/console/logout/"')


def test_a_member_of_two_workspaces_chooses_among_those_they_may_read() -> None:
    first, second = make_workspace(name="First"), make_workspace(name="Second")
    client = member_of(first, second, role=Role.BRAND_ADMIN)
    content = client.get(reverse("console:policies")).content.decode()
    for workspace in (first, second):
        assert reverse("console:policy", args=[workspace.public_id]) in content
