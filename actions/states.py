"""The states of an intent, and the one table of moves between them.

Promises: what is not in the table can't happen (a database trigger is generated from it); nothing
that was sent is ever withdrawn or refused; money is confirmed only by the platform's own SUCCESS.
Does not know rows, clocks or platforms: it says what may follow what, and what echoed parts mean.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from integrations.money import Money, total
from integrations.ports import Part, Standing


class State(StrEnum):
    """Where an intent stands; stored values are never renamed."""

    PROPOSED = "proposed"
    HELD = "held"
    AWAITING_APPROVAL = "awaiting_approval"
    AUTHORIZED = "authorized"
    EXECUTING = "executing"
    UNKNOWN = "unknown"
    PENDING = "pending"
    PARTIALLY_CONFIRMED = "partially_confirmed"
    CONFIRMED = "confirmed"
    ACCEPTED = "accepted"
    FAILED = "failed"
    REFUSED = "refused"
    WITHDRAWN = "withdrawn"
    REVERSED = "reversed"


INITIAL = State.PROPOSED
"""Every intent begins here; the trigger refuses an insert in any other state."""

ARCS: dict[State, dict[State, str]] = {
    State.PROPOSED: {
        State.HELD: "the gate can't say yes yet",
        State.AWAITING_APPROVAL: "the gate wants a second person",
        State.AUTHORIZED: "the gate says yes",
        State.REFUSED: "the gate says no",
        State.WITHDRAWN: "taken back before anything was sent",
    },
    State.HELD: {
        State.AWAITING_APPROVAL: "gated again, a second person is wanted",
        State.AUTHORIZED: "gated again, the gate says yes",
        State.REFUSED: "gated again, the gate says no",
        State.WITHDRAWN: "taken back before anything was sent",
    },
    State.AWAITING_APPROVAL: {
        State.HELD: "the approval expired, or the gate can't say yes any more",
        State.AUTHORIZED: "approved, and the gate says yes again",
        State.REFUSED: "a person or the gate says no",
        State.WITHDRAWN: "taken back before anything was sent",
    },
    State.AUTHORIZED: {
        State.EXECUTING: "a worker claims it",
        State.HELD: "gated again unsent, the gate can't say yes any more",
        State.AWAITING_APPROVAL: "gated again unsent, a second person is wanted",
        State.REFUSED: "gated again unsent, the gate says no",
        State.WITHDRAWN: "taken back before anything was sent",
    },
    State.EXECUTING: {
        State.AUTHORIZED: "provably nothing was sent, by this attempt or an earlier one",
        State.UNKNOWN: "sent, and no answer can be read",
        State.PENDING: "the platform has it and has not finished",
        State.PARTIALLY_CONFIRMED: "the platform says that some parts succeeded and some failed",
        State.CONFIRMED: "the platform's echo says success",
        State.FAILED: "the platform rejected it, or its money failed",
    },
    State.UNKNOWN: {
        State.EXECUTING: "absent on the platform, a worker sends it again",
        State.PENDING: "found, and the platform has not finished",
        State.PARTIALLY_CONFIRMED: "found, some parts succeeded and some failed",
        State.CONFIRMED: "found, the platform's echo says success",
        State.FAILED: "reads prove it absent or rejected, or its money failed",
    },
    State.PENDING: {
        State.PARTIALLY_CONFIRMED: "a later echo says that some parts succeeded and some failed",
        State.CONFIRMED: "a later echo says success",
        State.FAILED: "a later echo says that its money failed",
        State.ACCEPTED: "a person accepts what the platform holds instead",
    },
    State.PARTIALLY_CONFIRMED: {
        State.CONFIRMED: "a later echo says that the rest succeeded too",
        State.ACCEPTED: "a person accepts the part that succeeded",
        State.REVERSED: "a later echo takes back the part that had succeeded",
    },
    State.CONFIRMED: {State.REVERSED: "a later echo says otherwise"},
    State.ACCEPTED: {State.REVERSED: "a later echo says otherwise"},
    State.FAILED: {},
    State.REFUSED: {},
    State.WITHDRAWN: {},
    State.REVERSED: {},
}
"""Every move there is, and why it is made. A row that stays where it is makes no move."""

WITHDRAWABLE = frozenset(source for source, arcs in ARCS.items() if State.WITHDRAWN in arcs)
"""Nothing was sent: may still be taken back."""

PAST_GATE = frozenset(
    {
        State.AUTHORIZED,
        State.EXECUTING,
        State.UNKNOWN,
        State.PENDING,
        State.PARTIALLY_CONFIRMED,
        State.CONFIRMED,
        State.ACCEPTED,
    }
)
"""Allowed by the gate, and its effect may stand.

