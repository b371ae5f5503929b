"""Taking an intent back over HTTP: unsent it goes, sent it loses its resends, settled it stays."""

import pytest

from actions.models import Attempt, Intent
from actions.states import State
from tests.caller import Caller
from tests.factories import AI, confirmed_intent, intent_in, make_intent, unknown_intent

pytestmark = pytest.mark.django_db(transaction=True)


def caller_for(intent: Intent) -> Caller:
    """Return an agent of the intent's workspace."""
    return Caller(intent.workspace, AI)


@pytest.mark.parametrize(
    "state", [State.PROPOSED, State.HELD, State.AWAITING_APPROVAL, State.AUTHORIZED]
)
def test_what_was_never_sent_is_withdrawn(state: State) -> None:
    intent = intent_in(state)
    answer = caller_for(intent).post(f"intents/{intent.public_id}/withdraw/")
    assert (answer.status, answer.body["state"]) == (200, "withdrawn")
    assert answer.body["may_be_said"] == (
        "The request for a refund of 12.50 EUR was taken back; none was made."
    )
    assert answer.body["events"][-1]["by"] == {"kind": "ai", "identity": "agent-1"}
    assert not Attempt.objects.exists()


def test_withdrawing_again_is_answered_the_same() -> None:
    intent = make_intent()
    caller = caller_for(intent)
    first = caller.post(f"intents/{intent.public_id}/withdraw/")
    again = caller.post(f"intents/{intent.public_id}/withdraw/", {})
    assert (first.status, again.status) == (200, 200)
    assert again.body == first.body


def test_what_was_sent_only_loses_its_resends() -> None:
    intent = unknown_intent()
    answer = caller_for(intent).post(f"intents/{intent.public_id}/withdraw/")
    assert (answer.status, answer.body["state"]) == (200, "unknown")
    assert answer.body["window"]["resend_ended_at"] is not None
    assert answer.body["may_be_said"] == "The refund of 12.50 EUR is being processed."


def test_what_has_ended_stays_as_it_is() -> None:
    intent = confirmed_intent()
    caller = caller_for(intent)
    before = caller.get(f"intents/{intent.public_id}/").body
    answer = caller.post(f"intents/{intent.public_id}/withdraw/")
    assert (answer.status, answer.problem) == (409, "already-settled")
    assert answer.body["state"] == "confirmed"
    assert answer.body["detail"] == (
        "The intent has ended and can't be taken back; its state says how."
    )
    assert caller.get(f"intents/{intent.public_id}/").body == before
