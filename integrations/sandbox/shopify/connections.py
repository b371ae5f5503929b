"""Relay connections over lists that are held in memory.

Promises: cursors are positions that stay valid while a list grows at its end; `first` or `last` is
required, as Shopify requires it, at most 250.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from graphql import GraphQLError

T = TypeVar("T")
MOST = 250


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge(Generic[T]):
    """One item with its cursor."""

    cursor: str
    node: T


@dataclass(frozen=True, slots=True, kw_only=True)
class PageInfo:
    """Where a page lies in its list."""

    has_next_page: bool
    has_previous_page: bool
    start_cursor: str | None
    end_cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection(Generic[T]):
    """One page of a list."""

    edges: list[Edge[T]]
    page_info: PageInfo

    @property
    def nodes(self) -> list[T]:
        """The items without their cursors."""
        return [edge.node for edge in self.edges]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Which part of a list is asked for."""

    first: int | None = None
    last: int | None = None
    after: str | None = None
    before: str | None = None
    reverse: bool = False
    query: str | None = None


def connect(items: Sequence[T], page: Page, *, cut_after: int | None = None) -> Connection[T]:
    """Return one page.

    Args:
        cut_after: gives no more than so many items, and says that there are more.

    Raises:
        GraphQLError: neither `first` nor `last`, or more than 250.
    """
    size = page.first if page.first is not None else page.last
    if size is None:
        raise GraphQLError(
            "you must provide one of first or last", extensions={"code": "BAD_REQUEST"}
        )
    if not 0 <= size <= MOST:
        raise GraphQLError(
            f"first and last lie between 0 and {MOST}", extensions={"code": "BAD_REQUEST"}
        )
    ordered = list(reversed(items)) if page.reverse else list(items)
    edges = [Edge(cursor=f"c{position:06d}", node=item) for position, item in enumerate(ordered)]
    low = _position(page.after, default=-1) + 1
    high = _position(page.before, default=len(edges))
    inside = edges[low:high]
    chosen = inside[:size] if page.first is not None else inside[max(len(inside) - size, 0) :]
    cut = cut_after is not None and len(chosen) > cut_after
    chosen = chosen[:cut_after] if cut else chosen
    return Connection(edges=chosen, page_info=_page_info(edges, chosen))


def paged(items: Callable[[], Sequence[T]]) -> Callable[..., Connection[T]]:
    """Turn a list into a resolver that takes the arguments of a connection."""

    def resolve(**arguments: object) -> Connection[T]:
        return connect(items(), Page(**arguments))  # type: ignore[arg-type]  # the schema has checked their types

    return resolve


def _position(cursor: str | None, *, default: int) -> int:
    if cursor is None:
        return default
    if not (cursor.startswith("c") and cursor[1:].isdigit()):
        raise GraphQLError(
            "Invalid cursor for current pagination sort.", extensions={"code": "BAD_REQUEST"}
        )
    return int(cursor[1:])


def _page_info(edges: list[Edge[T]], chosen: list[Edge[T]]) -> PageInfo:
    return PageInfo(
        has_next_page=bool(edges) and (not chosen or chosen[-1] is not edges[-1]),
        has_previous_page=bool(chosen) and chosen[0] is not edges[0],
        start_cursor=chosen[0].cursor if chosen else None,
        end_cursor=chosen[-1].cursor if chosen else None,
    )
