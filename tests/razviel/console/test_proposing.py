"""The form that a wish is tried and made with: on a ticket, to correct, and for the rest."""

from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse

from actions.models import GateDecision, Intent, IntentEvent, Read, Target
from actions.states import State
from integrations.models import Role
from integrations.sandbox.records import Payment
from tests.factories import intent_in, make_request, make_ticket
from tests.razviel.console.brands import member_of, page_of, sat_down
from tests.razviel.console.sending import forms_on, send
from tests.razviel.console.test_intent_page import words
from tests.stage import Case, Stage
from tickets.models import Ticket

pytestmark = pytest.mark.django_db(transaction=True)

LINES: list[dict[str, object]] = [{"title": "Cup", "quantity": 3, "price": "20.00"}]


@pytest.fixture
def node(stage: Stage) -> Client:
    return sat_down(stage.workspace, "mia", Role.HUMAN_NODE)


def form_page(ticket: Ticket) -> str:
    return reverse("console:tickets_ticket_preview", args=[ticket.public_id])


def filled(stage: Stage, case: Case, **given: str) -> dict[str, str]:
    """Return the form of a case, filled in."""
    return {
        "request": case.request.public_id,
        "kind": "refund",
        "connection": stage.connection.public_id,
        "order": case.order.id,
        "amount": "12.50",
        "currency": "EUR",
        **given,
    }


def tried(client: Client, ticket: Ticket, fields: dict[str, str]) -> str:
    answer = client.post(form_page(ticket), fields)
    assert answer.status_code == 200
    return answer.content.decode()


def recorded() -> list[object]:
    models = (Intent, IntentEvent, GateDecision, Target, Read, Ticket)
    return [list(model._default_manager.order_by("pk").values()) for model in models]


def test_the_form_begins_with_what_the_customer_asked_for(stage: Stage, node: Client) -> None:
    case = stage.case()
    form = node.get(form_page(case.ticket)).context["form"]
    begun = {name: form[name].value() for name in ("request", "kind", "order", "amount")}
    assert begun == {
        "request": case.request.public_id,
        "kind": "refund",
        "order": case.order.id,
        "amount": "12.50",
    }
    ticket_page = node.get(page_of(case.ticket)).content.decode()
    assert f'href="{form_page(case.ticket)}"' in ticket_page


def test_trying_shows_the_four_verdicts_and_records_nothing(stage: Stage, node: Client) -> None:
    case = stage.case(total="100.00")
    before = recorded()
    content = words(tried(node, case.ticket, filled(stage, case)))
    assert "The gate would say yes: it would be authorized, and sent when due." in content
    assert "By policy version 1. Nothing of this was recorded, and nothing was sent." in content
    for arithmetic in (
        "Actors of kind human_node may do a refund here, now.",
        "0.00 EUR refunded + 12.50 EUR asked ≤ 100.00 EUR received",
        "12.50 EUR asked ≤ 100.00 EUR that need no second person",
        "No equal effect on this order",
    ):
        assert arithmetic in content
    assert "12.50 EUR manual gid://shopify/OrderTransaction/" in content
    assert recorded() == before
    assert stage.shop.effects() == ()


def test_what_the_store_reckons_for_the_items_is_shown(stage: Stage, node: Client) -> None:
    case = stage.case(amount="20.00", total="60.00", lines=LINES)
    lines = f'[{{"line": "{case.order.lines[0]}", "quantity": 1, "restock": "return"}}]'
    content = words(tried(node, case.ticket, filled(stage, case, amount="20.00", lines=lines)))
    assert "Store reckons 20.00 EUR for these items, shipping and duties" in content
    assert f"{case.order.lines[0]} , 3 may still be refunded" in content
    over = words(tried(node, case.ticket, filled(stage, case, amount="21.00", lines=lines)))
    assert "The gate would refuse it; nothing would be sent." in over


def test_from_the_trial_just_that_is_proposed_once(stage: Stage, node: Client) -> None:
    case = stage.case(total="100.00")
    page = tried(node, case.ticket, filled(stage, case, reason="the parcel came broken"))
    address = reverse("console:tickets_ticket_propose", args=[case.ticket.public_id])
    form = forms_on(page)[address]
    first, second = (node.post(address, form, follow=True) for _ in range(2))
    intent = Intent.objects.get(ticket=case.ticket)
    assert (intent.proposer_kind, intent.proposer_identity) == ("human_node", "mia")
    assert "It is recorded, and the gate judges it. Nothing was sent yet." in words(
        first.content.decode()
    )
    assert "The same was proposed before" in words(second.content.decode())
    assert "Why the parcel came broken" in words(second.content.decode())
    assert stage.settle(intent).state == State.CONFIRMED
    again = words(tried(node, case.ticket, filled(stage, case)))
    assert f"a proposal would be answered with {intent.public_id} , which is confirmed" in again


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"amount": "12,50"}, "12,50"),
        ({"amount": "12.505"}, "more decimals than the 2 of EUR"),
        ({"amount": "0"}, "ask for more than zero"),
        ({"currency": "EURO"}, "at most 3 characters"),
        ({"currency": "XXX"}, "is not an active ISO 4217 currency"),
        ({"order": "#1001"}, "Give the order&#x27;s full identifier"),
        ({"kind": "gift"}, "gift is not one of the available choices"),
        ({"request": "req_another"}, "This ticket has no such request."),
        ({"connection": "con_another"}, "There is no such store."),
        ({"lines": "one cup"}, "It must be a list in JSON"),
        ({"lines": '{"line": 1}'}, "It must be a list in JSON"),
        ({"lines": "[" * 3_000}, "It must be a list in JSON"),
        ({"lines": '[{"line": "cup", "quantity": 1, "restock": "return"}]'}, "0.line:"),
        ({"shipping": "13.00"}, "13.00 EUR of shipping is more than the amount"),
    ],
)
def test_what_can_t_be_taken_is_said_beside_its_field(
    given: dict[str, str], said: str, stage: Stage, node: Client
) -> None:
    case = stage.case()
    before = recorded()
    page = tried(node, case.ticket, filled(stage, case, **given))
    assert said in words(page)
    assert f'id="id_{next(iter(given))}_error"' in page
    address = reverse("console:tickets_ticket_propose", args=[case.ticket.public_id])
    refused = node.post(address, filled(stage, case, **given))
    assert (refused.status_code, said in words(refused.content.decode())) == (200, True)
    assert recorded() == before
    assert stage.shop.requests() == ()


