"""A dry run over HTTP: all four verdicts on the store as it is, and not a trace of it."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from actions import dispatch
from actions.models import Intent
from integrations.actors import Actor
from tests.actions.api.wishes import intents_of, nothing_is_written, proposed, refused, wish
from tests.caller import Answer, Caller
from tests.stage import AGENT, INTEGRATION, PERSON, Case, Stage

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Which intents a worker was woken for."""
    published: list[int] = []
    monkeypatch.setattr(dispatch, "publish", lambda pk, **_: published.append(pk))
    return published


def dry_run(stage: Stage, case: Case, *, by: Actor = AGENT, **changes: object) -> Answer:
    """Have a wish judged, and hold that to leave no trace and to send the store nothing."""
    caller = Caller(stage.workspace, by)
    with nothing_is_written(stage):
        answer = caller.post(f"{intents_of(case)}?dry_run=true", wish(case, **changes))
    assert stage.shop.requests(operation="refundCreate") == ()
    return answer


def test_it_says_all_that_a_worker_would_and_records_nothing(
    stage: Stage, woken: list[int]
) -> None:
    case = stage.case()
    answer = dry_run(stage, case)
    assert answer.status == 200
    body = answer.body
    assert {name: body[name] for name in body if name != "verdicts"} == {
        "dry_run": True,
        "standing": None,
        "ruling": "allow",
        "reason": None,
        "sentence": body["sentence"],
        "policy_version": 1,
        "allocation": [
            {
                "parent": case.order.payments[0],
                "gateway": "manual",
                "amount": "12.50",
                "currency": "EUR",
            }
        ],
        "shown_digest": body["shown_digest"],
        "takes_of_limits": {"amount": "12.50", "currency": "EUR"},
        "reckoned": None,
    }
    assert [(verdict["check"], verdict["ruling"]) for verdict in body["verdicts"]] == [
        ("permitted", "allow"),
        ("grounded", "allow"),
        ("within_limits", "allow"),
        ("not_already_done", "allow"),
    ]
    assert body["sentence"] in {verdict["sentence"] for verdict in body["verdicts"]}
    assert [request.operation for request in stage.shop.requests()] == ["order"]
    assert woken == []


def test_what_it_showed_is_what_an_approval_then_covers(stage: Stage) -> None:
    case = stage.case(amount="150.00", total="400.00")
    judged = dry_run(stage, case, amount="150.00").body
    assert (judged["ruling"], judged["reason"]) == ("approve", "over_threshold")
    assert judged["sentence"] == "150.00 EUR asked > 100.00 EUR that need no second person."
    caller = Caller(stage.workspace, AGENT)
    intent = stage.work(proposed(caller, case, amount="150.00"))
    shown = caller.get(f"intents/{intent.public_id}/").body
    assert shown["decision"]["shown_digest"] == judged["shown_digest"]
    assert shown["decision"]["allocation"] == judged["allocation"]
    assert shown["verdicts"] == judged["verdicts"]


def test_a_hold_comes_with_its_evidence(stage: Stage) -> None:
    case = stage.case()
    dispute = stage.shop.open_dispute(case.order.id)
    body = dry_run(stage, case).body
    assert (body["ruling"], body["reason"], body["allocation"]) == ("hold", "dispute", [])
    grounded = next(row for row in body["verdicts"] if row["check"] == "grounded")
    assert grounded["evidence"] == [f"{dispute}#NEEDS_RESPONSE"]


def test_through_a_pause_nothing_is_read(stage: Stage) -> None:
    case = stage.case()
    stage.workspace.paused_at = stage.now()
    stage.workspace.save(update_fields=["paused_at"])
    stage.connection.blocked_by = "credential"
    stage.connection.blocked_at = stage.now()
    stage.connection.save(update_fields=["blocked_by", "blocked_at"])
    body = dry_run(stage, case).body
    assert (body["ruling"], body["reason"]) == ("hold", "paused")
    assert body["verdicts"][1]["ruling"] == "not_read"
    assert stage.shop.requests() == ()


