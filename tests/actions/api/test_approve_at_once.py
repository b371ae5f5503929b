"""A hundred clicks over HTTP: one yes and one refund, and of a yes and a no only one.

Promises: everything runs in threads that begin at one barrier, each with its own connection; the
store forgets keys, so that only our own rows prevent a double.
"""

from decimal import Decimal
from functools import partial

import pytest

from actions.advance import advance
from actions.models import Approval, Intent
from integrations.actors import Actor, ActorKind
from tests.actions.api.wishes import proposed
from tests.caller import Answer, Caller
from tests.faults.threads import at_once
from tests.stage import AGENT, PERSON, Stage, fresh

pytestmark = pytest.mark.django_db(transaction=True)

CLICKS, TRIES, BUSY = 100, 50, 503
SECOND = Actor(kind=ActorKind.BRAND_TEAM, identity="ada")


@pytest.fixture(autouse=True)
def _forgetful(stage: Stage) -> None:
    stage.shop.keys(remember=False)


@pytest.fixture
def intent(stage: Stage) -> Intent:
    """Return a refund of 150.00 EUR that awaits approval."""
    case = stage.case(amount="150.00", total="400.00")
    made = stage.work(proposed(Caller(stage.workspace, AGENT), case, amount="150.00"))
    assert made.state == "awaiting_approval"
    return made


@pytest.fixture
def people(stage: Stage) -> tuple[Caller, Caller]:
    """Return two people who are asked."""
    return Caller(stage.workspace, PERSON), Caller(stage.workspace, SECOND)


def digest_of(intent: Intent) -> str:
    """Return the digest of what is shown of an intent now."""
    return intent.decisions.order_by("-number")[0].shown_digest


def say(caller: Caller, verb: str, intent: Intent, digest: str) -> Answer:
    """Say a word, and again where the answer is to send the same once more: the lock is taken."""
    for _ in range(TRIES):
        answer = caller.post(f"intents/{intent.public_id}/{verb}/", {"digest": digest})
        if answer.status != BUSY:
            return answer
    raise AssertionError(f"busy {TRIES} times")


def test_a_hundred_clicks_on_approve_are_one_yes_and_one_refund(
    stage: Stage, intent: Intent, people: tuple[Caller, Caller]
) -> None:
    digest = digest_of(intent)
    clicks = [
        partial(say, people[number % 2], "approve", intent, digest) for number in range(CLICKS)
    ]
    answered = at_once(*clicks)
    assert {answer.status for answer in answered} == {200}
    assert Approval.objects.count() == 1
    assert intent.events.filter(name="approved").count() == 1
    at_once(*[partial(advance, intent.pk)] * 8)
    stage.settle(intent)
    assert fresh(intent).state == "confirmed"
    assert [effect.amount for effect in stage.shop.effects()] == [Decimal("150.00")]
    assert len(stage.shop.requests(operation="refundCreate")) == 1
    assert Approval.objects.get().used_at is not None


@pytest.mark.parametrize("round_number", range(3))
def test_of_a_yes_and_a_no_at_once_only_one_is_heard(
    stage: Stage, intent: Intent, people: tuple[Caller, Caller], round_number: int
) -> None:
    digest = digest_of(intent)
    yes, no = people if round_number % 2 else people[::-1]
    answered = at_once(
        *[partial(say, yes, "approve", intent, digest)] * 5,
        *[partial(say, no, "reject", intent, digest)] * 5,
    )
    approved, rejected = (
        {answer.status for answer in answers} for answers in (answered[:5], answered[5:])
    )
    assert {frozenset(approved), frozenset(rejected)} == {frozenset({200}), frozenset({409})}
    word = Approval.objects.get()
    assert word.approves is (approved == {200})
    intent = stage.settle(intent)
    expected = "confirmed" if word.approves else "refused"
    assert (intent.state, len(stage.shop.effects())) == (expected, int(word.approves))


def test_an_approval_and_the_proposers_second_thoughts_end_in_one_way(
    stage: Stage, intent: Intent, people: tuple[Caller, Caller]
) -> None:
    """Withdrawn or approved first: what was withdrawn is never sent."""
    digest, agent = digest_of(intent), Caller(stage.workspace, AGENT)
    at_once(
        partial(say, people[0], "approve", intent, digest),
        partial(agent.post, f"intents/{intent.public_id}/withdraw/"),
    )
    assert stage.settle(intent).state == "withdrawn"
    assert stage.shop.requests(operation="refundCreate") == ()
    assert stage.shop.effects() == ()
