"""Every page says where its scripts may come from."""

from __future__ import annotations

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from razviel.csp import CONSOLE, STRICT, ContentSecurityPolicyMiddleware


def policy_at(address: str, answer: HttpResponse | None = None) -> str:
    def view(_request: HttpRequest) -> HttpResponse:
        return answer or HttpResponse()

    response = ContentSecurityPolicyMiddleware(view)(RequestFactory().get(address))
    return response.headers["Content-Security-Policy"]


@pytest.mark.parametrize("address", ["/", "/api/v1/tickets/", "/consoles/", "/healthz"])
def test_pages_run_scripts_of_this_server_and_evaluate_nothing(address: str) -> None:
    assert policy_at(address) == STRICT
    assert "script-src 'self';" in STRICT
    assert "unsafe" not in STRICT


def test_the_console_may_evaluate_but_runs_no_inline_script() -> None:
    assert policy_at("/console/actions/intent/") == CONSOLE
    assert "script-src 'self' 'unsafe-eval';" in CONSOLE


def test_an_answers_own_policy_stands() -> None:
    own = HttpResponse(headers={"Content-Security-Policy": "sandbox"})
    assert policy_at("/", own) == "sandbox"
