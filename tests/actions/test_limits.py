"""Limits over a real store: what passes one is stopped, and what did not leave is given back.

Promises: exact sums, in the shop's currency; after each fate the counters say what a recount of the
intents says.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from actions.boundaries import Boundary
from actions.models import Counter, Intent
from actions.services import withdraw
from integrations.clock import now
from integrations.models import Connection, Workspace
from integrations.money import parse_money
from integrations.sandbox.faults import FaultKind
from tests.actions import counted
from tests.actions.counted import recount, standing
from tests.faults.threads import at_once
from tests.stage import AGENT, PERSON, Case, Stage, fresh
from tickets.models import Ticket
from tickets.services import CustomerStatement

pytestmark = pytest.mark.django_db(transaction=True)

BERLIN = "Europe/Berlin"
MINUTE, SECOND = timedelta(minutes=1), timedelta(seconds=1)


@pytest.fixture(autouse=True)
def _counters_are_a_recount(stage: Stage) -> Iterator[None]:
    """Whatever a test does: counters are what a recount of the intents gives."""
    yield
    assert standing() == recount()


def buyer(stage: Stage, name: str, **order: object) -> Case:
    """Place an order of a customer by name, of 200.00 EUR."""
    given = {"total": "200.00", **order}
    return stage.case(email=f"{name}@example.com", customer=name, **given)  # type: ignore[arg-type]  # the sandbox checks its own words


def another(stage: Stage, first: Case, where: str) -> Case:
    """Return a second case, on the first one's order, by its customer, or with neither."""
    if where == "same order":
        return stage.another_ticket(first)
    return buyer(stage, "ann" if where == "same customer" else "bob")


def sentence(intent: Intent) -> str:
    """Return what the gate says of an intent's limits."""
    (newest,) = [
        verdict
        for verdict in intent.decisions.order_by("-number")[0].verdicts
        if verdict["check"] == "within_limits"
    ]
    return str(newest["sentence"])


def refunded(stage: Stage) -> list[Decimal]:
    """Return what the store has given back, in order."""
    return [effect.amount for effect in stage.shop.effects()]


def move_to_zone(workspace: Workspace, zone: str) -> None:
    """Let the brand live in another time zone."""
    Workspace.objects.filter(pk=workspace.pk).update(time_zone=zone)


def pass_time_until(stage: Stage, moment: datetime) -> None:
    """Let time pass until a moment."""
    stage.pass_time(moment - now())


def tomorrow_in(zone: str, *, hour: int, minute: int) -> datetime:
    """Return a time of tomorrow's day, where the brand is."""
    there = ZoneInfo(zone)
    day = now().astimezone(there).date() + timedelta(days=1)
    return datetime.combine(day, time(hour, minute), tzinfo=there)


def used(kind: str, *, on: date | None = None) -> list[tuple[Decimal, int]]:
    """Return what the counters of refunds of one name say."""
    return counted.used(f"refund.{kind}", on=on)


# --- Each limit ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "second", "state", "reason", "said"),
    [
        (
            {"cap": "24.99"},
            "elsewhere",
            "refused",
            "over_cap",
            "25.00 EUR asked > 24.99 EUR allowed for one action.",
        ),
        (
            {"cap": "50.00", "per_order": "54.99"},
            "same order",
            "refused",
            "over_order_limit",
            "30.00 EUR on this order + 25.00 EUR asked > 54.99 EUR an order.",
        ),
        (
            {"counts": {"per_order": 1}},
            "same order",
            "refused",
            "over_order_limit",
            "1 of this kind on this order + 1 asked > 1 an order.",
        ),
        (
            {"cap": "50.00", "per_customer_day": "54.99"},
            "same customer",
            "held",
            "counter",
            "30.00 EUR for this customer today + 25.00 EUR asked > 54.99 EUR a customer and day.",
        ),
        (
            {"counts": {"per_customer_day": 1}},
            "same customer",
            "held",
            "counter",
            "1 of this kind for this customer today + 1 asked > 1 a customer and day.",
        ),
        (
            {"cap": "50.00", "per_day": "54.99"},
            "elsewhere",
            "held",
            "counter",
            "30.00 EUR today + 25.00 EUR asked > 54.99 EUR a day.",
        ),
        (
            {"counts": {"per_day": 1}},
            "elsewhere",
            "held",
            "counter",
            "1 of this kind today + 1 asked > 1 a day.",
        ),
        (
            {"velocity": {"count": 1, "minutes": 10}},
            "elsewhere",
            "held",
            "velocity",
            "1 of this kind in the last 10 min + 1 asked > 1 in 10 min.",
        ),
    ],
)
def test_what_passes_a_limit_is_stopped_with_its_arithmetic(
    stage: Stage, policy: dict[str, Any], second: str, state: str, reason: str, said: str
) -> None:
    first = buyer(stage, "ann")
    assert stage.work(stage.propose(first, amount="30.00")).state == "confirmed"
    stage.policy(**policy)
    intent = stage.work(stage.propose(another(stage, first, second), amount="25.00"))
    assert (intent.state, intent.state_reason) == (state, reason)
    assert sentence(intent) == said
    assert refunded(stage) == [Decimal("30.00")]


