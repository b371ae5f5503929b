"""What every test stands on: the database in two roles, a broker, and no network.

Promises: tests run as the application's role, which owns nothing; migrations and resets run as
the owner; nothing but loopback is reached; Celery is never eager.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import hypothesis
import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connections
from django.test import TransactionTestCase
from pytest_django.plugin import DjangoDbBlocker

from tests.database import TestDatabase
from tests.network import refuse_outside
from tests.stage import Stage

# No test asserts on wall time, and a shared machine is slow at odd moments.
hypothesis.settings.register_profile("razviel", deadline=None)
hypothesis.settings.load_profile("razviel")


@pytest.fixture(scope="session")
def test_database(
    django_test_environment: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[TestDatabase]:
    """A migrated database of this worker's own; both of Django's aliases point at it."""
    owner, default = connections["owner"], connections["default"]
    database = TestDatabase(
        name="_".join(["test_razviel", os.environ.get("PYTEST_XDIST_WORKER", "")]).rstrip("_"),
        owner_parameters=_libpq_parameters(owner.get_connection_params()),
        application_parameters=_libpq_parameters(default.get_connection_params()),
    )
    database.create()
    for alias in ("owner", "default"):
        connections[alias].close()
        connections[alias].settings_dict["NAME"] = database.name
        settings.DATABASES[alias]["NAME"] = database.name
    with django_db_blocker.unblock():
        call_command("migrate", database="owner", verbosity=0, interactive=False)
        owner.close()
    yield database
    with django_db_blocker.unblock():
        connections.close_all()
    database.drop()


@pytest.fixture(scope="session")
def django_db_setup(test_database: TestDatabase) -> Iterator[None]:
    """Replace pytest-django's set-up, which would migrate and flush as the application's role."""

    def reset_as_owner(_case: TransactionTestCase) -> None:
        test_database.reset()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", reset_as_owner)
        yield


@pytest.fixture(scope="session", autouse=True)
def loopback_only() -> Iterator[None]:
    """Refuse every connection to another machine."""
    with pytest.MonkeyPatch.context() as patch:
        refuse_outside(patch)
        yield


@pytest.fixture
def stage(transactional_db: None) -> Iterator[Stage]:
    """A brand with a store on a sandbox of its own."""
    with Stage.set_up() as staged:
        yield staged


@pytest.fixture
def redis_url() -> str:
    """The address of the run's own Redis-protocol server."""
    return os.environ["REDIS_URL"]


def _libpq_parameters(described: dict[str, object]) -> dict[str, object]:
    """Keep what libpq understands of Django's connection parameters."""
    django_only = {"cursor_factory", "context", "prepare_threshold"}
    return {name: value for name, value in described.items() if name not in django_only}
