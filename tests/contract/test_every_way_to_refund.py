"""Every way in which money goes back: asked, sent, echoed, read back, and what the store holds."""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

import pytest

from integrations.money import Money
from integrations.ports import (
    DutyShare,
    Echoed,
    Observation,
    OutcomeUnknown,
    Part,
    RefundBasis,
    RefundDuty,
    RefundLine,
    RefundOrder,
    RefundPart,
    Rejected,
    Restock,
    Standing,
    Unreadable,
)
from integrations.sandbox.ledger import EffectDuty, EffectLine
from integrations.sandbox.records import Payment, PlacedOrder
from tests.contract.stores import STORES, Store

LOCATION = "gid://shopify/Location/9"
LINES = [
    {"title": "Shirt", "quantity": 3, "price": "10.00", "duty": "4.00"},
    {"title": "Cap", "quantity": 1, "price": "8.00"},
]


@pytest.fixture(params=STORES.values(), ids=list(STORES))
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    with request.param() as running:
        yield running


@pytest.fixture
def order(store: Store) -> PlacedOrder:
    return store.shop.order(total="47.00", shipping="5.00", lines=LINES)


def money(amount: str, currency: str = "EUR") -> Money:
    return Money(amount=Decimal(amount), currency=currency)


def shirts(order: PlacedOrder, quantity: int, restock: Restock = Restock.RETURN) -> RefundLine:
    return RefundLine(line=order.lines[0], quantity=quantity, restock=restock)


def duty(order: PlacedOrder, share: DutyShare) -> RefundDuty:
    return RefundDuty(duty=order.duties[0], share=share)


def echoed(store: Store, refund: RefundOrder) -> Observation:
    sent = store.send(refund)
    assert isinstance(sent, Echoed), sent
    return sent.observation


def read_back(store: Store, refund: RefundOrder, told: Observation) -> tuple[Part, ...]:
    """The same refund as a read tells it, to the last part what was echoed."""
    found = store.seen(refund.order)
    one = next(one for one in found.refunds if one.identifier == told.identifier)
    assert found.complete
    assert (one.markers, one.author, one.target, one.created_at) == (
        (refund.marker,),
        store.shop.app_id,
        refund.order,
        told.created_at,
    )
    assert one.parts == told.parts
    return one.parts


def rejected(store: Store, refund: RefundOrder, *, effects: int = 0) -> tuple[str, str]:
    sent = store.send(refund)
    assert isinstance(sent, Rejected), sent
    assert not sent.read_first
    assert len(store.effects()) == effects
    return sent.code, sent.message


