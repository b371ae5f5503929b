"""Closing a ticket: resolved with outcomes, or unresolved with a reason.

Promises: resolved needs an outcome for every request, and an outcome is what the platform echoed
(or a person's word why it fulfils the request); nothing closes over what is on its way but by a
person's hand, and then only as unresolved. Each closing leaves its Resolution.
Does not send replies: a ticket that came by the API has no reply channel, and says so.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from actions.counters import lock_together
from actions.echoes import newest_parts
from actions.locks import lock_intent, lock_targets
from actions.models import ExternalObject, Intent, Outcome
from actions.moves import move, remark
from actions.states import SETTLED, WITHDRAWABLE, NeedsHuman, State
from integrations import sealed
from integrations.actors import PEOPLE, Actor
from integrations.ports import Standing
from tickets.models import CloseReason, Request, Resolution, Ticket, TicketStatus
from tickets.path import Resolver, resolver_of, with_actor
from tickets.services import NotOpen, lock_ticket


class NotResolvable(Exception):
    """The ticket can't be closed like this yet: each sentence says what is missing."""

    def __init__(self, sentences: Sequence[str]) -> None:
        super().__init__("; ".join(sentences))
        self.sentences = tuple(sentences)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fulfilment:
    """Why a request is fulfilled by something other than what was asked, in a person's words."""

    request: Request
    why: str
    intent: Intent | None = None


def resolve(
    *, ticket: Ticket, by: Actor, at: datetime, fulfilments: Iterable[Fulfilment] = ()
) -> Resolution:
    """Close a ticket as resolved, over an outcome for each of its requests.

    Raises:
        NotOpen: The ticket is closed or handed over.
        NotResolvable: A request has no outcome, something is unsettled, or no person gave what
            only a person may state.
    """
    stated = {fulfilment.request.pk: fulfilment for fulfilment in fulfilments}
    with transaction.atomic():
        ticket = _lock_open(ticket)
        requests = current_requests(ticket)
        missing = [*_unsettled(ticket), *_no_channel_yet(ticket), *_not_a_person(stated, by)]
        missing += _named_in_vain(stated.values())
        if not requests:
            missing.append("state what the customer asked for: a resolved ticket needs a request")
        if not missing:
            lock_targets(one.intent.target_id for one in stated.values() if one.intent)
            for request in requests:
                missing += _fulfil(request, stated.get(request.pk), by=by, at=at)
        if missing:
            raise NotResolvable(missing)
        return _close(ticket, TicketStatus.RESOLVED, by=by, at=at)


def close_unresolved(*, ticket: Ticket, reason: CloseReason, by: Actor, at: datetime) -> Resolution:
    """Close a ticket without an outcome: what was never sent is withdrawn with it.

    Raises:
        NotOpen: The ticket is closed or handed over.
        NotResolvable: Something that was sent is unsettled, and no person closes over it.
    """
    with transaction.atomic():
        ticket = _lock_open(ticket)
        unsent = list(ticket.intent_set.filter(state__in=list(WITHDRAWABLE)).order_by("pk"))
        lock_targets(intent.target_id for intent in unsent)
        # All of them before any move: a move wakes intents of others, and locks those it wakes.
        unsent = [lock_intent(intent.pk).intent for intent in unsent]
        lock_together(unsent, at=at)
        for intent in unsent:
            move(
                intent,
                State.WITHDRAWN,
                by=by,
                at=at,
                reason="its ticket was closed unresolved",
            )
        if by.kind not in PEOPLE and (missing := _unsettled(ticket)):
            raise NotResolvable([*missing, "only a person may close over what is on its way"])
        return _close(ticket, TicketStatus.CLOSED_UNRESOLVED, by=by, at=at, reason=reason)


def current_requests(ticket: Ticket) -> list[Request]:
    """Return the ticket's requests as they stand: revised ones are replaced by their revision."""
    return list(ticket.request_set.filter(revisions=None).order_by("number"))


def _lock_open(ticket: Ticket) -> Ticket:
    ticket = lock_ticket(ticket)
    if not ticket.is_open:
        raise NotOpen
    return ticket


def _unsettled(ticket: Ticket) -> list[str]:
    rows = ticket.intent_set.exclude(state__in=list(SETTLED)).order_by("pk")
    return [f"{intent.public_id} is {intent.state}: wait until it is settled" for intent in rows]


def _no_channel_yet(ticket: Ticket) -> list[str]:
    if not ticket.has_reply_channel:
        return []
    return ["the closing reply is not delivered, and replies can't be sent yet"]


def _named_in_vain(stated: Iterable[Fulfilment]) -> Iterator[str]:
    """Say of which intents a statement speaks that have nothing on the platform to speak of."""
    for one in stated:
        if one.intent is not None and not _has_something_standing(one.intent):
            yield (
                f"{one.intent.public_id} is {one.intent.state}, and nothing of it stands on the "
                "platform: say why the request is fulfilled without naming it"
            )


def _has_something_standing(intent: Intent) -> bool:
    if intent.state in (State.CONFIRMED, State.ACCEPTED):
        return True
    return intent.state == State.FAILED and _all_succeeded(intent)


