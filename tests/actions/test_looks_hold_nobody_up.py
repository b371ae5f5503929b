"""A look takes nothing from the brand's limits: it waits for no judgement, and holds none up."""

from collections.abc import Callable

import pytest
from django.db import transaction

from actions.models import Counter
from actions.services import Wish, preview
from integrations.clock import now
from tests.faults.threads import PATIENCE_SECONDS, meanwhile
from tests.stage import AGENT, Case, Stage, fresh

pytestmark = pytest.mark.django_db(transaction=True)


def propose(stage: Stage, case: Case) -> object:
    return stage.propose(case).state


def try_out(stage: Stage, case: Case) -> object:
    wish = Wish(
        kind="refund",
        request=case.request,
        parameters={"order": case.order.id, "amount": "12.50", "currency": "EUR"},
        connection=stage.connection,
    )
    weighed = preview(ticket=case.ticket, wish=wish, by=AGENT, at=now()).weighed
    assert weighed is not None
    return weighed.decision.ruling


@pytest.mark.parametrize(("look", "said"), [(propose, "proposed"), (try_out, "allow")])
def test_while_others_are_judged_a_proposal_and_a_trial_are_answered(
    stage: Stage, look: Callable[[Stage, Case], object], said: str
) -> None:
    first, second = stage.case(), stage.case()
    stage.work(stage.propose(first))
    with transaction.atomic():
        locked = list(Counter.objects.select_for_update(no_key=True))
        assert len(locked) == 6
        with meanwhile(lambda: look(stage, second)) as looked:
            assert looked.result(PATIENCE_SECONDS) == said
    assert Counter.objects.count() == 6


def test_a_proposal_sees_what_others_have_used(stage: Stage) -> None:
    first = stage.case()
    stage.work(stage.propose(first))
    again = stage.propose(stage.another_ticket(first), amount="13.00")
    facts = fresh(again).decisions.get().facts
    assert facts["usage"]["day"] == {
        "amount": {"amount": "12.50", "currency": "EUR"},
        "count": 1,
    }
