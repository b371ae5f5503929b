"""What is asked about intents, by those who may see a workspace.

Promises: everything is looked up in one workspace, by public identifier; a page of intents costs
the same few queries however long it is, and walking the pages meets each intent once, whatever
moves meanwhile.
Does not know how any of it is shown.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, OuterRef, Prefetch, QuerySet, Subquery, prefetch_related_objects

from actions.catalogue import kind_named
from actions.models import (
    Echo,
    ExternalObject,
    GateDecision,
    Intent,
    IntentEvent,
    Outcome,
)
from actions.states import NeedsHuman, State
from integrations import sealed
from integrations.models import Connection, Platform, Workspace
from integrations.queries import row_named
from tickets.models import Ticket


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentFilter:
    """Which intents of a workspace are asked for."""

    state: State | None = None
    kind: str | None = None
    updated_since: datetime | None = None
    after: Intent | None = None
    """The last intent of the page before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentPage:
    """Some intents, newest first, and whether older ones follow."""

    intents: Sequence[Intent]
    has_more: bool


def intent_named(public_id: str, *, workspace: Workspace) -> Intent:
    """Return an intent of the workspace.

    Raises:
        NotHere: The workspace has no such intent.
    """
    rows = Intent.objects.filter(workspace=workspace).select_related(
        "ticket",
        "request",
        "connection",
        "target",
        "reason__subject_key",
        "repeat_of",
        "corrects",
        "remainder_of",
        "waits_for",
    )
    return row_named(_in_short(rows), public_id)


def intent_of_ticket(public_id: str, *, ticket: Ticket) -> Intent:
    """Return an intent of the ticket.

    Raises:
        NotHere: The ticket has no such intent.
    """
    rows = Intent.objects.filter(ticket=ticket, workspace_id=ticket.workspace_id)
    return row_named(rows, public_id)


def store_named(public_id: str, *, workspace: Workspace) -> Connection:
    """Return a store of the workspace.

    Raises:
        NotHere: The workspace has no such store.
    """
    stores = Connection.objects.filter(workspace=workspace, platform=Platform.SHOPIFY)
    return row_named(stores, public_id)


def intents_of(workspace: Workspace, *, asked: IntentFilter, limit: int) -> IntentPage:
    """Return one page of a workspace's intents, the last recorded first, which never changes."""
    rows = Intent.objects.filter(workspace=workspace)
    if asked.state is not None:
        rows = rows.filter(state=asked.state)
    if asked.kind is not None:
        rows = rows.filter(kind=asked.kind)
    if asked.updated_since is not None:
        rows = rows.filter(updated_at__gte=asked.updated_since)
    if asked.after is not None:
        rows = rows.filter(pk__lt=asked.after.pk)
    found = list(_in_short(rows.select_related("ticket", "request")).order_by("-pk")[: limit + 1])
    return IntentPage(intents=found[:limit], has_more=len(found) > limit)


def _in_short(rows: QuerySet[Intent]) -> QuerySet[Intent]:
    """Add what every document of an intent shows: since when it is in its state, and its object."""
    arrivals = IntentEvent.objects.filter(intent=OuterRef("pk"), to_state=OuterRef("state"))
    arrivals = arrivals.exclude(from_state=F("to_state")).order_by("-number")
    return rows.annotate(since=Subquery(arrivals.values("at")[:1])).prefetch_related(
        Prefetch("external_objects", ExternalObject.objects.select_related("connection"))
    )


def newest_decision(intent: Intent) -> GateDecision | None:
    """Return what the gate said last; None before it has said anything."""
    decisions = intent.decisions.select_related("policy_version").order_by("-number")
    return decisions.first()


def newest_echo(intent: Intent) -> Echo | None:
    """Return what the platform said last of the intent's own object; None before it has."""
    echoes = Echo.objects.filter(external_object__intent=intent).select_related(
        "attempt", "read", "external_object"
    )
    return echoes.prefetch_related("parts").order_by("-pk").first()


def reason_of(intent: Intent) -> str | None:
    """Return why the proposer wanted it; None where nothing was said or the data was erased."""
    if intent.reason is None:
        return None
    try:
        return sealed.unseal(intent.reason)
    except sealed.Erased:
        return None


def may_be_said_of(intent: Intent) -> str:
    """Return the sentence that is true of an intent now, for anyone."""
    if intent.money is None:
        raise ValueError(f"{intent.public_id} moves no money: its kind has its own wording.")
    state = State(intent.state)
    if intent.needs_human_reason == NeedsHuman.LATE_SUCCESS:
        state = State.PENDING  # more stands than its state says: until a person has looked
    return kind_named(intent.kind).may_be_said(state=state, money=intent.money)


def with_history(ticket: Ticket) -> Ticket:
    """Load a ticket's requests, outcomes, intents and resolutions, in a fixed number of queries."""
    outcomes = Outcome.objects.select_related("external_object__connection", "intent")
    prefetch_related_objects(
        [ticket],
        Prefetch(
            "request_set",
            ticket.request_set.model.objects.select_related("revises").order_by("number"),
        ),
        "request_set__revisions",
        Prefetch("request_set__outcomes", outcomes.order_by("pk")),
        Prefetch(
            "intent_set",
            _in_short(Intent.objects.select_related("ticket", "request")).order_by("pk"),
        ),
        Prefetch("resolution_set", ticket.resolution_set.model.objects.order_by("closed_at", "pk")),
    )
    return ticket
