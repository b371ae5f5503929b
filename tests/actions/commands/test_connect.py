"""`manage.py connect shopify`, against a real store's answers over HTTP."""

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from django.test import override_settings
from structlog.testing import capture_logs

from actions.models import Attempt
from actions.states import State
from integrations import connecting, vault
from integrations.clock import now
from integrations.connecting import block, webhook_secret_context
from integrations.models import Connection, Workspace
from integrations.ports import BlockedBy
from integrations.registry import credentials_context
from integrations.sandbox.server import Sandbox
from integrations.sandbox.surface import ShopControls
from tests.factories import make_connection, make_workspace
from tests.integrations.commands.running import Ran, Shell
from tests.stage import Stage

pytestmark = pytest.mark.django_db(transaction=True)

SHOP = "acme.myshopify.com"
CANARY = "shpat_canary_of_the_connect_command"


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox.running() as running:
        yield running


@pytest.fixture
def shop(sandbox: Sandbox) -> ShopControls:
    return sandbox.shop(SHOP).with_token(CANARY)


@pytest.fixture
def workspace() -> Workspace:
    return make_workspace(slug="acme")


def connect(shell: Shell, url: str, *more: str, token: str = CANARY, slug: str = "acme") -> Ran:
    arguments = ("--workspace", slug, "--shop", SHOP, "--base-url", url, *more)
    return shell("connect", "shopify", *arguments, stdin=f"{token}\n")


def opened(connection: Connection) -> str:
    sealed = bytes(connection.credentials or b"")
    return vault.open_sealed(sealed, context=credentials_context(connection)).decode()


def nothing_is_stored() -> bool:
    return not Connection.objects.exists()


def test_a_store_is_checked_live_bound_and_its_token_sealed(
    shell: Shell, shop: ShopControls, workspace: Workspace
) -> None:
    before = now()
    ran = connect(shell, shop.url)
    connection = Connection.objects.get()
    account = connection.account
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "acme.myshopify.com is connected to acme.",
        f"  connection  {connection.public_id} (new)",
        f"  store       acme, {account}, EUR, Europe/Paris",
        f"  address     {shop.url}",
        f"  app         {shop.app_id}",
        "  version     2026-10",
        "  scopes      read_all_orders, read_customers, read_orders, write_orders",
    ]
    assert str(account).startswith("gid://shopify/Shop/")
    assert (connection.workspace, connection.domain) == (workspace, SHOP)
    assert (connection.base_url, connection.app) == (shop.url, shop.app_id)
    assert (connection.api_version, connection.currency) == ("2026-10", "EUR")
    assert (connection.is_sandbox, connection.time_scale) == (False, Decimal(1))
    assert (connection.blocked_by, connection.blocked_at) == ("", None)
    assert connection.checked_at is not None
    assert connection.checked_at >= before
    assert opened(connection) == CANARY
    assert [request.operation for request in shop.requests()] == ["shop"]


def test_the_token_is_printed_and_logged_nowhere(
    shell: Shell,
    shop: ShopControls,
    workspace: Workspace,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    with capture_logs() as events:
        told = [connect(shell, shop.url), connect(shell, shop.url)]
        told.append(connect(shell, shop.url, token=f"{CANARY}_wrong"))
        told.append(connect(shell, shop.url, token=f"{CANARY} two words"))
        told.append(connect(shell, shop.url, "--token-file", CANARY))
        told.append(connect(shell, shop.url, "--webhook-secret-file", CANARY))
        told.append(connect(shell, "http://127.0.0.1:1"))
    assert [ran.status for ran in told] == [0, 0, 1, 1, 1, 1, 1]
    assert CANARY not in repr(told) + repr(events) + caplog.text
    said = [event["event"] for event in events if event["event"] != "http.exchanged"]
    assert said == ["connection.connected"] * 2


def test_a_token_is_never_taken_from_an_argument(shell: Shell, workspace: Workspace) -> None:
    ran = shell("connect", "shopify", "--workspace", "acme", "--shop", SHOP, "--token", CANARY)
    assert ran.status == 2
    assert ran.out == ""
    assert nothing_is_stored()


def test_token_and_webhook_secret_come_from_files(
    shell: Shell, shop: ShopControls, workspace: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text(f"{CANARY}\r\n")
    (tmp_path / "secret").write_text("shpss_canary")
    files = ["--token-file", str(tmp_path / "token")]
    files += ["--webhook-secret-file", str(tmp_path / "secret")]
    assert connect(shell, shop.url, *files, token="not this one").status == 0
    connection = Connection.objects.get()
    secret = bytes(connection.webhook_secret or b"")
    assert opened(connection) == CANARY
    context = webhook_secret_context(connection)
    assert vault.open_sealed(secret, context=context) == b"shpss_canary"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "No access token was given."),
        ("\n", "No access token was given."),
        ("one\ntwo\n", "The access token is more than one line."),
        (
            "two words",
            "This is no access token: a token is one word of at most 512 plain letters and digits.",
        ),
    ],
)
def test_what_is_no_token_is_refused_before_anything_leaves(
    shell: Shell, shop: ShopControls, workspace: Workspace, given: str, said: str
) -> None:
    arguments = ("--workspace", "acme", "--shop", SHOP, "--base-url", shop.url)
    ran = shell("connect", "shopify", *arguments, stdin=given)
    assert (ran.status, ran.out, ran.err) == (1, "", f"CommandError: {said}\n")
    assert nothing_is_stored()
    assert shop.requests() == ()


