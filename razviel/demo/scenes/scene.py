"""What a scene is, what it saw, and the words that scenes share.

Promises: what is seen is put into words from the API's answer and the store's ledger, never
assumed. Does not know any scene.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from razviel.demo.api import Answer, Document
from razviel.demo.stage import ENDED, Case, Stage

ONE_REFUND = "confirmed, 1 refund on the store"
TWO_REFUNDS = "confirmed, 2 refunds on the store"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a scene saw, in the words of what it expected; its intents; and asides to show."""

    said: str
    case: Case
    intents: list[Document]
    """As they stood at the end, the oldest first."""
    asides: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One case, played end to end."""

    name: str
    title: str
    expected: str
    play: Callable[[Stage], Seen]


def settled(stage: Stage, case: Case, proposed: Answer | Document) -> Document:
    """Wait until an intent has ended, and return it."""
    document = proposed.document if isinstance(proposed, Answer) else proposed
    return stage.until(case, document["id"], *ENDED)


def end(case: Case, intent: Document) -> str:
    """Say how an intent ended, and what the store holds of its order."""
    return f"{intent['state']}, {refunds(case)}"


def refunds(case: Case) -> str:
    """Say how many refunds of ours the store holds of an order."""
    count = len(case.effects())
    return f"{count} refund{'s' if count != 1 else ''} on the store"


def verdict(intent: Document, check: str) -> str:
    """Return the sentence of one of the four checks."""
    (found,) = [one for one in intent["verdicts"] if one["check"] == check]
    return str(found["sentence"])
