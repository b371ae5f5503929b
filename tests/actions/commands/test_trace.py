"""`manage.py trace`: ours and the store's own word, with an exit status that a script can trust."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import connection as database

from actions.models import Attempt, Echo, Intent, IntentEvent, Read
from actions.states import State
from integrations import vault
from integrations.clock import now
from integrations.connecting import block
from integrations.models import Connection
from integrations.ports import BlockedBy
from integrations.registry import credentials_context
from tests.integrations.commands.running import Ran, Shell, Terminal
from tests.stage import Case, Stage

pytestmark = pytest.mark.django_db(transaction=True)

EVIDENCE = (Attempt, Echo, IntentEvent, Read)


@pytest.fixture
def case(stage: Stage) -> Case:
    return stage.case()


def lines(ran: Ran) -> list[list[object]]:
    """Return what `--json` says, line by line, as what, ours, theirs, verdict, why."""
    (intent,) = json.loads(ran.out)["intents"]
    return [
        [line[name] for name in ("what", "ours", "theirs", "verdict", "why")]
        for line in intent["lines"]
    ]


def as_json(shell: Shell, case: Case) -> Ran:
    return shell("trace", case.ticket.public_id, "--json")


def refund_of(stage: Stage) -> tuple[str, str]:
    """Return the one refund of the store, with its one transaction."""
    (effect,) = stage.shop.effects()
    (transaction,) = effect.parts
    return effect.id, transaction.id


def test_a_confirmed_refund_agrees_line_by_line(shell: Shell, stage: Stage, case: Case) -> None:
    intent = stage.work(stage.propose(case))
    refund, transaction = refund_of(stage)
    ran = shell("trace", case.ticket.public_id)
    assert (ran.status, ran.err) == (0, "")
    head, *table = ran.out.splitlines()
    assert head == (
        f"{intent.public_id}  refund of 12.50 EUR, confirmed; {case.order.id} on {stage.shop.name}"
    )
    rows = [row.split() for row in table if row.strip(" ─")]
    assert rows == [
        ["ours", "theirs", "verdict"],
        ["refund", refund, refund, "agrees"],
        ["marker", intent.marker, intent.marker, "agrees"],
        ["amount", "12.50", "EUR", "12.50", "EUR", "agrees"],
        ["transaction", *[transaction, "12.50", "EUR", "SUCCESS"] * 2, "agrees"],
    ]


def test_json_says_the_same(shell: Shell, stage: Stage, case: Case) -> None:
    intent = stage.work(stage.propose(case))
    refund, transaction = refund_of(stage)
    ran = as_json(shell, case)
    word = f"{transaction} 12.50 EUR SUCCESS"
    assert ran.status == 0
    assert json.loads(ran.out) == {
        "agrees": True,
        "was_read": True,
        "ticket": case.ticket.public_id,
        "intents": [
            {
                "identifier": intent.public_id,
                "kind": "refund",
                "state": "confirmed",
                "asked": "12.50 EUR",
                "target": case.order.id,
                "store": stage.shop.name,
                "was_read": True,
                "lines": [
                    {"what": what, "ours": said, "theirs": said, "verdict": "agrees", "why": ""}
                    for what, said in (
                        ("refund", refund),
                        ("marker", intent.marker),
                        ("amount", "12.50 EUR"),
                        ("transaction", word),
                    )
                ],
            }
        ],
    }


def test_a_status_that_turned_on_the_store_differs(shell: Shell, stage: Stage, case: Case) -> None:
    stage.work(stage.propose(case))
    refund, transaction = refund_of(stage)
    stage.shop.settle_refund(refund, "FAILURE")
    ran = as_json(shell, case)
    assert ran.status == 1
    assert lines(ran)[-1] == [
        "transaction",
        f"{transaction} 12.50 EUR SUCCESS",
        f"{transaction} 12.50 EUR FAILURE",
        "differs",
        "status",
    ]
    assert [line[3] for line in lines(ran)[:-1]] == ["agrees"] * 3


def test_a_second_refund_under_our_marker_is_always_seen(
    shell: Shell, stage: Stage, case: Case
) -> None:
    intent = stage.work(stage.propose(case))
    double = stage.shop.refund_by_staff(case.order.id, amount="12.50", note=intent.marker)
    ran = as_json(shell, case)
    assert ran.status == 1
    assert lines(ran)[-1] == [
        "refund",
        "",
        f"{double.id} 12.50 EUR",
        "differs",
        "a second effect carries this intent's marker",
    ]


def test_a_refund_by_staff_with_no_marker_is_not_ours(
    shell: Shell, stage: Stage, case: Case
) -> None:
    stage.work(stage.propose(case))
    stage.shop.refund_by_staff(case.order.id, amount="1.00")
    assert as_json(shell, case).status == 0


def test_in_doubt_the_store_is_asked_by_marker(shell: Shell, stage: Stage, case: Case) -> None:
    intent = doubtful(stage, case, fault="lost_after")
    refund, _ = refund_of(stage)
    ran = as_json(shell, case)
    assert ran.status == 1
    assert lines(ran) == [
        [
            "refund",
            "",
            f"{refund} 12.50 EUR",
            "differs",
            "the store holds it under this marker; it is not recorded here yet",
        ]
    ]
    assert Intent.objects.get().state == intent.state == State.UNKNOWN


def test_in_doubt_and_absent_is_not_known(shell: Shell, stage: Stage, case: Case) -> None:
    intent = doubtful(stage, case, fault="lost_before")
    assert intent.settles_at is not None
    until = intent.settles_at.isoformat(timespec="seconds")
    sent = "it was sent and nothing is there; "
    expected = ["marker", intent.marker, "", "we_dont_know"]
    ran = as_json(shell, case)
    assert ran.status == 1
    assert lines(ran) == [[*expected, f"{sent}it may still land until {until}"]]
    stage.pass_time(timedelta(minutes=30))
    assert lines(as_json(shell, case)) == [[*expected, f"{sent}the worker's next read settles it"]]


def doubtful(stage: Stage, case: Case, *, fault: str) -> Intent:
    """Lose an answer, and let the read that follows at once fail too."""
    stage.shop.fault(fault, operation="refundCreate")
    # One read for the gate passes; the one after the send doesn't.
    stage.shop.fault("status_before", operation="order", status=500, skip=1)
    intent = stage.work(stage.propose(case))
    assert intent.state == State.UNKNOWN
    return intent


def test_what_was_never_sent_agrees_with_a_store_that_has_nothing(
    shell: Shell, stage: Stage
) -> None:
    case = stage.case(amount="9000.00")
    intent = stage.work(stage.propose(case, amount="9000.00"))
    assert intent.state == State.REFUSED
    ran = as_json(shell, case)
    assert ran.status == 0
    said = "nothing was sent, and nothing is there"
    assert lines(ran) == [["marker", intent.marker, "", "agrees", said]]


def test_what_the_store_rejected_agrees_with_a_store_that_has_nothing(
    shell: Shell, stage: Stage, case: Case
) -> None:
    stage.shop.fault("status_before", operation="refundCreate", status=422)
    intent = stage.work(stage.propose(case))
    assert intent.state == State.FAILED
    ran = as_json(shell, case)
    assert ran.status == 0
    said = "it had no effect, and nothing is there"
    assert lines(ran) == [["marker", intent.marker, "", "agrees", said]]


def test_a_store_that_can_not_be_read_is_two(shell: Shell, stage: Stage, case: Case) -> None:
    stage.work(stage.propose(case))
    stage.shop.fault("status_before", operation="order", status=503)
    ran = as_json(shell, case)
    assert ran.status == 2
    assert {line[3] for line in lines(ran)} == {"we_dont_know"}
    assert [line[0] for line in lines(ran)] == ["refund", "amount", "transaction"]
    assert str(lines(ran)[0][4]).startswith("the store could not be read: ")


def test_a_connection_that_shuts_us_out_is_not_asked(
    shell: Shell, stage: Stage, case: Case
) -> None:
    stage.work(stage.propose(case))
    block(stage.connection, BlockedBy.CREDENTIAL, at=now())
    asked = len(stage.shop.requests())
    ran = as_json(shell, case)
    assert ran.status == 2
    said = "the store could not be read: the connection is stopped (credential)"
    assert lines(ran)[0][4] == said
    assert len(stage.shop.requests()) == asked


def test_credentials_that_do_not_open_are_two(shell: Shell, stage: Stage, case: Case) -> None:
    stage.work(stage.propose(case))
    context = (*credentials_context(stage.connection), "of another place")
    Connection.objects.update(credentials=vault.seal(b"shpat_canary", context=context))
    asked = len(stage.shop.requests())
    ran = as_json(shell, case)
    assert ran.status == 2
    assert "shpat_canary" not in ran.out
    assert len(stage.shop.requests()) == asked


def test_a_refund_that_a_whole_read_does_not_show_is_not_on_the_store(
    shell: Shell, stage: Stage, case: Case
) -> None:
    stage.work(stage.propose(case))
    stage.shop.read_lag(timedelta(hours=1))
    ran = as_json(shell, case)
    assert ran.status == 1
    assert [line[3] for line in lines(ran)] == ["not_on_the_store"] * 3


def test_a_list_that_is_cut_short_proves_nothing_absent(
    shell: Shell, stage: Stage, case: Case
) -> None:
    stage.work(stage.propose(case))
    stage.shop.fault("truncated_refunds", operation="order", keep=0)
    ran = as_json(shell, case)
    assert ran.status == 2
    assert [line[3] for line in lines(ran)] == ["we_dont_know"] * 3
    assert lines(ran)[0][4] == "the store's list of effects came cut short"


def test_an_order_that_is_not_shown_is_no_proof_about_what_was_sent(
    shell: Shell, stage: Stage, case: Case
) -> None:
    stage.work(stage.propose(case))
    stage.shop.fault("order_null", operation="order")
    ran = as_json(shell, case)
    assert ran.status == 2
    assert [line[3] for line in lines(ran)] == ["we_dont_know"] * 3


def test_an_order_that_the_store_does_not_have_agrees_with_what_never_left(
    shell: Shell, stage: Stage, case: Case
) -> None:
    stage.shop.fault("order_null", operation="order", times=None)
    intent = stage.work(stage.propose(case))
    assert not intent.attempts.exists()
    ran = as_json(shell, case)
    assert ran.status == 0
    said = "nothing was sent, and the store has no such order"
    assert lines(ran) == [["marker", intent.marker, "", "agrees", said]]


def test_nothing_is_written(shell: Shell, stage: Stage, case: Case) -> None:
    stage.work(stage.propose(case))
    stage.shop.settle_refund(refund_of(stage)[0], "FAILURE")
    before = [list(model.objects.values()) for model in (*EVIDENCE, Intent, Connection)]
    statements: list[str] = []

    def watch(execute: object, sql: str, *rest: object) -> object:
        statements.append(sql)
        return execute(sql, *rest)  # type: ignore[operator]  # Django's own callable

    with database.execute_wrapper(watch):
        shell("trace", case.ticket.public_id)
    assert {sql.split()[0] for sql in statements} == {"SELECT"}
    assert [list(model.objects.values()) for model in (*EVIDENCE, Intent, Connection)] == before


def test_two_intents_on_one_order_take_one_read(shell: Shell, stage: Stage, case: Case) -> None:
    stage.work(stage.propose(case))
    stage.work(stage.propose(case, amount="3.00"))
    asked = len(stage.shop.requests())
    ran = shell("trace", case.ticket.public_id)
    assert ran.status == 0
    assert ran.out.count("  refund of ") == 2
    assert len(stage.shop.requests()) == asked + 1


def test_a_ticket_without_a_proposal_says_so(shell: Shell, stage: Stage, case: Case) -> None:
    ran = shell("trace", case.ticket.public_id)
    assert (ran.status, ran.out) == (0, f"{case.ticket.public_id}: nothing was proposed.\n")


def test_an_unknown_ticket_is_two(shell: Shell, db: Iterator[None]) -> None:
    ran = shell("trace", "tkt_nowhere")
    assert (ran.status, ran.out) == (2, "")
    said = "There is no ticket 'tkt_nowhere': give its public id, tkt_…"
    assert ran.err == f"CommandError: {said}\n"


@pytest.mark.parametrize("no_color", [True, False])
def test_a_narrow_terminal_folds_and_hides_nothing(
    stage: Stage, case: Case, monkeypatch: pytest.MonkeyPatch, *, no_color: bool
) -> None:
    intent = stage.work(stage.propose(case))
    refund, transaction = refund_of(stage)
    monkeypatch.setenv("COLUMNS", "60")
    out = Terminal()
    call_command("trace", case.ticket.public_id, stdout=out, no_color=no_color)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())
    assert (plain == out.getvalue()) is no_color
    _, *table = plain[plain.index("\n\n") :].splitlines()
    assert max(len(line) for line in table) <= 60
    head = next(line for line in table if "ours" in line)
    columns = slice(head.index("ours"), head.index("theirs"))
    ours = "".join(line[columns].strip() for line in table)
    assert all(said in ours for said in (refund, transaction, intent.marker))
