"""One refund over the whole path: proposed, gated, sent over HTTP, confirmed by an echo."""

from decimal import Decimal

import pytest

from actions.models import Attempt, Echo
from tests.stage import Stage

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_refund_is_confirmed_by_the_stores_own_identifier(stage: Stage) -> None:
    case = stage.case()
    intent = stage.work(stage.propose(case))
    assert (intent.state, intent.state_reason) == ("confirmed", "")
    (effect,) = stage.shop.effects()
    assert (effect.amount, effect.currency, effect.note) == (Decimal("12.50"), "EUR", intent.marker)
    assert [external.identifier for external in intent.external_objects.all()] == [effect.id]
    attempt = Attempt.objects.get(intent=intent)
    assert (attempt.outcome, attempt.closed_by, attempt.answered_version) == (
        "echoed",
        "answer",
        "2026-10",
    )
    echo = Echo.objects.get(external_object__intent=intent)
    assert (echo.attempt_id, echo.marker) == (attempt.pk, intent.marker)
    path = [event.to_state for event in intent.events.order_by("number")]
    assert path == ["proposed", "authorized", "executing", "confirmed"]
