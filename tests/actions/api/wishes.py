"""Bodies and addresses of proposals, and the answers to them, for the tests of this folder.

Promises: a wish is a refund of 12.50 EUR in its case unless a test says otherwise; every refusal is
held to leave every row and the store as they were.
Does not know what a test is after.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from django.apps import apps

from actions.models import Intent
from tests.caller import Answer, Caller
from tests.stage import Case, Stage


def wish(case: Case, **changes: object) -> dict[str, object]:
    """Return the body of a proposal in a case, with changes to it; `amount` is a parameter's."""
    amount = changes.pop("amount", "12.50")
    params = {"order": case.order.id, "amount": amount, "currency": case.request.currency}
    said = {"kind": "refund", "request": case.request.public_id, "params": params}
    return said | {"reason": "the parcel came broken"} | changes


def intents_of(case: Case) -> str:
    """Return the address to which a case's proposals go."""
    return f"tickets/{case.ticket.public_id}/intents/"


def proposed(caller: Caller, case: Case, **changes: object) -> Intent:
    """Propose, and return the row that stands for it."""
    answer = caller.post(intents_of(case), wish(case, **changes))
    assert answer.status in (200, 202), answer.body
    return Intent.objects.get(public_id=answer.body["id"])


def everything() -> dict[str, list[Mapping[str, object]]]:
    """Return every row of every table, of whatever workspace."""
    return {
        model._meta.label: list(model._default_manager.order_by("pk").values())
        for model in apps.get_models()
    }


@contextmanager
def nothing_is_written(stage: Stage) -> Iterator[None]:
    """Hold the block to leave every row, and what the store holds, as they were."""
    rows, effects = everything(), stage.shop.effects()
    yield
    assert everything() == rows
    assert stage.shop.effects() == effects


def refused(answer: Answer) -> tuple[int, str]:
    """Return how a call was refused."""
    return answer.status, answer.problem
