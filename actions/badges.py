"""The words of the Console for states and reasons: what is so, and no more than that.

Promises: every state, reason and ruling has its words (a test counts them); nothing here says
that an action is done before it is confirmed (I19).
Does not know what a customer may be told: that is the kind's own wording.
"""

from collections.abc import Mapping

from actions.models import AttemptOutcome, FindingResult, Intent, ReadResult, ResolvedHow
from actions.policy.verdicts import Check, Ruling
from actions.states import (
    ApprovalReason,
    FailedReason,
    HeldReason,
    NeedsHuman,
    RefusedReason,
    State,
)
from integrations.display import Badge, Tone
from integrations.ports import Standing

STATE_BADGES: Mapping[str, Badge] = {
    State.PROPOSED: Badge(
        word="proposed", tone=Tone.QUIET, sentence="recorded; the gate has not finished"
    ),
    State.HELD: Badge(word="held", tone=Tone.WAITING, sentence="not yes and not no"),
    State.AWAITING_APPROVAL: Badge(
        word="awaiting approval", tone=Tone.WAITING, sentence="a second person is wanted"
    ),
    State.AUTHORIZED: Badge(
        word="authorized", tone=Tone.BUSY, sentence="may be sent; nothing has taken effect"
    ),
    State.EXECUTING: Badge(word="executing", tone=Tone.BUSY, sentence="a call may be out"),
    State.UNKNOWN: Badge(
        word="unknown", tone=Tone.DOUBT, sentence="sent, no answer that can be read"
    ),
    State.PENDING: Badge(
        word="pending", tone=Tone.DOUBT, sentence="the platform has it and has not finished"
    ),
    State.PARTIALLY_CONFIRMED: Badge(
        word="partially confirmed", tone=Tone.DOUBT, sentence="some parts succeeded, some failed"
    ),
    State.CONFIRMED: Badge(
        word="confirmed", tone=Tone.GOOD, sentence="the platform says success, exactly as asked"
    ),
    State.ACCEPTED: Badge(
        word="accepted",
        tone=Tone.QUIET,
        sentence="a person accepts what the platform holds instead",
    ),
    State.FAILED: Badge(word="failed", tone=Tone.BAD, sentence="it did not take effect"),
    State.REFUSED: Badge(
        word="refused", tone=Tone.BAD, sentence="the gate or a person said no; nothing was sent"
    ),
    State.WITHDRAWN: Badge(
        word="withdrawn", tone=Tone.QUIET, sentence="taken back before anything was sent"
    ),
    State.REVERSED: Badge(
        word="reversed", tone=Tone.BAD, sentence="it stood, and the platform now says otherwise"
    ),
}

REASON_WORDS: Mapping[str, str] = {
    HeldReason.PAUSED: "the workspace is paused",
    HeldReason.KILL_SWITCH: "the kill switch is on",
    HeldReason.CIRCUIT: "the store has been failing",
    HeldReason.BLOCKED_CONNECTION: "the connection is blocked",
    HeldReason.MISSING_SCOPE: "the app lacks a scope on the store",
    HeldReason.SENDER_IDENTITY: "no helpdesk user speaks for this actor",
    HeldReason.FACTS_UNAVAILABLE: "the store could not be read",
    HeldReason.UNVERIFIED_CUSTOMER: "nobody has verified the customer",
    HeldReason.OWNERSHIP_UNCLEAR: "whose order it is can't be told",
    HeldReason.DISPUTE: "the payment is disputed",
    HeldReason.EQUAL_EFFECT: "an equal effect was found",
    HeldReason.FAILED_REFUND_OBJECT: "a failed refund stands on the order and may yet succeed",
    HeldReason.RESERVATION: "other intents have the order's money under way",
    HeldReason.COUNTER: "a limit of the day is used up",
    HeldReason.VELOCITY: "too many in a short time",
    HeldReason.WAITS_FOR: "it waits for another intent",
    HeldReason.APPROVAL_EXPIRED: "nobody approved in time",
    HeldReason.TEXT_CLAIM: "the text says more than is so",
    HeldReason.NOT_YET_SUPPORTED: "this is not supported yet",
    ApprovalReason.OVER_THRESHOLD: "over the amount that needs no second person",
    ApprovalReason.NO_LIMIT_FOR_CURRENCY: "the policy has no limit in this currency",
    RefusedReason.KIND_OFF: "the brand has this kind switched off",
    RefusedReason.ACTOR_KIND: "this kind of actor may not do it here",
    RefusedReason.NO_SUCH_ORDER: "there is no such order",
    RefusedReason.FOREIGN_ORDER: "the order is another customer's",
    RefusedReason.UNPAID: "the order is not paid",
    RefusedReason.AMOUNT_ZERO: "the amount is zero",
    RefusedReason.MOVES_NO_MONEY: "it would move no money",
    RefusedReason.OTHER_CURRENCY: "the order is in another currency",
    RefusedReason.OVER_REMAINDER: "more than the order can still give back",
    RefusedReason.OVER_CAP: "more than one action may move",
    RefusedReason.OVER_ORDER_LIMIT: "more than the brand gives back on one order",
    RefusedReason.OVER_LINES: "more items than the order still has to refund",
    RefusedReason.OVER_REST: "more than is missing of what was asked",
    RefusedReason.OVER_RECKONED: "more than the store reckons for these items",
    RefusedReason.NO_CUSTOMER: "the order has no customer to credit",
    RefusedReason.ORDER_TOO_OLD: "the order is too old",
    RefusedReason.REJECTED_BY_PERSON: "a person said no",
    FailedReason.REJECTED: "the platform rejected it",
    FailedReason.ABSENT: "complete reads prove that it is not on the platform",
    FailedReason.MONEY_FAILED: "the payment provider did not move the money",
}
"""Why an intent stands where it stands, as one clause."""

