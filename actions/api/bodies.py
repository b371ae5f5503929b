"""What callers send about actions.

Promises: only what is listed here can be said; the server derives the key, and no caller sets a
state, a cap or an approver.
Does not know what follows: that is `actions.services` and `actions.closing`.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils.dateparse import parse_datetime
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from actions.api.inlining import without_references
from actions.catalogue import KINDS
from actions.policy import policy_schema
from actions.states import State
from integrations.api.bodies import MESSAGES, Body, Choice, Name, Text
from integrations.api.documents import choices
from integrations.money import InvalidMoney, exponent, parse_money
from tickets.models import CloseReason, TicketStatus

_WORDS_LENGTH_MAX = 5_000
_LIMIT_DEFAULT = 50
_LIMIT_MAX = 100
_NUMBER_MAX = 2**31 - 1


def _schema_of_params() -> dict[str, object]:
    """Return the parameters of every kind, as the catalogue itself reads them, each form once."""
    models = dict.fromkeys(kind.parameters for kind in KINDS.values())
    return {"anyOf": [without_references(model.model_json_schema()) for model in models]}


class Object(serializers.JSONField):
    """An object whose fields somebody else knows."""

    default_error_messages = MESSAGES | {"invalid": "It must be an object, in braces."}

    def to_internal_value(self, data: object) -> Any:
        """Take the object as it is."""
        if not isinstance(data, Mapping):
            self.fail("invalid")
        return dict(data)


@extend_schema_field(_schema_of_params())
class Params(Object):
    """An object whose fields the kind knows; the catalogue reads it."""


@extend_schema_field(without_references(policy_schema()))
class PolicyObject(Object):
    """A whole policy; `actions.policy` reads it."""


class ProposalBody(Body):
    """One action that is wanted."""

    kind = Name(max_length=40, help_text="As refund.")
    request = Name(max_length=40, help_text="The request that it serves.")
    params = Params()
    reason = Text(
        max_length=_WORDS_LENGTH_MAX,
        required=False,
        allow_blank=True,
        help_text="Why; sealed with the customer's own key.",
    )
    connection = Name(
        max_length=40, required=False, help_text="The store, where the workspace has several."
    )
    repeat_of = Name(
        max_length=40,
        required=False,
        help_text=(
            "The newest occurrence of the same action, to be done once more. Who may depends on "
            "how that one ended."
        ),
    )
    acknowledges = Name(
        max_length=200,
        required=False,
        help_text=(
            "With `repeat_of`: the identifier of what stands on the platform already, where it "
            "was confirmed or accepted."
        ),
    )
    corrects = Name(
        max_length=40,
        required=False,
        help_text="An intent that failed or was refused, which this one corrects.",
    )
    remainder_of = Name(
        max_length=40,
        required=False,
        help_text="An intent that was accepted in part or reversed, of which this is the rest.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Hold an acknowledgement to the repeat that it belongs to."""
        if "acknowledges" in attrs and "repeat_of" not in attrs:
            raise serializers.ValidationError(
                {"acknowledges": ["It belongs to `repeat_of`; leave it out."]}
            )
        return attrs


class AskedFlag(serializers.BooleanField):
    """`true` or `false` in a query string, and nothing that resembles them."""

    default_error_messages = {"invalid": "It must be true or false."}

    def to_internal_value(self, data: object) -> bool:
        """Refuse `1`, `yes`, `True` and their kin."""
        if data not in ("true", "false"):
            self.fail("invalid", input=data)
        return data == "true"


class ProposalQuery(Body):
    """How a proposal is meant."""

    dry_run = AskedFlag(
        default=False,
        help_text="Have it judged on the store as it is now, and record nothing.",
    )


class WordBody(Body):
    """What a person says, of exactly what they were shown."""

    digest = Name(
        max_length=64, help_text="`decision.shown_digest` of the intent as you were shown it."
    )
    reason = Text(
        max_length=_WORDS_LENGTH_MAX,
        required=False,
        allow_blank=True,
        help_text="Why; sealed with the customer's own key.",
    )


