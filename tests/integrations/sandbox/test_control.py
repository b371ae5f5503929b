"""The controls: the same over HTTP as in process, wrong ones refused, the ledger whole."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core.management import CommandError, call_command

from integrations.sandbox.client import ControlClient
from integrations.sandbox.commands import ControlRefused
from integrations.sandbox.ledger import EffectDuty, EffectLine
from integrations.sandbox.server import Sandbox
from integrations.sandbox.surface import SandboxControls, ShopControls
from tests.integrations.sandbox.asking import REFUND, refund, refund_input, send

ROOT = Path(__file__).parents[3]


def test_the_ledger_tells_what_a_refund_was_for_in_process_and_over_http(
    controls: SandboxControls,
) -> None:
    shop = controls.shop("acme.myshopify.com", currency="EUR")
    order = shop.order(total="1000", currency="JPY", rate="0.0061", shipping="200", duty="100")
    line = {"lineItemId": order.lines[0], "quantity": 1, "restockType": "RETURN"}
    asked: dict[str, Any] = {
        "refundLineItems": [line],
        "shipping": {"amount": "50"},
        "refundDuties": [{"dutyId": order.duties[0]}],
    }
    assert refund(shop, order, "850", currency="JPY", **asked).user_errors == []
    [effect] = controls.ledger.effects()
    assert effect.lines == (
        EffectLine(line_id=order.lines[0], quantity=1, restock_type="RETURN", location_id=None),
    )
    assert (effect.shipping, effect.duties) == (
        Decimal(50),
        (EffectDuty(duty_id=order.duties[0], amount=Decimal(100)),),
    )
    assert [(part.amount, part.shop_amount) for part in effect.parts] == [
        (Decimal(850), Decimal("5.19"))
    ]


def test_many_refunds_are_made_at_once_or_none(controls: SandboxControls) -> None:
    shop = controls.shop("acme.myshopify.com")
    order = shop.order(total="3.00")
    with pytest.raises(ControlRefused, match="greater than net payment received"):
        shop.refunds_by_staff(order.id, amount="1.00", notes=["a", "b", "c", "d"])
    assert shop.effects() == ()
    made = shop.refunds_by_staff(order.id, amount="1.00", notes=["a", None, "c"])
    assert [(one.id, one.note, one.app_id) for one in shop.effects()] == [
        (made[0].id, "a", None),
        (made[1].id, None, None),
        (made[2].id, "c", None),
    ]


@pytest.fixture(params=["in process", "over HTTP"])
def controls(request: pytest.FixtureRequest, sandbox: Sandbox) -> SandboxControls:
    return sandbox if request.param == "in process" else ControlClient(sandbox.url)


def test_the_whole_surface_works_in_process_and_over_http(controls: SandboxControls) -> None:
    shop = controls.shop("acme.myshopify.com", currency="USD")
    shop.gateway("slow", answers="PENDING")
    order = shop.order(total="20.00", gateway="slow")
    shop.fault("status_after", status=502, operation="refundCreate")
    assert refund(shop, order, "5.00", note="rzv:m").status == 502
    [effect] = controls.ledger.effects()
    assert (effect.shop, effect.order_id, effect.note) == (shop.name, order.id, "rzv:m")
    assert shop.settle_refund(effect.id, "FAILURE").transactions == {effect.parts[0].id: "FAILURE"}
    assert shop.retry_refund(effect.id).transactions == {effect.parts[0].id: "SUCCESS"}
    before = controls.clock.now()
    assert controls.clock.advance(timedelta(hours=1)) - before >= timedelta(hours=1)
    shop.keys(remember=False, carrier="top_level", after_refusal="previous_failed")
    shop.throttle(unlimited=True)
    shop.cancel_order(order.id)
    controls.release()
    assert [part.status for part in controls.ledger.effects()[0].parts] == ["SUCCESS"]


def test_the_ledger_tells_who_made_each_effect(sandbox: Sandbox) -> None:
    shop = sandbox.shop("acme.myshopify.com", currency="EUR")
    order = shop.order(total="20.00")
    asked = {"input": refund_input(order, "5.00", note="rzv:m"), "key": "key-1"}
    body = json.dumps({"query": REFUND, "variables": asked}).encode()
    send(shop, body)
    shop.refund_by_staff(order.id, amount="1.00")
    [ours, theirs] = sandbox.ledger.effects()
    assert (ours.kind, ours.currency, ours.app_id, ours.key) == (
        "refund",
        "EUR",
        shop.app_id,
        "key-1",
    )
    assert (theirs.app_id, theirs.key, theirs.request_number) == (None, None, None)
    [request] = sandbox.ledger.requests()
    assert request.number == ours.request_number == 1
    assert request.body_sha256 == hashlib.sha256(body).hexdigest()
    assert (request.operation, request.key, request.http_status) == ("refundCreate", "key-1", 200)
    assert (request.executed, request.fault) == (True, None)


def test_the_ledger_can_be_fetched(sandbox: Sandbox) -> None:
    shop = sandbox.shop("acme.myshopify.com")
    refund(shop, shop.order(), "5.00")
    parts = urlsplit(sandbox.url)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=5)
    connection.request("GET", "/control/ledger")
    told = json.loads(connection.getresponse().read())["result"]
    connection.close()
    assert [len(told["effects"]), len(told["requests"])] == [1, 1]


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("fly", {}),
        ("order", {"shop": "nowhere.myshopify.com"}),
        ("order", {"shop": "acme.myshopify.com", "colour": "red"}),
        ("fault", {"shop": "acme.myshopify.com", "kind": "unheard_of"}),
        ("fault", {"shop": "acme.myshopify.com", "kind": "html", "colour": "red"}),
        ("gateway", {"shop": "acme.myshopify.com", "name": "x", "answers": "MAYBE"}),
        ("order", {"shop": "acme.myshopify.com", "payments": [{}]}),
        ("order", {"shop": "acme.myshopify.com", "total": "much"}),
        ("reached", {"number": 1, "timeout_seconds": 0}),
        ("advance", {"seconds": -1}),
        ("advance", {}),
        (
            "settle",
            {"shop": "acme.myshopify.com", "refund": "gid://shopify/Refund/1", "status": "SUCCESS"},
        ),
        ("cancel", {"shop": "acme.myshopify.com", "order": "gid://shopify/Order/1"}),
    ],
)
def test_a_wrong_command_is_refused(
    controls: SandboxControls, command: str, arguments: dict[str, object]
) -> None:
    controls.shop("acme.myshopify.com")
    with pytest.raises(ControlRefused):
        controls._perform(command, arguments)


def test_staff_cannot_refund_more_than_the_store_holds(shop: ShopControls) -> None:
    order = shop.order(total="15.00")
    with pytest.raises(ControlRefused, match="greater than net payment"):
        shop.refund_by_staff(order.id, amount="15.01")
    assert shop.effects() == ()


def test_two_shops_share_nothing(sandbox: Sandbox) -> None:
    one = sandbox.shop("one.myshopify.com", token="shpat_one")
    two = sandbox.shop("two.myshopify.com", token="shpat_two")
    order = one.order()
    assert refund(two, order, "5.00").user_errors[0]["message"] == "Order does not exist"
    body = json.dumps({"query": "{ shop { id } }"}).encode()
    assert send(two, body, token="shpat_one").status == 401
    assert (one.effects(), two.effects()) == ((), ())


def test_the_same_calls_give_the_same_world() -> None:
    def play() -> list[str]:
        with Sandbox.running() as sandbox:
            shop = sandbox.shop("acme.myshopify.com")
            order = shop.order()
            return [order.id, refund(shop, order, "5.00").payload["refund"]["id"]]

    assert play() == play()


def test_what_is_not_json_or_not_shopify_is_refused(shop: ShopControls) -> None:
    assert send(shop, b"{").status == 400
    assert send(shop, b"[]").status == 400
    parts = urlsplit(shop.url)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=5)
    connection.request("POST", "/admin/api/2026-10/graphql.json", b"{}")
    assert connection.getresponse().status == 404
    connection.close()


def test_a_connection_serves_many_requests(shop: ShopControls) -> None:
    parts = urlsplit(shop.url)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=5)
    body = json.dumps({"query": "{ shop { id } }"})
    for _ in range(3):
        path = f"{parts.path}/admin/api/2026-10/graphql.json"
        connection.request("POST", path, body, {"X-Shopify-Access-Token": shop.token})
        assert connection.getresponse().read().startswith(b'{"data"')
    connection.close()
    assert len(shop.requests()) == 3


def test_the_command_says_so_when_its_port_is_taken(sandbox: Sandbox) -> None:
    port = urlsplit(sandbox.url).port
    with pytest.raises(CommandError, match=rf"Port {port} can't be used .* Choose another"):
        call_command("sandbox", port=port)


def test_an_open_shop_is_taken_up_as_it_is(sandbox: Sandbox) -> None:
    opened = sandbox.shop("acme.myshopify.com", token="shpat_own", scopes=["read_orders"])
    again = ControlClient(sandbox.url).shop("acme.myshopify.com")
    assert (again.token, again.app_id, again.url) == ("shpat_own", opened.app_id, opened.url)
    scopes = send(again, b'{"query": "{ currentAppInstallation { accessScopes { handle } } }"}')
    assert b"write_orders" not in scopes.body


@pytest.fixture
def process() -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "manage.py", "sandbox", "--port", "0"]
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings"}
    running = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    )
    yield running
    running.kill()
    running.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_command_prints_its_address_and_stops_when_told(
    process: subprocess.Popen[str], number: signal.Signals
) -> None:
    assert process.stdout is not None
    word, url = process.stdout.readline().split()
    assert word == "sandbox"
    shop = ControlClient(url).shop("acme.myshopify.com")
    assert refund(shop, shop.order(), "5.00").user_errors == []
    process.send_signal(number)
    rest, _ = process.communicate(timeout=20)
    assert (rest, process.returncode) == ("sandbox stopped\n", 0)
