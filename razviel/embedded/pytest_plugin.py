"""Gives a test run its servers before pytest-django reads the settings.

Promises: started once, by the process that was called; xdist's workers inherit the addresses,
each with a Redis database of its own.
Set DATABASE_URL (and DATABASE_OWNER_URL) or REDIS_URL to run on servers of your own.
Does not know: test databases, which tests/conftest.py makes.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator
from urllib.parse import urlsplit

import pytest

from razviel.embedded.faults import EmbeddedFault
from razviel.embedded.surroundings import surroundings


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None, object, object]:
    """Set the addresses; a wrapper runs before every plain hook, pytest-django's included."""
    stack = contextlib.ExitStack()
    try:
        made = stack.enter_context(surroundings(os.environ, durable=False))
    except EmbeddedFault as fault:
        raise pytest.UsageError(str(fault)) from fault
    os.environ.update(made.environment)
    os.environ["REDIS_URL"] = _own_redis_database(made.environment["REDIS_URL"])
    early_config.add_cleanup(stack.close)
    return (yield)


def _own_redis_database(url: str) -> str:
    """Give each xdist worker a database number, so that none meets another's messages."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw")
    if not worker:
        return url
    return urlsplit(url)._replace(path=f"/{int(worker) + 1}").geturl()
