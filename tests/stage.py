"""A brand with a store on a sandbox, for tests that go the whole path over real HTTP.

Promises: everything is made through the services, as the application's role; both clocks, ours and the store's, move together and only
when told. Does not know what a test is after.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Self

from actions.advance import advance
from actions.models import Intent
from actions.services import Wish, propose
from integrations import vault
from integrations.actors import Actor, ActorKind
from integrations.clock import now, shifted
from integrations.models import Connection, Platform, Workspace
from integrations.money import parse_money
from integrations.registry import credentials_context
from integrations.sandbox.records import PlacedOrder
from integrations.sandbox.server import Sandbox
from integrations.sandbox.surface import ShopControls
from tests.factories import make_workspace
from tickets.models import Request, Ticket
from tickets.services import CustomerStatement, Opening, Statement, open_ticket, state_request

AGENT = Actor(kind=ActorKind.AI, identity="agent-1")
PERSON = Actor(kind=ActorKind.HUMAN_NODE, identity="node-1")
INTEGRATION = Actor(kind=ActorKind.SYSTEM, identity="integration-1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """An order on the store with the ticket and the request about it."""

    order: PlacedOrder
    ticket: Ticket
    request: Request


class Stage:
    """A workspace with one connected store; made by the fixture `stage`."""

    def __init__(self, sandbox: Sandbox, *, name: str = "acme.myshopify.com") -> None:
        self.sandbox = sandbox
        self.shop: ShopControls = sandbox.shop(name)
        self.workspace = make_workspace()
        self.connection = connect(self.workspace, self.shop)
        self._clocks = ExitStack()

    @classmethod
    @contextmanager
    def set_up(cls) -> Iterator[Self]:
        """Start a sandbox with one shop, connected to a new workspace."""
        with Sandbox.running() as sandbox:
            stage = cls(sandbox)
            with stage._clocks:
                yield stage

    def pass_time(self, wait: timedelta) -> None:
        """Let time pass, here and on the store."""
        self.sandbox.clock.advance(wait)
        self._clocks.enter_context(shifted(wait))

    def case(self, *, amount: str = "12.50", currency: str = "EUR", **order: object) -> Case:
        """Place an order, open a ticket by its verified customer, and state what is asked for."""
        placed = self.shop.order(currency=currency, **order)  # type: ignore[arg-type]  # the sandbox checks its own words
        opening = Opening(
            external_id=placed.id,
            customer=CustomerStatement(store_identifier=placed.customer or "", verified=True),
        )
        ticket = open_ticket(
            workspace=self.workspace, opening=opening, by=INTEGRATION, at=now()
        ).ticket
        statement = Statement(
            kind="refund", target=placed.id, money=parse_money(amount, currency)
        )
        request = state_request(ticket=ticket, statement=statement, by=AGENT, at=now())
        return Case(order=placed, ticket=ticket, request=request)

    def propose(self, case: Case, *, amount: str = "12.50", by: Actor = AGENT) -> Intent:
        """Propose a refund in a case."""
        currency = case.request.currency
        parameters = {"order": case.order.id, "amount": amount, "currency": currency}
        wish = Wish(
            kind="refund",
            request=case.request,
            parameters=parameters,
            reason="the parcel came broken",
            connection=self.connection,
        )
        return propose(ticket=case.ticket, wish=wish, by=by, at=now()).intent

    def work(self, intent: Intent) -> Intent:
        """Do what a worker does for an intent, once; return the row as it stands then."""
        advance(intent.pk)
        return fresh(intent)


def connect(workspace: Workspace, shop: ShopControls) -> Connection:
    """Connect a sandbox shop to a workspace, sealed credentials included."""
    connection = Connection.objects.create(
        workspace=workspace,
        platform=Platform.SHOPIFY,
        domain=shop.name,
        base_url=shop.url,
        account=f"gid://shopify/Shop/{shop.name}",
        app=shop.app_id,
        scopes=["read_orders", "write_orders"],
        currency="EUR",
        api_version="2026-10",
        is_sandbox=True,
    )
    connection.credentials = vault.seal(shop.token.encode(), context=credentials_context(connection))
    connection.save(update_fields=["credentials"])
    return connection


def fresh(intent: Intent) -> Intent:
    """Return an intent as it stands in the database."""
    return Intent.objects.select_related("connection", "ticket", "target").get(pk=intent.pk)
