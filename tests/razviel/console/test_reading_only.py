"""A page of the Console reads, unless it takes a form: nothing else adds or changes anything."""

import pytest
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext

from actions.console.intent_page import IntentPage
from actions.console.ticket_page import TicketPage
from actions.models import Intent
from razviel.console import console
from tests.razviel.console.brands import Brand, addresses_of, make_brand, member_of, page_of, routes
from tests.razviel.console.test_who_sees_what import FORMS
from tickets.models import Ticket

pytestmark = pytest.mark.django_db

ACCOUNT = {"login", "logout", "password_change", "password_change_done", "jsi18n"}
PAGES = sorted(set(routes()) - ACCOUNT)
READING = sorted(set(PAGES) - set(FORMS))


@pytest.fixture
def brand() -> Brand:
    return make_brand()


@pytest.fixture
def member(brand: Brand) -> Client:
    return member_of(brand.workspace, is_superuser=True, is_staff=True)


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
@pytest.mark.parametrize("name", READING)
def test_every_page_refuses_whatever_is_not_reading(
    name: str, method: str, brand: Brand, member: Client
) -> None:
    address = addresses_of(brand)[name]
    before = [list(model.objects.order_by("pk").values()) for model in (Ticket, Intent)]
    with CaptureQueriesContext(connection) as asked:
        answer = getattr(member, method)(address, {"action": "delete_selected", "_save": "1"})
    assert answer.status_code == 405
    assert not [query for query in asked.captured_queries if "SELECT" not in query["sql"]]
    assert [list(model.objects.order_by("pk").values()) for model in (Ticket, Intent)] == before


@pytest.mark.parametrize("name", PAGES)
def test_reading_writes_nothing(name: str, brand: Brand, member: Client) -> None:
    with CaptureQueriesContext(connection) as asked:
        member.get(addresses_of(brand)[name])
    # A form reads its choices through a cursor.
    reads = ("SELECT", "DECLARE")
    assert not [query for query in asked.captured_queries if not query["sql"].startswith(reads)]


@pytest.mark.parametrize(
    "tail",
    [
        "add/",
        "{pk}/change/",
        "{id}/change/",
        "{id}/delete/",
        "{id}/history/",
        "{pk}/",
        "{pk}/delete/",
    ],
)
def test_there_is_no_address_to_add_change_or_delete(
    tail: str, brand: Brand, member: Client
) -> None:
    for row in (brand.ticket, next(iter(brand.intents.values()))):
        start = page_of(row).removesuffix(f"{row.public_id}/")
        address = start + tail.format(pk=row.pk, id=row.public_id)
        assert member.get(address).status_code == 404
        assert member.post(address).status_code in (404, 405)


@pytest.mark.parametrize("page", [IntentPage, TicketPage])
def test_a_page_offers_no_action_and_no_permission(page: type[IntentPage | TicketPage]) -> None:
    made = page(Intent if page is IntentPage else Ticket, console)
    request = RequestFactory().get("/console/")
    allowed = [
        made.has_add_permission(request),
        made.has_change_permission(request),
        made.has_delete_permission(request),
    ]
    assert allowed == [False, False, False]
    assert made.actions == ()
    assert not made.list_editable


@pytest.mark.parametrize("address", ["/console/autocomplete/", "/console/r/1/1/"])
def test_the_addresses_that_complete_and_jump_are_gone(address: str, member: Client) -> None:
    assert member.get(address).status_code == 404


@pytest.mark.parametrize("name", PAGES)
def test_a_page_loads_nothing_from_elsewhere(name: str, brand: Brand, member: Client) -> None:
    answer = member.get(addresses_of(brand)[name])
    content = answer.content.decode()
    for outside in ('src="http', "src='http", 'href="//', 'src="//', "@import"):
        assert outside not in content
    if answer.status_code == 200:
        assert "'unsafe-eval'" in answer.headers["Content-Security-Policy"]
