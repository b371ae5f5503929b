"""What an intent stands on: workspace, connection, customer, ticket, request, target.

Promises: each function makes one row and what it cannot be without; whatever is given replaces
the default.
Does not know intents.
"""

from decimal import Decimal
from itertools import count

from actions.models import PolicyVersion, Target
from actions.policy import default_policy
from integrations import sealed
from integrations.actors import Actor, ActorKind
from integrations.clock import now
from integrations.models import Connection, Platform, SealedPayload, Workspace
from tickets.models import Customer, Request, Ticket
from tickets.path import with_actor

AI = Actor(kind=ActorKind.AI, identity="agent-1")
NODE = Actor(kind=ActorKind.HUMAN_NODE, identity="node-1")
TEAM = Actor(kind=ActorKind.BRAND_TEAM, identity="team-1")
APP = "gid://shopify/App/1"

_numbers = count(1)
"""Makes what must be unique so; never repeats within a process."""


def make_workspace(**columns: object) -> Workspace:
    """Make a workspace with its first policy."""
    number = next(_numbers)
    row = Workspace.objects.create(
        **{"slug": f"brand-{number}", "name": f"Brand {number}"} | columns
    )
    PolicyVersion.objects.create(
        workspace=row,
        number=1,
        document=default_policy().as_record(),
        author_kind=ActorKind.SYSTEM,
        author_identity="setup",
    )
    return row


def make_connection(*, workspace: Workspace, **columns: object) -> Connection:
    """Make a Shopify connection that has answered and may be written to."""
    shop = f"shop-{next(_numbers)}.myshopify.com"
    defaults: dict[str, object] = {
        "platform": Platform.SHOPIFY,
        "domain": shop,
        "base_url": f"https://{shop}",
        "account": f"gid://shopify/Shop/{shop}",
        "app": APP,
        "currency": "EUR",
        "api_version": "2026-10",
        "scopes": ["read_orders", "write_orders"],
    }
    return Connection.objects.create(workspace=workspace, **defaults | columns)


def make_payload(*, workspace: Workspace, text: str = "a person's words") -> SealedPayload:
    """Seal a text under a key of its own."""
    key = sealed.new_subject_key(workspace=workspace)
    return sealed.seal(subject_key=key, field="test.text", text=text)


def make_customer(*, workspace: Workspace, verified: bool = True, **columns: object) -> Customer:
    """Make a customer of the store with an e-mail address, verified by a Human Node by default."""
    key = sealed.new_subject_key(workspace=workspace)
    email = sealed.seal(subject_key=key, field="customer.email", text="customer@example.com")
    defaults: dict[str, object] = {
        "subject_key": key,
        "store_identifier": f"gid://shopify/Customer/{next(_numbers)}",
        "email": email,
    }
    if verified:
        defaults |= {
            "verified_at": now(),
            "verified_by_kind": NODE.kind,
            "verified_by_identity": NODE.identity,
        }
    return Customer.objects.create(workspace=workspace, **defaults | columns)


def make_ticket(*, workspace: Workspace | None = None, **columns: object) -> Ticket:
    """Make an open ticket that an AI opened over the API."""
    workspace = workspace or make_workspace()
    if "customer" not in columns:
        columns["customer"] = make_customer(workspace=workspace)
    at = now()
    defaults: dict[str, object] = {
        "external_id": f"case-{next(_numbers)}",
        "opening_digest": "0" * 64,
        "path": with_actor([], actor=AI, now=at),
        "created_at": at,
        "updated_at": at,
    }
    return Ticket.objects.create(workspace=workspace, **defaults | columns)


def make_request(*, ticket: Ticket, **columns: object) -> Request:
    """State a request for a refund of 12.50 EUR."""
    defaults: dict[str, object] = {
        "number": ticket.request_set.count() + 1,
        "kind": "refund",
        "amount": Decimal("12.5000"),
        "currency": "EUR",
        "stated_by_kind": AI.kind,
        "stated_by_identity": AI.identity,
    }
    return Request.objects.create(
        workspace_id=ticket.workspace_id, ticket=ticket, **defaults | columns
    )


def make_target(*, connection: Connection, **columns: object) -> Target:
    """Make the row of an order on a connection."""
    defaults: dict[str, object] = {
        "kind": "order",
        "identifier": f"gid://shopify/Order/{next(_numbers)}",
    }
    return Target.objects.create(
        workspace_id=connection.workspace_id, connection=connection, **defaults | columns
    )
