"""The marker is random, and found whole or not at all."""

import re

import pytest

from integrations.markers import find_markers, new_marker

MARKER = "rzv:0123456789abcdef0123456789abcd"
OTHER_MARKER = "rzv:ffffffffffffffffffffffffffffff"


def test_a_marker_holds_at_least_80_random_bits_and_no_two_are_alike() -> None:
    markers = {new_marker() for _ in range(1000)}
    assert len(markers) == 1000
    assert all(re.fullmatch(r"rzv:[0-9a-f]{30}", marker) for marker in markers)


@pytest.mark.parametrize(
    "text", [MARKER, f"  {MARKER}\n", f"damaged in transit {MARKER}", f"{MARKER}\tsee ticket"]
)
def test_a_marker_is_found_between_spaces_and_ends(text: str) -> None:
    assert find_markers(text) == (MARKER,)


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "rzv:",
        MARKER[:-1],
        MARKER + "0",
        "x" + MARKER,
        MARKER + ".",
        MARKER.upper(),
        "rzv: 0123456789abcdef0123456789abcd",
    ],
)
def test_a_marker_that_is_not_whole_is_not_found(text: str | None) -> None:
    assert find_markers(text) == ()


def test_two_markers_in_one_text_are_both_told() -> None:
    assert find_markers(f"{MARKER} {OTHER_MARKER}") == (MARKER, OTHER_MARKER)
    assert find_markers(f"{MARKER} {MARKER}") == (MARKER,)
