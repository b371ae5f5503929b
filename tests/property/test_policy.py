"""The gate under generated facts: never milder for more money, never moved by text, sums kept."""

import json
from collections.abc import Callable
from dataclasses import replace
from operator import methodcaller
from typing import Any, TypeAlias

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from actions.catalogue.refund import CannotAllocate, allocate
from actions.policy import (
    Cleared,
    Facts,
    Finding,
    OrderFacts,
    Ownership,
    Policy,
    Ruling,
    facts_of,
    facts_record,
    is_clearable,
    judge,
    kept_back_parts,
    parse_policy,
    reserving,
)
from actions.states import CLEARABLE, PAST_GATE, HeldReason, State
from integrations.money import Money, total
from integrations.ports import RefundBasis, RefundPart, Standing, SuggestedPart, Unreadable
from tests.property.gate_facts import (
    FACTS,
    MINOR,
    POLICIES,
    WIDE,
    doubtful_facts,
    hopeful_facts,
    money,
)
from tests.property.one_order import OneOrder, eur

SEVERITY = {ruling: number for number, ruling in enumerate(Ruling)}
LETS_GO = {Ruling.ALLOW, Ruling.APPROVE}


def ruling(facts: Facts, policy: Policy) -> Ruling:
    return judge(policy=policy, facts=facts).ruling


def found(facts: Facts, policy: Policy) -> list[Finding]:
    verdicts = judge(policy=policy, facts=facts).verdicts
    return [finding for verdict in verdicts for finding in verdict.findings]


def equals_something(facts: Facts) -> bool:
    refunds = facts.order.refunds if isinstance(facts.order, OrderFacts) else ()
    amounts = [*(other.money for other in facts.others), *(refund.taken for refund in refunds)]
    return facts.proposal.money in amounts


# --- together ---------------------------------------------------------------------------------


@given(facts=FACTS, policy=POLICIES, more=st.integers(1, 30_000))
def test_a_higher_amount_is_never_judged_more_mildly(
    facts: Facts, policy: Policy, more: int
) -> None:
    asked = facts.proposal.money
    assume(asked.amount > 0 and not equals_something(facts))
    more_asked = asked + money(more, asked.currency)
    higher = replace(facts, proposal=replace(facts.proposal, money=more_asked))
    milder = ruling(facts, policy)
    event(f"from {milder}")
    assert SEVERITY[ruling(higher, policy)] >= SEVERITY[milder]


@given(facts=FACTS, policy=POLICIES)
def test_the_decision_is_the_strictest_of_all_that_was_found(facts: Facts, policy: Policy) -> None:
    decision, findings = judge(policy=policy, facts=facts), found(facts, policy)
    assert decision.ruling is max((f.ruling for f in findings), key=SEVERITY.__getitem__)
    assert decision.sentence in [f.sentence for f in findings]
    assert (decision.reason is None) == (decision.ruling in {Ruling.ALLOW, Ruling.NOT_READ})
    assert all(finding.sentence.endswith(".") for finding in findings)


@given(facts=FACTS, policy=POLICIES)
def test_the_same_facts_give_the_same_verdicts_also_from_their_record(
    facts: Facts, policy: Policy
) -> None:
    stored, document = json.dumps(facts_record(facts)), json.dumps(policy.as_record())
    back = facts_of(json.loads(stored))
    assert back == facts
    again = judge(policy=parse_policy(json.loads(document)), facts=back)
    assert again == judge(policy=policy, facts=facts)
    records = [verdict.as_record() for verdict in again.verdicts]
    assert json.loads(json.dumps(records)) == records


# --- text -------------------------------------------------------------------------------------

NAMES = {
    "identifier",
    "effect",
    "marker",
    "markers",
    "parent",
    "gateway",
    "line",
    "duty",
    "location",
    "evidence",
    "repeats",
    "open_disputes",
    "order",
}
"""Fields that hold identifiers: what they are called can't matter, only which are the same."""
TEXTS = {"reason", "by", "platform_request_id", "api_version", "missing_scopes", "blocked_by"}
"""Fields that hold words of somebody: they are shown, and move nothing."""


def renamed(value: Any, name: Callable[[str], str], text: Callable[[str], str]) -> Any:
    """Put other words wherever words can't matter, the same for the same."""
    if isinstance(value, list):
        return [renamed(item, name, text) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _other_words(key, item, name, text)
        if key in NAMES | TEXTS
        else renamed(item, name, text)
        for key, item in value.items()
    }


