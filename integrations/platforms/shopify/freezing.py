"""From a refund as gated to the exact bytes that ask Shopify for it.

Promises: pure; the same refund gives the same bytes, on every machine and for ever. A refund by
amount alone holds no field beyond those that it needs. `processedAt` is never sent (it enters the
comparison under a key and falsifies matching by time), nor is `allowOverRefunding`.
Does not know whether the store will grant it.
"""

from collections.abc import Mapping

from integrations.platforms.shopify.client import body_of
from integrations.platforms.shopify.documents import API_VERSION, REFUND_CREATE
from integrations.ports import (
    DutyShare,
    FrozenRequest,
    RefundBasis,
    RefundDuty,
    RefundLine,
    RefundOrder,
    RefundPart,
    Restock,
)

# What the transaction of a refund to store credit names as its gateway; its kind is REFUND, and it
# has no parent. The example of the page itself, in a stored copy of 2025-07 (read 2026-11-30):
# https://shopify.dev/docs/api/admin-graphql/latest/mutations/refundcreate
STORE_CREDIT_GATEWAY = "shopify_store_credit"

# https://shopify.dev/docs/api/admin-graphql/2026-10/enums/RefundLineItemRestockType and
# RefundDutyRefundType, by the schema of 2026-10 (read 2026-11-30).
_RESTOCKS = {
    Restock.CANCEL: "CANCEL",
    Restock.RETURN: "RETURN",
    Restock.NO_RESTOCK: "NO_RESTOCK",
}
_SHARES = {DutyShare.FULL: "FULL", DutyShare.PROPORTIONAL: "PROPORTIONAL"}


def freeze(refund: RefundOrder) -> FrozenRequest:
    """Turn a refund into the exact bytes to send.

    Raises:
        ValueError: No part, parts in several currencies or beside store credit, an amount that
            moves nothing, or a basis that no store could follow.
    """
    currency = _currency_of(refund)
    _check_basis(refund.basis, currency=currency)
    # The order of these fields is part of what the platform compares under a key: it never
    # changes, and what is new stands behind what was there. An empty list of transactions says
    # that nothing goes back over a payment; left out, the store would decide.
    given = {
        "orderId": refund.order,
        "currency": currency,
        "note": refund.marker,
        "notify": refund.notify,
        "transactions": [
            _transaction(part, order=refund.order)
            for part in refund.parts
            if part.parent is not None
        ],
        **basis_input(refund.basis),
        **_store_credit(refund.parts),
    }
    return FrozenRequest(
        document=REFUND_CREATE.text,
        api_version=API_VERSION,
        body=body_of(REFUND_CREATE, {"input": given, "key": refund.key}),
    )


def basis_input(basis: RefundBasis) -> dict[str, object]:
    """Write what a refund is given for, as `RefundInput` has it; nothing for an amount alone."""
    given: dict[str, object] = {}
    if basis.lines:
        given["refundLineItems"] = [line_input(line) for line in basis.lines]
    if basis.shipping is not None:
        given["shipping"] = {"amount": basis.shipping.canonical()}
    if basis.duties:
        given["refundDuties"] = [duty_input(duty) for duty in basis.duties]
    return given


def line_input(line: RefundLine) -> dict[str, object]:
    """Write some items of a line as `RefundLineItemInput` has them."""
    given: dict[str, object] = {
        "lineItemId": line.line,
        "quantity": line.quantity,
        "restockType": _RESTOCKS[line.restock],
    }
    return given if line.location is None else given | {"locationId": line.location}


def duty_input(duty: RefundDuty) -> dict[str, object]:
    """Write a duty as `RefundDutyInput` has it."""
    return {"dutyId": duty.duty, "refundType": _SHARES[duty.share]}


def _currency_of(refund: RefundOrder) -> str:
    currencies = {part.money.currency for part in refund.parts}
    if len(currencies) != 1 or any(part.money.amount <= 0 for part in refund.parts):
        raise ValueError("A refund has parts in one currency, each more than nothing.")
    if len(refund.parts) > 1 and any(part.parent is None for part in refund.parts):
        raise ValueError("Store credit is one part, and no payment's part stands beside it.")
    return currencies.pop()


def _check_basis(basis: RefundBasis, *, currency: str) -> None:
    if any(line.quantity < 1 for line in basis.lines):
        raise ValueError("A line is refunded by at least one of its items.")
    # https://shopify.dev/docs/api/admin-graphql/2026-10/input-objects/RefundLineItemInput (by the
    # schema, read 2026-11-30): without a restock the location is empty.
    if any(line.location and line.restock is Restock.NO_RESTOCK for line in basis.lines):
        raise ValueError("What is not put back into stock is put back nowhere.")
    shipping = basis.shipping
    if shipping is not None and (shipping.amount <= 0 or shipping.currency != currency):
        raise ValueError("Shipping is more than nothing, in the refund's own currency.")


def _transaction(part: RefundPart, *, order: str) -> Mapping[str, object]:
    return {
        "orderId": order,
        "parentId": part.parent,
        "gateway": part.gateway,
        "kind": "REFUND",
        "amount": part.money.canonical(),
    }


def _store_credit(parts: tuple[RefundPart, ...]) -> dict[str, object]:
    """Write store credit as `refundMethods`, inside the keyed mutation.

    In the presentment currency: the page's example gives one, and `currency` of the same input
    must be it; that the amount must be too is our inference, not Shopify's word.
    """
    # https://shopify.dev/docs/api/admin-graphql/latest/mutations/refundcreate, its example of a
    # refund to store credit, in a stored copy of 2025-07 (read 2026-11-30).
    credits_given = [
        {
            "storeCreditRefund": {
                "amount": {"amount": part.money.canonical(), "currencyCode": part.money.currency}
            }
        }
        for part in parts
        if part.parent is None
    ]
    return {"refundMethods": credits_given} if credits_given else {}
