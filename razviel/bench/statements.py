"""How many statements one refund costs the database, from the proposal to its confirmation.

Promises: counted at the database connection, savepoints included, in one process and with nobody
else about, so that the figure is the same on every machine. Does not know how long they take.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection

from actions.advance import advance
from actions.models import Intent
from actions.states import State
from razviel.bench.cases import open_brand, open_case, propose_refund
from razviel.bench.rows import Row
from razviel.demo.stack import Stack, address_of_sandbox, start_sandbox

STATEMENTS = "statements_per_refund"
STATEMENTS_TO_PROPOSE = "statements_to_propose"


class NotConfirmed(Exception):
    """The refund whose statements were counted did not end as confirmed in one go."""


def measure_statements(stack: Stack) -> list[Row]:
    """Count them for a refund that goes well, after one that warms up."""
    brand = open_brand(address_of_sandbox(stack, start_sandbox(stack)))
    advance(propose_refund(open_case(brand)))
    case = open_case(brand)
    with _counted() as count:
        intent = propose_refund(case)
        to_propose = count()
        advance(intent)
        whole = count()
    state = Intent.objects.values_list("state", flat=True).get(pk=intent)
    if state != State.CONFIRMED:
        raise NotConfirmed(f"Intent {intent} is {state}.")
    return [
        Row(name=STATEMENTS, value=whole, unit="statements"),
        Row(name=STATEMENTS_TO_PROPOSE, value=to_propose, unit="statements"),
    ]


@contextmanager
def _counted() -> Iterator[Callable[[], int]]:
    """Count the statements on this thread's connection."""
    count = 0

    def counting(execute: Callable[..., Any], *call: Any) -> Any:  # Django's own signature
        nonlocal count
        count += 1
        return execute(*call)

    with connection.execute_wrapper(counting):
        yield lambda: count