class TestLines:
    def test_items_come_back_with_what_becomes_of_them(
        self, store: Store, order: PlacedOrder
    ) -> None:
        basis = RefundBasis(
            lines=(
                replace(shirts(order, 1), location=LOCATION),
                shirts(order, 1, Restock.CANCEL),
                RefundLine(line=order.lines[1], quantity=1, restock=Restock.NO_RESTOCK),
            )
        )
        before = store.seen(order.id, basis=basis)
        assert before.reckoned == money("28")
        assert [(line.identifier, line.refundable) for line in before.lines] == [
            (order.lines[0], 3),
            (order.lines[1], 1),
        ]
        refund = store.refund_of(order.id, "28.00", basis=basis)
        told = echoed(store, refund)
        assert [(part.standing, part.money, part.parent) for part in told.parts] == [
            (Standing.SUCCEEDED, money("28"), order.payments[0])
        ]
        assert [part.shop for part in read_back(store, refund, told)] == [money("28")]
        (effect,) = store.effects()
        shirt, cap = order.lines
        assert [
            (line.line_id, line.quantity, line.restock_type, line.location_id)
            for line in effect.lines
        ] == [
            (shirt, 1, "RETURN", LOCATION),
            (shirt, 1, "CANCEL", None),
            (cap, 1, "NO_RESTOCK", None),
        ]
        after = store.seen(order.id, basis=basis)
        assert [line.refundable for line in after.lines] == [1, 0]
        # One shirt is left of what is asked for again: twice one, each by itself.
        assert after.reckoned == money("19")

    def test_more_items_than_are_left_are_rejected(self, store: Store, order: PlacedOrder) -> None:
        basis = RefundBasis(lines=(shirts(order, 4),))
        code, message = rejected(store, store.refund_of(order.id, "30.00", basis=basis))
        assert (code, message) == (
            "quantity_over_purchased",
            "Quantity cannot refund more items than were purchased",
        )

    def test_a_line_of_another_order_is_rejected(self, store: Store, order: PlacedOrder) -> None:
        other = store.shop.order(total="10.00")
        basis = RefundBasis(lines=(shirts(other, 1),))
        assert store.seen(order.id, basis=basis).reckoned == money("0")
        code, message = rejected(store, store.refund_of(order.id, "10.00", basis=basis))
        assert (code, message) == ("rejected", "Line item does not exist")

    def test_all_lines_of_a_long_order_are_read(self, store: Store) -> None:
        lines = [{"title": f"Item {n}", "quantity": n % 5 + 1, "price": "1.00"} for n in range(301)]
        order = store.shop.order(total="902.00", lines=lines)
        basis = RefundBasis(
            lines=(RefundLine(line=order.lines[300], quantity=1, restock=Restock.CANCEL),)
        )
        found = store.seen(order.id, basis=basis)
        assert [line.identifier for line in found.lines] == list(order.lines)
        assert [line.refundable for line in found.lines] == [n % 5 + 1 for n in range(301)]
        assert found.reckoned == money("1")


class TestShipping:
    def test_shipping_comes_back_by_its_amount(self, store: Store, order: PlacedOrder) -> None:
        basis = RefundBasis(shipping=money("3.50"))
        before = store.seen(order.id, basis=basis)
        assert (before.reckoned, before.lines) == (money("3.50"), ())
        refund = store.refund_of(order.id, "3.50", basis=basis)
        read_back(store, refund, echoed(store, refund))
        (effect,) = store.effects()
        assert (effect.shipping, effect.lines, effect.duties) == (Decimal("3.50"), (), ())
        assert store.seen(order.id, basis=basis).reckoned == money("1.50")

    def test_more_shipping_than_is_left_is_rejected(self, store: Store, order: PlacedOrder) -> None:
        basis = RefundBasis(shipping=money("3.00"))
        store.send(store.refund_of(order.id, "3.00", basis=basis))
        code, message = rejected(store, store.refund_of(order.id, "3.00", basis=basis), effects=1)
        assert (code, message) == (
            "rejected",
            "Shipping refund is greater than what is left of the shipping",
        )


class TestDuties:
    @pytest.mark.parametrize(
        ("share", "items", "amount", "of_duty"),
        [
            (DutyShare.FULL, 0, "4.00", "4.00"),
            (DutyShare.PROPORTIONAL, 1, "11.33", "1.33"),
            (DutyShare.PROPORTIONAL, 2, "22.67", "2.67"),
        ],
    )
    def test_a_duty_comes_back_in_full_or_by_the_items(
        self,
        store: Store,
        order: PlacedOrder,
        share: DutyShare,
        items: int,
        amount: str,
        of_duty: str,
    ) -> None:
        lines = (shirts(order, items),) if items else ()
        basis = RefundBasis(lines=lines, duties=(duty(order, share),))
        assert store.seen(order.id, basis=basis).reckoned == money(amount)
        refund = store.refund_of(order.id, amount, basis=basis)
        read_back(store, refund, echoed(store, refund))
        (effect,) = store.effects()
        assert effect.duties == (EffectDuty(duty_id=order.duties[0], amount=Decimal(of_duty)),)

    def test_a_duty_that_has_gone_back_is_rejected(self, store: Store, order: PlacedOrder) -> None:
        basis = RefundBasis(duties=(duty(order, DutyShare.FULL),))
        store.send(store.refund_of(order.id, "4.00", basis=basis))
        assert store.seen(order.id, basis=basis).reckoned == money("0")
        code, message = rejected(store, store.refund_of(order.id, "4.00", basis=basis), effects=1)
        assert (code, message) == ("rejected", "Duty has nothing to refund")

    def test_lines_shipping_and_duties_come_back_together(
        self, store: Store, order: PlacedOrder
    ) -> None:
        basis = RefundBasis(
            lines=(shirts(order, 3, Restock.CANCEL),),
            shipping=money("5.00"),
            duties=(duty(order, DutyShare.FULL),),
        )
        assert store.seen(order.id, basis=basis).reckoned == money("39")
        refund = store.refund_of(order.id, "39.00", basis=basis)
        read_back(store, refund, echoed(store, refund))
        (effect,) = store.effects()
        assert (effect.amount, effect.shipping, effect.duties, effect.lines) == (
            Decimal("39.00"),
            Decimal("5.00"),
            (EffectDuty(duty_id=order.duties[0], amount=Decimal("4.00")),),
            (
                EffectLine(
                    line_id=order.lines[0], quantity=3, restock_type="CANCEL", location_id=None
                ),
            ),
        )

    def test_the_store_says_what_it_still_holds_at_most(
        self, store: Store, order: PlacedOrder
    ) -> None:
        basis = RefundBasis(lines=(shirts(order, 3),))
        store.send(store.refund_of(order.id, "40.00"))
        assert store.seen(order.id, basis=basis).reckoned == money("7")


