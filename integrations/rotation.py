"""Bring what the vault has sealed under its current key, so that older keys can be taken away.

Promises: row by row, each by compare-and-set, so that it may be stopped, run again, and run beside
a working product; a row that can't be opened is named and left as it is.
Does not know personal data: that is sealed under the subjects' own keys, of which only the
wrapping changes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeVar

from django.conf import settings
from django.db.models import QuerySet

from integrations import sealed, vault
from integrations.connecting import SEALED_COLUMNS
from integrations.models import Connection, SubjectKey

_PAGE = 500
_Row = TypeVar("_Row", Connection, SubjectKey)


@dataclass(slots=True, kw_only=True)
class Rotation:
    """What a run has done so far."""

    resealed_count: int = 0
    current_count: int = 0
    unopened: list[str] = field(default_factory=list)
    """What could not be opened, each with the class of the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeysInUse:
    """Which keys of the ring are still needed to open what is stored."""

    current: str
    needed: frozenset[str]
    removable: tuple[str, ...]
    """Keys in the ring that seal nothing any more."""


def row_count() -> int:
    """Return how many rows a run will look at."""
    return Connection.objects.count() + _living_keys().count()


def rotate_all(rotation: Rotation) -> Iterator[None]:
    """Seal every row's secrets anew; yields after each row, and `rotation` tells how it stands."""
    rows: Iterator[Connection | SubjectKey] = chain(
        _paged(Connection.objects.all()), _paged(_living_keys())
    )
    for row in rows:
        try:
            changed = sealed.rewrap(row) if isinstance(row, SubjectKey) else _rotate(row)
        except (vault.WrongKey, vault.Tampered) as problem:
            rotation.unopened.append(f"{_named(row)}: {type(problem).__name__}")
        else:
            rotation.resealed_count += changed
            rotation.current_count += not changed
        yield


def keys_in_use() -> KeysInUse:
    """Look at every sealed value's key; opens nothing."""
    needed = frozenset(chain(_connection_keys(), _subject_keys()))
    ring = vault.KeyRing.parse(settings.RAZVIEL_VAULT_KEYS)
    removable = tuple(name for name in ring.keys if name not in needed and name != ring.current)
    return KeysInUse(current=ring.current, needed=needed, removable=removable)


def _living_keys() -> QuerySet[SubjectKey]:
    return SubjectKey.objects.exclude(wrapped=None)


def _paged(rows: QuerySet[_Row]) -> Iterator[_Row]:
    """Yield rows by their id, in pages, so that no cursor stays open."""
    last = 0
    while page := list(rows.filter(pk__gt=last).order_by("pk")[:_PAGE]):
        yield from page
        last = page[-1].pk


def _rotate(connection: Connection) -> bool:
    changed = False
    for column, context in SEALED_COLUMNS.items():
        stored = getattr(connection, column)
        if stored is None:
            continue
        before = bytes(stored)
        after = vault.rotate(before, context=context(connection))
        # Compare-and-set: a person may connect again meanwhile.
        same = Connection.objects.filter(pk=connection.pk, **{column: before})
        changed |= after != before and same.update(**{column: after}) == 1
    return changed


def _named(row: Connection | SubjectKey) -> str:
    return row.public_id if isinstance(row, Connection) else f"subject key {row.pk}"


def _connection_keys() -> Iterator[str]:
    for values in Connection.objects.values_list(*SEALED_COLUMNS):
        yield from (vault.key_id(bytes(value)) for value in values if value is not None)


def _subject_keys() -> Iterator[str]:
    for wrapped in _living_keys().values_list("wrapped", flat=True):
        yield vault.key_id(bytes(wrapped or b""))
