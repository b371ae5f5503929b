"""The policy that a new workspace begins with.

Promises: small refunds and store credits go alone, larger ones with a second person; the other
limits are wide, there to stop what runs away and not a busy day.
Does not know which workspace has which version.
"""

from actions.policy.rules import Policy, parse_policy
from integrations.actors import ActorKind

_CURRENCIES = ("EUR", "USD", "GBP", "CHF", "CAD", "AUD")


def default_policy() -> Policy:
    """Return a new workspace's policy: small refunds alone, larger ones with a second person."""
    return parse_policy(
        {"format": 1, "kinds": {kind: _kind() for kind in ("refund", "store_credit")}}
    )


def _kind() -> dict[str, object]:
    return {
        "enabled_for": [kind.value for kind in ActorKind],
        "limits": {**{currency: _limits() for currency in _CURRENCIES}, "JPY": _limits_in_yen()},
        "order_age_max_days": 90,
        "ownership_required": True,
        "notify": False,
        "counts": {"per_order": 20, "per_customer_day": 20, "per_day": 1000},
        "velocity": {"count": 200, "minutes": 10},
    }


def _limits() -> dict[str, str]:
    return {
        "cap": "200.00",
        "approval_above": "100.00",
        "per_order": "1000.00",
        "per_customer_day": "1000.00",
        "per_day": "10000.00",
    }


def _limits_in_yen() -> dict[str, str]:
    return {
        "cap": "30000",
        "approval_above": "15000",
        "per_order": "150000",
        "per_customer_day": "150000",
        "per_day": "1500000",
    }
