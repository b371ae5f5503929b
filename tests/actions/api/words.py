"""What waits for a person's word, and how to say one, for the tests of this folder.

Promises: each refund comes to where it waits by its own way, through a proposal and a worker.
Does not know what a test is after.
"""

from actions.models import Intent
from integrations.actors import Actor, ActorKind
from integrations.sandbox.records import Payment
from tests.actions.api.wishes import proposed
from tests.caller import Answer, Caller
from tests.stage import AGENT, Stage

SECOND = Actor(kind=ActorKind.HUMAN_NODE, identity="node-2")
OTHER_DIGEST = "0" * 64


def shown(caller: Caller, intent: Intent) -> dict[str, object]:
    """Return an intent's document."""
    return dict(caller.get(f"intents/{intent.public_id}/").body)


def digest_of(caller: Caller, intent: Intent) -> str:
    """Return the digest of what is shown of it now."""
    return str(caller.get(f"intents/{intent.public_id}/").body["decision"]["shown_digest"])


def say(caller: Caller, verb: str, intent: Intent, **said: object) -> Answer:
    """Say a word on an intent."""
    return caller.post(f"intents/{intent.public_id}/{verb}/", said)


def awaiting(stage: Stage, *, by: Actor = AGENT) -> Intent:
    """Return a refund of 150.00 EUR that awaits approval."""
    case = stage.case(amount="150.00", total="400.00")
    intent = stage.work(proposed(Caller(stage.workspace, by), case, amount="150.00"))
    assert intent.state == "awaiting_approval"
    return intent


def disputed(stage: Stage) -> tuple[Intent, str]:
    """Return a refund that is held for a dispute, and the dispute."""
    case = stage.case()
    dispute = stage.shop.open_dispute(case.order.id)
    intent = stage.work(proposed(Caller(stage.workspace, AGENT), case))
    assert (intent.state, intent.state_reason) == ("held", "dispute")
    return intent, f"{dispute}#NEEDS_RESPONSE"


def partly_done(stage: Stage) -> Intent:
    """Return a refund of which 8.00 EUR stand and 4.50 EUR failed."""
    payments = [Payment(amount="8.00", gateway="card"), Payment(amount="92.00", gateway="voucher")]
    stage.shop.gateway("voucher", answers="FAILURE")
    case = stage.case(total="100.00", payments=payments)
    intent = stage.work(proposed(Caller(stage.workspace, AGENT), case))
    assert intent.state == "partially_confirmed"
    return intent
