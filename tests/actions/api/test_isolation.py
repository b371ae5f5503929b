"""Nothing of a workspace is seen or touched with another's token; no caller sets what is ours."""

import pytest

from actions.models import Intent
from tests.actions.api.wishes import everything
from tests.caller import Answer, Caller
from tests.factories import NODE, make_intent, make_ticket, make_workspace

pytestmark = pytest.mark.django_db(transaction=True)

MONEY = {"amount": "12.50", "currency": "EUR"}
DIGEST = "0" * 64
PARAMS = {"order": "gid://shopify/Order/1001"} | MONEY
ENDPOINTS = [
    ("GET", "tickets/{ticket}/"),
    ("POST", "tickets/{ticket}/requests/"),
    ("POST", "tickets/{ticket}/intents/"),
    ("POST", "tickets/{ticket}/close/"),
    ("POST", "tickets/{ticket}/reopen/"),
    ("GET", "intents/{intent}/"),
    ("POST", "intents/{intent}/withdraw/"),
    ("POST", "intents/{intent}/approve/"),
    ("POST", "intents/{intent}/reject/"),
    ("POST", "intents/{intent}/clear/"),
    ("POST", "intents/{intent}/judge-again/"),
    ("POST", "intents/{intent}/accept/"),
]
SERVERS_OWN = [
    "state",
    "workspace",
    "resolver",
    "approved_by",
    "amount_max",
    "key",
    "id",
    "occurrence",
    "proposer",
    "marker",
]


def bodies(intent: Intent) -> dict[str, dict[str, object]]:
    """Return, for each address that takes a body, one that would be taken."""
    request = intent.request.public_id
    word = {"request": request, "why": "because"}
    refund: dict[str, object] = {"kind": "refund"}
    return {
        "tickets/": {"external_id": "new", "customer": {}},
        "tickets/{ticket}/requests/": refund | MONEY,
        "tickets/{ticket}/intents/": {"kind": "refund", "request": request, "params": PARAMS},
        "tickets/{ticket}/close/": {"status": "resolved", "fulfilments": [word]},
        "tickets/{ticket}/reopen/": {},
        "intents/{intent}/withdraw/": {},
        "intents/{intent}/approve/": {"digest": DIGEST},
        "intents/{intent}/reject/": {"digest": DIGEST},
        "intents/{intent}/clear/": {"digest": DIGEST},
        "intents/{intent}/judge-again/": {},
        "intents/{intent}/accept/": {**MONEY, "reason": "the customer agreed"},
    }


def named(path: str, intent: Intent) -> str:
    """Return an address with the identifiers of an intent and its ticket."""
    return path.format(ticket=intent.ticket.public_id, intent=intent.public_id)


@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
def test_what_is_foreign_is_the_same_404_as_what_is_not(method: str, path: str) -> None:
    theirs = make_intent()
    caller = Caller(make_workspace(), NODE)
    body = bodies(theirs).get(path)
    before = everything()
    foreign = _call(caller, method, named(path, theirs), body)
    unknown = _call(caller, method, path.format(ticket="tkt_none", intent="int_none"), body)
    for answer in (foreign, unknown):
        assert (answer.status, answer.problem) == (404, "not-found")
        del answer.body["instance"]
    assert foreign.body == unknown.body
    assert everything() == before


@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
def test_the_owner_is_not_refused_by_the_same_calls(method: str, path: str) -> None:
    mine = make_intent()
    answer = _call(Caller(mine.workspace, NODE), method, named(path, mine), bodies(mine).get(path))
    assert answer.status in (200, 201, 202, 409)


def test_a_proposal_can_not_name_a_foreign_request() -> None:
    mine, theirs = make_intent(), make_intent()
    neighbour = make_intent(ticket=make_ticket(workspace=mine.workspace))
    caller = Caller(mine.workspace, NODE)
    before = everything()
    for request in (theirs.request.public_id, neighbour.request.public_id, "req_none"):
        said = bodies(mine)["tickets/{ticket}/intents/"] | {"request": request}
        answer = caller.post(named("tickets/{ticket}/intents/", mine), said)
        assert (answer.status, answer.problem) == (404, "not-found")
        assert list(answer.body["errors"]) == ["request"]
    assert everything() == before


@pytest.mark.parametrize("field", ["repeat_of", "corrects", "remainder_of"])
def test_nor_a_foreign_intent(field: str) -> None:
    mine, theirs = make_intent(), make_intent()
    neighbour = make_intent(ticket=make_ticket(workspace=mine.workspace))
    caller = Caller(mine.workspace, NODE)
    before = everything()
    for query in ("", "?dry_run=true"):
        for intent in (theirs.public_id, neighbour.public_id, "int_none"):
            said = bodies(mine)["tickets/{ticket}/intents/"] | {field: intent}
            answer = caller.post(named("tickets/{ticket}/intents/", mine) + query, said)
            assert (answer.status, answer.problem) == (404, "not-found")
            assert answer.body["errors"] == {
                field: ["The ticket has no such intent; its document lists those it has."]
            }
    assert everything() == before


@pytest.mark.parametrize("field", SERVERS_OWN)
def test_no_caller_sets_what_is_the_servers(field: str) -> None:
    mine = make_intent()
    caller = Caller(mine.workspace, NODE)
    before = everything()
    for path, body in bodies(mine).items():
        answer = caller.post(named(path, mine), body | {field: "mine"})
        assert (answer.status, answer.problem) == (400, "invalid-fields")
        assert answer.body["errors"] == {field: ["There is no such field; leave it out."]}
    assert everything() == before


@pytest.mark.parametrize("field", SERVERS_OWN)
def test_nor_does_one_further_in(field: str) -> None:
    mine = make_intent()
    caller = Caller(mine.workspace, NODE)
    said = bodies(mine)
    params = {"params": PARAMS | {field: "mine"}}
    word = {"request": mine.request.public_id, "why": "because", field: "mine"}
    inner = {
        "tickets/": (said["tickets/"] | {"customer": {field: "mine"}}, f"customer.{field}"),
        "tickets/{ticket}/intents/": (
            said["tickets/{ticket}/intents/"] | params,
            f"params.{field}",
        ),
        "tickets/{ticket}/close/": (
            {"status": "resolved", "fulfilments": [word]},
            f"fulfilments.0.{field}",
        ),
    }
    before = everything()
    for path, (body, at) in inner.items():
        answer = caller.post(named(path, mine), body)
        assert (answer.status, answer.problem) == (400, "invalid-fields")
        assert list(answer.body["errors"]) == [at]
    assert everything() == before


def _call(caller: Caller, method: str, path: str, body: object) -> Answer:
    return caller.get(path) if method == "GET" else caller.post(path, body)
