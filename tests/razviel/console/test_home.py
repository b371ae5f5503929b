"""The home page: money in doubt first, true figures, each with the list that it counts."""

import re
from datetime import timedelta
from decimal import Decimal
from html import unescape
from typing import Unpack

import pytest
from django.test import Client
from django.urls import reverse

from actions.models import Intent
from actions.moves import flag
from actions.states import NeedsHuman, State
from integrations.actors import SYSTEM
from integrations.clock import now
from integrations.models import Workspace
from tests.factories import intent_in, make_connection, make_ticket, make_workspace
from tests.factories.intents import Given
from tests.razviel.console.brands import make_brand, member_of
from tests.razviel.console.test_intent_page import words
from tickets.models import TicketStatus

pytestmark = pytest.mark.django_db


def home(client: Client) -> str:
    content = client.get(reverse("console:index")).content.decode()
    return content[content.index('id="content"') :]


def put(workspace: Workspace, state: State, **given: Unpack[Given]) -> Intent:
    """Put an intent of its own ticket into a workspace."""
    given["ticket"] = make_ticket(workspace=workspace)
    return intent_in(state, **given)


def test_money_in_doubt_stands_first() -> None:
    workspace = make_workspace()
    put(workspace, State.UNKNOWN)
    content = words(home(member_of(workspace)))
    order = ["Money in doubt", "Awaiting approval", "Needs a person", "Held", "Handed over"]
    assert [content.index(title) for title in order] == sorted(content.index(t) for t in order)


def test_money_in_doubt_is_summed_per_currency_and_never_across_sandbox_and_live() -> None:
    workspace = make_workspace()
    live = make_connection(workspace=workspace)
    sandbox = make_connection(workspace=workspace, is_sandbox=True)
    put(workspace, State.UNKNOWN, connection=live)
    put(workspace, State.PENDING, connection=live)
    put(workspace, State.UNKNOWN, connection=live, currency="JPY", amount=Decimal(4200))
    put(workspace, State.UNKNOWN, connection=sandbox)
    put(workspace, State.CONFIRMED, connection=live)
    answer = member_of(workspace).get(reverse("console:index"))
    found = [
        (line.figure.total, line.figure.currency, line.figure.count, line.figure.is_sandbox)
        for line in answer.context["in_doubt"]
    ]
    assert found == [
        (Decimal("25.0000"), "EUR", 2, False),
        (Decimal("4200.0000"), "JPY", 1, False),
        (Decimal("12.5000"), "EUR", 1, True),
    ]
    assert answer.content.decode().count(">SANDBOX</span>") == 2  # its figure, and its store


def test_the_oldest_doubt_is_counted_from_the_first_send() -> None:
    workspace = make_workspace()
    intent = put(workspace, State.PENDING)
    (line,) = member_of(workspace).get(reverse("console:index")).context["in_doubt"]
    assert line.figure.oldest_at == intent.first_sent_at
    assert line.age == "1 h 59 min" or line.age.startswith("2 h")


def test_each_figure_leads_to_a_list_of_just_what_it_counts() -> None:
    brand = make_brand(states=State)
    client = member_of(brand.workspace, make_brand(states=State).workspace)
    flag(brand.intents[State.UNKNOWN], NeedsHuman.UNKNOWN_TOO_LONG, by=SYSTEM, at=now(), reason="x")
    context = client.get(reverse("console:index")).context
    lines = [
        line
        for name in ("in_doubt", "awaiting", "before_a_person", "held", "set_aside")
        for line in context[name]
    ]
    assert len(lines) == 7
    for line in lines:
        rows = listed(client, line.address)
        assert len(rows) == line.figure.count, line.address
        if line.figure.total is not None:
            assert sum(row.amount or 0 for row in rows) == line.figure.total


def listed(client: Client, address: str) -> list[Intent]:
    """Return the intents that an address lists: the list of intents, or the inbox."""
    context = client.get(address).context
    if "asks" in context:
        return [ask.intent for ask in context["asks"]]
    assert context["cl"].result_count == len(context["cl"].result_list)
    return list(context["cl"].result_list)


