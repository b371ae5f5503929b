"""A GraphQL request in, an answer out: the document checked, its cost charged, its fields resolved.

Promises: what does not fit the schema never runs; an answer always has the shape that Shopify gives
it, cost included. The caller holds the world's lock.
"""

from collections.abc import Callable
from functools import cache

from graphql import (
    DocumentNode,
    ExecutionResult,
    FieldNode,
    GraphQLAbstractType,
    GraphQLError,
    GraphQLResolveInfo,
    OperationDefinitionNode,
    execute_sync,
)

from integrations.sandbox.faults import FaultKind
from integrations.sandbox.shopify.call import Answer, Call
from integrations.sandbox.shopify.people import InstallationView, ShopView
from integrations.sandbox.shopify.reading import (
    node,
    nodes,
    readable_order,
    readable_refund,
)
from integrations.sandbox.shopify.refund_create import refund_create
from integrations.sandbox.shopify.schema import load_schema
from integrations.sandbox.shopify.validation import check_document
from integrations.sandbox.shopify.variables import check_variables
from integrations.sandbox.throttle import actual_points, requested_points


def answer(call: Call) -> tuple[Answer, bool]:
    """Execute a request; the flag says whether its operation ran at all."""
    document, problems = check_document(call.query)
    if document is None or problems:
        return {"errors": list(problems)}, False
    operation = select_operation(document, call.operation_name)
    if operation is None:
        return {
            "errors": [
                {"message": "An operation name is required", "extensions": {"code": "BAD_REQUEST"}}
            ]
        }, False
    invalid = check_variables(operation, call.variables)
    if invalid:
        return {"errors": invalid}, False
    return _charged(call, document, operation)


def select_operation(document: DocumentNode, name: str | None) -> OperationDefinitionNode | None:
    """Find the operation that a request means: the named one, or the only one."""
    operations = [
        item for item in document.definitions if isinstance(item, OperationDefinitionNode)
    ]
    if name is None:
        return operations[0] if len(operations) == 1 else None
    return next((item for item in operations if item.name and item.name.value == name), None)


def root_field(query: str, operation_name: str | None) -> FieldNode | None:
    """Return a request's first root field; None if it can't be read."""
    document, _ = check_document(query)
    operation = select_operation(document, operation_name) if document else None
    if operation is None:
        return None
    return next(
        (item for item in operation.selection_set.selections if isinstance(item, FieldNode)), None
    )


def throttled(call: Call, operation: OperationDefinitionNode) -> Answer:
    """Build the answer for a shop whose points are used up."""
    # https://shopify.dev/docs/apps/build/apis/graphql-admin/rate-limits, read 2026-11-30: no
    # `data`, actual cost null.
    return {
        "errors": [
            {
                "message": "Throttled",
                "extensions": {
                    "code": "THROTTLED",
                    "documentation": "https://shopify.dev/api/usage/rate-limits",
                },
            }
        ],
        "extensions": call.shop.bucket.extension(
            requested=requested_points(operation, call.variables), actual=None
        ),
    }


def _charged(
    call: Call, document: DocumentNode, operation: OperationDefinitionNode
) -> tuple[Answer, bool]:
    requested = requested_points(operation, call.variables)
    bucket = call.shop.bucket
    bucket.refill(call.world.clock.now())
    if call.meets(FaultKind.THROTTLED) or not bucket.affords(requested):
        return throttled(call, operation), False
    result = execute_sync(
        load_schema(),
        document,
        root_value=call,
        context_value=call,
        variable_values=dict(call.variables),
        operation_name=call.operation_name,
        field_resolver=_resolve,
        type_resolver=_name_type,
    )
    actual = actual_points(operation, result.data, call.variables)
    bucket.spend(actual)
    return _spelled(result) | {
        "extensions": bucket.extension(requested=requested, actual=actual)
    }, True


def _spelled(result: ExecutionResult) -> Answer:
    spelled: Answer = {"data": result.data}
    if result.errors:
        spelled["errors"] = [_error(error) for error in result.errors]
    return spelled


def _error(error: GraphQLError) -> dict[str, object]:
    if error.original_error is not None and not isinstance(error.original_error, GraphQLError):
        # A fault of the simulation itself must never pass for one of the platform's.
        raise error.original_error
    places = [{"line": place.line, "column": place.column} for place in error.locations or ()]
    spelled: dict[str, object] = {"message": error.message, "locations": places}
    if error.path is not None:
        spelled["path"] = list(error.path)
    return spelled | {"extensions": dict(error.extensions or {})}


def _resolve(source: object, info: GraphQLResolveInfo[Call], **arguments: object) -> object:
    if isinstance(source, Call):
        return _resolve_root(source, info, arguments)
    name = _snake(info.field_name)
    value = source.get(name) if isinstance(source, dict) else getattr(source, name)
    snaked = {_snake(key): argument for key, argument in arguments.items()}
    return value(**snaked) if callable(value) else value


def _resolve_root(
    call: Call, info: GraphQLResolveInfo[Call], arguments: dict[str, object]
) -> object:
    asked, identifier = arguments.get("input"), str(arguments.get("id"))
    roots: dict[str, Callable[[], object]] = {
        "refundCreate": lambda: (
            refund_create(info, asked=asked) if isinstance(asked, dict) else None
        ),
        "order": lambda: readable_order(call, identifier),
        "node": lambda: node(call, identifier),
        "nodes": lambda: nodes(call, _identifiers(arguments)),
        "refund": lambda: readable_refund(call, identifier),
        "shop": lambda: ShopView(call),
        "currentAppInstallation": lambda: InstallationView(call.app),
    }
    return roots[info.field_name]()


def _identifiers(arguments: dict[str, object]) -> list[str]:
    asked = arguments.get("ids")
    return [str(item) for item in asked] if isinstance(asked, list) else []


def _name_type(
    value: object, _info: GraphQLResolveInfo[Call], _abstract: GraphQLAbstractType
) -> str:
    return str(getattr(value, "typename"))  # noqa: B009  # every view behind an interface names its type


@cache
def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
