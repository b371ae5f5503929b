"""A platform's own words, made fit to be kept as evidence.

Promises: what comes out is printable, short enough for its column, and holds neither an e-mail
address nor an international telephone number; evidence can't be erased, so it must not name people.
Does not know what the words mean: they are matched before they are cut.
"""

import re

STATUS_MAX = 40
GATEWAY_MAX = 120

_PEOPLE = (
    (re.compile(r"\S+@\S+"), "[address]"),
    (re.compile(r"\+[0-9][0-9 ()./-]{6,}[0-9]"), "[number]"),
)


def kept(text: str, *, longest: int) -> str:
    """Return what of a text may be kept."""
    for people, instead in _PEOPLE:
        text = people.sub(instead, text)
    # A row holds no NUL and no half of a surrogate pair, and a line in a log no line's end.
    return "".join(letter for letter in text if letter.isprintable())[:longest]
