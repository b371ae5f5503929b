"""Approvals: a second person says yes to exactly what is shown, and the gate looks once more."""

from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from functools import partial

import pytest
from django.db import transaction

from actions.approving import (
    NotWaiting,
    OnlyAPerson,
    OwnProposal,
    ShownOtherwise,
    Word,
    approve,
    reject,
)
from actions.gate import expire_approval
from actions.models import Approval, Intent
from actions.services import Wish, propose
from actions.states import State
from integrations import sealed
from integrations.actors import Actor, ActorKind
from integrations.clock import now
from integrations.sandbox.faults import FaultKind
from integrations.sandbox.records import Payment
from tests.faults.threads import at_once
from tests.stage import AGENT, INTEGRATION, PERSON, SECOND, TEAM, Case, Stage, fresh

pytestmark = pytest.mark.django_db(transaction=True)

HOUR, MINUTE, SECONDS = timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1)
DAY = 24 * HOUR


def awaiting(stage: Stage, case: Case | None = None, *, by: Actor = PERSON) -> Intent:
    """Propose 60.00 EUR where more than 50.00 EUR need a second person, and judge it."""
    stage.policy(approval_above="50.00")
    case = case or stage.case(amount="60.00", total="100.00")
    intent = stage.work(stage.propose(case, amount="60.00", by=by))
    assert (intent.state, intent.state_reason) == ("awaiting_approval", "over_threshold")
    return intent


def sends(stage: Stage) -> int:
    """Return how many refund requests reached the store."""
    return len(stage.shop.requests(operation="refundCreate"))


def names(intent: Intent) -> list[str]:
    """Return the names of an intent's events."""
    return list(intent.events.order_by("number").values_list("name", flat=True))


# --- Who -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", [SECOND, TEAM])
def test_a_second_person_approves_and_it_is_confirmed(stage: Stage, by: Actor) -> None:
    intent = stage.approve(awaiting(stage), by=by)
    assert intent.state == "confirmed"
    assert names(intent) == [
        "proposed",
        "awaiting_approval",
        "approved",
        "authorized",
        "executing",
        "confirmed",
    ]
    approval = Approval.objects.get(intent=intent)
    assert (approval.approves, approval.approver_identity) == (True, by.identity)
    assert approval.used_at is not None
    authorized = intent.events.get(name="authorized")
    assert approval.public_id in authorized.body
    assert authorized.reason == f"approved by {by.kind} {by.identity}"
    assert [effect.amount for effect in stage.shop.effects()] == [Decimal("60.00")]
    assert [entry["identity"] for entry in fresh(intent).ticket.path][-1] == by.identity


@pytest.mark.parametrize("threshold", ["0", "59.99"])
def test_what_is_over_the_threshold_asks(stage: Stage, threshold: str) -> None:
    stage.policy(approval_above=threshold)
    intent = stage.work(stage.propose(stage.case(), amount="60.00"))
    assert (intent.state, sends(stage)) == ("awaiting_approval", 0)


def test_what_is_at_the_threshold_goes_alone(stage: Stage) -> None:
    stage.policy(approval_above="60.00")
    assert stage.work(stage.propose(stage.case(), amount="60.00")).state == "confirmed"


def test_a_currency_without_limits_asks(stage: Stage) -> None:
    stage.policy(currency="USD")
    intent = stage.work(stage.propose(stage.case(), amount="1.00"))
    assert (intent.state, intent.state_reason) == ("awaiting_approval", "no_limit_for_currency")
    assert stage.approve(intent).state == "confirmed"


@pytest.mark.parametrize(
    ("proposer", "by", "refusal"),
    [
        (PERSON, PERSON, OwnProposal),
        (PERSON, Actor(kind=ActorKind.BRAND_TEAM, identity=PERSON.identity), OwnProposal),
        (PERSON, AGENT, OnlyAPerson),
        (AGENT, AGENT, OnlyAPerson),
        (PERSON, INTEGRATION, OnlyAPerson),
    ],
)
@pytest.mark.parametrize("say", [approve, reject])
def test_nobody_else_approves_or_rejects(
    stage: Stage, say: object, proposer: Actor, by: Actor, refusal: type[Exception]
) -> None:
    """I7: neither whoever proposed it, in whatever role, nor an AI, nor an integration."""
    intent = awaiting(stage, by=proposer)
    assert callable(say)
    with pytest.raises(refusal):
        say(intent=intent, word=stage.word(intent, by=by))
    assert fresh(intent).event_count == intent.event_count
    assert stage.work(intent).state == "awaiting_approval"
    assert (Approval.objects.count(), sends(stage)) == (0, 0)