NEEDS_HUMAN_WORDS: Mapping[str, str] = {
    NeedsHuman.REJECTED: (
        "The platform rejected it. Correct it with another proposal, or hand the case over."
    ),
    NeedsHuman.MONEY_FAILED: (
        "The payment provider did not move the money. The merchant may retry it on the store: "
        "look there before anything else."
    ),
    NeedsHuman.MISMATCH: (
        "The platform holds another amount or currency than was asked. "
        "Compare the echo with the order."
    ),
    NeedsHuman.PARTLY_FAILED: ("Some parts succeeded and some failed. Decide about the rest."),
    NeedsHuman.TWO_MATCHES: (
        "More than one object on the platform claims to be this effect. Look at the order."
    ),
    NeedsHuman.MARKER_DISAGREES: (
        "An object carries our marker and disagrees with what was asked. Look at the order."
    ),
    NeedsHuman.PARAMETER_MISMATCH: (
        "The platform says that the key was used with other parameters. "
        "Nothing more is sent; it is only read."
    ),
    NeedsHuman.AMBIGUOUS_READ: (
        "What the platform shows can be read in more than one way. Look at the order."
    ),
    NeedsHuman.FOREIGN_EFFECT: (
        "Someone else made an equal effect meanwhile. Nothing more is sent until you have looked."
    ),
    NeedsHuman.ORDER_CHANGED: (
        "The order was cancelled or disputed meanwhile. Nothing more is sent until you have looked."
    ),
    NeedsHuman.EXHAUSTED_SCHEDULE: (
        "The platform was asked as often as planned and has not finished. Ask the platform."
    ),
    NeedsHuman.EXHAUSTED_SENDS: ("It was sent as often as is allowed. Nothing more is sent."),
    NeedsHuman.NOT_SENT_TOO_LONG: ("It could not be sent for too long. Look at the connection."),
    NeedsHuman.UNKNOWN_TOO_LONG: (
        "Nobody knows yet whether it took effect. Look at the order; do not repeat it by hand."
    ),
    NeedsHuman.PENDING_TOO_LONG: (
        "The platform has had it for long and has not finished. Do not repeat it by hand."
    ),
    NeedsHuman.HELD_TOO_LONG: (
        "It has been held past the brand's time and is not judged again by itself."
    ),
    NeedsHuman.RESEND_ENDED: ("It may not be sent again. Propose anew if it is still wanted."),
    NeedsHuman.LATE_SUCCESS: (
        "The platform reports success after it had reported failure. Do not repeat it."
    ),
    NeedsHuman.REVERSED: (
        "It stood, and the platform now says otherwise. The customer may believe that it is done."
    ),
    NeedsHuman.CONFIRMED_AFTER_CLOSE: (
        "It was confirmed after its ticket was closed. Look at the ticket."
    ),
    NeedsHuman.UNREADABLE_FOR_GOOD: (
        "The platform can't be read any more. It stays unknown until a person sets it aside."
    ),
}
"""What is so, and what a person can do about it."""

