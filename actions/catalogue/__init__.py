"""The catalogue: every kind of action that Razviel can carry out, one file each.

Promises: whatever is not in here can't be proposed; a new kind is a new file and one line below.
Does not know which kinds a brand has switched on: that is its policy.
"""

from collections.abc import Mapping

from actions.catalogue.kind import InvalidParameters, Kind, Parameters
from actions.catalogue.refund import REFUND, RefundParameters
from actions.catalogue.store_credit import STORE_CREDIT_KIND

KINDS: Mapping[str, Kind] = {kind.name: kind for kind in (REFUND, STORE_CREDIT_KIND)}
"""Every kind, by its name."""


class UnknownKind(LookupError):
    """There is no such kind of action: choose one that the message names."""


def kind_named(name: str) -> Kind:
    """Return the kind of that name.

    Raises:
        UnknownKind: The catalogue has no such kind.
    """
    if name not in KINDS:
        raise UnknownKind(f"There is no kind {name[:40]!r}; there is {', '.join(KINDS)}.")
    return KINDS[name]


__all__ = [
    "KINDS",
    "REFUND",
    "STORE_CREDIT_KIND",
    "InvalidParameters",
    "Kind",
    "Parameters",
    "RefundParameters",
    "UnknownKind",
    "kind_named",
]
