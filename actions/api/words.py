"""The endpoints at which a person speaks: approve, reject, clear, judge again, accept.

Promises: only a person's token is heard, and no proposer on their own proposal; a word covers
exactly what was shown, by its digest; the same word again gets the same answer, and one that comes
too late is told what stands now.
Does not know the gate: a worker is woken by the services.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request as HttpRequest
from rest_framework.response import Response

from actions import accepting, approving
from actions.accepting import AnotherAmount, NotAcceptable, accept, standing_money
from actions.api.bodies import AcceptBody, WordBody
from actions.api.documents import IntentDocument
from actions.api.views import IntentView, money_member
from actions.approving import (
    NotClearable,
    NotWaiting,
    OwnProposal,
    ShownOtherwise,
    Word,
    approve,
    clear,
    judge_again,
    reject,
)
from actions.models import Intent
from actions.queries import newest_decision
from actions.states import State
from integrations import sealed
from integrations.actors import Actor
from integrations.api.bodies import NoBody
from integrations.api.problems import Problem, ProblemTable, ProblemType
from integrations.api.schema import answers
from integrations.clock import now

ONLY_A_PERSON = ProblemType(
    name="only-a-person", status=HTTPStatus.FORBIDDEN, title="Only a person may say this"
)
OWN_PROPOSAL = ProblemType(
    name="own-proposal",
    status=HTTPStatus.FORBIDDEN,
    title="The proposer doesn't approve their own",
)
NOT_WAITING = ProblemType(
    name="not-waiting",
    status=HTTPStatus.CONFLICT,
    title="The intent doesn't wait for this word",
    advice=str(NotWaiting.__doc__),
)
SHOWN_OTHERWISE = ProblemType(
    name="shown-otherwise",
    status=HTTPStatus.CONFLICT,
    title="Something else stands now than you were shown",
    advice=str(ShownOtherwise.__doc__),
)
NOT_CLEARABLE = ProblemType(
    name="not-clearable",
    status=HTTPStatus.CONFLICT,
    title="No word clears this reason",
    advice=str(NotClearable.__doc__),
)
NOT_ACCEPTABLE = ProblemType(
    name="not-acceptable-now",
    status=HTTPStatus.CONFLICT,
    title="There is nothing to accept",
    advice=str(NotAcceptable.__doc__),
)
ANOTHER_AMOUNT = ProblemType(
    name="another-amount",
    status=HTTPStatus.CONFLICT,
    title="The platform holds another amount",
    advice=str(AnotherAmount.__doc__),
)
_ANSWERS = answers(
    {HTTPStatus.OK: IntentDocument}, problems=[HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT]
)


class PersonView(IntentView):
    """An endpoint at which a person speaks of an intent."""

    problems: ClassVar[ProblemTable] = {
        **IntentView.problems,
        approving.OnlyAPerson: ONLY_A_PERSON,
        accepting.OnlyAPerson: ONLY_A_PERSON,
        OwnProposal: OWN_PROPOSAL,
    }

    @contextmanager
    def where_it_stands(self, public_id: str) -> Iterator[None]:
        """Answer a word that comes too late with what stands now."""
        try:
            yield
        except (NotWaiting, NotAcceptable) as late:
            kind = NOT_WAITING if isinstance(late, NotWaiting) else NOT_ACCEPTABLE
            raise Problem(kind, members={"state": self.intent(public_id).state}) from late
        except ShownOtherwise as other:
            decision = newest_decision(self.intent(public_id))
            digest = decision and decision.shown_digest
            raise Problem(SHOWN_OTHERWISE, members={"shown_digest": digest}) from other
        except NotClearable as stays:
            reason = self.intent(public_id).state_reason
            raise Problem(NOT_CLEARABLE, members={"state_reason": reason}) from stays
        except AnotherAmount as other:
            members = {"stands": money_member(other.stands)}
            raise Problem(ANOTHER_AMOUNT, members=members) from other


class _WordView(PersonView):
    """An endpoint that takes a word on what was shown."""

    say: ClassVar[Callable[..., Intent]]

    def take(self, public_id: str) -> Response:
        """Take the word, and answer the intent as it stands then."""
        row = self.intent(public_id)
        said = self.body(WordBody)
        word = Word(by=self.actor, at=now(), digest=said["digest"], reason=said.get("reason", ""))
        with self.where_it_stands(public_id):
            type(self).say(intent=row, word=word)
        return self.shown(public_id)


class ApproveIntent(_WordView):
    """Approve what awaits approval."""

    say = staticmethod(approve)

    @extend_schema(
        operation_id="approve_intent",
        summary="Approve exactly the allocation that was shown",
        description=(
            "Only by a person's token, and not by the proposer's. The gate looks once more before "
            "anything is sent: `state` stays `awaiting_approval` until it has. Where it finds "
            "another allocation, it asks again, with another `decision.shown_digest`."
        ),
        request=WordBody,
        responses=_ANSWERS,
    )
    def post(self, request: HttpRequest, intent: str) -> Response:  # noqa: ARG002 - read by self.body
        """Say yes."""
        return self.take(intent)


class RejectIntent(_WordView):
    """Say no to what awaits approval."""

    say = staticmethod(reject)

    @extend_schema(
        operation_id="reject_intent",
        summary="Say no to what awaits approval",
        description="Only by a person's token, and not by the proposer's. Nothing is sent.",
        request=WordBody,
        responses=_ANSWERS,
    )
    def post(self, request: HttpRequest, intent: str) -> Response:  # noqa: ARG002 - read by self.body
        """Say no."""
        return self.take(intent)


class ClearIntent(_WordView):
    """Clear what an intent is held for."""

    say = staticmethod(clear)

    @extend_schema(
        operation_id="clear_intent",
        summary="Clear what an intent is held for, by a look at its evidence",
        description=(
            "Only by a person's token, and where `clearable` says so. It is judged again with that "
            "reason waived, as far as the evidence is what was shown; nothing else is waived."
        ),
        request=WordBody,
        responses=_ANSWERS,
    )
    def post(self, request: HttpRequest, intent: str) -> Response:  # noqa: ARG002 - read by self.body
        """Clear the reason."""
        return self.take(intent)


class JudgeAgain(PersonView):
    """Have a held intent judged again now."""

    @extend_schema(
        operation_id="judge_again",
        summary="Have a held intent judged again now",
        description="Only by a person's token. Also for one that was left to a person.",
        request=NoBody,
        responses=_ANSWERS,
    )
    def post(self, request: HttpRequest, intent: str) -> Response:  # noqa: ARG002 - read by self.body
        """Make it due."""
        row = self.intent(intent)
        self.body(NoBody)
        with self.where_it_stands(intent):
            judge_again(intent=row, by=self.actor, at=now())
        return self.shown(intent)


class AcceptIntent(PersonView):
    """Accept what the platform holds instead of what was asked."""

    @extend_schema(
        operation_id="accept_intent",
        summary="Accept what the platform holds instead of what was asked",
        description=(
            "Only by a person's token, with exactly the amount that stands there, once nothing of "
            "it may still move. It is counted apart; `rest` says what is missing, which another "
            "proposal may cover with `remainder_of`."
        ),
        request=AcceptBody,
        responses=_ANSWERS,
    )
    def post(self, request: HttpRequest, intent: str) -> Response:  # noqa: ARG002 - read by self.body
        """Accept it."""
        row = self.intent(intent)
        said = self.body(AcceptBody)
        money, reason = said["money"], said["reason"]
        with self.where_it_stands(intent):
            try:
                accept(intent=row, amount=money, reason=reason, by=self.actor, at=now())
            except NotAcceptable:
                if not _was_accepted_so(self.intent(intent), said, by=self.actor):
                    raise
        return self.shown(intent)


def _was_accepted_so(intent: Intent, said: dict[str, Any], *, by: Actor) -> bool:
    """Has this person accepted just this before, for the same reason? New words are not dropped."""
    if intent.state != State.ACCEPTED or intent.accepted_reason is None:
        return False
    event = intent.events.filter(to_state=State.ACCEPTED).exclude(from_state=State.ACCEPTED).get()
    if (event.by_kind, event.by_identity) != (by.kind, by.identity):
        return False
    return (standing_money(intent), _unsealed(intent)) == (said["money"], said["reason"])


def _unsealed(intent: Intent) -> str | None:
    if intent.accepted_reason is None:
        return None
    try:
        return sealed.unseal(intent.accepted_reason)
    except sealed.Erased:
        return None