@pytest.mark.parametrize(
    ("policy", "second"),
    [
        ({"cap": "50.00", "per_order": "55.00"}, "same order"),
        ({"counts": {"per_order": 2}}, "same order"),
        ({"cap": "30.00", "per_order": "30.00"}, "same customer"),
        ({"cap": "50.00", "per_customer_day": "55.00"}, "same customer"),
        ({"cap": "50.00", "per_customer_day": "50.00"}, "elsewhere"),
        ({"counts": {"per_customer_day": 1}}, "elsewhere"),
        ({"cap": "50.00", "per_day": "55.00"}, "elsewhere"),
        ({"counts": {"per_day": 2}}, "elsewhere"),
        ({"velocity": {"count": 2, "minutes": 10}}, "elsewhere"),
    ],
)
def test_what_just_fits_goes_through(stage: Stage, policy: dict[str, Any], second: str) -> None:
    stage.policy(**policy)
    first = buyer(stage, "ann")
    assert stage.work(stage.propose(first, amount="30.00")).state == "confirmed"
    intent = stage.work(stage.propose(another(stage, first, second), amount="25.00"))
    assert intent.state == "confirmed"
    assert refunded(stage) == [Decimal("30.00"), Decimal("25.00")]


@pytest.mark.parametrize(("age_days", "state"), [(30, "confirmed"), (31, "refused")])
def test_an_order_is_refunded_up_to_the_age_that_the_brand_sets(
    stage: Stage, age_days: int, state: str
) -> None:
    stage.policy(order_age_max_days=30)
    created_at = stage.now() - timedelta(days=age_days)
    intent = stage.work(stage.propose(stage.case(created_at=created_at)))
    assert intent.state == state
    if state == "refused":
        assert sentence(intent) == "The order is 31 days old > 30 days allowed."
        assert stage.shop.effects() == ()


def test_a_limit_that_is_set_at_noon_knows_of_the_morning(stage: Stage) -> None:
    stage.policy()
    stage.work(stage.propose(buyer(stage, "ann"), amount="30.00"))
    stage.policy(cap="40.00", per_day="40.00")
    intent = stage.work(stage.propose(buyer(stage, "bob"), amount="20.00"))
    assert (intent.state, intent.state_reason) == ("held", "counter")


def test_refunds_and_store_credits_have_limits_of_their_own(stage: Stage) -> None:
    Connection.objects.filter(pk=stage.connection.pk).update(
        scopes=[*stage.connection.scopes, "read_customers"]
    )
    stage.connection.refresh_from_db()
    stage.policy(cap="30.00", per_day="30.00")
    stage.policy(kind="store_credit", cap="30.00", per_day="30.00")
    stage.work(stage.propose(buyer(stage, "ann"), amount="30.00"))
    credit = stage.propose(buyer(stage, "bob"), amount="30.00", kind="store_credit")
    assert stage.work(credit).state == "confirmed"
    assert [counted.used(f"{kind}.day") for kind in ("refund", "store_credit")] == [
        [(Decimal("30.0000"), 1)],
        [(Decimal("30.0000"), 1)],
    ]


