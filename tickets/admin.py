"""Tickets in the Console: the list, and one ticket with path, requests, resolutions and messages.

Promises: read-only, of the member's own workspaces alone (`integrations.admin`); subjects, messages
and texts are unsealed for members and escaped.
Does not know intents: `actions.console` adds what was done on a ticket.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from django.contrib.admin import display
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from integrations.admin import ConsolePage, Narrowing, WorkspaceFilter
from integrations.display import NOTHING, Badge, Tone, badge, identifier, moment, unsealed
from integrations.store_links import identifiers_meant
from tickets.models import Request, Ticket, TicketStatus
from tickets.path import PathEntry, Resolver

STATUS_BADGES = {
    TicketStatus.OPEN: Badge(word="open", tone=Tone.WAITING, sentence="nobody has acted yet"),
    TicketStatus.IN_PROGRESS: Badge(word="in progress", tone=Tone.BUSY, sentence="someone acted"),
    TicketStatus.RESOLVED: Badge(
        word="resolved", tone=Tone.GOOD, sentence="every request has its outcome"
    ),
    TicketStatus.HANDED_OVER: Badge(
        word="handed over", tone=Tone.WAITING, sentence="the brand's team has it in its helpdesk"
    ),
    TicketStatus.CLOSED_UNRESOLVED: Badge(
        word="closed unresolved", tone=Tone.QUIET, sentence="closed without an outcome"
    ),
}

SHOWN_MAX = 200
"""One page shows this many rows of a sort, the newest; it says so when there are more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stay:
    """One stay of an actor on the path, with its moment read."""

    kind: str
    identity: str
    since: datetime


class StatusFilter(Narrowing):
    """By where the ticket stands."""

    title = "status"
    parameter_name = "status"

    def offered(self, request: HttpRequest) -> Iterable[tuple[str, str]]:
        """Offer every status."""
        return [(status.value, shown.word) for status, shown in STATUS_BADGES.items()]

    def narrowed(self, rows: QuerySet[Ticket], chosen: str) -> QuerySet[Ticket]:
        """Narrow the list to one status."""
        return rows.filter(status=chosen)


class ResolverFilter(Narrowing):
    """By who closed it."""

    title = "resolver"
    parameter_name = "resolver"

    def offered(self, request: HttpRequest) -> Iterable[tuple[str, str]]:
        """Offer the three resolvers."""
        return [(resolver.value, resolver.value.replace("_", " ")) for resolver in Resolver]

    def narrowed(self, rows: QuerySet[Ticket], chosen: str) -> QuerySet[Ticket]:
        """Narrow the list to one resolver."""
        return rows.filter(resolver=chosen)


class TicketPage(ConsolePage):
    """The list of tickets, and one ticket."""

    page_template: ClassVar = "console/ticket.html"
    empty_title: ClassVar = "No tickets yet"
    empty_words: ClassVar = (
        "A ticket appears here when an integration or an agent opens one: POST /api/v1/tickets/ "
        "with a token of this workspace (manage.py token)."
    )
    list_display = ("name", "subject_words", "status_badge", "closed_by", "who", "source", "opened")
    list_filter = (StatusFilter, ResolverFilter, WorkspaceFilter)
    ordering = ("-created_at", "-pk")
    search_fields = ("public_id",)
    search_help_text = "Ticket, external, order, intent or refund id"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Ticket]:
        """Return the member's own tickets with what their pages stand on."""
        rows: QuerySet[Ticket] = super().get_queryset(request)
        return rows.select_related(
            "workspace", "subject__subject_key", "connection", "customer__email__subject_key"
        )

    def ways_to_find(self, rows: QuerySet[Ticket], typed: str) -> Sequence[QuerySet[Ticket]]:
        """Find by the ticket's own identifiers, its order or a request about the order."""
        meant = identifiers_meant(typed)
        about = Request.objects.filter(target__in=meant)
        return (
            rows.filter(public_id=typed),
            rows.filter(external_id=typed),
            rows.filter(order_reference__in=meant),
            rows.filter(pk__in=about.values("ticket")),
        )

    def page_context(self, row: Ticket) -> dict[str, object]:
        """Return the whole ticket; where there are very many rows, the oldest are left out."""
        requests = row.request_set.select_related("text__subject_key", "revises")
        messages = row.message_set.select_related("body__subject_key")
        return {
            "row": row,
            "status": STATUS_BADGES[TicketStatus(row.status)],
            "path": path_of(row.path),
            "requests": _in_order(requests, "number"),
            "resolutions": _in_order(row.resolution_set.all(), "closed_at"),
            "messages_of_ticket": _in_order(messages, "sent_at"),
            "shown_max": SHOWN_MAX,
        }

    @display(description="ticket")
    def name(self, ticket: Ticket) -> SafeString:
        """Write both identifiers: the source's and ours."""
        return format_html(
            '<span class="rz-two"><b>{}</b>{}</span>',
            ticket.external_id,
            identifier(ticket.public_id),
        )

    @display(description="subject")
    def subject_words(self, ticket: Ticket) -> SafeString:
        """Write the subject."""
        return format_html('<span class="rz-clip">{}</span>', unsealed(ticket.subject))

    @display(description="status")
    def status_badge(self, ticket: Ticket) -> SafeString:
        """Write the status."""
        return badge(STATUS_BADGES[TicketStatus(ticket.status)])

    @display(description="resolver")
    def closed_by(self, ticket: Ticket) -> str:
        """Write who closed it; a dash unless it is resolved."""
        return ticket.get_resolver_display() or NOTHING

    @display(description="worked on by")
    def who(self, ticket: Ticket) -> str:
        """Write the kinds of actors, in the order of the path."""
        kinds = [entry["kind"].replace("_", " ") for entry in ticket.path]
        return ", ".join(dict.fromkeys(kinds)) or NOTHING

    @display(description="came from")
    def source(self, ticket: Ticket) -> SafeString:
        """Write the connection or the API, and the workspace."""
        return format_html(
            '<span class="rz-two"><span>{}</span><span class="rz-none">{}</span></span>',
            ticket.connection.domain if ticket.connection else "API",
            ticket.workspace.name,
        )

    @display(description="opened")
    def opened(self, ticket: Ticket) -> SafeString:
        """Write when it came."""
        return moment(ticket.created_at)


def path_of(path: Sequence[PathEntry]) -> list[Stay]:
    """Read the path column for a page."""
    return [
        Stay(
            kind=entry["kind"].replace("_", " "),
            identity=entry["identity"],
            since=datetime.fromisoformat(entry["since"]),
        )
        for entry in path
    ]


def _in_order(rows: QuerySet, by: str) -> list[object]:  # type: ignore[type-arg]  # rows of any kind
    """Return the newest rows up to the bound, oldest first."""
    return list(rows.order_by(f"-{by}", "-pk")[:SHOWN_MAX])[::-1]
