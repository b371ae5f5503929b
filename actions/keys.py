"""The idempotency key, and the canonical form that keys and digests are taken of.

Promises: the same wish gives the same key, however it was spelled, and any other wish another; the
form is frozen by golden tests. The marker, which is random, is in `integrations.markers`.
Does not know which parameters belong to a key (the kind says), nor any platform's way with keys.
"""

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from hashlib import sha256
from typing import TypeAlias
from unicodedata import normalize
from uuid import UUID, uuid5

from integrations.money import Money

KEY_NAMESPACE = UUID("5f73890a-3018-549c-bc58-6a48f054c5f1")
"""UUIDv5 of `intents.razviel` (DNS). Frozen: another one would give every open intent a new key."""

Canonical: TypeAlias = (
    str | int | bool | Money | Sequence["Canonical"] | Mapping[str, "Canonical"] | None
)
"""What may stand in canonical JSON. Amounts are `Money`: a bare decimal has no exponent."""


class NotCanonical(TypeError):
    """A float, a bare decimal or another value without one spelling: pass text, int or Money."""


def canonical_json(value: Canonical) -> str:
    """Write a value in its one spelling: sorted, compact, NFC, amounts at their exponent.

    Raises:
        NotCanonical: The value, or one inside it, has no single spelling.
    """
    return json.dumps(
        _canonical(value),
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=True,
        allow_nan=False,
    )


def digest(value: Canonical) -> str:
    """Return the SHA-256 (hex) of the canonical form."""
    return sha256(canonical_json(value).encode()).hexdigest()


def derive_key(
    *,
    workspace: str,
    ticket: str,
    kind: str,
    key_parameters: Mapping[str, Canonical],
    occurrence: int,
) -> UUID:
    """Derive the key of a wish. A client never supplies one.

    Args:
        workspace: The workspace's own identifier.
        ticket: The ticket's own identifier.
        kind: The kind's name in the catalogue.
        key_parameters: The fields that the kind lists, after its defaults; ids as full gids.
        occurrence: 1 for the first, one more for each repeat that a person knowingly asks for.

    Raises:
        NotCanonical: A parameter has no single spelling.
    """
    name = canonical_json([workspace, ticket, kind, key_parameters, occurrence])
    return uuid5(KEY_NAMESPACE, name)


def _canonical(value: object) -> object:
    match value:
        case str():
            return normalize("NFC", value)
        case Money():
            return str(value)
        case None | bool() | int():
            return value
        case Mapping():
            return _canonical_mapping(value)
        case Sequence() if not isinstance(value, bytes | bytearray):
            return [_canonical(item) for item in value]
        case _:
            raise NotCanonical(_no_single_spelling(value))


def _no_single_spelling(value: object) -> str:
    hint = "Money" if isinstance(value, Decimal | float) else "text"
    return f"A {type(value).__name__} has no single spelling; pass it as {hint}."


def _canonical_mapping(value: Mapping[object, object]) -> dict[str, object]:
    spelled: dict[str, object] = {}
    for name, item in value.items():
        if not isinstance(name, str):
            raise NotCanonical(f"The name {name!r} is not text; name parameters by text.")
        if normalize("NFC", name) in spelled:
            raise NotCanonical(f"The name {name!r} stands twice once it is normalised.")
        spelled[normalize("NFC", name)] = _canonical(item)
    return spelled