# --- Whose limit it is --------------------------------------------------------------------------


@pytest.mark.parametrize("read_customers", [True, False])
@pytest.mark.parametrize("named_by", ["store", "email"])
def test_a_customers_limit_holds_over_all_tickets_that_they_write(
    stage: Stage, named_by: str, read_customers: bool
) -> None:
    """Each ticket has a customer's row of its own: that must make no limit of its own."""
    if read_customers:
        scopes = [*stage.connection.scopes, "read_customers"]
        Connection.objects.filter(pk=stage.connection.pk).update(scopes=scopes)
        stage.connection.refresh_from_db()
    stage.policy(counts={"per_customer_day": 1})
    first = buyer(stage, "ann")
    statement = {
        "store": CustomerStatement(store_identifier=first.order.customer or "", verified=True),
        "email": CustomerStatement(email="Ann@example.com", verified=True),
    }[named_by]
    second = buyer(stage, "ann", customer_statement=statement)
    assert first.ticket.customer_id != second.ticket.customer_id
    assert stage.work(stage.propose(first)).state == "confirmed"
    held = stage.work(stage.propose(second))
    assert (held.state, held.state_reason) == ("held", "counter")
    assert refunded(stage) == [Decimal("12.50")]


def test_no_counter_says_who_the_customer_is(stage: Stage) -> None:
    intent = stage.work(stage.propose(buyer(stage, "ann")))
    customer = intent.ticket.customer
    assert customer is not None
    said = " ".join(Counter.objects.values_list("subject", flat=True)) + intent.counted_for
    assert "ann" not in said
    assert customer.store_identifier.rpartition("/")[2] not in said


def test_it_is_given_back_to_whom_it_was_taken_from_though_the_ticket_has_another_customer(
    stage: Stage,
) -> None:
    stage.shop.fault(FaultKind.THROTTLED, operation="refundCreate")
    case, other = buyer(stage, "ann"), buyer(stage, "bob")
    intent = stage.work(stage.propose(case))
    Ticket.objects.filter(pk=case.ticket.pk).update(customer=other.ticket.customer)
    withdraw(intent=fresh(intent), by=PERSON, at=now())
    assert used("customer") == [(Decimal(0), 0)]


# --- Taken once, given back once ----------------------------------------------------------------


def test_it_is_taken_with_the_authorization_and_not_before(stage: Stage) -> None:
    intent = stage.propose(stage.case())
    assert used("day") == []
    assert (intent.counted_on, intent.counted_at) == (None, None)
    intent = stage.work(intent)
    assert used("day") == used("customer") == used("order") == [(Decimal("12.5000"), 1)]
    assert intent.counted_on == now().date()


def test_what_is_judged_again_several_times_unsent_is_counted_once(stage: Stage) -> None:
    stage.policy(cap="12.50", per_order="12.50", per_customer_day="12.50", per_day="12.50")
    stage.shop.fault(FaultKind.THROTTLED, operation="refundCreate", times=4)
    intent = stage.work(stage.propose(stage.case()))
    for _ in range(3):
        stage.pass_time(61 * SECOND)
        intent = stage.work(intent)
        assert intent.state == "authorized"
        assert used("day") == used("customer") == used("order") == [(Decimal("12.5000"), 1)]
    assert intent.events.filter(name="gated_again").count() == 3
    assert stage.settle(intent).state == "confirmed"
    assert used("day") == [(Decimal("12.5000"), 1)]
    assert refunded(stage) == [Decimal("12.50")]


def test_what_was_withdrawn_unsent_is_given_back_once(stage: Stage) -> None:
    stage.shop.fault(FaultKind.THROTTLED, operation="refundCreate")
    intent = stage.work(stage.propose(stage.case()))
    assert used("day") == [(Decimal("12.5000"), 1)]
    for _ in range(2):
        withdraw(intent=intent, by=PERSON, at=now())
    assert used("day") == used("customer") == used("order") == [(Decimal(0), 0)]
    assert stage.shop.effects() == ()