class AcceptBody(Body):
    """What a person accepts instead of what was asked."""

    amount = Text(max_length=40, help_text="Exactly what stands there: 12.50.")
    currency = Text(max_length=3, help_text="ISO 4217, as EUR.")
    reason = Text(
        max_length=_WORDS_LENGTH_MAX, help_text="Why; sealed with the customer's own key."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Read amount and currency as money."""
        field = "currency"
        try:
            exponent(attrs["currency"])
            field = "amount"
            money = parse_money(attrs["amount"], attrs["currency"])
        except InvalidMoney as invalid:
            raise serializers.ValidationError({field: [str(invalid)]}) from None
        return attrs | {"money": money}


class Count(serializers.IntegerField):
    """A whole number, and nothing that resembles one."""

    def __init__(self, *, smallest: int, largest: int, **kwargs: Any) -> None:
        said = f"It must be a number from {smallest} to {largest}."
        refused = ("invalid", "min_value", "max_value", "max_string_length")
        messages = MESSAGES | dict.fromkeys(refused, said)
        super().__init__(min_value=smallest, max_value=largest, error_messages=messages, **kwargs)


class WholeNumber(Count):
    """A whole number in JSON: no text, no fraction, no flag."""

    def to_internal_value(self, data: object) -> int:
        """Refuse `"1"`, 1.0 and true."""
        if not isinstance(data, int) or isinstance(data, bool):
            self.fail("invalid")
        return super().to_internal_value(data)


class PolicyBody(Body):
    """A workspace's whole policy, as it shall be."""

    document = PolicyObject()
    based_on = WholeNumber(
        smallest=1,
        largest=_NUMBER_MAX,
        required=False,
        help_text="The version that you had before you; refused where another one is in force.",
    )


class PolicyVersionsQuery(Body):
    """Which versions are asked for."""

    limit = Count(smallest=1, largest=_LIMIT_MAX, default=_LIMIT_DEFAULT)
    before = Count(
        smallest=1,
        largest=_NUMBER_MAX,
        required=False,
        help_text="Only older versions than this; from `next` of the page before.",
    )


class FulfilmentBody(Body):
    """A person's word why something else than what was asked fulfils a request."""

    request = Name(max_length=40)
    why = Text(max_length=_WORDS_LENGTH_MAX)
    intent = Name(max_length=40, required=False, help_text="The intent that did it, if one did.")


class CloseBody(Body):
    """How a ticket is closed."""

    status = Choice(choices((TicketStatus.RESOLVED, TicketStatus.CLOSED_UNRESOLVED)))
    reason = Choice(
        choices(CloseReason),
        required=False,
        help_text="Needed with closed_unresolved, and only there.",
    )
    fulfilments = FulfilmentBody(
        many=True, required=False, help_text="Only with resolved, and only by a person's token."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Hold reason and fulfilments to the status that they belong to."""
        is_resolved = attrs["status"] == TicketStatus.RESOLVED
        if is_resolved and "reason" in attrs:
            raise serializers.ValidationError(
                {"reason": ["A resolved ticket has outcomes instead of a reason; leave it out."]}
            )
        if not is_resolved and "reason" not in attrs:
            raise serializers.ValidationError({"reason": ["It is missing; say why."]})
        if not is_resolved and attrs.get("fulfilments"):
            raise serializers.ValidationError(
                {"fulfilments": ["They belong to `resolved`; leave them out."]}
            )
        return attrs


class Moment(serializers.DateTimeField):
    """A moment with its offset."""

    default_error_messages = {
        "invalid": "It must be a moment as 2026-11-30T10:00:00Z; write the + of an offset as %2B.",
    }

    def to_internal_value(self, value: Any) -> datetime:
        """Refuse a moment without an offset: whose clock would it mean?"""
        try:
            moment = parse_datetime(str(value))
        except ValueError:
            moment = None
        if moment is None or moment.tzinfo is None:
            self.fail("invalid", format="")
        return super().to_internal_value(moment)


class IntentQuery(Body):
    """Which intents are asked for."""

    state = Choice(choices(State), required=False)
    kind = Name(max_length=40, required=False)
    updated_since = Moment(required=False)
    limit = Count(smallest=1, largest=_LIMIT_MAX, default=_LIMIT_DEFAULT)
    cursor = Name(max_length=40, required=False, help_text="From `next` of the page before.")
