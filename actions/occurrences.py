"""How intents stand to each other: the occurrences of one wish, the family that makes up for one.

Promises: an intent is repeated once at most (the database holds that), so that occurrences stand
in a row; rests stand in a tree, and are reckoned from its root.
Does not know who may repeat or make up for something: that is `actions.linking`.
"""

from collections.abc import Iterator

from actions.models import Intent


def newest_occurrence(first: Intent) -> Intent:
    """Return the last one of the repeats of an intent; itself where it has none."""
    newest = first
    while (following := newest.repeats.first()) is not None:
        newest = following
    return newest


def earlier_occurrences(intent: Intent) -> Iterator[Intent]:
    """Yield what an intent repeats, the newest first."""
    earlier = intent.repeat_of
    while earlier is not None:
        yield earlier
        earlier = earlier.repeat_of


def family_of(intent: Intent) -> tuple[Intent, ...]:
    """Return the first of what makes up for each other, and all that does, the oldest first."""
    root = intent
    while root.remainder_of is not None:
        root = root.remainder_of
    family, generation = [root], [root]
    while generation:
        generation = list(Intent.objects.filter(remainder_of__in=generation).order_by("pk"))
        family += generation
    return tuple(family)