def test_where_one_person_works_alone_nobody_can_approve_their_own(stage: Stage) -> None:
    """It stays until it expires, and then before a person who can only withdraw it."""
    intent = awaiting(stage, by=PERSON)
    with pytest.raises(OwnProposal):
        stage.approve(intent, by=PERSON)
    stage.pass_time(DAY + SECONDS)
    intent = stage.work(intent)
    assert (intent.state, intent.state_reason, sends(stage)) == ("held", "approval_expired", 0)


def test_one_person_may_approve_what_an_ai_proposed(stage: Stage) -> None:
    assert stage.approve(awaiting(stage, by=AGENT), by=PERSON).state == "confirmed"


# --- What ----------------------------------------------------------------------------------------


def test_an_approval_covers_the_exact_allocation_and_no_other(stage: Stage) -> None:
    """Lines, shipping, payments and whether the store writes to the customer: all are shown."""
    stage.policy(approval_above="1.00")
    lines = [{"title": "Cup", "quantity": 3, "price": "20.00"}]
    case = stage.case(total="65.00", lines=lines, shipping="5.00")

    def shown(**basis: object) -> str:
        parameters = {"order": case.order.id, "amount": "5.00", "currency": "EUR", **basis}
        wish = Wish(
            kind="refund", request=case.request, parameters=parameters, connection=stage.connection
        )
        proposed = propose(ticket=case.ticket, wish=wish, by=AGENT, at=now())
        intent = stage.work(proposed.intent)
        assert intent.state == "awaiting_approval"
        return stage.shown(intent).shown_digest

    line = {"line": case.order.lines[0], "quantity": 1, "restock": "return"}
    digests = [
        shown(),
        shown(shipping="5.00"),
        shown(shipping="4.00", lines=[line]),
        shown(lines=[line]),
        shown(lines=[line | {"quantity": 2}]),
        shown(lines=[line | {"restock": "no_restock"}]),
    ]
    stage.policy(approval_above="1.00", notify=True)
    digests.append(stage.shown(stage.work(stage.propose(case, amount="5.01"))).shown_digest)
    stage.policy(approval_above="1.00", notify=False)
    digests.append(stage.shown(stage.work(stage.propose(case, amount="5.02"))).shown_digest)
    assert len(set(digests)) == len(digests)


def test_another_digest_than_the_one_that_stands_is_a_conflict(stage: Stage) -> None:
    intent, other = awaiting(stage), awaiting(stage)
    for say in (approve, reject):
        with pytest.raises(ShownOtherwise):
            say(intent=intent, word=stage.word(intent, digest=stage.shown(other).shown_digest))
    assert (Approval.objects.count(), stage.work(intent).state) == (0, "awaiting_approval")
    assert sends(stage) == 0


def test_whether_the_store_writes_to_the_customer_is_part_of_what_is_approved(stage: Stage) -> None:
    intent = awaiting(stage)
    before = stage.shown(intent).shown_digest
    stage.policy(approval_above="50.00", notify=True)
    intent = stage.approve(intent)
    assert (intent.state, names(intent)[-2:]) == ("awaiting_approval", ["approved", "asked_again"])
    assert stage.shown(intent).shown_digest != before
    assert sends(stage) == 0


