"""What a check may say, and how four checks become one decision.

Promises: the strongest finding speaks for a check, the strongest check for the decision; what was
not read is never allowed and never put to an approver; every verdict can be stored as it stands.
Does not know what the checks ask.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from actions.states import ApprovalReason, HeldReason, RefusedReason, State

Reason: TypeAlias = ApprovalReason | HeldReason | RefusedReason
UsedFacts: TypeAlias = Mapping[str, object]
"""Facts that a check used, fit for canonical JSON; never personal data."""


class Check(StrEnum):
    """The four questions of the gate, in the order in which they are shown."""

    PERMITTED = "permitted"
    GROUNDED = "grounded"
    WITHIN_LIMITS = "within_limits"
    NOT_ALREADY_DONE = "not_already_done"


class Ruling(StrEnum):
    """What a check rules, mildest first."""

    ALLOW = "allow"
    APPROVE = "approve"
    NOT_READ = "not_read"
    HOLD = "hold"
    REFUSE = "refuse"


_SEVERITY = {ruling: severity for severity, ruling in enumerate(Ruling)}
_STATES = {
    Ruling.ALLOW: State.AUTHORIZED,
    Ruling.APPROVE: State.AWAITING_APPROVAL,
    Ruling.NOT_READ: State.PROPOSED,
    Ruling.HOLD: State.HELD,
    Ruling.REFUSE: State.REFUSED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that a check found, with the sentence that a person reads."""

    ruling: Ruling
    reason: Reason | None
    sentence: str
    evidence: tuple[str, ...] = ()
    """What it was found in, by identifiers alone: what a person looks at who clears it."""

    @property
    def severity(self) -> int:
        """Return how strong it is, to compare with others."""
        return _SEVERITY[self.ruling]


def approve(reason: ApprovalReason, sentence: str) -> Finding:
    """Find that a second person is wanted."""
    return Finding(ruling=Ruling.APPROVE, reason=reason, sentence=sentence)


def hold(reason: HeldReason, sentence: str, *, evidence: tuple[str, ...] = ()) -> Finding:
    """Find what stands in the way and may pass."""
    return Finding(ruling=Ruling.HOLD, reason=reason, sentence=sentence, evidence=evidence)


def refuse(reason: RefusedReason, sentence: str) -> Finding:
    """Find what forbids it for good."""
    return Finding(ruling=Ruling.REFUSE, reason=reason, sentence=sentence)


def not_read(sentence: str) -> Finding:
    """Find that the question can't be answered before the store is read."""
    return Finding(ruling=Ruling.NOT_READ, reason=None, sentence=sentence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One check's answer: all that it found, strongest first, and the facts that it used."""

    check: Check
    findings: tuple[Finding, ...]
    facts: UsedFacts

    @classmethod
    def of(
        cls, check: Check, found: Iterable[Finding], *, facts: UsedFacts, otherwise: Finding | str
    ) -> "Verdict":
        """Make a verdict of what was found, or of what is to be said where nothing was."""
        findings = tuple(sorted(found, key=lambda finding: -finding.severity))
        if isinstance(otherwise, str):
            otherwise = Finding(ruling=Ruling.ALLOW, reason=None, sentence=otherwise)
        return cls(check=check, findings=findings or (otherwise,), facts=facts)

    @property
    def strongest(self) -> Finding:
        """Return the finding that speaks for the check."""
        return self.findings[0]

    @property
    def ruling(self) -> Ruling:
        """Return what the check rules."""
        return self.strongest.ruling

    @property
    def reason(self) -> Reason | None:
        """Return the reason code; None where it allows or nothing was read.

        What a person has cleared keeps its reason in the finding, and is no reason any more.
        """
        return None if self.ruling is Ruling.ALLOW else self.strongest.reason

    @property
    def sentence(self) -> str:
        """Return the sentence that a person reads, with its arithmetic."""
        return self.strongest.sentence

    def as_record(self) -> dict[str, object]:
        """Return the verdict as JSON keeps it."""
        return {
            "check": self.check.value,
            **_record(self.strongest),
            "also": [_record(finding) for finding in self.findings[1:]],
            "facts": dict(self.facts),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the four verdicts come to."""

    verdicts: tuple[Verdict, ...]

    @property
    def deciding(self) -> Verdict:
        """Return the verdict that decides: the strongest, the first of equals."""
        return max(self.verdicts, key=lambda verdict: verdict.strongest.severity)

    @property
    def ruling(self) -> Ruling:
        """Return what the gate rules."""
        return self.deciding.ruling

    @property
    def reason(self) -> Reason | None:
        """Return the deciding reason code; None where the gate allows."""
        return self.deciding.reason

    @property
    def sentence(self) -> str:
        """Return the deciding sentence."""
        return self.deciding.sentence

    @property
    def state(self) -> State:
        """Return the state that an intent has by this decision."""
        return _STATES[self.ruling]


def decide(verdicts: Sequence[Verdict]) -> Decision:
    """Put the four verdicts together.

    Raises:
        ValueError: A check is missing or stands twice: the gate never decides on less than four.
    """
    if sorted(verdict.check for verdict in verdicts) != sorted(Check):
        raise ValueError("The gate decides on each of its four checks once.")
    return Decision(verdicts=tuple(verdicts))


def _record(finding: Finding) -> dict[str, object]:
    return {
        "ruling": finding.ruling.value,
        "reason": finding.reason.value if finding.reason else None,
        "sentence": finding.sentence,
        "evidence": list(finding.evidence),
    }
