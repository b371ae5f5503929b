"""Stores that the contract of `StorePort` is tried on: adapters, over HTTP, at simulated platforms.

Promises: each offers the same few deeds, whatever the platform calls them. What a store truly
holds is read from the sandbox's ledger, past the adapter.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from uuid import NAMESPACE_URL, uuid5

from integrations.markers import new_marker
from integrations.money import Money
from integrations.platforms.shopify.adapter import (
    REFUND_CAPABILITIES,
    STORE_CREDIT_GATEWAY,
    ShopifyAccount,
    ShopifyAdapter,
)
from integrations.ports import (
    OrderSnapshot,
    RefundBasis,
    RefundOrder,
    RefundPart,
    SendOutcome,
    StorePort,
)
from integrations.sandbox.ledger import Effect, Received
from integrations.sandbox.server import Sandbox
from integrations.sandbox.surface import ShopControls

DEADLINE = timedelta(seconds=2)


def no_fence() -> None:
    """Let everything pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """An adapter, the simulated account that it calls, and the world that the account is in."""

    port: StorePort
    shop: ShopControls
    sandbox: Sandbox
    connect: Callable[[ShopControls, timedelta], StorePort]
    store_credit_gateway: str
    """What the platform names as the gateway of store credit."""

    def as_seen_by(self, shop: ShopControls) -> "Store":
        """Return the store as another token sees it."""
        return replace(self, shop=shop, port=self.connect(shop, DEADLINE))

    def impatient(self, deadline: timedelta) -> "Store":
        """Return the store with a shorter deadline for each call."""
        return replace(self, port=self.connect(self.shop, deadline))

    def refund_of(
        self,
        order: str,
        amount: str,
        currency: str = "EUR",
        *,
        marker: str = "",
        basis: RefundBasis | None = None,
    ) -> RefundOrder:
        """Ask for an amount back over the order's first payment that allows it."""
        first = self.seen(order).suggested[0]
        money = Money(amount=Decimal(amount), currency=currency)
        part = RefundPart(parent=first.parent, gateway=first.gateway, money=money)
        return self.refund_by(order, (part,), marker=marker, basis=basis)

    def credit_of(
        self, order: str, amount: str, currency: str = "EUR", *, basis: RefundBasis | None = None
    ) -> RefundOrder:
        """Ask for an amount as store credit."""
        money = Money(amount=Decimal(amount), currency=currency)
        part = RefundPart(parent=None, gateway=self.store_credit_gateway, money=money)
        return self.refund_by(order, (part,), basis=basis)

    def refund_by(
        self,
        order: str,
        parts: tuple[RefundPart, ...],
        *,
        marker: str = "",
        basis: RefundBasis | None = None,
    ) -> RefundOrder:
        """Ask for these parts."""
        marker = marker or new_marker()
        return RefundOrder(
            order=order,
            parts=parts,
            marker=marker,
            key=str(uuid5(NAMESPACE_URL, marker)),
            notify=False,
            basis=basis or RefundBasis(),
        )

    def seen(self, order: str, *, basis: RefundBasis | None = None) -> OrderSnapshot:
        """Read an order, which must be readable."""
        found = self.port.read_order(order=order, basis=basis)
        assert isinstance(found, OrderSnapshot), found
        return found

    def send(self, refund: RefundOrder) -> SendOutcome:
        """Freeze and send."""
        frozen = self.port.freeze_refund(refund=refund)
        return self.port.send_refund(frozen=frozen, before_write=no_fence)

    def sends(self) -> tuple[Received, ...]:
        """Return the refund requests that reached the store."""
        return self.shop.requests(operation="refundCreate")

    def effects(self) -> tuple[Effect, ...]:
        """Return the refunds that the store truly holds."""
        return self.shop.effects()


@contextmanager
def shopify() -> Iterator[Store]:
    """Run a Shopify store."""

    def connect(shop: ShopControls, deadline: timedelta) -> StorePort:
        account = ShopifyAccount(
            shop=shop.name, base_url=shop.url, access_token=shop.token, allow_private=True
        )
        return ShopifyAdapter(
            account, capabilities=replace(REFUND_CAPABILITIES, call_deadline=deadline)
        )

    with Sandbox.running() as sandbox:
        shop = sandbox.shop("acme.myshopify.com", currency="EUR")
        port = connect(shop, DEADLINE)
        yield Store(
            port=port,
            shop=shop,
            sandbox=sandbox,
            connect=connect,
            store_credit_gateway=STORE_CREDIT_GATEWAY,
        )


STORES = {"shopify over HTTP": shopify}
