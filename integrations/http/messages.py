"""What goes into one exchange and what comes out of it.

Promises: no body and no header value appears in a repr, so that neither a log nor a traceback with
local variables shows a credential or a customer.
Does not know sockets, or any platform.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from integrations.addresses import PlatformUrl
from integrations.ports import NotSent, OutcomeUnknown

_HEADER_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_TARGET = re.compile(r"(?:/[A-Za-z0-9._~-]+)+")


class BadRequest(ValueError):
    """The request can't be written as HTTP; the message names the part and never quotes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """One POST to a platform.

    Raises:
        BadRequest: The target or a header can't be written as it stands.
    """

    base: PlatformUrl
    target: str
    """The path under the base, e.g. `/admin/api/2026-10/graphql.json`."""
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    deadline_seconds: float
    """For the whole exchange: name look-up, connect, TLS, write, and the whole answer."""

    def __post_init__(self) -> None:
        if _TARGET.fullmatch(self.target) is None:
            raise BadRequest("The target is not a plain path.")
        for name, value in self.headers.items():
            if _HEADER_VALUE.fullmatch(value) is None:
                raise BadRequest(f"The value of {name} can't stand in a header.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A complete answer, whatever its status says."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    """By lower-case name."""
    body: bytes = field(repr=False)
    duration_ms: int

    def header(self, name: str) -> str:
        """Return a header's value, or nothing."""
        return self.headers.get(name.lower(), "")


HttpOutcome = Answer | NotSent | OutcomeUnknown
