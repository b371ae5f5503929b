"""A person's word on one intent, from a form to the service that takes it.

Promises: each deed is one call of one service, with the digest, amount or reference that the form
was made with, so that a stale page never says yes to something else; what is answered is what is
so, and never that an action is done.
Does not decide who may: the page asks the seat first, and the services judge the rest.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from django.http import QueryDict

from actions.accepting import AnotherAmount, accept, standing_money
from actions.approving import Word, approve, clear, judge_again, reject
from actions.console.seats import Deed, Seat
from actions.models import Intent
from actions.services import Wish, propose, withdraw
from actions.states import State
from integrations.clock import now
from integrations.money import InvalidMoney, parse_money

WORDS_LENGTH_MAX = 5_000
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a person is told, and which intent they are shown next."""

    sentence: str
    intent: Intent


class NoReason(Exception):
    """Say why you accept it; nothing was changed. The reason is sealed and kept beside it."""


class Do(Protocol):
    """Takes one person's word to its service."""

    def __call__(self, intent: Intent, form: QueryDict, *, seat: Seat) -> Answer:
        """Do it and say what is so."""


def _approve(intent: Intent, form: QueryDict, *, seat: Seat) -> Answer:
    row = approve(intent=intent, word=_word(form, seat))
    sentence = (
        f"You approved exactly what was shown of {row.public_id}. That is not yet an "
        "authorization: the gate looks once more, and asks again if anything has changed."
    )
    return Answer(sentence=sentence, intent=row)


def _reject(intent: Intent, form: QueryDict, *, seat: Seat) -> Answer:
    row = reject(intent=intent, word=_word(form, seat))
    return Answer(
        sentence=f"You said no to {row.public_id}. It is refused; nothing was sent.", intent=row
    )


def _clear(intent: Intent, form: QueryDict, *, seat: Seat) -> Answer:
    row = clear(intent=intent, word=_word(form, seat))
    sentence = (
        "You cleared this reason, on the evidence that was shown. The gate judges it again with "
        "that one reason waived, and nothing else."
    )
    return Answer(sentence=sentence, intent=row)


def _judge_again(intent: Intent, form: QueryDict, *, seat: Seat) -> Answer:  # noqa: ARG001 - one signature
    row = judge_again(intent=intent, by=seat.actor, at=now())
    return Answer(sentence="The gate judges it again now. Nothing is waived by that.", intent=row)


def _accept(intent: Intent, form: QueryDict, *, seat: Seat) -> Answer:
    reason = _reason(form)
    if not reason:
        raise NoReason
    try:
        amount = parse_money(form.get("amount", ""), form.get("currency", ""))
    except InvalidMoney as invalid:
        raise AnotherAmount(standing_money(intent)) from invalid
    row = accept(intent=intent, amount=amount, reason=reason, by=seat.actor, at=now())
    sentence = (
        f"You accepted {amount} instead of {row.money}. It is counted apart from what was "
        "confirmed; what is missing is another intent, if it is still wanted."
    )
    return Answer(sentence=sentence, intent=row)


def _repeat(intent: Intent, form: QueryDict, *, seat: Seat) -> Answer:
    wish = Wish(
        kind=intent.kind,
        request=intent.request,
        parameters=intent.parameters,
        reason=_reason(form),
        connection=intent.connection,
        repeat_of=intent,
        acknowledges=form.get("acknowledges", ""),
        remainder_of=intent.remainder_of,
    )
    proposed = propose(ticket=intent.ticket, wish=wish, by=seat.actor, at=now())
    sentence = (
        "This is the repeat: an intent of its own, which the gate judges like any other. "
        "Nothing was sent yet."
        if proposed.is_new
        else "It was repeated before: this is the repeat, and no other was made."
    )
    return Answer(sentence=sentence, intent=proposed.intent)


def _withdraw(intent: Intent, form: QueryDict, *, seat: Seat) -> Answer:  # noqa: ARG001 - one signature
    row = withdraw(intent=intent, by=seat.actor, at=now())
    sentence = (
        "It was taken back before anything was sent."
        if row.state == State.WITHDRAWN
        else "It won't be sent again. What was sent stays as the store says: it may have taken "
        "effect, and is read until the store has said how it ended."
    )
    return Answer(sentence=sentence, intent=row)


DEEDS: Mapping[Deed, Do] = {
    Deed.APPROVE: _approve,
    Deed.REJECT: _reject,
    Deed.CLEAR: _clear,
    Deed.JUDGE_AGAIN: _judge_again,
    Deed.ACCEPT: _accept,
    Deed.REPEAT: _repeat,
    Deed.WITHDRAW: _withdraw,
}
"""What a person does to one intent, each with the service that takes their word."""


def _word(form: QueryDict, seat: Seat) -> Word:
    given = form.get("digest", "")
    digest = given if _DIGEST.fullmatch(given) else ""
    return Word(by=seat.actor, at=now(), digest=digest, reason=_reason(form))


def _reason(form: QueryDict) -> str:
    return form.get("reason", "").strip()[:WORDS_LENGTH_MAX]
