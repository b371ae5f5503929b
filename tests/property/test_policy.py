"""The gate under generated facts: never milder for more money, never moved by text, sums kept."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from hypothesis import assume, given
from hypothesis import strategies as st

from actions.catalogue.refund import CannotAllocate, allocate
from actions.policy import (
    Circumstances,
    Facts,
    OrderFacts,
    OtherIntent,
    Ownership,
    Proposal,
    RefundFacts,
    Ruling,
    default_policy,
    judge,
    order_facts,
    reserving,
)
from actions.states import State
from integrations.actors import ActorKind
from integrations.money import Money, total
from integrations.ports import CallTrace, OrderSnapshot, RefundPart, SuggestedPart

ORDER = "gid://shopify/Order/1"
POLICY = default_policy()
SEVERITY = {ruling: number for number, ruling in enumerate(Ruling)}
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def eur(minor: int) -> Money:
    return Money(amount=Decimal(minor).scaleb(-2), currency="EUR")


MINOR = st.integers(0, 30_000)
MARKERS = [f"rzv:{number:030x}" for number in range(4)]
REFUNDS = st.builds(
    RefundFacts,
    identifier=st.just("gid://shopify/Refund/1"),
    markers=st.sampled_from([(), *((marker,) for marker in MARKERS)]),
    taken=MINOR.map(eur),
    failed=st.booleans(),
)
OTHERS = st.builds(
    OtherIntent,
    identifier=st.just("int_2"),
    kind=st.just("refund"),
    state=st.sampled_from(State),
    money=MINOR.map(eur),
    marker=st.sampled_from(MARKERS),
    set_aside=st.booleans(),
)
ORDERS = st.builds(
    OrderFacts,
    identifier=st.just(ORDER),
    presentment_currency=st.just("EUR"),
    shop_currency=st.sampled_from(["EUR", "EUR", "USD"]),
    received=MINOR.map(eur),
    refunds=st.lists(REFUNDS, max_size=3).map(tuple),
    suggested=st.lists(
        st.builds(
            SuggestedPart,
            parent=st.sampled_from("abc"),
            gateway=st.just("g"),
            maximum=MINOR.map(eur),
        ),
        max_size=3,
        unique_by=lambda part: part.parent,
    ).map(tuple),
    cancelled=st.booleans(),
    dispute_open=st.sampled_from([None, False, False, True]),
    age_days=st.integers(0, 100),
    ownership=st.sampled_from([Ownership.OWN, *Ownership]),
)
CIRCUMSTANCES = st.builds(
    Circumstances,
    paused=st.sampled_from([False, False, True]),
    circuit_open=st.sampled_from([False, False, True]),
)
FACTS = st.builds(
    Facts,
    proposal=st.builds(
        Proposal,
        kind=st.just("refund"),
        proposer=st.sampled_from(ActorKind),
        order=st.just(ORDER),
        money=MINOR.map(eur),
    ),
    circumstances=CIRCUMSTANCES,
    others=st.lists(OTHERS, max_size=3).map(tuple),
    order=ORDERS,
)
# Facts under which a refund may well be authorized, so that the sum rule is put to the test.
KIND_FACTS = st.builds(
    lambda facts, share: replace(
        facts,
        proposal=replace(facts.proposal, money=eur(share)),
        circumstances=Circumstances(),
        order=replace(
            facts.order,
            shop_currency="EUR",
            dispute_open=None,
            ownership=Ownership.OWN,
            age_days=1,
            received=eur(30_000),
            suggested=(SuggestedPart(parent="a", gateway="g", maximum=eur(25_000)),),
            refunds=tuple(replace(refund, failed=False) for refund in facts.order.refunds),
        ),
    ),
    FACTS,
    st.integers(1, 10_000),
)


def equal_effect_of(facts: Facts, money: Money) -> bool:
    assert isinstance(facts.order, OrderFacts)
    amounts = [other.money for other in facts.others]
    return money in [*amounts, *(refund.taken for refund in facts.order.refunds)]


@given(facts=FACTS | KIND_FACTS, more=st.integers(1, 30_000))
def test_a_higher_amount_is_never_judged_more_mildly(facts: Facts, more: int) -> None:
    asked = facts.proposal.money
    assume(asked.amount > 0 and not equal_effect_of(facts, asked))
    higher = replace(facts, proposal=replace(facts.proposal, money=asked + eur(more)))
    milder = judge(policy=POLICY, facts=facts).ruling
    assert SEVERITY[judge(policy=POLICY, facts=higher).ruling] >= SEVERITY[milder]


@given(facts=FACTS | KIND_FACTS)
def test_the_decision_is_the_strongest_of_all_that_was_found(facts: Facts) -> None:
    decision = judge(policy=POLICY, facts=facts)
    found = [finding for verdict in decision.verdicts for finding in verdict.findings]
    assert decision.ruling is max((f.ruling for f in found), key=SEVERITY.__getitem__)
    assert decision.sentence in [finding.sentence for finding in found]
    assert all(finding.sentence.endswith(".") for finding in found)


@given(facts=FACTS | KIND_FACTS)
def test_the_same_facts_give_the_same_verdicts(facts: Facts) -> None:
    assert judge(policy=POLICY, facts=facts) == judge(policy=POLICY, facts=facts)


@given(facts=KIND_FACTS)
def test_what_is_let_through_fits_beside_everything_refunded_and_reserved(facts: Facts) -> None:
    decision = judge(policy=POLICY, facts=facts)
    assume(decision.ruling in {Ruling.ALLOW, Ruling.APPROVE})
    order = facts.order
    assert isinstance(order, OrderFacts)
    kept_back = total(
        (other.money for other in reserving(others=facts.others, order=order)), currency="EUR"
    )
    assert order.refunded + kept_back + facts.proposal.money <= order.received
    assert kept_back + facts.proposal.money <= order.returnable


@given(facts=KIND_FACTS, hinder=st.sampled_from(["pause", "foreign", "unread"]))
def test_whatever_hinders_is_never_overruled(facts: Facts, hinder: str) -> None:
    assert isinstance(facts.order, OrderFacts)
    hindered = {
        "pause": replace(facts, circumstances=Circumstances(paused=True)),
        "foreign": replace(facts, order=replace(facts.order, ownership=Ownership.FOREIGN)),
        "unread": replace(facts, order=None),
    }[hinder]
    state = judge(policy=POLICY, facts=hindered).state
    assert state not in {State.AUTHORIZED, State.AWAITING_APPROVAL}


@given(texts=st.tuples(*[st.text(max_size=40)] * 4), asked=st.integers(1, 25_000))
def test_no_text_on_the_order_moves_a_verdict(texts: tuple[str, str, str, str], asked: int) -> None:
    name, customer, email, request_id = texts
    plain = OrderSnapshot(
        identifier=ORDER,
        name="#1",
        created_at=NOW - timedelta(days=3),
        cancelled_at=None,
        customer="gid://shopify/Customer/1",
        email="ada@example.com",
        shop_currency="EUR",
        presentment_currency="EUR",
        received=eur(20_000),
        suggested=(SuggestedPart(parent="a", gateway="g", maximum=eur(20_000)),),
        refunds=(),
        dispute_open=None,
        complete=True,
        trace=CallTrace(),
    )
    claimed = replace(
        plain,
        name=name,
        customer=customer,
        email=email,
        trace=CallTrace(platform_request_id=request_id),
    )
    proposal = Proposal(kind="refund", proposer=ActorKind.AI, order=ORDER, money=eur(asked))
    one, two = (
        judge(
            policy=POLICY,
            facts=Facts(
                proposal=proposal,
                circumstances=Circumstances(),
                others=(),
                order=order_facts(snapshot, order=ORDER, ownership=Ownership.OWN, now=NOW),
            ),
        )
        for snapshot in (plain, claimed)
    )
    assert one == two


PAYMENTS = st.lists(MINOR, max_size=4).map(
    lambda maxima: [
        SuggestedPart(parent=str(number), gateway="g", maximum=eur(maximum))
        for number, maximum in enumerate(maxima)
    ]
)
RESERVED = st.lists(
    st.builds(
        RefundPart, parent=st.sampled_from("0123"), gateway=st.just("g"), money=MINOR.map(eur)
    ),
    max_size=3,
)


@given(asked=st.integers(1, 60_000), payments=PAYMENTS, reserved=RESERVED)
def test_an_allocation_is_exact_within_each_payment_or_not_made(
    asked: int, payments: list[SuggestedPart], reserved: list[RefundPart]
) -> None:
    taken = {part.parent: eur(0) for part in payments}
    for part in reserved:
        taken[part.parent] = taken.get(part.parent, eur(0)) + part.money
    free = {part.parent: max(part.maximum - taken[part.parent], eur(0)) for part in payments}
    room = total(free.values(), currency="EUR")
    try:
        parts = allocate(eur(asked), suggested=payments, reserved=reserved)
    except CannotAllocate:
        assert eur(asked) > room
        return
    assert total((part.money for part in parts), currency="EUR") == eur(asked)
    assert all(eur(0) < part.money <= free[part.parent] for part in parts)
    assert len({part.parent for part in parts}) == len(parts)
