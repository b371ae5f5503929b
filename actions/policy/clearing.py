"""What a person has cleared: which holds no longer stand, and which do all the same.

Promises: only a reason of the closed list is cleared, only with evidence that the person saw, all
of it; nothing else is waived with it, and never a refusal, an approval or the brand's limits.
Does not know who may clear (the service does) nor what the findings ask.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from actions.policy.facts import Cleared
from actions.policy.verdicts import Finding, Ruling
from actions.states import CLEARABLE


def clear(found: Iterable[Finding], cleared: Sequence[Cleared]) -> Iterator[Finding]:
    """Turn each hold that was cleared into one that allows, with its evidence and by whom."""
    for finding in found:
        entry = _entry_for(finding, cleared)
        if entry is None:
            yield finding
        else:
            sentence = f"{finding.sentence} Cleared by {entry.by}."
            yield replace(finding, ruling=Ruling.ALLOW, sentence=sentence)


def is_clearable(finding: Finding) -> bool:
    """Say whether a person may clear it: a hold of the closed list that shows its evidence."""
    listed = finding.ruling is Ruling.HOLD and finding.reason in CLEARABLE
    return listed and bool(finding.evidence)


def cleared_facts(cleared: Sequence[Cleared]) -> list[dict[str, object]]:
    """Return what was cleared as JSON keeps it beside a verdict."""
    return [
        {"reason": entry.reason.value, "evidence": list(entry.evidence), "by": entry.by}
        for entry in cleared
    ]


def _entry_for(finding: Finding, cleared: Sequence[Cleared]) -> Cleared | None:
    if not is_clearable(finding):
        return None
    seen = set(finding.evidence)
    entries = (entry for entry in cleared if entry.reason == finding.reason)
    return next((entry for entry in entries if seen.issubset(entry.evidence)), None)
