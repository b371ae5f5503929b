"""What counts of an intent: what stands of it, or may still come to stand.

Promises: exact sums, by the store's own words, however late they come; what comes off makes room
for whom the limits hold; nothing is refused over what may yet come off.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from threading import Barrier, BrokenBarrierError
from typing import Any

import pytest

from actions import counters
from actions.counters import standing_of
from actions.echoes import newest_parts
from actions.gate import judge_in_worker
from actions.models import Counter, Intent
from actions.policies import current_policy, put_policy
from actions.policy import parse_policy
from actions.services import withdraw
from integrations.clock import now
from integrations.models import Connection
from integrations.money import Money, parse_money
from integrations.ports import Part, Standing
from integrations.sandbox.faults import FaultKind
from integrations.sandbox.records import Payment
from tests.actions.counted import recount, standing
from tests.actions.test_accepting import take
from tests.actions.test_limits import buyer, refunded, sentence, used
from tests.faults.threads import at_once
from tests.stage import AGENT, PERSON, TEAM, Case, Stage, connect, fresh

pytestmark = pytest.mark.django_db(transaction=True)

NOTHING = [(Decimal(0), 0)]


@pytest.fixture(autouse=True)
def _counters_are_a_recount(stage: Stage) -> Iterator[None]:
    """Whatever a test does: counters are what a recount of the intents gives."""
    yield
    assert standing() == recount()


# --- What stands ----------------------------------------------------------------------------------


def in_two_parts(stage: Stage, *, second: str = "SUCCESS", **order: object) -> tuple[Case, Intent]:
    """Refund 80.00 over two payments, of which the second answers for the last 30.00."""
    stage.shop.gateway("second", answers=second)
    payments = [Payment(amount="50.00", gateway="first"), Payment(amount="50.00", gateway="second")]
    case = stage.case(amount="80.00", total="100.00", payments=payments, **order)  # type: ignore[arg-type]  # the sandbox checks its own words
    return case, stage.work(stage.propose(case, amount="80.00"))


def second_part(intent: Intent) -> str:
    """Return the identifier of what the second payment gave back."""
    return newest_parts(intent)[1].identifier


def say(stage: Stage, intent: Intent, status: str, *, transaction: str | None = None) -> None:
    """Let the store say something else of an intent's refund, and read it."""
    refund = intent.external_objects.get().identifier
    named = {} if transaction is None else {"transaction": transaction}
    stage.shop.settle_refund(refund, status, **named)
    stage.read(intent)


def test_what_was_accepted_counts_as_much_as_stands_and_the_rest_fits_beside_it(
    stage: Stage,
) -> None:
    stage.policy(cap="80.00", per_order="80.00")
    case, intent = in_two_parts(stage, second="FAILURE")
    assert (intent.state, used("order")) == ("partially_confirmed", [(Decimal("80.0000"), 1)])
    accepted = take(intent)
    assert (accepted.state, used("order")) == ("accepted", [(Decimal("50.0000"), 1)])
    stage.shop.gateway("second", answers="SUCCESS")
    rest = stage.work(stage.propose(case, amount="30.00", by=PERSON, remainder_of=accepted))
    while rest.state == "held":
        rest = stage.clear(rest)
    assert (rest.state, used("order")) == ("confirmed", [(Decimal("80.0000"), 2)])


def test_more_than_was_asked_counts_in_full_once_it_is_accepted(stage: Stage) -> None:
    stage.policy(cap="50.00", per_day="60.00")
    stage.shop.fault(FaultKind.WRONG_AMOUNT, operation="refundCreate", amount="50.00", times=1)
    intent = stage.work(stage.propose(stage.case(total="200.00")))
    assert used("day") == [(Decimal("12.5000"), 1)]
    take(intent, amount=parse_money("50.00", "EUR"))
    assert used("day") == [(Decimal("50.0000"), 1)]
    held = stage.work(stage.propose(stage.case()))
    assert (held.state, held.state_reason) == ("held", "counter")


def test_what_is_freed_when_a_part_is_accepted_or_taken_back_wakes_who_waits_for_it(
    stage: Stage,
) -> None:
    stage.policy(cap="80.00", per_day="80.00")
    _, intent = in_two_parts(stage, second="FAILURE")
    first = stage.work(stage.propose(stage.case(), amount="25.00"))
    second = stage.work(stage.propose(stage.case(total="100.00"), amount="60.00"))
    assert {first.state_reason, second.state_reason} == {"counter"}
    accepted = take(intent)
    assert stage.work_due() == [first.pk, second.pk]
    assert [fresh(one).state for one in (first, second)] == ["confirmed", "held"]
    say(stage, accepted, "FAILURE", transaction=newest_parts(accepted)[0].identifier)
    assert (fresh(accepted).state, used("day")) == ("reversed", [(Decimal("25.0000"), 1)])
    assert second.pk in stage.work_due()
    assert (fresh(second).state, fresh(second).state_reason) == ("held", "counter")
    stage.policy(cap="80.00", per_day="85.00")
    assert stage.settle(second).state == "confirmed"