def test_what_is_held_or_refused_when_judged_again_is_given_back(stage: Stage) -> None:
    stage.shop.fault(FaultKind.THROTTLED, operation="refundCreate", times=2)
    held, case = stage.work(stage.propose(stage.case())), stage.case()
    refused = stage.work(stage.propose(case))
    assert used("day") == [(Decimal("25.0000"), 2)]
    stage.shop.refund_by_staff(case.order.id, amount="99.00")
    stage.pass_time(61 * SECOND)
    assert stage.work(refused).state_reason == "over_remainder"
    assert used("day") == [(Decimal("12.5000"), 1)]
    stage.pause()
    assert stage.work(held).state_reason == "paused"
    assert used("day") == [(Decimal(0), 0)]
    stage.resume()
    assert stage.work(held).state == "confirmed"
    assert used("day") == [(Decimal("12.5000"), 1)]


def test_what_the_store_rejected_is_given_back(stage: Stage) -> None:
    case = stage.case(total="100.00")
    intent = stage.propose(case, amount="100.00")
    staff = {"order": case.order.id, "amount": "0.01"}
    with stage.at(Boundary.GATED, lambda: stage.shop.refund_by_staff(**staff)):
        intent = stage.work(intent)
    assert (intent.state, intent.state_reason) == ("failed", "rejected")
    assert used("day") == used("order") == [(Decimal(0), 0)]


def test_what_is_proven_absent_is_given_back_and_not_before_it_is_proven(stage: Stage) -> None:
    stage.shop.fault(FaultKind.LOST_BEFORE, operation="refundCreate")
    intent = stage.work(stage.propose(stage.case()))
    withdraw(intent=intent, by=PERSON, at=now())
    assert (fresh(intent).state, used("day")) == ("unknown", [(Decimal("12.5000"), 1)])
    intent = stage.settle(intent)
    assert (intent.state, intent.state_reason) == ("failed", "absent")
    assert used("day") == [(Decimal(0), 0)]


@pytest.mark.parametrize(
    ("answers", "state", "counts"),
    [
        ("FAILURE", "failed", [(Decimal(0), 0)]),
        ("PENDING", "pending", [(Decimal("12.5000"), 1)]),
        ("SUCCESS", "confirmed", [(Decimal("12.5000"), 1)]),
    ],
)
def test_what_stands_or_may_yet_is_counted_and_what_failed_is_not(
    stage: Stage, answers: str, state: str, counts: list[tuple[Decimal, int]]
) -> None:
    stage.shop.gateway("manual", answers=answers)
    assert stage.work(stage.propose(stage.case())).state == state
    assert used("day") == used("customer") == used("order") == counts


def test_a_refund_that_bounces_is_given_back(stage: Stage) -> None:
    intent = stage.work(stage.propose(stage.case()))
    stage.shop.settle_refund(intent.external_objects.get().identifier, "FAILURE")
    stage.read(intent)
    assert (fresh(intent).state, used("day")) == ("reversed", [(Decimal(0), 0)])


# --- The brand's day ----------------------------------------------------------------------------


def test_a_day_ends_at_midnight_where_the_brand_is(stage: Stage) -> None:
    move_to_zone(stage.workspace, BERLIN)
    stage.policy(cap="20.00", per_day="20.00", per_customer_day="20.00")
    pass_time_until(stage, tomorrow_in(BERLIN, hour=23, minute=59))
    late = now().astimezone(ZoneInfo(BERLIN)).date()
    assert stage.work(stage.propose(buyer(stage, "ann"), amount="15.00")).state == "confirmed"
    held = stage.work(stage.propose(buyer(stage, "ann"), amount="10.00"))
    assert (held.state, held.state_reason) == ("held", "counter")
    stage.pass_time(2 * MINUTE)
    assert now().astimezone(ZoneInfo(BERLIN)).date() == late + timedelta(days=1)
    assert now().date() == late
    new = stage.work(stage.propose(buyer(stage, "ann"), amount="11.00"))
    assert (new.state, new.counted_on) == ("confirmed", late + timedelta(days=1))
    assert used("day", on=late) == [(Decimal("15.0000"), 1)]
    assert used("day", on=late + timedelta(days=1)) == [(Decimal("11.0000"), 1)]


