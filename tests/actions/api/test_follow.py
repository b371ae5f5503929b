"""Wishes that follow another intent: meant repeats, corrections, the rest of what was accepted."""

import pytest

from actions.models import Intent
from integrations.actors import Actor
from integrations.sandbox.records import Payment
from tests.actions.api.wishes import intents_of, nothing_is_written, proposed, refused, wish
from tests.caller import Caller
from tests.stage import AGENT, INTEGRATION, PERSON, Case, Stage

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def agent(stage: Stage) -> Caller:
    """Return the AI."""
    return Caller(stage.workspace, AGENT)


@pytest.fixture
def person(stage: Stage) -> Caller:
    """Return a Human Node."""
    return Caller(stage.workspace, PERSON)


def split(stage: Stage, agent: Caller) -> tuple[Case, Intent]:
    """Make a refund over two payments of which one fails: 8.00 stand, 4.50 do not."""
    payments = [Payment(amount="8.00", gateway="card"), Payment(amount="92.00", gateway="voucher")]
    stage.shop.gateway("voucher", answers="FAILURE")
    case = stage.case(total="100.00", payments=payments)
    intent = stage.work(proposed(agent, case))
    assert intent.state == "partially_confirmed"
    return case, intent


# --- Repeats ------------------------------------------------------------------------------------


def test_a_repeat_of_what_was_done_asks_plainly_what_stands(
    stage: Stage, agent: Caller, person: Caller
) -> None:
    case = stage.case()
    first = stage.work(proposed(agent, case))
    (effect,) = stage.shop.effects()
    said = wish(case, repeat_of=first.public_id)
    with nothing_is_written(stage):
        answer = person.post(intents_of(case), said)
    assert refused(answer) == (409, "repeat-asks")
    confirmed_at = person.get(f"intents/{first.public_id}/").body["confirmed_at"]
    assert answer.body == {
        "type": "urn:razviel:problem:repeat-asks",
        "title": "It was done already",
        "status": 409,
        "detail": (
            "Nothing was written: it stands on the platform, as `external_reference` says. If it "
            "is really to be done once more, send this again with `acknowledges` set to "
            "`external_reference.identifier`."
        ),
        "instance": f"/api/v1/{intents_of(case)}",
        "intent": first.public_id,
        "state": "confirmed",
        "confirmed_at": confirmed_at,
        "by": {"kind": "ai", "identity": "agent-1"},
        "external_reference": {
            "connection": stage.connection.public_id,
            "type": "refund",
            "identifier": effect.id,
        },
        "amount": "12.50",
        "currency": "EUR",
    }
    with nothing_is_written(stage):
        wrong = person.post(intents_of(case), said | {"acknowledges": "gid://other"})
    assert wrong.body == answer.body


def test_a_repeat_that_names_what_stands_is_one_new_intent_and_one_more_refund(
    stage: Stage, agent: Caller, person: Caller
) -> None:
    case = stage.case()
    first = stage.work(proposed(agent, case))
    (effect,) = stage.shop.effects()
    said = wish(case, repeat_of=first.public_id, acknowledges=effect.id)
    new = person.post(intents_of(case), said)
    again = person.post(intents_of(case), said)
    assert (new.status, again.status) == (202, 200)
    assert new.body["id"] == again.body["id"] != first.public_id
    assert (new.body["occurrence"], new.body["repeat_of"]) == (2, first.public_id)
    shown = person.get(f"intents/{first.public_id}/").body
    assert (shown["occurrence"], shown["repeated_by"]) == (1, new.body["id"])
    repeat = Intent.objects.get(public_id=new.body["id"])
    assert stage.work(repeat).state == "confirmed"
    assert len(stage.shop.effects()) == 2
    plain = agent.post(intents_of(case), wish(case))
    assert (plain.status, plain.body["id"]) == (200, new.body["id"])


@pytest.mark.parametrize("by", [AGENT, INTEGRATION])
def test_no_program_repeats_what_left(
    stage: Stage, by: Actor, agent: Caller, person: Caller
) -> None:
    case = stage.case()
    first = stage.work(proposed(agent, case))
    (effect,) = stage.shop.effects()
    said = wish(case, repeat_of=first.public_id, acknowledges=effect.id)
    caller = Caller(stage.workspace, by)
    with nothing_is_written(stage):
        answer = caller.post(intents_of(case), said)
    assert refused(answer) == (403, "person-repeats")
    assert answer.body["detail"] == (
        "Something of it left, so that only a Human Node or the brand's team may repeat it."
    )


def test_nobody_repeats_what_has_not_ended(stage: Stage, agent: Caller, person: Caller) -> None:
    case = stage.case()
    first = proposed(agent, case)
    with nothing_is_written(stage):
        answer = person.post(intents_of(case), wish(case, repeat_of=first.public_id))
    assert refused(answer) == (409, "not-repeatable")
    assert answer.body["state"] == "proposed"
    assert answer.body["detail"] == "It has not ended: until it has, nobody repeats it."


def test_anyone_repeats_what_was_taken_back_and_an_older_one_gets_the_newest(
    stage: Stage, agent: Caller
) -> None:
    case, caller = stage.case(), agent
    first = proposed(caller, case)
    assert caller.post(f"intents/{first.public_id}/withdraw/").status == 200
    second = caller.post(intents_of(case), wish(case, repeat_of=first.public_id))
    assert (second.status, second.body["occurrence"]) == (202, 2)
    assert caller.post(f"intents/{second.body['id']}/withdraw/").status == 200
    third = caller.post(intents_of(case), wish(case, repeat_of=second.body["id"]))
    assert (third.status, third.body["occurrence"]) == (202, 3)
    older = caller.post(intents_of(case), wish(case, repeat_of=first.public_id))
    assert (older.status, older.body["id"]) == (200, third.body["id"])


