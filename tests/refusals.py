"""Raw SQL as the application's role, and what the database says to it.

Promises: a refusal is asserted by the guard's own name, and by its sentence where a guard has
several; what looks at commit is made to look here, so that a test needs no commit.
Does not use models to write: a guard must hold for SQL that no model has seen.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast
from uuid import UUID

import psycopg
import pytest
from django.db import IntegrityError, ProgrammingError, connection, transaction

from integrations.rows import new_public_id
from tests.strategies.statements import FIELDS

_FRESH = {
    "public_id",
    "marker",
    "key",
    "external_id",
    "identifier",
    "domain",
    "account",
    "slug",
}
"""Columns whose values no second row may have."""


def execute(sql: str, *arguments: object) -> list[tuple[object, ...]]:
    """Run one statement; return its rows, if it has any."""
    with connection.cursor() as cursor:
        cursor.execute(sql, cast("tuple[str, ...]", arguments))
        return list(cursor.fetchall()) if cursor.description else []


def change(table: str, row_id: int, **values: object) -> None:
    """Update one row."""
    changes = ", ".join(f'"{column}" = %s' for column in values)
    execute(f"UPDATE {table} SET {changes} WHERE id = %s", *values.values(), row_id)


def add(table: str, **values: object) -> None:
    """Insert one row."""
    names = ", ".join(f'"{column}"' for column in values)
    marks = ", ".join(["%s"] * len(values))
    execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", *values.values())


def delete(table: str, row_id: int) -> None:
    """Delete one row."""
    execute(f"DELETE FROM {table} WHERE id = %s", row_id)


def value_of(table: str, row_id: int, column: str) -> object:
    """Return one value of one row."""
    ((value,),) = execute(f'SELECT "{column}" FROM {table} WHERE id = %s', row_id)
    return value


def copy(table: str, row_id: int, **values: object) -> int:
    """Insert a row like another one, but for what is given; what must be unique is made anew."""
    columns = list(FIELDS[table])
    unique = {column for column in columns if column in _FRESH or FIELDS[table][column].unique}
    fresh = {column: _fresh(column) for column in unique}
    given = {column: value for column, value in (fresh | values).items() if column in columns}
    chosen = ", ".join("%s" if column in given else f'"{column}"' for column in columns)
    names = ", ".join(f'"{column}"' for column in columns)
    arguments = [given[column] for column in columns if column in given]
    rows = execute(
        f"INSERT INTO {table} ({names}) SELECT {chosen} FROM {table} WHERE id = %s RETURNING id",
        *arguments,
        row_id,
    )
    return int(str(rows[0][0]))


def _fresh(column: str) -> object:
    word = new_public_id("new")
    return UUID(bytes=word.encode()[-16:]) if column == "key" else word


@contextmanager
def accepted() -> Iterator[None]:
    """Let the block's statements be accepted, what looks at commit included."""
    if connection.in_atomic_block:
        _look_at_what_waits()
    with transaction.atomic():
        yield
        execute("SET CONSTRAINTS ALL IMMEDIATE")
    if connection.in_atomic_block:
        _look_at_what_waits()


def _look_at_what_waits() -> None:
    execute("SET CONSTRAINTS ALL IMMEDIATE")
    execute("SET CONSTRAINTS ALL DEFERRED")


@contextmanager
def refused_by(guard: str, sentence: str = "") -> Iterator[None]:
    """Have the block's statements refused by one guard, at once or at commit; nothing stays."""
    with pytest.raises(IntegrityError) as caught, accepted():
        yield
    said = _cause(caught.value)
    assert said.diag.constraint_name == guard
    assert sentence in (said.diag.message_primary or "")


@contextmanager
def not_permitted() -> Iterator[None]:
    """Have the block's statements refused for want of a privilege."""
    with pytest.raises(ProgrammingError) as caught, transaction.atomic():
        yield
    assert isinstance(_cause(caught.value), psycopg.errors.InsufficientPrivilege)


def _cause(error: BaseException) -> psycopg.Error:
    cause = error.__cause__
    assert isinstance(cause, psycopg.Error)
    return cause
