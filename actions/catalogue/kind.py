"""What the core asks of a kind of action: one record each, so that a new kind is one new file.

Promises: parameters are typed and strict; the fields of the key, the target, the scopes and the
honest wording of each state are stated by the kind itself and nowhere else.
Does not know any kind, nor how it is carried out.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pydantic import BaseModel, ConfigDict, ValidationError

from actions.keys import Canonical
from actions.states import State
from integrations.money import Money
from integrations.ports import (
    Capabilities,
    FrozenRequest,
    RefundBasis,
    RefundPart,
    SendOutcome,
    StorePort,
)


class InvalidParameters(ValueError):
    """The parameters can't be taken as written: correct each field as its sentence says."""

    def __init__(self, sentences: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{field}: {said}" for field, said in sentences.items()))
        self.sentences = dict(sentences)


class Parameters(BaseModel):
    """What one action needs to be told; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)

    @property
    @abstractmethod
    def target(self) -> str:
        """Return the platform object that is acted on, by its full identifier."""

    @property
    @abstractmethod
    def money(self) -> Money:
        """Return what is to move."""

    @property
    def basis(self) -> RefundBasis:
        """Return for what money is given back, beside the amount."""
        return RefundBasis()

    @abstractmethod
    def key_parameters(self) -> dict[str, Canonical]:
        """Return the fields that make two wishes the same wish, in their canonical form."""

    @abstractmethod
    def canonical(self) -> dict[str, Canonical]:
        """Return all parameters, in the form in which they are stored."""


class Freeze(Protocol):
    """Turns gated parameters and their allocation into the exact bytes to send."""

    def __call__(
        self,
        port: StorePort,
        *,
        parameters: Parameters,
        parts: Sequence[RefundPart],
        marker: str,
        key: str,
        notify: bool,
    ) -> FrozenRequest:
        """Return the bytes; the same arguments give the same bytes."""


class Send(Protocol):
    """Sends frozen bytes once."""

    def __call__(
        self, port: StorePort, *, frozen: FrozenRequest, before_write: Callable[[], None]
    ) -> SendOutcome:
        """Return what is known of the effect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of action."""

    name: str
    target_kind: str
    """What its target is, e.g. `order`."""
    capabilities: Callable[[StorePort], Capabilities]
    """The contract that the adapter declares for this kind."""
    freeze: Freeze
    send: Send
    parameters: type[Parameters]
    required_scopes: frozenset[str]
    wording: Mapping[State, str]
    """What may be said in each state; `{money}` stands for the amount."""
    to_store_credit: bool = False
    """Does its money go to the customer's store credit, instead of back over the payments?"""

    def parse(self, data: Mapping[str, object]) -> Parameters:
        """Read parameters as a caller gave them.

        Raises:
            InvalidParameters: With a sentence for each field at fault.
        """
        try:
            return self.parameters.model_validate(dict(data))
        except ValidationError as invalid:
            raise InvalidParameters(_sentences(invalid)) from invalid

    def may_be_said(self, *, state: State, money: Money) -> str:
        """Return the sentence that is true of an action in this state, for anyone."""
        return self.wording[state].format(money=money)


_SENTENCES = {
    "missing": "It is missing; give it.",
    "extra_forbidden": "There is no such parameter; leave it out.",
    "string_type": "It must be text, in quotes.",
    "string_pattern_mismatch": "Give its full identifier, with the kind that belongs here.",
}


def _sentences(invalid: ValidationError) -> dict[str, str]:
    return {
        ".".join(str(step) for step in error["loc"]) or "params": _SENTENCES.get(
            error["type"], error["msg"].removeprefix("Value error, ")
        )
        for error in invalid.errors(include_url=False, include_input=False)
    }
