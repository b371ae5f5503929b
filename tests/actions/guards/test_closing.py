"""What a resolved ticket may stand on beside a confirmed effect, met by raw SQL; and that it names who resolved it."""

import pytest

from actions.models import ExternalObject, Intent
from actions.states import State
from integrations.clock import now
from tests import factories
from tests.refusals import accepted, add, change, refused_by

pytestmark = pytest.mark.django_db
STANDING = "tickets_ticket_ticket_standing"


def resolve(intent: Intent, *, resolver: str | None) -> None:
    """Close an intent's ticket as resolved by a Human Node, whatever it lacks."""
    change("tickets_ticket", intent.ticket_id, status="resolved", resolver=resolver)
    add(
        "tickets_resolution", workspace_id=intent.workspace_id, public_id=f"res-{now().isoformat()}", ticket_id=intent.ticket_id,
        status="resolved", resolver=resolver, reason="", closed_by_kind="human_node", closed_by_identity="node-1",
        references="{}", closed_at=now(),
    )  # fmt: skip


def fulfil(intent: Intent) -> None:
    """Insert an intent's object as its request's outcome, with a Human Node's word."""
    payload = factories.make_payload(workspace=intent.workspace)
    add(
        "actions_outcome", workspace_id=intent.workspace_id, request_id=intent.request_id,
        external_object_id=ExternalObject.objects.get(intent=intent).pk, intent_id=intent.pk, statement_id=payload.pk,
        by_kind="human_node", by_identity="node-1", created_at=now(),
    )  # fmt: skip


def test_a_ticket_resolves_over_a_late_success_that_a_person_spoke_for_and_over_no_other() -> None:
    intent = factories.late_success()
    with refused_by(STANDING, "a resolved ticket needs an outcome for each request"):
        resolve(intent, resolver="ai_with_human_node")
    with accepted():
        fulfil(intent)
        resolve(intent, resolver="ai_with_human_node")


def test_a_ticket_resolves_over_what_was_accepted_and_a_person_spoke_for() -> None:
    intent = factories.intent_in(State.ACCEPTED)
    with refused_by(STANDING, "a resolved ticket needs an outcome for each request"):
        resolve(intent, resolver="ai_with_human_node")
    with accepted():
        fulfil(intent)
        resolve(intent, resolver="ai_with_human_node")


def test_no_ticket_is_resolved_by_nobody() -> None:
    intent = factories.confirmed_intent()
    factories.make_outcome(intent=intent)
    with refused_by("ticket_resolver_iff_resolved"):
        resolve(intent, resolver=None)
    with accepted():
        resolve(intent, resolver="ai_with_human_node")
