"""What the scenes stand on: brands with their stores, cases, and waiting for a state.

Promises: everything is done over HTTP, at the API or at the store's control; waiting looks again
and again, has a deadline, and ends at once when the demo is stopped or a process has ended.
Does not know any scene.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from threading import Event
from time import monotonic

from actions.models import Finding, Intent
from integrations.actors import Actor, ActorKind
from integrations.sandbox.ledger import Effect, Received
from integrations.sandbox.records import DeclaredFault, PlacedOrder
from integrations.sandbox.surface import ShopControls
from razviel.demo.api import Answer, Api, ApiRefused, Document
from razviel.demo.stack import Stack

AGENT = Actor(kind=ActorKind.AI, identity="agent-1")
DESK = Actor(kind=ActorKind.SYSTEM, identity="helpdesk-1")
NODE = Actor(kind=ActorKind.HUMAN_NODE, identity="node-1")
TEAM = Actor(kind=ActorKind.BRAND_TEAM, identity="team-1")
TIME_SCALE = "0.01"
"""A sandbox's time may run faster: what waits 12 minutes waits 7 seconds. Machines' own times, such
as the 10 seconds in which a send must leave, stay as they are."""

ENDED = ("confirmed", "accepted", "failed", "refused", "withdrawn", "reversed")
CURRENCY = "EUR"

_DEADLINE_SECONDS = 150.0
_LOOK_FIRST_SECONDS, _LOOK_LAST_SECONDS, _LOOK_GROWTH = 0.1, 1.0, 1.3


class TooLate(Exception):
    """What was waited for did not come in time; the message says what stood there instead."""


class Stopped(Exception):
    """The demo was stopped while a scene was waiting."""


class NotRefused(Exception):
    """The API took what it must refuse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brand:
    """A workspace with its store, and the tokens that speak in it."""

    slug: str
    shop: ShopControls
    agent: Api
    """Of the AI that proposes."""
    desk: Api
    """Of the integration that opens tickets, and vouches for customers."""
    node: Api
    """Of the Human Node."""
    team: Api
    """Of the brand's own team."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a customer asks for."""

    amount: str
    currency: str = CURRENCY
    kind: str = "refund"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A ticket about an order, with what its customer asks for."""

    brand: Brand
    order: PlacedOrder
    ticket: str
    request: str
    kind: str
    amount: str
    currency: str

    def propose(self, *, by: Api | None = None, **more: str) -> Answer:
        """Let the AI propose what was asked, or `by` do so.

        Args:
            by: Who proposes.
            more: What is sent besides, as `repeat_of`.
        """
        return self.propose_part({"amount": self.amount}, by=by, **more)

    def propose_part(
        self, part: Mapping[str, object], *, by: Api | None = None, **more: str
    ) -> Answer:
        """Let the AI, or `by`, propose another amount, or the same for lines and shipping."""
        params = {"order": self.order.id, "amount": self.amount, "currency": self.currency, **part}
        wish = {"kind": self.kind, "request": self.request, "params": params, "reason": "it broke"}
        proposer = by or self.brand.agent
        return proposer.post(f"tickets/{self.ticket}/intents/", {**wish, **more})

    def close(self) -> Document:
        """Let the AI close the ticket as resolved."""
        path = f"tickets/{self.ticket}/close/"
        return self.brand.agent.post(path, {"status": "resolved"}).document

    def effects(self) -> list[Effect]:
        """Return the refunds of ours that the store truly holds of this order, oldest first."""
        shop = self.brand.shop
        return [
            effect for effect in shop.effects(order=self.order.id) if effect.app_id == shop.app_id
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What the API keeps to itself of an intent, read from its row."""

    key: str
    marker: str
    request_digest: str


