"""Variants of a legal statement: other values, of what a column may hold or another row holds.

Promises: a variant is drawn by name, so that one that met a guard can be drawn again for another
statement.
Does not know which variants a guard refuses: that is found out by sending them.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from hashlib import sha256

from django.db import models

from actions.states import FailedReason, HeldReason, NeedsHuman, State
from integrations.actors import ActorKind
from tests.strategies.statements import FIELDS, MODELS, Statement, Verb
from tests.strategies.world import NoSuchRow, World

Draw = Callable[[World, str, str, object], object]
"""From the world, a table, a column and the legal value to another value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """How a statement is changed: for each column named, a way to draw its value."""

    verb: Verb
    drawn: Mapping[str, str]
    copied: tuple[str, ...] = ()
    """Columns whose values are taken together from one other row of the table."""
    fresh: tuple[str, ...] = ()
    """Columns drawn anew for a second row beside the legal one; empty: it stands in its place."""
    consistent: bool = False
    """Is an event's body written anew, so that it says what its columns say?"""

    def of(self, statement: Statement, world: World) -> Statement:
        """Return the variant of a legal statement.

        Raises:
            NoSuchRow: There is no row to copy from.
        """
        values = dict(statement.values)
        if self.fresh:
            return _beside(statement, world, fresh=self.fresh)
        if self.copied:
            other = world.row(statement.table)
            if "id" in self.copied:
                statement = replace(statement, row_id=int(str(other["id"])))
            values |= {column: other[column] for column in self.copied if column in values}
        for column, way in self.drawn.items():
            values[column] = WAYS[way](world, statement.table, column, values.get(column))
        changed = replace(statement, values=values)
        return consistent(changed) if self.consistent else changed


def consistent(event: Statement) -> Statement:
    """Return an event whose body and digest say what its columns say."""
    values = event.values
    content = json.loads(str(values["body"])) | {
        "by_kind": values["by_kind"],
        "by": values["by_identity"],
        "name": values["name"],
        "number": values["number"],
        "from": values["from_state"],
        "to": values["to_state"],
        "reason": values["reason"],
    }
    body = json.dumps(content, sort_keys=True, separators=(",", ":"))
    digest = sha256((str(values["previous_digest"]) + body).encode()).hexdigest()
    return event.but(body=body, digest=digest)


def _beside(statement: Statement, world: World, *, fresh: Sequence[str]) -> Statement:
    fields = FIELDS[statement.table]
    values = {
        c: _fresh(world, fields[c], v) if c in fresh else v for c, v in statement.values.items()
    }
    return replace(statement, row_id=world.new_id(statement.table), values=values)


def _fresh(world: World, described: "models.Field[object, object]", value: object) -> object:
    if isinstance(described, models.IntegerField):
        return int(str(value)) + 1
    if isinstance(described, models.UUIDField):
        return world.key()
    return world.word("fresh")


def variant(
    world: World,
    statement: Statement,
    columns: Sequence[str],
    *,
    count: int,
) -> Variant:
    """Draw a variant of a statement in up to `count` of the columns given."""
    usable = [column for column in columns if column in FIELDS[statement.table]]
    if statement.verb is Verb.UPDATE:
        model = MODELS[statement.table]
        changeable = {*model.mutable, *model.write_once}
        usable = [column for column in usable if column in changeable] or sorted(changeable)
    chosen = world.rng.sample(usable, k=min(len(usable), count))
    return Variant(
        verb=statement.verb,
        drawn={c: world.rng.choice(ways_of(FIELDS[statement.table][c])) for c in chosen},
        consistent=(
            statement.table == "actions_intentevent"
            and "body" not in chosen
            and world.rng.random() < 0.5
        ),
    )


def ways_of(described: "models.Field[object, object]") -> Sequence[str]:
    """Return the names of the ways to draw a value for a field."""
    for kind, ways in _WAYS_BY_FIELD:
        if isinstance(described, kind):
            return (*ways, "null") if described.null else ways
    raise TypeError(f"Say how to draw a {type(described).__name__}.")


