"""Every way to lose or spoil an answer, by a store that remembers keys and one that forgets them.

Promises: whatever the fault, the store holds at most one refund, and ours says just what the
store holds. The forgetful mode is the one that counts: there no key hides a mistake of ours.
"""

from decimal import Decimal

import pytest

from actions.models import Intent
from integrations.sandbox.faults import FaultKind
from tests.stage import Stage

pytestmark = pytest.mark.django_db(transaction=True)

SPOILED = [
    (FaultKind.LOST_BEFORE, {}),
    (FaultKind.LOST_AFTER, {}),
    (FaultKind.RESET_MID_ANSWER, {}),
    (FaultKind.TRUNCATED_BODY, {}),
    (FaultKind.TRUNCATED_JSON, {}),
    (FaultKind.STATUS_BEFORE, {"status": 500}),
    (FaultKind.STATUS_BEFORE, {"status": 502}),
    (FaultKind.STATUS_BEFORE, {"status": 503}),
    (FaultKind.STATUS_BEFORE, {"status": 504}),
    (FaultKind.STATUS_AFTER, {"status": 500}),
    (FaultKind.STATUS_AFTER, {"status": 502}),
    (FaultKind.STATUS_AFTER, {"status": 503}),
    (FaultKind.STATUS_AFTER, {"status": 504}),
    (FaultKind.INTERNAL_ERROR_BEFORE, {}),
    (FaultKind.INTERNAL_ERROR_AFTER, {}),
    (FaultKind.NO_ID, {}),
    (FaultKind.NO_ID_BEFORE, {}),
    (FaultKind.WRONG_ID_TYPE, {}),
    (FaultKind.HTML, {}),
    (FaultKind.OVERSIZE, {"size_bytes": 2_000_000}),
    (FaultKind.GZIP_BOMB, {"size_bytes": 2_000_000}),
    (FaultKind.BAD_CHARSET, {}),
    (FaultKind.DEEP_ERROR, {"nulls": "refund"}),
    (FaultKind.DEEP_ERROR, {"nulls": "payload"}),
]


@pytest.fixture(params=[True, False], ids=["keys remembered", "keys forgotten"])
def remembering(request: pytest.FixtureRequest, stage: Stage) -> Stage:
    """A stage whose store remembers keys, and one whose store forgets them."""
    stage.shop.keys(remember=request.param)
    return stage


def _is_told_truly(stage: Stage, intent: Intent) -> None:
    (effect,) = stage.shop.effects()
    assert (effect.amount, effect.note) == (Decimal("12.50"), intent.marker)
    assert [one.identifier for one in intent.external_objects.all()] == [effect.id]


@pytest.mark.parametrize(("kind", "details"), SPOILED, ids=str)
def test_a_spoiled_answer_ends_in_one_refund_confirmed(
    remembering: Stage, kind: FaultKind, details: dict[str, object]
) -> None:
    stage = remembering
    stage.shop.fault(kind, operation="refundCreate", **details)
    intent = stage.work(stage.propose(stage.case()))
    assert intent.state in ("unknown", "confirmed")
    intent = stage.settle(intent)
    assert intent.state == "confirmed"
    _is_told_truly(stage, intent)


def test_an_answer_lost_after_execution_is_found_by_its_marker_and_not_sent_again(
    remembering: Stage,
) -> None:
    stage = remembering
    stage.shop.fault(FaultKind.LOST_AFTER, operation="refundCreate")
    intent = stage.work(stage.propose(stage.case()))
    assert intent.state == "confirmed"
    assert len(stage.shop.requests(operation="refundCreate")) == 1
    _is_told_truly(stage, intent)


def test_a_request_that_never_arrived_is_sent_again_only_after_it_can_no_longer_land(
    remembering: Stage,
) -> None:
    stage = remembering
    stage.shop.fault(FaultKind.LOST_BEFORE, operation="refundCreate")
    intent = stage.work(stage.propose(stage.case()))
    assert intent.state == "unknown"
    assert intent.settles_at is not None
    assert len(stage.shop.requests(operation="refundCreate")) == 1
    intent = stage.settle(intent)
    first, second = intent.attempts.order_by("number")
    assert (first.outcome, first.resolved_how, second.outcome) == ("unknown", "absent", "echoed")
    assert intent.settles_at is not None
    assert second.started_at >= first.send_by + (intent.settles_at - second.send_by)
    assert first.request_digest == second.request_digest
    sent = stage.shop.requests(operation="refundCreate")
    assert len({request.body_sha256 for request in sent}) == 1
    assert len(sent) == 2
    _is_told_truly(stage, intent)


def test_an_answer_with_another_refunds_identifier_never_confirms_by_it(remembering: Stage) -> None:
    stage = remembering
    other = stage.work(stage.propose(stage.case(), amount="12.50"))
    (stranger,) = other.external_objects.all()
    stage.shop.fault(FaultKind.OTHER_ID, operation="refundCreate", other=stranger.identifier)
    intent = stage.work(stage.propose(stage.case()))
    assert not intent.external_objects.filter(identifier=stranger.identifier).exists()
    assert [one.identifier for one in other.external_objects.all()] == [stranger.identifier]