class TestStoreCredit:
    def test_it_is_one_part_without_a_payment(self, store: Store, order: PlacedOrder) -> None:
        refund = store.credit_of(order.id, "20.00")
        told = echoed(store, refund)
        assert [(part.parent, part.gateway, part.money, part.standing) for part in told.parts] == [
            (None, store.store_credit_gateway, money("20"), Standing.SUCCEEDED)
        ]
        assert [part.shop for part in read_back(store, refund, told)] == [money("20")]
        (effect,) = store.effects()
        assert [(part.parent_id, part.amount) for part in effect.parts] == [(None, Decimal(20))]
        # It lessens what the order can give back over its payment.
        assert [part.maximum for part in store.seen(order.id).suggested] == [money("27")]

    def test_it_may_be_given_for_lines(self, store: Store, order: PlacedOrder) -> None:
        basis = RefundBasis(lines=(shirts(order, 2),))
        refund = store.credit_of(order.id, "20.00", basis=basis)
        read_back(store, refund, echoed(store, refund))
        (effect,) = store.effects()
        assert [(line.line_id, line.quantity) for line in effect.lines] == [(order.lines[0], 2)]

    def test_a_guest_gets_none(self, store: Store) -> None:
        order = store.shop.order(total="20.00", customer=None)
        assert store.seen(order.id).customer is None
        code, message = rejected(store, store.credit_of(order.id, "5.00"))
        assert (code, message) == (
            "rejected",
            "Store credit can only be issued to the customer of an order",
        )

    def test_more_than_was_paid_is_rejected(self, store: Store, order: PlacedOrder) -> None:
        code, _ = rejected(store, store.credit_of(order.id, "47.01"))
        assert code == "over_net_payment"

    def test_the_same_bytes_again_are_answered_with_the_first(
        self, store: Store, order: PlacedOrder
    ) -> None:
        refund = store.credit_of(order.id, "20.00")
        assert echoed(store, refund) == echoed(store, refund)
        assert len(store.effects()) == 1


class TestTheKey:
    @pytest.mark.parametrize(
        "change",
        [
            "quantity",
            "restock",
            "shipping",
            "share",
            "amount alone",
        ],
    )
    def test_under_a_key_the_basis_is_compared(
        self, store: Store, order: PlacedOrder, change: str
    ) -> None:
        basis = RefundBasis(
            lines=(shirts(order, 1),),
            shipping=money("1"),
            duties=(duty(order, DutyShare.FULL),),
        )
        refund = store.refund_of(order.id, "15.00", basis=basis)
        told = echoed(store, refund)
        assert echoed(store, refund) == told
        others = {
            "quantity": replace(basis, lines=(shirts(order, 2),)),
            "restock": replace(basis, lines=(shirts(order, 1, Restock.CANCEL),)),
            "shipping": replace(basis, shipping=money("1.01")),
            "share": replace(basis, duties=(duty(order, DutyShare.PROPORTIONAL),)),
            "amount alone": RefundBasis(),
        }
        sent = store.send(replace(refund, basis=others[change]))
        assert isinstance(sent, OutcomeUnknown)
        assert (sent.reason, sent.resend_allowed) == ("key_mismatch", False)
        assert len(store.effects()) == 1


