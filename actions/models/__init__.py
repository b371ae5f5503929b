"""The rows of actions by subject: the intent and its target, the gate, the evidence, the events."""

from actions.models.events import IntentEvent
from actions.models.evidence import (
    Attempt,
    AttemptOutcome,
    Echo,
    EchoPart,
    ExternalObject,
    Finding,
    FindingResult,
    Outcome,
    Read,
    ReadCause,
    ReadResult,
    ResolvedHow,
)
from actions.models.gate import Approval, Counter, GateDecision, Phase, PolicyVersion
from actions.models.intent import Intent, Target

__all__ = [
    "Approval",
    "Attempt",
    "AttemptOutcome",
    "Counter",
    "Echo",
    "EchoPart",
    "ExternalObject",
    "Finding",
    "FindingResult",
    "GateDecision",
    "Intent",
    "IntentEvent",
    "Outcome",
    "Phase",
    "PolicyVersion",
    "Read",
    "ReadCause",
    "ReadResult",
    "ResolvedHow",
    "Target",
]