def test_what_was_proposed_before_is_named_and_not_judged(stage: Stage, woken: list[int]) -> None:
    case = stage.case()
    intent = proposed(Caller(stage.workspace, AGENT), case)
    woken.clear()
    answer = dry_run(stage, case, by=PERSON)
    assert (answer.status, answer.body["standing"]["id"]) == (200, intent.public_id)
    assert (answer.body["standing"]["state"], answer.body["ruling"]) == ("proposed", None)
    assert (answer.body["verdicts"], answer.body["allocation"]) == ([], [])
    assert woken == []


def test_a_wish_that_may_not_follow_is_refused_as_if_it_were_meant(stage: Stage) -> None:
    case = stage.case()
    caller = Caller(stage.workspace, PERSON)
    intent = proposed(caller, case)
    with nothing_is_written(stage):
        said = wish(case, repeat_of=intent.public_id)
        answer = caller.post(f"{intents_of(case)}?dry_run=true", said)
    assert refused(answer) == (409, "not-repeatable")
    assert answer.body["state"] == "proposed"


def test_credentials_that_can_not_be_opened_are_named(stage: Stage) -> None:
    case = stage.case()
    stage.connection.credentials = b"not what was sealed"
    stage.connection.save(update_fields=["credentials"])
    caller = Caller(stage.workspace, AGENT)
    with nothing_is_written(stage):
        answer = caller.post(f"{intents_of(case)}?dry_run=true", wish(case))
    assert refused(answer) == (409, "store-unusable")


@pytest.mark.parametrize("said", ["1", "True", "yes", "on", "dry"])
def test_only_true_and_false_are_understood(stage: Stage, said: str) -> None:
    case = stage.case()
    answer = Caller(stage.workspace, AGENT).post(f"{intents_of(case)}?dry_run={said}", wish(case))
    assert (answer.status, answer.body["errors"]) == (
        400,
        {"dry_run": ["It must be true or false."]},
    )
    assert not Intent.objects.exists()


def test_false_and_nothing_propose(stage: Stage) -> None:
    case = stage.case()
    caller = Caller(stage.workspace, INTEGRATION)
    meant = caller.post(f"{intents_of(case)}?dry_run=false", wish(case))
    empty = caller.post(f"{intents_of(case)}?dry_run=", wish(case))
    assert (meant.status, empty.status) == (202, 200)
    assert Intent.objects.count() == 1


def test_the_store_is_never_called_inside_a_transaction(stage: Stage) -> None:
    """The HTTP client raises where one is open; this shows that the dry run's own comes after."""
    case = stage.case()
    caller = Caller(stage.workspace, AGENT)
    with CaptureQueriesContext(connection) as captured:
        caller.post(f"{intents_of(case)}?dry_run=true", wish(case))
    statements = [query["sql"].split()[0] for query in captured.captured_queries]
    assert "ROLLBACK" in statements
    assert "INSERT" in statements[: statements.index("ROLLBACK")]
    assert "INSERT" not in statements[statements.index("ROLLBACK") :]


def test_store_credit_goes_over_no_payment(stage: Stage) -> None:
    stage.connection.scopes = ["read_orders", "write_orders", "read_customers"]
    stage.connection.save(update_fields=["scopes"])
    body = dry_run(stage, stage.case(), kind="store_credit").body
    assert body["ruling"] == "allow"
    assert body["allocation"] == [
        {"parent": None, "gateway": "store_credit", "amount": "12.50", "currency": "EUR"}
    ]


def test_what_it_takes_of_the_limits_is_in_the_shops_currency(stage: Stage) -> None:
    case = stage.case(currency="USD", rate="0.90")
    body = dry_run(stage, case).body
    assert body["ruling"] == "allow"
    assert body["allocation"][0]["currency"] == "USD"
    assert body["takes_of_limits"] == {"amount": "11.25", "currency": "EUR"}


def test_what_the_store_reckons_for_lines_is_shown(stage: Stage) -> None:
    lines = [{"title": "Mug", "quantity": 2, "price": "50.00"}]
    case = stage.case(total="100.00", lines=lines)
    line = {"line": case.order.lines[0], "quantity": 1, "restock": "no_restock"}
    params = {"order": case.order.id, "amount": "12.50", "currency": "EUR", "lines": [line]}
    body = dry_run(stage, case, params=params).body
    assert body["ruling"] == "allow"
    assert body["reckoned"] == {"amount": "50.00", "currency": "EUR"}
