"""A brand's policy: what it allows of each kind, as versioned data.

Promises: read strictly, so that a misspelled limit is refused and never ignored; amounts are exact;
a currency without limits is never free, it needs a second person.
Does not know where versions are kept, nor what happens on the store.
"""

import json
from collections.abc import Mapping
from typing import Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_serializer,
    model_validator,
)

from integrations.actors import ActorKind
from integrations.money import Money, parse_money


class InvalidPolicy(ValueError):
    """The policy can't be read as written: correct each field that the message names."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class CurrencyLimit(_Strict):
    """Limits in one currency, as plain amounts."""

    cap: str
    """The most that one action may move."""
    approval_above: str
    """Above this a second person is asked; "0" asks always."""


class KindPolicy(_Strict):
    """What a brand allows of one kind of action."""

    enabled_for: frozenset[ActorKind]
    limits: dict[str, CurrencyLimit]
    order_age_max_days: int = Field(ge=1)
    ownership_required: bool
    notify: bool
    """May the store's own mail speak to the customer? It speaks before we have an echo."""

    @field_serializer("enabled_for")
    def _in_order(self, kinds: frozenset[ActorKind]) -> list[str]:
        return sorted(kinds)

    @model_validator(mode="after")
    def _limits_are_money(self) -> Self:
        for currency in self.limits:
            cap, threshold = self.cap(currency), self.approval_above(currency)
            if cap is not None and threshold is not None and threshold > cap:
                raise ValueError(f"approval_above {threshold} is over the cap {cap}")
        return self

    def cap(self, currency: str) -> Money | None:
        """Return the most that one action may move; None where the brand set no limits."""
        limit = self.limits.get(currency)
        return parse_money(limit.cap, currency) if limit else None

    def approval_above(self, currency: str) -> Money | None:
        """Return the amount above which a second person is asked; None where no limits are set."""
        limit = self.limits.get(currency)
        if limit is None:
            return None
        always = limit.approval_above == "0"
        return Money.zero(currency) if always else parse_money(limit.approval_above, currency)


class Policy(_Strict):
    """All that a brand decides about its actions."""

    format: Literal[1]
    kinds: dict[str, KindPolicy]

    def as_record(self) -> dict[str, object]:
        """Return the policy as JSON keeps it; the same policy gives the same record."""
        return self.model_dump(mode="json")


def parse_policy(data: Mapping[str, object]) -> Policy:
    """Read a policy from JSON data.

    Raises:
        InvalidPolicy: A field is missing, unknown or wrong; the message names each.
    """
    try:
        return Policy.model_validate_json(json.dumps(data))
    except ValidationError as invalid:
        raise InvalidPolicy(_sentences(invalid)) from invalid


def default_policy() -> Policy:
    """Return a new workspace's policy: small refunds alone, larger ones with a second person."""
    return parse_policy(
        {
            "format": 1,
            "kinds": {
                "refund": {
                    "enabled_for": [kind.value for kind in ActorKind],
                    "limits": {
                        **{
                            currency: {"cap": "200.00", "approval_above": "100.00"}
                            for currency in ("EUR", "USD", "GBP", "CHF", "CAD", "AUD")
                        },
                        "JPY": {"cap": "30000", "approval_above": "15000"},
                    },
                    "order_age_max_days": 90,
                    "ownership_required": True,
                    "notify": False,
                }
            },
        }
    )


def _sentences(invalid: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(str(step) for step in error['loc']) or 'policy'}: {error['msg']}"
        for error in invalid.errors(include_url=False, include_input=False)
    )
