"""Two roles: one owns the tables, the other is what the code runs as."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from razviel.embedded.account import server_account
from razviel.embedded.faults import UnfitRole
from razviel.embedded.roles import provision
from razviel.embedded.servers import start_postgres
from razviel.embedded.state import open_throw_away
from razviel.embedded.surroundings import surroundings

# As a server of somebody's own: the superuser is trusted, everyone else gives a password.
STRICT_LOGINS = "local all postgres trust\nlocal all all scram-sha-256\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A PostgreSQL that asks for passwords."""

    superuser_url: str

    def url(self, *, database: str) -> str:
        return self.superuser_url.replace("/postgres?", f"/{database}?")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    account = server_account()
    folder = open_throw_away(account)
    child, program, url = start_postgres(
        account, sockets=folder.path, data_root=folder.path, durable=False
    )
    logins: Path = folder.path / f"pg{program.major}" / "pg_hba.conf"
    logins.write_text(STRICT_LOGINS)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SELECT pg_reload_conf()")
    yield Server(superuser_url=url)
    child.stop(timeout_seconds=15)
    folder.release()


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE mine (id integer)",
        "CREATE TEMPORARY TABLE mine (id integer)",
        "CREATE SCHEMA mine",
        "CREATE DATABASE mine",
        "CREATE ROLE mine",
        "SET ROLE razviel_owner",
        "SET session_replication_role = replica",
    ],
)
def test_the_application_can_create_and_become_nothing(server: Server, statement: str) -> None:
    urls = provision(server.superuser_url)
    with (
        psycopg.connect(urls.application, autocommit=True) as connection,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        connection.execute(statement)


def test_the_application_sees_a_table_only_when_it_is_granted(server: Server) -> None:
    urls = provision(server.url(database="granted"))
    with (
        psycopg.connect(urls.owner, autocommit=True) as owner,
        psycopg.connect(urls.application, autocommit=True) as application,
    ):
        owner.execute("CREATE TABLE evidence (id integer)")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            application.execute("SELECT * FROM evidence")
        owner.execute("GRANT SELECT ON evidence TO razviel_app")
        assert application.execute("SELECT * FROM evidence").fetchall() == []


def test_repeated_calls_return_the_same_addresses(server: Server) -> None:
    assert provision(server.superuser_url) == provision(server.superuser_url)


def test_a_lost_password_is_drawn_anew(server: Server) -> None:
    before = provision(server.superuser_url)
    with psycopg.connect(server.superuser_url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA razviel_setup CASCADE")
    after = provision(server.superuser_url)
    assert after != before
    psycopg.connect(after.application).close()


def test_the_kept_passwords_are_closed_to_both_roles(server: Server) -> None:
    urls = provision(server.superuser_url)
    for url in (urls.owner, urls.application):
        elsewhere = url.replace("/razviel?", "/postgres?")
        with (
            psycopg.connect(elsewhere) as connection,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            connection.execute("SELECT * FROM razviel_setup.login")


def test_a_named_database_is_used_and_postgres_itself_is_not(server: Server) -> None:
    named = provision(server.url(database="my%20shop"))
    assert urlsplit(named.application).path == "/my%20shop"
    psycopg.connect(named.application).close()
    assert urlsplit(provision(server.superuser_url).application).path == "/razviel"


def test_an_ordinary_role_alone_is_refused_with_what_to_set(server: Server) -> None:
    urls = provision(server.superuser_url)
    given = {"DATABASE_URL": urls.application, "REDIS_URL": "redis://127.0.0.1:1/0"}
    refused = pytest.raises(UnfitRole, match="no superuser, and DATABASE_OWNER_URL is not set")
    with refused, surroundings(given, durable=False):
        pass


def test_an_unreachable_database_is_told_without_the_password(tmp_path: Path) -> None:
    with pytest.raises(UnfitRole) as refused:
        provision(f"postgres://someone:hidden@/razviel?host={tmp_path}")
    assert "does not let someone in" in str(refused.value)
    assert "hidden" not in str(refused.value)


def test_both_addresses_are_used_as_they_are_and_nothing_is_started() -> None:
    given = {
        "DATABASE_URL": "postgres://app@/mine",
        "DATABASE_OWNER_URL": "postgres://owner@/mine",
        "REDIS_URL": "redis://127.0.0.1:1/0",
    }
    with surroundings(given, durable=False) as made:
        assert made.environment == given


def test_a_superusers_address_alone_becomes_both_roles(server: Server) -> None:
    given = {"DATABASE_URL": server.superuser_url, "REDIS_URL": "redis://127.0.0.1:1/0"}
    with surroundings(given, durable=False) as made:
        assert urlsplit(made.environment["DATABASE_URL"]).username == "razviel_app"
        assert urlsplit(made.environment["DATABASE_OWNER_URL"]).username == "razviel_owner"
        psycopg.connect(made.environment["DATABASE_URL"]).close()
