"""Make `.venv` from the hashed lock if it is missing or stale, then run one of the make verbs.

Run by path with any Python 3.11 or newer; standard library only, since nothing is installed yet.
Promises: an interrupted or failed install heals at the next call; two calls at once wait for one
another; every failure is one sentence that says what to do. Does not know: Django, the servers.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent.parent.parent
OLDEST_PYTHON = (3, 11)
# The first pip that installs into another environment with --python.
# https://pip.pypa.io/en/stable/news/#v22-3 (read 2026-11-30)
OLDEST_FOREIGN_PIP = (22, 3)
EMBEDDED = ["-m", "razviel.embedded"]
KEPT = [*EMBEDDED, "--keep", os.environ.get("RAZVIEL_STATE") or ".razviel"]
LOOPBACK_PLATFORMS = {"RAZVIEL_ALLOW_PRIVATE_PLATFORMS": "1"}
QUIET = {"RAZVIEL_LOG_LEVEL": "WARNING"}
# Two workers: on two cores they ran twice as many tests in the same time as one.
PYTEST = ["-m", "pytest", "-q"]
LINT_IMPORTS = ["-c", "from importlinter.cli import lint_imports_command as lint; lint()"]
MISSING_MIGRATIONS = [
    # Looking for missing migrations needs no database; Django warns that it could not reach one.
    *["-W", "ignore:Got an error checking a consistent migration history"],
    *["manage.py", "makemigrations", "--check", "--dry-run", "--settings", "tests.settings"],
]


class Stop(Exception):
    """The environment can't be made; the message says why and what to do."""


@dataclass(frozen=True)  # no slots: Python 3.9 must still read this file to say no
class Verb:
    """What a make verb needs installed and what the environment's Python runs, in order."""

    lock: str
    commands: list[list[str]]
    environment: dict[str, str] = field(default_factory=dict)
    passes_arguments: bool = True


VERBS: dict[str, Verb] = {
    "demo": Verb("dev", [[*EMBEDDED, "manage.py", "demo"]], LOOPBACK_PLATFORMS),
    "bench": Verb("dev", [[*EMBEDDED, "manage.py", "bench"]], LOOPBACK_PLATFORMS),
    "run": Verb("dev", [[*KEPT, "-m", "razviel.embedded.run"]]),
    "manage": Verb("dev", [[*KEPT, "--join", "manage.py"]], QUIET),
    "test": Verb("dev", [[*PYTEST, "-n", "2"]]),
    "test-fast": Verb("dev", [[*PYTEST, "-x", "-m", "not slow and not browser"]]),
    "check": Verb(
        "lint",
        [
            ["-m", "ruff", "format", "--check", "--quiet", "."],
            ["-m", "ruff", "check", "--quiet", "."],
            LINT_IMPORTS,
            ["-m", "mypy"],
            MISSING_MIGRATIONS,
        ],
        passes_arguments=False,
    ),
    "fmt": Verb("lint", [["-m", "ruff", "check", "--fix", "."], ["-m", "ruff", "format", "."]]),
    "install": Verb("dev", []),
}


def main(arguments: list[str]) -> int:
    """Run `VERB ARGUMENTS…` and return the exit status."""
    name, *rest = arguments or ["demo"]
    try:
        verb = named(name)
        check_python(tuple(sys.version_info[:2]))
        python = Environment(ROOT).ensure(verb.lock)
    except Stop as stop:
        say(str(stop))
        return 1
    return run(verb, python, rest)


def named(name: str) -> Verb:
    """Return the verb of this name."""
    if name not in VERBS:
        raise Stop(f"There is no verb {name!r}; there are: {', '.join(VERBS)}.")
    return VERBS[name]


def check_python(version: tuple[int, ...]) -> None:
    """Refuse a Python that the lock has no packages for."""
    if version < OLDEST_PYTHON:
        raise Stop(
            f"Razviel needs Python 3.11 or newer and this is {version[0]}.{version[1]}: run "
            "`make PYTHON=...` with a newer one, such as PYTHON=python3.12."
        )


def run(verb: Verb, python: Path, arguments: list[str]) -> int:
    """Run a verb's commands until one fails; the last one replaces this process."""
    environment = {**verb.environment, **os.environ}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # .pyc files halve each later start
    os.chdir(ROOT)
    passed = list(arguments) if verb.passes_arguments else []
    for number, command in enumerate(verb.commands, start=1):
        full = [str(python), *command, *passed]
        if number == len(verb.commands):
            sys.stdout.flush()
            os.execve(str(python), full, environment)  # noqa: S606 - no shell is what is wanted
        status = subprocess.run(full, env=environment, check=False).returncode
        if status:
            return status
    return 0


