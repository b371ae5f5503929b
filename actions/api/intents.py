"""The endpoints of intents: look one up, list them, take one back.

Promises: a page meets each intent once, whatever moves meanwhile; what was sent is never withdrawn.
Does not know how intents come to be (`proposing`) nor what people say of them (`words`).
"""

from datetime import timedelta
from http import HTTPStatus

from django.http import QueryDict
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request as HttpRequest
from rest_framework.response import Response

from actions.api.bodies import IntentQuery
from actions.api.documents import IntentDocument, IntentPageDocument
from actions.api.views import IntentView
from actions.models import Intent
from actions.queries import IntentFilter, intent_named, intents_of
from actions.services import AlreadySettled, withdraw
from actions.states import State
from integrations.api.bodies import NoBody
from integrations.api.problems import INVALID_FIELDS, Problem, ProblemType
from integrations.api.schema import answers
from integrations.api.views import one_moment
from integrations.clock import now
from integrations.queries import NotHere

ALREADY_SETTLED = ProblemType(
    name="already-settled",
    status=HTTPStatus.CONFLICT,
    title="The intent has ended",
    advice=str(AlreadySettled.__doc__),
)
LONGEST_TRANSACTION = timedelta(seconds=60)
"""How long a change may be under way before others see it; no transaction of ours lasts as long."""


class ShowIntent(IntentView):
    """Look an intent up."""

    @extend_schema(
        operation_id="show_intent",
        summary="Look an intent up",
        responses=answers(
            {HTTPStatus.OK: IntentDocument}, problems=[HTTPStatus.NOT_FOUND], has_body=False
        ),
    )
    def get(self, request: HttpRequest, intent: str) -> Response:  # noqa: ARG002 - DRF's signature
        """Answer the intent with its verdicts, attempts, echo and events."""
        return self.shown(intent)


class WithdrawIntent(IntentView):
    """Take an intent back."""

    @extend_schema(
        operation_id="withdraw_intent",
        summary="Take an intent back",
        description=(
            "What was never sent is withdrawn. Of what was sent only the right to send it again "
            "ends: it ends as the store says. Sent again, this is answered the same."
        ),
        request=NoBody,
        responses=answers(
            {HTTPStatus.OK: IntentDocument},
            problems=[HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT],
        ),
    )
    def post(self, request: HttpRequest, intent: str) -> Response:  # noqa: ARG002 - read by self.body
        """Withdraw the intent, or end its resends."""
        row = self.intent(intent)
        self.body(NoBody)
        try:
            withdraw(intent=row, by=self.actor, at=now())
        except AlreadySettled as settled:
            raise Problem(
                ALREADY_SETTLED, members={"state": self.intent(intent).state}
            ) from settled
        return self.shown(intent)


class ListIntents(IntentView):
    """List intents."""

    query = IntentQuery

    @extend_schema(
        operation_id="list_intents",
        summary="List intents, newest first",
        description=(
            "Pages go by the order in which intents were recorded, which never changes: walking "
            "them meets each once. To follow changes, ask again with the `poll_from` of the first "
            "page as `updated_since`."
        ),
        parameters=[IntentQuery],
        responses=answers({HTTPStatus.OK: IntentPageDocument}, has_body=False),
    )
    def get(self, request: HttpRequest) -> Response:
        """Answer one page."""
        cursor = self.asked.get("cursor")
        with one_moment():
            poll_from = None if cursor else now() - LONGEST_TRANSACTION
            asked = IntentFilter(
                state=self.asked.get("state") and State(self.asked["state"]),
                kind=self.asked.get("kind"),
                updated_since=self.asked.get("updated_since"),
                after=cursor and self._last_of_the_page_before(cursor),
            )
            page = intents_of(self.workspace, asked=asked, limit=self.asked["limit"])
            following = page.intents[-1].public_id if page.has_more else None
            shown = {
                "intents": page.intents,
                "next": following and _next_page(request, cursor=following),
                "poll_from": poll_from,
            }
            return self.document(IntentPageDocument(shown).data)

    def _last_of_the_page_before(self, cursor: str) -> Intent:
        try:
            return intent_named(cursor, workspace=self.workspace)
        except NotHere:
            sentence = "It is none of ours; take it from `next` of the page before."
            raise Problem(INVALID_FIELDS, errors={"cursor": [sentence]}) from None


def _next_page(request: HttpRequest, *, cursor: str) -> str:
    """Return the address of the page after this one: the same question, and where to go on."""
    parameters = QueryDict(mutable=True)
    parameters.update({name: str(said) for name, said in request.query_params.items() if said})
    parameters["cursor"] = cursor
    return f"{request.path}?{parameters.urlencode()}"
