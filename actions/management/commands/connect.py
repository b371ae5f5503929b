"""`manage.py connect shopify`: give a workspace its store, or a store its new token.

Promises: the token comes from a file, standard input or a terminal without echo, never from an
argument, and is printed nowhere; what is missing on the store is said kind by kind; a refused
connect exits 1 and leaves nothing behind.
Does not know how a store is asked: that is `integrations.connecting`. It stands in `actions`
because the catalogue says which scopes a kind needs.
"""

from argparse import Namespace
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

from django.core.management.base import BaseCommand, CommandError, CommandParser

from actions.catalogue import KINDS
from actions.dispatch import resume
from integrations.clock import now
from integrations.connecting import Connected, ConnectRefused, StoreToConnect, connect_store
from integrations.ports import BlockedBy
from integrations.terminal import Unusable, read_secret
from integrations.workspaces import NoSuchWorkspace, workspace_named

# https://shopify.dev/docs/api/usage/access-scopes (orders older than 60 days need Shopify's leave;
# as quoted in our reference, read 2026-11-30)
_OLD_ORDERS = "read_all_orders"


class Command(BaseCommand):
    """Connect a store."""

    help = (
        "Check a store live with an access token, and connect it to a workspace. The token is "
        "read from a file or standard input."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the platform, the workspace, the shop, and where the secrets are."""
        # A mistyped option must not swallow a secret: no abbreviations.
        parser.allow_abbrev = False
        parser.add_argument("platform", choices=["shopify"])
        parser.add_argument("--workspace", required=True, help="the slug of the workspace")
        parser.add_argument("--shop", required=True, help="NAME.myshopify.com")
        parser.add_argument("--base-url", help="only where the store is not at its own address")
        parser.add_argument(
            "--token-file", help="a file with the access token; without it, standard input"
        )
        parser.add_argument(
            "--webhook-secret-file", help="a file with the app's secret, which signs webhooks"
        )
        parser.add_argument("--sandbox", action="store_true", help="it is no real store")
        parser.add_argument(
            "--time-scale", type=_scale, help="sandboxes only: 0.01 is 100 times faster"
        )

    def handle(self, *_args: object, **options: object) -> None:
        """Connect, and say what was found."""
        asked = Namespace(**options)
        try:
            connected = connect_store(_store(asked))
        except (ConnectRefused, NoSuchWorkspace, Unusable) as refusal:
            raise CommandError(str(refusal)) from refusal
        resume(connected.connection, now=now())
        if asked.verbosity:
            for line in _told(connected):
                self.stdout.write(line)
            for line in _changed(connected):
                self.stdout.write(line, self.style.SUCCESS)
            for line in _missing(connected):
                self.stdout.write(line, self.style.WARNING)
        if connected.connection.blocked_by == BlockedBy.API_VERSION:
            raise CommandError(_other_version(connected))


def _store(asked: Namespace) -> StoreToConnect:
    workspace = workspace_named(asked.workspace)
    secret_file = asked.webhook_secret_file
    return StoreToConnect(
        workspace=workspace,
        shop=asked.shop,
        token=read_secret(name="access token", file=asked.token_file),
        webhook_secret=secret_file and read_secret(name="webhook secret", file=secret_file),
        base_url=asked.base_url,
        is_sandbox=asked.sandbox,
        time_scale=asked.time_scale,
    )


def _scale(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError from None


def _told(connected: Connected) -> Iterator[str]:
    connection, identity = connected.connection, connected.identity
    yield f"{connection.domain} is connected to {connection.workspace.slug}."
    yield f"  connection  {connection.public_id}{' (new)' if connected.is_new else ''}"
    yield (
        f"  store       {identity.name}, {identity.identifier}, {identity.currency}, "
        f"{identity.time_zone}"
    )
    yield f"  address     {connection.base_url}"
    yield f"  app         {identity.app}"
    yield f"  version     {identity.api_version or 'not named by the store'}"
    yield f"  scopes      {', '.join(sorted(identity.scopes)) or 'none'}"
    if connection.is_sandbox:
        pace = (
            f"{1 / connection.time_scale:f} times as fast"
            if connection.time_scale != 1
            else "as usual"
        )
        yield f"  sandbox     time runs {pace}"


def _changed(connected: Connected) -> Iterator[str]:
    if connected.app_before:
        yield (
            f"The app was {connected.app_before} until now. What that app has sent is "
            "still looked for on the store, "
            "but nothing of it is sent again."
        )
    if connected.blocked_before and not connected.connection.blocked_by:
        yield (
            f"It was blocked ({connected.blocked_before}) and is no more: what was held goes "
            "on by itself."
        )


def _missing(connected: Connected) -> Iterator[str]:
    for kind in KINDS.values():
        missing = sorted(kind.required_scopes - connected.identity.scopes)
        if missing:
            yield (
                f"{kind.name}: held until the app gets {', '.join(missing)}. Grant it on the "
                "store and connect again."
            )
    if _OLD_ORDERS not in connected.identity.scopes:
        yield (
            f"Advice: without {_OLD_ORDERS} (Shopify grants it on request) orders older than "
            "60 days can't be read."
        )


def _other_version(connected: Connected) -> str:
    return (
        f"The store answers as API version {connected.identity.api_version} where "
        f"{connected.asked_version} was asked: nothing is sent "
        "there until it answers as asked. Orders are still read. Look for a newer Razviel, "
        "then connect again."
    )
