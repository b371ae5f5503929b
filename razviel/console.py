"""The Console at `/console/`: who gets in, its home page, and which pages it has.

Promises: whoever is logged in and belongs to a workspace gets in, with the rows of that workspace
alone, whatever Django's ranks say; every page only reads (a test walks the address table). The home
page begins with money in doubt; live and sandbox money, currencies and workspaces are not added up.
Does not word states (`actions.badges`) or scope rows (`integrations.admin`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import update_wrapper
from typing import Any

from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.db.models import Count, Min
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.templatetags.static import static
from django.urls import URLPattern, URLResolver, include, path, re_path, reverse
from django.utils.http import urlencode
from unfold.dataclasses import SearchResult
from unfold.forms import AuthenticationForm as ThemedLogIn
from unfold.sites import UnfoldAdminSite

from actions.admin import IntentPage, TicketPage
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
from integrations.admin import ConsolePage, own, page_address, workspaces_of
from integrations.clock import now
from integrations.display import SANDBOX, age
from integrations.models import Connection
from tickets.models import Ticket, TicketStatus

View = Callable[..., HttpResponse]

_FOUND_MAX = 10
_STORES_MAX = 50


class MemberLogIn(ThemedLogIn):
    """Log in with name and password; being a member, not being staff, is what opens pages."""

    error_messages = {
        "invalid_login": "Name or password is wrong. Both tell capitals from small letters.",
        "inactive": "This account is switched off.",
    }

    def confirm_login_allowed(self, user: User) -> None:
        """Let in every active account."""
        AuthenticationForm.confirm_login_allowed(self, user)


class ConsoleSite(UnfoldAdminSite):
    """The addresses of the Console: log in and out, one's password, home, search, and the pages."""

    login_form = MemberLogIn
    index_template = "console/home.html"
    final_catch_all_view = False

    def get_urls(self) -> list[URLPattern | URLResolver]:  # type: ignore[override]  # as Django's own
        """Return every address there is; Django's for adding, jumping, completing are left out."""
        account = super().admin_view
        apps = "|".join(sorted({model._meta.app_label for model in self._registry}))
        pages = [
            path(
                f"{model._meta.app_label}/{model._meta.model_name}/",
                include(page.urls),
            )
            for model, page in self._registry.items()
        ]
        return [
            path("", self.admin_view(self.index), name="index"),
            path("search/", self.admin_view(self.search), name="search"),
            path("login/", self.login, name="login"),
            path("logout/", account(self.logout), name="logout"),
            path("password_change/", account(self.password_change), name="password_change"),
            path(
                "password_change/done/",
                account(self.password_change_done),
                name="password_change_done",
            ),
            path("jsi18n/", account(self.i18n_javascript, cacheable=True), name="jsi18n"),
            *pages,
            re_path(rf"^(?P<app_label>{apps})/$", self.admin_view(to_home), name="app_list"),
        ]

    def has_permission(self, request: HttpRequest) -> bool:
        """Let in every active account; what it sees depends on its memberships."""
        return bool(request.user.is_authenticated and request.user.is_active)

    def admin_view(self, view: View, cacheable: bool = False) -> View:  # type: ignore[override]  # noqa: FBT001, FBT002 - Django's own signature
        """Put a page behind log-in, reading alone, and membership."""

        def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
            if request.method not in ("GET", "HEAD"):
                return HttpResponseNotAllowed(["GET", "HEAD"])
            if not workspaces_of(request.user).exists():
                return self._no_workspace(request)
            return view(request, *args, **kwargs)

        return super().admin_view(update_wrapper(guarded, view), cacheable)

    def _no_workspace(self, request: HttpRequest) -> HttpResponse:
        request.current_app = self.name
        context = {**self.each_context(request), "title": "No workspace"}
        return TemplateResponse(request, "console/no_workspace.html", context, status=403)

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Return what stands on every page: whose it is, and whether all is sandbox."""
        context: dict[str, Any] = super().each_context(request)
        if self.has_permission(request):
            names = list(
                workspaces_of(request.user).order_by("name").values_list("name", flat=True)
            )
            reality = own(Connection.objects.all(), request.user).values_list("is_sandbox")
            context |= {"site_subheader": ", ".join(names), "is_of_several": len(names) > 1}
            if set(reality.distinct()) == {(True,)}:
                context["environment"] = [SANDBOX.word, "warning"]
        return context

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """Return nothing: the pages are named by `navigation`."""
        return []

    def index(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        """Show what needs attention, money in doubt first."""
        return super().index(request, {"title": "Home", **home(request), **(extra_context or {})})

    def search(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        """Answer the theme's command box: the member's own rows that an identifier names."""
        typed = request.GET.get("s", "").strip()
        rows = list(self._found(request, typed))[:_FOUND_MAX] if typed else []
        context = {"results": rows, "page_obj": {"count": len(rows)}, "page_counter": 0}
        return TemplateResponse(request, "console/found.html", context)

    def _found(self, request: HttpRequest, typed: str) -> Iterator[SearchResult]:
        for page in self._registry.values():
            if isinstance(page, ConsolePage):
                rows = page.found(page.get_queryset(request), typed)
                for row in rows.order_by("-pk")[:_FOUND_MAX]:
                    yield SearchResult(
                        title=row.public_id,
                        description=str(page.opts.verbose_name),
                        link=page_address(row),
                        icon="arrow_forward",
                    )


def to_home(request: HttpRequest, app_label: str) -> HttpResponse:
    """Lead to the home page from an app's name, which the theme's headings link."""
    return HttpResponseRedirect(reverse("console:index"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One figure of the home page, in words."""

    figure: Figure
    name: str
    words: str
    age: str
    address: str


