"""One request to a simulated shop, from its arrival to what is to be said.

Promises: every request is in the ledger before anything is done with it, with what became of it; a
hang never holds the lock. Does not write to a socket: `delivery` does.
"""

import json
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from http.client import responses

from graphql import FieldNode, GraphQLError

from integrations.sandbox.faults import HANGS, Fault, FaultKind
from integrations.sandbox.ledger import Received
from integrations.sandbox.shopify.call import (
    Answer,
    Call,
    access_denied,
    internal_error,
    request_id_of,
)
from integrations.sandbox.shopify.execution import answer, root_field
from integrations.sandbox.shopify.refund_create import key_of
from integrations.sandbox.store import App, Shop
from integrations.sandbox.tampering import tampered
from integrations.sandbox.world import World

# https://shopify.dev/docs/api/usage/response-codes, read 2026-11-30.
_WORDS = {
    401: "[API] Invalid API key or access token (unrecognized login or wrong password)",
    402: "This shop is currently frozen.",
    403: "[API] This action requires merchant approval.",
    404: "Not Found",
    423: "This shop is locked.",
    429: "Too many requests.",
    430: "Security rejection.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A POST to `/shops/{shop}/admin/api/{version}/graphql.json`."""

    shop: str
    version: str
    token: str
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What is to be sent, and the fault that may spoil the sending."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    fault: Fault | None = None


def serve(world: World, incoming: Incoming) -> Reply:
    """Answer a request to the Admin API."""
    with world.entered():
        shop = world.shops.get(incoming.shop)
        number = world.ledger.next_request_number
        version = world.served_version(shop, asked=incoming.version)
        arrived = _arrive(world, shop, incoming, number=number, version=version)
    reply = arrived if isinstance(arrived, Reply) else _run(arrived)
    headers = {
        "Content-Type": "application/json; charset=utf-8",
        "X-Shopify-API-Version": version,
        "X-Request-Id": request_id_of(number),
    }
    complete = Reply(
        status=reply.status, body=reply.body, headers=headers | reply.headers, fault=reply.fault
    )
    with world.entered():
        world.ledger.note(number, http_status=_status_sent(complete))
    return complete


def plain(
    status: int, *, headers: dict[str, str] | None = None, fault: Fault | None = None
) -> Reply:
    """Build an answer that says nothing but its status."""
    words = _WORDS.get(status) or responses.get(status, "Error")
    return Reply(
        status=status,
        body=json.dumps({"errors": words}).encode(),
        headers=headers or {},
        fault=fault,
    )


def _arrive(
    world: World, shop: Shop | None, incoming: Incoming, *, number: int, version: str
) -> Call | Reply:
    asked = _read(incoming.body)
    query = str(asked.get("query", "")) if asked else ""
    name = asked.get("operationName") if asked else None
    root = root_field(query, str(name) if name else None)
    app = shop.apps.get(incoming.token) if shop else None
    variables = asked.get("variables") if asked else None
    variables = variables if isinstance(variables, dict) else {}
    operation = root.name.value if root else ""
    fault = None
    if shop and app and asked:
        body = incoming.body.decode(errors="replace")
        fault = world.faults.take(shop=shop.name, operation=operation, body=body)
    world.ledger.record_request(
        Received(
            number=number,
            shop=incoming.shop,
            operation=operation,
            key=_key(root, variables),
            body_sha256=sha256(incoming.body).hexdigest(),
            at=world.clock.now(),
            fault=fault.kind.value if fault else None,
        )
    )
    if not shop or not app or not asked:
        return plain(_refusal(shop, app))
    return Call(
        world=world,
        shop=shop,
        app=app,
        number=number,
        version=version,
        query=query,
        operation_name=str(name) if name else None,
        variables=variables,
        fault=fault,
    )


def _refusal(shop: Shop | None, app: App | None) -> int:
    if shop is None:
        return 404
    return 401 if app is None else 400


def _run(call: Call) -> Reply:
    fault = call.fault
    if fault and fault.kind is FaultKind.HANG_BEFORE:
        fault.hang()
    with call.world.entered():
        reply = _instead(call, fault) if fault and not fault.executes else None
        if reply is None:
            reply = _executed(call)
    if fault and fault.kind is FaultKind.HANG_AFTER:
        fault.hang()
    elif fault and fault.kind not in HANGS:
        fault.reached.set()
    return reply


def _executed(call: Call) -> Reply:
    given, ran = answer(call)
    call.world.ledger.note(call.number, executed=ran)
    fault = call.fault
    if fault and fault.kind is FaultKind.STATUS_AFTER:
        return plain(fault.status, fault=fault)
    headers = {}
    if fault and fault.kind is FaultKind.WRONG_VERSION:
        headers["X-Shopify-API-Version"] = fault.version
    root = root_field(call.query, call.operation_name)
    said = tampered(given, fault=fault, root=root, number=call.number)
    return Reply(status=200, body=json.dumps(said).encode(), headers=headers, fault=fault)


def _instead(call: Call, fault: Fault) -> Reply | None:
    """Build what is said without an execution; None for THROTTLED, which execution answers."""
    match fault.kind:
        case FaultKind.THROTTLED:
            return None
        case FaultKind.STATUS_BEFORE | FaultKind.TOO_MANY_REQUESTS | FaultKind.REDIRECT:
            return _status_instead(fault)
        case FaultKind.LOST_BEFORE:
            return plain(504, fault=fault)
        case FaultKind.LATE:
            due_at = call.world.clock.now() + fault.delay
            call.world.clock.at(due_at, partial(_execute_late, call))
            return plain(504, fault=fault)
        case _:
            said = json.dumps(_said_instead(call, fault))
            return Reply(status=200, body=said.encode(), fault=fault)


def _status_instead(fault: Fault) -> Reply:
    if fault.kind is FaultKind.TOO_MANY_REQUESTS:
        headers = {"Retry-After": f"{fault.retry_after_seconds:.1f}"}
        return plain(429, headers=headers, fault=fault)
    if fault.kind is FaultKind.REDIRECT:
        return plain(307, headers={"Location": fault.url}, fault=fault)
    return plain(fault.status, fault=fault)


def _said_instead(call: Call, fault: Fault) -> Answer:
    root = root_field(call.query, call.operation_name)
    name = "" if root is None else root.alias.value if root.alias else root.name.value
    if fault.kind is FaultKind.ACCESS_DENIED:
        scope = "write_orders" if name == "refundCreate" else "read_orders"
        error = access_denied(name, scope)
        denied = {"message": error.message, "path": [name], "extensions": error.extensions}
        return {"data": {name: None}, "errors": [denied]}
    if fault.kind is FaultKind.NO_ID_BEFORE:
        return {"data": {name: {"refund": None, "order": None, "userErrors": []}}}
    return {"errors": [internal_error(call.number)], "data": None}


def _execute_late(call: Call) -> None:
    _, ran = answer(call)
    call.world.ledger.note(call.number, executed=ran)


def _read(body: bytes) -> dict[str, object] | None:
    try:
        asked = json.loads(body)
    except ValueError:
        return None
    return asked if isinstance(asked, dict) and asked.get("query") else None


def _key(root: FieldNode | None, variables: dict[str, object]) -> str | None:
    if root is None or not root.directives:
        return None
    try:
        return key_of(root, variables)
    except GraphQLError:
        return None


def _status_sent(reply: Reply) -> int | None:
    silent = {FaultKind.LOST_BEFORE, FaultKind.LOST_AFTER, FaultKind.LATE}
    return None if reply.fault and reply.fault.kind in silent else reply.status
