"""The facts of a decision as JSON, and back: a stored decision can be judged again.

Promises: what comes back is equal to what was stored, to the last digit; a record of any other
shape raises and is never guessed at. `format` 1 is every field of `Facts` by its name, with amounts
as {"amount": "12.50", "currency": "EUR"}; a later field of the facts is a later format.
Does not know where decisions are kept, nor judges anything.
"""

import json
from collections.abc import Mapping

from pydantic import TypeAdapter, ValidationError

from actions.policy.facts import Facts

FORMAT = 1

_FACTS = TypeAdapter(Facts)


class OtherRecord(ValueError):
    """The record isn't one of facts in the form that this version reads; judge nothing by it."""


def facts_record(facts: Facts) -> dict[str, object]:
    """Return the facts as JSON keeps them."""
    return {"format": FORMAT, **_FACTS.dump_python(facts, mode="json")}


def facts_of(record: Mapping[str, object]) -> Facts:
    """Read facts back.

    Raises:
        OtherRecord: Another format, or a field is missing, unknown or differently spelled.
    """
    if record.get("format") != FORMAT:
        raise OtherRecord(f"Format {record.get('format')!r} isn't {FORMAT}, the one that is read.")
    try:
        facts = _FACTS.validate_python({k: v for k, v in record.items() if k != "format"})
    except ValidationError as invalid:
        raise OtherRecord(_sentence(invalid)) from invalid
    # Whatever was ignored, filled in or converted on the way would show here.
    if _spelled(facts_record(facts)) != _spelled(record):
        raise OtherRecord("The record reads as facts that would be written differently.")
    return facts


def _spelled(record: Mapping[str, object]) -> str:
    # As text, since to Python true is 1 and 1.0 is 1.
    return json.dumps(dict(record), sort_keys=True)


def _sentence(invalid: ValidationError) -> str:
    first = invalid.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(str(step) for step in first['loc'])}: {first['msg']}"
