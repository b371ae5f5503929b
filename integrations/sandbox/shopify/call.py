"""One GraphQL request on its way through the simulated API, and the errors it may end in.

Promises: carries who asks, of which shop, and the fault it met; error texts and codes as recorded
(reference, section 4).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeAlias

from graphql import FieldNode, GraphQLError, Node, VariableNode, Visitor, print_ast, visit

from integrations.sandbox.faults import Fault, FaultKind
from integrations.sandbox.store import App, Shop
from integrations.sandbox.world import World

Answer: TypeAlias = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What the resolvers may know of a request."""

    world: World
    shop: Shop
    app: App
    number: int
    """Its number in the ledger."""
    version: str
    query: str
    operation_name: str | None
    variables: Mapping[str, object]
    """As received: the order of the fields counts in a key's fingerprint."""
    fault: Fault | None = None

    def meets(self, kind: FaultKind) -> bool:
        """Say whether this request has met a fault of that kind."""
        return self.fault is not None and self.fault.kind is kind

    def fingerprint(self, field: FieldNode) -> str:
        """Digest a field's raw arguments as received; selection and key take no part."""
        # https://shopify.dev/docs/api/usage/implementing-idempotency, read 2026-11-30: over the
        # inputs, field order matters.
        spelled = [print_ast(argument) for argument in field.arguments or ()]
        used = {
            name: self.variables.get(name)
            for argument in field.arguments or ()
            for name in _variables_in(argument)
        }
        return sha256(json.dumps([field.name.value, spelled, used]).encode()).hexdigest()


def internal_error(call_number: int) -> dict[str, object]:
    """Build the error that names no path, so that nobody can tell what ran."""
    request_id = request_id_of(call_number)
    return {
        "message": "Internal error. Looks like something went wrong on our end.\n"
        f"Request ID: {request_id} (include this in support requests).",
        "extensions": {"code": "INTERNAL_SERVER_ERROR", "requestId": request_id},
    }


def request_id_of(number: int) -> str:
    """Return the X-Request-Id of the n-th request."""
    return f"00000000-0000-4000-8000-{number:012d}"


def access_denied(field: str, scope: str) -> GraphQLError:
    """Build the error for a field whose scope the app lacks."""
    access = f"`{scope}` access scope."
    return GraphQLError(
        f"Access denied for {field} field. Required access: {access}",
        extensions={
            "code": "ACCESS_DENIED",
            "documentation": "https://shopify.dev/api/usage/access-scopes",
            "requiredAccess": access,
        },
    )


class _Variables(Visitor):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def enter_variable(self, node: VariableNode, *_: object) -> None:
        self.names.append(node.name.value)


def _variables_in(node: Node) -> list[str]:
    found = _Variables()
    visit(node, found)
    return found.names