class TestSplitTender:
    def test_parts_end_each_in_its_own_way_and_a_merchant_may_retry(self, store: Store) -> None:
        store.shop.gateway("broken", answers="FAILURE", error_code="CARD_DECLINED")
        order = store.shop.order(
            total="100.00",
            payments=[
                Payment(amount="60.00", gateway="card"),
                Payment(amount="40.00", gateway="broken"),
            ],
        )
        parts = tuple(
            RefundPart(parent=one.parent, gateway=one.gateway, money=one.maximum)
            for one in store.seen(order.id).suggested
        )
        refund = store.refund_by(order.id, parts)
        told = echoed(store, refund)
        ends = [(part.parent, part.money, part.standing) for part in told.parts]
        assert ends == [
            (order.payments[0], money("60"), Standing.SUCCEEDED),
            (order.payments[1], money("40"), Standing.FAILED),
        ]
        read_back(store, refund, told)
        # What failed can still be given back; what succeeded can't.
        assert [(one.parent, one.maximum) for one in store.seen(order.id).suggested] == [
            (order.payments[1], money("40"))
        ]
        store.shop.retry_refund(told.identifier)
        (one,) = store.seen(order.id).refunds
        assert [part.standing for part in one.parts] == [Standing.SUCCEEDED, Standing.SUCCEEDED]
        assert store.seen(order.id).suggested == ()
        store.shop.settle_refund(told.identifier, "FAILURE", transaction=one.parts[0].identifier)
        (one,) = store.seen(order.id).refunds
        assert [part.standing for part in one.parts] == [Standing.FAILED, Standing.SUCCEEDED]

    def test_a_part_that_takes_its_time_is_open_until_the_store_says_more(
        self, store: Store
    ) -> None:
        store.shop.gateway("slow", answers="PENDING")
        order = store.shop.order(
            total="100.00",
            payments=[
                Payment(amount="60.00", gateway="card"),
                Payment(amount="40.00", gateway="slow"),
            ],
        )
        parts = tuple(
            RefundPart(parent=one.parent, gateway=one.gateway, money=one.maximum)
            for one in store.seen(order.id).suggested
        )
        told = echoed(store, store.refund_by(order.id, parts))
        assert [part.standing for part in told.parts] == [Standing.SUCCEEDED, Standing.OPEN]
        store.shop.settle_refund(told.identifier, "SUCCESS", transaction=told.parts[1].identifier)
        (one,) = store.seen(order.id).refunds
        assert [part.standing for part in one.parts] == [Standing.SUCCEEDED, Standing.SUCCEEDED]


