"""Health for probes: `/healthz` says the process answers, `/readyz` that it can work.

Promises: short timeouts, no secrets and no addresses in an answer, 503 when something needed is
away. Does not know: queues, lag, money in doubt; those are metrics.
"""

from __future__ import annotations

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from razviel.celery import ping_broker

_BROKER_TIMEOUT_SECONDS = 1.0


@never_cache
@require_safe
def healthz(_request: HttpRequest) -> HttpResponse:
    """Answer 200 as long as the process answers at all."""
    return JsonResponse({"process": "ok"})


@never_cache
@require_safe
def readyz(_request: HttpRequest) -> HttpResponse:
    """Answer 200 when database and broker answer, 503 otherwise, and say which."""
    found = {
        "database": _database_answers(),
        "broker": ping_broker(timeout_seconds=_BROKER_TIMEOUT_SECONDS),
    }
    words = {name: "ok" if well else "unreachable" for name, well in found.items()}
    return JsonResponse(words, status=200 if all(found.values()) else 503)


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True
