"""Connect an account, check it, and stop a connection whose platform does not let us in.

Promises: a connection stays bound to the account that first answered; what blocks it is kept with
its moment until a person connects again; a connect that is refused leaves no row and no
credential, and a token is in no error, repr or log.
Does not know intents: what was on its way is held or read by `actions`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

import structlog
from django.conf import settings
from django.db import IntegrityError, transaction

from integrations import registry, vault
from integrations.addresses import BadAddress, PlatformUrl, platform_url
from integrations.clock import now
from integrations.models import Connection, Platform, Workspace
from integrations.ports import AccountIdentity, BlockedBy, Unreadable

log = structlog.get_logger(__name__)

_TOKEN = re.compile(r"[\x21-\x7e]{1,512}")
_REAL_HOSTS = ".myshopify.com"
_SCALE_PLACES = 6
"""As many as the column keeps."""
_CHECKED = (
    "base_url",
    "account",
    "account_name",
    "app",
    "scopes",
    "currency",
    "time_zone",
    "api_version",
    "credentials",
    "webhook_secret",
    "blocked_by",
    "blocked_at",
    "circuit_open_until",
    "checked_at",
)


class ConnectRefused(Exception):
    """Nothing was stored and nothing was changed; the message says why, and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreToConnect:
    """What a person says of a store, with the secrets that open it."""

    workspace: Workspace
    shop: str
    token: str = field(repr=False)
    webhook_secret: str | None = field(default=None, repr=False)
    """None keeps what is there."""
    base_url: str | None = None
    """None keeps what is there; for a new connection it is the shop's own address."""
    is_sandbox: bool = False
    time_scale: Decimal | None = None
    """None keeps what is there; for a new connection it is 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connected:
    """What a connect found, and what it changed."""

    connection: Connection
    identity: AccountIdentity
    asked_version: str
    is_new: bool
    app_before: str
    """The app whose sends stand behind us, where it was another one; else empty."""
    blocked_before: str
    """What had blocked the connection until now; empty if nothing had."""


def connect_store(store: StoreToConnect) -> Connected:
    """Check a store live with the given token, bind it to its account, and keep the token sealed.

    A person's connect is the one call that is always allowed: it is the probe that ends a block and
    an open circuit. Call it outside a transaction.

    Raises:
        ConnectRefused: Nothing was stored.
    """
    found = _found(store)
    draft = _draft(store, found)
    app_before, blocked_before = draft.app, draft.blocked_by
    identity = _identify(draft)
    _check_account(draft, identity)
    asked_version = registry.asked_version(draft)
    _take_over(draft, identity, asked_version=asked_version, at=now())
    _keep(draft, is_new=found is None)
    log.info(
        "connection.connected",
        connection=draft.public_id,
        account=identity.identifier,
        app=identity.app,
        new=found is None,
        blocked_by=draft.blocked_by,
    )
    return Connected(
        connection=draft,
        identity=identity,
        asked_version=asked_version,
        is_new=found is None,
        app_before=app_before if app_before != identity.app else "",
        blocked_before=blocked_before,
    )


def webhook_secret_context(connection: Connection) -> tuple[str, ...]:
    """Return what a sealed webhook secret is bound to: workspace, connection and field."""
    return (str(connection.workspace_id), connection.public_id, "webhook_secret")


SEALED_COLUMNS: Mapping[str, Callable[[Connection], tuple[str, ...]]] = {
    "credentials": registry.credentials_context,
    "webhook_secret": webhook_secret_context,
}
"""What the vault has sealed on a connection, each with the context that it is bound to."""


def block(connection: Connection, blocked_by: BlockedBy, *, at: datetime) -> None:
    """Stop every send on a connection until a person connects it again; the first reason stands."""
    changed = Connection.objects.filter(pk=connection.pk, blocked_by="").update(
        blocked_by=blocked_by, blocked_at=at
    )
    if changed:
        log.error(
            "connection.blocked", connection=connection.public_id, blocked_by=blocked_by.value
        )
    connection.refresh_from_db(fields=["blocked_by", "blocked_at"])


def may_be_read(connection: Connection, *, at: datetime) -> bool:
    """May the platform be asked?

    A pause and a kill switch stop writes, never reads; an open circuit and a platform that shuts us
    out stop both.
    """
    if connection.circuit_open_until is not None and connection.circuit_open_until > at:
        return False
    return connection.blocked_by in ("", BlockedBy.API_VERSION)


def _found(store: StoreToConnect) -> Connection | None:
    known = Connection.objects.filter(platform=Platform.SHOPIFY, domain=store.shop)
    return known.filter(workspace=store.workspace).select_related("workspace").first()


def _draft(store: StoreToConnect, found: Connection | None) -> Connection:
    """Return the connection as it would be, with the secrets sealed; nothing is stored yet."""
    if _TOKEN.fullmatch(store.token) is None:
        raise ConnectRefused(
            "This is no access token: a token is one word of at most 512 plain letters and digits."
        )
    draft = found or Connection(
        workspace=store.workspace,
        platform=Platform.SHOPIFY,
        domain=store.shop,
        is_sandbox=store.is_sandbox,
        time_scale=store.time_scale or Decimal(1),
    )
    base = _address(store, known=draft.base_url)
    _check_sandbox(store, draft, base)
    if found is not None:
        _check_unchanged(store, found)
    draft.base_url = str(base)
    draft.credentials = vault.seal(
        store.token.encode(), context=registry.credentials_context(draft)
    )
    if store.webhook_secret is not None:
        draft.webhook_secret = vault.seal(
            store.webhook_secret.encode(), context=webhook_secret_context(draft)
        )
    return draft


def _address(store: StoreToConnect, *, known: str) -> PlatformUrl:
    text = known if store.base_url is None else store.base_url
    allow_private = settings.RAZVIEL_ALLOW_PRIVATE_PLATFORMS
    try:
        return platform_url(text, shop=store.shop, allow_private=allow_private)
    except BadAddress as problem:
        allowing = (
            "" if allow_private or not text else " RAZVIEL_ALLOW_PRIVATE_PLATFORMS=1 allows them."
        )
        raise ConnectRefused(f"{problem}{allowing}") from None


def _check_sandbox(store: StoreToConnect, draft: Connection, base: PlatformUrl) -> None:
    """Keep faster time, and the word sandbox, away from real stores."""
    is_real = base.scheme != "http" or base.host.endswith(_REAL_HOSTS)
    if store.time_scale is not None:
        _check_time_scale(store.time_scale, is_sandbox=store.is_sandbox)
    if (store.is_sandbox or draft.is_sandbox) and is_real:
        raise ConnectRefused(
            f"{base} is where a real store would be: a sandbox has an http:// address of "
            "its own, given by --base-url."
        )


def _check_unchanged(store: StoreToConnect, found: Connection) -> None:
    becomes_sandbox = store.is_sandbox and not found.is_sandbox
    if becomes_sandbox or store.time_scale not in (None, found.time_scale):
        raise ConnectRefused(
            f"{found.domain} is connected already, and whether it is a sandbox and how fast its "
            "time runs never changes: leave --sandbox and --time-scale as they were."
        )


def _check_time_scale(scale: Decimal, *, is_sandbox: bool) -> None:
    if not is_sandbox:
        raise ConnectRefused("--time-scale is for sandboxes only: add --sandbox, or leave it out.")
    if not (scale.is_finite() and 0 < scale <= 1 and scale == round(scale, _SCALE_PLACES)):
        raise ConnectRefused(
            "--time-scale is more than 0 and at most 1, in six places: 0.01 is 100 times faster."
        )


_SHUT_OUT = {
    BlockedBy.CREDENTIAL: (
        "the store does not accept this access token. Copy it again, or make a new one in the "
        "store's admin."
    ),
    BlockedBy.PAYMENT: "the store is frozen until its bill is paid. Connect again when it is.",
    BlockedBy.PERMISSION: (
        "the store forbids this app the call. Check that the app is installed there."
    ),
    BlockedBy.LOCKED: "Shopify has locked the store. Connect again when it is unlocked.",
    BlockedBy.SECURITY: (
        "Shopify takes us for malicious and refuses. Ask Shopify before trying again."
    ),
    BlockedBy.ADDRESS: "no Admin API answers there. Check --shop and --base-url.",
    BlockedBy.API_VERSION: "another API version answers there than the one that Razviel speaks.",
}


def _identify(draft: Connection) -> AccountIdentity:
    answer = registry.store(draft).identify()
    if isinstance(answer, AccountIdentity):
        return answer
    raise ConnectRefused(f"{draft.base_url}: {_no_identity(answer)}")


def _no_identity(answer: Unreadable) -> str:
    if answer.blocked_by is not None:
        return _SHUT_OUT[answer.blocked_by]
    return f"no answer that can be read ({answer.reason}). Check the address and try again."


def _check_account(draft: Connection, identity: AccountIdentity) -> None:
    """Refuse an account that is not the one that first answered, or that is connected elsewhere."""
    if draft.account not in (None, identity.identifier):
        raise ConnectRefused(
            f"This token is for {identity.identifier} ({identity.domain}), and "
            f"{draft.domain} is bound to {draft.account} for ever: "
            "give a token of that store, or connect the other one under its own name."
        )
    if identity.domain != draft.domain:
        raise ConnectRefused(
            f"The store that answers calls itself {identity.domain}: use --shop {identity.domain}."
        )
    same_account = Connection.objects.filter(
        platform=draft.platform, account=identity.identifier
    ).exclude(pk=draft.pk)
    elsewhere = same_account.first()
    if elsewhere is None:
        return
    if elsewhere.workspace_id == draft.workspace_id:
        raise ConnectRefused(f"This store is connected here already, as {elsewhere.domain}.")
    raise ConnectRefused(
        f"{identity.identifier} is connected in another workspace, and a store belongs to "
        "one for ever."
    )


def _take_over(
    draft: Connection, identity: AccountIdentity, *, asked_version: str, at: datetime
) -> None:
    """Write what the store said of itself into the draft, and whether that lets us send."""
    draft.account, draft.account_name = identity.identifier, identity.name[:200]
    draft.app, draft.scopes = identity.app, sorted(identity.scopes)
    draft.currency, draft.time_zone = identity.currency, identity.time_zone[:64]
    draft.api_version = identity.api_version[:20]
    draft.circuit_open_until, draft.checked_at = None, at
    # An answer that names no version is judged as at a send: it stops nothing.
    if identity.api_version in ("", asked_version):
        draft.blocked_by, draft.blocked_at = "", None
    elif draft.blocked_by != BlockedBy.API_VERSION:
        draft.blocked_by, draft.blocked_at = BlockedBy.API_VERSION, at


def _keep(draft: Connection, *, is_new: bool) -> None:
    try:
        with transaction.atomic():
            if is_new:
                draft.save(force_insert=True)
            else:
                draft.save(update_fields=_CHECKED)
    except IntegrityError as conflict:
        raise ConnectRefused(
            "Somebody connected this store at the same moment: look at it, and connect "
            "again if needed."
        ) from conflict
