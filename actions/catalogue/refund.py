"""The kind *refund*: give back money that a customer paid for an order, over the same payments.

Promises: an exact amount in the order's currency, allocated in the store's own order of payments
and never over what each can give back; *refunded* is said only when it is confirmed.
Does not read the store or send anything; no parameter holds personal data.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from actions.catalogue.kind import Kind, Parameters
from actions.keys import Canonical, digest
from actions.states import State
from integrations.money import InvalidMoney, Money, exponent, parse_money, total
from integrations.ports import (
    Capabilities,
    DutyShare,
    FrozenRequest,
    RefundBasis,
    RefundDuty,
    RefundLine,
    RefundOrder,
    RefundPart,
    Restock,
    SendOutcome,
    StorePort,
    SuggestedPart,
)

_ORDER_GID = re.compile(r"gid://shopify/Order/[1-9][0-9]{0,19}")
_LINE_GID = r"^gid://shopify/LineItem/[1-9][0-9]{0,19}$"
_LOCATION_GID = r"^gid://shopify/Location/[1-9][0-9]{0,19}$"
_DUTY_GID = r"^gid://shopify/Duty/[1-9][0-9]{0,19}$"
_LINES_MAX = 250

STORE_CREDIT = "store_credit"
"""The gateway of a part that goes to store credit, in allocations."""


class CannotAllocate(Exception):
    """The payments can't give back this amount exactly: read the order again, or ask for less."""


class _Given(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)


class LineParameters(_Given):
    """Some items of one line, and what becomes of them."""

    line: str = Field(pattern=_LINE_GID, description="As gid://shopify/LineItem/1001.")
    quantity: int = Field(ge=1, le=100_000)
    restock: Literal["cancel", "return", "no_restock"] = Field(
        description="cancel: not fulfilled yet, back into stock; return: fulfilled, come back."
    )
    location: str | None = Field(
        default=None,
        pattern=_LOCATION_GID,
        description="Where they are put back; left out, the store chooses.",
    )

    @model_validator(mode="after")
    def _restocks_somewhere(self) -> Self:
        if self.restock == "no_restock" and self.location is not None:
            raise ValueError("Items that are not put back have no location; leave it out.")
        return self


class DutyParameters(_Given):
    """One duty, and how much of it."""

    duty: str = Field(pattern=_DUTY_GID, description="As gid://shopify/Duty/1001.")
    share: Literal["full", "proportional"] = "full"


class RefundParameters(Parameters):
    """Which order, how much, and for what.

    The amount is always given, in the currency that the customer paid in. With lines, shipping or
    duties it may not be more than what the store itself reckons for them: a dry run shows that.
    """

    order: str
    currency: str
    amount: str
    lines: list[LineParameters] = Field(default=[], max_length=_LINES_MAX)
    shipping: str | None = Field(default=None, description="How much of the amount is shipping.")
    duties: list[DutyParameters] = Field(default=[], max_length=_LINES_MAX)

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

    @field_validator("shipping")
    @classmethod
    def _is_part_of_the_amount(cls, shipping: str | None, info: ValidationInfo) -> str | None:
        currency, amount = info.data.get("currency"), info.data.get("amount")
        if shipping is None or currency is None or amount is None:
            return shipping
        money = parse_money(shipping, currency)
        if money > parse_money(amount, currency):
            raise InvalidMoney(f"{money} of shipping is more than the amount of {amount}.")
        return money.canonical()

    @model_validator(mode="after")
    def _names_each_once(self) -> Self:
        lines = [line.line for line in self.lines]
        duties = [duty.duty for duty in self.duties]
        if len(set(lines)) < len(lines) or len(set(duties)) < len(duties):
            raise ValueError("Name each line and each duty once.")
        return self

    @property
    def target(self) -> str:
        """Return the order."""
        return self.order

    @property
    def money(self) -> Money:
        """Return the amount to give back."""
        return parse_money(self.amount, self.currency)

    @property
    def basis(self) -> RefundBasis:
        """Return the lines, the shipping and the duties that it is for."""
        return RefundBasis(
            lines=tuple(
                RefundLine(
                    line=given.line,
                    quantity=given.quantity,
                    restock=Restock(given.restock),
                    location=given.location,
                )
                for given in sorted(self.lines, key=lambda line: line.line)
            ),
            shipping=None if self.shipping is None else parse_money(self.shipping, self.currency),
            duties=tuple(
                RefundDuty(duty=given.duty, share=DutyShare(given.share))
                for given in sorted(self.duties, key=lambda duty: duty.duty)
            ),
        )

    def key_parameters(self) -> dict[str, Canonical]:
        """Return all of them: another amount, or the same for other lines, is another wish."""
        return self.canonical()

    def canonical(self) -> dict[str, Canonical]:
        """Return order, amount (at the currency's exponent) and currency; the rest where given."""
        return {
            "order": self.order,
            "amount": self.amount,
            "currency": self.currency,
            **_basis_record(self.basis),
        }


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


