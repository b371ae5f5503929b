"""The Console's first page: what needs attention, in true figures, each with the list behind it.

Promises: money in doubt stands first; live and sandbox money, currencies and workspaces are never
added up; all of the member's own workspaces alone.
Does not know where the page stands: that is `razviel.console`.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Min
from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import urlencode

from actions.attention import (
    Figure,
    awaiting_approval,
    before_a_person,
    held,
    money_in_doubt,
    set_aside,
)
from actions.badges import NEEDS_HUMAN_WORDS, REASON_WORDS
from actions.models import Intent
from integrations.admin import own
from integrations.clock import now
from integrations.display import SANDBOX, age
from integrations.models import Connection
from tickets.models import Ticket, TicketStatus

_STORES_MAX = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One figure of the home page, in words."""

    figure: Figure
    name: str
    words: str
    age: str
    address: str
    expires_in: str = ""


def home(request: HttpRequest) -> dict[str, object]:
    """Return the figures of the home page, each with the list that it counts."""
    intents, at = own(Intent.objects.all(), request.user), now()
    stores = own(Connection.objects.select_related("workspace"), request.user)
    intents_list, inbox = "console:actions_intent_changelist", "console:approvals"
    figures = {
        "in_doubt": (money_in_doubt, intents_list),
        "awaiting": (awaiting_approval, inbox),
        "before_a_person": (before_a_person, intents_list),
        "held": (held, intents_list),
        "set_aside": (set_aside, intents_list),
    }
    return {
        "now": at,
        "sandbox": SANDBOX,
        "has_intents": intents.exists(),
        **{
            name: [_line(figure, at=at, opens=opens) for figure in ask(intents)]
            for name, (ask, opens) in figures.items()
        },
        "handed_over": _handed_over(request),
        "stores": list(
            stores.order_by("is_sandbox", "workspace__name", "domain").defer(
                "credentials", "webhook_secret"
            )[:_STORES_MAX]
        ),
    }


def _line(figure: Figure, *, at: datetime, opens: str) -> Line:
    reason = figure.reason
    return Line(
        figure=figure,
        name=reason.replace("_", " "),
        words=NEEDS_HUMAN_WORDS.get(reason) or REASON_WORDS.get(reason, reason),
        age=age(at - figure.oldest_at) if figure.oldest_at else "",
        address=f"{reverse(opens)}?{figure.query}",
        expires_in=_left(figure.expires_at, at=at),
    )


def _left(until: datetime | None, *, at: datetime) -> str:
    return "" if until is None or until <= at else age(until - at)


def _handed_over(request: HttpRequest) -> list[dict[str, object]]:
    rows = own(Ticket.objects.filter(status=TicketStatus.HANDED_OVER), request.user)
    grouped = rows.values("workspace__name", "workspace__public_id").annotate(
        count=Count("pk"), oldest_at=Min("updated_at")
    )
    address = reverse("console:tickets_ticket_changelist")
    return [
        {
            "workspace": row["workspace__name"],
            "count": row["count"],
            "oldest_at": row["oldest_at"],
            "address": f"{address}?"
            + urlencode(
                {"status": TicketStatus.HANDED_OVER, "workspace": row["workspace__public_id"]}
            ),
        }
        for row in grouped.order_by("workspace__name")
    ]
