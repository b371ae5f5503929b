"""From stored values to their words and badges, for the timeline's templates.

Promises: what is not in `actions.badges` is shown as it is stored, never left out: old evidence
stays readable whatever later versions know.
Does not hold words of its own.
"""

import json
from collections.abc import Mapping

from django import template
from django.utils.safestring import SafeString

from actions import badges
from actions.models import Attempt
from integrations.display import NOTHING, Badge, Tone, badge

register = template.Library()


@register.filter
def state(stored: str) -> SafeString:
    """Write a state's badge."""
    return badge(_badge(badges.STATE_BADGES, stored))


@register.filter
def ruling(stored: str) -> Badge:
    """Return a ruling's badge."""
    return _badge(badges.RULING_BADGES, stored)


@register.filter
def finding(stored: str) -> Badge:
    """Return a finding's badge."""
    return _badge(badges.FINDING_BADGES, stored)


@register.filter
def standing(stored: str) -> Badge:
    """Return the badge of a part's standing."""
    return _badge(badges.STANDING_BADGES, stored)


@register.filter
def attempt(row: Attempt) -> Badge:
    """Return the badge of an attempt's outcome."""
    return badges.ATTEMPT_BADGES.get(row.outcome) or _unknown(str(row.outcome))


@register.filter
def question(stored: str) -> str:
    """Return a check's question."""
    return badges.CHECK_QUESTIONS.get(stored, stored)


@register.filter
def reason_words(stored: str) -> str:
    """Return a reason as a clause."""
    return badges.REASON_WORDS.get(stored, stored)


@register.filter
def resolved(stored: str) -> str:
    """Return how an attempt was resolved, in words."""
    return badges.RESOLVED_WORDS.get(stored, stored)


@register.filter
def read_words(stored: str) -> str:
    """Return what a read is worth, in words."""
    return badges.READ_WORDS.get(stored, stored)


@register.filter
def plain(value: object) -> str:
    """Return a stored fact as a person reads it; what has parts stays in its stored form."""
    match value:
        case None:
            return NOTHING
        case bool():
            return "yes" if value else "no"
        case str() | int():
            return str(value)
        case [] | {}:
            return "none"
        case _:
            return json.dumps(value, ensure_ascii=False)


def _badge(known: Mapping[str, Badge], stored: str) -> Badge:
    return known.get(stored) or _unknown(stored)


def _unknown(stored: str) -> Badge:
    return Badge(word=stored.replace("_", " "), tone=Tone.QUIET)
