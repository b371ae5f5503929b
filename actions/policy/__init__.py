"""The Policy Gate's judgement: four deterministic checks of structured facts.

Promises: the same facts and the same policy give the same verdict; no text and no model output is
among the facts; every limit is shown with its arithmetic; refuse beats hold beats approval beats
allow. Does not read anything (facts are handed in) and changes nothing (the gate does).
Read on in `rules` (what a brand decides), `facts`, `verdicts`, then `checks`.
"""

from actions.policy.already_done import not_already_done
from actions.policy.checks import judge, permitted
from actions.policy.clearing import is_clearable
from actions.policy.defaults import default_policy
from actions.policy.differences import Difference, differences
from actions.policy.facts import (
    Circumstances,
    Cleared,
    EndedIntent,
    Facts,
    OrderFacts,
    OtherIntent,
    Ownership,
    Proposal,
    RefundFacts,
    Rest,
    Usage,
    Used,
    order_facts,
    ownership_of,
    same_identity,
)
from actions.policy.grounds import grounded
from actions.policy.limits import within_limits
from actions.policy.records import OtherRecord, facts_of, facts_record
from actions.policy.reservations import kept_back_parts, reserving
from actions.policy.rules import (
    Counts,
    CurrencyLimit,
    InvalidPolicy,
    KindPolicy,
    Policy,
    Velocity,
    parse_policy,
    policy_schema,
)
from actions.policy.verdicts import Check, Decision, Finding, Ruling, Verdict, decide

__all__ = [
    "Check",
    "Circumstances",
    "Cleared",
    "Counts",
    "CurrencyLimit",
    "Decision",
    "Difference",
    "EndedIntent",
    "Facts",
    "Finding",
    "InvalidPolicy",
    "KindPolicy",
    "OrderFacts",
    "OtherIntent",
    "OtherRecord",
    "Ownership",
    "Policy",
    "Proposal",
    "RefundFacts",
    "Rest",
    "Ruling",
    "Usage",
    "Used",
    "Velocity",
    "Verdict",
    "decide",
    "default_policy",
    "differences",
    "facts_of",
    "facts_record",
    "grounded",
    "is_clearable",
    "judge",
    "kept_back_parts",
    "not_already_done",
    "order_facts",
    "ownership_of",
    "parse_policy",
    "permitted",
    "policy_schema",
    "reserving",
    "same_identity",
    "within_limits",
]
