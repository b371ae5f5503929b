"""The endpoints of intents: propose, look up, list, take back.

Promises: 202 for a new intent, also where it is refused at once (its state says so); 200 with the
standing one, its state and since when.
Does not know the gate or the platform: a worker is woken by the service.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from http import HTTPStatus
from typing import ClassVar

from django.http import QueryDict
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request as HttpRequest
from rest_framework.response import Response

from actions.api.bodies import IntentQuery, ProposalBody
from actions.api.documents import IntentDocument, IntentPageDocument
from actions.catalogue import InvalidParameters, UnknownKind
from actions.models import Intent
from actions.queries import IntentFilter, intent_named, intents_of, store_named
from actions.services import AlreadySettled, NoStore, WhichStore, Wish, propose, withdraw
from actions.states import StaleState, State
from integrations.api.bodies import NoBody
from integrations.api.problems import (
    INVALID_FIELDS,
    NOT_HERE,
    Problem,
    ProblemTable,
    ProblemType,
)
from integrations.api.schema import answers
from integrations.api.views import ApiView, one_moment
from integrations.clock import now
from integrations.models import Connection
from integrations.queries import NotHere
from tickets.api.views import NOT_OPEN, named_request
from tickets.queries import ticket_named
from tickets.services import NotOpen

NO_STORE = ProblemType(
    name="no-store", status=HTTPStatus.CONFLICT, title="The workspace has no connected store"
)
ALREADY_SETTLED = ProblemType(
    name="already-settled",
    status=HTTPStatus.CONFLICT,
    title="The intent has ended",
    advice=str(AlreadySettled.__doc__),
)
MOVED_MEANWHILE = ProblemType(
    name="moved-meanwhile",
    status=HTTPStatus.CONFLICT,
    title="Someone moved the intent first",
)
LONGEST_TRANSACTION = timedelta(seconds=60)
"""How long a change may be under way before others see it; no transaction of ours lasts as long."""


class IntentView(ApiView):
    """An endpoint that answers an intent."""

    problems: ClassVar[ProblemTable] = {
        NotOpen: NOT_OPEN,
        NoStore: NO_STORE,
        StaleState: MOVED_MEANWHILE,
    }

    def shown(self, public_id: str, *, status: HTTPStatus = HTTPStatus.OK) -> Response:
        """Answer with the intent as it stands."""
        with one_moment():
            intent = intent_named(public_id, workspace=self.workspace)
            return self.document(IntentDocument(intent).data, status=status)


class ProposeIntent(IntentView):
    """Propose an action."""

    @extend_schema(
        operation_id="propose_intent",
        summary="Propose an action on a ticket",
        description=(
            "202 with a new intent, also where the gate refuses it at once: `state` says so. 200 "
            "with the standing intent where the same was proposed before, by anyone, whatever its "
            "state. The server derives the idempotency key; send the same proposal as often as you "
            "like."
        ),
        request=ProposalBody,
        responses=answers(
            {HTTPStatus.ACCEPTED: IntentDocument, HTTPStatus.OK: IntentDocument},
            problems=[HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT],
        ),
    )
    def post(self, request: HttpRequest, ticket: str) -> Response:  # noqa: ARG002 - read by self.body
        """Record the wish as an intent, or answer the one that stands."""
        row = ticket_named(ticket, workspace=self.workspace)
        said = self.body(ProposalBody)
        wish = Wish(
            kind=said["kind"],
            request=named_request(said["request"], row, "request"),
            parameters=said["params"],
            reason=said.get("reason", ""),
            connection=self._store(said.get("connection")),
        )
        with _sentences_by_field():
            proposed = propose(ticket=row, wish=wish, by=self.actor, at=now())
        status = HTTPStatus.ACCEPTED if proposed.is_new else HTTPStatus.OK
        return self.shown(proposed.intent.public_id, status=status)

    def _store(self, public_id: str | None) -> Connection | None:
        if public_id is None:
            return None
        try:
            return store_named(public_id, workspace=self.workspace)
        except NotHere:
            raise Problem(
                NOT_HERE,
                detail="Nothing was written: the workspace has no such store.",
                errors={"connection": ["There is no such store; leave it out if you have one."]},
            ) from None


@contextmanager
def _sentences_by_field() -> Iterator[None]:
    """Answer what the catalogue refuses with a sentence for each field at fault."""
    try:
        yield
    except UnknownKind as unknown:
        raise Problem(INVALID_FIELDS, errors={"kind": [unknown.args[0]]}) from unknown
    except InvalidParameters as invalid:
        errors = {f"params.{field}": [said] for field, said in invalid.sentences.items()}
        raise Problem(INVALID_FIELDS, errors=errors) from invalid
    except WhichStore as several:
        raise Problem(INVALID_FIELDS, errors={"connection": [str(several.__doc__)]}) from several


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
        row = intent_named(intent, workspace=self.workspace)
        self.body(NoBody)
        try:
            withdraw(intent=row, by=self.actor, at=now())
        except AlreadySettled as settled:
            ended = intent_named(intent, workspace=self.workspace)
            raise Problem(ALREADY_SETTLED, members={"state": ended.state}) from settled
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
