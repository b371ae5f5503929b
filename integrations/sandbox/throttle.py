"""Shopify's query cost: points per request, a bucket per shop that refills with time.

Promises: the extension's fields and arithmetic as recorded, deterministic on the sandbox's clock.
The points of a document are near the recorded ones, not equal to them: Shopify does not publish all
of its formula.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import TypeAlias

from graphql import (
    BooleanValueNode,
    FieldNode,
    OperationDefinitionNode,
    OperationType,
    SelectionNode,
    SelectionSetNode,
    VariableNode,
)

Cost: TypeAlias = dict[str, object]

# https://shopify.dev/docs/apps/build/apis/graphql-admin/rate-limits, read 2026-11-30: a mutation
# costs 10.
MUTATION_POINTS = 10
# Recorded on a development store of the Standard plan (reference, section 4).
MAXIMUM_POINTS = 2000
POINTS_PER_SECOND = 100


@dataclass(slots=True, kw_only=True)
class Bucket:
    """One shop's points. Never refuses with `unlimited`, for benchmarks."""

    filled_at: datetime
    maximum: float = MAXIMUM_POINTS
    per_second: float = POINTS_PER_SECOND
    available: float = MAXIMUM_POINTS
    unlimited: bool = False

    def refill(self, now: datetime) -> None:
        """Add what time has restored."""
        gained = (now - self.filled_at).total_seconds() * self.per_second
        self.available = min(self.maximum, self.available + max(gained, 0.0))
        self.filled_at = now

    def affords(self, points: int) -> bool:
        """Say whether a request of that many points may run."""
        return self.unlimited or self.available >= points

    def spend(self, points: int) -> None:
        """Take the points of a request that ran."""
        if not self.unlimited:
            self.available -= points

    def extension(self, *, requested: int, actual: int | None) -> Cost:
        """Build the answer's `extensions`."""
        status = {
            "maximumAvailable": float(self.maximum),
            "currentlyAvailable": int(self.available),
            "restoreRate": float(self.per_second),
        }
        return {
            "cost": {
                "requestedQueryCost": requested,
                "actualQueryCost": actual,
                "throttleStatus": status,
            }
        }


def requested_points(
    operation: OperationDefinitionNode, variables: Mapping[str, object] = MappingProxyType({})
) -> int:
    """Count a document's points before it runs: one an object asked for, ten a mutation."""
    start = MUTATION_POINTS if operation.operation is OperationType.MUTATION else 0
    return start + _objects_asked(operation.selection_set, variables)


def actual_points(
    operation: OperationDefinitionNode,
    data: dict[str, object] | None,
    variables: Mapping[str, object] = MappingProxyType({}),
) -> int:
    """Count the points of what was answered; a refusal costs too."""
    start = MUTATION_POINTS if operation.operation is OperationType.MUTATION else 0
    return min(start + _objects_given(data) - 1, requested_points(operation, variables))


def _objects_asked(selections: SelectionSetNode, variables: Mapping[str, object]) -> int:
    points = 0
    for node in selections.selections:
        inner = getattr(node, "selection_set", None)
        if inner is not None and not _is_left_out(node, variables):
            own = 1 if isinstance(node, FieldNode) else 0
            points += own + _objects_asked(inner, variables)
    return points


def _is_left_out(node: SelectionNode, variables: Mapping[str, object]) -> bool:
    # graphql-ruby, which Shopify runs, leaves out of its analysis what @skip and @include leave
    # out of the answer. https://github.com/rmosolgo/graphql-ruby (lib/graphql/analysis/visitor.rb),
    # from knowledge of it, not re-read.
    for directive in node.directives or ():
        value = directive.arguments[0].value if directive.arguments else None
        given = variables.get(value.name.value) if isinstance(value, VariableNode) else None
        said = value.value if isinstance(value, BooleanValueNode) else given
        if (directive.name.value, said) in {("skip", True), ("include", False)}:
            return True
    return False


def _objects_given(value: object) -> int:
    if isinstance(value, dict):
        return 1 + sum(_objects_given(item) for item in value.values())
    if isinstance(value, list):
        return sum(_objects_given(item) for item in value)
    return 0
