"""What the tests of the embedded servers share."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from razviel.embedded.state import temporary_root


@pytest.fixture
def reachable() -> Iterator[Path]:
    """A folder with a space in its path that an unprivileged account may pass."""
    folder = Path(tempfile.mkdtemp(prefix="rzv tests ", dir=temporary_root()))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)
