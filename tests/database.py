"""The test database: made and reset by the owner's role, used by the application's.

Promises: each xdist worker has one of its own; after a test that committed, every table is empty
again, evidence tables included, whose triggers refuse that to everyone else.
Does not know: any table by name but Django's own.
"""

from __future__ import annotations

from dataclasses import dataclass

import psycopg
from psycopg import sql

from razviel.embedded.roles import open_to_application

# Filled by migrate itself, and needed by every test.
KEPT_TABLES = ("django_migrations", "django_content_type", "auth_permission")
_TRUNCATE_TRIGGERS = """
    SELECT c.relname, t.tgname, t.tgenabled FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
    WHERE NOT t.tgisinternal AND t.tgenabled <> 'D' AND t.tgtype & 32 <> 0
      AND c.relnamespace = 'public'::regnamespace
"""
_ENABLE = {"O": "ENABLE", "A": "ENABLE ALWAYS", "R": "ENABLE REPLICA"}


@dataclass(slots=True, kw_only=True)
class TestDatabase:
    """One database for one worker, and the owner's connection to it."""

    __test__ = False

    name: str
    owner_parameters: dict[str, object]
    application_parameters: dict[str, object]
    connection: psycopg.Connection | None = None

    def create(self) -> None:
        """Make the database anew, open to the application as in production."""
        with self._connect(str(self.owner_parameters["dbname"])) as server:
            self._drop_with(server)
            server.execute(
                sql.SQL("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'").format(
                    sql.Identifier(self.name)
                )
            )
        self.connection = self._connect(self.name)
        owner = self.connection.info.user
        open_to_application(
            self.connection, owner=owner, application=str(self.application_parameters["user"])
        )

    def reset(self) -> None:
        """Empty every table that has rows, whatever its triggers say."""
        owner = self._own()
        with owner.transaction():
            filled = self.tables_with_rows()
            if not filled:
                return
            triggers = owner.execute(_TRUNCATE_TRIGGERS).fetchall()
            for table, trigger, _ in triggers:
                _alter(owner, table=table, trigger=trigger, how="DISABLE")
            owner.execute(
                sql.SQL("TRUNCATE {} CASCADE").format(
                    sql.SQL(", ").join(sql.Identifier(name) for name in filled)
                )
            )
            for table, trigger, enabled in triggers:
                _alter(owner, table=table, trigger=trigger, how=_ENABLE[enabled])

    def tables_with_rows(self) -> list[str]:
        """Return the tables that hold a row, but for those that migrate fills."""
        owner = self._own()
        tables = [
            str(row[0])
            for row in owner.execute(
                "SELECT tablename FROM pg_tables WHERE schemaname = 'public' "
                "AND tablename <> ALL(%s) ORDER BY 1",
                [list(KEPT_TABLES)],
            )
        ]
        if not tables:
            return []
        questions = sql.SQL(", ").join(
            sql.SQL("EXISTS (SELECT 1 FROM {})").format(sql.Identifier(name)) for name in tables
        )
        answers = owner.execute(sql.SQL("SELECT {}").format(questions)).fetchone() or ()
        return [name for name, has_rows in zip(tables, answers, strict=True) if has_rows]

    def drop(self) -> None:
        """Remove the database, whoever is still connected to it."""
        if self.connection is not None:
            self.connection.close()
        with self._connect(str(self.owner_parameters["dbname"])) as server:
            self._drop_with(server)

    def _drop_with(self, server: psycopg.Connection) -> None:
        """Drop without FORCE, which the owner may not use on the application's sessions.

        Nor on an autovacuum's, which a plain DROP ends by itself. Only the application may end its
        own, such as those of workers that a test has killed.
        """
        maintenance = {**self.application_parameters, "dbname": self.owner_parameters["dbname"]}
        with psycopg.connect(autocommit=True, **maintenance) as application:  # type: ignore[arg-type] # libpq's own
            application.execute(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
                "WHERE datname = %s AND usename = current_user",
                [self.name],
            )
        server.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(self.name)))

    def _connect(self, database: str) -> psycopg.Connection:
        parameters = {**self.owner_parameters, "dbname": database}
        return psycopg.connect(autocommit=True, **parameters)  # type: ignore[arg-type] # libpq's own

    def _own(self) -> psycopg.Connection:
        if self.connection is None:
            message = "The test database was not made."
            raise RuntimeError(message)
        return self.connection


def _alter(owner: psycopg.Connection, *, table: str, trigger: str, how: str) -> None:
    owner.execute(
        sql.SQL("ALTER TABLE {} {} TRIGGER {}").format(
            sql.Identifier(table), sql.SQL(how), sql.Identifier(trigger)
        )
    )
