"""How the Console writes down a state, a moment, an age, an amount and sealed text, as HTML.

Promises: everything that comes from outside is escaped and kept from turning the text around it;
a colour always comes with its word; each moment is UTC and carries its exact value; what was
erased says so.
Does not decide who may see it: pages hand in only rows of the member's own workspaces.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import StrEnum

from django.utils.html import format_html
from django.utils.safestring import SafeString

from integrations import sealed, vault
from integrations.models import SealedPayload
from integrations.money import Money

NOTHING = "\N{EN DASH}"
"""Stands where there is nothing to say."""


class Tone(StrEnum):
    """The colour of a badge: a second sign beside its word, never the only one."""

    QUIET = "quiet"
    BUSY = "busy"
    WAITING = "waiting"
    DOUBT = "doubt"
    GOOD = "good"
    BAD = "bad"


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """A word with its colour, and the sentence that is true of it."""

    word: str
    tone: Tone
    sentence: str = ""


SANDBOX = Badge(
    word="SANDBOX", tone=Tone.WAITING, sentence="a simulated store: no real money moves here"
)
"""Stands wherever a figure of a sandbox connection stands."""

_ERASED = "erased"
_BROKEN = "can't be read: the seal is broken or its key is missing"


def badge(shown: Badge) -> SafeString:
    """Write a badge, with its sentence on hover."""
    return format_html(
        '<span class="rz-badge rz-{}" title="{}">{}</span>', shown.tone, shown.sentence, shown.word
    )


def stated(shown: Badge) -> SafeString:
    """Write a badge and its sentence beside it."""
    return format_html('{} <span class="rz-said">{}</span>', badge(shown), shown.sentence)


def moment(at: datetime | None) -> SafeString:
    """Write a moment in UTC, to the second, with its exact value on hover."""
    if at is None:
        return format_html("{}", NOTHING)
    at = at.astimezone(UTC)
    return format_html(
        '<time datetime="{exact}" title="{exact}">'
        "<span>{day}</span> <span>{clock} UTC</span></time>",
        exact=at.isoformat(timespec="microseconds"),
        day=f"{at:%Y-%m-%d}",
        clock=f"{at:%H:%M:%S}",
    )


def age(length: timedelta) -> str:
    """Write how long something has lasted, in its two largest units."""
    seconds = max(int(length.total_seconds()), 0)
    units = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
    counted = []
    for unit, size in units:
        count, seconds = divmod(seconds, size)
        counted.append((count, unit))
    first = next((place for place, (count, _) in enumerate(counted) if count), len(units) - 1)
    return (
        " ".join(f"{count} {unit}" for count, unit in counted[first : first + 2] if count) or "0 s"
    )


def money(amount: Decimal | None, currency: str) -> str:
    """Write an amount at its currency's own precision; a dash where no money moves."""
    return NOTHING if amount is None else str(Money(amount=amount, currency=currency))


def spaced(stored: str) -> str:
    """Write a stored name as words."""
    return stored.replace("_", " ")


def identifier(text: str) -> SafeString:
    """Write an identifier so that it can be told from words and copied whole."""
    return format_html('<code class="rz-id">{}</code>', text)


def unsealed(payload: SealedPayload | None) -> SafeString:
    """Write sealed text for a member of its workspace, escaped; or say that it was erased."""
    if payload is None:
        return format_html('<span class="rz-none">{}</span>', "none given")
    try:
        text = sealed.unseal(payload)
    except sealed.Erased:
        return format_html('<span class="rz-none">{}</span>', _ERASED)
    except (vault.Tampered, vault.WrongKey):
        return format_html('<span class="rz-none">{}</span>', _BROKEN)
    return format_html('<bdi class="rz-text">{}</bdi>', text)