def _other_words(
    key: str, value: Any, name: Callable[[str], str], text: Callable[[str], str]
) -> Any:
    change = name if key in NAMES else text
    if isinstance(value, str) and value:
        return change(value)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return [change(item) for item in value]
    return renamed(value, name, text)


@given(facts=FACTS, policy=POLICIES, words=st.tuples(*[st.text(max_size=60)] * 3))
def test_no_text_anywhere_in_the_facts_moves_a_verdict(
    facts: Facts, policy: Policy, words: tuple[str, str, str]
) -> None:
    before, after, said = words
    record: Any = facts_record(facts)
    kept = [entry["reason"] for entry in record["cleared"]]
    closed = record["order"].get("blocked_by") if record["order"] else None
    told: Any = renamed(record, lambda name: before + name + after, lambda text: said + text)
    # These two are of a closed list, no words.
    for entry, reason in zip(told["cleared"], kept, strict=True):
        entry["reason"] = reason
    if closed is not None:
        told["order"]["blocked_by"] = closed
    one, two = judge(policy=policy, facts=facts), judge(policy=policy, facts=facts_of(told))
    for plain, claimed in zip(one.verdicts, two.verdicts, strict=True):
        assert [(f.ruling, f.reason) for f in plain.findings] == [
            (f.ruling, f.reason) for f in claimed.findings
        ]
        assert [tuple(before + name + after for name in f.evidence) for f in plain.findings] == [
            f.evidence for f in claimed.findings
        ]


# --- what isn't known -------------------------------------------------------------------------


def _unread(facts: Facts) -> Facts:
    return replace(facts, order=None)


def _unreadable(facts: Facts) -> Facts:
    return replace(facts, order=Unreadable(reason="timed out"))


def _unverified(facts: Facts) -> Facts:
    return _on(facts, ownership=Ownership.UNVERIFIED)


def _unclear(facts: Facts) -> Facts:
    return _on(facts, ownership=Ownership.UNCLEAR)


def _foreign(facts: Facts) -> Facts:
    return _on(facts, ownership=Ownership.FOREIGN)


def _without_rate(facts: Facts) -> Facts:
    changed = _on(facts, shop_currency="USD", received_shop=money(0, "USD"))
    return replace(changed, shop_currency="USD")


def _counted_in_another_currency(facts: Facts) -> Facts:
    return replace(facts, shop_currency="USD")


def _unreckoned(facts: Facts) -> Facts:
    basis = RefundBasis(shipping=money(1))
    return _on(replace(facts, proposal=replace(facts.proposal, basis=basis)), reckoned=None)


def _on(facts: Facts, **changes: object) -> Facts:
    assert isinstance(facts.order, OrderFacts)
    return replace(facts, order=replace(facts.order, **changes))  # type: ignore[arg-type]  # test's own


@pytest.mark.parametrize(
    "hidden",
    [
        _unread,
        _unreadable,
        _unverified,
        _unclear,
        _foreign,
        _without_rate,
        _counted_in_another_currency,
        _unreckoned,
    ],
)
@settings(max_examples=20)
@given(facts=hopeful_facts())
def test_what_is_not_known_is_never_let_go(hidden: Callable[[Facts], Facts], facts: Facts) -> None:
    unknown = replace(hidden(facts), cleared=())
    # This policy allows whatever is known, so that what is hidden is what decides.
    assert ruling(unknown, WIDE) not in LETS_GO


# --- clearing ---------------------------------------------------------------------------------


@st.composite
def clearings(draw: st.DrawFn, shown: list[Finding]) -> Cleared:
    """Draw what a person may have cleared: some of the evidence of something that was found."""
    finding = draw(st.sampled_from([f for f in shown if is_clearable(f)] or shown))
    reasons = [reason for reason in [finding.reason] if isinstance(reason, HeldReason)]
    seen = draw(st.lists(st.sampled_from([*finding.evidence, "else"]), max_size=4))
    return Cleared(
        reason=draw(st.sampled_from([*reasons, *reasons, *CLEARABLE])),
        evidence=draw(st.sampled_from([finding.evidence, tuple(seen)])),
        by="human_node node-1",
    )


