"""A page shows a member the rows of their own workspaces, and to everyone else nothing at all."""

from urllib.parse import urlencode

import pytest
from django.test import Client
from django.urls import reverse

from actions.console.intent_page import IntentPage
from actions.console.ticket_page import TicketPage
from actions.models import Approval, GateDecision, Intent, IntentEvent
from actions.states import State
from integrations.models import Membership, Role
from tests.factories import make_workspace
from tests.razviel.console.brands import (
    Brand,
    addresses_of,
    logged_in,
    make_brand,
    make_user,
    member_of,
    page_of,
    routes,
)
from tickets.models import Ticket

pytestmark = pytest.mark.django_db

OPEN_TO_ALL = {"login", "logout", "password_change", "password_change_done", "jsi18n"}
"""Pages about the account itself; they name no row."""
PAGES = {
    "index",
    "search",
    "app_list",
    "approvals",
    "policies",
    "policy",
    "actions_intent_changelist",
    "actions_intent_change",
    "tickets_ticket_changelist",
    "tickets_ticket_change",
}
WORKS = {Role.HUMAN_NODE, Role.APPROVER, Role.BRAND_ADMIN}
APPROVES = {Role.APPROVER, Role.BRAND_ADMIN}
FORMS = {
    "actions_intent_approve": APPROVES,
    "actions_intent_reject": APPROVES,
    "actions_intent_clear": WORKS,
    "actions_intent_judge_again": WORKS,
    "actions_intent_accept": WORKS,
    "actions_intent_repeat": WORKS,
    "actions_intent_withdraw": WORKS,
    "tickets_ticket_preview": {*WORKS, Role.OPERATOR},
    "tickets_ticket_propose": WORKS,
}
"""Every address that takes a form, and the roles that may send it."""
OF_OBJECTS = {"actions_intent_change", "tickets_ticket_change", "policy", *FORMS}
READS_POLICY = {Role.APPROVER, Role.BRAND_ADMIN, Role.AUDITOR}


@pytest.fixture
def brand() -> Brand:
    return make_brand()


@pytest.fixture
def stranger() -> Client:
    """A member of another, equally full workspace."""
    return member_of(make_brand().workspace)


def leaks(brand: Brand, answer: object, *, typed: str = "") -> list[str]:
    """Return the brand's words on a page, but for what was typed into its search."""
    content = answer.content.decode().replace(typed, "") if typed else answer.content.decode()  # type: ignore[attr-defined]
    return [secret for secret in brand.secrets if secret in content and secret not in typed]


def test_the_console_has_these_addresses_and_no_others() -> None:
    assert set(routes()) == OPEN_TO_ALL | PAGES | set(FORMS)


@pytest.mark.parametrize("name", sorted(routes()))
def test_no_address_shows_a_stranger_a_word(name: str, brand: Brand, stranger: Client) -> None:
    address = addresses_of(brand)[name]
    assert leaks(brand, stranger.get(address)) == []


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("name", sorted(OF_OBJECTS))
def test_an_object_of_another_workspace_does_not_exist(
    name: str, method: str, role: Role, brand: Brand
) -> None:
    stranger, address = member_of(make_workspace(), role=role), addresses_of(brand)[name]
    if method == "post" and name not in FORMS:
        assert stranger.post(address).status_code == 405
        return
    before = rows_now()
    answer = getattr(stranger, method)(address, {"digest": "0" * 64})
    assert (answer.status_code, leaks(brand, answer)) == (404, [])
    assert rows_now() == before


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("name", sorted(FORMS))
def test_a_form_is_taken_from_the_roles_that_may_send_it_and_from_no_other(
    name: str, role: Role, brand: Brand
) -> None:
    client, before = member_of(brand.workspace, role=role), rows_now()
    answer = client.post(addresses_of(brand)[name])
    if role in FORMS[name]:
        assert answer.status_code in (200, 302)
    else:
        assert answer.status_code == 403
        assert "your role does not allow it" in answer.content.decode()
    assert rows_now() == before  # an empty form says nothing that a service would take


