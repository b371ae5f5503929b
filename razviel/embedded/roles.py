"""Two database roles: the owner of the tables, and the application, which owns nothing.

Promises: given a superuser's address, both roles and the database exist afterwards and the same
addresses come out each time; the application may connect and look up names in schema public,
and create nothing. What it may do with each table is granted by the migrations.
Does not know: any table.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit, urlunsplit

import psycopg
from psycopg import sql

from razviel.embedded.faults import UnfitRole

OWNER = "razviel_owner"
APPLICATION = "razviel_app"
_DEFAULT_DATABASE = "razviel"
_MAINTENANCE_DATABASES = ("", "postgres", "template1")
_OLDEST_VERSION = 150000
_SET_UP_LOCK = 0x727A76  # any constant: one set-up at a time on a server
_CONNECT_TIMEOUT_SECONDS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleUrls:
    """The addresses of one database for its two roles."""

    owner: str
    application: str


def provision(superuser_url: str, *, with_passwords: bool = True) -> RoleUrls:
    """Create what is missing of both roles and the database, and return their addresses.

    Args:
        superuser_url: a superuser's address; its database is used unless it is `postgres`.
        with_passwords: False only where the server trusts whoever reaches its socket.

    Raises:
        UnfitRole: not reachable, not a superuser, too old, or the new roles can't log in.
    """
    database = unquote(urlsplit(superuser_url).path.lstrip("/"))
    if database in _MAINTENANCE_DATABASES:
        database = _DEFAULT_DATABASE
    with _connect(_address(superuser_url, database="postgres")) as server:
        _check_superuser(server)
        server.execute("SELECT pg_advisory_lock(%s)", [_SET_UP_LOCK])
        passwords = _ensure_roles(server, with_passwords=with_passwords)
        _ensure_database(server, database)
    with _connect(_address(superuser_url, database=database)) as connection:
        open_to_application(connection, owner=OWNER, application=APPLICATION)
    urls = RoleUrls(
        owner=_address(superuser_url, database=database, login=(OWNER, passwords[OWNER])),
        application=_address(
            superuser_url, database=database, login=(APPLICATION, passwords[APPLICATION])
        ),
    )
    for url in (urls.owner, urls.application):
        _connect(url).close()
    return urls


def open_to_application(connection: psycopg.Connection, *, owner: str, application: str) -> None:
    """Let the application connect to this database, and nobody but the owner create in it."""
    for statement in (
        "REVOKE ALL ON DATABASE {database} FROM PUBLIC",
        "GRANT CONNECT ON DATABASE {database} TO {application}",
        "GRANT ALL ON DATABASE {database} TO {owner}",
        "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
        "GRANT USAGE ON SCHEMA public TO {application}",
        "GRANT USAGE, CREATE ON SCHEMA public TO {owner}",
    ):
        connection.execute(
            sql.SQL(statement).format(
                database=sql.Identifier(connection.info.dbname),
                owner=sql.Identifier(owner),
                application=sql.Identifier(application),
            )
        )


def _connect(url: str) -> psycopg.Connection:
    try:
        return psycopg.connect(url, autocommit=True, connect_timeout=_CONNECT_TIMEOUT_SECONDS)
    except psycopg.OperationalError as cause:
        parts = urlsplit(url)
        message = (
            f"The database does not let {parts.username or 'us'} in at "
            f"{parts.hostname or 'its socket'}{parts.path}: {cause}"
        )
        raise UnfitRole(message) from cause


def _check_superuser(server: psycopg.Connection) -> None:
    row = server.execute(
        "SELECT rolsuper, current_user FROM pg_roles WHERE rolname = current_user"
    ).fetchone()
    if row is None or not row[0]:
        message = (
            f"DATABASE_URL is the address of {server.info.user}, which is no superuser, and "
            "DATABASE_OWNER_URL is not set. Set both (DATABASE_OWNER_URL: the role that owns the "
            "tables; DATABASE_URL: the role that the code runs as), or give a superuser's "
            "DATABASE_URL alone and both are made."
        )
        raise UnfitRole(message)
    if server.info.server_version < _OLDEST_VERSION:
        message = "PostgreSQL 15 or newer is needed: before it every role may create tables."
        raise UnfitRole(message)


def _ensure_roles(server: psycopg.Connection, *, with_passwords: bool) -> dict[str, str | None]:
    passwords: dict[str, str | None] = {}
    # The owner may create databases because each test worker has one of its own.
    for name, right in ((OWNER, "CREATEDB"), (APPLICATION, "NOCREATEDB")):
        known = server.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [name]).fetchone()
        if known is None:
            server.execute(sql.SQL("CREATE ROLE {}").format(sql.Identifier(name)))
        attributes = f"LOGIN NOSUPERUSER NOCREATEROLE NOREPLICATION NOBYPASSRLS {right}"
        server.execute(
            sql.SQL("ALTER ROLE {} WITH {}").format(sql.Identifier(name), sql.SQL(attributes))
        )
        passwords[name] = _ensure_password(server, name) if with_passwords else None
    return passwords


def _ensure_password(server: psycopg.Connection, name: str) -> str:
    """Return the role's password, drawn once and kept where only a superuser reads it.

    Kept in the server, so that other clones of the project on this machine find the same one.
    """
    server.execute("CREATE SCHEMA IF NOT EXISTS razviel_setup")
    server.execute(
        "CREATE TABLE IF NOT EXISTS razviel_setup.login (role name PRIMARY KEY, password text)"
    )
    server.execute("REVOKE ALL ON SCHEMA razviel_setup FROM PUBLIC")
    row = server.execute(
        "SELECT password FROM razviel_setup.login WHERE role = %s", [name]
    ).fetchone()
    password = str(row[0]) if row is not None else secrets.token_urlsafe(24)
    server.execute(
        "INSERT INTO razviel_setup.login VALUES (%s, %s) ON CONFLICT DO NOTHING", [name, password]
    )
    server.execute(
        sql.SQL("ALTER ROLE {} WITH PASSWORD {}").format(
            sql.Identifier(name), sql.Literal(password)
        )
    )
    return password


def _ensure_database(server: psycopg.Connection, database: str) -> None:
    known = server.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database]).fetchone()
    if known is None:
        server.execute(
            sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE template0 ENCODING 'UTF8'").format(
                sql.Identifier(database), sql.Identifier(OWNER)
            )
        )


def _address(url: str, *, database: str, login: tuple[str, str | None] | None = None) -> str:
    """Return the address with another database and, if given, another login."""
    parts = urlsplit(url)
    place = parts.netloc.rpartition("@")
    user = place[0]
    if login is not None:
        name, password = login
        user = name if password is None else f"{name}:{quote(password, safe='')}"
    netloc = f"{user}@{place[2]}" if user else place[2]
    return urlunsplit((parts.scheme, netloc, f"/{quote(database)}", parts.query, ""))
