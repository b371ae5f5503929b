"""One run of the demo: everything brought up, the scenes played at once, the records compared.

Promises: a scene that breaks is a scene that is not ok, and the others go on; what is told comes in
the scenes' order. Does not know how it is shown.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from http.client import HTTPException
from secrets import token_hex, token_urlsafe

from django.core.management import call_command
from django.db import connections

from integrations.sandbox.client import ControlClient
from integrations.sandbox.commands import ControlRefused
from integrations.sandbox.surface import ShopControls
from razviel.demo.api import Api, ApiRefused
from razviel.demo.brands import Login, add_member, connect_shop, make_token, make_workspace
from razviel.demo.comparing import Comparison, compare
from razviel.demo.records import by_others_count, our_intents, their_effects
from razviel.demo.scenes import SLOW_GATEWAY, Scene, Seen
from razviel.demo.stack import (
    ProcessEnded,
    Stack,
    address_of_sandbox,
    address_of_web,
    application_environment,
    start_beat,
    start_loop,
    start_sandbox,
    start_web,
    start_worker,
)
from razviel.demo.stage import (
    AGENT,
    DESK,
    NODE,
    TEAM,
    TIME_SCALE,
    Brand,
    NotRefused,
    Stage,
    TooLate,
)

_READ_LAG = timedelta(seconds=3)
_BROKEN = (
    ApiRefused,
    ControlRefused,
    NotRefused,
    ProcessEnded,
    TooLate,
    HTTPException,
    OSError,
    # An answer of another shape than the scene goes on with: it went another way.
    LookupError,
    TypeError,
    ValueError,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A scene with what came of it; `seen` is None where it broke."""

    scene: Scene
    said: str
    seen: Seen | None

    @property
    def ok(self) -> bool:
        """Was it seen as expected?"""
        return self.said == self.scene.expected


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Both records, and how many refunds on the stores are no work of ours."""

    comparison: Comparison
    by_others: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """The product as it runs: where it is, who may look, and what scenes stand on."""

    stage: Stage
    url: str
    login: Login


@contextmanager
def running() -> Iterator[Running]:
    """Bring everything up, and take all of it down again."""
    name = token_hex(3)
    login = Login(username=f"demo-{name}", password=token_urlsafe(9))
    with Stack(application_environment()) as stack:
        # These take their time to start and need no tables for it.
        started, web = start_sandbox(stack), start_web(stack)
        start_worker(stack)
        call_command("migrate", database="owner", verbosity=0, interactive=False)
        start_beat(stack)
        start_loop(stack)
        sandbox = ControlClient(address_of_sandbox(stack, started))
        url = address_of_web(stack, web)
        brand = _brand(f"acme-{name}", "Acme", sandbox, url=url, login=login)
        forgetful = _brand(f"lethe-{name}", "Lethe", sandbox, url=url, login=login)
        brand.shop.gateway(SLOW_GATEWAY, answers="PENDING")
        forgetful.shop.keys(remember=False)
        forgetful.shop.read_lag(_READ_LAG)
        stage = Stage(brand=brand, forgetful=forgetful, stack=stack)
        yield Running(stage=stage, url=url, login=login)


def played(stage: Stage, scenes: Sequence[Scene]) -> Iterator[Played]:
    """Play all at once, and return each in its turn, as soon as it is over."""
    with ThreadPoolExecutor(len(scenes), thread_name_prefix="scene") as pool:
        plays = [pool.submit(_play, scene, stage) for scene in scenes]
        try:
            for scene, play in zip(scenes, plays, strict=True):
                yield _result(scene, play)
        finally:
            # Where the demo is stopped, scenes that wait end now.
            stage.stopping.set()


def compared(stage: Stage) -> Compared:
    """Hold our record of both brands against the stores' ledger."""
    shops: list[ShopControls] = [stage.brand.shop, stage.forgetful.shop]
    ours = our_intents([stage.brand.slug, stage.forgetful.slug])
    return Compared(
        comparison=compare(ours, their_effects(shops)), by_others=by_others_count(shops)
    )


def _brand(slug: str, name: str, sandbox: ControlClient, *, url: str, login: Login) -> Brand:
    shop = sandbox.shop(f"{slug}.myshopify.com")
    make_workspace(slug, name=name)
    connect_shop(slug, shop, time_scale=TIME_SCALE)
    add_member(slug, login=login)
    agent, desk, node, team = (
        Api(url=url, token=make_token(slug, actor=actor)) for actor in (AGENT, DESK, NODE, TEAM)
    )
    return Brand(slug=slug, shop=shop, agent=agent, desk=desk, node=node, team=team)


def _play(scene: Scene, stage: Stage) -> Seen:
    try:
        return scene.play(stage)
    finally:
        connections.close_all()  # this thread's


def _result(scene: Scene, play: Future[Seen]) -> Played:
    try:
        seen = play.result()
    except _BROKEN as error:
        return Played(scene=scene, said=f"{type(error).__name__}: {error}", seen=None)
    return Played(scene=scene, said=seen.said, seen=seen)