An equal one must be held, and its amount kept back from others until a read shows it.
"""

SETTLED = frozenset(
    {
        State.CONFIRMED,
        State.ACCEPTED,
        State.FAILED,
        State.REFUSED,
        State.WITHDRAWN,
        State.REVERSED,
    }
)
"""Ended: a ticket may resolve over these and no others."""


WATCHED = frozenset({State.FAILED, State.ACCEPTED, State.REVERSED})
"""Ended otherwise than asked: read again for a while, since the platform may still change its mind.

Of what failed, only what the platform holds an object of.
"""


class IllegalMove(Exception):
    """No arc of the table leads there; nothing was changed, and the caller is at fault."""


class StaleState(Exception):
    """Someone moved the intent first; nothing was changed. Read it again and decide anew."""


def may(source: State, target: State) -> bool:
    """Say whether the table has an arc from one state to another."""
    return target in ARCS[source]


def sql_arcs() -> tuple[tuple[str, str], ...]:
    """Return every arc as a pair of stored values, sorted, for the trigger that guards the rows."""
    return tuple(sorted((source.value, target.value) for source in ARCS for target in ARCS[source]))


def diagram() -> str:
    """Draw the table as a Mermaid state diagram."""
    lines = ["stateDiagram-v2", f"    [*] --> {INITIAL}"]
    for source, arcs in ARCS.items():
        lines += [f"    {source} --> {target}: {reason}" for target, reason in arcs.items()]
        lines += [] if arcs else [f"    {source} --> [*]"]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What an echo's parts mean for the intent that they belong to."""

    state: State
    mismatch: bool = False
    """The platform holds something other than was asked: a person looks, nothing is rounded."""


def state_of_parts(parts: Sequence[Part], *, asked: Money) -> Judged:
    """Judge the money parts of one echo, in the order that design 5.1 gives."""
    standings = {part.standing for part in parts}
    if Standing.OPEN in standings:
        return Judged(state=State.PENDING)
    if standings == {Standing.SUCCEEDED, Standing.FAILED}:
        return Judged(state=State.PARTIALLY_CONFIRMED)
    if standings == {Standing.FAILED}:
        return Judged(state=State.FAILED)
    if standings and _sum_is(parts, asked):
        return Judged(state=State.CONFIRMED)
    return Judged(state=State.PENDING, mismatch=True)


def _sum_is(parts: Sequence[Part], asked: Money) -> bool:
    same_currency = all(part.money.currency == asked.currency for part in parts)
    return same_currency and total((part.money for part in parts), currency=asked.currency) == asked


def succeeds_after_all(now: Sequence[Part], *, before: Sequence[Part]) -> bool:
    """Say whether a part has succeeded that had not: more stands than was settled on."""
    succeeded = {part.identifier for part in before if part.standing is Standing.SUCCEEDED}
    return any(
        part.standing is Standing.SUCCEEDED and part.identifier not in succeeded for part in now
    )


def takes_back(now: Sequence[Part], *, before: Sequence[Part]) -> bool:
    """Say whether a part that once succeeded has failed since: the only ground for a reversal."""
    succeeded = {part.identifier for part in before if part.standing is Standing.SUCCEEDED}
    return any(part.standing is Standing.FAILED and part.identifier in succeeded for part in now)


