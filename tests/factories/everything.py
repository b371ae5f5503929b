"""One row of every guarded table, for tests that ask the same of each.

Promises: each row is legal, and the newest of its table.
Does not know what is asked.
"""

from datetime import timedelta

from django.contrib.auth.models import User

from actions.models import Counter
from actions.states import State
from integrations.clock import now
from integrations.models import ApiToken, Membership, Platform, SenderIdentity
from tests.factories.evidence import find_absent, make_approval
from tests.factories.intents import intent_in, make_intent, resolved_ticket
from tests.factories.rows import AI, make_connection, make_payload
from tests.strategies.statements import MODELS
from tickets.models import Direction, Message, Ticket


def one_of_each() -> dict[str, int]:
    """Make a row of every guarded table; return their ids by table."""
    ticket = resolved_ticket()
    _access(ticket)
    waiting = intent_in(State.AWAITING_APPROVAL)
    make_approval(decision=waiting.decisions.get(), at=now())
    find_absent(intent=intent_in(State.UNKNOWN), at=now() + timedelta(minutes=30))
    make_intent(ticket=waiting.ticket)
    return {table: model._default_manager.latest("pk").pk for table, model in MODELS.items()}


def _access(ticket: Ticket) -> None:
    workspace = ticket.workspace
    user = User.objects.create(username=f"user-{workspace.pk}")
    Membership.objects.create(workspace=workspace, user=user, role="approver")
    ApiToken.objects.create(
        workspace=workspace,
        name="agent",
        actor_kind=AI.kind,
        actor_identity=AI.identity,
        digest=f"digest-{workspace.pk}",
    )
    desk = make_connection(workspace=workspace, platform=Platform.GORGIAS)
    SenderIdentity.objects.create(
        workspace=workspace,
        connection=desk,
        actor_kind=AI.kind,
        actor_identity=AI.identity,
        external_user="7",
    )
    Counter.objects.create(workspace=workspace, name="orders", currency="EUR")
    Message.objects.create(
        workspace=workspace,
        ticket=ticket,
        external_id="message-1",
        direction=Direction.FROM_CUSTOMER,
        body=make_payload(workspace=workspace),
        sent_at=now(),
    )
