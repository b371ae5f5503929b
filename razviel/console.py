"""The Console at `/console/`: who gets in, which pages it has, and its menu.

Promises: whoever is logged in and belongs to a workspace gets in, with the rows of that workspace
alone, whatever Django's ranks say; a page only reads unless it is marked as taking a form (a test
walks the address table).
Does not word states (`actions.badges`) or scope rows (`integrations.admin`).
"""

from collections.abc import Callable, Iterator
from functools import update_wrapper
from typing import Any

from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseNotAllowed,
    HttpResponseRedirect,
)
from django.template.response import TemplateResponse
from django.templatetags.static import static
from django.urls import URLPattern, URLResolver, include, path, re_path, reverse
from unfold.dataclasses import SearchResult
from unfold.forms import AuthenticationForm as ThemedLogIn
from unfold.sites import UnfoldAdminSite

from actions.console.asks import ASKS_MAX, awaiting
from actions.console.intent_page import IntentPage
from actions.console.pages import may_not
from actions.console.seats import Deed, seat_in, seats_of
from actions.console.ticket_page import TicketPage
from actions.console.versions import VERSIONS_MAX, versions_of
from actions.models import Intent
from actions.states import State
from integrations.admin import ConsolePage, own, page_address, workspaces_of
from integrations.display import SANDBOX
from integrations.models import Connection, Workspace
from razviel.home import home
from tickets.models import Ticket

View = Callable[..., HttpResponse]

_INBOX_LOOKUPS = {"workspace": "workspace__public_id", "currency": "currency"}
_FOUND_MAX = 10


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
            path("approvals/", self.admin_view(self.approvals), name="approvals"),
            path("policy/", self.admin_view(self.policies), name="policies"),
            path("policy/<slug:public_id>/", self.admin_view(self.policy), name="policy"),
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
            allowed = ["GET", "HEAD"] + (["POST"] if getattr(view, "takes_post", False) else [])
            if request.method not in allowed:
                return HttpResponseNotAllowed(allowed)
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

    def approvals(self, request: HttpRequest) -> HttpResponse:
        """Show what awaits a second person, what expires first on top."""
        request.current_app = self.name
        context = {**self.each_context(request), **approvals(request)}
        return TemplateResponse(request, "console/approvals.html", context)

    def policies(self, request: HttpRequest) -> HttpResponse:
        """Show whose policy this person may read; the only one at once."""
        readable = _readable_policies(request)
        if len(readable) == 1:
            return HttpResponseRedirect(reverse("console:policy", args=[readable[0].public_id]))
        if not readable:
            return may_not(request, self.each_context(request), Deed.READ_POLICY)
        request.current_app = self.name
        context = {**self.each_context(request), "title": "Policy", "workspaces": readable}
        return TemplateResponse(request, "console/policies.html", context)

    def policy(self, request: HttpRequest, public_id: str) -> HttpResponse:
        """Show the versions of one workspace's policy, and what each changed."""
        workspace = workspaces_of(request.user).filter(public_id=public_id).first()
        if workspace is None:
            raise Http404
        if not seat_in(workspace, request.user).may(Deed.READ_POLICY):
            return may_not(request, self.each_context(request), Deed.READ_POLICY)
        request.current_app = self.name
        context = {
            **self.each_context(request),
            "title": f"Policy of {workspace.name}",
            "workspace": workspace,
            "versions": versions_of(workspace),
            "versions_max": VERSIONS_MAX,
        }
        return TemplateResponse(request, "console/policy.html", context)

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


def _readable_policies(request: HttpRequest) -> list[Workspace]:
    seats = seats_of(request.user)
    return [
        workspace
        for workspace in workspaces_of(request.user).order_by("name", "pk")
        if seats[workspace.pk].may(Deed.READ_POLICY)
    ]


def approvals(request: HttpRequest) -> dict[str, object]:
    """Return what awaits a second person, narrowed as a figure of the home page says."""
    rows = own(Intent.objects.all(), request.user)
    for name, lookup in _INBOX_LOOKUPS.items():
        if request.GET.get(name):
            rows = rows.filter(**{lookup: request.GET[name].replace("\0", "")})
    if request.GET.get("on") in ("live", "sandbox"):
        rows = rows.filter(connection__is_sandbox=request.GET["on"] == "sandbox")
    asks = awaiting(rows, seats=seats_of(request.user))
    return {
        "title": "Approvals",
        "asks": asks[:ASKS_MAX],
        "is_cut": len(asks) > ASKS_MAX,
        "is_narrowed": bool({*_INBOX_LOOKUPS, "on"} & set(request.GET)),
        "back": "approvals",
    }


def to_home(request: HttpRequest, app_label: str) -> HttpResponse:
    """Lead to the home page from an app's name, which the theme's headings link."""
    return HttpResponseRedirect(reverse("console:index"))


def navigation(request: HttpRequest) -> list[dict[str, object]]:
    """Return the menu; named in `UNFOLD`."""
    intents = reverse("console:actions_intent_changelist")
    reads_policy = any(seat.may(Deed.READ_POLICY) for seat in seats_of(request.user).values())
    policy = {"title": "Policy", "icon": "policy", "link": reverse("console:policies")}
    waiting = own(Intent.objects.filter(state=State.AWAITING_APPROVAL), request.user)
    count = waiting.count() if request.user.is_authenticated else 0
    return [
        {
            "title": "",
            "items": [
                {"title": "Home", "icon": "home", "link": reverse("console:index")},
                {
                    "title": "Approvals",
                    "icon": "how_to_reg",
                    "link": reverse("console:approvals"),
                    "badge": count or None,
                },
                {
                    "title": "Tickets",
                    "icon": "confirmation_number",
                    "link": reverse("console:tickets_ticket_changelist"),
                },
                {"title": "Intents", "icon": "receipt_long", "link": intents},
                *([policy] if reads_policy else []),
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
