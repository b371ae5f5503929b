"""`manage.py policy`: shown, compared, and put only by a person who saw what it changes."""

import json
from pathlib import Path
from typing import Any

import pytest

from actions.models import PolicyVersion
from actions.policies import put_policy
from actions.policy import default_policy, parse_policy, policy_schema
from integrations.models import Workspace
from tests.actions.api.wishes import proposed
from tests.caller import Caller
from tests.factories import TEAM, make_workspace
from tests.integrations.commands.running import Shell
from tests.stage import AGENT, Stage

pytestmark = pytest.mark.django_db(transaction=True)

CHANGES = (
    "  kinds.refund.limits.EUR.cap: 200.00 → 250.00\n"
    "  kinds.refund.notify: no → yes\n"
    "  kinds.refund.velocity.count: removed, was 200\n"
    "  kinds.refund.velocity.minutes: removed, was 10\n"
)
DONE = "Version 2 of acme is in force, by brand_team:ada.\n"


@pytest.fixture
def workspace() -> Workspace:
    return make_workspace(slug="acme")


def policy(**refund: object) -> dict[str, Any]:
    """Return the default policy's document, with changes to what it says of refunds."""
    document = default_policy().as_record()
    document["kinds"]["refund"] |= refund  # type: ignore[index]  # JSON
    return document


def changed() -> dict[str, Any]:
    """Return a policy that differs from the default in four fields."""
    document = policy(notify=True)
    del document["kinds"]["refund"]["velocity"]
    document["kinds"]["refund"]["limits"]["EUR"]["cap"] = "250.00"
    return document


def written(folder: Path, document: object) -> str:
    """Write a policy to a file, and return its name."""
    file = folder / "policy.json"
    file.write_text(document if isinstance(document, str) else json.dumps(document))
    return str(file)


def test_what_is_shown_can_be_kept_and_put_again(
    shell: Shell, workspace: Workspace, tmp_path: Path
) -> None:
    ran = shell("policy", "show", "acme")
    assert (ran.status, json.loads(ran.out)) == (0, policy())
    assert ran.err == "Version 1, by system setup.\n"
    again = shell("policy", "put", "acme", written(tmp_path, ran.out), "--author", "ada")
    assert (again.status, again.err) == (0, "")
    assert again.out == "Nothing differs from version 1: it stays in force.\n"
    assert PolicyVersion.objects.count() == 1


def test_the_form_is_the_json_schema(shell: Shell) -> None:
    ran = shell("policy", "schema")
    assert (ran.status, ran.err) == (0, "")
    assert json.loads(ran.out) == json.loads(json.dumps(policy_schema()))


def test_a_person_sees_what_changes_and_only_yes_puts_it(
    shell: Shell, workspace: Workspace, tmp_path: Path
) -> None:
    arguments = ("policy", "put", "acme", written(tmp_path, changed()), "--author", "ada")
    question = "This replaces version 1 of acme. Type yes to go on: "
    no = shell.at_terminal(*arguments, typed="y\n")
    assert (no.status, no.out) == (1, f"{CHANGES}{question}")
    assert no.err == "CommandError: Nothing was changed.\n"
    assert PolicyVersion.objects.count() == 1
    yes = shell.at_terminal(*arguments, typed="yes\n")
    assert (yes.status, yes.out) == (0, f"{CHANGES}{question}{DONE}")
    version = PolicyVersion.objects.get(number=2)
    assert (version.document, version.author_kind, version.author_identity) == (
        changed(),
        "brand_team",
        "ada",
    )


def test_a_script_must_say_yes(shell: Shell, workspace: Workspace, tmp_path: Path) -> None:
    arguments = ("policy", "put", "acme", written(tmp_path, changed()), "--author", "ada")
    ran = shell(*arguments, stdin="yes\n")
    said = "CommandError: There is no terminal to ask at: add --yes if it is meant.\n"
    assert (ran.status, ran.err) == (1, said)
    assert PolicyVersion.objects.count() == 1
    assert shell(*arguments, "--yes").out == f"{CHANGES}{DONE}"
    assert PolicyVersion.objects.count() == 2


