"""JSON Schemas as the OpenAPI document can hold them: each reference replaced by what it names.

Promises: the same schema, without `$defs`, so that it can stand anywhere in another document.
Does not know recursive schemas; ours have none.
"""

from collections.abc import Mapping

_PREFIX = "#/$defs/"


def without_references(schema: Mapping[str, object]) -> dict[str, object]:
    """Return a schema with its own definitions put where they are referred to."""
    definitions = schema.get("$defs", {})
    if not isinstance(definitions, Mapping):
        raise TypeError("`$defs` of a JSON Schema is an object.")
    outer = {name: value for name, value in schema.items() if name not in ("$defs", "$schema")}
    return {name: _inlined(value, definitions) for name, value in outer.items()}


def _inlined(value: object, definitions: Mapping[str, object]) -> object:
    if isinstance(value, Mapping):
        reference = value.get("$ref")
        if isinstance(reference, str):
            named = definitions[reference.removeprefix(_PREFIX)]
            return _inlined(_beside(value, named), definitions)
        return {name: _inlined(inner, definitions) for name, inner in value.items()}
    if isinstance(value, list):
        return [_inlined(inner, definitions) for inner in value]
    return value


def _beside(reference: Mapping[str, object], named: object) -> object:
    """Return what is named, with what stands beside the reference, which has the last word."""
    if not isinstance(named, Mapping):
        return named
    beside = {name: value for name, value in reference.items() if name != "$ref"}
    return {**named, **beside}
