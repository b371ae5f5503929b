"""Steps of the gate and of those who speak to it: decided, counted, approved, cleared, withdrawn.

Promises: each is one transaction that the database accepts as it stands.
Does not send anything.
"""

from datetime import datetime, timedelta

from actions.states import CLEARABLE
from tests.strategies.statements import Statement, insert, update
from tests.strategies.steps.counting import GIVEN_BACK, counted, given_back
from tests.strategies.steps.shared import AI, FROZEN, PEOPLE
from tests.strategies.world import Row, World


def _decision(
    w: World, intent: Row, *, ruling: str, at: datetime, digest: str = "", **columns: object
) -> Statement:
    number = len(w.rows("actions_gatedecision", "intent_id = %s", intent["id"])) + 1
    policy = w.row("actions_policyversion", "workspace_id = %s", intent["workspace_id"])
    return insert(
        "actions_gatedecision",
        w.new_id("actions_gatedecision"),
        workspace_id=intent["workspace_id"],
        public_id=w.word("dec"),
        intent_id=intent["id"],
        number=number,
        **{
            "phase": "worker",
            "policy_version_id": policy["id"],
            "target_version": 0,
            "ruling": ruling,
            "reason": "" if ruling in ("allow", "approve") else "over_cap",
            "verdicts": [],
            "facts": {},
            "shown_digest": digest or w.word("shown"),
            "decided_at": at,
        }
        | columns,
    )


def allow(w: World) -> list[Statement]:
    """The gate says yes: the limits count it, and the request is frozen."""
    intent, at = w.row("actions_intent", "state IN ('proposed', 'held')"), w.moment()
    decided = _decision(w, intent, ruling="allow", at=at)
    taken, columns = counted(w, intent, at)
    moved = w.move(
        intent,
        to="authorized",
        at=at,
        decision_id=decided.row_id,
        due_at=at,
        **FROZEN,
        **columns,
    )
    return [decided, *taken, *moved]


def hold(w: World) -> list[Statement]:
    """The gate can't say yes yet."""
    intent, at = w.row("actions_intent", "state IN ('proposed', 'awaiting_approval')"), w.moment()
    reason = w.rng.choice(["paused", "counter", *sorted(CLEARABLE)])
    decided = _decision(w, intent, ruling="hold", at=at, reason=reason)
    return [
        decided,
        *w.move(intent, to="held", at=at, decision_id=decided.row_id, state_reason=reason),
    ]


def clear(w: World) -> list[Statement]:
    """A person clears what an intent is held for, and the gate looks once more: it asks, or allows."""
    reasons = ", ".join(f"'{reason}'" for reason in sorted(CLEARABLE))
    intent, at = (
        w.row("actions_intent", f"state = 'held' AND state_reason IN ({reasons})"),
        w.moment(),
    )
    held = w.row("actions_gatedecision", "id = %s", intent["decision_id"])
    shown = str(held["shown_digest"])
    if w.rng.random() < 0.5:
        asked = _decision(w, intent, ruling="approve", at=at, digest=shown)
        moved = w.move(intent, to="awaiting_approval", at=at, decision_id=asked.row_id)
        return [_word(w, held, at, who=_own(intent) or PEOPLE[0]), asked, *moved]
    decided = _decision(w, intent, ruling="allow", at=at, digest=shown)
    taken, columns = counted(w, intent, at)
    moved = w.move(intent, to="authorized", at=at, decision_id=decided.row_id, **FROZEN, **columns)
    return [_word(w, held, at, who=w.rng.choice(PEOPLE)), decided, *taken, *moved]


def _own(intent: Row) -> tuple[str, str] | None:
    """Return an intent's proposer, if it is a person: who may clear, and not approve."""
    own = (str(intent["proposer_kind"]), str(intent["proposer_identity"]))
    return own if own in PEOPLE else None


def _word(
    w: World, shown: Row, at: datetime, *, who: tuple[str, str], approves: bool = True
) -> Statement:
    reason = w.rng.random() < 0.5 and w.row(
        "integrations_sealedpayload", "workspace_id = %s", shown["workspace_id"]
    )
    return insert(
        "actions_approval",
        w.new_id("actions_approval"),
        workspace_id=shown["workspace_id"],
        public_id=w.word("apr"),
        intent_id=shown["intent_id"],
        decision_id=shown["id"],
        approver_kind=who[0],
        approver_identity=who[1],
        approves=approves,
        reason_id=reason["id"] if reason else None,
        digest=shown["shown_digest"],
        given_at=at,
        expires_at=at + timedelta(hours=24),
    )


def want_approval(w: World) -> list[Statement]:
    """The gate wants a second person."""
    intent, at = w.row("actions_intent", "state IN ('proposed', 'held')"), w.moment()
    decided = _decision(w, intent, ruling="approve", at=at)
    return [decided, *w.move(intent, to="awaiting_approval", at=at, decision_id=decided.row_id)]


def refuse(w: World) -> list[Statement]:
    """The gate says no."""
    intent, at = (
        w.row("actions_intent", "state IN ('proposed', 'held', 'awaiting_approval')"),
        w.moment(),
    )
    decided = _decision(w, intent, ruling="refuse", at=at)
    return [
        decided,
        *w.move(intent, to="refused", at=at, decision_id=decided.row_id, state_reason="over_cap"),
    ]


def withdraw(w: World) -> list[Statement]:
    """Taken back before anything was sent; what the limits counted is given back."""
    intent = w.row(
        "actions_intent",
        "state IN ('proposed', 'held', 'awaiting_approval') OR (state = 'authorized' AND first_sent_at IS NULL)",
    )
    moved = w.move(intent, to="withdrawn", at=w.moment(), by=AI, **GIVEN_BACK)
    return [*given_back(w, intent), *moved]


def approve(w: World) -> list[Statement]:
    """A second person says yes to just what was shown; the gate decides again, and it is used."""
    intent, at = w.row("actions_intent", "state = 'awaiting_approval'"), w.moment()
    shown = w.row("actions_gatedecision", "id = %s", intent["decision_id"])
    word = _word(w, shown, at, who=_second(w, intent))
    decided = _decision(w, intent, ruling="approve", at=at, digest=str(shown["shown_digest"]))
    taken, columns = counted(w, intent, at)
    return [
        word,
        decided,
        *taken,
        update("actions_approval", word.row_id, used_at=at),
        *w.move(intent, to="authorized", at=at, decision_id=decided.row_id, **FROZEN, **columns),
    ]


def say_no(w: World) -> list[Statement]:
    """A second person says no to what was shown."""
    intent, at = w.row("actions_intent", "state = 'awaiting_approval'"), w.moment()
    shown = w.row("actions_gatedecision", "id = %s", intent["decision_id"])
    who = _second(w, intent)
    return [
        _word(w, shown, at, who=who, approves=False),
        *w.move(intent, to="refused", at=at, by=who, state_reason="rejected_by_person"),
    ]


def _second(w: World, intent: Row) -> tuple[str, str]:
    """Draw a person who did not propose an intent."""
    return w.rng.choice([who for who in PEOPLE if who != _own(intent)])
