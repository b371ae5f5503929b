"""The filters of the Console's list of intents; the figures of its home page are links through them.

Promises: every filter offers the words of `actions.badges` and narrows by stored values alone; *in doubt* means here what it means on the home page.
Does not scope rows to a member: the list that it narrows is scoped already.
"""

from collections.abc import Iterable

from django.contrib.admin import SimpleListFilter
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from unfold.admin import ModelAdmin

from actions.attention import IN_DOUBT
from actions.badges import REASON_WORDS, STATE_BADGES
from actions.catalogue import KINDS
from actions.models import Intent
from actions.states import HeldReason, NeedsHuman, State
from integrations.money import EXPONENTS

Choices = Iterable[tuple[str, str]]

_GROUPS = {
    "in_doubt": ("in doubt: sent, and not known how it ended", IN_DOUBT),
    "set_aside": ("set aside by a person", Q(set_aside_at__isnull=False)),
}


class StateFilter(SimpleListFilter):
    """By state, or by a group of states that stands on the home page."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> Choices:
        """Offer the groups and every state."""
        states = [(state.value, shown.word) for state, shown in STATE_BADGES.items()]
        return [*((name, words) for name, (words, _) in _GROUPS.items()), *states]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Intent]) -> QuerySet[Intent]:
        """Narrow the list to a group or a state."""
        chosen = self.value()
        if chosen is None:
            return queryset
        return queryset.filter(_GROUPS[chosen][1] if chosen in _GROUPS else Q(state=chosen))


class HeldForFilter(SimpleListFilter):
    """By why it is held; offered once the list is narrowed to what is held."""

    title = "held because"
    parameter_name = "held_for"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> Choices:
        """Offer every reason to hold."""
        if request.GET.get("state") != State.HELD:
            return ()
        return [(reason.value, REASON_WORDS[reason]) for reason in HeldReason]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Intent]) -> QuerySet[Intent]:
        """Narrow the list to one reason."""
        return queryset.filter(state_reason=self.value()) if self.value() else queryset


class PersonFilter(SimpleListFilter):
    """By whether, and why, a person is needed."""

    title = "needs a person"
    parameter_name = "person"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> Choices:
        """Offer *any reason* and every reason."""
        reasons = [(reason.value, reason.value.replace("_", " ")) for reason in NeedsHuman]
        return [("any", "for any reason"), *reasons]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Intent]) -> QuerySet[Intent]:
        """Narrow the list to what needs a person."""
        match self.value():
            case None:
                return queryset
            case "any":
                return queryset.filter(needs_human_since__isnull=False)
            case reason:
                return queryset.filter(needs_human_reason=reason)


class KindFilter(SimpleListFilter):
    """By kind of action."""

    title = "kind"
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> Choices:
        """Offer every kind of the catalogue."""
        return [(name, name.replace("_", " ")) for name in KINDS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Intent]) -> QuerySet[Intent]:
        """Narrow the list to one kind."""
        return queryset.filter(kind=self.value()) if self.value() else queryset


class CurrencyFilter(SimpleListFilter):
    """By currency; it is not offered, a figure of the home page sets it."""

    title = "currency"
    parameter_name = "currency"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> Choices:
        """Offer the one that the address names."""
        named = request.GET.get(self.parameter_name, "")
        return [(named, named)] if named in EXPONENTS else ()

    def queryset(self, request: HttpRequest, queryset: QuerySet[Intent]) -> QuerySet[Intent]:
        """Narrow the list to one currency."""
        return queryset.filter(currency=self.value()) if self.value() else queryset
