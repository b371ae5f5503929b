"""A brand's policy: what it allows of each kind, as versioned data.

Promises: read strictly, so that a misspelled limit is refused and never ignored, and so is one that
contradicts another; amounts are exact and in the store's own currency; a currency without limits is
never free, it needs a second person.
Does not know where versions are kept, nor what happens on the store.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
    field_serializer,
    model_validator,
)

from actions.policy.contradictions import LIMIT_NAMES, LimitName, contradictions, read_limit
from integrations.actors import ActorKind
from integrations.money import Money


class InvalidPolicy(ValueError):
    """The policy can't be read as written: correct each field that the message names."""

    def __init__(self, found: Sequence[tuple[str, str]]) -> None:
        super().__init__(_in_one(found))
        self.found = tuple(found)
        """What can't be taken, as path and sentence; the path is empty for the whole."""


class _Contradictory(ValueError):
    """What was found at odds on the whole; each names its own path."""

    def __init__(self, found: Sequence[tuple[str, str]]) -> None:
        super().__init__(_in_one(found))
        self.found = tuple(found)


def _in_one(found: Iterable[tuple[str, str]]) -> str:
    return "; ".join(f"{path}: {sentence}" if path else sentence for path, sentence in found)


Amount = Annotated[
    str,
    WithJsonSchema(
        {
            "type": "string",
            "pattern": r"^(0|[1-9][0-9]{0,14})(\.[0-9]{1,4})?$",
            "examples": ["150.00"],
        }
    ),
]
"""Plain digits with at most one point. Whether it suits its currency is judged with the whole."""


class _Strict(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True
    )


class CurrencyLimit(_Strict):
    """Limits for stores in one currency, as plain amounts in it."""

    cap: Amount
    """The most that one action may move; more is refused."""
    approval_above: Amount
    """Above this a second person is asked; "0" asks always."""
    per_order: Amount | None = None
    """The most that all actions of this kind may move on one order; more is refused."""
    per_customer_day: Amount | None = None
    """The most for one customer on one day of the brand's time zone; more is held."""
    per_day: Amount | None = None
    """The most in the whole workspace on one day of the brand's time zone; more is held."""

    def written(self) -> dict[LimitName, str | None]:
        """Return every limit as it is written, by name; None where it is left out."""
        return {name: getattr(self, name) for name in LIMIT_NAMES}


class Counts(_Strict):
    """How many actions of one kind there may be; a count that is left out is not limited."""

    per_order: int | None = Field(default=None, ge=1)
    """On one order, ever; more are refused."""
    per_customer_day: int | None = Field(default=None, ge=1)
    """For one customer on one day; more are held."""
    per_day: int | None = Field(default=None, ge=1)
    """In the whole workspace on one day; more are held."""


class Velocity(_Strict):
    """How many actions of one kind there may be within a few minutes; more are held."""

    count: int = Field(ge=1)
    """How many."""
    minutes: int = Field(ge=1, le=1440)
    """Within how many minutes, a day at most."""


class KindPolicy(_Strict):
    """What a brand allows of one kind of action."""

    enabled_for: frozenset[ActorKind]
    """Which kinds of actor may propose it; an empty list switches the kind off."""
    limits: dict[str, CurrencyLimit] = Field(
        json_schema_extra={"propertyNames": {"pattern": "^[A-Z]{3}$"}}
    )
    """By the store's own currency, as EUR; without limits in it a second person is always asked."""
    order_age_max_days: int = Field(ge=1)
    """How old an order may be; an older one is refused."""
    ownership_required: bool
    """Must the order belong to the ticket's verified customer?"""
    notify: bool
    """May the store's own mail speak to the customer? It speaks before we have an echo."""
    counts: Counts = Counts()
    """How many actions of this kind there may be."""
    velocity: Velocity | None = None
    """How fast they may follow each other; left out, that is not limited."""

    @field_serializer("enabled_for")
    def _in_order(self, kinds: frozenset[ActorKind]) -> list[str]:
        return sorted(kinds)

    def limit(self, name: LimitName, currency: str) -> Money | None:
        """Return one limit of a currency by its field's name; None where the brand set none."""
        limits = self.limits.get(currency)
        written = None if limits is None else limits.written()[name]
        return read_limit(written, name=name, currency=currency)

    def cap(self, currency: str) -> Money | None:
        """Return the most that one action may move; None where the brand set no limits."""
        return self.limit("cap", currency)

    def approval_above(self, currency: str) -> Money | None:
        """Return the amount above which a second person is asked; None where no limits are set."""
        return self.limit("approval_above", currency)

    def per_order(self, currency: str) -> Money | None:
        """Return the most that may be moved on one order; None where that is not limited."""
        return self.limit("per_order", currency)

    def per_customer_day(self, currency: str) -> Money | None:
        """Return the most for one customer on one day; None where that is not limited."""
        return self.limit("per_customer_day", currency)

    def per_day(self, currency: str) -> Money | None:
        """Return the most in the workspace on one day; None where that is not limited."""
        return self.limit("per_day", currency)


class Policy(_Strict):
    """All that a brand decides about its actions."""

    model_config = ConfigDict(title="Policy of a Razviel workspace")

    format: Literal[1]
    """The form of this document."""
    kinds: dict[str, KindPolicy]
    """By kind of action, as `refund` or `store_credit`; a kind that is not here is off."""

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        found = list(self._contradictions())
        if found:
            raise _Contradictory(found)
        return self

    def _contradictions(self) -> Iterator[tuple[str, str]]:
        for name, rules in self.kinds.items():
            limits = {currency: limit.written() for currency, limit in rules.limits.items()}
            for path, sentence in contradictions(limits=limits, counts=rules.counts):
                yield f"kinds.{name}.{path}", sentence

    def as_record(self) -> dict[str, object]:
        """Return the policy as JSON keeps it; the same policy gives the same record."""
        record: dict[str, object] = self.model_dump(mode="json", exclude_none=True)
        for kind in record["kinds"].values():  # type: ignore[attr-defined]  # as just dumped
            if not kind["counts"]:
                del kind["counts"]
        return record


def parse_policy(data: Mapping[str, object]) -> Policy:
    """Read a policy from JSON data.

    Raises:
        InvalidPolicy: A field is missing, unknown, wrong or at odds with another; the message names
            each.
    """
    try:
        return Policy.model_validate_json(json.dumps(data))
    except ValidationError as invalid:
        raise InvalidPolicy(tuple(_sentences(invalid))) from invalid


def policy_schema() -> dict[str, object]:
    """Return the JSON Schema of a policy, for whoever edits one and for the editor's own help."""
    schema = Policy.model_json_schema(mode="validation")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _sentences(invalid: ValidationError) -> Iterator[tuple[str, str]]:
    for error in invalid.errors(include_url=False, include_input=False):
        whole = error.get("ctx", {}).get("error")
        if isinstance(whole, _Contradictory):
            yield from whole.found
        else:
            yield ".".join(str(step) for step in error["loc"]), error["msg"]
