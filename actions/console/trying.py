"""What a tried wish came to, for a page: the four verdicts, the allocation, what the store reckons.

Promises: says *would* throughout, since nothing of it was recorded and nothing was sent.
Does not try anything.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from actions.badges import RULING_BADGES
from actions.gate import Weighed, as_allocated
from actions.models import Intent
from actions.policy import OrderFacts, Ruling
from actions.services import Preview
from integrations.display import Badge
from integrations.money import Money

_WOULD: Mapping[Ruling, str] = {
    Ruling.ALLOW: "The gate would say yes: it would be authorized, and sent when due.",
    Ruling.APPROVE: "The gate would ask a second person to approve exactly this allocation.",
    Ruling.NOT_READ: "The store was not read, so that the gate could not say yes.",
    Ruling.HOLD: "The gate would hold it.",
    Ruling.REFUSE: "The gate would refuse it; nothing would be sent.",
}
_NO_WAY = (
    "The gate would hold it: what is under way leaves no exact way over this order's payments."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """What the gate would say now."""

    standing: Intent | None
    """The intent that a proposal would be answered with; then nothing was judged."""
    would: str
    ruling: Badge | None
    verdicts: Sequence[Mapping[str, object]]
    allocation: Sequence[Mapping[str, str]]
    policy_number: int | None
    order: OrderFacts | None
    shop_money: Money | None
    """What it would count against the brand's limits, where that is another currency."""


def tried(found: Preview) -> Tried:
    """Put a preview into words."""
    weighed = found.weighed
    if weighed is None:
        return Tried(
            standing=found.standing,
            would="",
            ruling=None,
            verdicts=(),
            allocation=(),
            policy_number=None,
            order=None,
            shop_money=None,
        )
    decision, order = weighed.decision, weighed.facts.order
    return Tried(
        standing=None,
        would=_would(weighed),
        ruling=RULING_BADGES[decision.ruling],
        verdicts=[verdict.as_record() for verdict in decision.verdicts],
        allocation=[as_allocated(part) for part in weighed.parts],
        policy_number=weighed.current.version.number,
        order=order if isinstance(order, OrderFacts) else None,
        shop_money=_in_shop_currency(weighed),
    )


def _would(weighed: Weighed) -> str:
    ruling = weighed.decision.ruling
    if ruling in (Ruling.ALLOW, Ruling.APPROVE) and not weighed.parts:
        return _NO_WAY
    return _WOULD[ruling]


def _in_shop_currency(weighed: Weighed) -> Money | None:
    counted = weighed.facts.asked_of_limits
    asked = weighed.facts.proposal.money
    return None if counted is None or counted.currency == asked.currency else counted
