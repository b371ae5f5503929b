"""The addresses that the project needs, with servers started for those that are missing.

Promises: DATABASE_OWNER_URL, DATABASE_URL and REDIS_URL are set inside the context and whatever
was started for them is stopped after it. Addresses that are given are used as they are; a
superuser's DATABASE_URL alone gets both roles made on that server.
Does not know: what runs inside.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import redis

from razviel.embedded.account import server_account
from razviel.embedded.faults import BrokerAway
from razviel.embedded.roles import RoleUrls, provision
from razviel.embedded.servers import start_postgres, start_redis
from razviel.embedded.state import open_kept, open_throw_away, publish, published

_STOP_SECONDS = 15
_BROKER_SECONDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What was made ready: the addresses and one sentence about their origin."""

    environment: dict[str, str]
    summary: str
    joined: bool = False
    """Does somebody else run these servers, who has migrated the database?"""


@contextlib.contextmanager
def surroundings(
    given: Mapping[str, str], *, durable: bool, keep: Path | None = None, join: bool = False
) -> Iterator[Surroundings]:
    """Start what `given` has no address for, and stop it afterwards.

    Args:
        given: the environment to complete; it is not changed.
        durable: whether a commit survives a crash of the machine.
        keep: a folder for lasting data; without it everything is thrown away.
        join: use the servers of whoever holds that folder now, if somebody does.

    Raises:
        EmbeddedFault: with a sentence that says what to do.
    """
    began = time.monotonic()
    running = published(keep) if join and keep is not None else None
    if running is not None:
        yield Surroundings(
            environment={**running, **given}, summary=f"Joined what runs on {keep}", joined=True
        )
        return
    with contextlib.ExitStack() as stack:
        words: list[str] = []
        addresses: dict[str, str] = {}
        if not given.get("DATABASE_URL") or not given.get("REDIS_URL"):
            addresses = _start_missing(given, durable=durable, keep=keep, stack=stack, words=words)
        if given.get("DATABASE_URL"):
            words.append("the database of DATABASE_URL")
            if not given.get("DATABASE_OWNER_URL"):
                addresses |= _role_addresses(provision(given["DATABASE_URL"]))
        if given.get("REDIS_URL"):
            words.append("the broker of REDIS_URL")
        took_seconds = time.monotonic() - began
        yield Surroundings(
            environment={**given, **addresses},
            summary=f"Ready in {took_seconds:.1f} s: {', '.join(words)}",
        )


def _start_missing(
    given: Mapping[str, str],
    *,
    durable: bool,
    keep: Path | None,
    stack: contextlib.ExitStack,
    words: list[str],
) -> dict[str, str]:
    account = server_account()
    folder = open_throw_away(account)
    stack.callback(folder.release)
    kept = None
    if keep is not None:
        kept = open_kept(account, keep)
        stack.callback(kept.release)
    addresses: dict[str, str] = {}
    if not given.get("DATABASE_URL"):
        data_root = folder.path if kept is None else kept.path
        child, program, url = start_postgres(
            account, sockets=folder.path, data_root=data_root, durable=durable
        )
        stack.callback(child.stop, timeout_seconds=_STOP_SECONDS)
        words.append(f"PostgreSQL {program.version} ({program.origin})")
        addresses |= _role_addresses(provision(url, with_passwords=False))
    if not given.get("REDIS_URL"):
        child, program, url = start_redis(account, state=folder.path)
        stack.callback(child.stop, timeout_seconds=_STOP_SECONDS)
        words.append(f"Valkey {program.version} ({program.origin})")
        addresses["REDIS_URL"] = url
    if kept is not None:
        stack.callback(publish(kept, addresses))
    return addresses


def look_for_broker(url: str) -> None:
    """Refuse an address where nothing answers, since everything would go on without a word.

    Raises:
        BrokerAway: Nothing answers there, or it is no such address.
    """
    try:
        with redis.Redis.from_url(
            url, socket_connect_timeout=_BROKER_SECONDS, socket_timeout=_BROKER_SECONDS
        ) as broker:
            broker.ping()
    except (redis.RedisError, ValueError) as problem:
        message = (
            f"No broker answers at REDIS_URL ({type(problem).__name__}). Start it or correct the "
            "address; without REDIS_URL one is started here."
        )
        raise BrokerAway(message) from problem


def _role_addresses(urls: RoleUrls) -> dict[str, str]:
    return {"DATABASE_OWNER_URL": urls.owner, "DATABASE_URL": urls.application}
