"""Variables that do not fit their types: INVALID_VARIABLE, before anything runs.

Promises: names every problem with its path, in the recorded shape (reference R 35).
"""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from graphql import (
    GraphQLEnumType,
    GraphQLError,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLScalarType,
    OperationDefinitionNode,
    VariableDefinitionNode,
    is_required_input_field,
    print_ast,
    type_from_ast,
    value_from_ast,
)

from integrations.sandbox.shopify.schema import load_schema

Step: TypeAlias = str | int
Trouble: TypeAlias = tuple[list[Step], str]


def check_variables(
    operation: OperationDefinitionNode, given: Mapping[str, object]
) -> list[dict[str, object]]:
    """Return one error for each variable that does not fit, ready to be answered."""
    errors = []
    for definition in operation.variable_definitions or ():
        name = definition.variable.name.value
        kind = type_from_ast(load_schema(), definition.type)
        if name not in given and definition.default_value is not None:
            value_from_ast(definition.default_value, kind)  # type: ignore[arg-type]  # validated: an input type
            continue
        troubles = list(_troubles(kind, given.get(name), []))  # type: ignore[arg-type]  # as above
        if troubles:
            errors.append(_invalid(definition, given.get(name), troubles))
    return errors


def _troubles(kind: GraphQLInputType, value: object, path: list[Step]) -> Iterator[Trouble]:
    if isinstance(kind, GraphQLNonNull):
        if value is None:
            yield path, "Expected value to not be null"
        kind = kind.of_type
    if value is not None:
        yield from _value_troubles(kind, value, path)


def _value_troubles(kind: GraphQLInputType, value: object, path: list[Step]) -> Iterator[Trouble]:
    match kind:
        case GraphQLList():
            for index, item in enumerate(value if isinstance(value, list) else [value]):
                yield from _troubles(kind.of_type, item, [*path, index])
        case GraphQLInputObjectType():
            yield from _object_troubles(kind, value, path)
        case GraphQLEnumType():
            if value not in kind.values:
                yield path, f'Expected "{value}" to be one of: {", ".join(kind.values)}'
        case GraphQLScalarType():
            yield from _scalar_troubles(kind, value, path)
        case GraphQLNonNull():
            raise AssertionError("The schema nests no non-null type in another.")


def _object_troubles(
    kind: GraphQLInputObjectType, value: object, path: list[Step]
) -> Iterator[Trouble]:
    if not isinstance(value, dict):
        yield path, f"Expected {value!r} to be a key-value object."
        return
    for name, item in value.items():
        if name not in kind.fields:
            yield [*path, name], f"Field is not defined on {kind.name}"
        else:
            yield from _troubles(kind.fields[name].type, item, [*path, name])
    for name, field in kind.fields.items():
        if name not in value and is_required_input_field(field):
            yield [*path, name], "Expected value to not be null"
    if kind.is_one_of and [item is not None for item in value.values()] != [True]:
        yield path, f"'{kind.name}' requires exactly one argument, but {len(value)} were provided."


def _scalar_troubles(kind: GraphQLScalarType, value: object, path: list[Step]) -> Iterator[Trouble]:
    try:
        kind.coerce_input_value(value)
    except GraphQLError as error:
        yield path, error.message


def _invalid(
    definition: VariableDefinitionNode, value: object, troubles: list[Trouble]
) -> dict[str, object]:
    named = ", ".join(f"{'.'.join(map(str, path))} ({text})" for path, text in troubles if path)
    name, kind = definition.variable.name.value, print_ast(definition.type)
    head = f"Variable ${name} of type {kind} was provided invalid value"
    start = definition.loc.start_token if definition.loc else None
    return {
        "message": f"{head} for {named}" if named else head,
        "locations": [{"line": start.line, "column": start.column}] if start else [],
        "extensions": {
            "code": "INVALID_VARIABLE",
            "value": value,
            "problems": [{"path": path, "explanation": text} for path, text in troubles],
        },
    }
