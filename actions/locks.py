"""The one order in which rows are locked: ticket, target, intent.

Promises: who locks through these functions never waits in a circle; counters have their place
between target and intent.
Does not know what is done under the locks.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from actions.models import Intent, Target
from tickets.models import Ticket


@dataclass(frozen=True, slots=True, kw_only=True)
class Locked:
    """An intent with its ticket and target, all locked until the transaction ends."""

    ticket: Ticket
    target: Target
    intent: Intent


def lock_intent(intent_pk: int) -> Locked:
    """Lock an intent with its ticket and target, in the order of the house; read them afresh."""
    ticket_pk, target_pk = Intent.objects.values_list("ticket_id", "target_id").get(pk=intent_pk)
    ticket = Ticket.objects.select_for_update(no_key=True).get(pk=ticket_pk)
    target = Target.objects.select_for_update(no_key=True).get(pk=target_pk)
    return Locked(ticket=ticket, target=target, intent=_lock_one(intent_pk))


def lock_target(target_pk: int, *, intent_pks: list[int]) -> tuple[Target, list[Intent]]:
    """Lock a target with some of its intents and their tickets, in the order of the house."""
    ticket_pks = Intent.objects.filter(pk__in=intent_pks).values("ticket_id")
    list(Ticket.objects.select_for_update(no_key=True).filter(pk__in=ticket_pks).order_by("pk"))
    target = Target.objects.select_for_update(no_key=True).get(pk=target_pk)
    return target, [_lock_one(pk) for pk in sorted(intent_pks)]


def lock_targets(target_pks: Iterable[int]) -> None:
    """Lock several targets, before any of their intents: their tickets are locked already."""
    list(Target.objects.select_for_update(no_key=True).filter(pk__in=target_pks).order_by("pk"))


def _lock_one(intent_pk: int) -> Intent:
    locked = Intent.objects.select_for_update(of=("self",), no_key=True)
    related = ("connection", "ticket", "target", "workspace", "decision")
    return locked.select_related(*related).get(pk=intent_pk)


def bump(target: Target) -> None:
    """Tell everyone who noted this target's version that it has moved."""
    target.version += 1
    Target.objects.filter(pk=target.pk).update(version=target.version)