def test_the_author_is_who_is_logged_in_unless_named(
    shell: Shell, workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "grace")
    shell("policy", "put", "acme", written(tmp_path, changed()), "--yes")
    assert PolicyVersion.objects.get(number=2).author_identity == "grace"
    empty = shell("policy", "put", "acme", written(tmp_path, policy()), "--yes", "--author", " ")
    assert (empty.status, empty.err) == (
        1,
        "CommandError: An author's name is 1 to 120 letters.\n",
    )


def test_the_history_is_newest_first_with_authors_moments_and_changes(
    shell: Shell, workspace: Workspace
) -> None:
    put_policy(workspace, parse_policy(changed()), author=TEAM)
    second, first = PolicyVersion.objects.order_by("-number")
    moments = [row.created_at.isoformat(timespec="seconds") for row in (second, first)]
    ran = shell("policy", "history", "acme")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == (
        f"2\t{moments[0]}\tbrand_team team-1\n{CHANGES}1\t{moments[1]}\tsystem setup\n"
    )
    older = shell("policy", "history", "acme", "--before", "2")
    assert older.out == f"1\t{moments[1]}\tsystem setup\n"


def test_two_versions_are_compared(shell: Shell, workspace: Workspace) -> None:
    put_policy(workspace, parse_policy(changed()), author=TEAM)
    put_policy(workspace, parse_policy(policy(notify=True)), author=TEAM)
    assert shell("policy", "diff", "acme", "1", "2").out == CHANGES
    assert shell("policy", "diff", "acme", "3", "1").out == "  kinds.refund.notify: yes → no\n"
    assert shell("policy", "diff", "acme", "2", "2").out == ""
    ran = shell("policy", "diff", "acme", "1", "4")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == (
        "CommandError: There is no version 4 of this policy. `manage.py policy history acme` "
        "shows those that it has.\n"
    )


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("{", "{file} is not JSON as it is read here: line 1, column 2."),
        (
            '{"format": 1, "format": 1}',
            "{file} is not JSON as it is read here: it names a field twice in one object.",
        ),
        ("[]", "{file} holds no policy: it must be an object, in braces."),
        ({"format": 1}, "{file} can't be taken: kinds: Field required"),
        (
            {"format": 1, "kinds": {"refnd": policy()["kinds"]["refund"]}},
            (
                "{file} can't be taken: kinds.refnd: There is no such kind; there is refund, "
                "store_credit."
            ),
        ),
        (
            policy(limits={"EUR": {"cap": "1.00", "approval_above": "2.00"}}),
            (
                "{file} can't be taken: kinds.refund.limits.EUR.approval_above: 2.00 EUR is over "
                "the cap 1.00 EUR; lower it."
            ),
        ),
    ],
)
def test_a_file_that_holds_no_policy_is_refused_in_one_sentence(
    shell: Shell, workspace: Workspace, tmp_path: Path, document: object, said: str
) -> None:
    file = written(tmp_path, document)
    ran = shell("policy", "put", "acme", file, "--yes", "--author", "ada")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == f"CommandError: {said.format(file=file)}\n"
    assert PolicyVersion.objects.count() == 1


def test_a_file_that_is_not_there_is_refused_in_one_sentence(
    shell: Shell, workspace: Workspace, tmp_path: Path
) -> None:
    for file in (tmp_path / "none.json", tmp_path):
        ran = shell("policy", "put", "acme", str(file), "--yes", "--author", "ada")
        said = f"CommandError: {file} can't be read: is it there, and text?\n"
        assert (ran.status, ran.err) == (1, said)


def test_an_unknown_workspace_is_refused(shell: Shell) -> None:
    ran = shell("policy", "show", "acme")
    assert ran.status == 1
    assert "There is no workspace 'acme'" in ran.err


def test_what_the_old_limits_held_goes_on(shell: Shell, stage: Stage, tmp_path: Path) -> None:
    put_policy(stage.workspace, parse_policy(policy(counts={"per_day": 1})), author=TEAM)
    agent = Caller(stage.workspace, AGENT)
    stage.work(proposed(agent, stage.case()))
    held = stage.work(proposed(agent, stage.case()))
    assert (held.state, held.state_reason) == ("held", "counter")
    shell("policy", "put", stage.workspace.slug, written(tmp_path, policy()), "--yes")
    held.refresh_from_db()
    assert held.due_at is not None
    assert held.due_at <= stage.now()
    assert stage.work(held).state == "confirmed"
    assert len(stage.shop.effects()) == 2
