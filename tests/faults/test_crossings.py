"""Two hands on one case at once: what one does between another's look and its act."""

from datetime import timedelta

import pytest
from django.db import connection as database
from django.test.utils import CaptureQueriesContext

from actions.advance import advance
from actions.boundaries import Boundary
from actions.closing import close_unresolved
from actions.models import Intent
from actions.services import withdraw
from integrations.models import Connection
from integrations.platforms.shopify.adapter import ShopifyAdapter
from integrations.ports import RefundBasis
from integrations.sandbox.faults import FaultKind
from tests.stage import AGENT, PERSON, Case, Stage, fresh
from tickets.models import CloseReason

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_ticket_closed_between_claim_and_first_byte_takes_its_intent_back(stage: Stage) -> None:
    case = stage.case()
    intent = stage.propose(case)

    def close() -> None:
        close_unresolved(ticket=case.ticket, reason=CloseReason.DECLINED, by=PERSON, at=stage.now())

    with stage.at(Boundary.CLAIMED, close):
        intent = stage.work(intent)
    assert (intent.state, intent.due_at) == ("withdrawn", None)
    assert [attempt.outcome for attempt in intent.attempts.all()] == ["not_sent"]
    assert stage.shop.requests(operation="refundCreate") == ()


def test_an_authorization_that_grew_old_in_a_paused_worker_is_judged_again(stage: Stage) -> None:
    """F17: stopped after the gate's yes, and woken ten minutes later."""
    case = stage.case(amount="60.00", total="100.00")
    intent = stage.propose(case, amount="60.00")

    def sleep() -> None:
        stage.pass_time(timedelta(minutes=10))
        stage.shop.refund_by_staff(case.order.id, amount="70.00")

    with stage.at(Boundary.GATED, sleep):
        intent = stage.work(intent)
    assert (intent.state, intent.attempts.count()) == ("authorized", 0)
    intent = stage.work(intent)
    assert (intent.state, intent.state_reason) == ("refused", "over_remainder")
    assert stage.shop.requests(operation="refundCreate") == ()


def test_taking_back_again_what_was_taken_back_leaves_a_resolved_ticket_as_it_is(
    stage: Stage,
) -> None:
    case = stage.case()
    dropped = stage.propose(case, amount="3.00")
    withdraw(intent=dropped, by=AGENT, at=stage.now())
    stage.work(stage.propose(case))
    stage.resolve(case)
    assert withdraw(intent=dropped, by=PERSON, at=stage.now()).state == "withdrawn"
    case.ticket.refresh_from_db()
    assert (case.ticket.status, case.ticket.resolver) == ("resolved", "ai")


def test_what_has_ended_is_due_no_more_whoever_planned_its_next_step(stage: Stage) -> None:
    intent = stage.work(stage.propose(stage.case()))
    Intent.objects.filter(pk=intent.pk).update(due_at=stage.now())
    intent = stage.work(intent)
    assert (intent.state, intent.due_at) == ("confirmed", None)


def test_closing_locks_every_order_before_any_intent(stage: Stage) -> None:
    """Two tickets about the same two orders, closed at once, must not wait for each other."""
    case, other = stage.case(), stage.case()
    for about in (other, case):
        stage.propose(Case(order=about.order, ticket=case.ticket, request=case.request))
    with CaptureQueriesContext(database) as asked:
        close_unresolved(ticket=case.ticket, reason=CloseReason.SPAM, by=AGENT, at=stage.now())
    locks = [query["sql"] for query in asked if "FOR NO KEY UPDATE" in query["sql"]]
    first_intent = next(n for n, sql in enumerate(locks) if 'OF "actions_intent"' in sql)
    (before,) = [sql for sql in locks[:first_intent] if sql.count('FROM "actions_target"')][:1]
    assert "IN (" in before
    assert 'ORDER BY "actions_target"."id" ASC' in before


def test_a_store_that_asks_us_to_wait_for_long_puts_the_intent_before_a_person(
    stage: Stage,
) -> None:
    stage.shop.fault(
        FaultKind.TOO_MANY_REQUESTS, operation="refundCreate", retry_after_seconds=3600
    )
    intent = stage.work(stage.propose(stage.case()))
    assert (intent.state, intent.needs_human_reason) == ("authorized", "not_sent_too_long")
    intent = stage.settle(intent)
    assert (intent.state, intent.needs_human_reason) == ("confirmed", "")


def test_an_intent_whose_every_step_fails_stands_before_a_person(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    intent = stage.propose(stage.case())

    def broken(_adapter: ShopifyAdapter, *, order: str, basis: RefundBasis | None) -> None:
        raise ZeroDivisionError(order)

    monkeypatch.setattr(ShopifyAdapter, "read_order", broken)
    with pytest.raises(ZeroDivisionError):
        advance(intent.pk)
    assert fresh(intent).needs_human_since is None
    stage.pass_time(timedelta(minutes=16))
    with pytest.raises(ZeroDivisionError):
        advance(intent.pk)
    intent = fresh(intent)
    assert (intent.state, intent.needs_human_reason) == ("proposed", "held_too_long")
    monkeypatch.undo()
    intent = stage.settle(intent)
    assert (intent.state, intent.needs_human_reason) == ("confirmed", "")


def test_an_app_that_changed_between_opening_the_store_and_the_claim_sends_nothing(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is sent with one app's token is never recorded as another app's."""
    intent = stage.propose(stage.case())
    stage.shop.fault(FaultKind.THROTTLED, operation="refundCreate")
    intent = stage.work(intent)
    honest = ShopifyAdapter.__init__

    def reconnect(adapter: ShopifyAdapter, *given: object, **named: object) -> None:
        honest(adapter, *given, **named)  # type: ignore[arg-type]  # as given
        Connection.objects.filter(pk=stage.connection.pk).update(app="gid://shopify/App/99")

    monkeypatch.setattr(ShopifyAdapter, "__init__", reconnect)
    intent = stage.work(intent)
    assert intent.state == "authorized"
    assert intent.attempts.count() == 1


def test_another_version_that_answers_a_read_in_doubt_stops_the_resend(stage: Stage) -> None:
    stage.shop.fault(FaultKind.LOST_BEFORE, operation="refundCreate")
    intent = stage.work(stage.propose(stage.case()))
    assert intent.state == "unknown"
    stage.shop.serve_version("2026-07")
    stage.pass_time(timedelta(minutes=13))
    intent = stage.work(intent)
    assert (intent.state, intent.attempts.count()) == ("unknown", 1)
    assert Connection.objects.get(pk=stage.connection.pk).blocked_by == "api_version"
