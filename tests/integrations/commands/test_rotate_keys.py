"""`manage.py rotate_keys`: everything under the new key, in steps that may be stopped."""

import base64
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.test import override_settings

from integrations import sealed, vault
from integrations.connecting import SEALED_COLUMNS
from integrations.models import Connection, SealedPayload, SubjectKey
from integrations.rotation import Rotation, rotate_all
from tests.factories import make_connection, make_payload, make_workspace
from tests.integrations.commands.running import Shell

pytestmark = pytest.mark.django_db(transaction=True)

OLD = "old:" + base64.b64encode(b"o" * 32).decode()
NEW = "new:" + base64.b64encode(b"n" * 32).decode()


@contextmanager
def ring(*keys: str) -> Iterator[None]:
    with override_settings(RAZVIEL_VAULT_KEYS=",".join(keys)):
        yield


def seal_all(connection: Connection) -> None:
    for column, context in SEALED_COLUMNS.items():
        plain = f"canary {column}".encode()
        setattr(connection, column, vault.seal(plain, context=context(connection)))
    connection.save(update_fields=list(SEALED_COLUMNS))


@pytest.fixture
def sealed_under_old() -> tuple[Connection, SealedPayload]:
    workspace = make_workspace(slug="acme")
    with ring(OLD):
        connection = make_connection(workspace=workspace)
        seal_all(connection)
        return connection, make_payload(workspace=workspace, text="a person's words")


def opens(connection: Connection, payload: SealedPayload) -> bool:
    connection.refresh_from_db()
    for column, context in SEALED_COLUMNS.items():
        stored = bytes(getattr(connection, column))
        plain = vault.open_sealed(stored, context=context(connection))
        if plain != f"canary {column}".encode():
            return False
    return sealed.unseal(SealedPayload.objects.get(pk=payload.pk)) == "a person's words"


def test_all_is_sealed_under_the_new_key_and_the_old_one_may_go(
    shell: Shell, sealed_under_old: tuple[Connection, SealedPayload]
) -> None:
    with ring(NEW, OLD):
        ran = shell("rotate_keys")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == (
        "2 sealed anew under new, 0 already were.\n"
        "Nothing needs old any more: once every process has been restarted with this list, run "
        "this again, then take it out of RAZVIEL_VAULT_KEYS. Backups from before today still need "
        "it.\n"
    )
    with ring(NEW):
        assert opens(*sealed_under_old)


def test_a_stopped_run_goes_on_where_it_was(
    shell: Shell, sealed_under_old: tuple[Connection, SealedPayload]
) -> None:
    with ring(NEW, OLD):
        next(rotate_all(Rotation()))
        ran = shell("rotate_keys")
        again = shell("rotate_keys")
    assert ran.out.startswith("1 sealed anew under new, 1 already were.\n")
    assert again.out.startswith("0 sealed anew under new, 2 already were.\n")
    with ring(NEW):
        assert opens(*sealed_under_old)


def test_a_missing_key_is_named_by_row_and_nothing_else_stops(
    shell: Shell, sealed_under_old: tuple[Connection, SealedPayload]
) -> None:
    connection, payload = sealed_under_old
    with ring(NEW):
        second = make_connection(workspace=connection.workspace)
        seal_all(second)
        ran = shell("rotate_keys")
    assert ran.status == 1
    assert ran.out == "0 sealed anew under new, 1 already were.\n"
    assert ran.err == (
        "CommandError: 2 could not be opened and stay as they are:\n"
        f"  {connection.public_id}: WrongKey\n"
        f"  subject key {payload.subject_key_id}: WrongKey\n"
        "WrongKey: put the key that sealed it back into RAZVIEL_VAULT_KEYS, behind the first, and "
        "run this again. Tampered: the value was changed; connect that store again, and find out "
        "by whom.\n"
    )
    with ring(OLD):
        assert opens(connection, payload)


def test_a_changed_value_is_named_and_left(
    shell: Shell, sealed_under_old: tuple[Connection, SealedPayload]
) -> None:
    connection, _ = sealed_under_old
    spoiled = bytes(connection.credentials or b"")[:-1] + b"\0"
    Connection.objects.update(credentials=spoiled)
    with ring(NEW, OLD):
        ran = shell("rotate_keys")
    assert ran.status == 1
    assert f"  {connection.public_id}: Tampered\n" in ran.err
    assert bytes(Connection.objects.get().credentials or b"") == spoiled


def test_a_destroyed_key_stays_destroyed(
    shell: Shell, sealed_under_old: tuple[Connection, SealedPayload]
) -> None:
    _, payload = sealed_under_old
    stale = SubjectKey.objects.get(pk=payload.subject_key_id)
    sealed.destroy(stale)
    with ring(NEW, OLD):
        assert sealed.rewrap(stale) is False
        assert shell("rotate_keys").status == 0
    assert SubjectKey.objects.get().wrapped is None


def test_a_connect_meanwhile_is_not_undone(
    shell: Shell, sealed_under_old: tuple[Connection, SealedPayload]
) -> None:
    connection, _ = sealed_under_old
    with ring(NEW, OLD):
        run = rotate_all(Rotation())
        page = Connection.objects.get()
        context = SEALED_COLUMNS["credentials"](connection)
        newer = vault.seal(b"newer", context=context)
        original = vault.rotate

        def connect_first(value: bytes, *, context: tuple[str, ...]) -> bytes:
            Connection.objects.filter(pk=page.pk).update(credentials=newer)
            return original(value, context=context)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(vault, "rotate", connect_first)
            next(run)
    assert bytes(Connection.objects.get().credentials or b"") == newer


def test_with_one_key_it_says_how_to_begin(shell: Shell) -> None:
    with ring(OLD):
        ran = shell("rotate_keys")
    assert ran.status == 0
    assert ran.out == (
        "0 sealed anew under old, 0 already were.\n"
        "old is the only key in RAZVIEL_VAULT_KEYS; put a new one before it to rotate.\n"
    )
