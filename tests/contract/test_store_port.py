"""What every store adapter owes the core, tried over real HTTP on a platform that can fail."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from integrations.money import Money
from integrations.ports import (
    AccountIdentity,
    BlockedBy,
    Echoed,
    Fenced,
    NotSent,
    OrderSnapshot,
    OutcomeUnknown,
    Rejected,
    SendOutcome,
    Standing,
    Unreadable,
)
from integrations.sandbox.faults import FaultKind
from integrations.sandbox.records import Payment
from tests.contract.stores import STORES, Store, no_fence


@pytest.fixture(params=STORES.values(), ids=list(STORES))
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    with request.param() as running:
        yield running


def eur(amount: str) -> Money:
    return Money(amount=Decimal(amount), currency="EUR")


def seen(store: Store, order: str) -> OrderSnapshot:
    return store.seen(order)


class TestIdentify:
    def test_the_account_is_known_by_its_own_identifier(self, store: Store) -> None:
        who = store.port.identify()
        assert isinstance(who, AccountIdentity)
        assert who.domain == store.shop.name
        assert who.app == store.shop.app_id
        assert "write_orders" in who.scopes
        assert who.currency == "EUR"
        assert who.api_version == "2026-10"

    def test_a_revoked_token_blocks_the_connection(self, store: Store) -> None:
        store.shop.revoke_token()
        who = store.port.identify()
        assert isinstance(who, Unreadable)
        assert who.blocked_by is BlockedBy.CREDENTIAL


class TestRead:
    def test_an_order_is_read_with_what_can_be_given_back(self, store: Store) -> None:
        order = store.shop.order(
            payments=[Payment(amount="60.00"), Payment(amount="40.00", gateway="gift_card")],
            total="100.00",
            email="ann@example.com",
        )
        found = seen(store, order.id)
        assert (found.identifier, found.name) == (order.id, order.name)
        assert found.customer == order.customer
        assert (found.received, found.received_shop) == (eur("100"), eur("100"))
        assert (found.lines, found.reckoned) == ((), None)
        assert [(part.parent, part.gateway, part.maximum) for part in found.suggested] == [
            (order.payments[0], "manual", eur("60")),
            (order.payments[1], "gift_card", eur("40")),
        ]
        assert (found.refunds, found.complete, found.dispute_open) == ((), True, False)

    def test_our_refund_is_found_with_its_marker_and_our_app(self, store: Store) -> None:
        order = store.shop.order(total="100.00")
        refund = store.refund_of(order.id, "12.50")
        sent = store.send(refund)
        assert isinstance(sent, Echoed)
        found = seen(store, order.id)
        assert [one.identifier for one in found.refunds] == [sent.observation.identifier]
        one = found.refunds[0]
        assert (one.markers, one.author, one.target) == (
            (refund.marker,),
            store.shop.app_id,
            order.id,
        )
        assert list(one.parts) == list(sent.observation.parts)
        assert [part.shop for part in one.parts] == [eur("12.50")]
        assert found.suggested[0].maximum == eur("87.50")

    def test_a_refund_by_staff_has_no_marker_and_no_app(self, store: Store) -> None:
        order = store.shop.order(total="100.00")
        made = store.shop.refund_by_staff(order.id, amount="5.00", note="as agreed on the phone")
        found = seen(store, order.id)
        assert [(one.identifier, one.markers, one.author) for one in found.refunds] == [
            (made.id, (), None)
        ]

    def test_a_cut_list_proves_no_absence(self, store: Store) -> None:
        order = store.shop.order(total="100.00")
        store.send(store.refund_of(order.id, "12.50"))
        store.shop.fault(FaultKind.TRUNCATED_REFUNDS, operation="order", keep=0)
        found = seen(store, order.id)
        assert (found.refunds, found.complete) == ((), False)
        assert seen(store, order.id).complete

    def test_an_order_that_is_not_shown_is_not_found(self, store: Store) -> None:
        found = store.port.read_order(order="gid://shopify/Order/404404")
        assert isinstance(found, Unreadable)
        assert (found.not_found, found.blocked_by) == (True, None)

    def test_a_read_that_fails_is_no_evidence(self, store: Store) -> None:
        order = store.shop.order(total="100.00")
        store.shop.fault(FaultKind.READ_ERROR, operation="order")
        found = store.port.read_order(order=order.id)
        assert isinstance(found, Unreadable)
        assert not found.not_found

    def test_an_open_dispute_is_seen(self, store: Store) -> None:
        order = store.shop.order(total="100.00")
        dispute = store.shop.open_dispute(order.id)
        store.shop.open_dispute(order.id, status="WON")
        found = seen(store, order.id)
        assert (found.open_disputes, found.dispute_open) == (
            (f"{dispute}#NEEDS_RESPONSE",),
            True,
        )

    def test_a_scope_that_is_missing_costs_a_fact_and_not_the_order(self, store: Store) -> None:
        order = store.shop.order(total="100.00", email="ann@example.com")
        poor = store.as_seen_by(
            store.shop.with_token("shpat_poor", scopes=("read_orders", "write_orders"))
        )
        found = seen(poor, order.id)
        assert found.customer is None
        assert found.received == eur("100")

    def test_another_version_is_told_by_the_trace(self, store: Store) -> None:
        order = store.shop.order(total="100.00")
        store.shop.serve_version("2026-07")
        assert seen(store, order.id).trace.api_version == "2026-07"

    def test_presentment_money_is_read_where_it_differs_from_the_shops(self, store: Store) -> None:
        order = store.shop.order(total="5000", currency="JPY", rate="0.0061")
        found = seen(store, order.id)
        assert (found.shop_currency, found.presentment_currency) == ("EUR", "JPY")
        assert found.received == Money(amount=Decimal(5000), currency="JPY")
        sent = store.send(store.refund_of(order.id, "1000", "JPY"))
        assert isinstance(sent, Echoed)
        assert sent.observation.parts[0].money == Money(amount=Decimal(1000), currency="JPY")


class TestSend:
    def test_an_echo_names_the_refund_and_its_parts(self, store: Store) -> None:
        order = store.shop.order(total="100.00")
        refund = store.refund_of(order.id, "12.50")
        sent = store.send(refund)
        assert isinstance(sent, Echoed)
        (effect,) = store.effects()
        told = sent.observation
        assert (told.identifier, told.target, told.markers) == (
            effect.id,
            order.id,
            (refund.marker,),
        )
        assert [(p.identifier, p.status, p.standing, p.money) for p in told.parts] == [
            (effect.parts[0].id, "SUCCESS", Standing.SUCCEEDED, eur("12.50"))
        ]
        assert effect.note == refund.marker
        assert effect.key == refund.key

    @pytest.mark.parametrize(
        ("status", "standing"), [("PENDING", Standing.OPEN), ("FAILURE", Standing.FAILED)]
    )
    def test_money_that_has_not_moved_is_not_told_as_moved(
        self, store: Store, status: str, standing: Standing
    ) -> None:
        store.shop.gateway("slow", answers=status)
        order = store.shop.order(total="100.00", gateway="slow")
        sent = store.send(store.refund_of(order.id, "12.50"))
        assert isinstance(sent, Echoed)
        assert [(p.status, p.standing) for p in sent.observation.parts] == [(status, standing)]

    def test_the_same_bytes_again_are_answered_with_the_first_refund(self, store: Store) -> None:
        order = store.shop.order(total="100.00")
        refund = store.refund_of(order.id, "12.50")
        first, again = store.send(refund), store.send(refund)
        assert isinstance(first, Echoed)
        assert isinstance(again, Echoed)
        assert again.observation == first.observation
        assert len(store.effects()) == 1
        assert len({one.body_sha256 for one in store.sends()}) == 1

    def test_a_store_that_forgets_keys_makes_a_second_refund(self, store: Store) -> None:
        store.shop.keys(remember=False)
        order = store.shop.order(total="100.00")
        refund = store.refund_of(order.id, "12.50")
        store.send(refund)
        store.send(refund)
        assert [effect.note for effect in store.effects()] == [refund.marker] * 2
        assert [one.markers for one in seen(store, order.id).refunds] == [(refund.marker,)] * 2

    def test_the_key_with_other_parameters_ends_all_sending(self, store: Store) -> None:
        order = store.shop.order(total="100.00")
        refund = store.refund_of(order.id, "12.50")
        store.send(refund)
        for carrier in ("user_errors", "top_level"):
            store.shop.keys(carrier=carrier)
            sent = store.send(replace(refund, notify=True))
            assert isinstance(sent, OutcomeUnknown)
            assert not sent.resend_allowed
        assert len(store.effects()) == 1

    @pytest.mark.parametrize("carrier", ["user_errors", "top_level"])
    def test_a_key_that_failed_before_asks_for_a_read(self, store: Store, carrier: str) -> None:
        store.shop.keys(carrier=carrier, after_refusal="previous_failed")
        order = store.shop.order(total="100.00")
        refund = store.refund_of(order.id, "100.01")
        assert isinstance(store.send(refund), Rejected)
        sent = store.send(refund)
        assert isinstance(sent, Rejected)
        assert sent.read_first
        assert store.effects() == ()

    @pytest.mark.parametrize("carrier", ["user_errors", "top_level"])
    def test_a_key_in_progress_is_unknown(self, store: Store, carrier: str) -> None:
        store.shop.keys(carrier=carrier)
        order = store.shop.order(total="100.00")
        refund = store.refund_of(order.id, "12.50")
        hanging = store.shop.fault(FaultKind.HANG_EXECUTING, operation="refundCreate")
        outcomes: list[SendOutcome] = []
        written = threading.Event()
        patient = store.impatient(timedelta(seconds=20))
        frozen = store.port.freeze_refund(refund=refund)

        def first() -> None:
            outcomes.append(patient.port.send_refund(frozen=frozen, before_write=written.set))

        thread = threading.Thread(target=first)
        thread.start()
        assert written.wait(10)
        while not store.sends():
            threading.Event().wait(0.01)
        sent = store.send(refund)
        hanging.release()
        thread.join(timeout=20)
        assert isinstance(sent, OutcomeUnknown)
        assert (sent.reason, sent.resend_allowed) == ("request_in_progress", True)
        assert isinstance(outcomes[0], Echoed)
        assert len(store.effects()) == 1

    def test_more_than_was_paid_is_rejected_in_the_stores_words(self, store: Store) -> None:
        order = store.shop.order(total="100.00")
        sent = store.send(store.refund_of(order.id, "100.01"))
        assert isinstance(sent, Rejected)
        assert (sent.code, sent.read_first) == ("over_net_payment", False)
        assert "greater than net payment received" in sent.message
        assert store.effects() == ()

    def test_a_closed_fence_sends_nothing(self, store: Store) -> None:
        order = store.shop.order(total="100.00")
        frozen = store.port.freeze_refund(refund=store.refund_of(order.id, "12.50"))

        def fence() -> None:
            raise Fenced("paused")

        sent = store.port.send_refund(frozen=frozen, before_write=fence)
        assert isinstance(sent, NotSent)
        assert sent.reason == "fenced: paused"
        assert store.sends() == ()
        assert store.effects() == ()

    @pytest.mark.parametrize(
        ("fault", "details", "blocked_by"),
        [
            (FaultKind.STATUS_BEFORE, {"status": 401}, BlockedBy.CREDENTIAL),
            (FaultKind.STATUS_BEFORE, {"status": 402}, BlockedBy.PAYMENT),
            (FaultKind.STATUS_BEFORE, {"status": 403}, BlockedBy.PERMISSION),
            (FaultKind.STATUS_BEFORE, {"status": 404}, BlockedBy.ADDRESS),
            (FaultKind.STATUS_BEFORE, {"status": 423}, BlockedBy.LOCKED),
            (FaultKind.STATUS_BEFORE, {"status": 430}, BlockedBy.SECURITY),
            (FaultKind.ACCESS_DENIED, {}, BlockedBy.PERMISSION),
            (FaultKind.REDIRECT, {}, BlockedBy.ADDRESS),
            (FaultKind.TOO_MANY_REQUESTS, {}, None),
            (FaultKind.THROTTLED, {}, None),
        ],
    )
    def test_what_was_not_executed_is_not_sent(
        self,
        store: Store,
        fault: FaultKind,
        details: dict[str, object],
        blocked_by: BlockedBy | None,
    ) -> None:
        order = store.shop.order(total="100.00")
        refund = store.refund_of(order.id, "12.50")
        store.shop.fault(fault, operation="refundCreate", **details)
        sent = store.send(refund)
        assert isinstance(sent, NotSent)
        assert sent.blocked_by is blocked_by
        assert (sent.retry_after is not None) is (blocked_by is None)
        assert store.effects() == ()

    @pytest.mark.parametrize(
        ("fault", "details", "effects"),
        [
            (FaultKind.LOST_BEFORE, {}, 0),
            (FaultKind.LATE, {}, 0),
            (FaultKind.STATUS_BEFORE, {"status": 503}, 0),
            (FaultKind.INTERNAL_ERROR_BEFORE, {}, 0),
            (FaultKind.NO_ID_BEFORE, {}, 0),
            (FaultKind.LOST_AFTER, {}, 1),
            (FaultKind.STATUS_AFTER, {"status": 500}, 1),
            (FaultKind.STATUS_AFTER, {"status": 504}, 1),
            (FaultKind.RESET_MID_ANSWER, {}, 1),
            (FaultKind.TRUNCATED_BODY, {}, 1),
            (FaultKind.TRUNCATED_JSON, {}, 1),
            (FaultKind.INTERNAL_ERROR_AFTER, {}, 1),
            (FaultKind.DEEP_ERROR, {"nulls": "refund"}, 1),
            (FaultKind.DEEP_ERROR, {"nulls": "payload"}, 1),
            (FaultKind.NO_ID, {}, 1),
            (FaultKind.WRONG_ID_TYPE, {}, 1),
            (FaultKind.HTML, {}, 1),
            (FaultKind.BAD_CHARSET, {}, 1),
            (FaultKind.OVERSIZE, {}, 1),
            (FaultKind.GZIP_BOMB, {}, 1),
        ],
    )
    def test_whatever_left_and_was_not_answered_is_unknown(
        self, store: Store, fault: FaultKind, details: dict[str, object], effects: int
    ) -> None:
        order = store.shop.order(total="100.00")
        refund = store.refund_of(order.id, "12.50")
        store.shop.fault(fault, operation="refundCreate", **details)
        sent = store.send(refund)
        assert isinstance(sent, OutcomeUnknown)
        assert sent.resend_allowed
        assert len(store.effects()) == effects

    @pytest.mark.parametrize(
        "fault", [FaultKind.DRIPPING_BODY, FaultKind.DRIPPING_HEADERS, FaultKind.HANG_AFTER]
    )
    def test_an_answer_without_an_end_ends_at_the_deadline(
        self, store: Store, fault: FaultKind
    ) -> None:
        order = store.shop.order(total="100.00")
        refund = store.refund_of(order.id, "12.50")
        store.shop.fault(fault, operation="refundCreate")
        sent = store.impatient(timedelta(seconds=1)).send(refund)
        store.shop.clear_faults()
        assert isinstance(sent, OutcomeUnknown)
        assert sent.reason == "deadline"
        assert [effect.note for effect in store.effects()] == [refund.marker]

    @pytest.mark.parametrize(
        ("fault", "details"),
        [
            (FaultKind.OTHER_ID, {}),
            (FaultKind.WRONG_AMOUNT, {"amount": "0.01"}),
            (FaultKind.WRONG_CURRENCY, {"currency": "USD"}),
            (FaultKind.WRONG_VERSION, {"version": "2025-10"}),
            (FaultKind.DEEP_ERROR, {"nulls": "order"}),
        ],
    )
    def test_an_echo_is_told_as_it_came_for_the_core_to_compare(
        self, store: Store, fault: FaultKind, details: dict[str, object]
    ) -> None:
        order = store.shop.order(total="100.00")
        refund = store.refund_of(order.id, "12.50")
        store.shop.fault(fault, operation="refundCreate", **details)
        sent = store.send(refund)
        assert isinstance(sent, Echoed)
        (effect,) = store.effects()
        told = sent.observation
        differs = {
            "identifier": told.identifier != effect.id,
            "amount": told.parts[0].money.amount != Decimal("12.50"),
            "currency": told.parts[0].money.currency != "EUR",
            "version": sent.trace.api_version != "2026-10",
            "target": told.target != order.id,
        }
        assert {name for name, is_so in differs.items() if is_so} == {
            FaultKind.OTHER_ID: {"identifier"},
            FaultKind.WRONG_AMOUNT: {"amount"},
            FaultKind.WRONG_CURRENCY: {"currency"},
            FaultKind.WRONG_VERSION: {"version"},
            FaultKind.DEEP_ERROR: {"target"},
        }[fault]

    def test_nothing_is_sent_where_nobody_listens(self, store: Store) -> None:
        order = store.shop.order(total="100.00")
        frozen = store.port.freeze_refund(refund=store.refund_of(order.id, "12.50"))
        gone = store.as_seen_by(replace(store.shop, url="http://127.0.0.1:9/shops/gone"))
        sent = gone.port.send_refund(frozen=frozen, before_write=no_fence)
        assert isinstance(sent, NotSent)
        assert sent.reason == "connect_failed"
        assert store.sends() == ()