def test_a_bare_number_is_taken_for_the_order_that_has_it(stage: Stage, node: Client) -> None:
    case = stage.case()
    number = case.order.id.rpartition("/")[2]
    assert "The gate would say yes" in tried(node, case.ticket, filled(stage, case, order=number))


def test_a_store_that_is_blocked_is_not_read(stage: Stage, node: Client) -> None:
    case = stage.case()
    stage.pause()
    content = words(tried(node, case.ticket, filled(stage, case)))
    assert "The gate would hold it." in content


def test_a_correction_begins_with_what_was_refused_and_is_linked(
    stage: Stage, node: Client
) -> None:
    case = stage.case(amount="250.00", total="400.00")
    refused = stage.work(stage.propose(case, amount="250.00"))
    assert refused.state == State.REFUSED
    address = f"{form_page(case.ticket)}?corrects={refused.public_id}"
    assert f'href="{address}"' in node.get(page_of(refused)).content.decode()
    form = node.get(address).context["form"]
    assert (form["amount"].value(), form["corrects"].value()) == ("250.00", refused.public_id)
    fields = filled(stage, case, amount="90.00", corrects=refused.public_id)
    assert "The gate would say yes" in tried(node, case.ticket, fields)
    node.post(reverse("console:tickets_ticket_propose", args=[case.ticket.public_id]), fields)
    correction = Intent.objects.get(corrects=refused)
    assert (correction.amount, correction.proposer_identity) == (Decimal("90.0000"), "mia")
    content = node.get(page_of(refused)).content.decode()
    assert f"Corrected by {correction.public_id}" in words(content)
    assert "corrected by another proposal" in content
    assert f'href="{page_of(correction)}">the correction</a>' in content


def test_the_rest_begins_with_what_is_missing_and_is_never_more(stage: Stage, node: Client) -> None:
    stage.shop.gateway("slow", answers="FAILURE")
    payments = [Payment(amount="30.00", gateway="card"), Payment(amount="70.00", gateway="slow")]
    case = stage.case(amount="50.00", total="100.00", payments=payments)
    part = stage.work(stage.propose(case, amount="50.00"))
    send(node, part, "accept", reason="agreed with the customer")
    address = f"{form_page(case.ticket)}?remainder_of={part.public_id}"
    form = node.get(address).context["form"]
    assert (form["amount"].value(), form["remainder_of"].value()) == ("20.00", part.public_id)
    rest = filled(stage, case, amount="20.00", remainder_of=part.public_id)
    more = words(tried(node, case.ticket, {**rest, "amount": "20.01"}))
    assert "20.00 EUR are missing of what was asked; ask for that or less." in more
    node.post(reverse("console:tickets_ticket_propose", args=[case.ticket.public_id]), rest)
    assert Intent.objects.get(remainder_of=part).amount == Decimal("20.0000")
    assert "Propose the rest" not in node.get(page_of(part)).content.decode()


@pytest.mark.parametrize("link", ["corrects", "remainder_of"])
def test_nothing_follows_an_intent_of_another_ticket(link: str, stage: Stage, node: Client) -> None:
    case, other = stage.case(), intent_in(State.REFUSED, ticket=make_ticket())
    neighbour = stage.propose(stage.case())
    for followed in (other.public_id, neighbour.public_id, "int_\x00"):
        fields = filled(stage, case, **{link: followed})
        address = reverse("console:tickets_ticket_propose", args=[case.ticket.public_id])
        assert node.post(address, fields).status_code == 404
        assert node.get(f"{form_page(case.ticket)}", {link: followed}).status_code == 404


def test_a_ticket_without_a_request_says_what_to_do_first() -> None:
    ticket = make_ticket()
    client = member_of(ticket.workspace)
    content = words(client.post(form_page(ticket), {}).content.decode())
    assert "State first what the customer asks for: every action serves a request." in content
    assert "Connect a store first: manage.py connect shopify." in content


def test_an_operator_may_try_and_not_propose(stage: Stage) -> None:
    case = stage.case()
    client = sat_down(stage.workspace, "op", Role.OPERATOR)
    content = tried(client, case.ticket, filled(stage, case))
    assert "Your role may try, and not propose." in content
    assert reverse("console:tickets_ticket_propose", args=[case.ticket.public_id]) not in content


def test_nothing_is_offered_on_a_closed_ticket() -> None:
    ticket = make_ticket(status="handed_over")
    make_request(ticket=ticket)
    client = member_of(ticket.workspace)
    assert form_page(ticket) not in client.get(page_of(ticket)).content.decode()
