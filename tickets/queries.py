"""What is asked about tickets, by those who may see a workspace.

Promises: everything is looked up in one workspace, by public identifier.
Does not know intents.
"""

from integrations.models import Workspace
from integrations.queries import row_named
from tickets.models import Request, Resolution, Ticket


def ticket_named(public_id: str, *, workspace: Workspace) -> Ticket:
    """Return a ticket of the workspace.

    Raises:
        NotHere: The workspace has no such ticket.
    """
    rows = Ticket.objects.filter(workspace=workspace)
    return row_named(rows.select_related("customer", "connection", "workspace"), public_id)


def request_named(public_id: str, *, ticket: Ticket) -> Request:
    """Return a request of the ticket.

    Raises:
        NotHere: The ticket has no such request.
    """
    rows = Request.objects.filter(ticket=ticket, workspace_id=ticket.workspace_id)
    return row_named(rows.select_related("ticket__customer__subject_key"), public_id)


def standing_resolution(ticket: Ticket) -> Resolution | None:
    """Return how the ticket stands closed; None while it is open."""
    return Resolution.objects.filter(ticket=ticket, reopened_at=None).first()
