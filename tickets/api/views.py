"""The endpoints: open a ticket, state a request, reopen.

Promises: the same external id with the same body is the same ticket, with another body a
conflict; what is stated again is stated once.
Does not know how a ticket reads with its intents: a subclass in `actions.api` names the document.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, ClassVar

from rest_framework.request import Request as HttpRequest
from rest_framework.response import Response

from integrations.api.bodies import NoBody
from integrations.api.problems import NOT_HERE, Problem, ProblemTable, ProblemType
from integrations.api.views import ApiView, one_moment
from integrations.clock import now
from integrations.queries import NotHere
from tickets.api.bodies import RequestBody, TicketBody
from tickets.api.documents import RequestDocument, TicketDocument
from tickets.models import Request, Ticket
from tickets.queries import request_named, ticket_named
from tickets.services import (
    AlreadyRevised,
    CustomerStatement,
    HandedOver,
    MayNotVerify,
    NotOpen,
    OpenedDifferently,
    Opening,
    Statement,
    open_ticket,
    reopen_ticket,
    state_request_once,
)

MAY_NOT_VERIFY = ProblemType(
    name="may-not-verify",
    status=HTTPStatus.FORBIDDEN,
    title="An AI can't vouch for a customer",
)
OPENED_DIFFERENTLY = ProblemType(
    name="opened-differently",
    status=HTTPStatus.CONFLICT,
    title="The external id is taken by another opening",
    advice=str(OpenedDifferently.__doc__),
)
NOT_OPEN = ProblemType(
    name="ticket-not-open", status=HTTPStatus.CONFLICT, title="The ticket is not open"
)
ALREADY_REVISED = ProblemType(
    name="already-revised",
    status=HTTPStatus.CONFLICT,
    title="The request was revised already",
)
HANDED_OVER = ProblemType(
    name="handed-over", status=HTTPStatus.CONFLICT, title="The brand's team has the ticket"
)


class TicketView(ApiView):
    """An endpoint that answers a ticket."""

    document_type: ClassVar[type[TicketDocument]] = TicketDocument
    problems: ClassVar[ProblemTable] = {
        MayNotVerify: MAY_NOT_VERIFY,
        NotOpen: NOT_OPEN,
        AlreadyRevised: ALREADY_REVISED,
        HandedOver: HANDED_OVER,
    }

    def ticket(self, public_id: str) -> Ticket:
        """Return a ticket of the token's workspace."""
        return ticket_named(public_id, workspace=self.workspace)

    def shown(self, ticket: Ticket, *, status: HTTPStatus = HTTPStatus.OK) -> Response:
        """Answer with the ticket as it stands."""
        with one_moment():
            data = self.document_type(self.ticket(ticket.public_id)).data
        return self.document(data, status=status)


class OpenTicket(TicketView):
    """Open a ticket."""

    def post(self, request: HttpRequest) -> Response:  # noqa: ARG002 - read by self.body
        """Open a ticket, or answer the one that the same body opened."""
        opening = _opening(self.body(TicketBody))
        try:
            opened = open_ticket(workspace=self.workspace, opening=opening, by=self.actor, at=now())
        except OpenedDifferently as other:
            raise Problem(OPENED_DIFFERENTLY, members={"ticket": other.ticket.public_id}) from other
        return self.shown(
            opened.ticket, status=HTTPStatus.CREATED if opened.is_new else HTTPStatus.OK
        )


class ShowTicket(TicketView):
    """Look a ticket up."""

    def get(self, request: HttpRequest, ticket: str) -> Response:  # noqa: ARG002 - DRF's signature
        """Answer the ticket with its requests, intents and resolutions."""
        with one_moment():
            return self.document(self.document_type(self.ticket(ticket)).data)


class StateRequest(TicketView):
    """State what the customer asks for."""

    request_type: ClassVar[type[RequestDocument]] = RequestDocument

    def post(self, request: HttpRequest, ticket: str) -> Response:  # noqa: ARG002 - read by self.body
        """State a request, revise one, or answer the one that says the very same."""
        row = self.ticket(ticket)
        said = self.body(RequestBody)
        stated = state_request_once(
            ticket=row, statement=_statement(row, said), by=self.actor, at=now()
        )
        with one_moment():
            data = self.request_type(request_named(stated.request.public_id, ticket=row)).data
        return self.document(data, status=HTTPStatus.CREATED if stated.is_new else HTTPStatus.OK)


class ReopenTicket(TicketView):
    """Reopen a closed ticket."""

    def post(self, request: HttpRequest, ticket: str) -> Response:  # noqa: ARG002 - read by self.body
        """Reopen a ticket; one that is open stays as it is."""
        row = self.ticket(ticket)
        self.body(NoBody)
        return self.shown(reopen_ticket(ticket=row, by=self.actor, at=now()))


def _opening(said: Mapping[str, Any]) -> Opening:
    return Opening(**{**said, "customer": CustomerStatement(**said["customer"])})


def _statement(ticket: Ticket, said: Mapping[str, Any]) -> Statement:
    revises = said.get("revises")
    return Statement(**{**said, "revises": revises and named_request(revises, ticket, "revises")})


def named_request(public_id: str, ticket: Ticket, field: str) -> Request:
    """Return the request that a field of a body names.

    Raises:
        Problem: The ticket has no such request, be it foreign or unknown.
    """
    try:
        return request_named(public_id, ticket=ticket)
    except NotHere:
        raise Problem(
            NOT_HERE,
            detail="Nothing was written: the ticket has no such request.",
            errors={field: ["The ticket has no such request; its document lists those it has."]},
        ) from None
