"""What a simulated shop, and the sandbox around it, can be set to: one function a command.

Promises: a setting holds from now on; what has happened stays. Arguments and results are JSON.
"""

from datetime import timedelta
from threading import Event

from integrations.sandbox.commands import ControlRefused, Json, known_shop, known_status
from integrations.sandbox.faults import Fault, FaultKind
from integrations.sandbox.keys import AfterRefusal, Carrier
from integrations.sandbox.ledger import to_json
from integrations.sandbox.store import App, Gateway, Shop
from integrations.sandbox.throttle import Bucket
from integrations.sandbox.world import World

TOKEN = "shpat_sandbox"  # noqa: S105  # opens nothing but a simulated shop
SCOPES = frozenset({"read_all_orders", "read_customers", "read_orders", "write_orders"})


def now(world: World) -> str:
    """Tell the sandbox's time."""
    return world.clock.now().isoformat()


def advance(world: World, *, seconds: float) -> str:
    """Move the sandbox's time forward, and do what becomes due."""
    world.clock.advance(timedelta(seconds=seconds))
    return now(world)


def lateness(world: World, *, bound_seconds: float | None) -> None:
    """Declare how late a dropped request may still be executed; None breaks the bound."""
    world.lateness_bound = None if bound_seconds is None else timedelta(seconds=bound_seconds)


def ledger(world: World, *, shop: str | None = None, order: str | None = None) -> Json:
    """Tell the ground truth."""
    effects = [
        e for e in world.ledger.effects() if shop in (None, e.shop) and order in (None, e.order_id)
    ]
    requests = [r for r in world.ledger.requests() if shop in (None, r.shop)]
    return {"effects": [to_json(e) for e in effects], "requests": [to_json(r) for r in requests]}


def release(world: World, *, number: int | None = None) -> None:
    """Let go what hangs."""
    world.faults.release(number)


def reached(world: World, *, number: int, timeout_seconds: float) -> bool:
    """Wait until a request has met a fault; False if none has in that time."""
    fault = world.faults.find(number)
    if fault is None:
        raise ControlRefused(f"There is no fault {number}.")
    with world.left():
        return fault.reached.wait(timeout_seconds)


def shop(world: World, *, name: str, currency: str = "EUR") -> Json:
    """Open a shop, or find the one that is open."""
    if name not in world.shops:
        moment = world.clock.now()
        world.shops[name] = Shop(
            id=world.new_id("Shop"),
            name=name,
            currency=currency,
            created_at=moment,
            bucket=Bucket(filled_at=moment),
        )
    return {"name": name, "id": world.shops[name].id, "currency": world.shops[name].currency}


def app(
    world: World,
    *,
    shop: str,
    title: str,
    token: str | None = None,
    scopes: list[str] | None = None,
) -> Json:
    """Install an app, or give an installed one another token or scopes; its identity stays."""
    found = known_shop(world, shop)
    old = next((known for known in found.apps.values() if known.title == title), None)
    if old is not None:
        del found.apps[old.token]
    installed = App(
        id=old.id if old else world.new_id("App"),
        installation_id=old.installation_id if old else world.new_id("AppInstallation"),
        title=title,
        token=token or (old.token if old else TOKEN),
        scopes=frozenset(scopes) if scopes is not None else (old.scopes if old else SCOPES),
    )
    found.apps[installed.token] = installed
    return {"id": installed.id, "token": installed.token}


def revoke(world: World, *, shop: str, token: str) -> None:
    """Make a token invalid."""
    known_shop(world, shop).apps.pop(token, None)


def gateway(
    world: World,
    *,
    shop: str,
    name: str,
    answers: str = "SUCCESS",
    turns: str | None = None,
    after_seconds: float = 0,
    error_code: str | None = None,
) -> None:
    """Say how a payment gateway answers refunds from now on."""
    after = timedelta(seconds=after_seconds)
    made = Gateway(
        answers=known_status(answers),
        turns=known_status(turns) if turns else None,
        after=after,
        error_code=error_code,
    )
    known_shop(world, shop).gateways[name] = made


def keys(
    world: World,
    *,
    shop: str,
    remember: bool | None = None,
    carrier: str | None = None,
    after_refusal: str | None = None,
    kept_for_seconds: float | None = None,
    forget_now: bool = False,
) -> None:
    """Say how a shop treats idempotency keys from now on."""
    memory = known_shop(world, shop).keys
    memory.remembers = memory.remembers if remember is None else remember
    memory.carrier = memory.carrier if carrier is None else Carrier(carrier)
    memory.after_refusal = (
        memory.after_refusal if after_refusal is None else AfterRefusal(after_refusal)
    )
    if kept_for_seconds is not None:
        memory.kept_for = timedelta(seconds=kept_for_seconds)
    if forget_now:
        memory.forget()


def throttle(
    world: World,
    *,
    shop: str,
    available: float | None = None,
    maximum: float | None = None,
    per_second: float | None = None,
    unlimited: bool | None = None,
) -> None:
    """Set a shop's query cost bucket."""
    bucket = known_shop(world, shop).bucket
    bucket.refill(world.clock.now())
    bucket.maximum = bucket.maximum if maximum is None else maximum
    bucket.per_second = bucket.per_second if per_second is None else per_second
    bucket.available = bucket.available if available is None else available
    bucket.unlimited = bucket.unlimited if unlimited is None else unlimited


def version(world: World, *, shop: str, served: str | None) -> None:
    """Let a shop answer as one API version whatever is asked for; None for what is asked."""
    known_shop(world, shop).served_version = served


def read_lag(world: World, *, shop: str, seconds: float) -> None:
    """Hide refunds from reads while they are younger than this."""
    known_shop(world, shop).read_lag = timedelta(seconds=seconds)


def fault(world: World, *, shop: str, kind: str, **details: object) -> Json:
    """Declare a fault for the next matching requests of a shop."""
    known_shop(world, shop)
    delay_seconds = details.pop("delay_seconds", None)
    if delay_seconds is not None:
        details["delay"] = timedelta(seconds=float(str(delay_seconds)))
    try:
        declared = Fault(
            number=world.faults.next_number,
            shop=shop,
            kind=FaultKind(kind),
            released=Event(),
            reached=Event(),
            **details,  # type: ignore[arg-type]  # a wrong name is refused below
        )
    except TypeError as error:
        raise ControlRefused(f"fault: {error}") from error
    bound = world.lateness_bound
    if declared.kind is FaultKind.LATE and bound is not None and declared.delay > bound:
        raise ControlRefused(f"Later than the declared bound of {bound}: break the bound first.")
    world.faults.declare(declared)
    return {"number": declared.number}


def clear_faults(world: World, *, shop: str) -> None:
    """Drop a shop's faults and let go what hangs."""
    world.faults.clear(known_shop(world, shop).name)
