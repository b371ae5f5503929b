"""What every page of the Console stands on: a list and an object page, of one's own rows alone.

Promises: a page shows no row of a workspace that the person doesn't belong to, superusers included;
there is no address that edits a row: whatever writes is marked with `takes_post`, takes a form and
calls a service; lists ask a fixed number of questions whatever they hold. Rows are scoped in one
place, `own`, which every page's `get_queryset` goes through.
Does not know tickets or intents: their pages build on this one.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, update_wrapper
from typing import Any, ClassVar, TypeVar

from django.contrib.admin import ShowFacets, SimpleListFilter
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.core.paginator import Paginator
from django.db import models
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from unfold.admin import ModelAdmin
from unfold.views import ChangeList

from integrations.display import SANDBOX
from integrations.models import Connection, Workspace

Row = TypeVar("Row", bound=models.Model)
Person = AbstractBaseUser | AnonymousUser

View = Callable[..., HttpResponse]

LISTED_MAX = 1_000
"""A list counts and pages through this many rows; older ones are found by filter or search."""


def workspaces_of(person: Person) -> QuerySet[Workspace]:
    """Return the workspaces that a person belongs to: membership alone counts, no rank does."""
    return Workspace.objects.filter(membership__user=person.pk or 0)


def own(rows: QuerySet[Row], person: Person) -> QuerySet[Row]:
    """Narrow rows to the workspaces that a person belongs to."""
    return rows.filter(workspace__in=workspaces_of(person))


def takes_post(view: View) -> View:
    """Mark a view as one that takes a form; the site refuses every other one whatever isn't read.

    The site holds it to the log-in, the form's token (CSRF) and membership like any other.
    """
    view.takes_post = True  # type: ignore[attr-defined]  # a mark on a function
    return view


class BoundedPaginator(Paginator):  # type: ignore[type-arg]  # not subscriptable at run time
    """Pages through the newest rows alone, so that counting doesn't grow with the table."""

    @cached_property
    def count(self) -> int:
        """Count, up to the bound."""
        return min(self._counted, LISTED_MAX)

    @property
    def is_cut(self) -> bool:
        """Are there more rows than are listed?"""
        return self._counted > LISTED_MAX

    @cached_property
    def _counted(self) -> int:
        rows = self.object_list
        if not isinstance(rows, QuerySet):
            raise TypeError("A list of the Console pages through a query, never through a list.")
        return rows[: LISTED_MAX + 1].count()


class PublicChangeList(ChangeList):
    """A list whose rows lead to their object pages by public id."""

    def get_results(self, request: HttpRequest) -> None:
        """Read one page of rows; a list that nothing narrows is whole, and not called a result."""
        super().get_results(request)
        if not self.query and not self.has_active_filters:
            self.full_result_count = self.result_count

    def url_for_result(self, result: models.Model) -> str:
        """Return the address of a row's page."""
        return page_address(result)


def page_address(row: models.Model) -> str:
    """Return the Console's address of a row."""
    name = f"{row._meta.app_label}_{row._meta.model_name}_change"
    return reverse(f"console:{name}", args=[row.serializable_value("public_id")])


