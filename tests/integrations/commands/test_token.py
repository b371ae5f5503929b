"""`manage.py token`: shown once, alone on standard output, and never again."""

import re
from hashlib import sha256

import pytest
from structlog.testing import capture_logs

from integrations.models import ApiToken
from tests.factories import make_workspace
from tests.integrations.commands.running import Ran, Shell

pytestmark = pytest.mark.django_db(transaction=True)


def create(shell: Shell, slug: str = "acme", *, kind: str = "ai", identity: str = "bot") -> Ran:
    arguments = ("--name", "the bot", "--actor-kind", kind, "--actor-identity", identity)
    return shell("token", "create", slug, *arguments)


def test_a_token_stands_alone_on_standard_output(shell: Shell) -> None:
    workspace = make_workspace(slug="acme")
    with capture_logs() as events:
        ran = create(shell)
    token = ApiToken.objects.get()
    assert ran.status == 0
    assert re.fullmatch(r"rzv_[A-Za-z0-9_-]{43}\n", ran.out)
    assert ran.err == (
        f"{token.public_id} speaks for ai:bot in acme. It is shown this once: keep it now.\n"
    )
    assert (token.workspace, token.name) == (workspace, "the bot")
    assert (token.actor_kind, token.actor_identity) == ("ai", "bot")
    assert token.digest == sha256(ran.out.strip().encode()).hexdigest()
    assert ran.out.strip() not in repr(events)


def test_quiet_prints_the_token_and_nothing_else(shell: Shell) -> None:
    make_workspace(slug="acme")
    arguments = ("--name", "n", "--actor-kind", "system", "--actor-identity", "i")
    ran = shell("token", "create", "acme", *arguments, "-v", "0")
    assert len(ran.out) == 48
    assert ran.err == ""


def test_the_list_tells_all_but_the_tokens(shell: Shell) -> None:
    make_workspace(slug="acme")
    make_workspace(slug="bolt")
    plain = [create(shell).out.strip(), create(shell, identity="two").out.strip()]
    create(shell, "bolt")
    first, second, _ = ApiToken.objects.order_by("pk")
    shell("token", "revoke", "acme", second.public_id)
    ran = shell("token", "list", "acme")
    assert ran.out.splitlines() == [
        f"{first.public_id}\tai:bot\tvalid\tthe bot",
        f"{second.public_id}\tai:two\trevoked\tthe bot",
    ]
    assert not any(token in ran.out for token in plain)
    assert first.digest not in ran.out


def test_a_revoked_token_stays_revoked_since_the_first_time(shell: Shell) -> None:
    make_workspace(slug="acme")
    create(shell)
    token = ApiToken.objects.get()
    said = shell("token", "revoke", "acme", token.public_id)
    token.refresh_from_db()
    expected = f"{token.public_id} (the bot) is revoked since {token.revoked_at}.\n"
    assert (said.status, said.out) == (0, expected)
    assert token.revoked_at is not None
    assert shell("token", "revoke", "acme", token.public_id).out == expected


def test_a_foreign_token_is_not_revoked_and_a_secret_is_not_repeated(shell: Shell) -> None:
    make_workspace(slug="acme")
    make_workspace(slug="bolt")
    plain = create(shell, "bolt").out.strip()
    token = ApiToken.objects.get()
    for given in (token.public_id, plain):
        ran = shell("token", "revoke", "acme", given)
        assert (ran.status, ran.out) == (1, "")
        assert ran.err == (
            "CommandError: acme has no such token: give its id, as `manage.py token list acme` "
            "shows it.\n"
        )
    token.refresh_from_db()
    assert token.revoked_at is None


@pytest.mark.parametrize("identity", ["", "  ", "i" * 121])
def test_an_actor_has_a_name(shell: Shell, identity: str) -> None:
    make_workspace(slug="acme")
    ran = create(shell, identity=identity)
    said = "CommandError: A name and an actor's identity are 1 to 120 letters.\n"
    assert (ran.status, ran.out, ran.err) == (1, "", said)
    assert not ApiToken.objects.exists()


def test_an_unknown_kind_of_actor_is_refused(shell: Shell) -> None:
    make_workspace(slug="acme")
    ran = create(shell, kind="robot")
    assert ran.status == 2
    assert not ApiToken.objects.exists()
