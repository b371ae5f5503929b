"""The kind *refund*: give back money that a customer paid for an order, over the same payments.

Promises: an exact amount in the order's currency, allocated in the store's own order of payments
and never over what each can give back; *refunded* is said only when it is confirmed.
Does not read the store or send anything; no parameter holds personal data.
"""

import re
from collections.abc import Callable, Sequence

from pydantic import ValidationInfo, field_validator

from actions.catalogue.kind import Kind, Parameters
from actions.keys import Canonical, digest
from actions.states import State
from integrations.money import Money, exponent, parse_money, total
from integrations.ports import (
    Capabilities,
    FrozenRequest,
    RefundOrder,
    RefundPart,
    SendOutcome,
    StorePort,
    SuggestedPart,
)

_ORDER_GID = re.compile(r"gid://shopify/Order/[1-9][0-9]{0,19}")


class CannotAllocate(Exception):
    """The payments can't give back this amount exactly: read the order again, or ask for less."""


class RefundParameters(Parameters):
    """Which order, and how much."""

    order: str
    currency: str
    amount: str

    @field_validator("order")
    @classmethod
    def _is_an_order(cls, order: str) -> str:
        if not _ORDER_GID.fullmatch(order):
            raise ValueError("Give the order's full identifier, as gid://shopify/Order/1001.")
        return order

    @field_validator("currency")
    @classmethod
    def _is_a_currency(cls, currency: str) -> str:
        exponent(currency)
        return currency

    @field_validator("amount")
    @classmethod
    def _is_money(cls, amount: str, info: ValidationInfo) -> str:
        currency = info.data.get("currency")
        return amount if currency is None else parse_money(amount, currency).canonical()

    @property
    def target(self) -> str:
        """Return the order."""
        return self.order

    @property
    def money(self) -> Money:
        """Return the amount to give back."""
        return parse_money(self.amount, self.currency)

    def key_parameters(self) -> dict[str, Canonical]:
        """Return order, amount and currency: another amount is another wish."""
        return self.canonical()

    def canonical(self) -> dict[str, Canonical]:
        """Return order, amount (at the currency's exponent) and currency."""
        return {"order": self.order, "amount": self.amount, "currency": self.currency}


def allocate(
    amount: Money, *, suggested: Sequence[SuggestedPart], reserved: Sequence[RefundPart] = ()
) -> tuple[RefundPart, ...]:
    """Spread an amount over the payments, in the store's order, each up to its maximum.

    Args:
        amount: What to give back.
        suggested: The payments as the store suggests them now.
        reserved: What other open intents will take and the store doesn't show yet.

    Raises:
        CannotAllocate: The sum can't be exactly the amount.
    """
    left, parts = amount, []
    for payment in suggested:
        taken = min(left, _free(payment, reserved))
        if taken.amount > 0:
            parts.append(RefundPart(parent=payment.parent, gateway=payment.gateway, money=taken))
            left -= taken
    if left.amount or not parts:
        raise CannotAllocate(f"{amount} asked, of which {left} finds no payment to go back over.")
    return tuple(parts)


def allocation_digest(*, order: str, parts: Sequence[RefundPart]) -> str:
    """Return the digest of an exact allocation: what is approved and what is sent."""
    return digest([order, [[part.parent, part.gateway, part.money] for part in parts]])


def _free(payment: SuggestedPart, reserved: Sequence[RefundPart]) -> Money:
    currency = payment.maximum.currency
    taken = total(
        (part.money for part in reserved if part.parent == payment.parent), currency=currency
    )
    return max(payment.maximum - taken, Money.zero(currency))


def _capabilities(port: StorePort) -> Capabilities:
    return port.refund_capabilities


def _freeze(
    port: StorePort,
    *,
    parameters: Parameters,
    parts: Sequence[RefundPart],
    marker: str,
    key: str,
    notify: bool,
) -> FrozenRequest:
    refund = RefundOrder(
        order=parameters.target, parts=tuple(parts), marker=marker, key=key, notify=notify
    )
    return port.freeze_refund(refund=refund)


def _send(
    port: StorePort, *, frozen: FrozenRequest, before_write: Callable[[], None]
) -> SendOutcome:
    return port.send_refund(frozen=frozen, before_write=before_write)


_ASKED = "The request for a refund of {money} is being processed."
_ON_ITS_WAY = "The refund of {money} is being processed."

REFUND = Kind(
    name="refund",
    target_kind="order",
    capabilities=_capabilities,
    freeze=_freeze,
    send=_send,
    parameters=RefundParameters,
    # https://shopify.dev/docs/api/admin-graphql/latest/mutations/refundCreate ; read 2026-11-30
    required_scopes=frozenset({"read_orders", "write_orders"}),
    wording={
        State.PROPOSED: _ASKED,
        State.HELD: _ASKED,
        State.AWAITING_APPROVAL: _ASKED,
        State.AUTHORIZED: _ASKED,
        State.EXECUTING: _ON_ITS_WAY,
        State.UNKNOWN: _ON_ITS_WAY,
        State.PENDING: _ON_ITS_WAY,
        State.PARTIALLY_CONFIRMED: _ON_ITS_WAY,
        State.CONFIRMED: "{money} have been refunded.",
        State.ACCEPTED: "A person has settled the request for a refund of {money} another way.",
        State.FAILED: "The refund of {money} could not be made.",
        State.REFUSED: "A refund of {money} can't be made.",
        State.WITHDRAWN: "The request for a refund of {money} was taken back; none was made.",
        State.REVERSED: "The refund of {money} did not go through after all.",
    },
)
