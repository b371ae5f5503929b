"""What an actor can ask of an action: propose it, take it back.

Promises: the same wish gives the same row and the same answer, however often and by whomever it
is proposed; a proposal is judged at once as far as our own facts go; what was never sent can be
taken back, of what was sent only the right to resend.
Does not send: it records, and wakes a worker.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction

from actions.catalogue import Kind, Parameters, kind_named
from actions.dispatch import wake
from actions.gate import Weighed, judge_at_proposal, read_for, weigh
from actions.keys import Canonical, derive_key
from actions.linking import (
    NothingToRepeat,
    NotTheSame,
    hold_to_correct,
    hold_to_repeat,
    hold_to_the_rest,
)
from actions.locks import Locked, bump, lock_intent, lock_targets
from actions.models import Intent, Target
from actions.moves import move, record_birth, remark
from actions.occurrences import earlier_occurrences, newest_occurrence
from actions.settling import end_resends
from actions.states import SETTLED, WITHDRAWABLE, State
from integrations import sealed
from integrations.actors import Actor
from integrations.markers import new_marker
from integrations.models import Connection, Platform
from integrations.money import Money
from integrations.rows import new_public_id
from tickets.models import Request, Ticket
from tickets.services import NotOpen, act, lock_ticket


class NoStore(Exception):
    """The workspace has no connected store: run `manage.py connect shopify` first."""


class WhichStore(Exception):
    """The workspace has several stores: name one of them in `connection`."""


class AlreadySettled(Exception):
    """The intent has ended and can't be taken back; its state says how."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """One action that an actor wants, as proposed."""

    kind: str
    request: Request
    parameters: Mapping[str, object]
    reason: str = ""
    connection: Connection | None = None
    repeat_of: Intent | None = None
    """The newest occurrence of the same wish, to be done once more knowingly."""
    acknowledges: str = ""
    """What stands on the platform already, where a repeat asks for that."""
    corrects: Intent | None = None
    """What ended without what was asked, of the same ticket."""
    remainder_of: Intent | None = None
    """What was accepted in part or reversed, and is to be made up for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """The intent, and whether this call made it."""

    intent: Intent
    is_new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What the gate would say of a wish now; nothing of it was recorded."""

    weighed: Weighed | None
    standing: Intent | None
    """The intent that a proposal would be answered with, where it was proposed before."""


def propose(*, ticket: Ticket, wish: Wish, by: Actor, at: datetime) -> Proposed:
    """Record a wish as an intent, or return the one that stands: the newest occurrence.

    What can be judged now is judged at once, and a worker is woken for the rest.

    Raises:
        UnknownKind: The catalogue has no such kind.
        InvalidParameters: A parameter is missing, unknown or wrong.
        NotOpen: The ticket is closed or handed over.
        NoStore: The workspace has no connected store.
        WhichStore: It has several, and none is named.
        NothingToRepeat, NotTheSame, NotRepeatable, PersonRepeats, RepeatAsks: See
            `actions.linking`; so for the next.
        NotCorrectable, NoRest, MoreThanTheRest: What it follows may not be followed so.
    """
    with transaction.atomic():
        locked, is_new = _recorded(ticket, wish, by=by, at=at)
        if is_new:
            judge_at_proposal(locked, at=at)
            if State(locked.intent.state) not in SETTLED:
                wake(locked.intent.pk)
    return Proposed(intent=locked.intent, is_new=is_new)


def preview(*, ticket: Ticket, wish: Wish, by: Actor, at: datetime) -> Preview:
    """Judge a wish by all four checks on the store as it is now, and record nothing of it.

    It is proposed and judged like any other, in a transaction that is taken back.

    Raises:
        As `propose`.
    """
    kind = kind_named(wish.kind)
    parameters = kind.parse(wish.parameters)
    connection = wish.connection or only_store(ticket)
    reading = read_for(connection, kind=kind, order=parameters.target, basis=parameters.basis)
    with transaction.atomic():
        locked, is_new = _recorded(ticket, wish, by=by, at=at)
        weighed = weigh(locked, reading, at=at, taking=False) if is_new else None
        transaction.set_rollback(True)
    return Preview(weighed=weighed, standing=None if is_new else locked.intent)


def _recorded(ticket: Ticket, wish: Wish, *, by: Actor, at: datetime) -> tuple[Locked, bool]:
    """Lock a ticket and return the intent of a wish, and whether it was made for it."""
    kind = kind_named(wish.kind)
    parameters = kind.parse(wish.parameters)
    connection = wish.connection or only_store(ticket)
    ticket = lock_ticket(ticket)
    key_parameters = _key_parameters(wish, parameters, connection)
    standing = _standing(ticket, kind, key_parameters)
    if standing is not None and not _repeats(standing, wish):
        return Locked(ticket=ticket, target=standing.target, intent=standing), False
    if standing is None and wish.repeat_of is not None:
        raise NothingToRepeat
    if not ticket.is_open:
        raise NotOpen
    if standing is not None:
        hold_to_repeat(standing, by=by, acknowledges=wish.acknowledges)
    target = _locked_target(connection, kind, parameters, wish)
    _hold_to_links(wish, parameters.money, by=by, ticket=ticket, target=target)
    occurrence = 1 if standing is None else standing.occurrence + 1
    key = _key(ticket, kind, key_parameters, occurrence)
    born = _Birth(by=by, at=at, key=key, occurrence=occurrence)
    intent = _insert(ticket, target, wish, parameters, born)
    act(ticket, by=by, at=at)
    _follow_up(wish, intent, by=by, at=at)
    return Locked(ticket=ticket, target=target, intent=intent), True


