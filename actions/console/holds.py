"""What the gate holds, for a person who looks at why: the reason, its evidence, what they can do.

Promises: evidence is shown by its identifiers, each with a way to look at it where there is one;
clearing is offered only for what a word can clear, with the digest of just what is shown; every
held intent can be judged again.
Does not clear anything.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from actions.approvals import evidence_of
from actions.badges import REASON_WORDS
from actions.console.asks import sentence_of
from actions.models import Approval, GateDecision, Intent
from actions.policy import Ruling
from actions.states import CLEARABLE, NeedsHuman, State
from integrations.admin import page_address
from integrations.clock import now
from integrations.store_links import store_page


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One thing that a hold rests on, and where to look at it."""

    identifier: str
    words: str
    address: str | None
    is_outside: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """Why an intent is held, and what a person can do about it."""

    words: str
    sentence: str
    evidence: tuple[Evidence, ...]
    digest: str
    """Of what is shown; empty where no word clears it."""
    cleared: Approval | None
    """Somebody's word on just this evidence that still counts."""
    is_left_to_a_person: bool


def hold_of(intent: Intent) -> Hold | None:
    """Return why an intent is held; None where it isn't."""
    if intent.state != State.HELD:
        return None
    newest = intent.decisions.order_by("-number").first()
    decision = newest if _says_why(newest, intent) else None
    evidence = () if decision is None else tuple(_evidence(intent, evidence_of(decision)))
    can_clear = intent.state_reason in CLEARABLE and bool(evidence)
    return Hold(
        words=REASON_WORDS.get(intent.state_reason, intent.state_reason),
        sentence=sentence_of(decision) if decision else "",
        evidence=evidence,
        digest=decision.shown_digest if decision and can_clear else "",
        cleared=_cleared(intent, decision) if decision else None,
        is_left_to_a_person=intent.needs_human_reason == NeedsHuman.HELD_TOO_LONG,
    )


def _says_why(decision: GateDecision | None, intent: Intent) -> bool:
    """Is a decision the one that holds? An expired approval, say, holds without one."""
    return decision is not None and (decision.ruling, decision.reason) == (
        Ruling.HOLD,
        intent.state_reason,
    )


def _cleared(intent: Intent, decision: GateDecision) -> Approval | None:
    given = intent.approvals.filter(decision=decision, approves=True, expires_at__gt=now())
    return given.order_by("-pk").first()


def _evidence(intent: Intent, identifiers: Sequence[str]) -> Iterator[Evidence]:
    ours = Intent.objects.filter(workspace=intent.workspace_id, public_id__in=identifiers)
    by_id = {row.public_id: row for row in ours.defer("body", "document")}
    on_store = store_page(intent.connection, intent.target.identifier)
    for identifier in identifiers:
        row = by_id.get(identifier)
        if row is not None:
            words = f"{row.kind} of {row.money}, {row.state.replace('_', ' ')}"
            yield Evidence(
                identifier=identifier, words=words, address=page_address(row), is_outside=False
            )
        else:
            yield Evidence(
                identifier=identifier, words="on the store", address=on_store, is_outside=True
            )