class HeldReason(StrEnum):
    """Why the gate can't say yes yet."""

    PAUSED = "paused"
    KILL_SWITCH = "kill_switch"
    CIRCUIT = "circuit"
    BLOCKED_CONNECTION = "blocked_connection"
    MISSING_SCOPE = "missing_scope"
    SENDER_IDENTITY = "sender_identity"
    FACTS_UNAVAILABLE = "facts_unavailable"
    UNVERIFIED_CUSTOMER = "unverified_customer"
    OWNERSHIP_UNCLEAR = "ownership_unclear"
    DISPUTE = "dispute"
    EQUAL_EFFECT = "equal_effect"
    FAILED_REFUND_OBJECT = "failed_refund_object"
    RESERVATION = "reservation"
    COUNTER = "counter"
    VELOCITY = "velocity"
    WAITS_FOR = "waits_for"
    APPROVAL_EXPIRED = "approval_expired"
    TEXT_CLAIM = "text_claim"
    NOT_YET_SUPPORTED = "not_yet_supported"


CLEARABLE = frozenset(
    {
        HeldReason.UNVERIFIED_CUSTOMER,
        HeldReason.OWNERSHIP_UNCLEAR,
        HeldReason.DISPUTE,
        HeldReason.EQUAL_EFFECT,
        HeldReason.FAILED_REFUND_OBJECT,
    }
)
"""What a person may clear by a look at its evidence.

The others are facts that a word doesn't change (a pause, a blocked connection, money that is kept
back) or the brand's own limits: a person can only have them judged again.
"""


class ApprovalReason(StrEnum):
    """Why the gate wants a second person."""

    OVER_THRESHOLD = "over_threshold"
    NO_LIMIT_FOR_CURRENCY = "no_limit_for_currency"


class RefusedReason(StrEnum):
    """Why the gate or a person said no."""

    KIND_OFF = "kind_off"
    ACTOR_KIND = "actor_kind"
    NO_SUCH_ORDER = "no_such_order"
    FOREIGN_ORDER = "foreign_order"
    UNPAID = "unpaid"
    AMOUNT_ZERO = "amount_zero"
    MOVES_NO_MONEY = "moves_no_money"
    OTHER_CURRENCY = "other_currency"
    OVER_REMAINDER = "over_remainder"
    OVER_CAP = "over_cap"
    OVER_ORDER_LIMIT = "over_order_limit"
    OVER_LINES = "over_lines"
    OVER_RECKONED = "over_reckoned"
    OVER_REST = "over_rest"
    NO_CUSTOMER = "no_customer"
    ORDER_TOO_OLD = "order_too_old"
    REJECTED_BY_PERSON = "rejected_by_person"


class FailedReason(StrEnum):
    """How the platform said no."""

    REJECTED = "rejected"
    ABSENT = "absent"
    MONEY_FAILED = "money_failed"


class NeedsHuman(StrEnum):
    """Why an intent stands before a person; its state stays honest meanwhile."""

    REJECTED = "rejected"
    MONEY_FAILED = "money_failed"
    MISMATCH = "mismatch"
    PARTLY_FAILED = "partly_failed"
    TWO_MATCHES = "two_matches"
    MARKER_DISAGREES = "marker_disagrees"
    PARAMETER_MISMATCH = "parameter_mismatch"
    AMBIGUOUS_READ = "ambiguous_read"
    FOREIGN_EFFECT = "foreign_effect"
    ORDER_CHANGED = "order_changed"
    EXHAUSTED_SCHEDULE = "exhausted_schedule"
    EXHAUSTED_SENDS = "exhausted_sends"
    NOT_SENT_TOO_LONG = "not_sent_too_long"
    UNKNOWN_TOO_LONG = "unknown_too_long"
    PENDING_TOO_LONG = "pending_too_long"
    HELD_TOO_LONG = "held_too_long"
    RESEND_ENDED = "resend_ended"
    LATE_SUCCESS = "late_success"
    REVERSED = "reversed"
    CONFIRMED_AFTER_CLOSE = "confirmed_after_close"
    UNREADABLE_FOR_GOOD = "unreadable_for_good"
