"""From a connection to its adapter: the only module that imports platforms.

Promises: credentials are opened here, for one adapter, and go nowhere else.
Does not know what the adapter is used for.
"""

from django.conf import settings

from integrations import vault
from integrations.addresses import BadAddress
from integrations.models import Connection, Platform
from integrations.platforms.shopify.account import BadToken, ShopifyAccount
from integrations.platforms.shopify.adapter import ShopifyAdapter
from integrations.platforms.shopify.documents import API_VERSION
from integrations.ports import StorePort, Unusable


class NoAdapter(Unusable):
    """This platform has no adapter for this kind of effect yet."""


def store(connection: Connection) -> StorePort:
    """Return the adapter of a store.

    Raises:
        NoAdapter: The connection's platform is not a store.
        Unusable: It has no credentials, or they can't be opened; connect it again.
    """
    if connection.platform != Platform.SHOPIFY:
        raise NoAdapter(connection.platform)
    try:
        return ShopifyAdapter(_shopify_account(connection))
    except (vault.WrongKey, vault.Tampered, BadAddress, BadToken) as problem:
        raise Unusable(f"{connection.domain}: {type(problem).__name__}") from problem


def _shopify_account(connection: Connection) -> ShopifyAccount:
    if connection.credentials is None:
        raise Unusable(f"{connection.domain} has no credentials")
    sealed = bytes(connection.credentials)
    return ShopifyAccount(
        shop=connection.domain,
        base_url=connection.base_url,
        access_token=vault.open_sealed(sealed, context=credentials_context(connection)).decode(),
        allow_private=settings.RAZVIEL_ALLOW_PRIVATE_PLATFORMS,
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