def test_a_store_that_suggests_otherwise_meanwhile_is_asked_about_again(stage: Stage) -> None:
    """What staff took from the first payment must come from the second: that is another thing."""
    payments = [Payment(amount="60.00", gateway="card"), Payment(amount="60.00", gateway="voucher")]
    case = stage.case(amount="60.00", total="120.00", payments=payments)
    intent = awaiting(stage, case)
    first = stage.shown(intent)
    assert [(part["gateway"], part["amount"]) for part in first.allocation] == [("card", "60.00")]
    stage.shop.refund_by_staff(case.order.id, amount="20.00", payment=case.order.payments[0])
    intent = stage.approve(intent, by=SECOND)
    assert (intent.state, names(intent)[-1], sends(stage)) == (
        "awaiting_approval",
        "asked_again",
        0,
    )
    again = stage.shown(intent)
    assert [(part["gateway"], part["amount"]) for part in again.allocation] == [
        ("card", "40.00"),
        ("voucher", "20.00"),
    ]
    assert intent.due_at is not None
    assert DAY - MINUTE < intent.due_at - now() <= DAY
    with pytest.raises(ShownOtherwise):
        approve(intent=intent, word=stage.word(intent, by=TEAM, digest=first.shown_digest))
    intent = stage.approve(intent, by=SECOND)
    assert intent.state == "confirmed"
    old, new = Approval.objects.order_by("pk")
    assert (old.used_at, old.digest) == (None, first.shown_digest)
    assert (new.used_at is not None, new.digest) == (True, again.shown_digest)


def test_more_than_is_left_by_then_is_refused_whatever_was_approved(stage: Stage) -> None:
    intent = awaiting(stage)
    stage.shop.refund_by_staff(intent.target.identifier, amount="50.00")
    intent = stage.approve(intent)
    assert (intent.state, intent.state_reason) == ("refused", "over_remainder")
    assert (Approval.objects.get().used_at, sends(stage)) == (None, 0)


@pytest.mark.parametrize(
    ("policy", "state", "reason", "used"),
    [
        ({"cap": "59.99"}, "refused", "over_cap", False),
        ({"approval_above": "60.00"}, "confirmed", "", False),
        ({"approval_above": "0"}, "confirmed", "", True),
    ],
)
def test_the_policy_of_the_moment_decides(
    stage: Stage, policy: dict[str, str], state: str, reason: str, used: bool
) -> None:
    intent = awaiting(stage)
    stage.policy(**policy)
    intent = stage.approve(intent)
    assert (intent.state, intent.state_reason) == (state, reason)
    assert (Approval.objects.get().used_at is not None) is used
    assert sends(stage) == (1 if state == "confirmed" else 0)


# --- When ----------------------------------------------------------------------------------------


def test_what_nobody_approved_in_time_stands_before_a_person_and_may_be_asked_anew(
    stage: Stage,
) -> None:
    intent = awaiting(stage)
    stage.pass_time(DAY - SECONDS)
    assert stage.work(intent).state == "awaiting_approval"
    stage.pass_time(2 * SECONDS)
    intent = stage.work(intent)
    assert (intent.state, intent.state_reason) == ("held", "approval_expired")
    assert (intent.due_at, intent.needs_human_reason) == (None, "held_too_long")
    with pytest.raises(NotWaiting):
        stage.approve(intent)
    intent = stage.judge_again(intent)
    assert (intent.state, intent.needs_human_reason) == ("awaiting_approval", "")
    assert stage.approve(intent).state == "confirmed"


def test_the_same_person_may_approve_again_what_they_approved_before_it_expired(
    stage: Stage,
) -> None:
    intent = awaiting(stage)
    stage.pause()
    intent = stage.approve(intent)
    assert (intent.state, intent.state_reason) == ("held", "paused")
    stage.pass_time(DAY + MINUTE)
    stage.resume()
    intent = stage.judge_again(intent)
    assert (intent.state, sends(stage)) == ("awaiting_approval", 0)
    assert stage.work(intent).state == "awaiting_approval"
    assert stage.approve(intent, by=SECOND).state == "confirmed"
    old, new = Approval.objects.order_by("pk")
    assert (old.used_at, old.digest, new.used_at is not None) == (None, new.digest, True)


