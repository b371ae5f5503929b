"""The fixture `shell`, for every test of a command in this folder."""

import pytest

from tests.integrations.commands.running import Shell


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Run commands and see what they print."""
    return Shell(capsys, monkeypatch)
