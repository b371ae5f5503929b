"""What callers send about tickets.

Promises: only what is listed here can be said; nobody sets a state, a resolver, a workspace or a
key.
Does not know what follows: that is `tickets.services`.
"""

from typing import Any

from django.core.validators import RegexValidator
from rest_framework import serializers

from integrations.api.bodies import Body, Flag, Name, Text
from integrations.money import InvalidMoney, Money, exponent, parse_money

_MESSAGE_LENGTH_MAX = 100_000
_KIND = RegexValidator(
    r"\A[a-z][a-z0-9_]*\Z", "It must be a word in small letters, as refund or change_address."
)
_EMAIL_LENGTH_MAX = 254


class CustomerBody(Body):
    """Who writes. An `ai` token may not state that they are verified."""

    store_identifier = Name(
        max_length=200, required=False, help_text="As gid://shopify/Customer/1001."
    )
    email = Name(
        max_length=_EMAIL_LENGTH_MAX,
        required=False,
        validators=[RegexValidator(r"\A[^@\s]+@[^@\s]+\Z", "It must be an e-mail address.")],
        help_text="Sealed with the customer's own key, and never answered.",
    )
    verified = Flag(required=False, help_text="Only a human_node, brand_team or system token may.")


class TicketBody(Body):
    """A new ticket."""

    external_id = Name(max_length=200, help_text="Your own identifier of the case.")
    customer = CustomerBody()
    subject = Text(max_length=1000, required=False, allow_blank=True)
    channel = Name(max_length=40, required=False, allow_blank=True)
    order_reference = Name(max_length=200, required=False, allow_blank=True)
    message = Text(max_length=_MESSAGE_LENGTH_MAX, required=False, allow_blank=True)


class RequestBody(Body):
    """What the customer asks for; amount and currency together or not at all."""

    kind = Name(max_length=40, validators=[_KIND], help_text="As refund.")
    target = Name(
        max_length=200, required=False, allow_blank=True, help_text="As gid://shopify/Order/1001."
    )
    amount = Text(max_length=40, required=False, help_text="Digits with at most one point: 12.50.")
    currency = Text(max_length=3, required=False, help_text="ISO 4217, as EUR.")
    text = Text(max_length=_MESSAGE_LENGTH_MAX, required=False, allow_blank=True)
    revises = Name(max_length=40, required=False, help_text="The request that this one replaces.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Read amount and currency as money."""
        return attrs | {"money": _money(attrs.pop("amount", None), attrs.pop("currency", None))}


def _money(amount: str | None, currency: str | None) -> Money | None:
    if amount is None and currency is None:
        return None
    if amount is None or currency is None:
        missing = "amount" if amount is None else "currency"
        raise serializers.ValidationError(
            {missing: ["Amount and currency go together: give both, or neither."]}
        )
    try:
        exponent(currency)
    except InvalidMoney as invalid:
        raise serializers.ValidationError({"currency": [str(invalid)]}) from None
    try:
        return parse_money(amount, currency)
    except InvalidMoney as invalid:
        raise serializers.ValidationError({"amount": [str(invalid)]}) from None
