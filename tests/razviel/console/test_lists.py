"""The lists: what a filter and a search find, what an empty list says, and what a list costs."""

from urllib.parse import urlencode

import pytest
from django.test import Client
from django.urls import reverse

from actions.badges import STATE_BADGES
from actions.models import Intent
from actions.moves import flag
from actions.states import NeedsHuman, State
from integrations import admin
from integrations.actors import SYSTEM
from integrations.clock import now
from tests.factories import intent_in, make_connection, make_ticket, make_workspace, resolved_ticket
from tests.razviel.console.brands import Brand, make_brand, member_of

pytestmark = pytest.mark.django_db

INTENTS, TICKETS = "console:actions_intent_changelist", "console:tickets_ticket_changelist"


@pytest.fixture
def brand() -> Brand:
    return make_brand(states=State)


def listed(client: Client, page: str = INTENTS, **query: str) -> set[object]:
    """Return the primary keys on a list."""
    answer = client.get(f"{reverse(page)}?{urlencode(query)}")
    assert answer.status_code == 200
    return {row.pk for row in answer.context["cl"].result_list}


def pks(brand: Brand, *states: State) -> set[object]:
    return {brand.intents[state].pk for state in states}


def test_every_state_stands_in_the_list_as_word_colour_and_sentence(brand: Brand) -> None:
    content = member_of(brand.workspace).get(reverse(INTENTS)).content.decode()
    for badge in STATE_BADGES.values():
        assert f'class="rz-badge rz-{badge.tone}" title="{badge.sentence}' in content
        assert f">{badge.word}</span>" in content


def test_a_state_filter_finds_that_state(brand: Brand) -> None:
    client = member_of(brand.workspace)
    for state in State:
        assert listed(client, state=state) == pks(brand, state)


def test_in_doubt_is_what_was_sent_and_is_not_known_to_have_ended(brand: Brand) -> None:
    client = member_of(brand.workspace)
    assert listed(client, state="in_doubt") == pks(brand, State.UNKNOWN, State.PENDING)


def test_an_unknown_state_in_the_address_finds_nothing(brand: Brand) -> None:
    assert listed(member_of(brand.workspace), state="sent") == set()


def test_needs_a_person_finds_by_any_reason_and_by_one(brand: Brand) -> None:
    client = member_of(brand.workspace)
    flag(brand.intents[State.UNKNOWN], NeedsHuman.UNKNOWN_TOO_LONG, by=SYSTEM, at=now(), reason="x")
    flag(brand.intents[State.PENDING], NeedsHuman.MISMATCH, by=SYSTEM, at=now(), reason="x")
    assert listed(client, person="any") == pks(brand, State.UNKNOWN, State.PENDING)
    assert listed(client, person="mismatch") == pks(brand, State.PENDING)


def test_held_for_a_reason_finds_that_reason_alone(brand: Brand) -> None:
    client = member_of(brand.workspace)
    assert listed(client, state="held", held_for="facts_unavailable") == pks(brand, State.HELD)
    assert listed(client, state="held", held_for="paused") == set()


def test_kind_store_reality_and_currency_narrow_the_list(brand: Brand) -> None:
    client = member_of(brand.workspace)
    sandbox = make_connection(workspace=brand.workspace, is_sandbox=True)
    played = intent_in(State.UNKNOWN, ticket=brand.ticket, connection=sandbox, currency="USD")
    assert listed(client, on="sandbox") == {played.pk}
    assert listed(client, on="live") == pks(brand, *State)
    assert listed(client, store=sandbox.public_id) == {played.pk}
    assert listed(client, currency="USD") == {played.pk}
    assert listed(client, kind="refund") == pks(brand, *State) | {played.pk}


def test_an_intent_is_found_by_each_of_its_identifiers(brand: Brand) -> None:
    client = member_of(brand.workspace)
    intent = brand.intents[State.CONFIRMED]
    refund, order = intent.external_objects.get().identifier, intent.target.identifier
    for typed in (
        intent.public_id,
        f"  {intent.public_id} ",
        intent.marker,
        str(intent.key),
        refund,
        order,
        order.rpartition("/")[2],
    ):
        assert intent.pk in listed(client, q=typed), typed
        assert len(listed(client, q=typed)) <= 2, typed
    for typed in (brand.ticket.public_id, brand.ticket.external_id):
        assert listed(client, q=typed) == pks(brand, *State)
    assert listed(client, q=intent.public_id[:-1]) == set()


def test_a_ticket_is_found_by_each_identifier_of_what_was_done_on_it() -> None:
    ticket = resolved_ticket()
    client = member_of(ticket.workspace)
    make_ticket(workspace=ticket.workspace)
    intent = ticket.intent_set.get()
    for typed in (
        ticket.public_id,
        ticket.external_id,
        intent.public_id,
        intent.external_objects.get().identifier,
    ):
        assert listed(client, TICKETS, q=typed) == {ticket.pk}, typed
    assert listed(client, TICKETS, status="resolved") == {ticket.pk}
    assert listed(client, TICKETS, resolver="ai") == {ticket.pk}
    assert listed(client, TICKETS, resolver="brand_team") == set()


def test_a_filter_that_is_on_is_shown_and_can_be_dropped(brand: Brand) -> None:
    client = member_of(brand.workspace)
    content = client.get(f"{reverse(INTENTS)}?state=held&currency=EUR").content.decode()
    assert 'href="?currency=EUR" title="Drop this filter">state: <b>held</b>' in content


@pytest.mark.parametrize(
    ("page", "words"), [(INTENTS, "No intents yet"), (TICKETS, "No tickets yet")]
)
def test_an_empty_list_says_what_to_do(page: str, words: str) -> None:
    client = member_of(make_workspace())
    content = client.get(reverse(page)).content.decode()
    assert words in content
    assert "POST /api/v1/tickets/" in content
    assert "Nothing matches" in client.get(f"{reverse(page)}?q=x").content.decode()


def test_a_sandbox_amount_is_labelled_in_the_list() -> None:
    workspace = make_workspace()
    connection = make_connection(workspace=workspace, is_sandbox=True)
    intent_in(State.UNKNOWN, ticket=make_ticket(workspace=workspace), connection=connection)
    content = member_of(workspace).get(reverse(INTENTS)).content.decode()
    assert '12.50 EUR</span> <span class="rz-badge rz-waiting"' in content
    assert ">SANDBOX</span>" in content


@pytest.mark.parametrize(("page", "questions"), [(INTENTS, 11), (TICKETS, 10)])
def test_a_list_asks_the_same_number_of_questions_whatever_it_holds(
    page: str, questions: int, brand: Brand, django_assert_num_queries: object
) -> None:
    client = member_of(brand.workspace)
    client.get(reverse(page))
    for more in (0, 3):
        for _ in range(more):
            intent_in(State.CONFIRMED, ticket=make_ticket(workspace=brand.workspace))
        with django_assert_num_queries(questions):  # type: ignore[operator]
            client.get(reverse(page))


def test_a_list_counts_and_pages_through_no_more_than_its_bound(
    brand: Brand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admin, "LISTED_MAX", 5)
    answer = member_of(brand.workspace).get(reverse(INTENTS))
    assert answer.context["cl"].result_count == 5
    assert "These are the newest 5." in answer.content.decode()
    newest = Intent.objects.order_by("-updated_at", "-pk")[:5]
    assert [row.pk for row in answer.context["cl"].result_list][:5] == [row.pk for row in newest]
