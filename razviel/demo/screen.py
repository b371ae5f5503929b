"""What people see: colours and a spinner at a terminal, plain lines everywhere else.

Promises: fits 80 to 100 columns; a terminal or file that can't show a character shows another one
instead of failing. Does not know what is told.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper

from rich.console import Console, RenderableType
from rich.text import Text

_WIDTH_MAX = 100
_WIDTH_PLAIN = 96


class Screen:
    """Standard output, or another stream in a test."""

    def __init__(self, console: Console) -> None:
        self._console = console

    @classmethod
    def on_standard_output(cls) -> "Screen":
        """Return the screen of this process."""
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")
        console = Console(highlight=False, soft_wrap=False, emoji=False, markup=False)
        width = min(console.width, _WIDTH_MAX) if console.is_terminal else _WIDTH_PLAIN
        console.width = width
        return cls(console)

    @property
    def is_terminal(self) -> bool:
        """Does a person sit there?"""
        return self._console.is_terminal

    def say(self, sentence: str = "", *, style: str = "", indent: int = 0) -> None:
        """Write a sentence, wrapped within the width."""
        text = Text(sentence, style=style)
        space = " " * indent
        for line in text.wrap(self._console, max(20, self._console.width - indent)):
            line.rstrip()
            self._console.print(Text(space).append_text(line))

    def show(self, what: RenderableType) -> None:
        """Write a table."""
        self._console.print(what)

    @contextmanager
    def waiting(self, what: str) -> Iterator[Callable[[str], None]]:
        """Show that something takes time, where somebody watches; the block says what is next."""
        if not self.is_terminal:
            yield lambda _what: None
            return
        with self._console.status(what) as status:
            yield status.update
