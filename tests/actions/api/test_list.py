"""Listing intents: filtered, page by page, each once whatever moves, at a cost that stays."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from actions.models import Intent
from actions.moves import flag, move
from actions.states import NeedsHuman, State
from integrations.actors import SYSTEM
from integrations.clock import now
from integrations.models import Workspace
from tests.caller import Answer, Caller
from tests.factories import AI, intent_in, make_intent, make_ticket, make_workspace

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def workspace() -> Workspace:
    return make_workspace()


@pytest.fixture
def caller(workspace: Workspace) -> Caller:
    return Caller(workspace, AI)


def made(workspace: Workspace, state: State = State.PROPOSED) -> Intent:
    """Make an intent of the workspace in a state."""
    return intent_in(state, ticket=make_ticket(workspace=workspace))


def ids(answer: Answer) -> list[str]:
    """Return which intents an answer lists."""
    assert answer.status == 200
    return [row["id"] for row in answer.body["intents"]]


def test_an_intent_is_listed_in_short(workspace: Workspace, caller: Caller) -> None:
    intent = made(workspace, State.PENDING)
    flag(intent, NeedsHuman.MISMATCH, by=SYSTEM, at=now(), reason="another amount")
    (row,) = caller.get("intents/").body["intents"]
    whole = caller.get(f"intents/{intent.public_id}/").body
    assert row == {name: whole[name] for name in row}
    assert list(row) == [
        "id",
        "kind",
        "state",
        "state_reason",
        "since",
        "already_processed",
        "may_be_said",
        "ticket",
        "request",
        "amount",
        "currency",
        "shop_amount",
        "shop_currency",
        "external_reference",
        "needs_human",
        "created_at",
        "updated_at",
    ]
    assert row["needs_human"]["reason"] == "mismatch"
    assert row["external_reference"]["type"] == "refund"
    assert row["since"] < row["updated_at"]


def test_the_newest_comes_first_and_other_workspaces_never(
    workspace: Workspace, caller: Caller
) -> None:
    mine = [made(workspace).public_id for _ in range(3)]
    make_intent()
    assert ids(caller.get("intents/")) == mine[::-1]


def test_filters_narrow_down_and_an_empty_one_is_none(workspace: Workspace, caller: Caller) -> None:
    held, unknown = made(workspace, State.HELD), made(workspace, State.UNKNOWN)
    assert ids(caller.get("intents/", state="held")) == [held.public_id]
    assert ids(caller.get("intents/", kind="refund", state="unknown")) == [unknown.public_id]
    assert ids(caller.get("intents/", kind="reply")) == []
    everything = ids(caller.get("intents/", state="", kind="", updated_since=""))
    assert everything == [unknown.public_id, held.public_id]


def test_updated_since_lists_what_changed_from_that_moment(
    workspace: Workspace, caller: Caller
) -> None:
    early, late = made(workspace), made(workspace)
    moment = now()
    move(early, State.WITHDRAWN, by=AI, at=moment, reason="taken back")
    assert ids(caller.get("intents/", updated_since=moment.isoformat())) == [early.public_id]
    past = (moment - timedelta(days=1)).isoformat().replace("+00:00", "Z")
    assert ids(caller.get("intents/", updated_since=past)) == [late.public_id, early.public_id]
    after = (moment + timedelta(microseconds=1)).isoformat()
    assert ids(caller.get("intents/", updated_since=after)) == []


def test_walking_the_pages_meets_each_once_while_intents_move_and_come(
    workspace: Workspace, caller: Caller
) -> None:
    intents = [made(workspace) for _ in range(5)]
    first = caller.get("intents/", limit="2", kind="refund")
    met = ids(first)
    assert first.body["poll_from"] is not None
    move(intents[0], State.WITHDRAWN, by=AI, at=now(), reason="taken back")
    move(intents[4], State.WITHDRAWN, by=AI, at=now(), reason="taken back")
    made(workspace)
    page = first
    while page.body["next"] is not None:
        page = caller.get(page.body["next"].removeprefix("/api/v1/"))
        assert page.body["poll_from"] is None
        met += ids(page)
    assert met == [intent.public_id for intent in reversed(intents)]


def test_polling_from_the_first_pages_moment_misses_no_change(
    workspace: Workspace, caller: Caller
) -> None:
    intent = made(workspace)
    first = caller.get("intents/")
    move(intent, State.WITHDRAWN, by=AI, at=now(), reason="taken back")
    again = caller.get("intents/", updated_since=first.body["poll_from"])
    assert ids(again) == [intent.public_id]
    assert again.body["intents"][0]["state"] == "withdrawn"


@pytest.mark.parametrize(
    ("query", "errors"),
    [
        ({"state": "done"}, ["state"]),
        ({"updated_since": "2026-11-30T10:00:00"}, ["updated_since"]),
        ({"updated_since": "2026-11-30T10:00:00 02:00"}, ["updated_since"]),
        ({"updated_since": "yesterday"}, ["updated_since"]),
        ({"updated_since": "2026-13-30T10:00:00Z"}, ["updated_since"]),
        ({"updated_since": "0001-01-01T00:00:00+14:00"}, ["updated_since"]),
        ({"limit": "0"}, ["limit"]),
        ({"limit": "101"}, ["limit"]),
        ({"limit": "many"}, ["limit"]),
        ({"cursor": "int_none"}, ["cursor"]),
        ({"offset": "10"}, ["offset"]),
        ({"workspace": "wsp_other"}, ["workspace"]),
    ],
)
def test_a_question_that_can_not_be_read_is_400(
    caller: Caller, query: dict[str, str], errors: list[str]
) -> None:
    answer = caller.get("intents/", **query)
    assert (answer.status, answer.problem) == (400, "invalid-fields")
    assert list(answer.body["errors"]) == errors


def test_a_parameter_given_twice_is_400(caller: Caller) -> None:
    answer = caller.get("intents/?state=held&state=unknown")
    assert answer.body["errors"] == {"state": ["It is given twice; give it once."]}


def test_a_foreign_cursor_is_the_same_as_an_unknown_one(caller: Caller) -> None:
    foreign = caller.get("intents/", cursor=make_intent().public_id)
    assert (foreign.status, foreign.body) == (400, caller.get("intents/", cursor="int_no").body)


def test_a_page_costs_the_same_however_long_it_is(workspace: Workspace, caller: Caller) -> None:
    made(workspace, State.CONFIRMED)
    few = _queries(caller, "intents/")
    for _ in range(6):
        made(workspace, State.CONFIRMED)
    assert _queries(caller, "intents/") == few
    assert few == 7  # token; begin, isolation, clock, intents, external objects, commit


def test_a_ticket_costs_the_same_however_many_intents_it_has(caller: Caller) -> None:
    intent = intent_in(State.CONFIRMED, ticket=make_ticket(workspace=caller.token.workspace))
    path = f"tickets/{intent.ticket.public_id}/"
    few = _queries(caller, path)
    for _ in range(4):
        intent_in(State.CONFIRMED, ticket=intent.ticket)
    assert _queries(caller, path) == few
    assert len(caller.get(path).body["intents"]) == 5


def _queries(caller: Caller, path: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert caller.get(path).status == 200
    return len(captured)
