"""A state folder has one owner, and a dead owner's is cleared away."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from razviel.embedded.account import Account, server_account
from razviel.embedded.faults import EmbeddedFault, StateTaken
from razviel.embedded.state import (
    StateFolder,
    open_kept,
    open_throw_away,
    publish,
    published,
    remove_abandoned,
)


@pytest.fixture
def account() -> Account:
    return server_account()


@pytest.fixture
def abandoned(account: Account, tmp_path: Path) -> Path:
    """A folder as SIGKILL leaves it: still there, its lock gone with its owner."""
    folder = open_throw_away(account, root=tmp_path)
    os.close(folder.lock)
    return folder.path


def test_a_state_folder_is_closed_to_others(account: Account, tmp_path: Path) -> None:
    folder = open_throw_away(account, root=tmp_path)
    status = folder.path.stat()
    assert stat.S_IMODE(status.st_mode) == 0o700
    assert status.st_uid == account.uid
    folder.release()


def test_a_released_throw_away_folder_is_gone(account: Account, tmp_path: Path) -> None:
    open_throw_away(account, root=tmp_path).release()
    assert list(tmp_path.iterdir()) == []


def test_the_next_start_removes_what_a_dead_owner_left(
    account: Account, tmp_path: Path, abandoned: Path
) -> None:
    folder = open_throw_away(account, root=tmp_path)
    assert list(tmp_path.iterdir()) == [folder.path]
    folder.release()


def test_a_living_owners_folder_stays(account: Account, tmp_path: Path) -> None:
    folder = open_throw_away(account, root=tmp_path)
    assert remove_abandoned(account, root=tmp_path) == []
    assert folder.path.exists()
    folder.release()


def test_a_folder_that_is_just_being_made_stays(account: Account, tmp_path: Path) -> None:
    made = tmp_path / "razviel-fresh"
    made.mkdir()
    assert remove_abandoned(account, root=tmp_path) == []


def test_a_half_removed_folder_goes_after_a_while(account: Account, tmp_path: Path) -> None:
    old = tmp_path / "razviel-old"
    old.mkdir()
    os.utime(old, (0, 0))
    assert remove_abandoned(account, root=tmp_path) == [old]


def test_a_link_of_that_name_is_not_followed(account: Account, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (tmp_path / "razviel-link").symlink_to(precious)
    assert remove_abandoned(account, root=tmp_path) == []
    assert precious.exists()


def test_a_kept_folder_has_one_owner_at_a_time(reachable: Path, account: Account) -> None:
    first = open_kept(account, reachable / "kept")
    with pytest.raises(StateTaken, match="Another Razviel runs on"):
        open_kept(account, reachable / "kept")
    first.release()
    again: StateFolder = open_kept(account, reachable / "kept")
    again.release()
    assert (reachable / "kept").exists()


def test_a_kept_folder_out_of_the_servers_reach_is_told(tmp_path: Path) -> None:
    class Unreaching(Account):
        def can_write(self, folder: Path) -> bool:
            return False

    account = Unreaching(uid=os.geteuid(), gid=os.getegid(), changes=False)
    with pytest.raises(EmbeddedFault, match="can't reach"):
        open_kept(account, tmp_path / "kept")


def test_another_command_joins_what_runs_on_a_kept_folder(
    reachable: Path, account: Account
) -> None:
    path = reachable / "kept"
    assert published(path) is None
    folder = open_kept(account, path)
    assert published(path) is None
    take_back = publish(folder, {"REDIS_URL": "redis://127.0.0.1:1/0"})
    assert stat.S_IMODE((path / "addresses.json").stat().st_mode) == 0o600
    assert published(path) == {"REDIS_URL": "redis://127.0.0.1:1/0"}
    take_back()
    assert published(path) is None
    folder.release()


def test_addresses_of_a_dead_owner_are_not_joined(reachable: Path, account: Account) -> None:
    folder = open_kept(account, reachable / "kept")
    publish(folder, {"REDIS_URL": "redis://127.0.0.1:1/0"})
    folder.release()
    assert published(reachable / "kept") is None
