"""From a connection to its adapter: the only module that imports platforms.

Promises: credentials are opened here, for one adapter, and go nowhere else.
Does not know what the adapter is used for.
"""

from django.conf import settings

from integrations import vault
from integrations.models import Connection, Platform
from integrations.platforms.shopify.adapter import ShopifyAccount, ShopifyAdapter
from integrations.platforms.shopify.documents import API_VERSION
from integrations.ports import StorePort


class NoAdapter(Exception):
    """This platform has no adapter for this kind of effect yet."""


class NoCredentials(Exception):
    """The connection has no credentials: run `manage.py connect` for it."""


def store(connection: Connection) -> StorePort:
    """Return the adapter of a store.

    Raises:
        NoAdapter: The connection's platform is not a store.
        NoCredentials: The connection was never given any.
        vault.WrongKey: The vault has no key for them.
        vault.Tampered: They are not what was sealed for this connection.
    """
    if connection.platform != Platform.SHOPIFY:
        raise NoAdapter(connection.platform)
    if connection.credentials is None:
        raise NoCredentials(connection.domain)
    token = vault.open_sealed(
        bytes(connection.credentials), context=credentials_context(connection)
    )
    return ShopifyAdapter(
        ShopifyAccount(
            shop=connection.domain,
            base_url=connection.base_url,
            access_token=token.decode(),
            allow_private=settings.RAZVIEL_ALLOW_PRIVATE_PLATFORMS,
        )
    )


def asked_version(connection: Connection) -> str:
    """Return the API version that the connection's adapter asks for.

    Raises:
        NoAdapter: The connection's platform has none.
    """
    if connection.platform != Platform.SHOPIFY:
        raise NoAdapter(connection.platform)
    return API_VERSION


def credentials_context(connection: Connection) -> tuple[str, ...]:
    """Return what sealed credentials are bound to: workspace, connection and field."""
    return (str(connection.workspace_id), connection.public_id, "credentials")
