"""Looking a row up for someone outside: by its public identifier, among the rows of one workspace.

Promises: what belongs to another workspace and what does not exist are the same answer.
Does not know which rows these are: callers give them, scoped.
"""

from typing import TypeVar

from django.db.models import Model, QuerySet

from integrations.models import Connection, Workspace

Row = TypeVar("Row", bound=Model)


class NotHere(LookupError):
    """The workspace has nothing by this identifier: check it, and whose token it is."""


def row_named(rows: QuerySet[Row], public_id: str) -> Row:
    """Return the row with a public identifier.

    Raises:
        NotHere: None of these rows has it.
    """
    row = rows.filter(public_id=public_id).first()
    if row is None:
        raise NotHere
    return row


def connection_named(public_id: str, *, workspace: Workspace) -> Connection:
    """Return a connection of the workspace.

    Raises:
        NotHere: The workspace has no such connection.
    """
    return row_named(Connection.objects.filter(workspace=workspace), public_id)
