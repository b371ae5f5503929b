"""Repeats: how the newest occurrence ended says who may do it once more, and two clicks are one.

Promises: a plain proposal never makes a second one, whatever became of the first (design 5.3).
"""

from collections.abc import Callable
from functools import partial

import pytest

from actions.accepting import accept
from actions.approving import reject
from actions.boundaries import Boundary
from actions.linking import NothingToRepeat, NotRepeatable, NotTheSame, PersonRepeats, RepeatAsks
from actions.models import Intent
from actions.services import withdraw
from integrations.actors import Actor
from integrations.clock import now
from integrations.money import parse_money
from integrations.sandbox.faults import FaultKind
from integrations.sandbox.records import Payment
from tests.faults.threads import at_once
from tests.stage import AGENT, INTEGRATION, PERSON, SECOND, TEAM, Case, Stage, fresh

pytestmark = pytest.mark.django_db(transaction=True)

EVERYONE = (AGENT, INTEGRATION, PERSON, TEAM)


def reference(intent: Intent) -> str:
    """Return what stands on the store of an intent."""
    return intent.external_objects.get().identifier


# --- Each end ------------------------------------------------------------------------------------


def _confirmed(stage: Stage, case: Case) -> Intent:
    return stage.work(stage.propose(case, amount="60.00"))


def _refused(stage: Stage, case: Case) -> Intent:
    stage.policy(cap="59.99")
    return stage.work(stage.propose(case, amount="60.00"))


def _rejected_by_a_person(stage: Stage, case: Case) -> Intent:
    stage.policy(approval_above="1.00")
    intent = stage.work(stage.propose(case, amount="60.00"))
    return reject(intent=intent, word=stage.word(intent))


def _withdrawn(stage: Stage, case: Case) -> Intent:
    intent = stage.propose(case, amount="60.00")
    return withdraw(intent=intent, by=PERSON, at=now())


def _rejected_by_the_store(stage: Stage, case: Case) -> Intent:
    intent = stage.propose(case, amount="60.00")
    staff = partial(stage.shop.refund_by_staff, case.order.id, amount="50.00")
    with stage.at(Boundary.GATED, staff):
        return stage.work(intent)


def _absent(stage: Stage, case: Case) -> Intent:
    stage.shop.fault(FaultKind.LOST_BEFORE, operation="refundCreate")
    intent = stage.work(stage.propose(case, amount="60.00"))
    withdraw(intent=intent, by=PERSON, at=now())
    return stage.settle(intent)


def _money_failed(stage: Stage, case: Case) -> Intent:
    for gateway in ("first", "second"):
        stage.shop.gateway(gateway, answers="FAILURE")
    return stage.work(stage.propose(case, amount="60.00"))


def _reversed(stage: Stage, case: Case) -> Intent:
    intent = _confirmed(stage, case)
    stage.shop.settle_refund(reference(intent), "FAILURE")
    stage.read(intent)
    return fresh(intent)


def _accepted(stage: Stage, case: Case) -> Intent:
    stage.shop.gateway("second", answers="FAILURE")
    intent = stage.work(stage.propose(case, amount="60.00"))
    money = parse_money("50.00", "EUR")
    return accept(intent=intent, amount=money, reason="agreed", by=PERSON, at=now())


def _proposed(stage: Stage, case: Case) -> Intent:
    return stage.propose(case, amount="60.00")


def _held(stage: Stage, case: Case) -> Intent:
    stage.pause()
    return stage.propose(case, amount="60.00")


def _awaiting(stage: Stage, case: Case) -> Intent:
    stage.policy(approval_above="1.00")
    return stage.work(stage.propose(case, amount="60.00"))


def _authorized(stage: Stage, case: Case) -> Intent:
    stage.shop.fault(FaultKind.THROTTLED, operation="refundCreate")
    return stage.work(stage.propose(case, amount="60.00"))


def _unknown(stage: Stage, case: Case) -> Intent:
    stage.shop.fault(FaultKind.LOST_BEFORE, operation="refundCreate")
    return stage.work(stage.propose(case, amount="60.00"))


def _pending(stage: Stage, case: Case) -> Intent:
    stage.shop.gateway("first", answers="PENDING")
    return stage.work(stage.propose(case, amount="60.00"))


def _partial(stage: Stage, case: Case) -> Intent:
    stage.shop.gateway("second", answers="FAILURE")
    return stage.work(stage.propose(case, amount="60.00"))