def test_a_reversed_intent_counts_what_stands_of_it_and_what_comes_to_stand_again(
    stage: Stage,
) -> None:
    _, intent = in_two_parts(stage)
    part = second_part(intent)
    assert used("day") == [(Decimal("80.0000"), 1)]
    for status, amount in (("FAILURE", 50), ("SUCCESS", 80), ("FAILURE", 50), ("PENDING", 80)):
        say(stage, intent, status, transaction=part)
        assert (fresh(intent).state, used("day")) == ("reversed", [(Decimal(amount), 1)])


def test_a_failed_part_that_a_merchant_retries_counts_while_it_is_under_way(stage: Stage) -> None:
    _, intent = in_two_parts(stage, second="FAILURE")
    accepted = take(intent)
    for status, amount in (("PENDING", 80), ("FAILURE", 50), ("SUCCESS", 80)):
        say(stage, accepted, status, transaction=second_part(accepted))
        assert (fresh(accepted).state, used("day")) == ("accepted", [(Decimal(amount), 1)])


def test_a_success_after_failure_counts_even_over_the_limit_and_on_the_day_on_which_it_shows(
    stage: Stage,
) -> None:
    stage.policy(cap="12.50", per_day="12.50")
    stage.shop.gateway("manual", answers="FAILURE")
    case = buyer(stage, "ann")
    failed = stage.work(stage.propose(case))
    assert (failed.state, failed.counted_on, used("day")) == ("failed", None, NOTHING)
    stage.shop.gateway("manual", answers="SUCCESS")
    stage.pass_time(timedelta(days=1))
    today = now().date()
    assert stage.work(stage.propose(buyer(stage, "ann"))).state == "confirmed"
    say(stage, failed, "SUCCESS")
    late = fresh(failed)
    assert (late.state, late.needs_human_reason, late.counted_on) == (
        "failed",
        "late_success",
        today,
    )
    assert used("day", on=today) == used("customer", on=today) == [(Decimal("25.0000"), 2)]
    say(stage, failed, "FAILURE")
    assert (fresh(failed).counted_on, used("day", on=today)) == (None, [(Decimal("12.5000"), 1)])


def test_what_was_proven_absent_and_appears_after_all_counts_from_then_on(stage: Stage) -> None:
    stage.shop.keys(remember=False)
    stage.sandbox.break_lateness_bound()
    stage.shop.fault(FaultKind.LATE, operation="refundCreate", delay=timedelta(hours=1))
    intent = stage.work(stage.propose(stage.case()))
    withdraw(intent=intent, by=PERSON, at=now())
    intent = stage.settle(intent)
    assert (intent.state_reason, used("day")) == ("absent", NOTHING)
    stage.pass_time(timedelta(hours=1))
    stage.read(intent)
    assert (fresh(intent).state, used("day")) == ("failed", [(Decimal("12.5000"), 1)])


def test_what_failed_leaves_its_order_free_for_what_replaces_it(stage: Stage) -> None:
    stage.policy(cap="20.00", per_order="20.00", counts={"per_order": 1})
    stage.shop.gateway("manual", answers="FAILURE")
    case = stage.case(total="200.00")
    failed = stage.work(stage.propose(case))
    stage.shop.gateway("manual", answers="SUCCESS")
    again = stage.work(stage.propose(case, by=PERSON, repeat_of=failed))
    while again.state == "held":
        again = stage.clear(again)
    assert (again.state, used("order")) == ("confirmed", [(Decimal("12.5000"), 1)])


@pytest.mark.parametrize(
    ("stands", "shop", "worth"),
    [
        ("40.00 USD", "36.01 EUR", "36.01"),
        ("40.00 EUR", None, "40.00"),
        ("40.00 USD", None, "36.00"),
        ("40.01 USD", None, "36.01"),
        ("40.00 USD", "50.00 GBP", "36.00"),
        ("40.00 GBP", None, "72.00"),
    ],
)
def test_what_stands_counts_as_the_store_reckons_it_else_in_proportion_rounded_up(
    stage: Stage, stands: str, shop: str | None, worth: str
) -> None:
    case = stage.case(currency="USD", rate="0.9", total="100.00")
    intent = stage.work(stage.propose(case, amount="80.00"))
    assert (intent.state, used("day")) == ("confirmed", [(Decimal("72.0000"), 1)])
    part = Part(
        identifier="gid://shopify/OrderTransaction/1",
        status="SUCCESS",
        standing=Standing.SUCCEEDED,
        money=parse_money(*stands.split()),
        gateway="first",
        parent=None,
        shop=None if shop is None else parse_money(*shop.split()),
    )
    failed = replace(part, standing=Standing.FAILED)
    assert standing_of(intent, [part, failed]) == parse_money(worth, "EUR")
    assert standing_of(intent, [failed]) == Money.zero("EUR")


