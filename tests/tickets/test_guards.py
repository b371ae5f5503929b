"""The guards on tickets and their closing, met by raw SQL: path, requests, resolutions, standing."""

import json
from decimal import Decimal

import pytest

from actions.states import State
from integrations.clock import now
from integrations.ports import Standing
from tests import factories
from tests.refusals import accepted, add, change, copy, execute, refused_by
from tickets.models import Ticket

pytestmark = pytest.mark.django_db
TICKET, REQUEST, RESOLUTION = "tickets_ticket", "tickets_request", "tickets_resolution"
STANDING = f"{TICKET}_ticket_standing"


# --- path, requests, resolutions ------------------------------------------------------------------------------


def entry(kind: str) -> dict[str, str]:
    """Return one stay on a path."""
    return {"kind": kind, "identity": "someone", "since": "2026-11-30T12:00:00+00:00"}


def test_the_path_only_grows() -> None:
    ticket = factories.make_ticket()
    longer = [*ticket.path, entry("human_node")]
    with accepted():
        change(TICKET, ticket.pk, path=json.dumps(longer))
    for shorter in ([], longer[:1], [entry("ai"), *longer[1:]], longer[::-1]):
        with refused_by(f"{TICKET}_path", "the path only grows"):
            change(TICKET, ticket.pk, path=json.dumps(shorter))


def test_the_path_is_a_list_from_the_start() -> None:
    ticket = factories.make_ticket()
    with refused_by(f"{TICKET}_path", "a list of entries"):
        change(TICKET, ticket.pk, path="{}")
    with refused_by(f"{TICKET}_path", "a list of entries"):
        copy(TICKET, ticket.pk, path="{}")


def test_a_revision_follows_a_request_of_its_own_ticket() -> None:
    ticket = factories.make_ticket()
    first = factories.make_request(ticket=ticket)
    foreign = factories.make_request(ticket=factories.make_ticket(workspace=ticket.workspace))
    for revised in (foreign.pk, 10**9):
        with refused_by(f"{REQUEST}_revision"):
            copy(REQUEST, first.pk, number=2, revises_id=revised)
    with refused_by(f"{REQUEST}_revision"):
        copy(REQUEST, first.pk, number=0, revises_id=first.pk)
    with accepted():
        copy(REQUEST, first.pk, number=2, revises_id=first.pk)
    with refused_by("request_revised_once"):
        copy(REQUEST, first.pk, number=3, revises_id=first.pk)


def test_a_request_does_not_revise_itself() -> None:
    request = factories.make_request(ticket=factories.make_ticket())
    with refused_by(f"{REQUEST}_revision"):
        add(
            REQUEST,
            id=10_000,
            workspace_id=request.workspace_id,
            public_id="req-10000",
            ticket_id=request.ticket_id,
            number=2,
            kind="refund",
            target="",
            currency="",
            stated_by_kind="ai",
            stated_by_identity="agent-1",
            revises_id=10_000,
        )


def test_a_resolution_is_born_standing_and_reopened_after_it_closed() -> None:
    ticket = factories.resolved_ticket()
    resolution = ticket.resolution_set.get()
    by = {"reopened_by_kind": "system", "reopened_by_identity": "razviel"}
    with refused_by(f"{RESOLUTION}_birth"):
        copy(RESOLUTION, resolution.pk, reopened_at=now(), **by)
    with refused_by("resolution_standing_once"):
        copy(RESOLUTION, resolution.pk)
    with refused_by("resolution_reopened_by"):
        change(RESOLUTION, resolution.pk, reopened_at="2000-01-01", **by)
    with accepted():
        change(RESOLUTION, resolution.pk, reopened_at=now(), **by)
        change(TICKET, ticket.pk, status="in_progress", resolver=None)
    with refused_by(f"{RESOLUTION}_changes", "written once"):
        change(RESOLUTION, resolution.pk, reopened_at=None)


# --- standing ---------------------------------------------------------------------------------------------------