ENDS: dict[str, tuple[Callable[[Stage, Case], Intent], tuple[str, str], str]] = {
    "refused": (_refused, ("refused", "over_cap"), "anyone"),
    "rejected by a person": (_rejected_by_a_person, ("refused", "rejected_by_person"), "anyone"),
    "withdrawn": (_withdrawn, ("withdrawn", ""), "anyone"),
    "rejected by the store": (_rejected_by_the_store, ("failed", "rejected"), "a person"),
    "absent": (_absent, ("failed", "absent"), "a person"),
    "money failed": (_money_failed, ("failed", "money_failed"), "a person"),
    "reversed": (_reversed, ("reversed", ""), "a person"),
    "confirmed": (_confirmed, ("confirmed", ""), "who names it"),
    "accepted": (_accepted, ("accepted", ""), "who names it"),
    "proposed": (_proposed, ("proposed", ""), "nobody"),
    "held": (_held, ("held", "paused"), "nobody"),
    "awaiting approval": (_awaiting, ("awaiting_approval", "over_threshold"), "nobody"),
    "authorized": (_authorized, ("authorized", ""), "nobody"),
    "unknown": (_unknown, ("unknown", ""), "nobody"),
    "pending": (_pending, ("pending", ""), "nobody"),
    "partially confirmed": (_partial, ("partially_confirmed", ""), "nobody"),
}


def may_repeat(stage: Stage, case: Case, earlier: Intent, by: Actor, acknowledges: str) -> str:
    """Try it; return what was said."""
    links = {"repeat_of": earlier, "acknowledges": acknowledges}
    try:
        repeat = stage.propose(case, amount="60.00", by=by, **links)  # type: ignore[arg-type]  # both are links
    except (NotRepeatable, PersonRepeats, RepeatAsks) as refusal:
        return type(refusal).__name__
    assert (repeat.repeat_of_id, repeat.occurrence) == (earlier.pk, earlier.occurrence + 1)
    assert (repeat.key != earlier.key, repeat.marker != earlier.marker) == (True, True)
    repeat.refresh_from_db()
    if repeat.state not in ("refused", "withdrawn"):
        withdraw(intent=repeat, by=PERSON, at=now())
    return "repeated"


@pytest.mark.parametrize("end", ENDS)
def test_how_it_ended_says_who_may_do_it_once_more(stage: Stage, end: str) -> None:
    reach, (state, reason), who = ENDS[end]
    payments = [Payment(amount="50.00", gateway="first"), Payment(amount="50.00", gateway="second")]
    case = stage.case(amount="60.00", payments=payments)
    earlier = fresh(reach(stage, case))
    assert earlier.state == state
    assert reason in ("", earlier.state_reason)
    effects, sends = stage.shop.effects(), len(stage.shop.requests(operation="refundCreate"))
    named = reference(earlier) if who == "who names it" else ""
    said = may_repeat(stage, case, earlier, AGENT, named)
    if who == "nobody":
        assert said == "NotRepeatable"
        assert may_repeat(stage, case, earlier, PERSON, named) == "NotRepeatable"
        assert Intent.objects.count() == 1
    elif who == "anyone":
        assert said == "repeated"
    else:
        assert said == "PersonRepeats"
        assert may_repeat(stage, case, earlier, INTEGRATION, named) == "PersonRepeats"
        if who == "who names it":
            for wrong in ("", "gid://shopify/Refund/1", named + "0"):
                assert may_repeat(stage, case, earlier, PERSON, wrong) == "RepeatAsks"
        assert Intent.objects.count() == 1
        assert may_repeat(stage, case, earlier, PERSON, named) == "repeated"
    assert stage.shop.effects() == effects
    assert len(stage.shop.requests(operation="refundCreate")) == sends


@pytest.mark.parametrize("end", ENDS)
def test_a_plain_proposal_is_answered_with_the_newest_whatever_became_of_it(
    stage: Stage, end: str
) -> None:
    reach, _, _ = ENDS[end]
    payments = [Payment(amount="50.00", gateway="first"), Payment(amount="50.00", gateway="second")]
    case = stage.case(amount="60.00", payments=payments)
    intent = fresh(reach(stage, case))
    for by in EVERYONE:
        assert stage.propose(case, amount="60.00", by=by).pk == intent.pk
    assert (Intent.objects.count(), fresh(intent).event_count) == (1, intent.event_count)


# --- The newest ----------------------------------------------------------------------------------


def test_a_knowing_repeat_of_a_confirmed_refund_is_made_once_more(stage: Stage) -> None:
    case = stage.case()
    first = stage.work(stage.propose(case))
    second = stage.propose(case, by=PERSON, repeat_of=first, acknowledges=reference(first))
    second = stage.work(second)
    assert second.state == "confirmed"
    assert [effect.note for effect in stage.shop.effects()] == [first.marker, second.marker]
    assert stage.propose(case).pk == second.pk
    verdict = stage.shown(second).verdicts[3]
    assert verdict["sentence"] == (
        f"A knowing repeat of {first.public_id}, and no other equal effect, "
        "and room beside what is under way."
    )


