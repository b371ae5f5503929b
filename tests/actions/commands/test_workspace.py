"""`manage.py workspace`: made with a policy, and switched only by a person who means it."""

import pytest

from actions.models import PolicyVersion
from actions.policy import default_policy
from actions.states import State
from integrations.actors import SYSTEM
from integrations.models import Workspace
from tests.factories import make_workspace
from tests.integrations.commands.running import Shell
from tests.stage import Stage

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_new_workspace_has_the_default_policy_as_its_first(shell: Shell) -> None:
    arguments = ("acme", "--name", "Acme GmbH", "--time-zone", "Europe/Berlin")
    ran = shell("workspace", "create", *arguments)
    workspace = Workspace.objects.get()
    version = PolicyVersion.objects.get()
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == f"Workspace acme ({workspace.public_id}) with policy 1, the default.\n"
    assert (workspace.slug, workspace.name) == ("acme", "Acme GmbH")
    assert workspace.time_zone == "Europe/Berlin"
    assert (version.workspace, version.number) == (workspace, 1)
    assert version.document == default_policy().as_record()
    assert (version.author_kind, version.author_identity) == (SYSTEM.kind, SYSTEM.identity)


SLUG = "A slug is lower-case letters, digits and inner hyphens, 60 at most: acme-europe."


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("Acme", "--name", "A"), SLUG),
        (("-acme", "--name", "A"), None),
        (("acme-", "--name", "A"), SLUG),
        (("a" * 61, "--name", "A"), SLUG),
        (("acme", "--name", "  "), "A name is 1 to 120 letters."),
        (("acme", "--name", "a" * 121), "A name is 1 to 120 letters."),
        (
            ("acme", "--name", "A", "--time-zone", "Berlin"),
            "There is no time zone 'Berlin'; one is named as Europe/Berlin.",
        ),
        (("taken", "--name", "A"), "There is a workspace taken already."),
    ],
)
def test_what_can_be_no_workspace_is_refused(
    shell: Shell, arguments: tuple[str, ...], said: str | None
) -> None:
    make_workspace(slug="taken")
    ran = shell("workspace", "create", *arguments)
    assert ran.out == ""
    if said is None:
        assert ran.status == 2
    else:
        assert (ran.status, ran.err) == (1, f"CommandError: {said}\n")
    assert [workspace.slug for workspace in Workspace.objects.all()] == ["taken"]
    assert PolicyVersion.objects.count() == 1


def test_the_list_says_how_each_stands(shell: Shell) -> None:
    made = {slug: make_workspace(slug=slug, name=slug.title()) for slug in ("b", "a", "c")}
    shell("workspace", "pause", "b", "--yes")
    shell("workspace", "kill", "c", "--yes")
    ran = shell("workspace", "list")
    assert ran.out.splitlines() == [
        f"a\t{made['a'].public_id}\tUTC\trunning\tA",
        f"b\t{made['b'].public_id}\tUTC\tpaused\tB",
        f"c\t{made['c'].public_id}\tUTC\tkilled\tC",
    ]


@pytest.mark.parametrize(
    ("verb", "back", "column", "said", "again"),
    [
        ("pause", "resume", "paused_at", "acme is paused.", "acme was paused already, since "),
        ("kill", "unkill", "writes_killed_at", "acme writes nothing any more.", "acme was killed"),
    ],
)
def test_a_switch_is_kept_with_its_first_moment_and_can_be_put_back(
    shell: Shell, verb: str, back: str, column: str, said: str, again: str
) -> None:
    workspace = make_workspace(slug="acme")

    def moment() -> object:
        return Workspace.objects.values_list(column, flat=True).get()

    assert shell("workspace", verb, "acme", "--yes").out == f"{said}\n"
    since = moment()
    assert since is not None
    assert shell("workspace", verb, "acme", "--yes").out.startswith(again)
    assert moment() == since
    assert shell("workspace", back, "acme", "--yes").status == 0
    assert moment() is None
    assert shell("workspace", back, "acme", "--yes").out.startswith("acme was not ")
    assert workspace.slug == "acme"


@pytest.mark.parametrize("verb", ["pause", "resume", "kill", "unkill"])
def test_a_script_must_say_yes(shell: Shell, verb: str) -> None:
    make_workspace(slug="acme")
    ran = shell("workspace", verb, "acme", stdin="yes\n")
    said = "CommandError: There is no terminal to ask at: add --yes if it is meant.\n"
    assert (ran.status, ran.out, ran.err) == (1, "", said)
    assert Workspace.objects.filter(paused_at=None, writes_killed_at=None).exists()


def test_a_person_is_asked_and_only_yes_is_yes(shell: Shell) -> None:
    make_workspace(slug="acme")
    question = (
        "Every write of acme stops at once, those that are about to leave included. "
        "Type yes to go on: "
    )
    no = shell.at_terminal("workspace", "kill", "acme", typed="y\n")
    assert (no.status, no.out) == (1, question)
    assert no.err == "CommandError: Nothing was changed.\n"
    assert Workspace.objects.get().writes_killed_at is None
    yes = shell.at_terminal("workspace", "kill", "acme", typed="yes\n")
    assert (yes.status, yes.out) == (0, f"{question}acme writes nothing any more.\n")
    assert Workspace.objects.get().writes_killed_at is not None


def test_an_unknown_workspace_is_refused(shell: Shell) -> None:
    ran = shell("workspace", "kill", "acme", "--yes")
    assert ran.status == 1
    assert "There is no workspace 'acme'" in ran.err


def test_a_killed_workspace_sends_nothing_until_it_may_again(shell: Shell, stage: Stage) -> None:
    slug = stage.workspace.slug
    intent = stage.propose(stage.case())
    shell("workspace", "kill", slug, "--yes")
    assert stage.work(intent).state == State.HELD
    assert stage.shop.effects() == ()
    shell("workspace", "unkill", slug, "--yes")
    assert stage.work(intent).state == State.CONFIRMED
    assert len(stage.shop.effects()) == 1


def test_quiet_and_plain_are_understood_after_the_verb(shell: Shell) -> None:
    make_workspace(slug="acme")
    ran = shell("workspace", "pause", "acme", "--yes", "--no-color", "--verbosity", "0")
    assert (ran.status, ran.out, ran.err) == (0, "", "")
    assert Workspace.objects.get().paused_at is not None