def test_an_approval_that_expired_before_anyone_looked_is_not_used(stage: Stage) -> None:
    """No worker ran for a day: what was said then is said no more."""
    intent = awaiting(stage)
    approve(intent=intent, word=stage.word(intent))
    stage.pass_time(DAY + SECONDS)
    for say in (approve, reject):
        with pytest.raises(NotWaiting):
            say(intent=intent, word=stage.word(intent))
    intent = stage.work(intent)
    assert (intent.state, intent.state_reason, sends(stage)) == ("held", "approval_expired", 0)
    intent = stage.judge_again(intent)
    assert stage.approve(intent, by=SECOND).state == "confirmed"


def test_what_is_approved_while_paused_goes_on_with_its_approval_when_resumed(
    stage: Stage,
) -> None:
    intent = awaiting(stage)
    stage.pause()
    intent = stage.approve(intent)
    assert (intent.state, intent.state_reason, sends(stage)) == ("held", "paused", 0)
    stage.pass_time(5 * MINUTE)
    stage.resume()
    assert stage.work_due() == [intent.pk]
    assert (fresh(intent).state, sends(stage)) == ("confirmed", 1)
    assert Approval.objects.get().used_at is not None


def test_an_approval_still_covers_what_stayed_unsent_and_is_judged_again(stage: Stage) -> None:
    stage.shop.fault(FaultKind.THROTTLED, operation="refundCreate", times=3)
    intent = stage.approve(awaiting(stage))
    assert (intent.state, Approval.objects.get().used_at is not None) == ("authorized", True)
    for _ in range(2):
        stage.pass_time(61 * SECONDS)
        intent = stage.work(intent)
        assert (intent.state, names(intent)[-1]) == ("authorized", "authorized")
    assert names(intent).count("gated_again") == 2
    assert stage.settle(intent).state == "confirmed"
    assert (Approval.objects.count(), len(stage.shop.effects())) == (1, 1)


def test_an_approval_that_expired_before_it_is_judged_again_is_not_used(stage: Stage) -> None:
    stage.shop.fault(FaultKind.THROTTLED, operation="refundCreate")
    intent = stage.approve(awaiting(stage))
    assert intent.state == "authorized"
    stage.pass_time(DAY + SECONDS)
    intent = stage.work(intent)
    assert (intent.state, len(stage.shop.effects())) == ("awaiting_approval", 0)
    assert stage.approve(intent, by=SECOND).state == "confirmed"


def test_what_changed_before_it_is_judged_again_unsent_is_asked_about_again(stage: Stage) -> None:
    payments = [Payment(amount="60.00", gateway="card"), Payment(amount="60.00", gateway="voucher")]
    case = stage.case(amount="60.00", total="120.00", payments=payments)
    stage.shop.fault(FaultKind.THROTTLED, operation="refundCreate")
    intent = stage.approve(awaiting(stage, case))
    assert intent.state == "authorized"
    stage.shop.refund_by_staff(case.order.id, amount="20.00", payment=case.order.payments[0])
    stage.pass_time(61 * SECONDS)
    intent = stage.work(intent)
    assert (intent.state, intent.counted_on) == ("awaiting_approval", None)
    assert [effect.amount for effect in stage.shop.effects()] == [Decimal("20.00")]


# --- Clicks --------------------------------------------------------------------------------------


def test_the_same_word_again_is_the_same_word(stage: Stage) -> None:
    intent = awaiting(stage)
    word = stage.word(intent)
    first, second = (approve(intent=intent, word=word) for _ in range(2))
    assert first.event_count == second.event_count
    assert stage.work(intent).state == "confirmed"
    after = approve(intent=intent, word=word)
    assert (after.state, Approval.objects.count(), sends(stage)) == ("confirmed", 1, 1)


def test_two_people_who_approve_give_one_approval(stage: Stage) -> None:
    intent = awaiting(stage)
    for by in (SECOND, TEAM):
        approve(intent=intent, word=stage.word(intent, by=by))
    assert [one.approver_identity for one in Approval.objects.all()] == ["node-2"]