def test_a_knowing_repeat_is_held_for_anyone_elses_equal_effect(stage: Stage) -> None:
    case = stage.case()
    first = stage.work(stage.propose(case))
    staff = stage.shop.refund_by_staff(case.order.id, amount="12.50")
    second = stage.propose(case, by=PERSON, repeat_of=first, acknowledges=reference(first))
    second = stage.work(second)
    assert (second.state, second.state_reason) == ("held", "equal_effect")
    assert stage.shown(second).verdicts[3]["evidence"] == [staff.id]
    assert len(stage.shop.effects()) == 2


def test_two_clicks_on_repeat_are_one(stage: Stage) -> None:
    case = stage.case()
    first = stage.work(stage.propose(case))
    click = partial(stage.propose, case, by=PERSON, repeat_of=first, acknowledges=reference(first))
    assert click().pk == click().pk
    assert Intent.objects.count() == 2


def test_eight_clicks_at_once_on_repeat_are_one_refund_more(stage: Stage) -> None:
    stage.shop.keys(remember=False)
    case = stage.case()
    first = stage.work(stage.propose(case))
    named = reference(first)

    def click(by: Actor) -> int:
        again = stage.propose(case, by=by, repeat_of=first, acknowledges=named)
        stage.work(again)
        return again.pk

    people = [PERSON, SECOND, TEAM, PERSON]
    clicks = at_once(*[partial(click, by) for by in people * 2])
    assert len(set(clicks)) == 1
    repeat = stage.settle(Intent.objects.get(pk=clicks[0]))
    assert (repeat.state, repeat.occurrence, Intent.objects.count()) == ("confirmed", 2, 2)
    assert len(stage.shop.effects()) == 2


def test_the_repeat_of_an_older_one_is_answered_with_the_newest(stage: Stage) -> None:
    case = stage.case()
    first = stage.work(stage.propose(case))
    links = {"repeat_of": first, "acknowledges": reference(first)}
    second = stage.work(stage.propose(case, by=PERSON, **links))  # type: ignore[arg-type]  # both are links
    for by in (PERSON, AGENT):
        assert stage.propose(case, by=by, repeat_of=first).pk == second.pk
    assert (Intent.objects.count(), len(stage.shop.effects())) == (2, 2)


def test_what_was_never_proposed_is_not_repeated(stage: Stage) -> None:
    case = stage.case()
    first = stage.work(stage.propose(case))
    with pytest.raises(NothingToRepeat):
        stage.propose(case, amount="13.00", by=PERSON, repeat_of=first)
    assert (Intent.objects.count(), len(stage.shop.effects())) == (1, 1)


def test_another_action_is_not_repeated_under_this_ones_name(stage: Stage) -> None:
    case = stage.case()
    first, other = (stage.work(stage.propose(case, amount=amount)) for amount in ("12.50", "13.00"))
    twin = stage.work(stage.propose(stage.another_ticket(case), amount="14.00"))
    for wrong in (other, twin):
        with pytest.raises(NotTheSame):
            stage.propose(case, by=PERSON, repeat_of=wrong, acknowledges=reference(first))
    assert (Intent.objects.count(), len(stage.shop.effects())) == (3, 3)


@pytest.mark.parametrize("end", ["withdrawn", "refused"])
def test_an_ai_does_not_get_round_it_through_a_repeat_of_which_nothing_left(
    stage: Stage, end: str
) -> None:
    case = stage.case()
    first = stage.work(stage.propose(case))
    if end == "refused":
        stage.policy(cap="12.49")
    second = stage.propose(case, by=PERSON, repeat_of=first, acknowledges=reference(first))
    if end == "withdrawn":
        withdraw(intent=second, by=PERSON, at=now())
    assert stage.work(second).state == end
    stage.policy()
    with pytest.raises(PersonRepeats):
        stage.propose(case, by=AGENT, repeat_of=second)
    with pytest.raises(RepeatAsks) as asks:
        stage.propose(case, by=PERSON, repeat_of=second)
    assert asks.value.earlier.pk == first.pk
    third = stage.propose(case, by=PERSON, repeat_of=second, acknowledges=reference(first))
    assert stage.work(third).state == "confirmed"
    assert len(stage.shop.effects()) == 2


def test_a_repeat_is_judged_as_any_other(stage: Stage) -> None:
    case = stage.case(total="20.00")
    first = stage.work(stage.propose(case))
    second = stage.propose(case, by=PERSON, repeat_of=first, acknowledges=reference(first))
    assert stage.work(second).state_reason == "over_remainder"
    assert len(stage.shop.effects()) == 1