def test_what_the_day_has_held_goes_on_by_itself_after_midnight(stage: Stage) -> None:
    move_to_zone(stage.workspace, BERLIN)
    stage.policy(cap="20.00", per_day="20.00")
    pass_time_until(stage, tomorrow_in(BERLIN, hour=9, minute=0))
    stage.work(stage.propose(buyer(stage, "ann"), amount="15.00"))
    held = stage.work(stage.propose(buyer(stage, "bob"), amount="10.00"))
    midnight = tomorrow_in(BERLIN, hour=0, minute=0)
    while held.due_at is not None and held.due_at < midnight:
        assert (held.state, held.state_reason) == ("held", "counter")
        pass_time_until(stage, held.due_at)
        held = stage.work(held)
    held = stage.settle(held)
    assert (held.state, held.needs_human_reason) == ("confirmed", "")
    assert held.confirmed_at is not None
    assert held.confirmed_at < midnight + 20 * MINUTE
    assert refunded(stage) == [Decimal("15.00"), Decimal("10.00")]


def next_change(zone: str) -> date:
    """Return the next day on which clocks change, at least two days ahead."""
    there = ZoneInfo(zone)
    day = now().astimezone(there).date() + timedelta(days=2)

    def offset(on: date) -> timedelta | None:
        return datetime.combine(on, time(), tzinfo=there).utcoffset()

    while offset(day) == offset(day + timedelta(days=1)):
        day += timedelta(days=1)
    return day


def test_a_day_on_which_clocks_change_is_one_day(stage: Stage) -> None:
    move_to_zone(stage.workspace, BERLIN)
    stage.policy(cap="20.00", counts={"per_day": 2})
    change, there = next_change(BERLIN), ZoneInfo(BERLIN)
    first, last = (datetime.combine(change, at, tzinfo=there) for at in (time(0, 1), time(23, 58)))
    for moment, count in ((first, 1), (last, 2)):
        pass_time_until(stage, moment)
        intent = stage.work(stage.propose(buyer(stage, "ann")))
        assert (intent.state, intent.counted_on) == ("confirmed", change)
        assert used("day", on=change)[0][1] == count
    assert stage.work(stage.propose(buyer(stage, "ann"))).state_reason == "counter"
    stage.pass_time(3 * MINUTE)
    intent = stage.work(stage.propose(buyer(stage, "ann")))
    assert (intent.state, intent.counted_on) == ("confirmed", change + timedelta(days=1))


def test_what_is_judged_again_unsent_after_midnight_moves_to_the_new_day_under_one_lock(
    stage: Stage,
) -> None:
    """With the old day locked alone, it would wait for whoever locks both, the new one first."""
    move_to_zone(stage.workspace, BERLIN)
    pass_time_until(stage, tomorrow_in(BERLIN, hour=23, minute=59))
    old = now().astimezone(ZoneInfo(BERLIN)).date()
    stage.shop.fault(FaultKind.THROTTLED, operation="refundCreate")
    intent = stage.work(stage.propose(stage.case()))
    assert (intent.state, intent.counted_on) == ("authorized", old)
    stage.pass_time(2 * MINUTE)
    new = old + timedelta(days=1)
    stage.work(stage.propose(stage.case()))
    with CaptureQueriesContext(connection) as asked:
        assert stage.work(intent).counted_on == new
    locks = [
        one["sql"] for one in asked if "actions_counter" in one["sql"] and "FOR NO" in one["sql"]
    ]
    assert f"'{old}'" in locks[0]
    assert f"'{new}'" in locks[0]
    assert used("day", on=old) == [(Decimal(0), 0)]
    assert used("day", on=new) == [(Decimal("25.0000"), 2)]


