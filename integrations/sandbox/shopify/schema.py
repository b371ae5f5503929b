"""The schema that the simulated API executes: Shopify's own types, read from the pruned SDL.

Promises: scalars read and print as Shopify's do; what the SDL does not name is refused. Loads as
text: no code of the platform's adapter is imported.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from functools import cache, partial
from pathlib import Path

from graphql import (
    GraphQLError,
    GraphQLScalarType,
    GraphQLSchema,
    ValueNode,
    build_schema,
    value_from_ast_untyped,
)

from integrations.sandbox.money import wire

SDL_FILE = Path(__file__).parents[2] / "platforms" / "shopify" / "schema.graphql"


@cache
def load_schema() -> GraphQLSchema:
    """Build the executable schema, once a process."""
    # @oneOf is a built-in of graphql-core; the SDL is generated and tested, so it is trusted here
    # for a quick start.
    schema = build_schema(SDL_FILE.read_text(), assume_valid=True)
    for name, (read, spell) in _SCALARS.items():
        scalar = schema.type_map.get(name)
        if isinstance(scalar, GraphQLScalarType):
            scalar.coerce_output_value = spell
            scalar.coerce_input_value = read
            scalar.coerce_input_literal = partial(_read_literal, read)
    return schema


def _read_literal(read: Callable[[object], object], node: ValueNode) -> object:
    return read(value_from_ast_untyped(node))


def _parse_decimal(value: object) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise GraphQLError("invalid decimal")
    try:
        amount = Decimal(str(value))
    except InvalidOperation as error:
        raise GraphQLError("invalid decimal") from error
    if not amount.is_finite():
        raise GraphQLError("invalid decimal")
    return amount


def _parse_moment(value: object) -> datetime:
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError as error:
        raise GraphQLError("invalid DateTime") from error
    return moment


def _print_decimal(value: object) -> str:
    return wire(Decimal(str(value)))


def _print_moment(value: object) -> str:
    if not isinstance(value, datetime):
        raise GraphQLError("invalid DateTime")
    return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


_SCALARS: dict[str, tuple[Callable[[object], object], Callable[[object], object]]] = {
    "Money": (_parse_decimal, _print_decimal),
    "Decimal": (_parse_decimal, _print_decimal),
    "DateTime": (_parse_moment, _print_moment),
}
