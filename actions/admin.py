"""Intents in the Console: the list, one intent's timeline, and what was done on a ticket.

Promises: read-only, of the member's own workspaces alone (`integrations.admin`); a state always
stands with its word and its honest sentence; what may be said to a customer is the kind's own.
Does not move an intent, judge it or read a platform.
"""

from collections.abc import Sequence
from typing import Any, ClassVar
from uuid import UUID

from django.contrib.admin import display
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from actions.badges import SET_ASIDE, needs_human_badge, state_badge
from actions.catalogue import kind_named
from actions.filters import (
    CurrencyFilter,
    HeldForFilter,
    KindFilter,
    PersonFilter,
    StateFilter,
)
from actions.models import ExternalObject, Intent, Outcome
from actions.states import State
from actions.timeline import ROWS_MAX, timeline
from integrations.admin import ConsolePage, RealityFilter, StoreFilter, WorkspaceFilter
from integrations.display import SANDBOX, badge, identifier, moment, money, stated
from integrations.store_links import identifiers_meant, store_page
from tickets.admin import SHOWN_MAX
from tickets.admin import TicketPage as BareTicketPage
from tickets.models import Ticket


class IntentPage(ConsolePage):
    """The list of intents, and one intent with its timeline."""

    page_template: ClassVar = "console/intent.html"
    empty_title: ClassVar = "No intents yet"
    empty_words: ClassVar = (
        "An intent appears here when an agent or a person proposes an action on a ticket: "
        "POST /api/v1/tickets/{id}/intents/."
    )
    list_display = ("name", "state_words", "amount_words", "about", "where", "touched")
    list_filter = (
        StateFilter,
        HeldForFilter,
        PersonFilter,
        KindFilter,
        StoreFilter,
        RealityFilter,
        CurrencyFilter,
        WorkspaceFilter,
    )
    ordering = ("-updated_at", "-pk")
    search_fields = ("public_id",)
    search_help_text = "Intent, ticket, external, order or refund id"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Intent]:
        """Return the member's own intents with what their pages stand on."""
        rows: QuerySet[Intent] = super().get_queryset(request)
        return rows.select_related(
            "workspace",
            "ticket",
            "target",
            "connection",
            "request",
            "reason__subject_key",
            "set_aside_reason__subject_key",
        ).defer("body", "document")

    def ways_to_find(self, rows: QuerySet[Intent], typed: str) -> Sequence[QuerySet[Intent]]:
        """Find by an identifier of the intent, its ticket, its target or its external object."""
        meant = identifiers_meant(typed)
        return (
            rows.filter(public_id=typed),
            rows.filter(marker=typed),
            rows.filter(key__in=_as_key(typed)),
            rows.filter(ticket__public_id=typed),
            rows.filter(ticket__external_id=typed),
            rows.filter(target__identifier__in=meant),
            rows.filter(pk__in=_proven_by(meant)),
        )

    def page_context(self, row: Intent) -> dict[str, object]:
        """Return the intent's timeline, and what stands above it."""
        lived = timeline(row)
        return {
            "row": row,
            "state": state_badge(row),
            "needs_human": needs_human_badge(row),
            "set_aside": SET_ASIDE if row.set_aside_at else None,
            "sandbox": SANDBOX if row.connection.is_sandbox else None,
            "may_be_said": may_be_said(row),
            "external_objects": list(row.external_objects.order_by("pk")[:SHOWN_MAX]),
            "linked": _linked(row),
            "store_page": store_page(row.connection, row.target.identifier),
            "entries": lived.entries,
            "is_cut": lived.is_cut,
            "rows_max": ROWS_MAX,
        }

    @display(description="intent")
    def name(self, intent: Intent) -> SafeString:
        """Write what it does, whose wish it is, and its public id."""
        return format_html(
            '<span class="rz-two"><span><b>{}</b> by {} {}</span>{}</span>',
            intent.kind,
            intent.proposer_kind.replace("_", " "),
            intent.proposer_identity,
            identifier(intent.public_id),
        )

    @display(description="state")
    def state_words(self, intent: Intent) -> SafeString:
        """Write the state with its sentence, and whether it needs a person."""
        wanted = needs_human_badge(intent)
        return format_html(
            '<span class="rz-state">{}{}{}</span>',
            stated(state_badge(intent)),
            badge(wanted) if wanted else "",
            badge(SET_ASIDE) if intent.set_aside_at else "",
        )

    @display(description="amount")
    def amount_words(self, intent: Intent) -> SafeString:
        """Write the amount; a sandbox's is marked."""
        amount = money(intent.amount, intent.currency)
        if not intent.connection.is_sandbox:
            return format_html('<span class="rz-money">{}</span>', amount)
        return format_html('<span class="rz-money">{}</span> {}', amount, badge(SANDBOX))

    @display(description="about")
    def about(self, intent: Intent) -> SafeString:
        """Write ticket and target."""
        return format_html(
            '<span class="rz-two"><span>{}</span>{}</span>',
            intent.ticket.external_id,
            identifier(intent.target.identifier),
        )

    @display(description="store")
    def where(self, intent: Intent) -> SafeString:
        """Write the store and its workspace."""
        return format_html(
            '<span class="rz-two"><span>{}</span><span class="rz-none">{}</span></span>',
            intent.connection.domain,
            intent.workspace.name,
        )

    @display(description="last change")
    def touched(self, intent: Intent) -> SafeString:
        """Write when it last changed."""
        return moment(intent.updated_at)


