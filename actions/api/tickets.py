"""A ticket as it reads with its intents and outcomes, and the endpoints that answer it.

Promises: one document of a ticket, whichever endpoint answers it, in a fixed number of queries;
closing is judged by `actions.closing` alone.
Does not know how tickets are opened and requests stated: that is `tickets.api`.
"""

from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from drf_spectacular.utils import (
    extend_schema,
    extend_schema_view,
)
from rest_framework import serializers
from rest_framework.request import Request as HttpRequest
from rest_framework.response import Response

from actions.api.bodies import CloseBody
from actions.api.documents import IntentInShort
from actions.api.evidence import ExternalReferenceDocument
from actions.api.views import named_intent
from actions.closing import Fulfilment, NotResolvable, close_unresolved, resolve
from actions.models import Outcome
from actions.queries import with_history
from integrations.api.bodies import NoBody
from integrations.api.documents import ActorOf, Document, PublicIdOf
from integrations.api.problems import INVALID_FIELDS, Problem, ProblemType
from integrations.api.schema import answers
from integrations.clock import now
from tickets.api import bodies, documents, views
from tickets.models import CloseReason, Ticket, TicketStatus
from tickets.queries import standing_resolution
from tickets.services import NotOpen

_NOT_FOUND, _CONFLICT = HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT

NOT_RESOLVABLE = ProblemType(
    name="not-resolvable",
    status=HTTPStatus.CONFLICT,
    title="The ticket can't be closed like this yet",
    advice="Nothing was written. Each sentence in `errors` says what is missing.",
)


class OutcomeDocument(Document):
    """The platform fact that fulfils a request, or a person's word why it does."""

    external_reference = ExternalReferenceDocument(source="external_object", allow_null=True)
    intent = PublicIdOf("intent", allow_null=True)
    stated_by_a_person = serializers.SerializerMethodField()
    by = ActorOf("by")
    created_at = serializers.DateTimeField()

    def get_stated_by_a_person(self, outcome: Outcome) -> bool:
        """Say whether it stands on a person's word."""
        return outcome.statement_id is not None


class RequestDocument(documents.RequestDocument):
    """What the customer asked for, with what fulfils it."""

    outcomes = OutcomeDocument(many=True)


class TicketDocument(documents.TicketDocument):
    """A ticket with its requests, their outcomes, its intents in short and its resolutions."""

    requests = RequestDocument(source="request_set", many=True)
    intents = IntentInShort(source="intent_set", many=True)

    def to_representation(self, instance: Ticket) -> dict[str, object]:
        """Load all that is shown at once."""
        shown: dict[str, object] = super().to_representation(with_history(instance))
        return shown


@extend_schema_view(
    post=extend_schema(
        operation_id="open_ticket",
        summary="Open a ticket",
        description=(
            "The same external id with the same body is answered with the first ticket; with "
            "another body it is a conflict."
        ),
        request=bodies.TicketBody,
        responses=answers(
            {HTTPStatus.CREATED: TicketDocument, HTTPStatus.OK: TicketDocument},
            problems=[_CONFLICT],
        ),
    )
)
class OpenTicket(views.OpenTicket):
    """Open a ticket."""

    document_type = TicketDocument


@extend_schema_view(
    get=extend_schema(
        operation_id="show_ticket",
        summary="Look a ticket up",
        responses=answers({HTTPStatus.OK: TicketDocument}, problems=[_NOT_FOUND], has_body=False),
    )
)
class ShowTicket(views.ShowTicket):
    """Look a ticket up."""

    document_type = TicketDocument


@extend_schema_view(
    post=extend_schema(
        operation_id="state_request",
        summary="State what the customer asks for, or revise it",
        description="A statement that says the same as one that stands is answered with that one.",
        request=bodies.RequestBody,
        responses=answers(
            {HTTPStatus.CREATED: RequestDocument, HTTPStatus.OK: RequestDocument},
            problems=[_NOT_FOUND, _CONFLICT],
        ),
    )
)
class StateRequest(views.StateRequest):
    """State what the customer asks for."""

    document_type = TicketDocument
    request_type = RequestDocument


@extend_schema_view(
    post=extend_schema(
        operation_id="reopen_ticket",
        summary="Reopen a closed ticket",
        description="Its resolution stays, marked as reopened. An open ticket stays as it is.",
        request=NoBody,
        responses=answers({HTTPStatus.OK: TicketDocument}, problems=[_NOT_FOUND, _CONFLICT]),
    )
)
class ReopenTicket(views.ReopenTicket):
    """Reopen a closed ticket."""

    document_type = TicketDocument


class CloseTicket(views.TicketView):
    """Close a ticket."""

    document_type = TicketDocument

    @extend_schema(
        operation_id="close_ticket",
        summary="Close a ticket, resolved or unresolved",
        description=(
            "Resolved needs an outcome for each request: a confirmed action that is what was "
            "asked, or a person's word why something else fulfils it. The same closing sent again "
            "is answered with the closed ticket."
        ),
        request=CloseBody,
        responses=answers({HTTPStatus.OK: TicketDocument}, problems=[_NOT_FOUND, _CONFLICT]),
    )
    def post(self, request: HttpRequest, ticket: str) -> Response:  # noqa: ARG002 - read by self.body
        """Close the ticket, or say what is missing."""
        row = self.ticket(ticket)
        said = self.body(CloseBody)
        try:
            self._close(row, said)
        except NotOpen:
            if not _stands_closed_like_this(row, said):
                raise
        except NotResolvable as refused:
            raise Problem(NOT_RESOLVABLE, errors={"status": refused.sentences}) from refused
        return self.shown(row)

    def _close(self, ticket: Ticket, said: Mapping[str, Any]) -> None:
        if said["status"] == TicketStatus.CLOSED_UNRESOLVED:
            reason = CloseReason(said["reason"])
            close_unresolved(ticket=ticket, reason=reason, by=self.actor, at=now())
        else:
            fulfilments = list(_fulfilments(ticket, said.get("fulfilments", ())))
            resolve(ticket=ticket, by=self.actor, at=now(), fulfilments=fulfilments)


def _stands_closed_like_this(ticket: Ticket, said: Mapping[str, Any]) -> bool:
    """Is this the closing that stands, sent again? A person's new words are never dropped."""
    standing = standing_resolution(ticket)
    return (
        standing is not None
        and not said.get("fulfilments")
        and (standing.status, standing.reason) == (said["status"], said.get("reason", ""))
    )


def _fulfilments(ticket: Ticket, said: Sequence[Mapping[str, Any]]) -> Iterator[Fulfilment]:
    seen = set()
    for number, one in enumerate(said):
        field = f"fulfilments.{number}"
        request = views.named_request(one["request"], ticket, f"{field}.request")
        if request.pk in seen or request.revisions.exists():
            sentence = "The request was revised or is named twice; name each that stands, once."
            raise Problem(INVALID_FIELDS, errors={f"{field}.request": [sentence]})
        seen.add(request.pk)
        intent = one.get("intent") and named_intent(one["intent"], ticket, f"{field}.intent")
        yield Fulfilment(request=request, why=one["why"], intent=intent or None)
