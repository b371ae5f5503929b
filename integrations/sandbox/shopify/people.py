"""Who stands around an order in the API: the shop, its apps, the customer, a dispute.

Promises: one class a type, one attribute a field (in snake case), as in `views`.
"""

from typing import ClassVar

from integrations.sandbox.shopify.call import Call
from integrations.sandbox.store import App, Customer, Dispute


class CustomerView:
    """`Customer`."""

    typename: ClassVar[str] = "Customer"

    def __init__(self, customer: Customer) -> None:
        self.id, self.display_name, self.email = customer.id, customer.name, customer.email
        self.legacy_resource_id = customer.id.rpartition("/")[2]
        self.default_email_address = {"email_address": customer.email} if customer.email else None


class AppView:
    """`App`."""

    typename: ClassVar[str] = "App"

    def __init__(self, *, app_id: str, title: str) -> None:
        self.id, self.title = app_id, title
        self.handle = title.lower().replace(" ", "-")

    @classmethod
    def of(cls, call: Call, app_id: str | None) -> "AppView | None":
        """Return an app by its identifier; one that has no token here is known by that alone."""
        if app_id is None:
            return None
        known = {app.id: app.title for app in call.shop.apps.values()}
        return cls(app_id=app_id, title=known.get(app_id, "Another app"))


class InstallationView:
    """`AppInstallation`: the asking app, and what it may do."""

    typename: ClassVar[str] = "AppInstallation"

    def __init__(self, app: App) -> None:
        self.id = app.installation_id
        self.app = AppView(app_id=app.id, title=app.title)
        self.access_scopes = [
            {"handle": scope, "description": scope} for scope in sorted(app.scopes)
        ]


class ShopView:
    """`Shop`."""

    typename: ClassVar[str] = "Shop"

    def __init__(self, call: Call) -> None:
        shop = call.shop
        self.id, self.myshopify_domain = shop.id, shop.name
        self.name = shop.name.partition(".")[0]
        self.currency_code, self.created_at = shop.currency, shop.created_at
        self.iana_timezone = "Europe/Paris"
        self.email = f"owner@{self.name}.example"


class DisputeView:
    """`OrderDisputeSummary`."""

    typename: ClassVar[str] = "OrderDisputeSummary"

    def __init__(self, dispute: Dispute) -> None:
        self.id, self.initiated_as, self.status = dispute.id, dispute.kind, dispute.status
