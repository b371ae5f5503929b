"""The marker: a token that we place in a platform's own record, to find our effect again.

Promises: a marker is 120 random bits, derived from nothing, and is found whole or not at all.
Does not know what a marker marks, nor where a platform keeps it.
"""

import re
import secrets

_PREFIX = "rzv:"
_RANDOM_BYTES = 15
_WHOLE = re.compile(r"(?<!\S)rzv:[0-9a-f]{30}(?!\S)")


def new_marker() -> str:
    """Draw a marker: `rzv:` and 120 random bits in hexadecimal; one an intent."""
    return _PREFIX + secrets.token_hex(_RANDOM_BYTES)


def find_markers(text: str | None) -> tuple[str, ...]:
    """Find every marker in a platform's text, each between spaces or ends, each named once.

    More than one can't be told apart by a machine: that is for the caller to send to a person.
    """
    return tuple(dict.fromkeys(_WHOLE.findall(text or "")))
