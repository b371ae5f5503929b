"""Run a management command as the shell would, in this process.

Promises: the command parses its own arguments and leaves with its own exit status; what it printed
is handed back apart, standard output and standard error. Standard input is a pipe, never a
terminal, unless a test says so.
"""

import io
import sys
from dataclasses import dataclass

import pytest
from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What came of a command."""

    status: int
    out: str
    err: str


class Terminal(io.StringIO):
    """A standard input that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Shell:
    """Runs commands; made by the fixture `shell`."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys = capsys
        self._monkeypatch = monkeypatch

    def __call__(self, *arguments: str, stdin: str = "") -> Ran:
        return self._run(arguments, io.StringIO(stdin))

    def at_terminal(self, *arguments: str, typed: str) -> Ran:
        return self._run(arguments, Terminal(typed))

    def _run(self, arguments: tuple[str, ...], stdin: io.StringIO) -> Ran:
        name = arguments[0]
        self._monkeypatch.setattr(sys, "stdin", stdin)
        self._capsys.readouterr()
        app = get_commands()[name]
        command = app if isinstance(app, BaseCommand) else load_command_class(app, name)
        status = 0
        try:
            command.run_from_argv(["manage.py", *arguments])
        except SystemExit as left:
            status = int(left.code or 0)
        printed = self._capsys.readouterr()
        return Ran(status=status, out=printed.out, err=printed.err)