@pytest.mark.parametrize("name", sorted(FORMS))
def test_a_form_without_its_token_is_refused(name: str, brand: Brand) -> None:
    user = make_user()
    Membership.objects.create(workspace=brand.workspace, user=user, role=Role.BRAND_ADMIN)
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)
    before = rows_now()
    assert client.post(addresses_of(brand)[name]).status_code == 403
    assert rows_now() == before


@pytest.mark.parametrize("method", ["put", "patch", "delete"])
@pytest.mark.parametrize("name", sorted(FORMS))
def test_a_form_is_sent_by_post_alone(name: str, method: str, brand: Brand) -> None:
    client = member_of(brand.workspace, role=Role.BRAND_ADMIN)
    assert getattr(client, method)(addresses_of(brand)[name]).status_code == 405


@pytest.mark.parametrize("name", sorted(set(FORMS) - {"tickets_ticket_preview"}))
def test_who_opens_the_address_of_a_form_is_led_to_its_page(name: str, brand: Brand) -> None:
    client, before = member_of(brand.workspace, role=Role.BRAND_ADMIN), rows_now()
    answer = client.get(addresses_of(brand)[name])
    assert answer.status_code == 302
    assert client.get(answer.headers["Location"]).status_code == 200
    assert rows_now() == before


@pytest.mark.parametrize("role", list(Role))
def test_the_policy_is_shown_to_the_roles_that_answer_for_it(role: Role, brand: Brand) -> None:
    client = member_of(brand.workspace, role=role)
    answer = client.get(addresses_of(brand)["policy"])
    assert answer.status_code == (200 if role in READS_POLICY else 403)
    led = client.get(addresses_of(brand)["policies"])
    assert led.status_code == (302 if role in READS_POLICY else 403)


def rows_now() -> list[object]:
    """Return all that a word could change."""
    models = (Intent, IntentEvent, Approval, GateDecision, Ticket)
    return [list(model._default_manager.order_by("pk").values()) for model in models]


def test_no_intent_of_another_workspace_exists_whatever_its_state(stranger: Client) -> None:
    brand = make_brand(states=State)
    for intent in brand.intents.values():
        answer = stranger.get(page_of(intent))
        assert (answer.status_code, leaks(brand, answer)) == (404, []), intent.state


@pytest.mark.parametrize("page", ["actions_intent_changelist", "tickets_ticket_changelist"])
def test_search_finds_a_stranger_nothing_by_any_identifier(
    page: str, brand: Brand, stranger: Client
) -> None:
    own = member_of(brand.workspace)
    for secret in [*brand.secrets, brand.ticket.external_id]:
        address = f"{reverse(f'console:{page}')}?{urlencode({'q': secret})}"
        answer = stranger.get(address)
        assert answer.context["cl"].result_count == 0
        assert leaks(brand, answer, typed=secret) == []
    found = own.get(f"{reverse(f'console:{page}')}?{urlencode({'q': brand.ticket.external_id})}")
    assert found.context["cl"].result_count > 0


def test_the_command_box_finds_own_rows_and_a_stranger_none(brand: Brand, stranger: Client) -> None:
    intent = brand.intents[State.CONFIRMED]
    refund = intent.external_objects.get().identifier
    address = f"{reverse('console:search')}?{urlencode({'s': refund, 'extended': 1})}"
    own = member_of(brand.workspace).get(address).content.decode()
    assert intent.public_id in own
    assert brand.ticket.public_id in own
    assert leaks(brand, stranger.get(address)) == []


@pytest.mark.parametrize(
    ("page", "address"),
    [
        (IntentPage, "console:actions_intent_changelist"),
        (TicketPage, "console:tickets_ticket_changelist"),
    ],
)
def test_no_filter_offers_or_opens_another_workspace(
    page: type[IntentPage] | type[TicketPage], address: str, brand: Brand, stranger: Client
) -> None:
    foreign = [brand.workspace.public_id, brand.connection.public_id]
    for narrowing in page.list_filter:
        for value in foreign:
            answer = stranger.get(f"{reverse(address)}?{narrowing.parameter_name}={value}")
            assert leaks(brand, answer, typed=value) == []


