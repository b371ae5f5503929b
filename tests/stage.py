"""A brand with a store on a sandbox, for tests that go the whole path over real HTTP.

Promises: everything is made through the services, as the application's role; both clocks, ours
and the store's, move together and only when told.
Does not know what a test is after.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Self, TypedDict, Unpack

from actions import approving, dispatch
from actions.advance import advance
from actions.boundaries import Boundary, forget, observe
from actions.closing import resolve
from actions.models import GateDecision, Intent, PolicyVersion, ReadCause
from actions.policies import current_policy, put_policy
from actions.policy import parse_policy
from actions.reconcile import read_target
from actions.services import Wish, propose
from integrations import vault, workspaces
from integrations.actors import Actor, ActorKind
from integrations.clock import now, shifted
from integrations.models import Connection, Platform, Workspace
from integrations.money import Money, parse_money
from integrations.registry import credentials_context
from integrations.sandbox.records import PlacedOrder
from integrations.sandbox.server import Sandbox
from integrations.sandbox.surface import ShopControls
from tests.factories import make_workspace
from tickets.models import Request, Ticket
from tickets.services import CustomerStatement, Opening, Statement, open_ticket, state_request

AGENT = Actor(kind=ActorKind.AI, identity="agent-1")
PERSON = Actor(kind=ActorKind.HUMAN_NODE, identity="node-1")
SECOND = Actor(kind=ActorKind.HUMAN_NODE, identity="node-2")
TEAM = Actor(kind=ActorKind.BRAND_TEAM, identity="team-1")
INTEGRATION = Actor(kind=ActorKind.SYSTEM, identity="integration-1")

_LIMITING = ("limits", "counts", "velocity")
_AMOUNTS = ("cap", "approval_above", "per_order", "per_customer_day", "per_day")


class Links(TypedDict, total=False):
    """What a wish may follow, beside its own parameters."""

    kind: str
    repeat_of: Intent
    acknowledges: str
    corrects: Intent
    remainder_of: Intent


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """An order on the store with the ticket and the request about it."""

    order: PlacedOrder
    ticket: Ticket
    request: Request


class Stage:
    """A workspace with one connected store; made by the fixture `stage`."""

    def __init__(
        self, sandbox: Sandbox, *, name: str = "acme.myshopify.com", account: str = ""
    ) -> None:
        self.sandbox = sandbox
        self.shop: ShopControls = sandbox.shop(name)
        self.workspace = make_workspace()
        self.connection = connect(self.workspace, self.shop, account=account)
        self._clocks = ExitStack()

    @classmethod
    @contextmanager
    def set_up(cls) -> Iterator[Self]:
        """Start a sandbox with one shop, connected to a new workspace."""
        with Sandbox.running() as sandbox:
            stage = cls(sandbox)
            with stage._clocks:
                yield stage

    def pass_time(self, wait: timedelta) -> None:
        """Let time pass, here and on the store."""
        self.sandbox.clock.advance(wait)
        self._clocks.enter_context(shifted(wait))

    def now(self) -> datetime:
        """Return our clock, which the store's follows."""
        return now()

    def case(
        self,
        *,
        amount: str = "12.50",
        currency: str = "EUR",
        customer_statement: CustomerStatement | None = None,
        **order: object,
    ) -> Case:
        """Place an order, open a ticket by its verified customer, and state what is asked for."""
        placed = self.shop.order(currency=currency, **order)  # type: ignore[arg-type]  # the sandbox checks its own words
        customer = customer_statement or CustomerStatement(
            store_identifier=placed.customer or "", verified=True
        )
        return self._case(
            placed, customer, external_id=placed.id, money=parse_money(amount, currency)
        )

    def ticket_without_request(self) -> Ticket:
        """Open a ticket in which nothing is asked for yet."""
        opening = Opening(external_id="nothing asked", customer=CustomerStatement())
        return open_ticket(
            workspace=self.workspace, opening=opening, by=INTEGRATION, at=now()
        ).ticket

    def another_ticket(self, case: Case, *, number: int = 2) -> Case:
        """Open a second ticket of the same customer about the same order, or a later one."""
        customer = CustomerStatement(store_identifier=case.order.customer or "", verified=True)
        assert case.request.amount is not None
        money = Money(amount=case.request.amount, currency=case.request.currency)
        external_id = f"again-{number}-{case.order.id}"
        return self._case(case.order, customer, external_id=external_id, money=money)

    def _case(
        self, placed: PlacedOrder, customer: CustomerStatement, *, external_id: str, money: Money
    ) -> Case:
        opening = Opening(external_id=external_id, customer=customer)
        opened = open_ticket(workspace=self.workspace, opening=opening, by=INTEGRATION, at=now())
        statement = Statement(kind="refund", target=placed.id, money=money)
        request = state_request(ticket=opened.ticket, statement=statement, by=AGENT, at=now())
        return Case(order=placed, ticket=opened.ticket, request=request)

    def propose(
        self, case: Case, *, amount: str = "12.50", by: Actor = AGENT, **links: Unpack[Links]
    ) -> Intent:
        """Propose a refund in a case, or another kind of action, or one that follows another."""
        currency = case.request.currency
        wish = Wish(
            **{"kind": "refund", **links},  # type: ignore[arg-type]  # what Links may hold
            request=case.request,
            parameters={"order": case.order.id, "amount": amount, "currency": currency},
            reason="the parcel came broken",
            connection=self.connection,
        )
        return propose(ticket=case.ticket, wish=wish, by=by, at=now()).intent

    def policy(
        self, *, kind: str = "refund", currency: str = "EUR", **given: object
    ) -> PolicyVersion:
        """Let the brand decide: nothing is limited but what is given; 200.00 need no approval.

        Args:
            kind: Of action; the other kinds stay as they are.
            currency: The shop's.
            given: Limits (`cap`, `approval_above`, `per_order`, `per_customer_day`, `per_day`), and
                fields of the kind (`counts`, `velocity`, `order_age_max_days`, ...).
        """
        document = current_policy(self.workspace).policy.as_record()
        cap = given.get("cap", "200.00")
        limits = {"cap": cap, "approval_above": cap}
        limits |= {name: value for name, value in given.items() if name in _AMOUNTS}
        fields = {name: value for name, value in given.items() if name not in _AMOUNTS}
        kinds = document["kinds"]
        assert isinstance(kinds, dict)
        kept = {name: kinds[kind][name] for name in kinds[kind] if name not in _LIMITING}
        kinds[kind] = {**kept, "limits": {currency: limits}, **fields}
        version = put_policy(self.workspace, parse_policy(document), author=TEAM)
        dispatch.follow_policy(self.workspace, now=now())
        return version

    def shown(self, intent: Intent) -> GateDecision:
        """Return the newest decision on an intent: what a person is shown."""
        return intent.decisions.order_by("-number")[0]

    def word(self, intent: Intent, *, by: Actor = SECOND, digest: str = "") -> approving.Word:
        """Return what a person says of what stands there now, or of what they were shown before."""
        shown = digest or self.shown(intent).shown_digest
        return approving.Word(by=by, at=now(), digest=shown, reason="I have looked at it")

    def approve(self, intent: Intent, *, by: Actor = SECOND, digest: str = "") -> Intent:
        """Approve what is shown, and do what a worker does then."""
        approving.approve(intent=intent, word=self.word(intent, by=by, digest=digest))
        return self.work(intent)

    def clear(self, intent: Intent, *, by: Actor = PERSON, digest: str = "") -> Intent:
        """Clear what an intent is held for, and do what a worker does then."""
        approving.clear(intent=intent, word=self.word(intent, by=by, digest=digest))
        return self.work(intent)

    def judge_again(self, intent: Intent, *, by: Actor = PERSON) -> Intent:
        """Have a held intent judged again, and do what a worker does then."""
        approving.judge_again(intent=intent, by=by, at=now())
        return self.work(intent)

    def pause(self) -> None:
        """Stop every write of the workspace."""
        workspaces.pause(self.workspace, at=now())

    def resume(self) -> int:
        """Let writes go on; return how many held intents are due for it."""
        workspaces.resume(self.workspace)
        return dispatch.resume_workspace(self.workspace, now=now())

    def work_due(self) -> list[int]:
        """Do what is due now, each intent once, in order; return which they were."""
        due = Intent.objects.filter(due_at__lte=now()).order_by("due_at", "pk")
        intent_pks = list(due.values_list("pk", flat=True))
        for intent_pk in intent_pks:
            advance(intent_pk)
        return intent_pks

    def settle(self, intent: Intent, *, steps_max: int = 60) -> Intent:
        """Let time pass from due moment to due moment, working each time, until nothing is due."""
        for _ in range(steps_max):
            intent = fresh(intent)
            if intent.due_at is None:
                return intent
            self.pass_time(max(intent.due_at - now(), timedelta()))
            advance(intent.pk)
        raise AssertionError(f"{intent.public_id} is still {intent.state} after {steps_max} steps")

    def resolve(self, case: Case, *, by: Actor = AGENT) -> None:
        """Close a case as resolved."""
        resolve(ticket=case.ticket, by=by, at=now())

    def read(self, intent: Intent) -> None:
        """Read an intent's target, as a person does who looks."""
        read_target(intent.target_id, cause=ReadCause.PERSON)

    @contextmanager
    def at(self, boundary: Boundary, act: Callable[[], object]) -> Iterator[None]:
        """Do something else, once, at the moment when the code reaches a boundary."""
        waiting = [act]

        def observer(seen: Boundary) -> None:
            if seen is boundary and waiting:
                waiting.pop()()

        observe(observer)
        try:
            yield
        finally:
            forget(observer)

    def work(self, intent: Intent) -> Intent:
        """Do what a worker does for an intent, once; return the row as it stands then."""
        advance(intent.pk)
        return fresh(intent)


def connect(workspace: Workspace, shop: ShopControls, *, account: str = "") -> Connection:
    """Connect a sandbox shop to a workspace, sealed credentials included."""
    connection = Connection.objects.create(
        workspace=workspace,
        platform=Platform.SHOPIFY,
        domain=shop.name,
        base_url=shop.url,
        account=account or f"gid://shopify/Shop/{shop.name}",
        app=shop.app_id,
        scopes=["read_orders", "write_orders"],
        currency="EUR",
        api_version="2026-10",
        is_sandbox=True,
    )
    connection.credentials = vault.seal(
        shop.token.encode(), context=credentials_context(connection)
    )
    connection.save(update_fields=["credentials"])
    return connection


def fresh(intent: Intent) -> Intent:
    """Return an intent as it stands in the database."""
    return Intent.objects.select_related("connection", "ticket", "target").get(pk=intent.pk)
