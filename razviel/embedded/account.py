"""The operating-system account that the embedded servers run under.

Promises: PostgreSQL never runs as root, which it refuses; nothing is added to the system and
no folder's mode is changed for it. Does not know: which server is started.
"""

from __future__ import annotations

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from razviel.embedded.faults import EmbeddedFault

# initdb looks its user up in the passwd database, so a bare numeric id would not do.
_UNPRIVILEGED_NAMES = ("postgres", "nobody")


class SpawnIdentity(TypedDict, total=False):
    """The arguments by which `subprocess` changes a child's identity."""

    user: int
    group: int
    extra_groups: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Who the servers run as: ourselves, or for root an unprivileged account."""

    uid: int
    gid: int
    changes: bool

    def spawn_identity(self) -> SpawnIdentity:
        """Return what `subprocess` needs to start a child as this account."""
        if not self.changes:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def own(self, path: Path) -> None:
        """Give a file or folder to this account."""
        if self.changes:
            os.chown(path, self.uid, self.gid)

    def can_run(self, program: Path) -> str | None:
        """Return what `program --version` says when run as this account, None when it can't."""
        try:
            answer = subprocess.run(
                [str(program), "--version"],
                capture_output=True,
                text=True,
                timeout=20,
                cwd="/",
                check=False,
                **self.spawn_identity(),
            )
        except (OSError, subprocess.SubprocessError):
            return None
        return answer.stdout.strip() if answer.returncode == 0 else None

    def can_write(self, folder: Path) -> bool:
        """Tell whether this account reaches the folder and may write in it."""
        answer = subprocess.run(
            ["/bin/sh", "-c", 'test -w "$1" && test -x "$1"', "sh", str(folder)],
            cwd="/",
            check=False,
            **self.spawn_identity(),
        )
        return answer.returncode == 0


def server_account() -> Account:
    """Return the account for the servers.

    Raises:
        EmbeddedFault: root, and no unprivileged account exists.
    """
    if os.geteuid() != 0:
        return Account(uid=os.geteuid(), gid=os.getegid(), changes=False)
    for name in _UNPRIVILEGED_NAMES:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(uid=entry.pw_uid, gid=entry.pw_gid, changes=True)
    message = (
        "PostgreSQL refuses to run as root, and neither 'postgres' nor 'nobody' exists here. "
        "Run as an ordinary user, or set DATABASE_URL and REDIS_URL."
    )
    raise EmbeddedFault(message)
