"""Sealing: it opens where it was sealed and nowhere else, rotates, and shows nothing."""

import traceback
from base64 import b64encode

import pytest
from django.test import override_settings
from hypothesis import given
from hypothesis import strategies as st

from integrations.vault import (
    BadKeyRing,
    KeyRing,
    Tampered,
    WrongKey,
    key_id,
    open_sealed,
    rotate,
    seal,
)

CANARY = b"shpat_canary_of_the_vault"
HERE = ("workspace-1", "connection", "credentials")
OLD = "old:" + b64encode(bytes(32)).decode()
NEW = "new:" + b64encode(bytes(range(32))).decode()


def old_ring() -> KeyRing:
    return KeyRing.parse(OLD)


def test_what_is_sealed_opens_in_its_own_context() -> None:
    sealed = old_ring().seal(CANARY, context=HERE)
    assert old_ring().open_sealed(sealed, context=HERE) == CANARY
    assert key_id(sealed) == "old"
    assert CANARY not in sealed


@given(plain=st.binary(max_size=200), context=st.lists(st.text(max_size=20), max_size=4))
def test_anything_comes_back_as_it_was(plain: bytes, context: list[str]) -> None:
    sealed = old_ring().seal(plain, context=tuple(context))
    assert old_ring().open_sealed(sealed, context=tuple(context)) == plain


def test_the_same_content_is_never_sealed_alike() -> None:
    assert old_ring().seal(CANARY, context=HERE) != old_ring().seal(CANARY, context=HERE)


@pytest.mark.parametrize(
    "elsewhere",
    [
        ("workspace-2", "connection", "credentials"),
        ("workspace-1", "connection", "secret"),
        ("workspace-1", "connection"),
        ("workspace-1", "connection", "credentials", ""),
        ("workspace-1connection", "credentials"),
        ("workspace-1", "connectioncredentials", ""),
        (),
    ],
)
def test_moved_to_another_place_it_does_not_open(elsewhere: tuple[str, ...]) -> None:
    sealed = old_ring().seal(CANARY, context=HERE)
    with pytest.raises(Tampered):
        old_ring().open_sealed(sealed, context=elsewhere)


def test_no_changed_bit_goes_unnoticed() -> None:
    sealed = old_ring().seal(CANARY, context=HERE)
    for position in range(len(sealed)):
        changed = bytearray(sealed)
        changed[position] ^= 1
        with pytest.raises((Tampered, WrongKey)):
            old_ring().open_sealed(bytes(changed), context=HERE)


def test_no_cut_value_opens() -> None:
    sealed = old_ring().seal(CANARY, context=HERE)
    for length in range(len(sealed)):
        with pytest.raises((Tampered, WrongKey)):
            old_ring().open_sealed(sealed[:length], context=HERE)


def test_a_value_under_another_name_for_the_same_key_does_not_open() -> None:
    sealed = old_ring().seal(CANARY, context=HERE)
    twin = KeyRing.parse(OLD.replace("old", "odd"))
    with pytest.raises(Tampered):
        twin.open_sealed(sealed.replace(b"old", b"odd"), context=HERE)


def test_without_its_key_it_is_the_wrong_key_and_not_lost() -> None:
    sealed = old_ring().seal(CANARY, context=HERE)
    with pytest.raises(WrongKey):
        KeyRing.parse(NEW).open_sealed(sealed, context=HERE)


def test_rotation_seals_under_the_first_key_and_keeps_the_content() -> None:
    sealed = old_ring().seal(CANARY, context=HERE)
    both = KeyRing.parse(f"{NEW},{OLD}")
    rotated = both.rotate(sealed, context=HERE)
    assert key_id(rotated) == "new"
    assert KeyRing.parse(NEW).open_sealed(rotated, context=HERE) == CANARY
    assert both.rotate(rotated, context=HERE) == rotated


def test_rotation_of_a_moved_value_is_refused() -> None:
    both = KeyRing.parse(f"{NEW},{OLD}")
    for ring in (old_ring(), both):
        sealed = ring.seal(CANARY, context=("elsewhere",))
        with pytest.raises(Tampered):
            both.rotate(sealed, context=HERE)


def test_the_ring_of_the_installation_is_read_from_its_settings() -> None:
    with override_settings(RAZVIEL_VAULT_KEYS=OLD):
        sealed = seal(CANARY, context=HERE)
    with override_settings(RAZVIEL_VAULT_KEYS=f"{NEW},{OLD}"):
        assert open_sealed(sealed, context=HERE) == CANARY
        assert key_id(rotate(sealed, context=HERE)) == "new"
    with override_settings(RAZVIEL_VAULT_KEYS=NEW), pytest.raises(WrongKey):
        open_sealed(sealed, context=HERE)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "canary",
        ":" + b64encode(bytes(32)).decode(),
        "canary:",
        "canary:?!not-of-the-alphabet",
        "id:" + b64encode(b"canary").decode(),
        "id:" + b64encode(bytes(33)).decode(),
        f"{OLD},",
        f"{OLD},{OLD}",
        "sch\u00fcssel:" + b64encode(bytes(32)).decode(),
        "i" * 65 + ":" + b64encode(bytes(32)).decode(),
    ],
)
def test_a_ring_that_is_none_is_refused_without_showing_a_key(text: str) -> None:
    with pytest.raises(BadKeyRing) as refusal:
        KeyRing.parse(text)
    shown = "".join(traceback.format_exception(refusal.value, chain=True))
    secret = text.partition(":")[2]
    assert not secret or secret not in shown


def test_neither_reprs_nor_errors_show_what_is_sealed_or_with_which_key() -> None:
    ring = old_ring()
    sealed = ring.seal(CANARY, context=HERE)
    with pytest.raises(Tampered) as refusal:
        ring.open_sealed(sealed, context=("elsewhere",))
    error = refusal.value
    shown = repr(ring) + repr(error) + str(error) + "".join(traceback.format_exception(error))
    assert CANARY.decode() not in shown
    assert OLD.partition(":")[2] not in shown
    assert repr(bytes(32)) not in shown
    assert error.__cause__ is None
    assert error.__suppress_context__