@given(facts=doubtful_facts(), policy=POLICIES, data=st.data())
def test_clearing_turns_what_it_names_into_allow_and_touches_nothing_else(
    facts: Facts, policy: Policy, data: st.DataObject
) -> None:
    plain = found(replace(facts, cleared=()), policy)
    entries = data.draw(st.lists(clearings(plain), min_size=1, max_size=4).map(tuple))
    facts = replace(facts, cleared=entries)
    cleared = found(facts, policy)
    # Each verdict sorts what it found, so that they are compared as a whole.
    stays = [finding for finding in cleared if finding in plain]
    turned = [finding for finding in cleared if finding not in plain]
    assert len(stays) + len(turned) == len(plain)
    event(f"{len(turned)} cleared")
    for finding in turned:
        assert finding.ruling is Ruling.ALLOW
        assert finding.reason in CLEARABLE
        assert any(
            entry.reason == finding.reason and set(finding.evidence) <= set(entry.evidence)
            for entry in facts.cleared
        )
    missing = [finding for finding in plain if finding not in cleared]
    assert sorted((f.reason or "", f.evidence) for f in missing) == sorted(
        (f.reason or "", f.evidence) for f in turned
    )
    assert all(finding.ruling is Ruling.HOLD for finding in missing)


@given(facts=FACTS | doubtful_facts(), policy=POLICIES)
def test_clearing_everything_that_is_shown_leaves_refusals_and_approvals_as_they_were(
    facts: Facts, policy: Policy
) -> None:
    plain = found(replace(facts, cleared=()), policy)
    everything = tuple(
        Cleared(reason=reason, evidence=finding.evidence, by="human_node node-1")
        for finding in plain
        for reason in CLEARABLE
    )
    after = found(replace(facts, cleared=everything), policy)
    for kept in (Ruling.REFUSE, Ruling.APPROVE, Ruling.NOT_READ):
        assert [f for f in after if f.ruling is kept] == [f for f in plain if f.ruling is kept]
    holds = [f for f in plain if f.ruling is Ruling.HOLD and f.reason not in CLEARABLE]
    assert [f for f in after if f.ruling is Ruling.HOLD] == holds


# --- sums -------------------------------------------------------------------------------------


@given(facts=hopeful_facts(), policy=POLICIES)
def test_what_is_let_through_fits_beside_everything_refunded_reserved_and_under_way(
    facts: Facts, policy: Policy
) -> None:
    assume(ruling(facts, policy) in LETS_GO)
    order, asked = facts.order, facts.proposal.money
    assert isinstance(order, OrderFacts)
    kept_back = reserving(others=facts.others, order=order)
    reserved = total((other.money for other in kept_back), currency="EUR")
    assert order.refunded + reserved + asked <= order.received
    if not facts.proposal.to_store_credit:
        assert reserved + asked <= order.returnable
        parts = kept_back_parts(others=facts.others, order=order)
        spread = allocate(asked, suggested=order.suggested, reserved=parts)
        assert total((part.money for part in spread), currency="EUR") == asked


@given(facts=hopeful_facts(), policy=POLICIES)
def test_what_is_let_through_is_inside_every_limit_of_the_brand(
    facts: Facts, policy: Policy
) -> None:
    assume(ruling(facts, policy) in LETS_GO)
    rules, usage, asked = policy.kinds[facts.proposal.kind], facts.usage, facts.proposal.money
    for limit, before in (
        (rules.cap("EUR"), money(0)),
        (rules.per_order("EUR"), usage.order.amount),
        (rules.per_customer_day("EUR"), usage.customer.amount),
        (rules.per_day("EUR"), usage.day.amount),
    ):
        assert limit is None or before + asked <= limit
    for count, so_far in (
        (rules.counts.per_order, usage.order.count),
        (rules.counts.per_customer_day, usage.customer.count),
        (rules.counts.per_day, usage.day.count),
        (rules.velocity.count if rules.velocity else None, usage.recent),
    ):
        assert count is None or so_far < count


Step: TypeAlias = Callable[[OneOrder], None]


def proposing(share: int, *, to_store_credit: bool) -> Step:
    """Propose some hundredths of what was received: such amounts as come into each other's way."""

    def propose(store: OneOrder) -> None:
        amount = eur(int(store.received.amount * share))
        if store.propose(amount, to_store_credit=to_store_credit):
            event("let through")
            assert store.refunded + store.reserved <= store.received

    return propose


def sending(standings: list[Standing], *, shown: bool) -> Step:
    def send(store: OneOrder) -> None:
        waiting = [n for n, i in enumerate(store.intents) if i.state is State.AUTHORIZED]
        if waiting:
            wanted = (standings * 2)[: len(store.intents[waiting[0]].parts)]
            state = state_of(wanted, shown=shown)
            sent = store.send(waiting[0], standings=wanted, state=state, shown=shown)
            event("sent" if sent else "refused by the store")
            # Left to ourselves, the store's own cap never has to say no.
            assert sent or store.disturbed

    return send


