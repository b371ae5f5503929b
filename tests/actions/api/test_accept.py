"""Accepting over HTTP what stands instead of what was asked; and what no word can be."""

import pytest

from integrations.actors import Actor
from tests.actions.api.wishes import nothing_is_written, proposed, refused
from tests.actions.api.words import SECOND, awaiting, partly_done, say
from tests.caller import Caller
from tests.stage import AGENT, PERSON, Stage

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def person(stage: Stage) -> Caller:
    """Return a Human Node."""
    return Caller(stage.workspace, PERSON)


def test_a_person_accepts_exactly_what_stands(stage: Stage, person: Caller) -> None:
    intent = partly_done(stage)
    said = {"amount": "8.00", "currency": "EUR", "reason": "the voucher is used up"}
    answer = say(person, "accept", intent, **said)
    assert (answer.status, answer.body["state"], answer.body["rest"]) == (
        200,
        "accepted",
        {"amount": "4.50", "currency": "EUR"},
    )
    assert answer.body["already_processed"] is False
    assert b"used up" not in answer.response.content
    again = say(person, "accept", intent, **said)
    assert (again.status, again.body) == (200, answer.body)


def _with(**changes: str) -> dict[str, str]:
    return {"amount": "8.00", "currency": "EUR", "reason": "the voucher is used up"} | changes


@pytest.mark.parametrize(
    ("by", "said"),
    [
        (SECOND, _with()),
        (PERSON, _with(reason="another reason")),
        (PERSON, _with(amount="4.50")),
    ],
)
def test_other_words_on_what_was_accepted_are_not_dropped_in_silence(
    stage: Stage, person: Caller, by: Actor, said: dict[str, object]
) -> None:
    intent = partly_done(stage)
    say(person, "accept", intent, **_with())
    caller = Caller(stage.workspace, by)
    with nothing_is_written(stage):
        answer = say(caller, "accept", intent, **said)
    assert (refused(answer), answer.body["state"]) == ((409, "not-acceptable-now"), "accepted")


def test_another_amount_is_told_with_what_stands(stage: Stage, person: Caller) -> None:
    intent = partly_done(stage)
    with nothing_is_written(stage):
        answer = say(person, "accept", intent, **_with(amount="12.50"))
    assert refused(answer) == (409, "another-amount")
    assert answer.body["stands"] == {"amount": "8.00", "currency": "EUR"}
    assert answer.body["detail"] == (
        "The platform holds another amount than you accept: look at it again."
    )


def test_what_may_still_move_is_not_accepted(stage: Stage, person: Caller) -> None:
    stage.shop.gateway("manual", answers="PENDING")
    intent = stage.work(proposed(Caller(stage.workspace, AGENT), stage.case()))
    with nothing_is_written(stage):
        answer = say(person, "accept", intent, **_with())
    assert (refused(answer), answer.body["state"]) == ((409, "not-acceptable-now"), "pending")


@pytest.mark.parametrize(
    ("verb", "said", "errors"),
    [
        ("approve", {}, {"digest": ["It is missing; give it."]}),
        ("approve", {"digest": 7}, {"digest": ["It must be text, in quotes."]}),
        ("reject", {"digest": "a" * 65}, {"digest": ["It is longer than 64 characters."]}),
        ("clear", {"digest": ""}, {"digest": ["It is empty; give it or leave it out."]}),
        ("judge-again", {"now": True}, {"now": ["There is no such field; leave it out."]}),
        ("accept", _with(reason=""), {"reason": ["It is empty; give it or leave it out."]}),
        (
            "accept",
            _with(amount="8,00"),
            {
                "amount": [
                    (
                        "'8,00' has separators; write one point before the decimals and no other, "
                        "as 12.50."
                    )
                ]
            },
        ),
        (
            "accept",
            _with(currency="eur"),
            {
                "currency": [
                    "'eur' is not an active ISO 4217 currency; write its code in capitals, as EUR."
                ]
            },
        ),
    ],
)
def test_what_can_not_be_taken_is_400(
    stage: Stage, person: Caller, verb: str, said: dict[str, object], errors: object
) -> None:
    intent = awaiting(stage)
    with nothing_is_written(stage):
        answer = say(person, verb, intent, **said)
    assert (answer.status, answer.body["errors"]) == (400, errors)