def test_what_a_day_of_25_hours_has_held_goes_on_by_itself_after_it(stage: Stage) -> None:
    move_to_zone(stage.workspace, BERLIN)
    stage.policy(cap="20.00", per_day="20.00")
    day, there = next_change(BERLIN), ZoneInfo(BERLIN)
    while datetime.combine(day, time(23), tzinfo=there).utcoffset() != timedelta(hours=1):
        day += timedelta(days=1)  # the clocks go back in the autumn
    begins = datetime.combine(day, time(0, 2), tzinfo=there)
    ends = datetime.combine(day + timedelta(days=1), time(), tzinfo=there)
    assert ends.astimezone(UTC) - begins.astimezone(UTC) == timedelta(hours=24, minutes=58)
    pass_time_until(stage, begins)
    stage.work(stage.propose(buyer(stage, "ann"), amount="15.00"))
    held = stage.work(stage.propose(buyer(stage, "bob"), amount="10.00"))
    assert (held.state, held.state_reason) == ("held", "counter")
    held = stage.settle(held, steps_max=150)
    assert (held.state, held.needs_human_reason) == ("confirmed", "")
    assert held.counted_on == day + timedelta(days=1)


def test_a_zone_that_changes_in_between_gives_back_on_the_day_on_which_it_was_taken(
    stage: Stage,
) -> None:
    move_to_zone(stage.workspace, BERLIN)
    pass_time_until(stage, tomorrow_in(BERLIN, hour=0, minute=30))
    taken_on = now().astimezone(ZoneInfo(BERLIN)).date()
    stage.shop.fault(FaultKind.THROTTLED, operation="refundCreate")
    intent = stage.work(stage.propose(stage.case()))
    assert intent.counted_on == taken_on
    move_to_zone(stage.workspace, "America/New_York")
    assert now().astimezone(ZoneInfo("America/New_York")).date() == taken_on - timedelta(days=1)
    withdraw(intent=intent, by=PERSON, at=now())
    assert used("day") == [(Decimal(0), 0)]
    assert set(Counter.objects.filter(name="refund.day").values_list("day", flat=True)) == {
        taken_on
    }


# --- In the shop's currency ---------------------------------------------------------------------


def test_limits_are_held_in_the_shops_currency_and_shown_with_the_customers_beside(
    stage: Stage,
) -> None:
    stage.policy(cap="50.00", per_day="50.00")
    stage.work(stage.propose(buyer(stage, "ann"), amount="30.00"))
    case = buyer(stage, "bob", currency="USD", rate="0.9")
    held = stage.work(stage.propose(case, amount="22.23"))
    assert (held.state, held.state_reason) == ("held", "counter")
    assert sentence(held) == "30.00 EUR today + 20.01 EUR (22.23 USD) asked > 50.00 EUR a day."
    fits = stage.work(stage.propose(case, amount="22.22"))
    assert (fits.state, fits.shop_amount, fits.shop_currency) == (
        "confirmed",
        Decimal("20.0000"),
        "EUR",
    )
    assert used("day") == [(Decimal("50.0000"), 2)]


def test_an_amount_in_another_currency_is_not_judged_by_the_limits_before_the_store_is_read(
    stage: Stage,
) -> None:
    stage.policy(cap="10.00")
    intent = stage.propose(stage.case(currency="USD", rate="0.5"), amount="12.50")
    assert intent.state == "proposed"
    assert sentence(intent) == (
        "12.50 USD asked; what that is in EUR shows once the store is read."
    )
    assert stage.work(intent).state == "confirmed"


# --- What waits for room ------------------------------------------------------------------------


def _one_that_fills_the_day_and_one_that_waits(stage: Stage) -> tuple[Intent, Intent]:
    stage.policy(cap="20.00", per_day="20.00")
    stage.shop.fault(FaultKind.THROTTLED, operation="refundCreate", times=2)
    first = stage.work(stage.propose(buyer(stage, "ann"), amount="15.00"))
    waits = stage.work(stage.propose(buyer(stage, "bob"), amount="10.00"))
    assert (first.state, waits.state, waits.state_reason) == ("authorized", "held", "counter")
    assert waits.due_at is not None
    assert waits.due_at > now()
    return first, waits


def test_what_waits_goes_on_when_room_is_given_back_by_a_withdrawal(stage: Stage) -> None:
    first, waits = _one_that_fills_the_day_and_one_that_waits(stage)
    withdraw(intent=first, by=PERSON, at=now())
    assert stage.work_due() == [waits.pk]
    assert stage.settle(waits).state == "confirmed"
    assert refunded(stage) == [Decimal("10.00")]


