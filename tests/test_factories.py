"""The factories reach every state past the guards, so that other tests may lean on them."""

import pytest

from actions.states import State
from tests import factories


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("state", State)
def test_the_factories_reach_every_state_past_every_guard(state: State) -> None:
    intent = factories.intent_in(state)
    intent.refresh_from_db()
    assert intent.state == state
    assert intent.events.count() == intent.event_count


@pytest.mark.django_db(transaction=True)
def test_the_factories_fail_an_unknown_intent_as_absent() -> None:
    intent = factories.unknown_intent()
    assert intent.first_sent_at is not None
    factories.fail_as_absent(intent, at=intent.first_sent_at)
    intent.refresh_from_db()
    assert (intent.state, intent.state_reason) == (State.FAILED, "absent")


@pytest.mark.django_db(transaction=True)
def test_the_factories_resolve_a_ticket() -> None:
    ticket = factories.resolved_ticket()
    ticket.refresh_from_db()
    assert (ticket.status, ticket.resolver) == ("resolved", "ai")
