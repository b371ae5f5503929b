"""The Policy Gate's judgement: four deterministic checks of structured facts.

Promises: the same facts and the same policy give the same verdict; no text and no model output is
among the facts; every limit is shown with its arithmetic; refuse beats hold beats approval beats
allow. Does not read anything (facts are handed in) and changes nothing (the gate does).
Read on in `rules` (what a brand decides), `facts`, `verdicts`, then `checks`.
"""

from actions.policy.already_done import not_already_done, reserving
from actions.policy.checks import judge, permitted, within_limits
from actions.policy.facts import (
    Circumstances,
    Facts,
    OrderFacts,
    OtherIntent,
    Ownership,
    Proposal,
    RefundFacts,
    order_facts,
    ownership_of,
    same_identity,
)
from actions.policy.grounds import grounded
from actions.policy.rules import (
    CurrencyLimit,
    InvalidPolicy,
    KindPolicy,
    Policy,
    default_policy,
    parse_policy,
)
from actions.policy.verdicts import Check, Decision, Finding, Ruling, Verdict, decide

__all__ = [
    "Check",
    "Circumstances",
    "CurrencyLimit",
    "Decision",
    "Facts",
    "Finding",
    "InvalidPolicy",
    "KindPolicy",
    "OrderFacts",
    "OtherIntent",
    "Ownership",
    "Policy",
    "Proposal",
    "RefundFacts",
    "Ruling",
    "Verdict",
    "decide",
    "default_policy",
    "grounded",
    "judge",
    "not_already_done",
    "order_facts",
    "ownership_of",
    "parse_policy",
    "permitted",
    "reserving",
    "same_identity",
    "within_limits",
]
