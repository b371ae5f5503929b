"""The ground truth: every effect that the simulated stores hold, every request they received.

Promises: written at the moment of the effect, whatever the caller was told of it; never loses or
alters an entry (only a part's status history grows). The comparison with Razviel's own record is
made elsewhere.
"""

from dataclasses import asdict, dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusAt:
    """A status that a part has had since a moment."""

    status: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectPart:
    """One refund transaction and all the statuses it has gone through, oldest first."""

    id: str
    parent_id: str | None
    gateway: str
    amount: Decimal
    history: tuple[StatusAt, ...]
    shop_amount: Decimal
    """The same in the shop's own currency."""

    @property
    def status(self) -> str:
        """The status it has now."""
        return self.history[-1].status


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectLine:
    """Items of a line that a refund took back."""

    line_id: str
    quantity: int
    restock_type: str
    location_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectDuty:
    """What a refund gave back of a duty, in presentment money."""

    duty_id: str
    amount: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One refund on a simulated store, as it truly is."""

    number: int
    kind: str
    id: str
    shop: str
    order_id: str
    amount: Decimal
    """Presentment money over all parts, whatever their status."""
    currency: str
    note: str | None
    app_id: str | None
    """The app that made it; None for a member of staff."""
    key: str | None
    request_number: int | None
    """The request that made it; None for what staff did."""
    at: datetime
    parts: tuple[EffectPart, ...]
    lines: tuple[EffectLine, ...] = ()
    shipping: Decimal = Decimal(0)
    """Presentment money, like the amounts of `duties`."""
    duties: tuple[EffectDuty, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One request that reached the server, with what was done to it."""

    number: int
    shop: str
    operation: str
    """The first root field (`refundCreate`, `order`); empty if the document could not be read."""
    key: str | None
    body_sha256: str
    at: datetime
    fault: str | None = None
    executed: bool = False
    """Did the operation run (also when it refused, or replayed an earlier result)?"""
    http_status: int | None = None
    """The status line that was sent; None if none was."""


class Ledger:
    """An append-only list of effects and one of requests. Callers hold the world's lock."""

    def __init__(self) -> None:
        self._effects: dict[str, Effect] = {}
        self._requests: list[Received] = []

    def record_effect(self, effect: Effect) -> None:
        """Keep a new effect."""
        self._effects[effect.id] = effect

    def record_status(self, effect_id: str, *, part_id: str, status: str, at: datetime) -> None:
        """Lengthen a part's status history."""
        effect = self._effects[effect_id]
        parts = tuple(
            replace(part, history=(*part.history, StatusAt(status=status, at=at)))
            if part.id == part_id
            else part
            for part in effect.parts
        )
        self._effects[effect_id] = replace(effect, parts=parts)

    def record_request(self, request: Received) -> None:
        """Keep a request that has just arrived."""
        self._requests.append(request)

    def note(
        self, number: int, *, executed: bool | None = None, http_status: int | None = None
    ) -> None:
        """Complete the entry of a request with what became of it."""
        old = self._requests[number - 1]
        self._requests[number - 1] = replace(
            old,
            executed=old.executed if executed is None else executed,
            http_status=old.http_status if http_status is None else http_status,
        )

    @property
    def next_effect_number(self) -> int:
        """The number that the next effect gets, from 1."""
        return len(self._effects) + 1

    @property
    def next_request_number(self) -> int:
        """The number that the next request gets, from 1."""
        return len(self._requests) + 1

    def effects(self) -> tuple[Effect, ...]:
        """Return all effects, oldest first."""
        return tuple(self._effects.values())

    def requests(self) -> tuple[Received, ...]:
        """Return all requests, oldest first."""
        return tuple(self._requests)


def to_json(entry: Effect | Received) -> dict[str, object]:
    """Turn an entry into JSON values: moments as ISO 8601, amounts as decimal strings."""
    return {name: _plain(value) for name, value in asdict(entry).items()}


def effect_from_json(value: dict[str, object]) -> Effect:
    """Read an effect back from `to_json`."""
    plain = value | {
        "amount": Decimal(str(value["amount"])),
        "at": datetime.fromisoformat(str(value["at"])),
        "parts": tuple(_part_from_json(part) for part in _rows(value["parts"])),
        "lines": tuple(EffectLine(**line) for line in _rows(value["lines"])),
        "shipping": Decimal(str(value["shipping"])),
        "duties": tuple(
            EffectDuty(duty_id=duty["duty_id"], amount=Decimal(duty["amount"]))
            for duty in _rows(value["duties"])
        ),
    }
    return Effect(**plain)  # type: ignore[arg-type]  # the other fields are JSON values already


def received_from_json(value: dict[str, object]) -> Received:
    """Read a request's entry back from `to_json`."""
    return Received(**value | {"at": datetime.fromisoformat(str(value["at"]))})  # type: ignore[arg-type]  # as above


def _rows(value: object) -> list[dict[str, Any]]:  # JSON of the shape that `to_json` wrote
    if not isinstance(value, list):
        raise TypeError("What an effect consists of is a list.")
    return value


def _part_from_json(part: dict[str, object]) -> EffectPart:
    plain = part | {
        "amount": Decimal(str(part["amount"])),
        "history": tuple(
            StatusAt(status=e["status"], at=datetime.fromisoformat(e["at"]))
            for e in _rows(part["history"])
        ),
        "shop_amount": Decimal(str(part["shop_amount"])),
    }
    return EffectPart(**plain)  # type: ignore[arg-type]  # as above


def _plain(value: object) -> object:
    match value:
        case datetime():
            return value.isoformat()
        case Decimal():
            return str(value)
        case dict():
            return {name: _plain(item) for name, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case _:
            return value