def test_a_token_that_the_store_refuses_leaves_no_row(
    shell: Shell, shop: ShopControls, workspace: Workspace
) -> None:
    ran = connect(shell, shop.url, token="shpat_of_another_store")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == (
        f"CommandError: {shop.url}: the store does not accept this access token. "
        "Copy it again, or make a new one in the store's admin.\n"
    )
    assert nothing_is_stored()


def test_an_address_where_nothing_answers_leaves_no_row(shell: Shell, workspace: Workspace) -> None:
    ran = connect(shell, "http://127.0.0.1:1")
    assert ran.status == 1
    assert ran.err.startswith("CommandError: http://127.0.0.1:1: no answer that can be read (")
    assert nothing_is_stored()


def test_an_unknown_workspace_is_named(shell: Shell, shop: ShopControls) -> None:
    ran = connect(shell, shop.url, slug="acmee")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == (
        "CommandError: There is no workspace 'acmee'; `manage.py workspace list` shows those "
        "that there are.\n"
    )
    assert shop.requests() == ()


@pytest.mark.parametrize("address", ["http://127.0.0.1:1", "https://10.0.0.1", f"http://{SHOP}"])
def test_private_addresses_need_the_operators_leave(
    shell: Shell, workspace: Workspace, address: str
) -> None:
    with override_settings(RAZVIEL_ALLOW_PRIVATE_PLATFORMS=False):
        ran = connect(shell, address)
    assert ran.status == 1
    assert ran.err == (
        "CommandError: Only https and the shop's own host, unless private platforms are allowed. "
        "RAZVIEL_ALLOW_PRIVATE_PLATFORMS=1 allows them.\n"
    )
    assert nothing_is_stored()


ADVICE = (
    "Advice: without read_all_orders (Shopify grants it on request) orders older than 60 days "
    "can't be read."
)


def test_missing_scopes_are_said_kind_by_kind_and_the_store_is_connected(
    shell: Shell, shop: ShopControls, workspace: Workspace
) -> None:
    shop.with_token(CANARY, scopes=["read_orders"])
    ran = connect(shell, shop.url)
    assert ran.status == 0
    assert ran.out.splitlines()[6:] == [
        "  scopes      read_orders",
        "refund: held until the app gets write_orders. Grant it on the store and connect again.",
        (
            "store_credit: held until the app gets read_customers, write_orders. "
            "Grant it on the store and connect again."
        ),
        ADVICE,
    ]
    assert Connection.objects.get().scopes == ["read_orders"]


def test_a_scope_that_lets_write_lets_read(
    shell: Shell, shop: ShopControls, workspace: Workspace
) -> None:
    shop.with_token(CANARY, scopes=["write_orders"])
    ran = connect(shell, shop.url)
    assert ran.status == 0
    assert ran.out.splitlines()[6:] == [
        "  scopes      read_orders, write_orders",
        (
            "store_credit: held until the app gets read_customers. "
            "Grant it on the store and connect again."
        ),
        ADVICE,
    ]
    assert Connection.objects.get().scopes == ["read_orders", "write_orders"]


def test_another_accounts_token_is_refused_and_nothing_changes(
    shell: Shell, sandbox: Sandbox, shop: ShopControls, workspace: Workspace
) -> None:
    connect(shell, shop.url)
    before = Connection.objects.values().get()
    other = sandbox.shop("other.myshopify.com").with_token("shpat_other")
    ran = connect(shell, other.url, token="shpat_other")
    assert (ran.status, ran.out) == (1, "")
    assert f"and {SHOP} is bound to {before['account']} for ever" in ran.err
    assert Connection.objects.values().get() == before


