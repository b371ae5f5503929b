"""The folder that a set of embedded servers lives in.

Promises: mode 0700 and owned by the servers' account; held by a lock as long as its owner
lives, so that two owners never share it; throw-away folders of dead owners are removed by the
next start. Does not know: what is put inside.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from razviel.embedded.account import Account
from razviel.embedded.faults import EmbeddedFault, StateTaken

PREFIX = "razviel-"
_LOCK_NAME = "owner.lock"
_ADDRESSES_NAME = "addresses.json"
_UNLOCKED_GRACE_SECONDS = 600


@dataclass(slots=True, kw_only=True)
class StateFolder:
    """A locked folder; `short` is a throw-away one under /tmp for sockets and logs."""

    path: Path
    lock: int
    throw_away: bool

    def release(self) -> None:
        """Give up the lock, and remove the folder if it is a throw-away one."""
        if self.throw_away:
            shutil.rmtree(self.path, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.close(self.lock)


def temporary_root() -> Path:
    """Return a short writable folder: a Unix socket's path may have about 100 bytes."""
    short = Path("/tmp")  # noqa: S108 - only for mkdtemp, which makes an unguessable 0700 folder
    return short if os.access(short, os.W_OK | os.X_OK) else Path(tempfile.gettempdir())


def open_throw_away(account: Account, *, root: Path | None = None) -> StateFolder:
    """Make a fresh folder that is removed on release; clear away those of dead owners."""
    root = root or temporary_root()
    remove_abandoned(account, root=root)
    while True:
        path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=root))
        lock = _try_lock(path)
        if lock is not None:
            account.own(path)
            return StateFolder(path=path, lock=lock, throw_away=True)


def open_kept(account: Account, path: Path) -> StateFolder:
    """Open a lasting folder.

    Raises:
        StateTaken: another process holds it.
        EmbeddedFault: the servers' account can't reach it.
    """
    path.mkdir(parents=True, exist_ok=True)
    lock = _try_lock(path)
    if lock is None:
        message = (
            f"Another Razviel runs on {path}. "
            "Stop it first, or set RAZVIEL_STATE to another folder."
        )
        raise StateTaken(message)
    account.own(path)
    path.chmod(0o700)
    if not account.can_write(path):
        os.close(lock)
        message = (
            f"The servers run as an unprivileged account, which can't reach {path}. "
            "Set RAZVIEL_STATE to a folder outside of private ones, or run as an ordinary user."
        )
        raise EmbeddedFault(message)
    return StateFolder(path=path, lock=lock, throw_away=False)


def publish(folder: StateFolder, addresses: dict[str, str]) -> Callable[[], None]:
    """Let other commands of the same folder join its servers; returns what takes that back."""
    file = folder.path / _ADDRESSES_NAME
    fresh = file.with_suffix(".new")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
        json.dump(addresses, out)
    fresh.replace(file)
    return lambda: file.unlink(missing_ok=True)


def published(path: Path) -> dict[str, str] | None:
    """Return the addresses of whoever holds a folder now; None where nobody does, or not yet."""
    if not (path / _LOCK_NAME).exists():
        return None
    lock = _try_lock(path)
    if lock is not None:
        os.close(lock)
        return None
    with contextlib.suppress(FileNotFoundError):
        kept = json.loads((path / _ADDRESSES_NAME).read_text())
        return {str(name): str(value) for name, value in kept.items()}
    return None


def remove_abandoned(account: Account, *, root: Path) -> list[Path]:
    """Remove throw-away folders whose owner is dead, and return them."""
    removed = []
    for path in root.glob(f"{PREFIX}*"):
        if _is_ours(path, account) and _is_abandoned(path):
            shutil.rmtree(path, ignore_errors=True)
            removed.append(path)
    return removed


def _is_ours(path: Path, account: Account) -> bool:
    try:
        status = path.lstat()
    except FileNotFoundError:  # its owner removed it meanwhile
        return False
    return path.is_dir() and not path.is_symlink() and status.st_uid in {os.geteuid(), account.uid}


def _is_abandoned(path: Path) -> bool:
    try:
        lock = os.open(path / _LOCK_NAME, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        # Either just made and not locked yet, or half removed long ago.
        return _age_seconds(path) > _UNLOCKED_GRACE_SECONDS
    except OSError:  # not ours to open
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
    return True


def _age_seconds(path: Path) -> float:
    try:
        return time.time() - path.lstat().st_mtime
    except FileNotFoundError:
        return 0.0


def _try_lock(path: Path) -> int | None:
    """Take the folder's lock; None when somebody has it. It ends with this process."""
    lock = os.open(path / _LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    return lock
