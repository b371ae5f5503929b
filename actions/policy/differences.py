"""What has changed between two versions of a policy, for people and the API.

Promises: every change is one line with its path, what it was and what it is, in a stable order; an
amount that is only spelled otherwise is no change.
Does not know versions, their authors, or what a change means for what is under way.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from actions.policy.contradictions import LIMIT_NAMES
from actions.policy.rules import KindPolicy, Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One field of a policy that differs."""

    path: str
    """As `kinds.refund.limits.EUR.cap`."""
    old: str | None
    """What it was; None where it is added."""
    new: str | None
    """What it is; None where it is removed."""

    def __str__(self) -> str:
        if self.old is None:
            return f"{self.path}: added, {self.new}"
        if self.new is None:
            return f"{self.path}: removed, was {self.old}"
        return f"{self.path}: {self.old} → {self.new}"

    def as_record(self) -> dict[str, str | None]:
        """Return it as JSON keeps it."""
        return {"path": self.path, "old": self.old, "new": self.new}


def differences(old: Policy, new: Policy) -> tuple[Difference, ...]:
    """Return every field that differs, sorted by path."""
    before, after = dict(_fields(old)), dict(_fields(new))
    return tuple(
        Difference(path=path, old=before.get(path), new=after.get(path))
        for path in sorted(before.keys() | after.keys())
        if before.get(path) != after.get(path)
    )


def _fields(policy: Policy) -> Iterator[tuple[str, str]]:
    for name, rules in policy.kinds.items():
        yield from _of_kind(f"kinds.{name}", rules)


def _of_kind(path: str, rules: KindPolicy) -> Iterator[tuple[str, str]]:
    plain = rules.model_dump(mode="json", exclude_none=True, exclude={"limits"})
    yield from _leaves(path, plain)
    for currency in rules.limits:
        for name in LIMIT_NAMES:
            money = rules.limit(name, currency)
            if money is not None:
                yield f"{path}.limits.{currency}.{name}", money.canonical()


def _leaves(path: str, value: object) -> Iterator[tuple[str, str]]:
    match value:
        case Mapping():
            for name, item in value.items():
                yield from _leaves(f"{path}.{name}", item)
        case bool():
            yield path, "yes" if value else "no"
        case list():
            yield path, ", ".join(value) or "nobody"
        case _:
            yield path, str(value)
