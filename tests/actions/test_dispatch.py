"""Waking: what is due stands in the row, and a broker that is away costs seconds."""

import base64
import json
from datetime import timedelta

import pytest
import redis
from celery import Celery
from django.db import transaction

from actions.dispatch import TAKEN_FOR, claim_due, wake
from actions.models import Intent
from actions.tasks import dispatch_due
from tests.stage import Stage

pytestmark = pytest.mark.django_db(transaction=True)


def _messages(redis_url: str) -> list[dict[str, object]]:
    """Take every message of the queue `money`, as the transport keeps it: a list of JSON texts."""
    with redis.Redis.from_url(redis_url) as broker:
        kept = broker.lrange("money", 0, -1)
        broker.delete("money")
    bodies = [json.loads(base64.b64decode(json.loads(text)["body"])) for text in kept]
    return [keywords for _, keywords, _ in bodies]


def test_a_proposal_wakes_a_worker_after_its_commit_and_with_its_id_alone(
    stage: Stage, redis_url: str
) -> None:
    _messages(redis_url)
    with transaction.atomic():
        intent = stage.propose(stage.case())
        assert _messages(redis_url) == []
    assert _messages(redis_url) == [{"intent": intent.pk}]


def test_a_broker_that_is_away_loses_no_intent(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    lonely = Celery("lonely", broker="redis://127.0.0.1:1/0", set_as_current=False)
    monkeypatch.setattr("actions.dispatch.current_app", lonely)
    intent = stage.propose(stage.case())
    wake(intent.pk)
    assert claim_due(now=stage.now(), limit=10) == [intent.pk]
    assert stage.work(intent).state == "confirmed"


def test_a_due_row_is_taken_once_and_is_due_again_if_its_taker_dies(stage: Stage) -> None:
    intent = stage.propose(stage.case())
    at = stage.now()
    assert claim_due(now=at, limit=10) == [intent.pk]
    assert claim_due(now=at, limit=10) == []
    assert claim_due(now=at + TAKEN_FOR, limit=10) == [intent.pk]


def test_rows_are_taken_oldest_due_first_and_no_more_than_asked(stage: Stage) -> None:
    intents = [stage.propose(stage.case()) for _ in range(3)]
    at = stage.now()
    for hours, intent in zip((1, 3, 2), intents, strict=True):
        Intent.objects.filter(pk=intent.pk).update(due_at=at - timedelta(hours=hours))
    assert claim_due(now=at, limit=2) == [intents[1].pk, intents[2].pk]


def test_the_sweep_wakes_what_is_due(stage: Stage, redis_url: str) -> None:
    intent = stage.propose(stage.case())
    _messages(redis_url)
    dispatch_due()
    assert _messages(redis_url) == [{"intent": intent.pk}]
    dispatch_due()
    assert _messages(redis_url) == []
