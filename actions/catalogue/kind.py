"""What the core asks of a kind of action: one record each, so that a new kind is one new file.

Promises: parameters are typed and strict; the fields of the key, the target, the scopes and the
honest wording of each state are stated by the kind itself and nowhere else.
Does not know any kind, nor how it is carried out.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pydantic import BaseModel, ConfigDict, ValidationError

from actions.keys import Canonical
from actions.states import State
from integrations.money import Money


class InvalidParameters(ValueError):
    """The parameters can't be taken as written: correct each field as its sentence says."""

    def __init__(self, sentences: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{field}: {said}" for field, said in sentences.items()))
        self.sentences = dict(sentences)


class Parameters(BaseModel):
    """What one action needs to be told; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @property
    @abstractmethod
    def target(self) -> str:
        """Return the platform object that is acted on, by its full identifier."""

    @property
    @abstractmethod
    def money(self) -> Money:
        """Return what is to move."""

    @abstractmethod
    def key_parameters(self) -> dict[str, Canonical]:
        """Return the fields that make two wishes the same wish, in their canonical form."""

    @abstractmethod
    def canonical(self) -> dict[str, Canonical]:
        """Return all parameters, in the form in which they are stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of action."""

    name: str
    parameters: type[Parameters]
    required_scopes: frozenset[str]
    wording: Mapping[State, str]
    """What may be said in each state; `{money}` stands for the amount."""

    def parse(self, data: Mapping[str, object]) -> Parameters:
        """Read parameters as a caller gave them.

        Raises:
            InvalidParameters: With a sentence for each field at fault.
        """
        try:
            return self.parameters.model_validate(dict(data))
        except ValidationError as invalid:
            errors = invalid.errors(include_url=False, include_input=False)
            raise InvalidParameters(
                {_field(error["loc"]): error["msg"] for error in errors}
            ) from None

    def may_be_said(self, *, state: State, money: Money) -> str:
        """Return the sentence that is true of an action in this state, for anyone."""
        return self.wording[state].format(money=money)


_SENTENCES = {
    "missing": "It is missing; give it.",
    "extra_forbidden": "There is no such parameter; leave it out.",
    "string_type": "It must be text, in quotes.",
}


def _sentences(invalid: ValidationError) -> dict[str, str]:
    return {
        ".".join(str(step) for step in error["loc"]) or "params": _SENTENCES.get(
            error["type"], error["msg"].removeprefix("Value error, ")
        )
        for error in invalid.errors(include_url=False, include_input=False)
    }