def _not_a_person(stated: Mapping[int, Fulfilment], by: Actor) -> list[str]:
    if not stated or by.kind in PEOPLE:
        return []
    return ["only a Human Node or the brand's team may state why something else fulfils a request"]


def _fulfil(request: Request, stated: Fulfilment | None, *, by: Actor, at: datetime) -> list[str]:
    """Tie a request to the fact that fulfils it; return what is missing."""
    if has_outcome(request):
        return []
    if stated is not None:
        _state_outcome(request, stated, by=by, at=at)
        return []
    confirmed = Intent.objects.filter(ticket=request.ticket, state=State.CONFIRMED)
    for intent in confirmed.order_by("pk"):
        external = ExternalObject.objects.get(intent=intent)
        if is_as_asked(request, intent) and not external.outcomes.exists():
            _insert_outcome(request, external, intent, by=by, at=at)
            return []
    return [f"{request.public_id} ({request.kind}) has no confirmed action that is what was asked"]


def has_outcome(request: Request) -> bool:
    """Say whether a request has an outcome that still stands: its effect was not reversed since."""
    stands = Q(intent=None) | Q(intent__state__in=[State.CONFIRMED, State.ACCEPTED])
    stated = Outcome.objects.filter(request=request)
    return stated.filter(stands).exists() or any(map(_still_succeeds, stated.exclude(stands)))


def _still_succeeds(outcome: Outcome) -> bool:
    """Is it a success after failure that a person has explained, and that still stands?"""
    if outcome.intent is None or outcome.intent.state != State.FAILED:
        return False
    return _all_succeeded(outcome.intent)


def _all_succeeded(intent: Intent) -> bool:
    parts = newest_parts(intent)
    return bool(parts) and all(part.standing is Standing.SUCCEEDED for part in parts)


def is_as_asked(request: Request, intent: Intent) -> bool:
    """Say whether an intent does exactly what a request asks: kind, target, amount and currency."""
    asked, done = (request.amount, request.currency), (intent.amount, intent.currency)
    return (
        request.kind == intent.kind
        and request.target in ("", intent.target.identifier)
        and (request.amount is None or asked == done)
    )


def _state_outcome(request: Request, stated: Fulfilment, *, by: Actor, at: datetime) -> None:
    customer = request.ticket.customer
    if customer is None:
        raise NotResolvable(["a statement is about a person: the ticket needs its customer"])
    statement = sealed.seal(
        subject_key=customer.subject_key, field="outcome.statement", text=stated.why
    )
    external = None
    if stated.intent is not None:
        external = ExternalObject.objects.filter(intent=stated.intent).first()
        _explain_late_success(stated.intent, by=by, at=at)
    Outcome.objects.create(
        workspace_id=request.workspace_id,
        request=request,
        external_object=external,
        intent=None if external is None else stated.intent,
        statement=statement,
        by_kind=by.kind,
        by_identity=by.identity,
        created_at=at,
    )


def _explain_late_success(named: Intent, *, by: Actor, at: datetime) -> None:
    """A success after failure stands before a person until one says what it is for."""
    intent = lock_intent(named.pk).intent
    if intent.needs_human_reason == NeedsHuman.LATE_SUCCESS:
        remark(
            intent,
            "explained",
            by=by,
            at=at,
            reason="a person says what the late success is for",
            needs_human_since=None,
            needs_human_reason="",
        )


def _insert_outcome(
    request: Request, external: ExternalObject, intent: Intent, *, by: Actor, at: datetime
) -> None:
    Outcome.objects.create(
        workspace_id=request.workspace_id,
        request=request,
        external_object=external,
        intent=intent,
        by_kind=by.kind,
        by_identity=by.identity,
        created_at=at,
    )


def _close(
    ticket: Ticket,
    status: TicketStatus,
    *,
    by: Actor,
    at: datetime,
    reason: CloseReason | None = None,
) -> Resolution:
    ticket.path = with_actor(ticket.path, actor=by, now=at)
    resolver: Resolver | None = None
    if status is TicketStatus.RESOLVED:
        resolver = resolver_of(ticket.path, closed_by=by)
    ticket.status, ticket.resolver, ticket.updated_at = status, resolver, at
    ticket.save(update_fields=["path", "status", "resolver", "updated_at"])
    return Resolution.objects.create(
        workspace_id=ticket.workspace_id,
        ticket=ticket,
        status=status,
        resolver=resolver,
        reason=reason or "",
        closed_by_kind=by.kind,
        closed_by_identity=by.identity,
        references=_references(ticket),
        closed_at=at,
    )


def _references(ticket: Ticket) -> dict[str, object]:
    """Return what the closing stands on: its outcomes' external identifiers, its reply channel."""
    facts = ExternalObject.objects.filter(outcomes__request__ticket=ticket).order_by("pk")
    return {
        "external_objects": list(facts.values_list("identifier", flat=True)),
        "reply_channel": "desk" if ticket.has_reply_channel else "none: the ticket came by the API",
    }