# --- An order's limit, beside what is not settled ------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (
            {"cap": "20.00", "per_order": "20.00"},
            (
                "12.50 EUR on this order + 12.00 EUR asked > 20.00 EUR an order; "
                "12.50 EUR of that is not settled yet."
            ),
        ),
        (
            {"counts": {"per_order": 1}},
            "1 of this kind on this order + 1 asked > 1 an order; 1 of that is not settled yet.",
        ),
    ],
)
def test_what_passes_an_orders_limit_only_beside_what_is_unsettled_waits_for_that(
    stage: Stage, policy: dict[str, Any], said: str
) -> None:
    stage.policy(**policy)
    case = stage.case(total="200.00")
    first = stage.propose(case)
    assert judge_in_worker(first.pk)
    waits = stage.propose(case, amount="12.00")
    assert (waits.state, waits.state_reason, sentence(waits)) == ("held", "counter", said)
    withdraw(intent=first, by=AGENT, at=now())
    assert stage.work_due() == [waits.pk]
    assert fresh(waits).state == "confirmed"
    over = stage.work(stage.propose(case, amount="12.25"))
    assert (over.state, over.state_reason) == ("refused", "over_order_limit")


def test_what_waited_for_an_order_is_refused_once_what_it_waited_for_stands(stage: Stage) -> None:
    stage.policy(cap="20.00", per_order="20.00")
    case = stage.case(total="200.00")
    first = stage.propose(case)
    assert judge_in_worker(first.pk)
    waits = stage.work(stage.propose(case, amount="12.00"))
    assert (waits.state, waits.state_reason) == ("held", "counter")
    assert stage.settle(first).state == "confirmed"
    waits = stage.settle(waits)
    assert (waits.state, waits.state_reason) == ("refused", "over_order_limit")
    assert refunded(stage) == [Decimal("12.50")]


# --- Over currencies ------------------------------------------------------------------------------


def in_dollars(stage: Stage) -> Stage:
    """Connect a second store to the workspace, which is in dollars."""
    shop = stage.sandbox.shop("usd.myshopify.com", currency="USD")
    elsewhere = Stage(stage.sandbox, name=shop.name, account="gid://shopify/Shop/its-own")
    connection = connect(stage.workspace, shop)
    Connection.objects.filter(pk=connection.pk).update(currency="USD")
    connection.refresh_from_db()
    elsewhere.workspace, elsewhere.connection = stage.workspace, connection
    return elsewhere


def both_currencies(stage: Stage, elsewhere: Stage, **given: Any) -> tuple[Intent, Intent]:
    """Propose a refund in euro and one in dollars, under one policy with limits in both."""
    stage.policy(**given)
    document = current_policy(stage.workspace).policy.as_record()
    limits = document["kinds"]["refund"]["limits"]  # type: ignore[index]  # JSON
    limits["USD"] = limits["EUR"]
    put_policy(stage.workspace, parse_policy(document), author=TEAM)
    return stage.propose(stage.case()), elsewhere.propose(elsewhere.case(currency="USD"))


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        ({"counts": {"per_day": 1}}, "counter"),
        ({"velocity": {"count": 1, "minutes": 10}}, "velocity"),
    ],
)
def test_a_number_and_a_speed_are_of_the_workspace_whatever_the_currency(
    stage: Stage, policy: dict[str, Any], reason: str
) -> None:
    euro, dollars = both_currencies(stage, in_dollars(stage), **policy)
    assert stage.work(euro).state == "confirmed"
    held = stage.work(dollars)
    assert (held.state, held.state_reason) == ("held", reason)


def test_amounts_are_of_their_currency(stage: Stage) -> None:
    euro, dollars = both_currencies(stage, in_dollars(stage), cap="20.00", per_day="20.00")
    assert [stage.work(one).state for one in (euro, dollars)] == ["confirmed", "confirmed"]
    rows = Counter.objects.filter(name="refund.day").order_by("currency")
    assert [(row.currency, row.used, row.count) for row in rows] == [
        ("", Decimal(0), 2),
        ("EUR", Decimal("12.5000"), 0),
        ("USD", Decimal("12.5000"), 0),
    ]


def test_of_two_currencies_at_once_one_goes_through_where_a_speed_allows_one(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have looked how many went lately before either goes on, unless one must wait."""
    elsewhere = in_dollars(stage)
    first = both_currencies(stage, elsewhere, velocity={"count": 3, "minutes": 60})
    assert {stage.work(one).state for one in first} == {"confirmed"}
    intents = stage.propose(stage.case()), elsewhere.propose(elsewhere.case(currency="USD"))
    both_have_looked, look = Barrier(2), counters._authorized_since

    def slowly(intent: Intent, since: datetime) -> int:
        seen = look(intent, since)
        with suppress(BrokenBarrierError):
            both_have_looked.wait(0.5)
        return seen

    monkeypatch.setattr(counters, "_authorized_since", slowly)
    said = at_once(*[partial(judge_in_worker, one.pk) for one in intents])
    assert said.count(True) == 1
    assert {fresh(one).state_reason for one in intents} == {"", "velocity"}