def state_of(standings: list[Standing], *, shown: bool) -> State:
    if not shown:
        return State.UNKNOWN
    if Standing.OPEN in standings:
        return State.PENDING
    if set(standings) == {Standing.SUCCEEDED}:
        return State.CONFIRMED
    return State.FAILED if set(standings) == {Standing.FAILED} else State.PARTIALLY_CONFIRMED


PROPOSE = st.builds(
    proposing, st.integers(1, 70), to_store_credit=st.sampled_from([False, False, True])
)
SEND = st.builds(
    sending,
    st.sampled_from(
        [[Standing.SUCCEEDED], [Standing.OPEN], [Standing.FAILED], [Standing.SUCCEEDED, *Standing]]
    ),
    shown=st.sampled_from([True, True, False]),
)
ELSEWHERE = st.one_of(
    st.builds(methodcaller, st.just("settle"), st.integers(0, 9), st.sampled_from(Standing)),
    st.builds(methodcaller, st.just("show_all")),
)
BY_STAFF = st.one_of(
    st.builds(
        methodcaller,
        st.just("refund_by_hand"),
        st.integers(1, 8_000).map(eur),
        st.sampled_from("ab"),
    ),
    st.builds(methodcaller, st.just("retry_by_hand"), st.integers(0, 9)),
)
STEPS = st.one_of(PROPOSE, SEND, PROPOSE, SEND, ELSEWHERE)


@settings(max_examples=300)
@given(
    first=st.integers(1_000, 15_000),
    second=st.integers(1_000, 15_000),
    shows_open_as_taken=st.booleans(),
    steps=st.lists(STEPS, min_size=12, max_size=25)
    | st.lists(STEPS | BY_STAFF, min_size=12, max_size=25),
)
def test_what_is_reserved_and_what_is_refunded_never_pass_what_was_received(
    first: int, second: int, shows_open_as_taken: bool, steps: list[Step]
) -> None:
    store = OneOrder(
        maxima={"a": eur(first), "b": eur(second)}, shows_open_as_taken=shows_open_as_taken
    )
    for step in steps:
        step(store)
        assert store.refunded <= store.received
    if not store.disturbed:
        assert store.refunded + store.reserved <= store.received


@given(
    proposals=st.lists(st.tuples(st.integers(1, 15_000), st.booleans()), min_size=2, max_size=50)
)
def test_many_proposals_at_once_never_reserve_more_than_was_received(
    proposals: list[tuple[int, bool]],
) -> None:
    store = OneOrder(maxima={"a": eur(10_000), "b": eur(5_000)}, shows_open_as_taken=True)
    for amount, to_store_credit in proposals:
        store.propose(eur(amount), to_store_credit=to_store_credit)
    assert all(intent.state in PAST_GATE for intent in store.intents)
    assert total((intent.money for intent in store.intents), currency="EUR") <= store.received


# --- the allocation ---------------------------------------------------------------------------

SUGGESTED = st.lists(MINOR, max_size=4).map(
    lambda maxima: [
        SuggestedPart(parent=str(number), gateway="g", maximum=money(maximum))
        for number, maximum in enumerate(maxima)
    ]
)
RESERVED = st.lists(
    st.builds(
        RefundPart, parent=st.sampled_from("0123"), gateway=st.just("g"), money=MINOR.map(money)
    ),
    max_size=3,
)


@given(asked=st.integers(1, 60_000), payments=SUGGESTED, reserved=RESERVED)
def test_an_allocation_is_exact_within_each_payment_or_not_made(
    asked: int, payments: list[SuggestedPart], reserved: list[RefundPart]
) -> None:
    taken: dict[str | None, Money] = {part.parent: money(0) for part in payments}
    for part in reserved:
        taken[part.parent] = taken.get(part.parent, money(0)) + part.money
    free: dict[str | None, Money] = {
        part.parent: max(part.maximum - taken[part.parent], money(0)) for part in payments
    }
    room = total(free.values(), currency="EUR")
    try:
        parts = allocate(money(asked), suggested=payments, reserved=reserved)
    except CannotAllocate:
        assert money(asked) > room
        return
    assert total((part.money for part in parts), currency="EUR") == money(asked)
    assert all(money(0) < part.money <= free[part.parent] for part in parts)
    assert len({part.parent for part in parts}) == len(parts)
