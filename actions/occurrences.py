"""The occurrences of one wish: the first, and each repeat that was knowingly asked for.

Promises: each is repeated once at most (the database holds that), so that they stand in a row.
Does not know who may repeat: that is `actions.linking`.
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