def resolve(ticket: Ticket, *, resolver: str = "ai", by: str = "ai", **columns: object) -> None:
    """Close a ticket as resolved by raw SQL, whatever it lacks."""
    change(TICKET, ticket.pk, status="resolved", resolver=resolver)
    _resolution(ticket, status="resolved", resolver=resolver, closed_by_kind=by, **columns)


def _resolution(ticket: Ticket, **columns: object) -> None:
    row = {
        "workspace_id": ticket.workspace_id, "public_id": f"res-{now().isoformat()}", "ticket_id": ticket.pk, "reason": "",
        "closed_by_identity": "someone", "references": "{}", "closed_at": now(),
    } | columns  # fmt: skip
    add(RESOLUTION, **row)


def fulfilled() -> Ticket:
    """Return an open ticket that lacks nothing but its closing."""
    intent = factories.confirmed_intent()
    factories.make_outcome(intent=intent)
    return intent.ticket


def test_a_ticket_that_lacks_nothing_resolves() -> None:
    with accepted():
        resolve(fulfilled())


def test_resolved_needs_its_resolution_and_a_resolution_its_ticket() -> None:
    ticket = fulfilled()
    with refused_by(STANDING, "needs its resolution"):
        change(TICKET, ticket.pk, status="resolved", resolver="ai")
    with refused_by(f"{RESOLUTION}_ticket_standing", "an open ticket has a standing resolution"):
        _resolution(ticket, status="resolved", resolver="ai", closed_by_kind="ai")


def test_the_resolution_says_what_the_ticket_says() -> None:
    ticket = fulfilled()
    with refused_by(STANDING, "needs its resolution"):
        change(TICKET, ticket.pk, status="resolved", resolver="ai")
        _resolution(ticket, status="resolved", resolver="brand_team", closed_by_kind="brand_team")
    with refused_by(STANDING, "needs its resolution"):
        change(TICKET, ticket.pk, status="resolved", resolver="ai")
        _resolution(ticket, status="closed_unresolved", reason="spam", closed_by_kind="human_node")


@pytest.mark.parametrize(
    ("by", "on_the_path", "resolver"),
    [
        ("ai", "ai", "ai"),
        ("system", "brand_team", "ai"),
        ("ai", "human_node", "ai_with_human_node"),
        ("human_node", "ai", "ai_with_human_node"),
        ("brand_team", "human_node", "brand_team"),
    ],
)
def test_the_resolver_follows_from_the_path_and_from_who_closed(
    by: str, on_the_path: str, resolver: str
) -> None:
    ticket = fulfilled()
    change(TICKET, ticket.pk, path=json.dumps([*ticket.path, entry(on_the_path)]))
    for other in {"ai", "ai_with_human_node", "brand_team"} - {resolver}:
        with refused_by(STANDING, "the resolver follows from the path"):
            resolve(ticket, resolver=other, by=by)
    with accepted():
        resolve(ticket, resolver=resolver, by=by)


@pytest.mark.parametrize(
    "state",
    [
        State.PROPOSED, State.HELD, State.AWAITING_APPROVAL, State.AUTHORIZED, State.EXECUTING, State.UNKNOWN, State.PENDING,
        State.PARTIALLY_CONFIRMED,
    ],
)  # fmt: skip
def test_a_ticket_resolves_over_no_unsettled_intent(state: State) -> None:
    ticket = fulfilled()
    factories.intent_in(state, ticket=ticket)
    with refused_by(STANDING, "over no unsettled intent"):
        resolve(ticket)


def test_a_resolved_ticket_needs_a_request() -> None:
    with refused_by(STANDING, "needs a request"):
        resolve(factories.make_ticket())


def test_a_resolved_ticket_needs_an_outcome_for_each_request_that_stands() -> None:
    ticket = fulfilled()
    first = ticket.request_set.get()
    later = factories.make_request(ticket=ticket)
    with refused_by(STANDING, "an outcome for each request"):
        resolve(ticket)
    revised = factories.make_request(ticket=ticket, revises=first)
    for request in (later, revised):
        factories.make_statement(request=request)
    with accepted():
        resolve(ticket)


