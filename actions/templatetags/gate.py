"""From stored values to their words and badges, for the timeline's templates.

Promises: what is not in `actions.badges` is shown as it is stored, never left out: old evidence
stays readable whatever later versions know.
Does not hold words of its own.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django import template
from django.urls import reverse
from django.utils.safestring import SafeString

from actions import badges
from actions.models import Attempt, IntentEvent
from integrations.display import NOTHING, Badge, Tone, badge

register = template.Library()


@register.filter
def state(stored: str) -> SafeString:
    """Write a state's badge."""
    return badge(_badge(badges.STATE_BADGES, stored))


@register.filter
def state_word(stored: str) -> str:
    """Return a state's word alone."""
    return _badge(badges.STATE_BADGES, stored).word


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
def event_words(stored: str) -> str:
    """Return what happened, in words."""
    return badges.EVENT_WORDS.get(stored, stored.replace("_", " "))


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Something that an event names, and where it stands."""

    words: str
    address: str


_ANCHORS = {"approval": "the approval", "decision": "the decision"}


@register.filter
def event_links(event: IntentEvent) -> Iterator[Link]:
    """Yield what an event names: lines of the same page, and other intents."""
    details = json.loads(event.body).get("details", {})
    for name, words in _ANCHORS.items():
        if name in details:
            yield Link(words=words, address=f"#{details[name]}")
    if event.name == "corrected" and "by" in details:
        address = reverse("console:actions_intent_change", args=[details["by"]])
        yield Link(words="the correction", address=address)


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