def test_a_store_that_calls_itself_otherwise_is_refused(
    shell: Shell, sandbox: Sandbox, workspace: Workspace
) -> None:
    other = sandbox.shop("other.myshopify.com").with_token("shpat_other")
    ran = connect(shell, other.url, token="shpat_other")
    assert ran.status == 1
    assert ran.err == (
        "CommandError: The store that answers calls itself other.myshopify.com: "
        "use --shop other.myshopify.com.\n"
    )
    assert nothing_is_stored()


def test_a_store_belongs_to_one_workspace_for_ever(
    shell: Shell, shop: ShopControls, workspace: Workspace
) -> None:
    make_workspace(slug="second")
    connect(shell, shop.url)
    account = Connection.objects.get().account
    ran = connect(shell, shop.url, slug="second")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == (
        f"CommandError: {account} is connected in another workspace, and a store belongs to one "
        "for ever.\n"
    )
    assert Connection.objects.count() == 1


def test_a_new_token_of_the_same_account_replaces_the_old_and_keeps_the_rest(
    shell: Shell, shop: ShopControls, workspace: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("shpss_canary")
    connect(shell, shop.url, "--webhook-secret-file", str(tmp_path / "secret"))
    first = Connection.objects.get()
    shop.with_token("shpat_new")
    arguments = ("--workspace", "acme", "--shop", SHOP)
    ran = shell("connect", "shopify", *arguments, stdin="shpat_new")
    second = Connection.objects.get()
    assert ran.status == 0
    assert f"  connection  {first.public_id}\n" in ran.out
    assert opened(second) == "shpat_new"
    assert second.base_url == shop.url
    assert bytes(second.webhook_secret or b"") == bytes(first.webhook_secret or b"")
    assert (second.pk, second.account) == (first.pk, first.account)


@pytest.mark.parametrize("reason", [BlockedBy.CREDENTIAL, BlockedBy.PAYMENT, BlockedBy.API_VERSION])
def test_a_check_that_passes_ends_a_block_and_an_open_circuit(
    shell: Shell, shop: ShopControls, workspace: Workspace, reason: BlockedBy
) -> None:
    connect(shell, shop.url)
    connection = Connection.objects.get()
    block(connection, reason, at=now())
    Connection.objects.update(circuit_open_until=now() + timedelta(minutes=5))
    ran = connect(shell, shop.url)
    connection.refresh_from_db()
    assert ran.status == 0
    assert f"It was blocked ({reason}) and is no more: what was held goes on by itself." in ran.out
    assert (connection.blocked_by, connection.blocked_at) == ("", None)
    assert connection.circuit_open_until is None


def test_a_check_that_fails_leaves_a_block_and_the_old_token(
    shell: Shell, shop: ShopControls, workspace: Workspace
) -> None:
    connect(shell, shop.url)
    connection = Connection.objects.get()
    block(connection, BlockedBy.CREDENTIAL, at=now())
    before = Connection.objects.values().get()
    assert connect(shell, shop.url, token="shpat_wrong").status == 1
    assert Connection.objects.values().get() == before


def test_another_api_version_blocks_says_so_and_stays(
    shell: Shell, shop: ShopControls, workspace: Workspace
) -> None:
    shop.serve_version("2026-07")
    ran = connect(shell, shop.url)
    connection = Connection.objects.get()
    assert ran.status == 1
    assert "  version     2026-07\n" in ran.out
    assert ran.err == (
        "CommandError: The store answers as API version 2026-07 where 2026-10 was asked: nothing "
        "is sent there until it answers as asked. Orders are still read. Look for a newer Razviel, "
        "then connect again.\n"
    )
    assert connection.blocked_by == BlockedBy.API_VERSION
    since = connection.blocked_at
    assert connect(shell, shop.url).status == 1
    connection.refresh_from_db()
    assert (connection.blocked_by, connection.blocked_at) == (BlockedBy.API_VERSION, since)
    shop.serve_version(None)
    assert connect(shell, shop.url).status == 0
    connection.refresh_from_db()
    assert (connection.blocked_by, connection.blocked_at) == ("", None)


def test_after_a_change_of_app_nothing_is_sent_again(shell: Shell, stage: Stage) -> None:
    stage.workspace = make_workspace(slug="acme")
    connect(shell, stage.shop.url, token=stage.shop.token)
    stage.connection = Connection.objects.get(workspace=stage.workspace)
    intent = stage.propose(stage.case())
    stage.shop.fault("lost_before", operation="refundCreate")
    assert stage.work(intent).state == State.UNKNOWN
    second = stage.shop.with_token("shpat_second", app="Razviel Two")
    ran = connect(shell, stage.shop.url, token="shpat_second")
    stage.connection.refresh_from_db()
    assert ran.status == 0
    assert ran.out.splitlines()[-1] == (
        f"The app was {stage.shop.app_id} until now. What that app has sent is still looked for on "
        "the store, but nothing of it is sent again."
    )
    assert stage.connection.app == second.app_id
    intent = stage.settle(intent)
    assert (intent.state, intent.state_reason) == (State.FAILED, "absent")
    assert Attempt.objects.count() == 1
    assert stage.shop.effects() == ()


def test_a_sandbox_may_run_faster(shell: Shell, shop: ShopControls, workspace: Workspace) -> None:
    ran = connect(shell, shop.url, "--sandbox", "--time-scale", "0.01")
    connection = Connection.objects.get()
    assert ran.status == 0
    assert ran.out.splitlines()[-1] == "  sandbox     time runs 100 times as fast"
    assert (connection.is_sandbox, connection.time_scale) == (True, Decimal("0.01"))
    assert connect(shell, shop.url).status == 0
    connection.refresh_from_db()
    assert (connection.is_sandbox, connection.time_scale) == (True, Decimal("0.01"))


NEVER_CHANGES = (
    f"{SHOP} is connected already, and whether it is a sandbox and how fast its time runs never "
    "changes: leave --sandbox and --time-scale as they were."
)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ((), ("--sandbox",)),
        ((), ("--sandbox", "--time-scale", "0.5")),
        (("--sandbox",), ("--sandbox", "--time-scale", "0.5")),
    ],
)
def test_a_connection_never_becomes_a_sandbox_or_faster(
    shell: Shell,
    shop: ShopControls,
    workspace: Workspace,
    first: tuple[str, ...],
    then: tuple[str, ...],
) -> None:
    connect(shell, shop.url, *first)
    before = Connection.objects.values().get()
    ran = connect(shell, shop.url, *then)
    assert (ran.status, ran.err) == (1, f"CommandError: {NEVER_CHANGES}\n")
    assert Connection.objects.values().get() == before