def to_store_credit(amount: Money) -> tuple[RefundPart, ...]:
    """Return the one part of a refund that goes to the customer's store credit."""
    return (RefundPart(parent=None, gateway=STORE_CREDIT, money=amount),)


def allocation_digest(
    *, order: str, parts: Sequence[RefundPart], basis: RefundBasis, notify: bool
) -> str:
    """Return the digest of an exact allocation: what is approved and what is sent."""
    spread: list[Canonical] = [[part.parent, part.gateway, part.money] for part in parts]
    return digest([order, spread, _basis_record(basis), notify])


def _basis_record(basis: RefundBasis) -> Mapping[str, Canonical]:
    """Spell a basis; what is not given has no name, so that a plain refund's key stays as it is."""
    record: dict[str, Canonical] = {}
    if basis.lines:
        record["lines"] = [_line_record(line) for line in basis.lines]
    if basis.shipping is not None:
        record["shipping"] = basis.shipping.canonical()
    if basis.duties:
        record["duties"] = [{"duty": d.duty, "share": d.share.value} for d in basis.duties]
    return record


def _line_record(line: RefundLine) -> Mapping[str, Canonical]:
    record: dict[str, Canonical] = {
        "line": line.line,
        "quantity": line.quantity,
        "restock": line.restock.value,
    }
    return record if line.location is None else record | {"location": line.location}


def _free(payment: SuggestedPart, reserved: Sequence[RefundPart]) -> Money:
    currency = payment.maximum.currency
    taken = total(
        (part.money for part in reserved if part.parent == payment.parent), currency=currency
    )
    return max(payment.maximum - taken, Money.zero(currency))


def capabilities(port: StorePort) -> Capabilities:
    """Return the contract for refunds."""
    return port.refund_capabilities


def freeze(
    port: StorePort,
    *,
    parameters: Parameters,
    parts: Sequence[RefundPart],
    marker: str,
    key: str,
    notify: bool,
) -> FrozenRequest:
    """Turn a gated refund into bytes."""
    refund = RefundOrder(
        order=parameters.target,
        parts=tuple(parts),
        marker=marker,
        key=key,
        notify=notify,
        basis=parameters.basis,
    )
    return port.freeze_refund(refund=refund)


def send(
    port: StorePort, *, frozen: FrozenRequest, before_write: Callable[[], None]
) -> SendOutcome:
    """Send a refund once."""
    return port.send_refund(frozen=frozen, before_write=before_write)


_ASKED = "The request for a refund of {money} is being processed."
_ON_ITS_WAY = "The refund of {money} is being processed."

REFUND = Kind(
    name="refund",
    target_kind="order",
    capabilities=capabilities,
    freeze=freeze,
    send=send,
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
        State.ACCEPTED: (
            "Of the refund of {money} another amount was made, and a person has agreed to that."
        ),
        State.FAILED: "The refund of {money} could not be made.",
        State.REFUSED: "A refund of {money} can't be made.",
        State.WITHDRAWN: "The request for a refund of {money} was taken back; none was made.",
        State.REVERSED: "The refund of {money} did not go through after all.",
    },
)
