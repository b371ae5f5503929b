"""A sandbox with one shop, fresh for every test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from integrations.sandbox.server import Sandbox
from integrations.sandbox.surface import ShopControls


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox.running() as running:
        yield running


@pytest.fixture
def shop(sandbox: Sandbox) -> ShopControls:
    return sandbox.shop("acme.myshopify.com", currency="CAD")
