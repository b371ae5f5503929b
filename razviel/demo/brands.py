"""A brand made by the product's own commands: workspace, store, tokens, member.

Promises: nothing is written but by the commands that an operator uses; secrets go in by standard
input and come out by standard output, never by an argument.
Does not know what the brand is for.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO

from django.core.management import call_command

from integrations.actors import Actor
from integrations.sandbox.surface import ShopControls


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """Who may look at the Console."""

    username: str
    password: str


def make_workspace(slug: str, *, name: str) -> None:
    """Make a workspace with the default policy."""
    _command("workspace", "create", slug, "--name", name)


def connect_shop(slug: str, shop: ShopControls, *, time_scale: str) -> None:
    """Connect a simulated store, with its token on standard input."""
    where = ["--workspace", slug, "--shop", shop.name, "--base-url", shop.url]
    with _typed(shop.token):
        _command("connect", "shopify", *where, "--sandbox", "--time-scale", time_scale)


def make_token(slug: str, *, actor: Actor) -> str:
    """Make an API token that speaks for an actor, and return it."""
    who = ["--actor-kind", actor.kind.value, "--actor-identity", actor.identity]
    return _command("token", "create", slug, "--name", f"{actor.identity} (demo)", *who).strip()


def add_member(slug: str, *, login: Login) -> None:
    """Let a person into the Console; their password is set where they are new."""
    with _typed(login.password):
        _command("member", "add", slug, login.username, "--role", "brand_admin")


def _command(*words: str) -> str:
    """Run a command of manage.py and return what it printed for a pipe."""
    printed = StringIO()
    call_command(*words, stdout=printed, stderr=StringIO())
    return printed.getvalue()


@contextmanager
def _typed(line: str) -> Iterator[None]:
    """Let a command read a line from standard input."""
    before, sys.stdin = sys.stdin, StringIO(f"{line}\n")
    try:
        yield
    finally:
        sys.stdin = before
