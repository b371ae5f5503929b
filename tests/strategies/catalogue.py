"""The guards that stand in a database, from its own catalogue: no new one can be forgotten.

Promises: every trigger, CHECK, UNIQUE, primary key and foreign key on the guarded tables is in
the list, by the name that a refusal carries.
Does not know what a guard means.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import psycopg

from tests.strategies.statements import MODELS


class Form(StrEnum):
    """What a guard is to PostgreSQL."""

    TRIGGER = "trigger"
    CHECK = "check"
    UNIQUE = "unique"
    REFERENCE = "reference"


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """One guard as it is installed."""

    name: str
    table: str
    form: Form
    columns: tuple[str, ...]
    """The columns that it looks at; those that a trigger's text names."""
    deferred: bool
    """Does it look at commit?"""


_TRIGGERS = """
    SELECT t.tgname, c.relname, 'trigger',
           ARRAY(SELECT DISTINCT m[1] FROM regexp_matches(p.prosrc, 'NEW[.]([a-z_]+)', 'g') m WHERE m[1] <> 'id' ORDER BY 1), t.tginitdeferred
    FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid
    WHERE NOT t.tgisinternal AND c.relname = ANY(%s)
"""
_CONSTRAINTS = """
    SELECT k.conname, c.relname, CASE k.contype WHEN 'c' THEN 'check' WHEN 'f' THEN 'reference' ELSE 'unique' END,
           ARRAY(SELECT a.attname::text FROM unnest(k.conkey) n JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = n), k.condeferred
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
    WHERE k.contype IN ('c', 'f', 'u', 'p') AND c.relname = ANY(%s)
"""
# Unique indexes with a condition are no constraints, and refuse all the same. The `_scope` indexes,
# which scoped references point at, contain the primary key and refuse nothing that it lets in.
_INDEXES = """
    SELECT i.relname, c.relname, 'unique',
           ARRAY(SELECT a.attname::text FROM unnest(x.indkey::smallint[]) n JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = n), false
    FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class c ON c.oid = x.indrelid
    WHERE x.indisunique AND c.relname = ANY(%s) AND i.relname <> c.relname || '_scope'
      AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = x.indexrelid AND k.contype IN ('u', 'p'))
"""


def installed(owner: psycopg.Connection) -> Sequence[Installed]:
    """Return every guard on the guarded tables, by name."""
    tables = sorted(MODELS)
    rows = [
        row
        for query in (_TRIGGERS, _CONSTRAINTS, _INDEXES)
        for row in owner.execute(query, [tables]).fetchall()
    ]
    return sorted(
        (
            Installed(
                name=name, table=table, form=Form(form), columns=tuple(columns), deferred=deferred
            )
            for name, table, form, columns, deferred in rows
        ),
        key=lambda guard: guard.name,
    )
