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

from actions.catalogue import KINDS
from actions.states import State
from integrations.api.bodies import MESSAGES, Body, Choice, Name, Text
from integrations.api.documents import choices
from tickets.models import CloseReason, TicketStatus

_WORDS_LENGTH_MAX = 5_000
_LIMIT_DEFAULT = 50
_LIMIT_MAX = 100


def _schema_of_params() -> dict[str, object]:
    """Return the parameters of every kind, as the catalogue itself reads them."""
    kinds = [kind.parameters.model_json_schema() for kind in KINDS.values()]
    return {"anyOf": kinds}


@extend_schema_field(_schema_of_params())
class Params(serializers.JSONField):
    """An object whose fields the kind knows."""

    default_error_messages = MESSAGES | {"invalid": "It must be an object, in braces."}

    def to_internal_value(self, data: object) -> Any:
        """Take the object as it is: the catalogue reads it."""
        if not isinstance(data, Mapping):
            self.fail("invalid")
        return dict(data)


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
    limit = serializers.IntegerField(
        min_value=1,
        max_value=_LIMIT_MAX,
        default=_LIMIT_DEFAULT,
        error_messages={
            "invalid": f"It must be a number from 1 to {_LIMIT_MAX}.",
            "min_value": f"It must be a number from 1 to {_LIMIT_MAX}.",
            "max_value": f"It must be a number from 1 to {_LIMIT_MAX}.",
        },
    )
    cursor = Name(max_length=40, required=False, help_text="From `next` of the page before.")