def _key_parameters(
    wish: Wish, parameters: Parameters, connection: Connection
) -> Mapping[str, Canonical]:
    """Return what makes two wishes the same; making up for something is a wish of its own."""
    links = {} if wish.remainder_of is None else {"remainder_of": wish.remainder_of.public_id}
    return {**parameters.key_parameters(), "connection": connection.public_id, **links}


def _key(
    ticket: Ticket, kind: Kind, key_parameters: Mapping[str, Canonical], occurrence: int
) -> UUID:
    return derive_key(
        workspace=ticket.workspace.public_id,
        ticket=ticket.public_id,
        kind=kind.name,
        key_parameters=key_parameters,
        occurrence=occurrence,
    )


def _standing(ticket: Ticket, kind: Kind, key_parameters: Mapping[str, Canonical]) -> Intent | None:
    """Return the newest occurrence of a wish; None where it was never proposed."""
    key = _key(ticket, kind, key_parameters, 1)
    rows = Intent.objects.filter(workspace_id=ticket.workspace_id, key=key)
    first = rows.select_related("target").first()
    return None if first is None else newest_occurrence(first)


def _repeats(standing: Intent, wish: Wish) -> bool:
    """Does a wish repeat the newest occurrence? One that repeats an earlier one was answered."""
    if wish.repeat_of is None:
        return False
    if wish.repeat_of == standing:
        return True
    if wish.repeat_of not in earlier_occurrences(standing):
        raise NotTheSame
    return False


def _hold_to_links(wish: Wish, money: Money, *, by: Actor, ticket: Ticket, target: Target) -> None:
    if wish.corrects is not None:
        hold_to_correct(wish.corrects, by=by, ticket=ticket)
    if wish.remainder_of is not None:
        hold_to_the_rest(wish.remainder_of, money=money, by=by, ticket=ticket, target=target)


def _follow_up(wish: Wish, intent: Intent, *, by: Actor, at: datetime) -> None:
    """Leave on what is corrected that it is."""
    if wish.corrects is None:
        return
    corrected = Intent.objects.select_for_update(no_key=True).get(pk=wish.corrects.pk)
    details = {"by": intent.public_id}
    remark(
        corrected, "corrected", by=by, at=at, reason="another proposal corrects it", details=details
    )


def only_store(ticket: Ticket) -> Connection:
    """Return the workspace's store, where it has just one.

    Raises:
        NoStore: It has none.
        WhichStore: It has several.
    """
    stores = list(
        Connection.objects.filter(workspace_id=ticket.workspace_id, platform=Platform.SHOPIFY)[:2]
    )
    if not stores:
        raise NoStore
    if len(stores) > 1:
        raise WhichStore
    return stores[0]


def _locked_target(
    connection: Connection, kind: Kind, parameters: Parameters, wish: Wish
) -> Target:
    """Lock the target, and before it, in order, that of what is corrected."""
    target, _ = Target.objects.get_or_create(
        workspace_id=connection.workspace_id,
        connection=connection,
        kind=kind.target_kind,
        identifier=parameters.target,
    )
    lock_targets({target.pk} if wish.corrects is None else {target.pk, wish.corrects.target_id})
    target.refresh_from_db()
    return target


@dataclass(frozen=True, slots=True, kw_only=True)
class _Birth:
    """By whom, when, and as which occurrence an intent is born."""

    by: Actor
    at: datetime
    key: UUID
    occurrence: int


def _insert(
    ticket: Ticket, target: Target, wish: Wish, parameters: Parameters, born: _Birth
) -> Intent:
    reason = (
        wish.reason
        and ticket.customer
        and sealed.seal(
            subject_key=ticket.customer.subject_key, field="intent.reason", text=wish.reason
        )
    )
    intent = Intent.objects.create(
        public_id=new_public_id("int"),
        workspace_id=ticket.workspace_id,
        ticket=ticket,
        request=wish.request,
        connection=target.connection,
        target=target,
        kind=wish.kind,
        parameters=parameters.canonical(),
        amount=parameters.money.amount,
        currency=parameters.money.currency,
        proposer_kind=born.by.kind,
        proposer_identity=born.by.identity,
        reason=reason or None,
        occurrence=born.occurrence,
        repeat_of=wish.repeat_of,
        corrects=wish.corrects,
        remainder_of=wish.remainder_of,
        key=born.key,
        marker=new_marker(),
        event_count=1,
        due_at=born.at,
        created_at=born.at,
        updated_at=born.at,
    )
    in_words = wish.kind.replace("_", " ")
    record_birth(intent, reason=f"{born.by.kind} wants a {in_words} of {parameters.money}")
    return intent


def withdraw(*, intent: Intent, by: Actor, at: datetime) -> Intent:
    """Take an intent back.

    What was never sent is withdrawn; of what was sent, the right to resend ends.

    Raises:
        AlreadySettled: The intent has ended.
    """
    with transaction.atomic():
        locked = lock_intent(intent.pk)
        intent, state = locked.intent, State(locked.intent.state)
        if state is State.WITHDRAWN:
            return intent
        if state in SETTLED:
            raise AlreadySettled
        act(locked.ticket, by=by, at=at)
        if state in WITHDRAWABLE:
            move(
                intent, State.WITHDRAWN, by=by, at=at, reason="taken back before anything was sent"
            )
            bump(locked.target)
        else:
            end_resends(
                intent, by=by, at=at, reason="taken back after a send: it ends as the store says"
            )
    return intent
