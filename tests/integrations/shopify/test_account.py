"""The account: a token that is shown nowhere, and an address that is checked at once."""

import logging

import pytest
from structlog.testing import capture_logs

from integrations.addresses import BadAddress
from integrations.platforms.shopify.account import BadToken, ShopifyAccount
from integrations.ports import BlockedBy, NotSent
from tests.integrations.shopify.shop import ASKED, SHOP, TOKEN, adapter_at, answering, http


def account(**changes: object) -> ShopifyAccount:
    given: dict[str, object] = {
        "shop": SHOP,
        "base_url": "",
        "access_token": TOKEN,
        "allow_private": False,
        **changes,
    }
    return ShopifyAccount(**given)  # type: ignore[arg-type]


def test_a_shop_is_called_at_its_own_address_unless_told_otherwise() -> None:
    assert str(account().base()) == f"https://{SHOP}"


def test_the_token_is_in_no_repr() -> None:
    assert TOKEN not in repr(account())
    assert TOKEN not in repr(adapter_at(1))
    assert TOKEN not in repr(vars(adapter_at(1)))


@pytest.mark.parametrize("token", ["", "canary token", "canary\n", "canär", "a" * 513])
def test_what_can_be_no_token_is_refused_without_being_shown(token: str) -> None:
    with pytest.raises(BadToken) as refusal:
        account(access_token=token)
    assert str(refusal.value) == ""


def test_another_host_or_a_private_one_is_refused_at_once() -> None:
    for base_url in ("https://evil.com", "http://127.0.0.1:1", f"http://{SHOP}"):
        with pytest.raises(BadAddress):
            account(base_url=base_url)
    with pytest.raises(BadAddress):
        account(shop="evil.com#.myshopify.com")


def test_the_token_is_in_one_header_and_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with capture_logs() as events, answering(http(401, {"errors": TOKEN})) as (adapter, server):
        outcome = adapter.send_refund(
            frozen=adapter.freeze_refund(refund=ASKED), before_write=lambda: None
        )
    assert isinstance(outcome, NotSent)
    assert outcome.blocked_by is BlockedBy.CREDENTIAL
    assert server.received[0].count(TOKEN.encode()) == 1
    assert f"X-Shopify-Access-Token: {TOKEN}\r\n".encode() in server.received[0]
    assert TOKEN not in caplog.text + repr(events) + repr(outcome)
