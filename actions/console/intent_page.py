"""Intents in the Console: the list, one intent's timeline, and what a person may do about it.

Promises: of the member's own workspaces alone (`integrations.admin`); a state always stands with
its word and its honest sentence; what may be said to a customer is the kind's own; a form is
offered only to whom the role allows it, and asked again when it is sent.
Does not move an intent or judge it: a word goes to its service (`actions.console.deeds`).
"""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar
from uuid import UUID

from django.contrib.admin import display
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from actions.badges import SET_ASIDE, needs_human_badge, state_badge
from actions.catalogue import kind_named
from actions.console.asks import ask_of
from actions.console.deeds import DEEDS, NoReason
from actions.console.endings import (
    acceptable,
    is_correctable,
    may_be_taken_back,
    repeatable,
    rest_of,
)
from actions.console.holds import hold_of
from actions.console.pages import back, may_not, refused, told
from actions.console.refusals import REFUSALS
from actions.console.seats import Deed, Seat, seat_in
from actions.filters import (
    CurrencyFilter,
    HeldForFilter,
    KindFilter,
    PersonFilter,
    StateFilter,
)
from actions.models import ExternalObject, Intent
from actions.states import State
from actions.timeline import ROWS_MAX, timeline
from integrations.admin import (
    ConsolePage,
    RealityFilter,
    StoreFilter,
    View,
    WorkspaceFilter,
    takes_post,
)
from integrations.display import SANDBOX, badge, identifier, moment, money, stated
from integrations.money import Money
from integrations.store_links import identifiers_meant, store_page
from tickets.admin import SHOWN_MAX


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
            "accepted_reason__subject_key",
            "remainder_of",
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
            rows.filter(pk__in=proven_by(meant)),
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
            "shop_money": _shop_money(row),
            "may_be_said": may_be_said(row),
            "external_objects": list(row.external_objects.order_by("pk")[:SHOWN_MAX]),
            "linked": _linked(row),
            "store_page": store_page(row.connection, row.target.identifier),
            "entries": lived.entries,
            "is_cut": lived.is_cut,
            "rows_max": ROWS_MAX,
        }

    def forms_context(self, request: HttpRequest, row: Intent) -> dict[str, object]:
        """Return what this person may do about the intent, with what they look at first."""
        seat = seat_in(row.workspace, request.user)
        hold, repeat = hold_of(row), None
        if seat.may(Deed.REPEAT):
            repeat = repeatable(row, seat=seat)
        return {
            "ask": ask_of(row, seat=seat),
            "hold": hold,
            "acceptable": acceptable(row),
            "repeatable": repeat,
            "may": {deed.value: seat.may(deed) for deed in Deed},
            "may_be_taken_back": seat.may(Deed.WITHDRAW) and may_be_taken_back(row),
            **_follow_ups(row, seat),
        }

    def verbs(self) -> Iterable[tuple[str, str, View]]:
        """Return one address for each deed."""
        return [(deed.value.replace("_", "-"), deed.value, self._taking(deed)) for deed in DEEDS]

    def _taking(self, deed: Deed) -> View:
        """Return the view that takes a person's word for one deed."""

        @takes_post
        def view(request: HttpRequest, public_id: str) -> HttpResponse:
            row = self.own_row(request, public_id)
            if request.method != "POST":
                return back(request, row)
            seat = seat_in(row.workspace, request.user)
            if not seat.may(deed):
                return may_not(request, self.admin_site.each_context(request), deed)
            try:
                answer = DEEDS[deed](row, request.POST, seat=seat)
            except (*REFUSALS, NoReason) as refusal:
                refused(request, refusal, row)
                return back(request, row)
            told(request, answer.sentence)
            return back(request, answer.intent)

        view.__name__ = f"{deed.value}_view"
        return view

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


def may_be_said(intent: Intent) -> str:
    """Return the sentence that is true for anyone now; empty where no money gives it its words."""
    asked = intent.money
    if asked is None:
        return ""
    return kind_named(intent.kind).may_be_said(state=State(intent.state), money=asked)


def _shop_money(intent: Intent) -> Money | None:
    """Return what it counts in the shop's currency, where that is another one."""
    if intent.shop_amount is None or intent.shop_currency == intent.currency:
        return None
    return Money(amount=intent.shop_amount, currency=intent.shop_currency)


def _follow_ups(intent: Intent, seat: Seat) -> dict[str, object]:
    """Return where another proposal may follow: one that corrects it, or the rest of it."""
    if not seat.may(Deed.PREVIEW):
        return {}
    form = reverse("console:tickets_ticket_preview", args=[intent.ticket.public_id])
    rest = rest_of(intent)
    return {
        "correct_address": f"{form}?corrects={intent.public_id}" if is_correctable(intent) else "",
        "rest": rest,
        "rest_address": f"{form}?remainder_of={intent.public_id}" if rest else "",
    }


_LINKS = {
    "repeat_of": "repeated by",
    "corrects": "corrected by",
    "remainder_of": "rest asked for in",
    "waits_for": "waited for by",
}
"""How an intent names another, and what that is called from the other's side."""


def _linked(intent: Intent) -> list[tuple[str, Intent]]:
    """Return the intents that this one stands in a line with, each with its relation."""
    named = {column: getattr(intent, f"{column}_id") for column in _LINKS}
    following = Q(pk__in=[pk for pk in named.values() if pk is not None])
    for column in _LINKS:
        following |= Q(**{column: intent.pk})
    rows = list(Intent.objects.filter(following).defer("body", "document").order_by("pk"))
    by_pk = {row.pk: row for row in rows}
    earlier = [
        (column.replace("_", " "), by_pk[pk]) for column, pk in named.items() if pk is not None
    ]
    later = [
        (words, row)
        for column, words in _LINKS.items()
        for row in rows
        if getattr(row, f"{column}_id") == intent.pk
    ]
    return earlier + later


def proven_by(identifiers: Sequence[str]) -> QuerySet[ExternalObject, Any]:
    """Return the intents that external objects of these identifiers belong to, for a sub-query."""
    rows = ExternalObject.objects.filter(identifier__in=identifiers, intent__isnull=False)
    return rows.values("intent")


def _as_key(typed: str) -> list[UUID]:
    try:
        return [UUID(typed)]
    except ValueError:
        return []
