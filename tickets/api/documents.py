"""How a ticket reads over the API, as far as it goes without intents.

Promises: the same fields whoever closed it; no personal data beyond the store's own customer
identifier.
Does not know intents and outcomes: `actions.api` adds them.
"""

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from integrations.actors import ActorKind
from integrations.api.documents import ActorOf, AmountOf, Document, PublicIdOf, choices
from tickets.models import CloseReason, Ticket, TicketStatus
from tickets.path import Resolver

_NO_REPLY_CHANNEL = (
    "The ticket came by the API, which has no reply channel: answer the customer where they wrote."
)
_NO_REPLIES_YET = "The ticket came from a helpdesk; replies can't be sent yet."


class CustomerDocument(Document):
    """Who writes, without personal data: the identifier is the store's own."""

    id = serializers.CharField(source="public_id")
    store_identifier = serializers.CharField()
    verified_at = serializers.DateTimeField(allow_null=True)
    verified_by = ActorOf("verified_by", allow_null=True)


class PathEntryDocument(Document):
    """One stay of an actor on a ticket."""

    kind = serializers.ChoiceField(choices(ActorKind))
    identity = serializers.CharField()
    since = serializers.DateTimeField()


class ReplyChannelDocument(Document):
    """Can a reply be sent?"""

    available = serializers.BooleanField()
    says = serializers.CharField()


class RequestDocument(Document):
    """What the customer asked for."""

    id = serializers.CharField(source="public_id")
    number = serializers.IntegerField()
    kind = serializers.CharField()
    target = serializers.CharField(help_text="Empty where none was named.")
    amount = AmountOf(allow_null=True)
    currency = serializers.CharField(help_text="Empty where no amount was named.")
    stated_by = ActorOf("stated_by")
    revises = PublicIdOf("revises", allow_null=True)
    revised_by = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField()

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_revised_by(self, request: object) -> str | None:
        """Return the request that stands instead; None where this one stands."""
        return next((row.public_id for row in request.revisions.all()), None)  # type: ignore[attr-defined]  # a reverse relation


class ResolutionDocument(Document):
    """One closing of a ticket."""

    id = serializers.CharField(source="public_id")
    status = serializers.ChoiceField(
        choices((TicketStatus.RESOLVED, TicketStatus.CLOSED_UNRESOLVED))
    )
    resolver = serializers.ChoiceField(choices(Resolver), allow_null=True)
    reason = serializers.SerializerMethodField()
    closed_by = ActorOf("closed_by")
    closed_at = serializers.DateTimeField()
    references = serializers.DictField(help_text="What the closing stands on.")
    reopened_at = serializers.DateTimeField(allow_null=True)
    reopened_by = ActorOf("reopened_by", allow_null=True)

    @extend_schema_field(serializers.ChoiceField(choices(CloseReason), allow_null=True))
    def get_reason(self, resolution: object) -> str | None:
        """Return why it was closed unresolved; None where it was resolved."""
        return resolution.reason or None  # type: ignore[attr-defined]  # a Resolution


class TicketDocument(Document):
    """A ticket: the unified case, whichever helpdesk it came from."""

    id = serializers.CharField(source="public_id")
    source = serializers.CharField(  # type: ignore[assignment]  # the ticket's
        help_text="A connection, or `api`."
    )
    external_id = serializers.CharField()
    status = serializers.ChoiceField(choices(TicketStatus))
    desk_status = serializers.CharField(help_text="The helpdesk's own status, kept apart.")
    channel = serializers.CharField()
    order_reference = serializers.CharField()
    customer = CustomerDocument(allow_null=True)
    path = PathEntryDocument(many=True, help_text="Who worked on it, in order.")
    resolver = serializers.ChoiceField(
        choices(Resolver), allow_null=True, help_text="Who closed it; null unless it is resolved."
    )
    reply_channel = serializers.SerializerMethodField()
    requests = RequestDocument(source="request_set", many=True)
    resolutions = ResolutionDocument(source="resolution_set", many=True)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()

    @extend_schema_field(ReplyChannelDocument)
    def get_reply_channel(self, ticket: Ticket) -> dict[str, object]:
        """Say whether a reply can be sent, and why not."""
        return {
            "available": False,
            "says": _NO_REPLIES_YET if ticket.has_reply_channel else _NO_REPLY_CHANNEL,
        }
