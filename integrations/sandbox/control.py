"""The one door for whoever plays fate: a command by name, JSON in and JSON out.

Promises: the same commands in process and over `/control/`; a wrong command changes nothing and
says what is wrong.
"""

import inspect
from collections.abc import Callable
from typing import TypeAlias

from integrations.sandbox import events, settings
from integrations.sandbox.commands import ControlRefused, Json
from integrations.sandbox.world import World

Command: TypeAlias = Callable[..., object]

COMMANDS: dict[str, Command] = {
    "advance": settings.advance,
    "app": settings.app,
    "cancel": events.cancel,
    "clear_faults": settings.clear_faults,
    "dispute": events.dispute,
    "fault": settings.fault,
    "gateway": settings.gateway,
    "keys": settings.keys,
    "lateness": settings.lateness,
    "ledger": settings.ledger,
    "now": settings.now,
    "order": events.order,
    "read_lag": settings.read_lag,
    "refund": events.refund,
    "refunds": events.refunds,
    "reached": settings.reached,
    "release": settings.release,
    "retry": events.retry,
    "revoke": settings.revoke,
    "settle": events.settle,
    "shop": settings.shop,
    "throttle": settings.throttle,
    "version": settings.version,
}


def perform(world: World, command: str, arguments: Json) -> object:
    """Do one command under the world's lock.

    Raises:
        ControlRefused: unknown command, argument, shop, order or refund; a fault over its bound.
    """
    function = COMMANDS.get(command)
    if function is None:
        raise ControlRefused(
            f"There is no command {command!r}; there are {', '.join(sorted(COMMANDS))}."
        )
    try:
        inspect.signature(function).bind(world, **arguments)
    except TypeError as error:
        raise ControlRefused(f"{command}: {error}") from error
    with world.entered():
        try:
            return function(world, **arguments)
        except (ValueError, ArithmeticError, LookupError) as error:
            raise ControlRefused(f"{command}: {error!r}") from error