def test_a_repeat_of_something_else_is_refused(stage: Stage, agent: Caller) -> None:
    case, caller = stage.case(), agent
    first = proposed(caller, case)
    with nothing_is_written(stage):
        new = caller.post(intents_of(case), wish(case, amount="9.00", repeat_of=first.public_id))
    assert refused(new) == (409, "nothing-to-repeat")
    assert new.body["detail"] == (
        "Nothing like this was proposed before: propose it without `repeat_of`."
    )
    proposed(caller, case, amount="9.00")
    with nothing_is_written(stage):
        other = caller.post(intents_of(case), wish(case, amount="9.00", repeat_of=first.public_id))
    assert refused(other) == (409, "not-the-same")
    assert other.body["detail"] == (
        "What is named in `repeat_of` is another action: repeat it with its own parameters."
    )


def test_an_acknowledgement_without_a_repeat_is_left_out(stage: Stage, person: Caller) -> None:
    case = stage.case()
    answer = person.post(intents_of(case), wish(case, acknowledges="gid://shopify/Refund/1"))
    assert (answer.status, answer.body["errors"]) == (
        400,
        {"acknowledges": ["It belongs to `repeat_of`; leave it out."]},
    )
    assert not Intent.objects.exists()


# --- Corrections --------------------------------------------------------------------------------


def test_what_the_store_rejected_says_why_and_is_corrected_by_the_agent(
    stage: Stage, agent: Caller
) -> None:
    stage.shop.gateway("manual", answers="FAILURE")
    case, caller = stage.case(), agent
    failed = stage.work(proposed(caller, case))
    shown = caller.get(f"intents/{failed.public_id}/").body
    assert (shown["state"], shown["state_reason"]) == ("failed", "money_failed")
    assert (shown["may_be_corrected"], shown["corrected_by"], shown["rejection"]) == (
        True,
        [],
        None,
    )
    said = wish(case, amount="9.00", corrects=failed.public_id)
    corrected = caller.post(intents_of(case), said)
    assert (corrected.status, corrected.body["corrects"]) == (202, failed.public_id)
    shown = caller.get(f"intents/{failed.public_id}/").body
    assert shown["corrected_by"] == [corrected.body["id"]]
    # Until what corrects it is let go, a person still looks.
    assert shown["needs_human"]["reason"] == "money_failed"


def test_what_goes_its_way_has_nothing_to_correct(stage: Stage, agent: Caller) -> None:
    case, caller = stage.case(), agent
    first = proposed(caller, case)
    with nothing_is_written(stage):
        answer = caller.post(intents_of(case), wish(case, amount="9.00", corrects=first.public_id))
    assert refused(answer) == (409, "not-correctable")
    assert answer.body["state"] == "proposed"
    assert caller.get(f"intents/{first.public_id}/").body["may_be_corrected"] is False


def test_nothing_is_corrected_on_a_closed_ticket(stage: Stage, agent: Caller) -> None:
    case, caller = stage.case(amount="250.00"), agent
    refused_one = proposed(caller, case, amount="250.00")
    path = f"intents/{refused_one.public_id}/"
    assert caller.get(path).body["may_be_corrected"] is True
    said = {"status": "closed_unresolved", "reason": "declined"}
    assert caller.post(f"tickets/{case.ticket.public_id}/close/", said).status == 200
    assert caller.get(path).body["may_be_corrected"] is False


# --- The rest -----------------------------------------------------------------------------------


def test_the_rest_of_what_was_accepted_is_shown_and_made_up_for_once(
    stage: Stage, agent: Caller, person: Caller
) -> None:
    case, intent = split(stage, agent)
    path = f"intents/{intent.public_id}/"
    assert person.get(path).body["rest"] is None
    said = {"amount": "8.00", "currency": "EUR", "reason": "the voucher is gone"}
    accepted = person.post(f"{path}accept/", said)
    assert (accepted.status, accepted.body["state"]) == (200, "accepted")
    assert accepted.body["rest"] == {"amount": "4.50", "currency": "EUR"}
    more = wish(case, amount="5.00", remainder_of=intent.public_id)
    with nothing_is_written(stage):
        answer = agent.post(intents_of(case), more)
    assert refused(answer) == (409, "more-than-the-rest")
    assert answer.body["rest"] == {"amount": "4.50", "currency": "EUR"}
    assert answer.body["detail"] == (
        "4.50 EUR are missing of what was asked; ask for that or less."
    )
    rest = agent.post(intents_of(case), wish(case, amount="4.50", remainder_of=intent.public_id))
    assert (rest.status, rest.body["remainder_of"]) == (202, intent.public_id)
    shown = person.get(path).body
    assert (shown["remainders"], shown["rest"]) == (
        [rest.body["id"]],
        {"amount": "0.00", "currency": "EUR"},
    )


def test_what_was_done_whole_has_no_rest(stage: Stage, agent: Caller, person: Caller) -> None:
    case = stage.case()
    first = stage.work(proposed(agent, case))
    said = wish(case, amount="1.00", remainder_of=first.public_id)
    with nothing_is_written(stage):
        answer = person.post(intents_of(case), said)
    assert refused(answer) == (409, "no-rest")
    assert answer.body["state"] == "confirmed"
    assert answer.body["detail"] == (
        "Only what was accepted in part, or reversed, has a rest: on the same ticket and order."
    )
