"""What the gate judges on: facts of our own database, and of one reading of the store.

Promises: nothing is judged that is not among these facts, and no text is; an order that the app
may not see is never taken for one that does not exist; as a record, the facts give the same
verdict again.
Does not know the rules (`actions.policy`), locks nothing and changes nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils.crypto import salted_hmac

from actions.approvals import evidence_of
from actions.catalogue import Kind, kind_named
from actions.counters import Place, brand_day, counted_money, usage_of
from actions.keys import canonical_json
from actions.locks import Locked
from actions.models import Intent, Outcome
from actions.occurrences import earlier_occurrences, family_of
from actions.policy import (
    Circumstances,
    Cleared,
    EndedIntent,
    Facts,
    OtherIntent,
    Ownership,
    Policy,
    Proposal,
    Rest,
    Ruling,
    order_facts,
    ownership_of,
    same_identity,
)
from actions.reading import Reading
from actions.states import CLEARABLE, PAST_GATE, FailedReason, HeldReason, State
from integrations import sealed
from integrations.actors import ActorKind
from integrations.clock import now
from integrations.models import Connection, Workspace
from integrations.money import Money, parse_money
from integrations.ports import OrderSnapshot, RefundPart, Unreadable
from tickets.models import Customer, Ticket


def gather(
    locked: Locked, reading: Reading | None, *, policy: Policy, at: datetime, taking: bool
) -> Facts:
    """Return all that an intent is judged on; without a reading, nothing of the order.

    Args:
        locked: The intent, with its ticket and its target.
        reading: What the store said.
        policy: The one that is in force.
        at: Now.
        taking: Whether it may be let go on this; then the counters of the limits are locked.
    """
    intent, place = locked.intent, counted_in(locked, reading, at=at)
    rules = policy.kinds.get(intent.kind)
    velocity = None if rules is None or rules.velocity is None else rules.velocity.minutes
    order = None
    if reading is not None:
        snapshot = _as_evidence(intent, reading.snapshot)
        ownership = _ownership(locked.ticket, snapshot)
        order = order_facts(snapshot, order=locked.target.identifier, ownership=ownership, now=at)
    return Facts(
        proposal=_proposal(locked),
        circumstances=circumstances(
            intent.connection, workspace=intent.workspace, kind=kind_named(intent.kind)
        ),
        others=_others(intent),
        ended=_ended(intent),
        rest=_rest(intent),
        order=order,
        usage=usage_of(
            intent,
            place,
            recent_since=None if velocity is None else at - timedelta(minutes=velocity),
            taking=taking,
        ),
        shop_currency=place.currency,
        day=place.on,
        cleared=tuple(_cleared(intent, at=at)),
    )


def counted_in(locked: Locked, reading: Reading | None, *, at: datetime) -> Place:
    """Return where an intent is counted against the brand's limits, if it is let go now."""
    intent = locked.intent
    return Place(
        on=brand_day(intent.workspace, at=at),
        customer=_counted_for(locked, reading),
        currency=_shop_currency(intent, reading),
    )


def _counted_for(locked: Locked, reading: Reading | None) -> str:
    """Name whose limit it is, by a digest: who bought, in however many tickets they write.

    Each ticket has a customer's row of its own: by that alone it would be no limit at all.
    """
    named = _buyer(None if reading is None else reading.snapshot)
    customer = locked.ticket.customer
    if named is None and customer is not None:
        named = customer.store_identifier or customer.public_id
    if named is None:
        return ""
    of_store = canonical_json([locked.intent.connection.public_id, named.strip().casefold()])
    return salted_hmac("actions.counters", of_store, algorithm="sha256").hexdigest()


def _buyer(snapshot: OrderSnapshot | Unreadable | None) -> str | None:
    """Return the order's customer; by e-mail for a guest, and where the app may not see more."""
    if not isinstance(snapshot, OrderSnapshot):
        return None
    return snapshot.customer or snapshot.email or None


def _shop_currency(intent: Intent, reading: Reading | None) -> str:
    """Return the store's currency: as its order says, else as it was when it was connected."""
    snapshot = None if reading is None else reading.snapshot
    if isinstance(snapshot, OrderSnapshot):
        return snapshot.shop_currency
    return intent.connection.currency or intent.currency


