"""What awaits a second person: the exact allocation that they say yes or no to.

Promises: what is shown is what the newest decision stored, and the digest that goes into the form
is that decision's own; where it is asked again, what was shown before stands beside it; a fixed
number of questions for a whole list.
Does not say yes or no, and does not know who may: that is `actions.approving` and the seats.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, Prefetch, QuerySet

from actions.console.seats import Deed, Seat, who_may
from actions.models import Approval, GateDecision, Intent
from actions.policy import OtherRecord, Ruling, facts_of
from actions.states import State
from integrations.clock import now
from integrations.display import SANDBOX, Badge, age
from integrations.money import Money

ASKS_MAX = 100
"""The inbox shows this many at once, those that expire first."""

Allocation = Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One intent that awaits a person, with all that they are asked to look at."""

    intent: Intent
    decision: GateDecision
    sentence: str
    shop_money: Money | None
    """The same in the shop's currency; None where that is the same, or not known."""
    notify: bool | None
    """May the store's own mail speak to the customer? None where the policy doesn't say."""
    before: Allocation | None
    """What was shown before; None where nothing else was."""
    expires_in: str
    approval: Approval | None
    """Somebody's yes that stands: the gate looks once more."""
    why_not: str
    """Why the person who looks can't answer; empty where they can."""
    sandbox: Badge | None


def awaiting(intents: QuerySet[Intent], *, seats: Mapping[int, Seat]) -> list[Ask]:
    """Return what awaits a second person, what expires first on top."""
    rows = intents.filter(state=State.AWAITING_APPROVAL).order_by(
        F("due_at").asc(nulls_last=True), "pk"
    )
    return _asks(rows[: ASKS_MAX + 1], seats)


def ask_of(intent: Intent, *, seat: Seat) -> Ask | None:
    """Return what one intent awaits; None where it awaits no one."""
    if intent.state != State.AWAITING_APPROVAL:
        return None
    asks = _asks(Intent.objects.filter(pk=intent.pk), {intent.workspace_id: seat})
    return asks[0] if asks else None


def _asks(rows: QuerySet[Intent], seats: Mapping[int, Seat]) -> list[Ask]:
    shown = GateDecision.objects.filter(ruling=Ruling.APPROVE).order_by("-number")
    at = now()
    yes = Approval.objects.filter(approves=True, expires_at__gt=at).order_by("-pk")
    whole = rows.select_related(
        "workspace", "ticket", "target", "connection", "reason__subject_key"
    ).prefetch_related(
        Prefetch("decisions", queryset=shown.select_related("policy_version")[:2], to_attr="shown"),
        Prefetch("approvals", queryset=yes, to_attr="yes"),
    )
    return [
        _ask(intent, intent.shown, intent.yes, seats[intent.workspace_id], at=at)  # type: ignore[arg-type]  # as prefetched
        for intent in whole.defer("body", "document")
        if intent.shown
    ]


def _ask(
    intent: Intent,
    shown: Sequence[GateDecision],
    yes: Sequence[Approval],
    seat: Seat,
    *,
    at: datetime,
) -> Ask:
    newest, earlier = shown[0], shown[1:]
    approval = next((row for row in yes if row.digest == newest.shown_digest), None)
    is_other = bool(earlier) and earlier[0].shown_digest != newest.shown_digest
    return Ask(
        intent=intent,
        decision=newest,
        sentence=sentence_of(newest),
        shop_money=_in_shop_currency(newest, intent),
        notify=_notify(newest, intent.kind),
        before=earlier[0].allocation if is_other else None,
        expires_in=_time_left(intent.due_at, at=at),
        approval=approval,
        why_not=_why_not(intent, seat),
        sandbox=SANDBOX if intent.connection.is_sandbox else None,
    )


def sentence_of(decision: GateDecision) -> str:
    """Return the sentence that decided, with its arithmetic."""
    deciding = (row for row in decision.verdicts if row["ruling"] == decision.ruling)
    return next((str(row["sentence"]) for row in deciding), "")


def _in_shop_currency(decision: GateDecision, intent: Intent) -> Money | None:
    try:
        counted = facts_of(decision.facts).asked_of_limits
    except OtherRecord:
        # An older record of facts: it has no sum in the shop's currency to show.
        return None
    return None if counted is None or counted.currency == intent.currency else counted


def _notify(decision: GateDecision, kind: str) -> bool | None:
    rules = decision.policy_version.document.get("kinds", {}).get(kind, {})
    told = rules.get("notify")
    return told if isinstance(told, bool) else None


def _time_left(due_at: datetime | None, *, at: datetime) -> str:
    return "" if due_at is None or due_at <= at else age(due_at - at)


def _why_not(intent: Intent, seat: Seat) -> str:
    if not seat.may(Deed.APPROVE):
        return who_may(Deed.APPROVE)
    if seat.proposed(intent):
        return "You proposed this, so a second person approves it. You can take it back."
    return ""
