"""`manage.py member`: people get into a workspace's Console, each with one role."""

import getpass

import pytest
from django.contrib.auth.models import User

from integrations.models import Membership
from tests.factories import make_workspace
from tests.integrations.commands.running import Shell

pytestmark = pytest.mark.django_db(transaction=True)

PASSWORD = "a canary that sings alone"


def add(shell: Shell, *, role: str = "human_node", password: str = f"{PASSWORD}\n") -> object:
    return shell("member", "add", "acme", "ada", "--role", role, stdin=password)


def test_a_new_member_can_log_in_to_the_console(shell: Shell) -> None:
    workspace = make_workspace(slug="acme")
    ran = shell("member", "add", "acme", "ada", "--role", "human_node", stdin=f"{PASSWORD}\n")
    user = User.objects.get()
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == "ada, a new user, is Human Node in acme.\n"
    assert user.check_password(PASSWORD)
    assert (user.username, user.is_staff, user.is_superuser) == ("ada", True, False)
    member = Membership.objects.get()
    assert (member.workspace, member.user, member.role) == (workspace, user, "human_node")


def test_a_user_keeps_the_password_and_gets_another_role(shell: Shell) -> None:
    make_workspace(slug="acme")
    add(shell)
    ran = shell("member", "add", "acme", "ada", "--role", "auditor", stdin="")
    assert (ran.status, ran.out) == (0, "ada is Auditor in acme.\n")
    assert User.objects.get().check_password(PASSWORD)
    assert Membership.objects.get().role == "auditor"


def test_a_user_may_work_in_two_workspaces(shell: Shell) -> None:
    for slug in ("acme", "bolt"):
        make_workspace(slug=slug)
    add(shell)
    assert shell("member", "add", "bolt", "ada", "--role", "approver").status == 0
    roles = Membership.objects.order_by("pk").values_list("workspace__slug", "role")
    assert list(roles) == [("acme", "human_node"), ("bolt", "approver")]


@pytest.mark.parametrize(
    ("password", "said"),
    [
        ("", "No password was given."),
        ("one\ntwo", "The password is more than one line."),
        ("short", "This password is too short. It must contain at least 8 characters."),
        ("12345678901", "This password is too common. This password is entirely numeric."),
    ],
)
def test_an_unfit_password_makes_nobody(shell: Shell, password: str, said: str) -> None:
    make_workspace(slug="acme")
    ran = shell("member", "add", "acme", "ada", "--role", "auditor", stdin=password)
    assert (ran.status, ran.out, ran.err) == (1, "", f"CommandError: {said}\n")
    assert not User.objects.exists()
    assert not Membership.objects.exists()


def test_an_unfit_name_makes_nobody(shell: Shell) -> None:
    make_workspace(slug="acme")
    ran = shell("member", "add", "acme", "a b", "--role", "auditor", stdin=PASSWORD)
    assert ran.status == 1
    assert ran.err.startswith("CommandError: Enter a valid username.")
    ran = shell("member", "add", "acme", "a" * 121, "--role", "auditor", stdin=PASSWORD)
    assert (ran.status, ran.err.strip()) == (1, "CommandError: A username is 120 letters at most.")
    assert not User.objects.exists()


def test_at_a_terminal_the_password_is_asked_for_twice_without_echo(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_workspace(slug="acme")
    typed = [PASSWORD, "another", PASSWORD, PASSWORD]
    prompts: list[str] = []

    def answer(prompt: str) -> str:
        prompts.append(prompt)
        return typed.pop(0)

    monkeypatch.setattr("integrations.terminal.getpass", answer)
    arguments = ("member", "add", "acme", "ada", "--role", "auditor")
    ran = shell.at_terminal(*arguments, typed="")
    assert (ran.status, ran.err) == (1, "CommandError: The two passwords differ.\n")
    assert not User.objects.exists()
    ran = shell.at_terminal(*arguments, typed="")
    assert (ran.status, ran.err) == (0, "")
    assert prompts == ["password: ", "password again: "] * 2
    assert PASSWORD not in ran.out
    assert getpass.getpass is not answer


def test_who_is_removed_is_no_member_and_stays_a_user(shell: Shell) -> None:
    make_workspace(slug="acme")
    add(shell)
    ran = shell("member", "remove", "acme", "ada")
    assert (ran.status, ran.out) == (0, "ada is no member of acme any more.\n")
    assert not Membership.objects.exists()
    assert User.objects.count() == 1
    ran = shell("member", "remove", "acme", "ada")
    assert (ran.status, ran.err) == (1, "CommandError: ada is no member of acme.\n")


def test_the_list_shows_this_workspaces_members_alone(shell: Shell) -> None:
    for slug in ("acme", "bolt"):
        make_workspace(slug=slug)
    for slug, name in (("acme", "zoe"), ("acme", "ada"), ("bolt", "bob")):
        shell("member", "add", slug, name, "--role", "operator", stdin=PASSWORD)
    assert shell("member", "list", "acme").out == "ada\toperator\nzoe\toperator\n"


def test_an_unknown_role_is_refused_with_those_that_there_are(shell: Shell) -> None:
    make_workspace(slug="acme")
    ran = shell("member", "add", "acme", "ada", "--role", "boss", stdin=PASSWORD)
    assert ran.status == 2
    assert "brand_admin" in ran.err
    assert not User.objects.exists()