def _proposal(locked: Locked) -> Proposal:
    intent, money = locked.intent, locked.intent.money
    if money is None:
        raise ValueError(f"{intent.public_id} moves no money: its kind has its own facts.")
    kind = kind_named(intent.kind)
    return Proposal(
        kind=intent.kind,
        proposer=ActorKind(intent.proposer_kind),
        order=locked.target.identifier,
        money=money,
        basis=kind.parse(intent.parameters).basis,
        to_store_credit=kind.to_store_credit,
        repeats=tuple(_known_to_stand(intent)),
    )


def _known_to_stand(intent: Intent) -> Iterator[str]:
    """Yield what an intent knowingly comes after: what it repeats, or is the rest of."""
    yield from (earlier.public_id for earlier in earlier_occurrences(intent))
    made_up_for = intent.remainder_of
    while made_up_for is not None:
        yield made_up_for.public_id
        made_up_for = made_up_for.remainder_of


def _cleared(intent: Intent, *, at: datetime) -> Iterator[Cleared]:
    """Yield what people have cleared, each with the evidence that they were shown."""
    if intent.state == State.PROPOSED:
        return  # nobody was shown anything yet
    given = intent.approvals.filter(
        approves=True, decision__ruling=Ruling.HOLD, expires_at__gt=at
    ).select_related("decision")
    for approval in given.order_by("pk"):
        reason = HeldReason(approval.decision.reason)
        if reason in CLEARABLE:
            yield Cleared(
                reason=reason,
                evidence=evidence_of(approval.decision),
                by=f"{approval.approver_kind} {approval.approver_identity}",
            )


def circumstances(connection: Connection, *, workspace: Workspace, kind: Kind) -> Circumstances:
    """Return what stands in the way of a write now, as our own database knows it."""
    needed = kind.required_scopes
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
    # What failed or was reversed is not among them, repeated or not: if its refund stands after
    # all, that is what a second one must be held for.
    rows = Intent.objects.filter(target=intent.target, state__in=list(PAST_GATE))
    return _as_others(rows.exclude(pk=intent.pk))


def _as_others(rows: QuerySet[Intent]) -> tuple[OtherIntent, ...]:
    others = rows.select_related("decision").order_by("pk")
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
        counted=counted_money(intent),
    )


_ENDED = (State.FAILED, State.REVERSED)


def _ended(intent: Intent) -> tuple[EndedIntent, ...]:
    """Return what failed or was reversed on this order: what of it stands after all is seen."""
    rows = Intent.objects.filter(target=intent.target, state__in=_ENDED).exclude(pk=intent.pk)
    rows = rows.annotate(
        effect=F("external_objects__identifier"),
        explained=Exists(Outcome.objects.filter(intent=OuterRef("pk"))),
    )
    return tuple(
        EndedIntent(
            identifier=ended.public_id,
            kind=ended.kind,
            state=State(ended.state),
            money=ended.money,
            marker=ended.marker,
            effect=ended.effect or "",
            may_have_left=bool(ended.effect) or ended.state_reason != FailedReason.REJECTED,
            explained=ended.explained,
        )
        for ended in rows.order_by("pk")
        if ended.money is not None
    )


def _rest(intent: Intent) -> Rest | None:
    """Return what an intent makes up for, reckoned from the first that something was missing of."""
    if intent.remainder_of_id is None:
        return None
    family = [member for member in family_of(intent) if member.pk != intent.pk]
    asked = family[0].money
    if asked is None:
        raise ValueError(f"{family[0].public_id} moves no money: nothing of it can be missing.")
    rows = Intent.objects.filter(pk__in=[member.pk for member in family])
    return Rest(asked=asked, family=_as_others(rows))


def _parts(allocation: Sequence[Mapping[str, str]]) -> tuple[RefundPart, ...]:
    return tuple(
        RefundPart(
            parent=part["parent"] or None,
            gateway=part["gateway"],
            money=parse_money(part["amount"], part["currency"]),
        )
        for part in allocation
    )