def test_what_waits_goes_on_when_room_is_given_back_by_a_hold_or_a_refusal(stage: Stage) -> None:
    first, waits = _one_that_fills_the_day_and_one_that_waits(stage)
    stage.pass_time(61 * SECOND)
    stage.shop.refund_by_staff(first.target.identifier, amount="15.00")
    assert stage.work(first).state_reason == "equal_effect"
    due_at = fresh(waits).due_at
    assert due_at is not None
    assert due_at <= now()
    assert stage.settle(waits).state == "confirmed"


def test_what_waits_goes_on_when_the_brand_raises_the_limit(stage: Stage) -> None:
    stage.policy(cap="20.00", per_day="20.00")
    stage.work(stage.propose(buyer(stage, "ann"), amount="15.00"))
    waits = stage.work(stage.propose(buyer(stage, "bob"), amount="10.00"))
    assert (waits.state, waits.state_reason) == ("held", "counter")
    assert stage.work_due() == []
    stage.policy(cap="20.00", per_day="25.00")
    assert stage.work_due() == [waits.pk]
    assert fresh(waits).state == "confirmed"


def test_what_is_too_fast_goes_on_when_the_minutes_have_passed(stage: Stage) -> None:
    stage.policy(velocity={"count": 1, "minutes": 10})
    first = stage.work(stage.propose(buyer(stage, "ann")))
    waits = stage.work(stage.propose(buyer(stage, "bob")))
    assert (waits.state, waits.state_reason) == ("held", "velocity")
    waits = stage.settle(waits)
    assert waits.state == "confirmed"
    assert first.counted_at is not None
    assert waits.counted_at is not None
    assert waits.counted_at - first.counted_at >= 10 * MINUTE


# --- A recount ----------------------------------------------------------------------------------


def test_counters_are_what_a_recount_says_after_every_fate_at_once(stage: Stage) -> None:
    """Twelve intents of three customers, each with another fate; some at the same moment."""
    stage.shop.gateway("failing", answers="FAILURE")
    cases = [buyer(stage, name) for name in ("ann", "bob", "cid") for _ in range(3)]
    cases += [buyer(stage, "ann", gateway="failing") for _ in range(2)]
    cases += [buyer(stage, "dan", currency="USD", rate="0.9")]
    stage.shop.fault(FaultKind.THROTTLED, operation="refundCreate", times=3)
    stage.shop.fault(FaultKind.LOST_BEFORE, operation="refundCreate", times=2)
    stage.shop.fault(FaultKind.LOST_AFTER, operation="refundCreate", times=2)
    intents = [
        stage.propose(case, amount=f"{number}.10", by=AGENT)
        for number, case in enumerate(cases, start=10)
    ]
    at_once(*[lambda intent=intent: stage.work(intent) for intent in intents])
    assert standing() == recount()
    for intent in intents[::3]:
        if not fresh(intent).is_settled:
            withdraw(intent=fresh(intent), by=PERSON, at=now())
    assert standing() == recount()
    ended = {stage.settle(intent).state for intent in intents}
    assert ended <= {"confirmed", "failed", "withdrawn"}
    kept = [one for one in Intent.objects.all() if one.counted_on is not None]
    total = sum((one.shop_amount or Decimal(0) for one in kept), Decimal(0))
    # What is watched for a week lets days pass, so that the others may be counted on a later one.
    days = used("day")
    assert (sum(amount for amount, _ in days), sum(n for _, n in days)) == (total, len(kept))
    on_the_store = {one.marker for one in Intent.objects.filter(external_objects__isnull=False)}
    assert {effect.note for effect in stage.shop.effects()} == on_the_store


def test_what_it_takes_is_known_to_the_last_digit_in_yen(stage: Stage) -> None:
    stage.policy(currency="EUR", cap="50.00", per_day="50.00")
    case = buyer(stage, "ann", amount="1001", currency="JPY", rate="0.0061", total="20000")
    intent = stage.work(stage.propose(case, amount="1001"))
    assert (intent.state, intent.money) == ("confirmed", parse_money("1001", "JPY"))
    # 1001 yen are 6.1061 euro: against a limit that is rounded up.
    assert used("day") == [(Decimal("6.1100"), 1)]