@dataclass(slots=True, kw_only=True)
class Stage:
    """All that a scene may use."""

    brand: Brand
    forgetful: Brand
    """A second brand, on a store that remembers no key and whose reads lag."""
    stack: Stack
    stopping: Event = field(default_factory=Event)

    def case(self, brand: Brand, *, name: str, amount: str, **order: object) -> Case:
        """Place an order of 100.00 EUR, open its customer's ticket, and state what is asked."""
        placed = brand.shop.order(currency=CURRENCY, **order)  # type: ignore[arg-type]  # the sandbox checks its own words
        return self.ticket(brand, placed, name=name, asked=Asked(amount=amount))

    def ticket(self, brand: Brand, order: PlacedOrder, *, name: str, asked: Asked) -> Case:
        """Open a ticket of the order's customer, and state what is asked."""
        opening = {
            "external_id": f"{name}-{order.id.rpartition('/')[2]}",
            "customer": {"store_identifier": order.customer or "", "verified": True},
            "subject": "My parcel came broken",
        }
        ticket = brand.desk.post("tickets/", opening).document["id"]
        wanted = {"target": order.id, **asdict(asked)}
        request = brand.agent.post(f"tickets/{ticket}/requests/", wanted).document["id"]
        return Case(brand=brand, order=order, ticket=ticket, request=request, **asdict(asked))

    def until(self, case: Case, intent: str, *states: str) -> Document:
        """Wait until an intent is in one of these states, and return it.

        Raises:
            TooLate: It is not, in time.
            Stopped: Somebody ended the demo.
            ProcessEnded: A process of the product did.
        """
        deadline, pause_seconds = monotonic() + _DEADLINE_SECONDS, _LOOK_FIRST_SECONDS
        while True:
            seen = case.brand.agent.get(f"intents/{intent}/")
            if seen["state"] in states:
                return seen
            self._go_on(deadline, pause_seconds, f"{intent} is {seen['state']}")
            pause_seconds = min(pause_seconds * _LOOK_GROWTH, _LOOK_LAST_SECONDS)

    def until_met(self, fault: DeclaredFault) -> None:
        """Wait until a request has met a fault.

        Raises:
            TooLate: None has, in time.
            Stopped: Somebody ended the demo.
            ProcessEnded: A process of the product did.
        """
        deadline = monotonic() + _DEADLINE_SECONDS
        while not fault.reached(timeout_seconds=1):
            self._go_on(deadline, 0, "no request came to the store")

    def _go_on(self, deadline: float, pause_seconds: float, standing: str) -> None:
        if monotonic() > deadline:
            raise TooLate(f"{standing} after {_DEADLINE_SECONDS:.0f} s")
        self.stack.check()
        if self.stopping.wait(pause_seconds):
            raise Stopped


def say(by: Api, word: str, intent: Document) -> Document:
    """Let a person say a word, as `approve`, of exactly what they were shown."""
    said = {"digest": intent["decision"]["shown_digest"], "reason": "looked at it"}
    return by.post(f"intents/{intent['id']}/{word}/", said).document


def refusal(ask: Callable[[], object]) -> ApiRefused:
    """Ask for what the API must refuse, and return how it did.

    Raises:
        NotRefused: It did not.
    """
    try:
        ask()
    except ApiRefused as refused:
        return refused
    raise NotRefused


def identity_of(intent: str) -> Identity:
    """Read an intent's key, marker and digest."""
    row = Intent.objects.values("key", "marker", "body_digest").get(public_id=intent)
    return Identity(key=str(row["key"]), marker=row["marker"], request_digest=row["body_digest"])


def sends_of(case: Case, intent: str) -> list[Received]:
    """Return the sends of an intent that truly reached the store."""
    key = identity_of(intent).key
    sent = case.brand.shop.requests(operation="refundCreate")
    return [request for request in sent if request.key == key]


def was_read_absent(intent: str) -> bool:
    """Did a complete read show nothing of it while it was in doubt?"""
    absences = Finding.objects.filter(intent__public_id=intent, result="absent")
    return absences.filter(read__result="complete").exists()


def outcomes(intent: Mapping[str, object]) -> str:
    """Say what became of each send, in order."""
    attempts: list[Document] = intent["attempts"]  # type: ignore[assignment]  # the API's own shape
    said = [
        f"{attempt['outcome']}, {attempt['resolved_how']} later"
        if attempt["resolved_how"]
        else str(attempt["outcome"])
        for attempt in attempts
    ]
    return f"sent {len(said)}x ({'; '.join(said)})"
