"""Pieces that the documents of several endpoints share: actors, amounts.

Promises: amounts are text at their currency's own precision; an actor is its kind and its identity.
Does not know which rows it reads: columns are named by their prefix.
"""

from collections.abc import Iterable
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from integrations.actors import ActorKind
from integrations.money import Money


def choices(words: Iterable[Any]) -> list[tuple[str, str]]:
    """Return stored values as a choice field wants them, labelled as the OpenAPI names expect."""
    if not isinstance(words, type):
        return [(word.value, word.value) for word in words]
    return list(getattr(words, "choices", None) or [(word.value, word.name) for word in words])


class Document(serializers.Serializer[Any]):
    """Something that is answered, never read; the OpenAPI document names it without its suffix."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Name the component."""
        super().__init_subclass__(**kwargs)
        cls.Meta = type("Meta", (), {"ref_name": cls.__name__.removesuffix("Document")})  # type: ignore[attr-defined]  # read by drf-spectacular


class ActorDocument(Document):
    """Who did something."""

    kind = serializers.ChoiceField(choices(ActorKind))
    identity = serializers.CharField()


@extend_schema_field(ActorDocument)
class ActorOf(serializers.Field[Any, Any, Any, Any]):
    """The actor that two columns of a row name, `<prefix>_kind` and `<prefix>_identity`."""

    def __init__(self, prefix: str, **kwargs: Any) -> None:
        super().__init__(source="*", read_only=True, **kwargs)
        self._prefix = prefix

    def to_representation(self, row: object) -> dict[str, str] | None:
        """Return kind and identity; None where the columns are empty."""
        kind = getattr(row, f"{self._prefix}_kind")
        return (
            {"kind": kind, "identity": getattr(row, f"{self._prefix}_identity")} if kind else None
        )


class AmountOf(serializers.CharField):
    """The amount of a row that has `amount` and `currency`, e.g. `12.50`."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(source="*", read_only=True, **kwargs)

    def to_representation(self, row: Any) -> Any:
        """Return the amount at its currency's precision; None where no money moves."""
        if row.amount is None:
            return None
        return Money(amount=row.amount, currency=row.currency).canonical()


class PublicIdOf(serializers.CharField):
    """The public identifier of a row that this one refers to."""

    def __init__(self, reference: str, **kwargs: Any) -> None:
        super().__init__(source=f"{reference}.public_id", read_only=True, **kwargs)


class TextOrNull(serializers.CharField):
    """Text that is null where the column is empty."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(allow_null=True, **kwargs)

    def to_representation(self, value: object) -> Any:
        """Return the text, or None where there is none."""
        return str(value) if value else None
