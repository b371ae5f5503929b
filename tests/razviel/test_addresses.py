"""Addresses that people and programs try first, before they know ours."""

import json

from django.test import Client


def test_the_bare_address_leads_to_the_console() -> None:
    answer = Client().get("/")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/console/")


def test_a_post_without_its_last_slash_is_told_so_and_not_asked_for_a_cookie() -> None:
    answer = Client(enforce_csrf_checks=True).post("/api/v1/tickets", b"{}", "application/json")
    assert (answer.status_code, answer.headers["Content-Type"]) == (404, "application/problem+json")
    assert json.loads(answer.content)["detail"].startswith(
        "Check the address; each ends in a slash"
    )
