"""Facts for the gate as Hypothesis draws them: every kind, and often enough such as may pass.

Promises: identifiers are few, so that they meet; amounts are small, so that sums matter.
Does not judge anything.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

from hypothesis import strategies as st

from actions.policy import (
    Circumstances,
    Cleared,
    Facts,
    OrderFacts,
    OtherIntent,
    Ownership,
    Policy,
    Proposal,
    RefundFacts,
    Usage,
    Used,
    default_policy,
    parse_policy,
)
from actions.states import CLEARABLE, HeldReason, State
from integrations.actors import ActorKind
from integrations.money import Money
from integrations.ports import (
    BlockedBy,
    CallTrace,
    DutyShare,
    OrderLine,
    RefundBasis,
    RefundDuty,
    RefundLine,
    RefundPart,
    Restock,
    SuggestedPart,
    Unreadable,
)

ORDER = "gid://shopify/Order/1"
DAY = date(2026, 11, 30)
MINOR = st.integers(0, 30_000)
MARKERS = [f"rzv:{number:030x}" for number in range(4)]
REFUND_IDS = [f"gid://shopify/Refund/{number}" for number in range(4)]
INTENTS = ["int_2", "int_3", "int_4"]
PAYMENTS = ["pay_a", "pay_b", "pay_c"]
LINES = ["line_a", "line_b"]
DISPUTES = ["dispute_a", "dispute_b"]
EVIDENCE = [ORDER, *REFUND_IDS, *INTENTS, *DISPUTES]


def money(minor: int, currency: str = "EUR") -> Money:
    return Money(amount=Decimal(minor).scaleb(-2), currency=currency)


def mostly_none(strategy: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.one_of(st.none(), st.none(), strategy)


PARTS = st.builds(
    RefundPart,
    parent=st.sampled_from([*PAYMENTS, None]),
    gateway=st.just("g"),
    money=MINOR.map(money),
)
REFUNDS = st.builds(
    RefundFacts,
    identifier=st.sampled_from(REFUND_IDS),
    markers=st.sampled_from([(), *((marker,) for marker in MARKERS), tuple(MARKERS[:2])]),
    taken=MINOR.map(money),
    failed=st.sampled_from([False, False, True]),
    open_parts=st.lists(PARTS, max_size=1).map(tuple),
)
OTHERS = st.builds(
    OtherIntent,
    identifier=st.sampled_from(INTENTS),
    kind=st.sampled_from(["refund", "store_credit"]),
    state=st.sampled_from(State),
    money=MINOR.map(money),
    marker=st.sampled_from(MARKERS),
    effect=st.sampled_from(["", *REFUND_IDS]),
    parts=st.lists(PARTS, max_size=2).map(tuple),
    set_aside=st.booleans(),
)
BASES = st.builds(
    RefundBasis,
    lines=st.lists(
        st.builds(
            RefundLine,
            line=st.sampled_from(LINES),
            quantity=st.integers(1, 3),
            restock=st.sampled_from(Restock),
            location=st.sampled_from([None, "loc"]),
        ),
        max_size=2,
    ).map(tuple),
    shipping=mostly_none(MINOR.map(money)),
    duties=st.lists(
        st.builds(RefundDuty, duty=st.just("duty"), share=st.sampled_from(DutyShare)), max_size=1
    ).map(tuple),
)
ORDERS = st.builds(
    lambda order, shop: replace(
        order, shop_currency=shop, received_shop=Money(amount=order.received.amount, currency=shop)
    ),
    st.builds(
        OrderFacts,
        identifier=st.just(ORDER),
        presentment_currency=st.just("EUR"),
        shop_currency=st.just("EUR"),
        received=MINOR.map(money),
        received_shop=st.just(money(0)),
        refunds=st.lists(REFUNDS, max_size=3, unique_by=lambda refund: refund.identifier).map(
            tuple
        ),
        suggested=st.lists(
            st.builds(
                SuggestedPart,
                parent=st.sampled_from(PAYMENTS),
                gateway=st.just("g"),
                maximum=MINOR.map(money),
            ),
            max_size=3,
            unique_by=lambda part: part.parent,
        ).map(tuple),
        cancelled=st.booleans(),
        open_disputes=st.sampled_from([None, (), (), tuple(DISPUTES[:1]), tuple(DISPUTES)]),
        age_days=st.integers(0, 100),
        ownership=st.sampled_from([Ownership.OWN, *Ownership]),
        has_customer=st.booleans(),
        lines=st.lists(
            st.builds(OrderLine, identifier=st.sampled_from(LINES), refundable=st.integers(0, 3)),
            max_size=2,
            unique_by=lambda line: line.identifier,
        ).map(tuple),
        reckoned=mostly_none(MINOR.map(money)),
    ),
    st.sampled_from(["EUR", "EUR", "USD"]),
)
UNREADABLE = st.builds(
    Unreadable,
    reason=st.sampled_from(["timed out", "gone"]),
    blocked_by=st.sampled_from([None, *BlockedBy]),
    retry_after=st.none() | st.timedeltas(timedelta(0), timedelta(days=2)),
    not_found=st.booleans(),
    trace=st.builds(
        CallTrace,
        http_status=st.none() | st.integers(100, 599),
        platform_request_id=st.just("request"),
        api_version=st.just("2026-10"),
        duration_ms=st.integers(0, 60_000),
    ),
)
CLEARINGS = st.builds(
    Cleared,
    reason=st.sampled_from([*CLEARABLE, *HeldReason]),
    evidence=st.lists(st.sampled_from(EVIDENCE), max_size=4).map(tuple),
    by=st.just("human_node node-1"),
)
CIRCUMSTANCES = st.builds(
    Circumstances,
    paused=st.sampled_from([False, False, False, True]),
    kill_switch=st.sampled_from([False, False, False, True]),
    blocked_by=mostly_none(st.sampled_from(["credential", "payment"])),
    circuit_open=st.sampled_from([False, False, False, True]),
    missing_scopes=st.sampled_from([(), (), ("write_orders",)]),
)


def used(currency: str) -> st.SearchStrategy[Used]:
    amounts = MINOR.map(lambda minor: money(minor, currency))
    return st.builds(Used, amount=amounts, count=st.integers(0, 25))


def usages(currency: str) -> st.SearchStrategy[Usage]:
    one = used(currency)
    return st.builds(Usage, order=one, customer=one, day=one, recent=st.integers(0, 250))


WISHES = st.builds(
    lambda wish, to_credit: replace(
        wish, kind="store_credit" if to_credit else "refund", to_store_credit=to_credit
    ),
    st.builds(
        Proposal,
        kind=st.just("refund"),
        proposer=st.sampled_from(ActorKind),
        order=st.just(ORDER),
        money=st.builds(money, MINOR, st.sampled_from(["EUR", "EUR", "EUR", "USD"])),
        basis=st.one_of(st.just(RefundBasis()), BASES),
        repeats=st.lists(st.sampled_from(INTENTS), max_size=1).map(tuple),
    ),
    st.booleans(),
)
MANY_OTHERS = st.lists(OTHERS, max_size=3, unique_by=lambda other: other.identifier).map(tuple)
MANY_CLEARINGS = st.lists(CLEARINGS, max_size=3).map(tuple)


@st.composite
def all_facts(draw: st.DrawFn) -> Facts:
    """Draw any facts at all: read or not, of one currency or two."""
    order = draw(st.one_of(ORDERS, ORDERS, ORDERS, UNREADABLE, st.none()))
    shop = order.shop_currency if isinstance(order, OrderFacts) else "EUR"
    shop = draw(st.sampled_from([shop, shop, shop, "USD"]))
    return Facts(
        proposal=draw(WISHES),
        circumstances=draw(CIRCUMSTANCES),
        others=draw(MANY_OTHERS),
        order=order,
        usage=draw(usages(draw(st.sampled_from([shop, shop, shop, "GBP"])))),
        shop_currency=shop,
        day=DAY,
        cleared=draw(MANY_CLEARINGS),
    )


@st.composite
def hopeful_facts(draw: st.DrawFn) -> Facts:
    """Draw facts under which money may well be let go, so that what then must hold is tested."""
    to_credit = draw(st.booleans())
    refunds = draw(st.lists(REFUNDS, max_size=2, unique_by=lambda refund: refund.identifier))
    return Facts(
        proposal=Proposal(
            kind="store_credit" if to_credit else "refund",
            proposer=ActorKind.AI,
            order=ORDER,
            money=money(draw(st.integers(1, 10_000))),
            to_store_credit=to_credit,
        ),
        circumstances=Circumstances(),
        others=draw(MANY_OTHERS),
        order=OrderFacts(
            identifier=ORDER,
            presentment_currency="EUR",
            shop_currency="EUR",
            received=money(30_000),
            received_shop=money(30_000),
            refunds=tuple(replace(refund, failed=False) for refund in refunds),
            suggested=(
                SuggestedPart(parent=PAYMENTS[0], gateway="g", maximum=money(20_000)),
                SuggestedPart(parent=PAYMENTS[1], gateway="g", maximum=money(8_000)),
            ),
            cancelled=False,
            open_disputes=None,
            age_days=1,
            ownership=Ownership.OWN,
            has_customer=True,
        ),
        usage=draw(usages("EUR")),
        shop_currency="EUR",
        day=DAY,
        cleared=draw(MANY_CLEARINGS),
    )


@st.composite
def doubtful_facts(draw: st.DrawFn) -> Facts:
    """Draw facts in which there is something to clear: disputes, equals, failures, whose it is."""
    facts = draw(hopeful_facts())
    asked, order = facts.proposal.money, facts.order
    assert isinstance(order, OrderFacts)
    doubts = draw(st.sets(st.sampled_from(["dispute", "equal", "failed", "owner"]), min_size=1))
    refund = replace(
        draw(REFUNDS),
        taken=asked if "equal" in doubts else money(1),
        failed="failed" in doubts,
    )
    twin = replace(draw(OTHERS), money=asked if "equal" in doubts else money(1))
    unknown = draw(st.sampled_from([Ownership.UNVERIFIED, Ownership.UNCLEAR, Ownership.FOREIGN]))
    return replace(
        facts,
        others=(twin,),
        order=replace(
            order,
            refunds=(refund,),
            open_disputes=tuple(DISPUTES) if "dispute" in doubts else (),
            ownership=unknown if "owner" in doubts else Ownership.OWN,
        ),
    )


FACTS = all_facts() | hopeful_facts() | doubtful_facts()


def _policy(limits: Mapping[str, object], **kind: object) -> Policy:
    record = default_policy().as_record()
    for rules in record["kinds"].values():  # type: ignore[attr-defined]  # as just made
        rules |= {"limits": limits, **kind}
    return parse_policy(record)


_TIGHT = {
    "cap": "120.00",
    "approval_above": "60.00",
    "per_order": "150.00",
    "per_customer_day": "200.00",
    "per_day": "290.00",
}
WIDE = _policy({"EUR": {"cap": "1000000", "approval_above": "1000000"}}, counts={}, velocity=None)
TIGHT = _policy(
    {"EUR": _TIGHT, "USD": _TIGHT},
    counts={"per_order": 10, "per_customer_day": 15, "per_day": 20},
    velocity={"count": 100, "minutes": 5},
)
POLICIES = st.sampled_from(
    [default_policy(), TIGHT, WIDE, _policy({}, ownership_required=False, order_age_max_days=9)]
)