EVENT_WORDS: Mapping[str, str] = {
    "approved": "approved by a second person",
    "asked_again": "asked again",
    "cleared": "cleared by a person",
    "judged_again": "judged again",
    "corrected": "corrected by another proposal",
    "made_good": "what corrects it stands on the platform",
    "gated_again": "let go again by the gate",
    "explained": "explained by a person",
    "held": "held for another reason",
    "absent": "absent on the platform",
    "needs_human": "put before a person",
}
"""What happened to an intent that stayed where it was; what is not listed is shown as stored."""

CHECK_QUESTIONS: Mapping[str, str] = {
    Check.PERMITTED: "May this actor do this here, now?",
    Check.GROUNDED: "Does the order allow it, and is it this customer's?",
    Check.WITHIN_LIMITS: "Is it inside the brand's policy?",
    Check.NOT_ALREADY_DONE: "Is it new?",
}

RULING_BADGES: Mapping[str, Badge] = {
    Ruling.ALLOW: Badge(word="allows", tone=Tone.GOOD),
    Ruling.APPROVE: Badge(word="wants a second person", tone=Tone.WAITING),
    Ruling.NOT_READ: Badge(word="not read yet", tone=Tone.QUIET),
    Ruling.HOLD: Badge(word="holds", tone=Tone.WAITING),
    Ruling.REFUSE: Badge(word="refuses", tone=Tone.BAD),
}

ATTEMPT_BADGES: Mapping[str | None, Badge] = {
    None: Badge(word="open", tone=Tone.BUSY, sentence="a call may be out"),
    AttemptOutcome.ECHOED: Badge(
        word="answered", tone=Tone.GOOD, sentence="the platform named its object"
    ),
    AttemptOutcome.REJECTED: Badge(
        word="rejected", tone=Tone.BAD, sentence="the platform said no to this call"
    ),
    AttemptOutcome.NOT_SENT: Badge(
        word="not sent", tone=Tone.QUIET, sentence="provably without effect"
    ),
    AttemptOutcome.UNKNOWN: Badge(
        word="unknown", tone=Tone.DOUBT, sentence="sent, no answer that can be read"
    ),
}

RESOLVED_WORDS: Mapping[str, str] = {
    ResolvedHow.FOUND: "found on the platform later",
    ResolvedHow.ABSENT: "proven absent later, by a complete read",
}

FINDING_BADGES: Mapping[str, Badge] = {
    FindingResult.FOUND: Badge(word="found", tone=Tone.GOOD, sentence="the effect is there"),
    FindingResult.ABSENT: Badge(
        word="absent", tone=Tone.QUIET, sentence="a complete read does not show the effect"
    ),
    FindingResult.NOTHING_SAID: Badge(
        word="nothing said", tone=Tone.DOUBT, sentence="this read proves nothing either way"
    ),
}

READ_WORDS: Mapping[str, str] = {
    ReadResult.COMPLETE: "complete",
    ReadResult.TRUNCATED: "cut off, so it proves no absence",
    ReadResult.ERROR: "failed, so it proves nothing",
}

STANDING_BADGES: Mapping[str, Badge] = {
    Standing.SUCCEEDED: Badge(word="succeeded", tone=Tone.GOOD),
    Standing.FAILED: Badge(word="failed", tone=Tone.BAD),
    Standing.OPEN: Badge(word="not final", tone=Tone.DOUBT),
}

SET_ASIDE = Badge(
    word="set aside", tone=Tone.QUIET, sentence="a person has stopped waiting; it stays unknown"
)


def state_badge(intent: Intent) -> Badge:
    """Return the badge of an intent's state, with why it stands there where a reason is known."""
    shown = STATE_BADGES[State(intent.state)]
    because = REASON_WORDS.get(intent.state_reason)
    if because is None:
        return shown
    return Badge(word=shown.word, tone=shown.tone, sentence=f"{shown.sentence}: {because}")


def needs_human_badge(intent: Intent) -> Badge | None:
    """Return the badge of an intent that stands before a person; None where no one is needed."""
    if intent.needs_human_since is None:
        return None
    reason = NeedsHuman(intent.needs_human_reason)
    return Badge(word="needs a person", tone=Tone.BAD, sentence=NEEDS_HUMAN_WORDS[reason])