class ConsolePage(ModelAdmin):
    """The list and the object page of one kind of row."""

    page_template: ClassVar[str]
    empty_title: ClassVar[str]
    empty_words: ClassVar[str]
    """What to do where there is nothing yet."""

    actions = ()
    sortable_by = ()
    list_per_page = 50
    list_max_show_all = 0
    show_full_result_count = False
    show_facets = ShowFacets.NEVER
    paginator = BoundedPaginator
    change_list_template = "console/list.html"

    def get_urls(self) -> list[URLPattern]:
        """Return the addresses there are: the list, one object, and what the page adds to it."""
        name = f"{self.opts.app_label}_{self.opts.model_name}"
        return [
            path("", self._behind_log_in(self.changelist_view), name=f"{name}_changelist"),
            path("<slug:public_id>/", self._behind_log_in(self.object_page), name=f"{name}_change"),
            *(
                path(f"<slug:public_id>/{verb}/", self._behind_log_in(view), name=f"{name}_{stem}")
                for verb, stem, view in self.verbs()
            ),
        ]

    def verbs(self) -> Iterable[tuple[str, str, View]]:
        """Return what stands below an object's address: the last step, its name, and its view."""
        return ()

    def _behind_log_in(self, view: View) -> View:
        return update_wrapper(self.admin_site.admin_view(view), view)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the rows of the member's own workspaces."""
        return own(self.model._default_manager.all(), request.user)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> Any:
        """Return the list that knows public ids."""
        return PublicChangeList

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        """Show the list."""
        words = {"title": str(self.opts.verbose_name_plural).capitalize()}
        return super().changelist_view(request, words | (extra_context or {}))

    def object_page(self, request: HttpRequest, public_id: str) -> HttpResponse:
        """Show one row of the member's own workspaces; to anyone else it does not exist."""
        row = self.own_row(request, public_id)
        context = {**self.page_context(row), **self.forms_context(request, row)}
        return self.page(request, row, self.page_template, context)

    def own_row(self, request: HttpRequest, public_id: str) -> Any:
        """Return a row of the member's own workspaces.

        Raises:
            Http404: There is none; for whoever asks, a foreign one does not exist.
        """
        row = self.get_queryset(request).filter(public_id=public_id).first()
        if row is None:
            raise Http404
        return row

    def page(
        self,
        request: HttpRequest,
        row: Any,
        template: str,
        context: Mapping[str, object],
        *,
        status: int = 200,
    ) -> TemplateResponse:
        """Show a page about one row, with the way back to its list."""
        request.current_app = self.admin_site.name
        whole = {
            **self.admin_site.each_context(request),
            "title": f"{str(self.opts.verbose_name).capitalize()} {row.public_id}",
            "list_title": str(self.opts.verbose_name_plural).capitalize(),
            "list_address": reverse(
                f"console:{self.opts.app_label}_{self.opts.model_name}_changelist"
            ),
            "row": row,
            **context,
        }
        return TemplateResponse(request, template, whole, status=status)

    def page_context(self, row: Any) -> dict[str, object]:
        """Return what the object's template shows."""
        return {"row": row}

    def forms_context(self, request: HttpRequest, row: Any) -> dict[str, object]:
        """Return what this person may do to the object."""
        return {}

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find by exact identifiers, each of which has an index; never by a part of a word."""
        typed = search_term.strip()
        return (self.found(queryset, typed) if typed else queryset), False

    def found(self, rows: QuerySet[Any], typed: str) -> QuerySet[Any]:
        """Narrow rows to those that an identifier names, each way asked by an index of its own."""
        first, *others = (way.order_by().values("pk") for way in self.ways_to_find(rows, typed))
        named = first.union(*others)[:LISTED_MAX]
        return rows.filter(pk__in=[row["pk"] for row in named])

    def ways_to_find(self, rows: QuerySet[Any], typed: str) -> Sequence[QuerySet[Any]]:
        """Return rows once for each way in which an identifier may name them."""
        return (rows.filter(public_id=typed),)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Refuse every lookup in the address but the page's own filters."""
        named = [row for row in self.list_filter if isinstance(row, type)]
        return lookup in {row.parameter_name for row in named if issubclass(row, Narrowing)}

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Show it to members; the site lets in no one else."""
        return True

    def has_view_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Show it to members; which rows is decided by `get_queryset`."""
        return True

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Nothing is added here."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Nothing is changed here."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Nothing is deleted here."""
        return False


class Narrowing(SimpleListFilter):
    """A filter of a list: what it offers, and how it narrows the rows."""

    def offered(self, request: HttpRequest) -> Iterable[tuple[str, str]]:
        """Return each value with its words; none, and the filter is neither shown nor applied."""
        raise NotImplementedError

    def narrowed(self, rows: QuerySet[Any], chosen: str) -> QuerySet[Any]:
        """Narrow rows to a value."""
        raise NotImplementedError

    def lookups(self, request: HttpRequest, model_admin: object) -> Iterable[tuple[str, str]]:
        """Return what is offered."""
        return self.offered(request)

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Narrow the rows if a value is chosen."""
        chosen = self.value()
        return self.narrowed(queryset, chosen) if chosen else queryset


class WorkspaceFilter(Narrowing):
    """By workspace, for whoever belongs to several."""

    title = "workspace"
    parameter_name = "workspace"

    def offered(self, request: HttpRequest) -> Iterable[tuple[str, str]]:
        """Offer the member's own workspaces; one alone is no choice."""
        rows = workspaces_of(request.user).order_by("name", "pk").values_list("public_id", "name")
        return rows if len(rows) > 1 else ()

    def narrowed(self, rows: QuerySet[Any], chosen: str) -> QuerySet[Any]:
        """Narrow the list to one workspace."""
        return rows.filter(workspace__public_id=chosen)


class StoreFilter(Narrowing):
    """By store."""

    title = "store"
    parameter_name = "store"

    def offered(self, request: HttpRequest) -> Iterable[tuple[str, str]]:
        """Offer the connections of the member's own workspaces."""
        rows = own(Connection.objects.all(), request.user).order_by("domain", "pk")
        return [
            (row.public_id, f"{row.domain} ({SANDBOX.word})" if row.is_sandbox else row.domain)
            for row in rows.only("public_id", "domain", "is_sandbox")
        ]

    def narrowed(self, rows: QuerySet[Any], chosen: str) -> QuerySet[Any]:
        """Narrow the list to one store."""
        return rows.filter(connection__public_id=chosen)


class RealityFilter(Narrowing):
    """By whether real money moves."""

    title = "live or sandbox"
    parameter_name = "on"

    def offered(self, request: HttpRequest) -> Iterable[tuple[str, str]]:
        """Offer both."""
        return (("live", "live stores"), ("sandbox", "sandbox stores"))

    def narrowed(self, rows: QuerySet[Any], chosen: str) -> QuerySet[Any]:
        """Narrow the list to real or simulated stores."""
        return rows.filter(connection__is_sandbox=chosen == "sandbox")
