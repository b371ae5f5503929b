"""Pages that are made from code, or that name it, say what the code says."""

import re
from pathlib import Path

from actions.states import State, diagram

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_lifecycle_page_shows_the_table_of_states() -> None:
    page = (DOCS / "lifecycle.md").read_text()
    assert f"```mermaid\n{diagram()}```" in page


def test_the_lifecycle_page_explains_every_state_once() -> None:
    page = (DOCS / "lifecycle.md").read_text()
    assert re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE) == [state.value for state in State]


def test_every_link_between_pages_leads_somewhere() -> None:
    pages = [*DOCS.rglob("*.md"), *DOCS.parent.glob("*.md")]
    targets = {
        (page, target)
        for page in pages
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text())
    }
    missing = sorted(
        f"{page.name}: {target}" for page, target in targets if not (page.parent / target).exists()
    )
    assert missing == []