def test_what_awaits_approval_says_when_the_first_of_it_expires_and_opens_the_inbox() -> None:
    workspace = make_workspace()
    for hours in (7, 3):
        intent = put(workspace, State.AWAITING_APPROVAL)
        Intent.objects.filter(pk=intent.pk).update(due_at=now() + timedelta(hours=hours))
    client = member_of(workspace)
    (line,) = client.get(reverse("console:index")).context["awaiting"]
    assert line.expires_in == "2 h 59 min"
    assert line.address.startswith(f"{reverse('console:approvals')}?")
    assert "25.00 EUR in 2 intents the first expires in 2 h 59 min" in words(home(client))


def test_workspaces_are_never_added_up() -> None:
    first, second = make_workspace(name="First"), make_workspace(name="Second")
    put(first, State.UNKNOWN)
    put(second, State.UNKNOWN)
    lines = member_of(first, second).get(reverse("console:index")).context["in_doubt"]
    assert [(line.figure.workspace, line.figure.count) for line in lines] == [
        ("First", 1),
        ("Second", 1),
    ]


def test_a_stranger_s_home_counts_nothing() -> None:
    make_brand(states=State)
    context = member_of(make_workspace()).get(reverse("console:index")).context
    names = (
        "in_doubt",
        "awaiting",
        "before_a_person",
        "held",
        "set_aside",
        "handed_over",
        "stores",
    )
    assert [list(context[name]) for name in names] == [[]] * len(names)


def test_needs_a_person_is_told_by_reason_in_words() -> None:
    workspace = make_workspace()
    intent = put(workspace, State.UNKNOWN)
    flag(intent, NeedsHuman.TWO_MATCHES, by=SYSTEM, at=now(), reason="x")
    assert "1 two matches More than one object on the platform claims" in words(
        home(member_of(workspace))
    )


def test_tickets_that_were_handed_over_are_counted_and_linked() -> None:
    workspace = make_workspace()
    ticket = make_ticket(workspace=workspace, status=TicketStatus.HANDED_OVER)
    client = member_of(workspace)
    (line,) = client.get(reverse("console:index")).context["handed_over"]
    rows = client.get(line["address"]).context["cl"].result_list
    assert (line["count"], [row.pk for row in rows]) == (1, [ticket.pk])


def test_a_store_says_what_stands_in_the_way() -> None:
    workspace = make_workspace()
    make_connection(workspace=workspace, blocked_by="token", blocked_at=now())
    make_connection(workspace=workspace, is_sandbox=True)
    content = words(home(member_of(workspace)))
    assert "Blocked (token) since" in content
    assert "SANDBOX Nothing stands in the way." in content


def test_an_empty_home_says_what_to_do_first() -> None:
    workspace = make_workspace()
    client = member_of(workspace)
    assert "Connect a store first: manage.py connect shopify" in words(home(client))
    make_connection(workspace=workspace)
    assert "Your store is connected." in words(home(client))


def test_the_header_says_sandbox_only_where_all_is_sandbox() -> None:
    workspace = make_workspace()
    make_connection(workspace=workspace, is_sandbox=True)
    client = member_of(workspace)
    address = reverse("console:tickets_ticket_changelist")
    assert "SANDBOX" in client.get(address).content.decode()
    make_connection(workspace=workspace)
    assert "SANDBOX" not in client.get(address).content.decode()


def test_the_home_page_asks_a_fixed_number_of_questions(django_assert_num_queries: object) -> None:
    brand = make_brand()
    client = member_of(brand.workspace)
    home(client)
    for more in (0, 3):
        for _ in range(more):
            put(brand.workspace, State.UNKNOWN)
        with django_assert_num_queries(16):  # type: ignore[operator]
            home(client)


def test_every_link_of_the_home_page_opens() -> None:
    brand = make_brand(states=State)
    client = member_of(brand.workspace)
    for address in set(re.findall(r'href="(/console/[^"]+)"', home(client))):
        assert client.get(unescape(address)).status_code == 200, address
