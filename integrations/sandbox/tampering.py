"""Answers that are well-formed and untrue: what was done stays done, what is said is altered.

Promises: changes only the answer, never the store or the ledger. Works on the refund of the first
root field.
"""

from collections.abc import Callable
from typing import TypeAlias

from graphql import FieldNode

from integrations.sandbox.faults import Fault, FaultKind
from integrations.sandbox.shopify.call import Answer, internal_error
from integrations.sandbox.store import gid

Payload: TypeAlias = dict[str, object]
NOWHERE = 9_999_999_999_999


def tampered(answer: Answer, *, fault: Fault | None, root: FieldNode | None, number: int) -> Answer:
    """Return what is said in the place of `answer`."""
    if fault is None or root is None or "data" not in answer:
        return answer
    if fault.kind is FaultKind.INTERNAL_ERROR_AFTER:
        return {"errors": [internal_error(number)], "data": None}
    change = _CHANGES.get(fault.kind)
    name = root.alias.value if root.alias else root.name.value
    data = answer["data"]
    payload = data.get(name) if isinstance(data, dict) else None
    if change is None or not isinstance(payload, dict):
        return answer
    extra = change(payload, fault)
    if extra is None:
        return answer
    error = extra | {"path": [name, *_path(extra)]}
    kept = None if fault.nulls == "payload" else payload
    return answer | {"data": {name: kept}, "errors": [error]}


def _no_id(payload: Payload, _fault: Fault) -> None:
    payload["refund"] = None
    payload["userErrors"] = []


def _wrong_id_type(payload: Payload, _fault: Fault) -> None:
    order = payload.get("order")
    known = order.get("id") if isinstance(order, dict) else None
    _set_id(payload, str(known or gid("Order", NOWHERE)))


def _other_id(payload: Payload, fault: Fault) -> None:
    _set_id(payload, fault.other or gid("Refund", NOWHERE))


def _set_id(payload: Payload, identifier: str) -> None:
    refund = payload.get("refund")
    if isinstance(refund, dict):
        refund["id"] = identifier


def _wrong_amount(payload: Payload, fault: Fault) -> None:
    _replace(payload.get("refund"), name="amount", value=fault.amount)


def _wrong_currency(payload: Payload, fault: Fault) -> None:
    _replace(payload.get("refund"), name="currencyCode", value=fault.currency)


def _deep_error(payload: Payload, fault: Fault) -> dict[str, object]:
    """Null a child as a failed non-null grandchild would, and say so with its path."""
    broken = "refund" if fault.nulls == "payload" else fault.nulls
    payload[broken] = None
    return {
        "message": "Access denied for staffMember field. "
        "Required access: `read_users` access scope.",
        "path": [broken, "staffMember"],
        "extensions": {"code": "ACCESS_DENIED", "requiredAccess": "`read_users` access scope."},
    }


def _path(error: dict[str, object]) -> list[object]:
    path = error["path"]
    return path if isinstance(path, list) else []


def _replace(tree: object, *, name: str, value: str) -> None:
    """Set every `name` in the tree."""
    if isinstance(tree, dict):
        for key, item in tree.items():
            if key == name:
                tree[key] = value
            else:
                _replace(item, name=name, value=value)
    elif isinstance(tree, list):
        for item in tree:
            _replace(item, name=name, value=value)


_CHANGES: dict[FaultKind, Callable[[Payload, Fault], dict[str, object] | None]] = {
    FaultKind.NO_ID: _no_id,
    FaultKind.WRONG_ID_TYPE: _wrong_id_type,
    FaultKind.OTHER_ID: _other_id,
    FaultKind.WRONG_AMOUNT: _wrong_amount,
    FaultKind.WRONG_CURRENCY: _wrong_currency,
    FaultKind.DEEP_ERROR: _deep_error,
}
