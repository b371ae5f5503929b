"""The filters of the Console's list of intents; the figures of its home page link through them.

Promises: every filter offers the words of `actions.badges` and narrows by stored values alone;
*in doubt* means here what it means on the home page.
Does not scope rows to a member: the list that it narrows is scoped already.
"""

from collections.abc import Iterable

from django.db.models import Q, QuerySet
from django.http import HttpRequest

from actions.attention import IN_DOUBT
from actions.badges import REASON_WORDS, STATE_BADGES
from actions.catalogue import KINDS
from actions.models import Intent
from actions.states import HeldReason, NeedsHuman, State
from integrations.admin import Narrowing
from integrations.money import EXPONENTS

Choices = Iterable[tuple[str, str]]

_ANY = "any"
_GROUPS = {
    "in_doubt": ("in doubt: sent, and not known how it ended", IN_DOUBT),
    "set_aside": ("set aside by a person", Q(set_aside_at__isnull=False)),
}


class StateFilter(Narrowing):
    """By state, or by a group of states that stands on the home page."""

    title = "state"
    parameter_name = "state"

    def offered(self, request: HttpRequest) -> Choices:
        """Offer the groups and every state."""
        states = [(state.value, STATE_BADGES[state].word) for state in State]
        return [*((name, words) for name, (words, _) in _GROUPS.items()), *states]

    def narrowed(self, rows: QuerySet[Intent], chosen: str) -> QuerySet[Intent]:
        """Narrow the list to a group or a state."""
        return rows.filter(_GROUPS[chosen][1] if chosen in _GROUPS else Q(state=chosen))


class HeldForFilter(Narrowing):
    """By why it is held; offered once the list is narrowed to what is held."""

    title = "held because"
    parameter_name = "held_for"

    def offered(self, request: HttpRequest) -> Choices:
        """Offer every reason to hold."""
        if request.GET.get("state") != State.HELD:
            return ()
        return [(reason.value, REASON_WORDS[reason]) for reason in HeldReason]

    def narrowed(self, rows: QuerySet[Intent], chosen: str) -> QuerySet[Intent]:
        """Narrow the list to one reason."""
        return rows.filter(state_reason=chosen)


class PersonFilter(Narrowing):
    """By whether, and why, a person is needed."""

    title = "needs a person"
    parameter_name = "person"

    def offered(self, request: HttpRequest) -> Choices:
        """Offer *any reason* and every reason."""
        reasons = [(reason.value, reason.value.replace("_", " ")) for reason in NeedsHuman]
        return [(_ANY, "for any reason"), *reasons]

    def narrowed(self, rows: QuerySet[Intent], chosen: str) -> QuerySet[Intent]:
        """Narrow the list to what needs a person."""
        if chosen == _ANY:
            return rows.filter(needs_human_since__isnull=False)
        return rows.filter(needs_human_reason=chosen)


class KindFilter(Narrowing):
    """By kind of action."""

    title = "kind"
    parameter_name = "kind"

    def offered(self, request: HttpRequest) -> Choices:
        """Offer every kind of the catalogue."""
        return [(name, name.replace("_", " ")) for name in KINDS]

    def narrowed(self, rows: QuerySet[Intent], chosen: str) -> QuerySet[Intent]:
        """Narrow the list to one kind."""
        return rows.filter(kind=chosen)


class CurrencyFilter(Narrowing):
    """By currency; it is not offered, a figure of the home page sets it."""

    title = "currency"
    parameter_name = "currency"

    def offered(self, request: HttpRequest) -> Choices:
        """Offer the one that the address names."""
        named = request.GET.get(self.parameter_name, "")
        return [(named, named)] if named in EXPONENTS else ()

    def narrowed(self, rows: QuerySet[Intent], chosen: str) -> QuerySet[Intent]:
        """Narrow the list to one currency."""
        return rows.filter(currency=chosen)
