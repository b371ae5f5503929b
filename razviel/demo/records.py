"""Both sides of the comparison, read: our rows, and the sandbox's ledger.

Promises: reads only; what staff or another app did on a store is not ours and is left out of the
effects, and counted. Does not judge.
"""

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal

from django.db.models import QuerySet

from actions.catalogue import kind_named
from actions.models import ExternalObject, Intent, IntentEvent
from actions.states import State
from integrations.money import Money, parse_money
from integrations.sandbox.surface import ShopControls
from razviel.demo.comparing import OurIntent, TheirEffect


def our_intents(workspaces: Sequence[str]) -> list[OurIntent]:
    """Return every intent of these workspaces, oldest first.

    Args:
        workspaces: Their slugs.
    """
    rows = Intent.objects.filter(workspace__slug__in=list(workspaces), amount__isnull=False)
    proofs = ExternalObject.objects.filter(intent__in=rows)
    references = dict(proofs.values_list("intent_id", "identifier"))
    accepted = _accepted(rows)
    return [
        OurIntent(
            identifier=intent.public_id,
            state=intent.state,
            target=intent.target.identifier,
            marker=intent.marker,
            amount=intent.amount,
            currency=intent.currency,
            reference=references.get(intent.pk),
            accepted=accepted.get(intent.pk),
            to_store_credit=kind_named(intent.kind).to_store_credit,
        )
        for intent in rows.select_related("target").order_by("pk")
        if intent.amount is not None
    ]


def their_effects(shops: Sequence[ShopControls]) -> list[TheirEffect]:
    """Return every effect of our app on these stores, oldest first."""
    return [
        TheirEffect(
            identifier=effect.id,
            target=effect.order_id,
            marker=effect.note,
            amount=effect.amount,
            currency=effect.currency,
            statuses=tuple(part.status for part in effect.parts),
            moved=sum(
                (part.amount for part in effect.parts if part.status == "SUCCESS"), Decimal(0)
            ),
            to_store_credit=bool(effect.parts)
            and all(part.parent_id is None for part in effect.parts),
        )
        for shop in shops
        for effect in shop.effects()
        if effect.app_id == shop.app_id
    ]


def _accepted(rows: QuerySet[Intent]) -> dict[int, Money]:
    """Return what people accepted instead of what was asked, as the trail says it, by intent."""
    events = IntentEvent.objects.filter(intent__in=rows, name=State.ACCEPTED)
    return {event.intent_id: _money(json.loads(event.body)["details"]) for event in events}


def _money(details: Mapping[str, str]) -> Money:
    amount, _, currency = details["accepted"].partition(" ")
    return parse_money(amount, currency)


def by_others_count(shops: Sequence[ShopControls]) -> int:
    """Count the refunds on these stores that staff or other apps made."""
    return sum(effect.app_id != shop.app_id for shop in shops for effect in shop.effects())
