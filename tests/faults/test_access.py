"""A store that shuts us out stops its connection; one that lets us in again goes on at once."""

import pytest
from django.db import IntegrityError

from actions.dispatch import claim_due, resume
from actions.models import Intent, ReadCause
from actions.reconcile import read_target
from integrations.clock import now
from integrations.models import Connection
from integrations.sandbox.faults import FaultKind
from tests.database import TestDatabase
from tests.stage import Stage, fresh

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_read_that_is_not_let_in_stops_the_connection_for_every_intent(stage: Stage) -> None:
    stage.shop.fault(FaultKind.STATUS_BEFORE, operation="order", status=401)
    first = stage.work(stage.propose(stage.case()))
    assert (first.state, first.state_reason) == ("held", "blocked_connection")
    assert Connection.objects.get(pk=stage.connection.pk).blocked_by == "credential"
    second = stage.propose(stage.case())
    assert (second.state, second.state_reason) == ("held", "blocked_connection")
    assert len(stage.shop.requests()) == 1


def test_a_read_in_doubt_that_is_not_let_in_stops_the_connection_and_keeps_the_doubt(
    stage: Stage,
) -> None:
    stage.shop.fault(FaultKind.LOST_AFTER, operation="refundCreate")
    stage.shop.fault(FaultKind.STATUS_BEFORE, operation="order", skip=1, status=403)
    intent = stage.work(stage.propose(stage.case()))
    assert intent.state == "unknown"
    assert Connection.objects.get(pk=stage.connection.pk).blocked_by == "permission"
    assert len(stage.shop.requests()) == 3


def test_what_waited_for_access_goes_on_as_soon_as_there_is_access_again(stage: Stage) -> None:
    """F55: also what had been left to a person, since no schedule runs any more."""
    stage.shop.fault(FaultKind.STATUS_BEFORE, operation="order", status=401)
    held = stage.work(stage.propose(stage.case()))
    Intent.objects.filter(pk=held.pk).update(due_at=None)
    declined = stage.propose(stage.case(amount="150.00", total="400.00"), amount="150.00")
    Connection.objects.filter(pk=stage.connection.pk).update(blocked_by="", blocked_at=None)
    stage.connection.refresh_from_db()
    assert resume(stage.connection, now=now()) == 2
    assert sorted(claim_due(now=now(), limit=10)) == [held.pk, declined.pk]
    assert stage.work(held).state == "confirmed"
    assert resume(stage.connection, now=now()) == 1


def test_an_intent_that_can_not_be_settled_takes_no_other_on_its_order_with_it(
    stage: Stage, test_database: TestDatabase
) -> None:
    stage.shop.gateway("manual", answers="PENDING")
    case = stage.case(amount="60.00", total="100.00")
    poisoned = stage.work(stage.propose(case, amount="60.00"))
    sound = stage.work(stage.propose(stage.another_ticket(case), amount="40.00"))
    assert (poisoned.state, sound.state) == ("pending", "pending")
    for intent in (poisoned, sound):
        stage.shop.settle_refund(intent.external_objects.get().identifier, "SUCCESS")
    poison = (
        "CREATE FUNCTION public.poison() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        f"IF NEW.id = {poisoned.pk} THEN RAISE check_violation; END IF; RETURN NEW; END $$"
    )
    owner = test_database.connection
    assert owner is not None
    owner.execute(poison)
    owner.execute(
        "CREATE TRIGGER poison BEFORE UPDATE ON actions_intent "
        "FOR EACH ROW EXECUTE FUNCTION poison()"
    )
    try:
        with pytest.raises(IntegrityError):
            read_target(sound.target_id, cause=ReadCause.POLL)
    finally:
        owner.execute("DROP FUNCTION public.poison CASCADE")
    assert (fresh(poisoned).state, fresh(sound).state) == ("pending", "confirmed")
