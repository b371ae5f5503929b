"""What the bench works on: a brand, its orders on a simulated store, tickets and requests.

Promises: all is made by the product's own commands and services, before any clock starts; the
brand's policy has every limit, and each so wide that it holds nothing: a new brand's own lets no
more than 200 refunds go in 10 minutes.
Does not know what is measured.
"""

from dataclasses import dataclass
from secrets import token_hex

from actions.policies import put_policy
from actions.policy import Policy, parse_policy
from actions.services import Wish, propose
from integrations.actors import SYSTEM, Actor, ActorKind
from integrations.clock import now
from integrations.models import Workspace
from integrations.money import parse_money
from integrations.sandbox.client import ControlClient
from integrations.sandbox.surface import ShopControls
from razviel.demo.brands import connect_shop, make_workspace
from tickets.models import Request, Ticket
from tickets.services import CustomerStatement, Opening, Statement, open_ticket, state_request

AMOUNT = "12.50"

_AGENT = Actor(kind=ActorKind.AI, identity="bench")
_INTEGRATION = Actor(kind=ActorKind.SYSTEM, identity="bench")
_CURRENCY = "EUR"
_MONEY, _COUNT = "1000000000.00", 1_000_000_000
_VELOCITY_MINUTES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Brand:
    """A workspace with its store."""

    workspace: Workspace
    shop: ShopControls


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A ticket with the request that its order be refunded."""

    ticket: Ticket
    request: Request
    order: str


def open_brand(sandbox: str) -> Brand:
    """Make a brand with a store that answers as fast as it can.

    Args:
        sandbox: Where the simulated store listens.
    """
    slug = f"bench-{token_hex(4)}"
    shop = ControlClient(sandbox).shop(f"{slug}.myshopify.com")
    shop.throttle(unlimited=True)
    make_workspace(slug, name="Bench")
    connect_shop(slug, shop, time_scale="1")
    workspace = Workspace.objects.get(slug=slug)
    put_policy(workspace, _wide_policy(), author=SYSTEM)
    return Brand(workspace=workspace, shop=shop)


def open_case(brand: Brand) -> Case:
    """Place an order, open its customer's ticket and state what is asked."""
    order = brand.shop.order(currency=_CURRENCY)
    return open_case_of(brand, order.id, customer=order.customer or "", amount=AMOUNT)


def open_cases_of_one_order(brand: Brand, count: int) -> list[Case]:
    """Place one order and open many tickets about it."""
    order = brand.shop.order(currency=_CURRENCY, total="1000000.00")
    return [
        open_case_of(brand, order.id, customer=order.customer or "", amount=AMOUNT, number=number)
        for number in range(count)
    ]


def open_case_of(brand: Brand, order: str, *, customer: str, amount: str, number: int = 0) -> Case:
    """Open a ticket about an order and state what is asked."""
    stated = CustomerStatement(store_identifier=customer, verified=True)
    opening = Opening(external_id=f"{order}/{number}", customer=stated)
    opened = open_ticket(workspace=brand.workspace, opening=opening, by=_INTEGRATION, at=now())
    money = parse_money(amount, _CURRENCY)
    statement = Statement(kind="refund", target=order, money=money)
    request = state_request(ticket=opened.ticket, statement=statement, by=_AGENT, at=now())
    return Case(ticket=opened.ticket, request=request, order=order)


def propose_refund(case: Case, *, amount: str = AMOUNT) -> int:
    """Propose a refund, and return the intent."""
    parameters = {"order": case.order, "amount": amount, "currency": _CURRENCY}
    wish = Wish(kind="refund", request=case.request, parameters=parameters, reason="it broke")
    return propose(ticket=case.ticket, wish=wish, by=_AGENT, at=now()).intent.pk


def _wide_policy() -> Policy:
    """Return a policy in which every limit is asked, and none is met."""
    limits = dict.fromkeys(
        ("cap", "approval_above", "per_order", "per_customer_day", "per_day"), _MONEY
    )
    refund = {
        "enabled_for": [kind.value for kind in ActorKind],
        "limits": {_CURRENCY: limits},
        "order_age_max_days": 90,
        "ownership_required": True,
        "notify": False,
        "counts": dict.fromkeys(("per_order", "per_customer_day", "per_day"), _COUNT),
        "velocity": {"count": _COUNT, "minutes": _VELOCITY_MINUTES},
    }
    return parse_policy({"format": 1, "kinds": {"refund": refund}})
