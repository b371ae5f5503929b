"""`refundCreate` with its key: admitted, run or replayed, remembered.

Promises: nothing runs without `@idempotent`; a replay is rebuilt from the present state; key errors
travel by the carrier that the shop was told to use.
"""

from collections.abc import Mapping
from typing import NoReturn

from graphql import (
    FieldNode,
    GraphQLError,
    GraphQLResolveInfo,
    StringValueNode,
    ValueNode,
    VariableNode,
)

from integrations.sandbox.faults import FaultKind
from integrations.sandbox.keys import MESSAGES, Admission, Carrier
from integrations.sandbox.refunds import Made, create_refund
from integrations.sandbox.rules import Input, UserError
from integrations.sandbox.shopify.call import Call, access_denied
from integrations.sandbox.shopify.views import OrderView, RefundView

MISSING_KEY = "The @idempotent directive is required for this mutation but was not provided."
# The schema says that the key can't be empty; how that is answered is not recorded.
EMPTY_KEY = "The idempotency key cannot be empty or whitespace only."


class Payload:
    """`RefundCreatePayload`."""

    def __init__(
        self, call: Call, *, order_id: str, refund_id: str | None, errors: list[dict[str, object]]
    ) -> None:
        order = call.shop.orders.get(order_id)
        refund = call.shop.refund(refund_id) if refund_id else None
        # A refusal still fills in the order (recorded): judge by `refund`, not by `data` being
        # there.
        self.order = OrderView(call, order) if order else None
        self.refund = RefundView(call, order, refund) if order and refund else None
        self.user_errors = errors


def refund_create(info: GraphQLResolveInfo[Call], *, asked: Input) -> Payload:
    """Resolve the mutation.

    Raises:
        GraphQLError: no scope, no key, or a key error with the top-level carrier.
    """
    call: Call = info.context
    field = info.field_nodes[0]
    if not call.app.may("write_orders"):
        raise access_denied("refundCreate", "write_orders")
    key = key_of(field, call.variables)
    admission, refund_id = call.shop.keys.admit(
        app_id=call.app.id, key=key, fingerprint=call.fingerprint(field), now=call.world.clock.now()
    )
    match admission:
        case Admission.NEW:
            return _run(call, asked=asked, key=key)
        case Admission.REPLAY:
            return Payload(call, order_id=str(asked["orderId"]), refund_id=refund_id, errors=[])
        case _:
            return _key_refused(call, admission, order_id=str(asked["orderId"]))


def key_of(field: FieldNode, variables: Mapping[str, object]) -> str:
    """Read the key from the field's directive.

    Raises:
        GraphQLError: none, or a blank one.
    """
    for directive in field.directives or ():
        for argument in directive.arguments or () if directive.name.value == "idempotent" else ():
            key = _literal(argument.value, variables)
            if not key.strip():
                raise GraphQLError(EMPTY_KEY, extensions={"code": "BAD_REQUEST"})
            return key
    raise GraphQLError(MISSING_KEY, extensions={"code": "BAD_REQUEST"})


def _literal(value: ValueNode, variables: Mapping[str, object]) -> str:
    if isinstance(value, VariableNode):
        given = variables.get(value.name.value)
        return given if isinstance(given, str) else ""
    return value.value if isinstance(value, StringValueNode) else ""


def _run(call: Call, *, asked: Input, key: str) -> Payload:
    if call.fault and call.meets(FaultKind.HANG_EXECUTING):
        with call.world.left():
            call.fault.hang()
    made = Made(app_id=call.app.id, key=key, request_number=call.number)
    order_id = str(asked["orderId"])
    try:
        refund = create_refund(call.world, call.shop, asked=asked, made=made)
    except UserError as refused:
        call.shop.keys.settle(app_id=call.app.id, key=key, result_id=None)
        field = list(refused.field) if refused.field else None
        return Payload(
            call,
            order_id=order_id,
            refund_id=None,
            errors=[{"field": field, "message": refused.message}],
        )
    call.shop.keys.settle(app_id=call.app.id, key=key, result_id=refund.id)
    return Payload(call, order_id=order_id, refund_id=refund.id, errors=[])


def _key_refused(call: Call, admission: Admission, *, order_id: str) -> Payload:
    code, message = MESSAGES[admission]
    if call.shop.keys.carrier is Carrier.TOP_LEVEL:
        _raise_top_level(code, message)
    return Payload(
        call, order_id=order_id, refund_id=None, errors=[{"field": None, "message": message}]
    )


def _raise_top_level(code: str, message: str) -> NoReturn:
    raise GraphQLError(message, extensions={"code": code})
