"""The four checks: each ruling, with its reason and its arithmetic."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from actions.policy import (
    Check,
    Circumstances,
    Decision,
    Facts,
    InvalidPolicy,
    OrderFacts,
    OtherIntent,
    Ownership,
    Policy,
    Proposal,
    RefundFacts,
    Ruling,
    Verdict,
    decide,
    default_policy,
    judge,
    order_facts,
    ownership_of,
    parse_policy,
    reserving,
    same_identity,
)
from actions.states import ApprovalReason, HeldReason, RefusedReason, State
from integrations.actors import ActorKind
from integrations.money import Money
from integrations.ports import (
    BlockedBy,
    CallTrace,
    Observation,
    OrderSnapshot,
    Part,
    RefundPart,
    Standing,
    SuggestedPart,
    Unreadable,
)

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ORDER = "gid://shopify/Order/1001"
PAYMENT = "gid://shopify/OrderTransaction/9"
MARKER = "rzv:0123456789abcdef0123456789abcd"


def eur(amount: str) -> Money:
    return Money(amount=Decimal(amount), currency="EUR")


def asked(amount: str, currency: str = "EUR") -> Proposal:
    money = Money(amount=Decimal(amount), currency=currency)
    return Proposal(kind="refund", proposer=ActorKind.AI, order=ORDER, money=money)


def payment(maximum: Money) -> SuggestedPart:
    return SuggestedPart(parent=PAYMENT, gateway="shopify_payments", maximum=maximum)


def refunded(amount: str, *, failed: bool = False, marker: str | None = None) -> RefundFacts:
    return RefundFacts(
        identifier="gid://shopify/Refund/5",
        markers=(marker,) if marker else (),
        taken=eur(amount),
        failed=failed,
    )


def other(amount: str, state: State = State.EXECUTING) -> OtherIntent:
    return OtherIntent(
        identifier="int_2",
        kind="refund",
        state=state,
        money=eur(amount),
        marker=MARKER,
        parts=(RefundPart(parent=PAYMENT, gateway="shopify_payments", money=eur(amount)),),
    )


PAID = OrderFacts(
    identifier=ORDER,
    presentment_currency="EUR",
    shop_currency="EUR",
    received=eur("150.00"),
    refunds=(),
    suggested=(payment(eur("150.00")),),
    cancelled=False,
    dispute_open=False,
    age_days=3,
    ownership=Ownership.OWN,
)
FINE = Facts(proposal=asked("45.00"), circumstances=Circumstances(), others=(), order=PAID)
POLICY = default_policy()


def judged(facts: Facts, policy: Policy = POLICY) -> Decision:
    return judge(policy=policy, facts=facts)


def verdict_of(check: Check, facts: Facts, policy: Policy = POLICY) -> Verdict:
    return next(v for v in judged(facts, policy).verdicts if v.check is check)


def on(**changes: object) -> Facts:
    return replace(FINE, order=replace(PAID, **changes))  # type: ignore[arg-type]  # test's own


def kind_policy(**changes: object) -> Policy:
    record = POLICY.as_record()
    record["kinds"]["refund"] |= changes  # type: ignore[index]  # a record that we just made
    return parse_policy(record)


# --- together ---------------------------------------------------------------------------------


def test_a_small_refund_on_the_customer_s_own_paid_order_is_authorized() -> None:
    decision = judged(FINE)
    assert (decision.ruling, decision.state) == (Ruling.ALLOW, State.AUTHORIZED)
    assert [v.sentence for v in decision.verdicts] == [
        "Actors of kind ai may refund here, now.",
        (
            "0.00 EUR refunded + 45.00 EUR asked ≤ 150.00 EUR received, "
            "on an order of this ticket's customer."
        ),
        "45.00 EUR asked ≤ 100.00 EUR that need no second person.",
        "No equal effect on this order, and room beside what is under way.",
    ]


def test_at_the_proposal_grounded_is_not_read_yet_and_nothing_is_authorized() -> None:
    decision = judged(replace(FINE, order=None))
    assert [v.ruling for v in decision.verdicts] == [
        Ruling.ALLOW,
        Ruling.NOT_READ,
        Ruling.ALLOW,
        Ruling.ALLOW,
    ]
    assert decision.state is State.PROPOSED
    assert decision.sentence == "The store has not been read yet."


def test_nothing_unread_is_put_to_an_approver() -> None:
    assert judged(replace(FINE, proposal=asked("150.00"), order=None)).state is State.PROPOSED


def test_what_the_policy_refuses_is_refused_without_a_read() -> None:
    decision = judged(replace(FINE, proposal=asked("200.01"), order=None))
    assert (decision.state, decision.reason) == (State.REFUSED, RefusedReason.OVER_CAP)


def test_refuse_beats_hold_beats_approval_beats_allow() -> None:
    approval = replace(FINE, proposal=asked("120.00"))
    held = replace(approval, circumstances=Circumstances(paused=True))
    refused = replace(held, order=replace(PAID, ownership=Ownership.FOREIGN))
    assert [judged(facts).state for facts in (FINE, approval, held, refused)] == [
        State.AUTHORIZED,
        State.AWAITING_APPROVAL,
        State.HELD,
        State.REFUSED,
    ]


def test_the_gate_never_decides_on_less_than_its_four_checks() -> None:
    verdicts = judged(FINE).verdicts
    for some in (verdicts[:3], (), (*verdicts, verdicts[0]), (*verdicts[:3], verdicts[0])):
        with pytest.raises(ValueError, match="each of its four checks once"):
            decide(some)


def test_a_verdict_is_stored_with_all_that_it_found() -> None:
    facts = replace(FINE, circumstances=Circumstances(paused=True, circuit_open=True))
    assert verdict_of(Check.PERMITTED, facts).as_record() == {
        "check": "permitted",
        "ruling": "hold",
        "reason": "paused",
        "sentence": "The workspace is paused; it goes on when resumed.",
        "also": [
            {
                "ruling": "hold",
                "reason": "circuit",
                "sentence": "The store has been failing; it is tried again by itself.",
            }
        ],
        "facts": {
            "kind": "refund",
            "actor_kind": "ai",
            "enabled_for": ["ai", "brand_team", "human_node", "system"],
            "paused": True,
            "kill_switch": False,
            "blocked_by": None,
            "circuit_open": True,
            "missing_scopes": [],
        },
    }


# --- permitted --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("circumstances", "reason"),
    [
        (Circumstances(kill_switch=True), HeldReason.KILL_SWITCH),
        (Circumstances(paused=True), HeldReason.PAUSED),
        (Circumstances(blocked_by="credential"), HeldReason.BLOCKED_CONNECTION),
        (Circumstances(missing_scopes=("write_orders",)), HeldReason.MISSING_SCOPE),
        (Circumstances(circuit_open=True), HeldReason.CIRCUIT),
    ],
)
def test_what_stands_in_the_way_and_may_pass_holds(
    circumstances: Circumstances, reason: HeldReason
) -> None:
    verdict = verdict_of(Check.PERMITTED, replace(FINE, circumstances=circumstances))
    assert (verdict.ruling, verdict.reason) == (Ruling.HOLD, reason)


def test_a_kind_that_is_off_is_refused() -> None:
    for policy in (parse_policy({"format": 1, "kinds": {}}), kind_policy(enabled_for=[])):
        decision = judged(FINE, policy)
        assert (decision.state, decision.reason) == (State.REFUSED, RefusedReason.KIND_OFF)


def test_an_actor_kind_that_the_policy_leaves_out_is_refused() -> None:
    verdict = verdict_of(Check.PERMITTED, FINE, kind_policy(enabled_for=["human_node"]))
    assert (verdict.ruling, verdict.reason) == (Ruling.REFUSE, RefusedReason.ACTOR_KIND)
    assert verdict.sentence == "This brand lets human_node refund, not ai."


# --- grounded ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("facts", "reason", "sentence"),
    [
        (
            on(refunds=(refunded("120.00"),)),
            RefusedReason.OVER_REMAINDER,
            "120.00 EUR refunded + 45.00 EUR asked > 150.00 EUR received.",
        ),
        (
            on(suggested=(payment(eur("40.00")),)),
            RefusedReason.OVER_REMAINDER,
            "45.00 EUR asked > 40.00 EUR that the store can still give back.",
        ),
        (
            on(suggested=()),
            RefusedReason.MOVES_NO_MONEY,
            "The store suggests no payment to give back over: the refund would move no money.",
        ),
        (
            on(received=eur("0"), suggested=()),
            RefusedReason.UNPAID,
            "0.00 EUR received: there is nothing to refund.",
        ),
        (
            replace(FINE, proposal=asked("0")),
            RefusedReason.AMOUNT_ZERO,
            "0.00 EUR asked is not more than nothing.",
        ),
        (
            replace(FINE, proposal=asked("-1")),
            RefusedReason.AMOUNT_ZERO,
            "-1.00 EUR asked is not more than nothing.",
        ),
        (
            replace(FINE, proposal=asked("45.00", "USD")),
            RefusedReason.OTHER_CURRENCY,
            "45.00 USD asked, but the customer paid in EUR.",
        ),
        (
            on(ownership=Ownership.FOREIGN),
            RefusedReason.FOREIGN_ORDER,
            "The order is another customer's than this ticket's.",
        ),
        (
            replace(FINE, order=Unreadable(reason="none", not_found=True)),
            RefusedReason.NO_SUCH_ORDER,
            "The store shows us no such order.",
        ),
    ],
)
def test_what_the_store_forbids_is_refused_with_its_arithmetic(
    facts: Facts, reason: RefusedReason, sentence: str
) -> None:
    verdict = verdict_of(Check.GROUNDED, facts)
    assert (verdict.ruling, verdict.reason) == (Ruling.REFUSE, reason)
    assert verdict.sentence == sentence
    assert judged(facts).state is State.REFUSED


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        (on(ownership=Ownership.UNVERIFIED), HeldReason.UNVERIFIED_CUSTOMER),
        (on(ownership=Ownership.UNCLEAR), HeldReason.OWNERSHIP_UNCLEAR),
        (on(dispute_open=True), HeldReason.DISPUTE),
        (on(shop_currency="USD"), HeldReason.MULTI_CURRENCY),
        (replace(FINE, order=Unreadable(reason="timed out")), HeldReason.FACTS_UNAVAILABLE),
        (
            replace(FINE, order=Unreadable(reason="401", blocked_by=BlockedBy.CREDENTIAL)),
            HeldReason.BLOCKED_CONNECTION,
        ),
    ],
)
def test_what_may_pass_on_the_store_holds(facts: Facts, reason: HeldReason) -> None:
    verdict = verdict_of(Check.GROUNDED, facts)
    assert (verdict.ruling, verdict.reason) == (Ruling.HOLD, reason)
    assert judged(facts).state is State.HELD


@pytest.mark.parametrize("changes", [{"dispute_open": None}, {"cancelled": True}])
def test_an_unknown_dispute_status_and_a_cancelled_order_with_money_left_do_not_hold(
    changes: dict[str, object],
) -> None:
    assert judged(on(**changes)).state is State.AUTHORIZED


def test_the_last_cent_may_go_and_not_one_more() -> None:
    left = on(refunds=(refunded("105.00"),), suggested=(payment(eur("45.00")),))
    assert verdict_of(Check.GROUNDED, left).ruling is Ruling.ALLOW
    over = verdict_of(Check.GROUNDED, replace(left, proposal=asked("45.01")))
    assert over.sentence == "105.00 EUR refunded + 45.01 EUR asked > 150.00 EUR received."


def test_a_brand_may_waive_ownership_and_nothing_else_with_it() -> None:
    policy = kind_policy(ownership_required=False)
    assert judged(on(ownership=Ownership.FOREIGN), policy).state is State.AUTHORIZED
    over = on(ownership=Ownership.FOREIGN, refunds=(refunded("120.00"),))
    assert judged(over, policy).reason is RefusedReason.OVER_REMAINDER


# --- within limits ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("proposal", "ruling", "reason", "sentence"),
    [
        (
            asked("100.00"),
            Ruling.ALLOW,
            None,
            "100.00 EUR asked ≤ 100.00 EUR that need no second person.",
        ),
        (
            asked("100.01"),
            Ruling.APPROVE,
            ApprovalReason.OVER_THRESHOLD,
            "100.01 EUR asked > 100.00 EUR that need no second person.",
        ),
        (
            asked("200.00"),
            Ruling.APPROVE,
            ApprovalReason.OVER_THRESHOLD,
            "200.00 EUR asked > 100.00 EUR that need no second person.",
        ),
        (
            asked("200.01"),
            Ruling.REFUSE,
            RefusedReason.OVER_CAP,
            "200.01 EUR asked > 200.00 EUR allowed for one action.",
        ),
        (
            asked("1.000", "KWD"),
            Ruling.APPROVE,
            ApprovalReason.NO_LIMIT_FOR_CURRENCY,
            "1.000 KWD asked, and the policy has no limits in KWD.",
        ),
    ],
)
def test_amounts_meet_the_brand_s_limits(
    proposal: Proposal, ruling: Ruling, reason: ApprovalReason | RefusedReason | None, sentence: str
) -> None:
    verdict = verdict_of(Check.WITHIN_LIMITS, replace(FINE, proposal=proposal))
    assert (verdict.ruling, verdict.reason, verdict.sentence) == (ruling, reason, sentence)


@pytest.mark.parametrize(("age_days", "ruling"), [(90, Ruling.ALLOW), (91, Ruling.REFUSE)])
def test_an_order_older_than_the_brand_allows_is_refused(age_days: int, ruling: Ruling) -> None:
    assert verdict_of(Check.WITHIN_LIMITS, on(age_days=age_days)).ruling is ruling


def test_a_threshold_may_be_as_high_as_the_cap() -> None:
    policy = kind_policy(limits={"EUR": {"cap": "50.00", "approval_above": "50.00"}})
    assert judged(FINE, policy).state is State.AUTHORIZED


def test_a_threshold_of_zero_always_asks_a_second_person() -> None:
    policy = kind_policy(limits={"EUR": {"cap": "50.00", "approval_above": "0"}})
    facts = replace(FINE, proposal=asked("0.01"))
    assert judged(facts, policy).reason is ApprovalReason.OVER_THRESHOLD


# --- not already done -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "ruling"),
    [
        (State.PROPOSED, Ruling.ALLOW),
        (State.HELD, Ruling.ALLOW),
        (State.AWAITING_APPROVAL, Ruling.ALLOW),
        (State.AUTHORIZED, Ruling.HOLD),
        (State.EXECUTING, Ruling.HOLD),
        (State.UNKNOWN, Ruling.HOLD),
        (State.PENDING, Ruling.HOLD),
        (State.PARTIALLY_CONFIRMED, Ruling.HOLD),
        (State.CONFIRMED, Ruling.HOLD),
        (State.ACCEPTED, Ruling.HOLD),
        (State.FAILED, Ruling.ALLOW),
        (State.REFUSED, Ruling.ALLOW),
        (State.WITHDRAWN, Ruling.ALLOW),
        (State.REVERSED, Ruling.ALLOW),
    ],
)
def test_an_equal_intent_past_the_gate_holds(state: State, ruling: Ruling) -> None:
    facts = replace(FINE, others=(other("45.00", state),))
    verdict = verdict_of(Check.NOT_ALREADY_DONE, facts)
    assert verdict.ruling is ruling
    assert verdict.reason in {None, HeldReason.EQUAL_EFFECT}


def test_an_equal_refund_on_the_store_by_anyone_holds() -> None:
    verdict = verdict_of(Check.NOT_ALREADY_DONE, on(refunds=(refunded("45.00"),)))
    assert verdict.reason is HeldReason.EQUAL_EFFECT
    assert verdict.sentence == (
        "The store already has a refund of 45.00 EUR on this order: gid://shopify/Refund/5."
    )


def test_a_failed_refund_object_holds_since_it_may_be_retried_by_hand() -> None:
    verdict = verdict_of(Check.NOT_ALREADY_DONE, on(refunds=(refunded("0", failed=True),)))
    assert verdict.reason is HeldReason.FAILED_REFUND_OBJECT


def test_a_different_open_refund_must_leave_room() -> None:
    assert judged(replace(FINE, others=(other("105.00"),))).state is State.AUTHORIZED
    decision = judged(replace(FINE, others=(other("105.01"),)))
    assert (decision.state, decision.reason) == (State.HELD, HeldReason.RESERVATION)
    assert decision.sentence == (
        "0.00 EUR refunded + 105.01 EUR reserved by other intents + 45.00 EUR asked"
        " > 150.00 EUR received."
    )


def test_room_is_also_measured_by_what_the_store_suggests() -> None:
    facts = replace(on(suggested=(payment(eur("60.00")),)), others=(other("20.00"),))
    assert judged(facts).sentence == (
        "20.00 EUR reserved by other intents + 45.00 EUR asked"
        " > 60.00 EUR that the store can still give back."
    )


def test_another_currency_beside_a_reservation_is_refused_and_never_added_up() -> None:
    facts = replace(FINE, proposal=asked("45.00", "USD"), others=(other("105.01"),))
    assert judged(facts).reason is RefusedReason.OTHER_CURRENCY


def test_a_reservation_that_the_read_already_shows_is_not_subtracted_again() -> None:
    order = replace(PAID, refunds=(refunded("105.00", marker=MARKER),))
    facts = replace(FINE, order=order, others=(other("105.00"),))
    assert reserving(others=facts.others, order=order) == ()
    assert judged(facts).state is State.AUTHORIZED


def test_what_is_confirmed_is_kept_back_while_a_lagging_read_does_not_show_it() -> None:
    done = replace(other("110.00", State.CONFIRMED), effect="gid://shopify/Refund/5")
    facts = replace(FINE, others=(done,))
    assert judged(facts).reason is HeldReason.RESERVATION
    shown = replace(PAID, refunds=(refunded("110.00"),), suggested=(payment(eur("40.00")),))
    assert reserving(others=facts.others, order=shown) == ()
    assert judged(replace(facts, order=shown)).reason is RefusedReason.OVER_REMAINDER


def test_a_refund_with_two_markers_frees_no_reservation() -> None:
    both = replace(refunded("1.00"), markers=(MARKER, MARKER[:-1] + "0"))
    order = replace(PAID, refunds=(both,))
    assert reserving(others=(other("9.00"),), order=order) == (other("9.00"),)


def test_what_was_set_aside_no_longer_reserves_but_an_equal_one_still_holds() -> None:
    aside = replace(other("149.00", State.UNKNOWN), set_aside=True)
    assert judged(replace(FINE, others=(aside,))).state is State.AUTHORIZED
    equal = replace(aside, money=eur("45.00"))
    assert judged(replace(FINE, others=(equal,))).reason is HeldReason.EQUAL_EFFECT


# --- a read becomes facts ---------------------------------------------------------------------


def seen_part(amount: str, standing: Standing, currency: str = "EUR") -> Part:
    return Part(
        identifier="gid://shopify/OrderTransaction/7",
        status="SUCCESS",
        standing=standing,
        money=Money(amount=Decimal(amount), currency=currency),
        gateway="shopify_payments",
        parent=PAYMENT,
    )


def seen_refund(*parts: Part) -> Observation:
    return Observation(
        object_type="refund",
        identifier="gid://shopify/Refund/5",
        target=ORDER,
        markers=(MARKER,),
        author=None,
        created_at=NOW,
        parts=parts,
    )


SNAPSHOT = OrderSnapshot(
    identifier=ORDER,
    name="#1001",
    created_at=NOW - timedelta(days=90, hours=5),
    cancelled_at=None,
    customer="gid://shopify/Customer/1",
    email="ada@example.com",
    shop_currency="EUR",
    presentment_currency="EUR",
    received=eur("150.00"),
    suggested=(payment(eur("150.00")),),
    refunds=(),
    dispute_open=None,
    complete=True,
    trace=CallTrace(),
)


def reduced(snapshot: OrderSnapshot | Unreadable) -> OrderFacts | Unreadable:
    return order_facts(snapshot, order=ORDER, ownership=Ownership.OWN, now=NOW)


def test_open_parts_count_as_refunded_and_failed_ones_do_not() -> None:
    refund = seen_refund(
        seen_part("10.00", Standing.SUCCEEDED),
        seen_part("20.00", Standing.OPEN),
        seen_part("40.00", Standing.FAILED),
    )
    facts = reduced(replace(SNAPSHOT, refunds=(refund,)))
    assert isinstance(facts, OrderFacts)
    assert facts.refunded == eur("30.00")
    assert facts.refunds == (
        RefundFacts(
            identifier="gid://shopify/Refund/5", markers=(MARKER,), taken=eur("30.00"), failed=True
        ),
    )
    assert facts.age_days == 90


@pytest.mark.parametrize(
    ("snapshot", "reason"),
    [
        (replace(SNAPSHOT, complete=False), "the store's lists came back cut short"),
        (
            replace(SNAPSHOT, identifier="gid://shopify/Order/10010"),
            "the store answered with another order",
        ),
        (
            replace(SNAPSHOT, refunds=(seen_refund(seen_part("1.00", Standing.OPEN, "USD")),)),
            "the order's amounts are in more than one currency",
        ),
        (
            replace(SNAPSHOT, received=Money.zero("USD")),
            "the order's amounts are in more than one currency",
        ),
        (
            replace(SNAPSHOT, suggested=(payment(Money.zero("USD")),)),
            "the order's amounts are in more than one currency",
        ),
        (
            replace(SNAPSHOT, presentment_currency="USD"),
            "the order's amounts are in more than one currency",
        ),
    ],
)
def test_a_read_that_is_cut_short_or_contradicts_itself_is_no_fact(
    snapshot: OrderSnapshot, reason: str
) -> None:
    facts = reduced(snapshot)
    assert isinstance(facts, Unreadable)
    assert facts.reason == reason
    assert judged(replace(FINE, order=facts)).reason is HeldReason.FACTS_UNAVAILABLE


def test_a_refund_whose_parts_succeeded_is_no_failed_object() -> None:
    facts = reduced(replace(SNAPSHOT, refunds=(seen_refund(seen_part("9", Standing.SUCCEEDED)),)))
    assert isinstance(facts, OrderFacts)
    assert [refund.failed for refund in facts.refunds] == [False]


def test_an_unreadable_read_stays_what_it_is() -> None:
    gone = Unreadable(reason="gone", not_found=True)
    assert reduced(gone) is gone


@pytest.mark.parametrize(
    ("verified", "same_customer", "same_email", "ownership"),
    [
        (True, True, False, Ownership.OWN),
        (True, False, True, Ownership.FOREIGN),
        (True, None, True, Ownership.OWN),
        (True, None, False, Ownership.FOREIGN),
        (True, None, None, Ownership.UNCLEAR),
        (False, True, True, Ownership.UNVERIFIED),
    ],
)
def test_an_order_is_owned_by_its_customer_else_by_its_e_mail_and_only_once_verified(
    *,
    verified: bool,
    same_customer: bool | None,
    same_email: bool | None,
    ownership: Ownership,
) -> None:
    assert (
        ownership_of(verified=verified, same_customer=same_customer, same_email=same_email)
        is ownership
    )


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("Ada@Example.com", " ada@example.COM ", True),
        ("stra\u00dfe@x.de", "STRASSE@x.de", True),
        ("andre\u0301@x.fr", "andr\u00e9@x.fr", True),
        ("ada@example.com", "ada@example.com.evil.test", False),
        ("ada@example.com", None, None),
        ("", "ada@example.com", None),
    ],
)
def test_identities_are_compared_case_folded_and_whole(
    left: str | None, right: str | None, *, same: bool | None
) -> None:
    assert same_identity(left, right) is same


# --- the policy as data -----------------------------------------------------------------------


def test_the_default_policy_survives_a_round_trip() -> None:
    assert parse_policy(POLICY.as_record()) == POLICY
    assert POLICY.kinds["refund"].notify is False
    assert POLICY.kinds["refund"].order_age_max_days == 90
    assert POLICY.kinds["refund"].cap("EUR") == eur("200.00")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_amount": "1"}, "kinds.refund.max_amount: Extra inputs are not permitted"),
        ({"notify": "yes"}, "kinds.refund.notify: Input should be a valid boolean"),
        ({"order_age_max_days": 0}, "kinds.refund.order_age_max_days"),
        ({"enabled_for": ["robot"]}, "kinds.refund.enabled_for"),
        ({"limits": {"EUR": {"cap": 5, "approval_above": "1"}}}, "valid string"),
        ({"limits": {"EUR": {"cap": "5.001", "approval_above": "1"}}}, "more decimals"),
        ({"limits": {"EUX": {"cap": "5", "approval_above": "1"}}}, "not an active ISO 4217"),
        ({"limits": {"EUR": {"cap": "5", "approval_above": "6"}}}, "6.00 EUR is over the cap 5.00"),
    ],
)
def test_a_policy_that_can_not_be_read_as_written_is_refused(
    changes: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidPolicy, match=message):
        kind_policy(**changes)