class Environment:
    """The project's virtual environment and the stamp that says what is in it.

    The stamp lists the pins that were installed and by which Python. It is taken away before an
    install and written whole after it, so that an interrupted one leaves none.
    """

    def __init__(self, root: Path) -> None:
        """Take the project's folder."""
        self.folder = root / ".venv"
        self.locks = root / "requirements"
        self.stamp = self.folder / ".razviel-stamp.json"
        self.python = self.folder / "bin" / "python"

    def ensure(self, lock: str) -> Path:
        """Return the environment's Python, with every pin of the lock installed."""
        self.folder.mkdir(exist_ok=True)
        # Beside the folder, not in it: the folder may be cleared.
        with open(self.folder.with_name(".venv.lock"), "w") as handle:
            self._wait_for(handle)
            if not self.has(pins(self._file(lock))):
                self._install(lock)
        return self.python

    def has(self, wanted: set[str]) -> bool:
        """Tell whether all these pins are installed, for this Python, and it still runs."""
        installed = self._stamped()
        return wanted <= installed and os.access(str(self.python), os.X_OK)

    def _file(self, lock: str) -> Path:
        return self.locks / (f"{lock}.txt")

    def _wait_for(self, handle: IO[str]) -> None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Waiting for another make to finish its installation")
            fcntl.flock(handle, fcntl.LOCK_EX)

    def _stamped(self) -> set[str]:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            kept = json.loads(self.stamp.read_text())
            if kept["python"] == identity():
                return set(kept["pins"])
        return set()

    def _install(self, lock: str) -> None:
        before = self._stamped()
        wanted = pins(self._file(lock))
        known = set().union(*(pins(path) for path in self.locks.glob("*.txt")))
        # What no lock names any more must go, else it would hide that it is missing.
        grows = bool(before) and before <= known and os.access(str(self.python), os.X_OK)
        say(f"Installing {len(wanted)} packages into .venv (once)")
        with contextlib.suppress(FileNotFoundError):
            self.stamp.unlink()
        self._install_by_first_tool(self._file(lock), fresh=not grows)
        text = json.dumps(
            {"python": identity(), "pins": sorted(wanted | before if grows else wanted)}
        )
        unfinished = self.stamp.with_suffix(".new")
        unfinished.write_text(text)
        unfinished.replace(self.stamp)

    def _install_by_first_tool(self, lock: Path, *, fresh: bool) -> None:
        uv = None if os.environ.get("RAZVIEL_INSTALLER") == "pip" else shutil.which("uv")
        if uv and self._by_uv(uv, lock, fresh=fresh):
            return
        if not self._by_pip(lock, fresh=fresh):
            raise Stop(
                "The packages could not be installed; the reason stands above. If there is no "
                "network, connect or point pip at a mirror (PIP_INDEX_URL), then call this again: "
                "it starts afresh."
            )

    def _by_uv(self, uv: str, lock: Path, *, fresh: bool) -> bool:
        if fresh:
            made = call([uv, "venv", "-q", "--clear", "--python", sys.executable, self.folder])
            if not made:
                return False
        options = ["-q", "--require-hashes", "--python", str(self.python)]
        return call([uv, "pip", "install", *options, "-r", lock])

    def _by_pip(self, lock: Path, *, fresh: bool) -> bool:
        own = foreign_pip()
        if fresh:
            try:
                venv.EnvBuilder(clear=True, symlinks=True, with_pip=own is None).create(self.folder)
            # Debian's own venv leaves by SystemExit where ensurepip is a package apart.
            except (subprocess.CalledProcessError, OSError, SystemExit) as cause:
                raise Stop(no_pip_sentence()) from cause
        pip: list[str | Path] = [self.python, "-m", "pip"]
        if own:
            pip = [*own, "--python", self.python]
        options = ["-q", "--disable-pip-version-check", "--no-input", "--retries", "2"]
        limits = ["--no-compile", "--only-binary", ":all:", "--require-hashes"]
        return call([*pip, "install", *options, *limits, "-r", lock])


def pins(lock: Path) -> set[str]:
    """Return a lock's packages as `name==version; marker` with a digest of their hashes."""
    try:
        text = lock.read_text()
    except FileNotFoundError as cause:
        raise Stop(f"{lock} is missing: restore it with `git checkout`.") from cause
    entries = text.replace("\\\n", " ").splitlines()
    return {
        f"{line.split(' --hash')[0].strip()} {hashlib.sha256(line.encode()).hexdigest()[:16]}"
        for line in entries
        if line.strip() and not line.startswith("#")
    }


def identity() -> str:
    """Say which Python an environment was made by; another one makes it anew."""
    return f"{sys.version} {os.path.realpath(sys.executable)}"


def foreign_pip() -> list[str] | None:
    """Return the command of this Python's pip if it can install into another environment."""
    command = [sys.executable, "-m", "pip"]
    answer = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    if answer.returncode:
        return None
    number = answer.stdout.split()[1].split(".")
    return command if tuple(int(part) for part in number[:2]) >= OLDEST_FOREIGN_PIP else None


def no_pip_sentence() -> str:
    """Say what is missing when neither pip nor ensurepip is there, with Debian's remedy."""
    return (
        "This Python has neither pip nor ensurepip, so nothing can be installed. On Debian or "
        "Ubuntu: apt install python3-pip python3-venv. Or put uv on PATH (https://docs.astral.sh/uv/)."
    )


def call(command: list[str | Path]) -> bool:
    """Run an installer and tell whether it succeeded; what it said is shown only if not."""
    answer = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False
    )
    if answer.returncode:
        say((answer.stdout + answer.stderr).strip()[-4000:])
    return answer.returncode == 0


def say(sentence: str) -> None:
    """Tell what takes time."""
    sys.stderr.write(f"{sentence}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
