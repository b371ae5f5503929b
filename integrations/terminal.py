"""What commands ask of a person or a pipe: a secret, a yes.

Promises: a secret comes from a file, from standard input, or from a terminal without echo; never
from an argument, and no error repeats it or what stood in its place.
Does not know what the secret opens.
"""

import sys
from getpass import getpass
from pathlib import Path


class Unusable(Exception):
    """What was given can't be taken; the message says why, and never repeats it."""


def read_secret(*, name: str, file: str | None = None) -> str:
    """Return a secret of one line.

    Args:
        name: What it is, for the prompt and for errors.
        file: Where it stands; None for standard input.

    Raises:
        Unusable: There is none, more than one line, or no such file.
    """
    text = _from_file(name, file) if file is not None else _from_input(name)
    secret = text.removesuffix("\n").removesuffix("\r")
    if not secret:
        raise Unusable(f"No {name} was given.")
    if "\n" in secret:
        raise Unusable(f"The {name} is more than one line.")
    return secret


def read_new_password() -> str:
    """Return a password: at a terminal it is asked for twice, from a pipe it is the one line.

    Raises:
        Unusable: There is none, or the two differ.
    """
    password = read_secret(name="password")
    if sys.stdin.isatty() and getpass("password again: ") != password:
        raise Unusable("The two passwords differ.")
    return password


def confirmed(question: str) -> bool:
    """Ask at a terminal, and take only `yes` for yes.

    Raises:
        Unusable: There is no terminal to ask at.
    """
    if not sys.stdin.isatty():
        raise Unusable("There is no terminal to ask at: add --yes if it is meant.")
    return input(f"{question} Type yes to go on: ").strip() == "yes"


def _from_file(name: str, file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeError, ValueError):
        # Not even the file's name: whoever mixes the options up gives the secret in its place.
        raise Unusable(f"The file with the {name} can't be read: is it there, and text?") from None


def _from_input(name: str) -> str:
    return getpass(f"{name}: ") if sys.stdin.isatty() else sys.stdin.read()