@pytest.mark.parametrize(
    "lookup", ["workspace__slug", "ticket__subject", "public_id", "customer__email", "id__in"]
)
def test_the_address_takes_no_lookup_of_its_own(lookup: str, brand: Brand) -> None:
    own = member_of(brand.workspace)
    answer = own.get(f"{reverse('console:actions_intent_changelist')}?{lookup}=1")
    assert answer.status_code == 400


def test_a_superuser_sees_what_they_are_a_member_of_and_no_more(brand: Brand) -> None:
    client = member_of(make_workspace(), is_superuser=True, is_staff=True)
    for name, address in addresses_of(brand).items():
        assert leaks(brand, client.get(address)) == [], name
    assert client.get(page_of(brand.ticket)).status_code == 404


def test_a_member_sees_their_own(brand: Brand) -> None:
    client = member_of(brand.workspace)
    seen = "".join(
        client.get(address).content.decode()
        for name, address in addresses_of(brand).items()
        if name not in OPEN_TO_ALL
    )
    for words in ("Name", "Subject", "Request", "Message", "Reason"):
        assert f"{words} {brand.word}" in seen
    assert page_of(brand.intents[State.UNKNOWN]) in seen


def test_a_member_of_two_workspaces_sees_both_and_can_choose_one(brand: Brand) -> None:
    other = make_brand()
    client = member_of(brand.workspace, other.workspace)
    both = client.get(reverse("console:actions_intent_changelist"))
    assert both.context["cl"].result_count == 4
    narrowed = f"?workspace={other.workspace.public_id}"
    one = client.get(reverse("console:actions_intent_changelist") + narrowed)
    assert {row.workspace_id for row in one.context["cl"].result_list} == {other.workspace.pk}


def test_who_leaves_a_workspace_sees_it_no_more(brand: Brand) -> None:
    client = member_of(brand.workspace)
    assert client.get(page_of(brand.ticket)).status_code == 200
    Membership.objects.filter(workspace=brand.workspace).delete()
    answer = client.get(page_of(brand.ticket))
    assert (answer.status_code, leaks(brand, answer)) == (403, [])


@pytest.mark.parametrize("name", sorted(PAGES | set(FORMS)))
def test_who_belongs_to_no_workspace_is_told_so(name: str, brand: Brand) -> None:
    answer = logged_in(make_user(is_superuser=True)).get(addresses_of(brand)[name])
    assert answer.status_code == 403
    assert "You belong to no workspace yet" in answer.content.decode()
    assert leaks(brand, answer) == []


@pytest.mark.parametrize("name", sorted(PAGES | set(FORMS)))
def test_who_is_not_logged_in_is_asked_to(name: str, brand: Brand) -> None:
    address = addresses_of(brand)[name]
    answer = Client().get(address)
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("/console/login/?next=")


def test_a_member_who_is_no_staff_can_log_in(brand: Brand) -> None:
    user = make_user()
    user.set_password("a long sentence that nobody guesses")
    user.save()
    Membership.objects.create(workspace=brand.workspace, user=user, role="human_node")
    answer = Client().post(
        "/console/login/",
        {"username": user.username, "password": "a long sentence that nobody guesses"},
    )
    assert (answer.status_code, answer.headers["Location"]) == (302, "/console/")


def test_an_account_that_is_switched_off_gets_nowhere(brand: Brand) -> None:
    user = make_user(is_active=False)
    Membership.objects.create(workspace=brand.workspace, user=user, role="human_node")
    assert logged_in(user).get(page_of(brand.ticket)).status_code == 302


def test_every_row_that_a_page_lists_is_scoped_by_the_database_query_itself(brand: Brand) -> None:
    client = member_of(brand.workspace)
    listed = client.get(reverse("console:actions_intent_changelist")).context["cl"].queryset
    assert set(listed.values_list("workspace", flat=True)) == {brand.workspace.pk}
    assert Intent.objects.count() == listed.count()