class TestTwoCurrencies:
    @pytest.mark.parametrize(
        ("currency", "rate", "amount", "worth"),
        [
            ("USD", "1.42", "5.00", "7.10"),
            ("JPY", "0.0061", "1234", "7.53"),
            ("KWD", "2.9876", "1.234", "3.69"),
            ("EUR", "1", "5.00", "5.00"),
        ],
    )
    def test_an_amount_is_presentment_and_its_worth_is_the_stores(
        self, store: Store, currency: str, rate: str, amount: str, worth: str
    ) -> None:
        order = store.shop.order(total="5000", currency=currency, rate=rate)
        for refund in (
            store.refund_of(order.id, amount, currency),
            store.credit_of(order.id, amount, currency),
        ):
            told = echoed(store, refund)
            assert [part.money for part in told.parts] == [money(amount, currency)]
            (part,) = read_back(store, refund, told)
            assert (part.money, part.shop) == (money(amount, currency), money(worth))
        found = store.seen(order.id)
        assert found.received == money("5000", currency)
        assert found.received_shop == money(str(Decimal(5000) * Decimal(rate)))
        assert [part.amount for one in store.effects() for part in one.parts] == [
            Decimal(amount),
            Decimal(amount),
        ]

    def test_a_shop_in_yen_sells_in_dinars(self, store: Store) -> None:
        shop = store.sandbox.shop("tokyo.myshopify.com", currency="JPY")
        tokyo = store.as_seen_by(shop)
        order = shop.order(
            total="30.000",
            currency="KWD",
            rate="508.3",
            shipping="3.000",
            lines=[{"quantity": 3, "price": "8.000", "duty": "1.000"}],
        )
        basis = RefundBasis(
            lines=(shirts(order, 1),),
            shipping=money("0.001", "KWD"),
            duties=(duty(order, DutyShare.PROPORTIONAL),),
        )
        assert tokyo.seen(order.id, basis=basis).reckoned == money("8.334", "KWD")
        refund = tokyo.refund_of(order.id, "8.334", "KWD", basis=basis)
        (part,) = read_back(tokyo, refund, echoed(tokyo, refund))
        assert (part.money, part.shop) == (money("8.334", "KWD"), money("4236", "JPY"))
        (effect,) = tokyo.effects()
        assert (effect.shipping, effect.duties[0].amount) == (Decimal("0.001"), Decimal("0.333"))


class TestManyRefunds:
    """More than one answer holds, and more than a list without pages ever shows."""

    def test_an_order_of_600_refunds_is_read_whole_and_the_marker_of_one_is_found(
        self, store: Store
    ) -> None:
        order = store.shop.order(total="100.00")
        marker = "rzv:" + "0123456789" * 3
        notes: list[str | None] = [None] * 600
        notes[598] = marker
        made = store.shop.refunds_by_staff(order.id, amount="0.10", notes=notes)
        found = store.seen(order.id)
        assert [one.identifier for one in found.refunds] == [one.id for one in made]
        assert found.complete
        assert [one.identifier for one in found.refunds if one.markers == (marker,)] == [
            made[598].id
        ]
        assert {part.money for one in found.refunds for part in one.parts} == {money("0.10")}
        # The order, the rest of its 601 agreements, its list, and 585 refunds by identifier.
        asked = [request.operation for request in store.shop.requests()]
        assert asked == ["order"] * (1 + 6 + 1) + ["nodes"] * 20

    def test_what_can_not_be_fetched_leaves_the_read_incomplete(self, store: Store) -> None:
        order = store.shop.order(total="100.00")
        made = store.shop.refunds_by_staff(order.id, amount="0.10", notes=[None] * 40)
        store.shop.fault("truncated_refunds", operation="order", keep=10)
        found = store.seen(order.id)
        assert [one.identifier for one in found.refunds] == [one.id for one in made[:10]]
        assert not found.complete
        again = store.seen(order.id)
        assert (len(again.refunds), again.complete) == (40, True)

    def test_an_order_that_takes_more_than_the_store_allows_at_once_is_not_half_believed(
        self, store: Store
    ) -> None:
        order = store.shop.order(total="100.00")
        store.shop.refunds_by_staff(order.id, amount="0.10", notes=[None] * 100)
        store.shop.throttle(available=28, per_second=0.001)
        found = store.port.read_order(order=order.id)
        assert isinstance(found, Unreadable)
        assert (found.reason, found.not_found) == ("throttled", False)
        assert found.retry_after is not None

    def test_a_refund_of_many_parts_is_read_whole(self, store: Store) -> None:
        payments = [Payment(amount="1.00", gateway=f"card {n}") for n in range(12)]
        order = store.shop.order(total="12.00", payments=payments)
        parts = tuple(
            RefundPart(parent=one.parent, gateway=one.gateway, money=one.maximum)
            for one in store.seen(order.id).suggested
        )
        refund = store.refund_by(order.id, parts)
        assert len(read_back(store, refund, echoed(store, refund))) == 12
