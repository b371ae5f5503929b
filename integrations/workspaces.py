"""Find a workspace, and stop or let go its writes.

Promises: a pause and a kill switch hold from the next look at the row on, which is the last one
before the first byte; doing it twice changes nothing and keeps the first moment.
Does not know what is stopped: gate and fence look at the row.
"""

from datetime import datetime

import structlog

from integrations.models import Workspace

log = structlog.get_logger(__name__)


class NoSuchWorkspace(LookupError):
    """There is no workspace of that name: `manage.py workspace list` shows those that there are."""


def workspace_named(slug: str) -> Workspace:
    """Return a workspace by its slug.

    Raises:
        NoSuchWorkspace: There is none.
    """
    found = Workspace.objects.filter(slug=slug).first()
    if found is None:
        raise NoSuchWorkspace(
            f"There is no workspace {slug[:60]!r}; `manage.py workspace list` shows those "
            "that there are."
        )
    return found


def pause(workspace: Workspace, *, at: datetime) -> bool:
    """Hold every write of a workspace for the time being; say whether that is new."""
    return _set(workspace, "paused_at", at)


def resume(workspace: Workspace) -> bool:
    """End a pause; say whether there was one."""
    return _set(workspace, "paused_at", None)


def kill_writes(workspace: Workspace, *, at: datetime) -> bool:
    """Pull the kill switch: no write of the workspace leaves any more; say whether that is new."""
    return _set(workspace, "writes_killed_at", at)


def allow_writes(workspace: Workspace) -> bool:
    """Put the kill switch back; say whether it was pulled."""
    return _set(workspace, "writes_killed_at", None)


def _set(workspace: Workspace, column: str, value: datetime | None) -> bool:
    others = Workspace.objects.filter(pk=workspace.pk, **{f"{column}__isnull": value is not None})
    changed = others.update(**{column: value}) == 1
    workspace.refresh_from_db(fields=[column])
    if changed:
        log.warning(
            "workspace.switched", workspace=workspace.public_id, switch=column, on=value is not None
        )
    return changed
