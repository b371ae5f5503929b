"""Statements as values, and rows with every column that a model declares.

Promises: a statement is plain data, so that it can be built, changed, dropped or repeated before
it is sent; the SQL is written here alone.
Does not know which statements are right.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum

from django.apps import apps
from django.db import models
from psycopg.types.json import Jsonb

from integrations.rows import GuardedRow


class Verb(StrEnum):
    """What a statement does to one row."""

    INSERT = "insert"
    UPDATE = "update"
    DELETE = "delete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One statement on one row."""

    verb: Verb
    table: str
    row_id: int
    values: Mapping[str, object] = field(default_factory=dict)

    def sql(self) -> tuple[str, list[object]]:
        """Return the text and its arguments."""
        columns = list(self.values)
        match self.verb:
            case Verb.INSERT:
                names = ", ".join(f'"{name}"' for name in ("id", *columns))
                marks = ", ".join(["%s"] * (len(columns) + 1))
                text = f"INSERT INTO {self.table} ({names}) VALUES ({marks})"
                return text, [self.row_id, *self.values.values()]
            case Verb.UPDATE:
                changes = ", ".join(f'"{name}" = %s' for name in columns)
                text = f"UPDATE {self.table} SET {changes} WHERE id = %s"
                return text, [*self.values.values(), self.row_id]
            case Verb.DELETE:
                text = f"DELETE FROM {self.table} WHERE id = %s"
                return text, [self.row_id]

    def but(self, **values: object) -> "Statement":
        """Return the same statement with other values."""
        return replace(self, values={**self.values, **values})


def insert(table: str, row_id: int, **values: object) -> Statement:
    """Return an insert of a whole row: what is not given stands as the model's own default."""
    return Statement(
        verb=Verb.INSERT, table=table, row_id=row_id, values=_blank(table) | _adapted(table, values)
    )


def update(table: str, row_id: int, **values: object) -> Statement:
    """Return an update of one row."""
    return Statement(verb=Verb.UPDATE, table=table, row_id=row_id, values=_adapted(table, values))


def delete(table: str, row_id: int) -> Statement:
    """Return a delete of one row."""
    return Statement(verb=Verb.DELETE, table=table, row_id=row_id)


MODELS: dict[str, type[GuardedRow]] = {
    model._meta.db_table: model for model in apps.get_models() if issubclass(model, GuardedRow)
}
"""Every guarded model, by its table."""

FIELDS: dict[str, dict[str, "models.Field[object, object]"]] = {
    table: {f.column: f for f in model._meta.concrete_fields if f.column and f.column != "id"}
    for table, model in MODELS.items()
}
"""The fields of every guarded table, by column."""


def _blank(table: str) -> dict[str, object]:
    row: dict[str, object] = {}
    for column, described in FIELDS[table].items():
        if described.db_default is not models.NOT_PROVIDED:
            continue
        row[column] = described.get_default()
    return _adapted(table, row)


def _adapted(table: str, values: Mapping[str, object]) -> dict[str, object]:
    return {column: _one(FIELDS[table][column], value) for column, value in values.items()}


def _one(described: "models.Field[object, object]", value: object) -> object:
    if isinstance(described, models.JSONField) and not isinstance(value, Jsonb):
        return Jsonb(value)
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, Decimal) and value.is_nan():
        return "NaN"
    return value
