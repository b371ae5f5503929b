"""The endpoint of proposals: record one, or have it judged without recording it.

Promises: 202 for a new intent, also where it is refused at once (its state says so); 200 with the
standing one; a dry run writes nothing and wakes nobody. A wish that follows another intent in a way
that it may not is a problem that says what stands and what to do.
Does not know the gate or the platform: a worker is woken by the service.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, ClassVar

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from rest_framework import serializers
from rest_framework.request import Request as HttpRequest
from rest_framework.response import Response

from actions.api.bodies import ProposalBody, ProposalQuery
from actions.api.documents import IntentDocument
from actions.api.evidence import ExternalReferenceDocument
from actions.api.previews import PreviewDocument, as_preview
from actions.api.views import STORE_UNUSABLE, IntentView, money_member, named_intent
from actions.catalogue import InvalidParameters, UnknownKind
from actions.linking import (
    AlreadyCorrected,
    MoreThanTheRest,
    NoRest,
    NotCorrectable,
    NothingToRepeat,
    NotRepeatable,
    NotTheSame,
    PersonCorrects,
    PersonRepeats,
    RepeatAsks,
)
from actions.models import Intent
from actions.queries import store_named
from actions.services import WhichStore, Wish, preview, propose
from integrations.actors import ActorKind
from integrations.api.problems import INVALID_FIELDS, NOT_HERE, Problem, ProblemTable, ProblemType
from integrations.api.schema import answers
from integrations.api.views import one_moment
from integrations.clock import now
from integrations.models import Connection
from integrations.ports import Unusable
from integrations.queries import NotHere
from tickets.api.views import named_request
from tickets.models import Ticket
from tickets.queries import ticket_named

NOTHING_TO_REPEAT = ProblemType(
    name="nothing-to-repeat",
    status=HTTPStatus.CONFLICT,
    title="Nothing like this was proposed before",
)
NOT_THE_SAME = ProblemType(
    name="not-the-same",
    status=HTTPStatus.CONFLICT,
    title="What it would repeat is another action",
)
NOT_REPEATABLE = ProblemType(
    name="not-repeatable",
    status=HTTPStatus.CONFLICT,
    title="What it would repeat has not ended",
    advice=str(NotRepeatable.__doc__),
)
PERSON_REPEATS = ProblemType(
    name="person-repeats",
    status=HTTPStatus.FORBIDDEN,
    title="Only a person may do this once more",
)
REPEAT_ASKS = ProblemType(
    name="repeat-asks",
    status=HTTPStatus.CONFLICT,
    title="It was done already",
    advice=(
        "Nothing was written: it stands on the platform, as `external_reference` says. If it is "
        "really to be done once more, send this again with `acknowledges` set to "
        "`external_reference.identifier`."
    ),
)
NOT_CORRECTABLE = ProblemType(
    name="not-correctable",
    status=HTTPStatus.CONFLICT,
    title="There is nothing to correct",
    advice=str(NotCorrectable.__doc__),
)
ALREADY_CORRECTED = ProblemType(
    name="already-corrected",
    status=HTTPStatus.CONFLICT,
    title="Another proposal corrects it",
    advice=str(AlreadyCorrected.__doc__),
)
PERSON_CORRECTS = ProblemType(
    name="person-corrects",
    status=HTTPStatus.FORBIDDEN,
    title="Only a person may correct this",
)
NO_REST = ProblemType(
    name="no-rest",
    status=HTTPStatus.CONFLICT,
    title="There is no rest",
    advice=str(NoRest.__doc__),
)
MORE_THAN_THE_REST = ProblemType(
    name="more-than-the-rest",
    status=HTTPStatus.CONFLICT,
    title="The rest is less than that",
)


class ProposeIntent(IntentView):
    """Propose an action."""

    query = ProposalQuery
    problems: ClassVar[ProblemTable] = {
        **IntentView.problems,
        Unusable: STORE_UNUSABLE,
        NothingToRepeat: NOTHING_TO_REPEAT,
        NotTheSame: NOT_THE_SAME,
        PersonRepeats: PERSON_REPEATS,
        PersonCorrects: PERSON_CORRECTS,
    }

    @extend_schema(
        operation_id="propose_intent",
        summary="Propose an action on a ticket",
        description=(
            "202 with a new intent, also where the gate refuses it at once: `state` says so. 200 "
            "with the standing intent where the same was proposed before, by anyone, whatever its "
            "state. The server derives the idempotency key; send the same proposal as often as you "
            "like. To do the same once more, name the newest occurrence in `repeat_of`. With "
            "`dry_run=true` it is judged on the store as it is now, nothing is recorded, and the "
            "200 says what the gate would say."
        ),
        parameters=[ProposalQuery],
        request=ProposalBody,
        responses={
            HTTPStatus.OK.value: PolymorphicProxySerializer(
                component_name="IntentOrPreview",
                serializers=[IntentDocument, PreviewDocument],
                resource_type_field_name=None,
            ),
            **answers(
                {HTTPStatus.ACCEPTED: IntentDocument},
                problems=[HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT],
            ),
        },
    )
    def post(self, request: HttpRequest, ticket: str) -> Response:  # noqa: ARG002 - read by self.body
        """Record the wish as an intent, or answer the one that stands."""
        row = ticket_named(ticket, workspace=self.workspace)
        wish = self._wish(row, self.body(ProposalBody))
        if self.asked["dry_run"]:
            return self._previewed(row, wish)
        with _sentences_by_field(), _what_stands(wish):
            proposed = propose(ticket=row, wish=wish, by=self.actor, at=now())
        status = HTTPStatus.ACCEPTED if proposed.is_new else HTTPStatus.OK
        return self.shown(proposed.intent.public_id, status=status)

    def _previewed(self, ticket: Ticket, wish: Wish) -> Response:
        with _sentences_by_field(), _what_stands(wish):
            previewed = preview(ticket=ticket, wish=wish, by=self.actor, at=now())
        with one_moment():
            standing = previewed.standing and self.intent(previewed.standing.public_id)
            shown = as_preview(previewed.weighed, standing=standing)
            return self.document(PreviewDocument(shown).data)

    def _wish(self, ticket: Ticket, said: Mapping[str, Any]) -> Wish:
        named = {
            field: named_intent(said[field], ticket, field)
            for field in ("repeat_of", "corrects", "remainder_of")
            if field in said
        }
        return Wish(
            kind=said["kind"],
            request=named_request(said["request"], ticket, "request"),
            parameters=said["params"],
            reason=said.get("reason", ""),
            connection=self._store(said.get("connection")),
            acknowledges=said.get("acknowledges", ""),
            **named,
        )

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


@contextmanager
def _what_stands(wish: Wish) -> Iterator[None]:
    """Answer a wish that may not follow another intent with where that one stands."""
    try:
        yield
    except RepeatAsks as asks:
        raise Problem(REPEAT_ASKS, members=_standing_members(asks.earlier)) from asks
    except NotRepeatable as open_still:
        raise Problem(NOT_REPEATABLE, members=_state_of(wish.repeat_of)) from open_still
    except NotCorrectable as otherwise:
        raise Problem(NOT_CORRECTABLE, members=_state_of(wish.corrects)) from otherwise
    except AlreadyCorrected as other:
        raise Problem(ALREADY_CORRECTED, members=_state_of(wish.corrects)) from other
    except NoRest as whole:
        raise Problem(NO_REST, members=_state_of(wish.remainder_of)) from whole
    except MoreThanTheRest as more:
        members = {"rest": money_member(more.rest)}
        raise Problem(MORE_THAN_THE_REST, detail=str(more), members=members) from more


def _state_of(named: Intent | None) -> Mapping[str, object]:
    if named is None:
        return {}
    named.refresh_from_db(fields=["state"])
    return {"state": named.state}


def _standing_members(earlier: Intent) -> Mapping[str, object]:
    """Say what was done: when, by whom, how much, and what the platform calls it."""
    stands, money = earlier.external_objects.select_related("connection").first(), earlier.money
    at = earlier.confirmed_at
    return {
        "intent": earlier.public_id,
        "state": earlier.state,
        "confirmed_at": at and serializers.DateTimeField().to_representation(at),
        "by": _actor_member(ActorKind(earlier.proposer_kind), earlier.proposer_identity),
        "external_reference": stands and ExternalReferenceDocument(stands).data,
        **({} if money is None else money_member(money)),
    }


def _actor_member(kind: ActorKind, identity: str) -> Mapping[str, str]:
    return {"kind": kind.value, "identity": identity}
