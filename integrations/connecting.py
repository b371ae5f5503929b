"""Connect an account, check it, and stop a connection whose platform does not let us in.

Promises: a connection stays bound to the account that first answered; what blocks it is kept with its moment until a person connects again.
Does not know intents: what was on its way is held or read by `actions`.
"""

from datetime import datetime

import structlog

from integrations.models import Connection
from integrations.ports import BlockedBy

log = structlog.get_logger(__name__)


def block(connection: Connection, blocked_by: BlockedBy, *, at: datetime) -> None:
    """Stop every send on a connection until a person connects it again; the first reason stands."""
    changed = Connection.objects.filter(pk=connection.pk, blocked_by="").update(
        blocked_by=blocked_by, blocked_at=at
    )
    if changed:
        log.error(
            "connection.blocked", connection=connection.public_id, blocked_by=blocked_by.value
        )
    connection.refresh_from_db(fields=["blocked_by", "blocked_at"])


def may_be_read(connection: Connection, *, at: datetime) -> bool:
    """May the platform be asked? A pause and a kill switch stop writes, never reads; an open circuit and a platform that shuts us out stop both."""
    if connection.circuit_open_until is not None and connection.circuit_open_until > at:
        return False
    return connection.blocked_by in ("", BlockedBy.API_VERSION)