def test_a_hundred_clicks_are_one_approval_and_one_refund(stage: Stage) -> None:
    """F07."""
    stage.shop.keys(remember=False)
    intent = awaiting(stage)
    people = [SECOND, TEAM, Actor(kind=ActorKind.HUMAN_NODE, identity="node-3")]
    words = [stage.word(intent, by=people[number % 3]) for number in range(20)]

    def five_clicks(word: Word) -> None:
        for _ in range(5):
            with suppress(NotWaiting):  # somebody else's word was there first, and it has gone
                approve(intent=intent, word=word)

    at_once(*[partial(five_clicks, word) for word in words], *[partial(stage.work, intent)] * 4)
    assert stage.settle(intent).state == "confirmed"
    assert Approval.objects.count() == 1
    assert names(fresh(intent)).count("approved") == 1
    assert (sends(stage), len(stage.shop.effects())) == (1, 1)


def test_what_is_approved_while_a_worker_finds_no_approval_is_not_expired(stage: Stage) -> None:
    """An approval makes it due at once, just as the end of its time does."""
    intent = awaiting(stage)
    approve(intent=intent, word=stage.word(intent))
    expire_approval(intent.pk)
    assert fresh(intent).state == "awaiting_approval"
    assert stage.work(intent).state == "confirmed"


def test_approving_and_rejecting_at_once_is_one_verdict(stage: Stage) -> None:
    """F07."""
    for _ in range(4):
        intent = awaiting(stage)
        yes, no = stage.word(intent, by=SECOND), stage.word(intent, by=TEAM)

        def say(what: object, word: object, intent: Intent = intent) -> bool:
            assert callable(what)
            try:
                what(intent=intent, word=word)
            except NotWaiting:
                return False
            return True

        said = at_once(*[partial(say, approve, yes), partial(say, reject, no)] * 3)
        approved, rejected = said[::2], said[1::2]
        assert (all(approved), any(rejected)) in ((True, False), (False, True))
        (approval,) = Approval.objects.filter(intent=intent)
        state = stage.settle(intent).state
        assert (approval.approves, state) in ((True, "confirmed"), (False, "refused"))
    assert sends(stage) == Approval.objects.filter(approves=True).count()


# --- No -------------------------------------------------------------------------------------------


def test_a_no_refuses_for_good_and_nothing_is_sent(stage: Stage) -> None:
    intent = awaiting(stage)
    word = stage.word(intent)
    refused = reject(intent=intent, word=word)
    assert (refused.state, refused.state_reason) == ("refused", "rejected_by_person")
    assert reject(intent=intent, word=word).event_count == refused.event_count
    with pytest.raises(NotWaiting):
        approve(intent=intent, word=stage.word(intent, by=TEAM))
    assert stage.work(intent).state == "refused"
    assert (sends(stage), Approval.objects.get().approves) == (0, False)


def test_what_was_approved_is_not_rejected_any_more_and_may_be_withdrawn(stage: Stage) -> None:
    intent = awaiting(stage)
    approve(intent=intent, word=stage.word(intent))
    with pytest.raises(NotWaiting):
        reject(intent=intent, word=stage.word(intent, by=TEAM))
    assert fresh(intent).state == "awaiting_approval"


@pytest.mark.parametrize("state", ["proposed", "confirmed"])
def test_what_does_not_wait_takes_no_word(stage: Stage, state: str) -> None:
    intent = stage.propose(stage.case())
    if state == "confirmed":
        intent = stage.work(intent)
    assert fresh(intent).state == state
    for say in (approve, reject):
        with pytest.raises(NotWaiting):
            say(intent=intent, word=stage.word(intent))
    assert Approval.objects.count() == 0


def test_the_reason_of_a_word_is_sealed(stage: Stage) -> None:
    intent = stage.approve(awaiting(stage))
    approval = Approval.objects.get(intent=intent)
    assert approval.reason is not None
    assert sealed.unseal(approval.reason) == "I have looked at it"


def test_an_approval_takes_effect_only_with_its_transaction(stage: Stage) -> None:
    intent = awaiting(stage)
    with transaction.atomic():
        approve(intent=intent, word=stage.word(intent))
        transaction.set_rollback(True)
    assert (Approval.objects.count(), fresh(intent).event_count) == (0, intent.event_count)
    assert State(stage.work(intent).state) is State.AWAITING_APPROVAL
