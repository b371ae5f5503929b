"""A document is read at one moment: what others commit meanwhile is not half seen."""

from threading import Thread

import pytest
from django.db import InternalError, connection

from integrations.api.views import one_moment
from integrations.models import Workspace
from tests.factories import make_workspace

pytestmark = pytest.mark.django_db(transaction=True)


def rename(workspace: Workspace) -> None:
    """Rename a workspace from another connection."""

    def work() -> None:
        Workspace.objects.filter(pk=workspace.pk).update(name="renamed")
        connection.close()

    thread = Thread(target=work)
    thread.start()
    thread.join()


def test_what_is_committed_meanwhile_is_not_seen() -> None:
    workspace = make_workspace(name="first")
    with one_moment():
        assert Workspace.objects.get().name == "first"
        rename(workspace)
        assert Workspace.objects.get().name == "first"
    assert Workspace.objects.get().name == "renamed"


def test_nothing_is_written_in_it() -> None:
    workspace = make_workspace(name="first")
    with pytest.raises(InternalError, match="read-only transaction"), one_moment():
        Workspace.objects.filter(pk=workspace.pk).update(name="second")
    assert Workspace.objects.get().name == "first"