def home(request: HttpRequest) -> dict[str, object]:
    """Return the figures of the home page, each with the list that it counts."""
    intents, at = own(Intent.objects.all(), request.user), now()
    stores = own(Connection.objects.select_related("workspace"), request.user)
    figures = {
        "in_doubt": money_in_doubt,
        "awaiting": awaiting_approval,
        "before_a_person": before_a_person,
        "held": held,
        "set_aside": set_aside,
    }
    return {
        "now": at,
        "sandbox": SANDBOX,
        "has_intents": intents.exists(),
        **{
            name: [_line(figure, at=at) for figure in ask(intents)] for name, ask in figures.items()
        },
        "handed_over": _handed_over(request),
        "stores": list(
            stores.order_by("is_sandbox", "workspace__name", "domain").defer(
                "credentials", "webhook_secret"
            )[:_STORES_MAX]
        ),
    }


def _line(figure: Figure, *, at: datetime) -> Line:
    reason = figure.reason
    return Line(
        figure=figure,
        name=reason.replace("_", " "),
        words=NEEDS_HUMAN_WORDS.get(reason) or REASON_WORDS.get(reason, reason),
        age=age(at - figure.oldest_at) if figure.oldest_at else "",
        address=f"{reverse('console:actions_intent_changelist')}?{figure.query}",
    )


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


def navigation(request: HttpRequest) -> list[dict[str, object]]:
    """Return the menu; named in `UNFOLD`."""
    intents = reverse("console:actions_intent_changelist")
    return [
        {
            "title": "",
            "items": [
                {"title": "Home", "icon": "home", "link": reverse("console:index")},
                {
                    "title": "Tickets",
                    "icon": "confirmation_number",
                    "link": reverse("console:tickets_ticket_changelist"),
                },
                {"title": "Intents", "icon": "receipt_long", "link": intents},
            ],
        }
    ]


def stylesheet(request: HttpRequest) -> str:
    """Return the address of the Console's own styles; named in `UNFOLD`."""
    return static("console/console.css")


def mark(request: HttpRequest) -> str:
    """Return the address of the Console's mark; named in `UNFOLD`."""
    return static("console/mark.svg")


console = ConsoleSite(name="console")
console.register(Ticket, TicketPage)
console.register(Intent, IntentPage)
