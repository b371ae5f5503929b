"""Start and stop the embedded servers.

Promises: PostgreSQL listens on a socket inside a 0700 folder and nowhere else; Valkey on
127.0.0.1 at a free port, behind a drawn password; both stop with us. `durable` keeps every
commit through a crash (demo, bench); tests turn that off for speed.
Does not know: roles and databases, which `roles` makes.
"""

from __future__ import annotations

import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psycopg
import redis

from razviel.embedded.account import Account
from razviel.embedded.binaries import Program, find_postgres, find_redis
from razviel.embedded.faults import EmbeddedFault, ServerStopped
from razviel.embedded.processes import Child, start_child

SUPERUSER = "postgres"
_START_SECONDS = 60
_POLL_SECONDS = 0.02
_FIRST_MAJOR_WITH_BUILTIN_LOCALE = 17
_POSTGRES_OPTIONS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "shared_buffers": "64MB",
    "max_connections": "200",
    "log_min_messages": "warning",
    "track_commit_timestamp": "on",
}
_UNSAFE_BUT_FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


def start_postgres(
    account: Account, *, sockets: Path, data_root: Path, durable: bool
) -> tuple[Child, Program, str]:
    """Start PostgreSQL and return it with its superuser's address.

    Args:
        account: who it runs as.
        sockets: a folder with a short path, for the socket and the log.
        data_root: the folder that holds, or gets, the data folder of this major version.
        durable: whether a commit survives a crash of the machine.

    Raises:
        NoServer: no usable program.
        ServerStopped: it ended while starting.
    """
    program = find_postgres(account, state=sockets)
    data = data_root / f"pg{program.major}"
    if not (data / "PG_VERSION").exists():
        _initialise(account, program=program, data=data)
    options = {**_POSTGRES_OPTIONS, "unix_socket_directories": str(sockets)}
    if not durable:
        options |= _UNSAFE_BUT_FAST
    log = sockets / "postgres.log"
    with log.open("ab") as output:
        child = start_child(
            [
                program.path / "postgres",
                "-D",
                data,
                *(f"--{name}={value}" for name, value in options.items()),
            ],
            stop_signal=signal.SIGINT,  # a fast shutdown: sessions end, data is written
            account=account,
            output=output,
        )
    url = f"postgres://{SUPERUSER}@/postgres?host={sockets}"
    _wait_until_ready(child, name="PostgreSQL", log=log, is_ready=lambda: _postgres_answers(url))
    return child, program, url


def start_redis(account: Account, *, state: Path) -> tuple[Child, Program, str]:
    """Start a Redis-protocol server and return it with its address.

    Raises:
        NoServer: no usable program.
        ServerStopped: it ended while starting.
    """
    program = find_redis(account, state=state)
    port, password = _free_port(), secrets.token_urlsafe(18)
    configuration = state / "valkey.conf"  # a file, since a command line can be read by others
    configuration.write_text(
        f"bind 127.0.0.1\nport {port}\nrequirepass {password}\n"
        f'save ""\nappendonly no\nmaxmemory-policy noeviction\ndir "{state}"\n'
    )
    configuration.chmod(0o600)
    account.own(configuration)
    log = state / "valkey.log"
    with log.open("ab") as output:
        child = start_child([program.path, configuration], account=account, output=output)
    url = f"redis://:{password}@127.0.0.1:{port}/0"
    _wait_until_ready(child, name="Valkey", log=log, is_ready=lambda: _redis_answers(url))
    return child, program, url


def _initialise(account: Account, *, program: Program, data: Path) -> None:
    locale = ["--locale=C.UTF-8"]
    if program.major >= _FIRST_MAJOR_WITH_BUILTIN_LOCALE:
        locale = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
    fresh = data.with_name(f"{data.name}.new")
    # Made beside and renamed: an interrupted initdb never looks like a finished one.
    subprocess.run(["/bin/rm", "-rf", "--", str(fresh), str(data)], check=True)
    done = subprocess.run(
        [
            str(program.path / "initdb"),
            "-D",
            str(fresh),
            "-U",
            SUPERUSER,
            "--auth=trust",
            "--encoding=UTF8",
            "--no-instructions",
            "--no-sync",
            *locale,
        ],
        capture_output=True,
        text=True,
        cwd="/",
        check=False,
        **account.spawn_identity(),
    )
    if done.returncode != 0:
        message = f"PostgreSQL could not make its data folder {fresh}:\n{done.stderr[-2000:]}"
        raise ServerStopped(message)
    fresh.rename(data)


def _wait_until_ready(child: Child, *, name: str, log: Path, is_ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not is_ready():
        if child.process.poll() is not None or time.monotonic() > deadline:
            child.stop(timeout_seconds=5)
            words = log.read_text(errors="replace")[-2000:]
            message = f"{name} did not start. Its last words:\n{words}"
            raise ServerStopped(message)
        time.sleep(_POLL_SECONDS)  # noqa: TID251 - no worker: a command waits for its own server


def _postgres_answers(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=5).close()
    except psycopg.OperationalError:
        return False
    return True


def _redis_answers(url: str) -> bool:
    try:
        with redis.Redis.from_url(url, socket_timeout=5) as client:
            client.ping()
    except redis.RedisError:
        return False
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    if not isinstance(port, int):
        message = "The system gave no free port."
        raise EmbeddedFault(message)
    return port
