"""What every endpoint that answers an intent shares: the errors of its services, and the answer.

Promises: an intent is answered as it stands at one moment; each refusal is a kind of problem of its
own, which says where the intent stands where that is why.
Does not know any endpoint.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import ClassVar

from rest_framework.response import Response

from actions.api.documents import IntentDocument
from actions.models import Intent
from actions.queries import intent_named, intent_of_ticket
from actions.services import NoStore
from actions.states import StaleState
from integrations.api.problems import NOT_HERE, Problem, ProblemTable, ProblemType
from integrations.api.views import ApiView, one_moment
from integrations.money import Money
from integrations.ports import Unusable
from integrations.queries import NotHere
from tickets.api.views import NOT_OPEN
from tickets.models import Ticket
from tickets.services import NotOpen

NO_STORE = ProblemType(
    name="no-store", status=HTTPStatus.CONFLICT, title="The workspace has no connected store"
)
STORE_UNUSABLE = ProblemType(
    name="store-unusable",
    status=HTTPStatus.CONFLICT,
    title="The store's credentials can't be used",
    advice=str(Unusable.__doc__),
)
MOVED_MEANWHILE = ProblemType(
    name="moved-meanwhile",
    status=HTTPStatus.CONFLICT,
    title="Someone moved the intent first",
)


class IntentView(ApiView):
    """An endpoint that answers an intent."""

    problems: ClassVar[ProblemTable] = {
        NotOpen: NOT_OPEN,
        NoStore: NO_STORE,
        StaleState: MOVED_MEANWHILE,
    }

    def intent(self, public_id: str) -> Intent:
        """Return an intent of the token's workspace."""
        return intent_named(public_id, workspace=self.workspace)

    def shown(self, public_id: str, *, status: HTTPStatus = HTTPStatus.OK) -> Response:
        """Answer with the intent as it stands."""
        with one_moment():
            return self.document(IntentDocument(self.intent(public_id)).data, status=status)


def named_intent(public_id: str, ticket: Ticket, field: str) -> Intent:
    """Return the intent of a ticket that a field of a body names.

    Raises:
        Problem: The ticket has no such intent, be it foreign or unknown.
    """
    try:
        return intent_of_ticket(public_id, ticket=ticket)
    except NotHere:
        raise Problem(
            NOT_HERE,
            detail="Nothing was written: the ticket has no such intent.",
            errors={field: ["The ticket has no such intent; its document lists those it has."]},
        ) from None


def money_member(money: Money) -> Mapping[str, str]:
    """Return an amount as problem documents name it."""
    return {"amount": money.canonical(), "currency": money.currency}
