"""A report that can't be written is refused before the work, not after it."""

from argparse import ArgumentTypeError
from pathlib import Path

import pytest

from razviel.management.reports import writable


def test_a_file_in_a_folder_that_is_there_is_taken(tmp_path: Path) -> None:
    assert writable(str(tmp_path / "report.json")) == tmp_path / "report.json"


def test_a_missing_folder_and_a_folder_are_refused_in_a_sentence(tmp_path: Path) -> None:
    for text in (str(tmp_path / "missing" / "report.json"), str(tmp_path)):
        with pytest.raises(ArgumentTypeError, match="name a file in a folder that is there"):
            writable(text)
