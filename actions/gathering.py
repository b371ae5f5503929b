"""What the gate judges on: facts of our own database, and of one reading of the store.

Promises: nothing is judged that is not among these facts, and no text is; an order that the app
may not see is never taken for one that does not exist; as a record, the facts give the same
verdict again.
Does not know the rules (`actions.policy`), locks nothing and changes nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from datetime import datetime, timedelta
from enum import Enum

from django.db.models import F

from actions.catalogue import kind_named
from actions.locks import Locked
from actions.models import Intent
from actions.policy import (
    Circumstances,
    Facts,
    OtherIntent,
    Ownership,
    Proposal,
    order_facts,
    ownership_of,
    same_identity,
)
from actions.reading import Reading
from actions.states import PAST_GATE, State
from integrations import sealed
from integrations.actors import ActorKind
from integrations.clock import now
from integrations.money import Money, parse_money
from integrations.ports import OrderSnapshot, RefundPart, Unreadable
from tickets.models import Customer, Ticket


def gather(locked: Locked, reading: Reading | None, *, at: datetime) -> Facts:
    """Return all that an intent is judged on; without a reading, nothing of the order."""
    intent = locked.intent
    money = intent.money
    if money is None:
        raise ValueError(f"{intent.public_id} moves no money: its kind has its own facts.")
    order = None
    if reading is not None:
        snapshot = _as_evidence(intent, reading.snapshot)
        ownership = _ownership(locked.ticket, snapshot)
        order = order_facts(snapshot, order=locked.target.identifier, ownership=ownership, now=at)
    return Facts(
        proposal=Proposal(
            kind=intent.kind,
            proposer=ActorKind(intent.proposer_kind),
            order=locked.target.identifier,
            money=money,
        ),
        circumstances=circumstances(intent),
        others=_others(intent),
        order=order,
    )


def circumstances(intent: Intent) -> Circumstances:
    """Return what stands in the way of a write now, as our own database knows it."""
    workspace, connection = intent.workspace, intent.connection
    needed = kind_named(intent.kind).required_scopes
    circuit = connection.circuit_open_until
    return Circumstances(
        paused=workspace.paused_at is not None,
        kill_switch=bool(workspace.writes_killed_at or connection.writes_killed_at),
        blocked_by=connection.blocked_by or None,
        circuit_open=circuit is not None and circuit > now(),
        missing_scopes=tuple(sorted(needed - set(connection.scopes))),
    )


def _as_evidence(
    intent: Intent, snapshot: OrderSnapshot | Unreadable
) -> OrderSnapshot | Unreadable:
    """Take *no such order* for a fact only where the app may see every order.

    Without the scope `read_all_orders` a store shows no order that is older than 60 days.
    https://shopify.dev/docs/api/usage/access-scopes (read 2026-11-30)
    """
    hidden = "read_all_orders" not in intent.connection.scopes
    if isinstance(snapshot, Unreadable) and snapshot.not_found and hidden:
        reason = "the store shows no such order; one of more than 60 days needs read_all_orders"
        return replace(snapshot, not_found=False, reason=reason)
    return snapshot


def _ownership(ticket: Ticket, snapshot: OrderSnapshot | Unreadable) -> Ownership:
    customer = ticket.customer
    if customer is None or isinstance(snapshot, Unreadable):
        return Ownership.UNVERIFIED
    return ownership_of(
        verified=customer.verified_at is not None,
        same_customer=same_identity(customer.store_identifier, snapshot.customer),
        same_email=same_identity(_email(customer), snapshot.email),
    )


def _email(customer: Customer) -> str | None:
    if customer.email is None:
        return None
    try:
        return sealed.unseal(customer.email)
    except sealed.Erased:
        return None


def _others(intent: Intent) -> tuple[OtherIntent, ...]:
    rows = Intent.objects.filter(target=intent.target, state__in=list(PAST_GATE))
    others = rows.exclude(pk=intent.pk).select_related("decision").order_by("pk")
    others = others.annotate(effect=F("external_objects__identifier"))
    return tuple(
        _other(other, other.money, effect=other.effect or "")
        for other in others
        if other.money is not None
    )


def _other(intent: Intent, money: Money, *, effect: str) -> OtherIntent:
    return OtherIntent(
        identifier=intent.public_id,
        kind=intent.kind,
        state=State(intent.state),
        money=money,
        marker=intent.marker,
        effect=effect,
        parts=_parts(intent.decision.allocation if intent.decision else []),
        set_aside=intent.set_aside_at is not None,
    )


def _parts(allocation: Sequence[Mapping[str, str]]) -> tuple[RefundPart, ...]:
    return tuple(
        RefundPart(
            parent=part["parent"],
            gateway=part["gateway"],
            money=parse_money(part["amount"], part["currency"]),
        )
        for part in allocation
    )


def as_record(value: object) -> object:
    """Turn facts into JSON data, so that a verdict can be recomputed from what is stored."""
    if isinstance(value, tuple | list):
        return [as_record(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type | Money):
        return {field.name: as_record(getattr(value, field.name)) for field in fields(value)}
    return _as_scalar(value)


def _as_scalar(value: object) -> object:
    if isinstance(value, Money):
        return str(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, timedelta):
        return value.total_seconds()
    return value
