"""A ticket in the Console with what was done on it, and the form that something is proposed with.

Promises: trying a wish shows all four verdicts on the store as it is now, and records nothing; from
there a person may propose just that. Who may is asked of the role, each time.
Does not judge: `actions.services` does.
"""

from collections.abc import Iterable, Sequence

from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from actions.badges import needs_human_badge, state_badge
from actions.console.intent_page import proven_by
from actions.console.pages import may_not, told
from actions.console.proposing import Links, ProposalForm, initial_for, links_of
from actions.console.refusals import REFUSALS, said_of
from actions.console.seats import Deed, seat_in
from actions.console.trying import Tried, tried
from actions.models import ExternalObject, Intent, Outcome
from actions.services import Proposed, preview, propose
from integrations.admin import View, page_address, takes_post
from integrations.clock import now
from integrations.display import SANDBOX
from integrations.store_links import identifiers_meant
from tickets.admin import SHOWN_MAX
from tickets.admin import TicketPage as BareTicketPage
from tickets.models import Ticket


class TicketPage(BareTicketPage):
    """A ticket's page with what was done on it: intents with their states, outcomes."""

    def ways_to_find(self, rows: QuerySet[Ticket], typed: str) -> Sequence[QuerySet[Ticket]]:
        """Find also by an intent or by the external object that it made."""
        intents = Intent.objects.filter(pk__in=proven_by(identifiers_meant(typed)))
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

    def forms_context(self, request: HttpRequest, row: Ticket) -> dict[str, object]:
        """Return where something can be proposed on it."""
        seat = seat_in(row.workspace, request.user)
        may = row.is_open and seat.may(Deed.PREVIEW)
        address = reverse("console:tickets_ticket_preview", args=[row.public_id])
        return {"preview_address": address if may else ""}

    def verbs(self) -> Iterable[tuple[str, str, View]]:
        """Return where a wish is tried, and where it is made."""
        return (("preview", "preview", self.preview_page), ("propose", "propose", self.propose))

    @takes_post
    def preview_page(self, request: HttpRequest, public_id: str) -> HttpResponse:
        """Show the form; sent, try the wish and show what the gate would say of it."""
        row = self.own_row(request, public_id)
        seat = seat_in(row.workspace, request.user)
        if not seat.may(Deed.PREVIEW):
            return may_not(request, self.admin_site.each_context(request), Deed.PREVIEW)
        if request.method != "POST":
            links = links_of(row, request.GET)
            return self._form(
                request, row, ProposalForm(row, initial=initial_for(row, links)), links
            )
        links, form, found = links_of(row, request.POST), ProposalForm(row, data=request.POST), None
        if form.is_valid():
            try:
                found = tried(preview(ticket=row, wish=form.wish(links), by=seat.actor, at=now()))
            except REFUSALS as refusal:
                form.add_error(None, said_of(refusal))
        return self._form(request, row, form, links, found)

    @takes_post
    def propose(self, request: HttpRequest, public_id: str) -> HttpResponse:
        """Record the wish as an intent, or lead to the one that stands."""
        row = self.own_row(request, public_id)
        if request.method != "POST":
            address = reverse("console:tickets_ticket_preview", args=[row.public_id])
            return HttpResponseRedirect(address)
        seat = seat_in(row.workspace, request.user)
        if not seat.may(Deed.PROPOSE):
            return may_not(request, self.admin_site.each_context(request), Deed.PROPOSE)
        links, form = links_of(row, request.POST), ProposalForm(row, data=request.POST)
        if form.is_valid():
            try:
                proposed = propose(ticket=row, wish=form.wish(links), by=seat.actor, at=now())
            except REFUSALS as refusal:
                form.add_error(None, said_of(refusal))
            else:
                told(request, _sentence(proposed))
                return HttpResponseRedirect(page_address(proposed.intent))
        return self._form(request, row, form, links)

    def _form(
        self,
        request: HttpRequest,
        row: Ticket,
        form: ProposalForm,
        links: Links,
        found: Tried | None = None,
    ) -> HttpResponse:
        seat = seat_in(row.workspace, request.user)
        context = {
            "form": form,
            "links": links,
            "tried": found,
            "exactly": ProposalForm(row, data=request.POST, auto_id="exactly_%s")
            if found
            else None,
            "may_propose": seat.may(Deed.PROPOSE),
            "propose_address": reverse("console:tickets_ticket_propose", args=[row.public_id]),
        }
        return self.page(request, row, "console/propose.html", context)


def _sentence(proposed: Proposed) -> str:
    if proposed.is_new:
        return "It is recorded, and the gate judges it. Nothing was sent yet."
    return (
        "The same was proposed before: this is the intent that stands, and no other was made. "
        "Where it has ended, it can be repeated from here."
    )
