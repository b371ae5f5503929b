"""The tasks: each reads nothing and decides nothing, it calls one function.

Promises: a message carries only an id, and may come twice, late or never; a task never retries
itself. Names are a contract with queued messages and have a test.
Does not know the work.
"""

from celery import shared_task

from actions.advance import advance
from actions.dispatch import ADVANCE, claim_due, publish
from integrations.clock import now

DISPATCH_LIMIT = 500


@shared_task(name=ADVANCE)
def advance_intent(*, intent: int, **_: object) -> None:
    """Do whatever is due for one intent."""
    advance(intent)


@shared_task(name="actions.dispatch_due")
def dispatch_due(**_: object) -> None:
    """Wake what is due and whose wake-up was lost."""
    for intent in claim_due(now=now(), limit=DISPATCH_LIMIT):
        publish(intent)
