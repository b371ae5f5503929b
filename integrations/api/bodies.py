"""Reading what callers send: strict JSON, strict fields, a sentence for each that can't be taken.

Promises: unknown fields are refused, in nested objects too; text is text and a flag is a flag,
nothing is coerced or trimmed; NaN, repeated names, deep nesting, NUL and half characters never get
past the parser.
Does not know any endpoint's fields.
"""

import json
from collections.abc import Mapping, Sequence
from typing import IO, Any, NoReturn

from rest_framework import serializers
from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.parsers import JSONParser

DEPTH_MAX = 16
"""How deep objects and lists may stand in each other."""

_UNKNOWN_FIELDS_NAMED_MAX = 20
_NAME_LENGTH_MAX = 80


class StrictJSONParser(JSONParser):
    """JSON as RFC 8259 means it, in UTF-8, each name once."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,  # noqa: ARG002 - DRF's signature
        parser_context: Mapping[str, Any] | None = None,  # noqa: ARG002 - DRF's signature
    ) -> Any:
        """Return the body's value.

        Raises:
            ParseError: With a sentence that says what is wrong.
        """
        try:
            text = stream.read().decode("utf-8")
        except UnicodeDecodeError:
            raise ParseError("The body is not UTF-8; encode it so.") from None
        try:
            value = json.loads(text, object_pairs_hook=_each_once, parse_constant=_no_constant)
        except RecursionError:
            raise ParseError(f"The body is nested deeper than {DEPTH_MAX} levels.") from None
        except ValueError as error:
            raise ParseError(f"The body is not JSON: {_place(error)}.") from None
        _check(value, depth=0)
        return value


def _place(error: ValueError) -> str:
    """Say where JSON broke, without repeating any of it."""
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno}, column {error.colno}"
    return "a number has too many digits"


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ParseError("The body names a field twice in one object; name each once.")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ParseError(f"The body holds {name}, which is not JSON.")


def _check(value: object, *, depth: int) -> None:
    if depth > DEPTH_MAX:
        raise ParseError(f"The body is nested deeper than {DEPTH_MAX} levels.")
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            _check_text(name)
            _check(inner, depth=depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _check(inner, depth=depth + 1)


def _check_text(text: str) -> None:
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise ParseError("The body holds a NUL or half a surrogate pair, which is no text.")


class Body(serializers.Serializer[Any]):
    """An object whose fields are all known."""

    default_error_messages = {
        "invalid": "It must be an object, in braces.",
        "required": "It is missing; give it.",
        "null": "It is null; give it or leave it out.",
    }

    def to_internal_value(self, data: object) -> Any:
        """Read the fields, and refuse every other."""
        if isinstance(data, Mapping):
            unknown = [str(name) for name in data if name not in self.fields]
            if unknown:
                sentences = {
                    name[:_NAME_LENGTH_MAX]: ["There is no such field; leave it out."]
                    for name in unknown[:_UNKNOWN_FIELDS_NAMED_MAX]
                }
                raise ValidationError(sentences)
        return super().to_internal_value(data)


class NoBody(Body):
    """An empty object, or nothing at all."""


MESSAGES: dict[str, Any] = {
    "required": "It is missing; give it.",
    "null": "It is null; give it or leave it out.",
    "blank": "It is empty; give it or leave it out.",
    "invalid": "It must be text, in quotes.",
    "max_length": "It is longer than {max_length} characters.",
}
"""What is said of a field that can't be taken."""


class Text(serializers.CharField):
    """Text, exactly as sent."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("trim_whitespace", False)
        kwargs["error_messages"] = MESSAGES | kwargs.get("error_messages", {})
        super().__init__(**kwargs)

    def to_internal_value(self, data: object) -> str:
        """Refuse whatever is not a string: an amount as a number has lost its cents already."""
        if not isinstance(data, str):
            self.fail("invalid")
        return data


class Name(Text):
    """Text that names something: no space at its ends, no control characters."""

    def to_internal_value(self, data: object) -> str:
        """Refuse what looks like another name and isn't."""
        text = super().to_internal_value(data)
        if text != text.strip() or not text.isprintable():
            raise ValidationError("It has a space at an end or a character that can't be seen.")
        return text


class Flag(serializers.BooleanField):
    """True or false, and nothing that resembles them."""

    def __init__(self, **kwargs: Any) -> None:
        messages = {"invalid": "It must be true or false, without quotes."}
        kwargs["error_messages"] = MESSAGES | messages
        super().__init__(**kwargs)

    def to_internal_value(self, data: object) -> bool:
        """Refuse `"true"`, 1 and their kin."""
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class Choice(serializers.ChoiceField):
    """One word of a closed list."""

    def __init__(self, choices: Sequence[tuple[str, str]], **kwargs: Any) -> None:
        messages = {"invalid_choice": f"It must be one of: {', '.join(v for v, _ in choices)}."}
        kwargs["error_messages"] = MESSAGES | messages
        super().__init__(choices, **kwargs)
