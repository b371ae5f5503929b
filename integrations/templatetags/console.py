"""The Console's ways of writing, as filters for templates: those of `integrations.display`.

Promises: adds nothing of its own but the filters that stand active on a list.
Does not read rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django import template

from integrations import display

if TYPE_CHECKING:
    from django.contrib.admin.views.main import ChangeList

register = template.Library()
for write in (
    display.badge,
    display.stated,
    display.moment,
    display.age,
    display.money,
    display.identifier,
    display.spaced,
    display.unsealed,
):
    register.filter(write.__name__, write)


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveFilter:
    """A filter that narrows a list now, and the address that drops it."""

    title: str
    value: str
    without: str


@register.filter
def active_filters(changes: "ChangeList") -> Iterator[ActiveFilter]:
    """Yield the filters that narrow a list."""
    for spec in changes.filter_specs:
        everything, *narrower = spec.choices(changes)
        for choice in narrower:
            if choice["selected"]:
                yield ActiveFilter(
                    title=str(spec.title),
                    value=str(choice["display"]),
                    without=str(everything["query_string"]),
                )