FOR_SANDBOXES = "--time-scale is for sandboxes only: add --sandbox, or leave it out."
BETWEEN = "--time-scale is more than 0 and at most 1, in six places: 0.01 is 100 times faster."
REAL = (
    "is where a real store would be: a sandbox has an http:// address of its own, given by "
    "--base-url."
)


@pytest.mark.parametrize(
    ("address", "options", "said"),
    [
        ("http://127.0.0.1:1", ("--time-scale", "0.1"), FOR_SANDBOXES),
        *(
            ("http://127.0.0.1:1", ("--sandbox", f"--time-scale={scale}"), BETWEEN)
            for scale in ("0", "-1", "1.5", "NaN", "Infinity", "0.0000001")
        ),
        (f"https://{SHOP}", ("--sandbox",), f"https://{SHOP} {REAL}"),
        (f"http://{SHOP}", ("--sandbox", "--time-scale", "0.1"), f"http://{SHOP} {REAL}"),
        ("https://10.0.0.1", ("--sandbox",), f"https://10.0.0.1 {REAL}"),
    ],
)
def test_faster_time_and_real_stores_never_meet(
    shell: Shell, workspace: Workspace, address: str, options: tuple[str, ...], said: str
) -> None:
    ran = connect(shell, address, *options)
    assert (ran.status, ran.out, ran.err) == (1, "", f"CommandError: {said}\n")
    assert nothing_is_stored()


def test_a_sandbox_never_moves_to_a_real_stores_address(
    shell: Shell, shop: ShopControls, workspace: Workspace
) -> None:
    connect(shell, shop.url, "--sandbox")
    ran = connect(shell, f"https://{SHOP}")
    assert (ran.status, ran.err) == (1, f"CommandError: https://{SHOP} {REAL}\n")
    assert Connection.objects.get().base_url == shop.url


def test_quiet_says_nothing_where_all_is_well(
    shell: Shell, shop: ShopControls, workspace: Workspace
) -> None:
    ran = connect(shell, shop.url, "--verbosity", "0")
    assert (ran.status, ran.out, ran.err) == (0, "", "")


def test_of_two_who_connect_at_the_same_moment_one_is_refused(
    shell: Shell, shop: ShopControls, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    rival = make_workspace(slug="rival")
    account = shop.perform("shop", {"name": SHOP})["id"]

    def connect_first() -> datetime:
        make_connection(workspace=rival, domain=SHOP, account=account)
        return now()

    monkeypatch.setattr(connecting, "now", connect_first)
    ran = connect(shell, shop.url)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == (
        "CommandError: Somebody connected this store at the same moment: look at it, and connect "
        "again if needed.\n"
    )
    assert Connection.objects.get().workspace == rival