def test_an_outcome_whose_intent_was_reversed_fulfils_nothing() -> None:
    ticket = fulfilled()
    intent = ticket.intent_set.get()
    factories.hear(intent, at=now(), to=State.REVERSED, parts=[(Standing.FAILED, factories.AMOUNT)])
    with refused_by(STANDING, "an outcome for each request"):
        resolve(ticket)


def test_a_ticket_from_a_desk_needs_its_closing_reply_delivered() -> None:
    workspace = factories.make_workspace()
    desk = factories.make_connection(workspace=workspace, platform="gorgias")
    ticket = factories.make_ticket(workspace=workspace, connection=desk)
    factories.make_outcome(intent=factories.confirmed_intent(ticket=ticket))
    with refused_by(STANDING, "its closing reply delivered"):
        resolve(ticket)
    thanks = factories.make_request(ticket=ticket, kind="reply", amount=None, currency="")
    reply = factories.confirmed_intent(
        ticket=ticket, request=thanks, kind="reply", amount=None, currency=""
    )
    factories.make_outcome(intent=reply)
    with accepted():
        resolve(ticket)


def test_a_resolved_ticket_takes_no_further_request() -> None:
    ticket = factories.resolved_ticket()
    with refused_by(f"{REQUEST}_ticket_standing", "an outcome for each request"):
        copy(REQUEST, ticket.request_set.get().pk, number=2)


def test_a_refund_that_bounces_reopens_its_ticket_in_the_same_transaction() -> None:
    ticket = factories.resolved_ticket()
    intent, resolution, at = ticket.intent_set.get(), ticket.resolution_set.get(), now()
    with refused_by("actions_intent_ticket_standing", "an outcome for each request"):
        factories.hear(
            intent, at=at, to=State.REVERSED, parts=[(Standing.FAILED, factories.AMOUNT)]
        )
    intent.refresh_from_db()
    with accepted():
        factories.hear(
            intent, at=at, to=State.REVERSED, parts=[(Standing.FAILED, factories.AMOUNT)]
        )
        change(
            RESOLUTION,
            resolution.pk,
            reopened_at=at,
            reopened_by_kind="system",
            reopened_by_identity="razviel",
        )
        change(TICKET, ticket.pk, status="in_progress", resolver=None)


def close_unresolved(ticket: Ticket, *, by: str) -> None:
    """Close a ticket unresolved by raw SQL."""
    change(TICKET, ticket.pk, status="closed_unresolved")
    _resolution(ticket, status="closed_unresolved", reason="silence", closed_by_kind=by)


@pytest.mark.parametrize(
    "state", [State.PROPOSED, State.HELD, State.AWAITING_APPROVAL, State.AUTHORIZED]
)
def test_nobody_closes_over_what_was_never_sent(state: State) -> None:
    ticket = factories.intent_in(state).ticket
    with refused_by(STANDING, "only if it was sent and a person closes it"):
        close_unresolved(ticket, by="human_node")


@pytest.mark.parametrize(
    "state", [State.EXECUTING, State.UNKNOWN, State.PENDING, State.PARTIALLY_CONFIRMED]
)
def test_a_person_alone_closes_over_what_was_sent(state: State) -> None:
    ticket = factories.intent_in(state).ticket
    with refused_by(STANDING, "only if it was sent and a person closes it"):
        close_unresolved(ticket, by="ai")
    with accepted():
        close_unresolved(ticket, by="brand_team")


@pytest.mark.django_db(transaction=True)
def test_a_ticket_is_closed_only_where_the_last_look_is_fresh() -> None:
    ticket = fulfilled()
    with refused_by(STANDING, "must be fresh"):
        execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        resolve(ticket)


def test_money_in_a_request_is_a_number() -> None:
    request = factories.make_request(ticket=factories.make_ticket())
    for amount in ("NaN", Decimal(0), Decimal(-1)):
        with refused_by("request_money"):
            copy(REQUEST, request.pk, number=2, amount=amount)