def _missing(world: World, table: str, column: str, legal: object) -> object:
    return 10**9 + world.rng.randrange(10**6)


def _other(world: World, table: str, column: str, legal: object) -> object:
    return world.row(_referred(table, column))["id"]


def _abroad(world: World, table: str, column: str, legal: object) -> object:
    referred = _referred(table, column)
    if legal is None:
        return _other(world, table, column, legal)
    if referred == "integrations_workspace":
        return world.row(referred, "id <> %s", legal)["id"]
    return world.row(
        referred,
        f"workspace_id <> (SELECT workspace_id FROM {referred} WHERE id = %s)",
        legal,
    )["id"]


def _referred(table: str, column: str) -> str:
    related = FIELDS[table][column].related_model
    if not isinstance(related, type) or related._meta.db_table == "auth_user":
        raise NoSuchRow(column)
    return related._meta.db_table


def _choice(world: World, table: str, column: str, legal: object) -> object:
    if column in _KNOWN:
        return world.rng.choice(_KNOWN[column])
    choices = FIELDS[table][column].choices
    if choices:
        return world.rng.choice([value for value, _ in choices])
    return world.rng.choice(list(ActorKind)).value if column.endswith("_kind") else "EUR"


_KNOWN: dict[str, list[str]] = {
    "state_reason": [str(r) for r in (*FailedReason, *HeldReason)],
    "needs_human_reason": [str(r) for r in NeedsHuman],
    "state": [str(state) for state in State],
    "kind": ["refund", "add_tag", "reply"],
    "currency": ["EUR", "USD"],
    "resolved_how": ["found", "absent"],
}


def _taken(world: World, table: str, column: str, legal: object) -> object:
    return world.row(table)[column]


def _moved(by: timedelta) -> Draw:
    def draw(world: World, table: str, column: str, legal: object) -> object:
        return (legal if isinstance(legal, datetime) else world.moment()) + by

    return draw


def _plus(by: int) -> Draw:
    def draw(world: World, table: str, column: str, legal: object) -> object:
        return (legal if isinstance(legal, int | Decimal) else 0) + by

    return draw


def _always(value: object) -> Draw:
    return lambda _world, _table, _column, _legal: value


WAYS: dict[str, Draw] = {
    "null": _always(None),
    "empty": _always(""),
    "word": lambda world, _table, _column, _legal: world.word("word")[:12],
    "choice": _choice,
    "taken": _taken,
    "missing": _missing,
    "other": _other,
    "abroad": _abroad,
    "zero": _always(0),
    "minus": _always(-1),
    "large": _always(999),
    "plus": _plus(1),
    "less": _plus(-1),
    "nan": _always("NaN"),
    "more": _plus(3),
    "earlier": _moved(timedelta(minutes=-30)),
    "later": _moved(timedelta(minutes=30)),
    "long_before": _moved(timedelta(days=-400)),
    "long_after": _moved(timedelta(days=400)),
    "flipped": lambda _world, _table, _column, legal: not legal,
    "bytes": lambda world, _table, _column, _legal: world.rng.randbytes(8),
    "list": _always("[]"),
    "entry": _always('[{"kind": "human_node"}]'),
    "object": _always("{}"),
    "uuid": lambda world, _table, _column, _legal: world.key(),
    "day": _always("2026-11-30"),
}
"""Every way to draw a value, by name."""

_WAYS_BY_FIELD: tuple[tuple[type, tuple[str, ...]], ...] = (
    (models.ForeignKey, ("missing", "other", "abroad")),
    (models.JSONField, ("list", "entry", "object")),
    (models.BooleanField, ("flipped",)),
    (models.DecimalField, ("zero", "minus", "nan", "more", "large")),
    (models.DateTimeField, ("earlier", "later", "long_before", "long_after")),
    (models.DateField, ("day",)),
    (models.IntegerField, ("zero", "minus", "plus", "less", "large")),
    (models.UUIDField, ("uuid", "taken")),
    (models.BinaryField, ("bytes",)),
    (models.CharField, ("empty", "word", "choice", "choice", "choice", "taken")),
    (models.TextField, ("empty", "word", "taken")),
)