class TicketPage(BareTicketPage):
    """A ticket's page with what was done on it: intents with their states, outcomes."""

    def ways_to_find(self, rows: QuerySet[Ticket], typed: str) -> Sequence[QuerySet[Ticket]]:
        """Find also by an intent or by the external object that it made."""
        intents = Intent.objects.filter(pk__in=_proven_by(identifiers_meant(typed)))
        return (
            *super().ways_to_find(rows, typed),
            rows.filter(pk__in=Intent.objects.filter(public_id=typed).values("ticket")),
            rows.filter(pk__in=intents.values("ticket")),
        )

    def page_context(self, row: Ticket) -> dict[str, object]:
        """Return the ticket with its intents and outcomes."""
        objects = Prefetch("external_objects", queryset=ExternalObject.objects.order_by("pk"))
        intents = (
            row.intent_set.select_related("connection", "target")
            .defer("body", "document")
            .prefetch_related(objects)
            .order_by("-created_at", "-pk")[:SHOWN_MAX]
        )
        outcomes = Outcome.objects.filter(request__ticket=row).select_related(
            "request", "external_object", "intent", "statement__subject_key"
        )
        return super().page_context(row) | {
            "intents": [
                {
                    "row": intent,
                    "state": state_badge(intent),
                    "needs_human": needs_human_badge(intent),
                    "sandbox": SANDBOX if intent.connection.is_sandbox else None,
                    "external_objects": list(intent.external_objects.all()),
                }
                for intent in intents
            ],
            "outcomes": list(outcomes.order_by("created_at", "pk")[:SHOWN_MAX]),
        }


def may_be_said(intent: Intent) -> str:
    """Return the sentence that is true for anyone now; empty where no money gives it its words."""
    asked = intent.money
    if asked is None:
        return ""
    return kind_named(intent.kind).may_be_said(state=State(intent.state), money=asked)


def _linked(intent: Intent) -> list[tuple[str, Intent]]:
    """Return the intents that this one stands in a line with, each with its relation."""
    columns = ("repeat_of", "corrects", "remainder_of", "waits_for")
    named = {column: getattr(intent, f"{column}_id") for column in columns}
    rows = Intent.objects.defer("body", "document").in_bulk(
        [pk for pk in named.values() if pk is not None]
    )
    return [(column.replace("_", " "), rows[pk]) for column, pk in named.items() if pk is not None]


def _proven_by(identifiers: Sequence[str]) -> QuerySet[ExternalObject, Any]:
    """Return the intents that external objects of these identifiers belong to, for a sub-query."""
    rows = ExternalObject.objects.filter(identifier__in=identifiers, intent__isnull=False)
    return rows.values("intent")


def _as_key(typed: str) -> list[UUID]:
    try:
        return [UUID(typed)]
    except ValueError:
        return []
