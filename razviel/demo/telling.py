"""The demo in words: each scene as a timeline with identifiers, the two records side by side.

Promises: reads from what scenes saw, and asks for nothing but an intent's key and marker; times are
those of the database. Does not play anything.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

from rich.table import Table

from razviel.demo.api import Document
from razviel.demo.comparing import Line, OurIntent, TheirEffect, Verdict
from razviel.demo.playing import Compared, Played
from razviel.demo.scenes import Seen
from razviel.demo.screen import Screen
from razviel.demo.stage import Identity, identity_of

_INDENT = 3
_LENGTH_IN_TABLE = 9
_GOOD = (Verdict.EQUAL, Verdict.ACCEPTED, Verdict.NOTHING)


def tell_scene(screen: Screen, played: Played, *, number: int) -> None:
    """Tell one scene."""
    mark, style = ("ok", "green") if played.ok else ("NOT OK", "bold red")
    screen.say()
    screen.say(f"{number}. {played.scene.title}: {mark}", style=f"bold {style}")
    if played.seen is not None:
        _tell_intents(screen, played.seen)
        for aside in played.seen.asides:
            screen.say(aside, indent=_INDENT)
    screen.say(f"expected  {played.scene.expected}", indent=_INDENT)
    screen.say(f"seen      {played.said}", indent=_INDENT, style=style)


def _tell_intents(screen: Screen, seen: Seen) -> None:
    ticket = ""
    for intent in seen.intents:
        if intent["ticket"] != ticket:
            ticket = intent["ticket"]
            screen.say(f"order {seen.case.order.id}, ticket {_short(ticket)}", indent=_INDENT)
        screen.show(_timeline(intent))
        for line in _evidence(intent, identity_of(intent["id"])):
            screen.say(line, indent=_INDENT)


def tell_comparison(screen: Screen, compared: Compared) -> None:
    """Tell the two records line by line, and what they add up to."""
    comparison = compared.comparison
    screen.say()
    screen.say("Our record and the stores' own ledger, line by line", style="bold")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("intent", "we say", "the store holds", ""):
        table.add_column(column)
    for line in comparison.lines:
        table.add_row(*_cells(line))
    screen.show(table)
    if compared.by_others:
        screen.say(
            f"Besides, {compared.by_others} refunds by the stores' own staff, which are not ours."
        )
    screen.say()
    screen.say(comparison.sentence, style="bold green" if comparison.holds else "bold red")


def _timeline(intent: Document) -> Table:
    """Return the events with the seconds since the first one."""
    events: list[Document] = intent["events"]
    began_at = _moment(events[0]["at"])
    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right", no_wrap=True, min_width=12)
    table.add_column(no_wrap=True)
    table.add_column()
    for event in events:
        seconds = (_moment(event["at"]) - began_at).total_seconds()
        table.add_row(f"+{seconds:.3f} s", event["name"], event["reason"])
    return table


def _evidence(intent: Document, identity: Identity) -> Iterator[str]:
    key, digest = identity.key[:8], identity.request_digest[:8]
    bytes_sent = f", bytes {digest}.." if digest else ""
    yield (
        f"intent {_short(intent['id'])}, key {key}.., marker {_short(identity.marker)}{bytes_sent}"
    )
    reference = intent["external_reference"]
    if reference is not None:
        yield f"refund {reference['identifier']}"
    for part in (intent["echo"] or {}).get("parts", []):
        money = f"{part['amount']} {part['currency']}"
        yield f"transaction {part['identifier']} {part['status']} {money}"


def _cells(line: Line) -> Iterable[str]:
    ours, theirs = line.ours, line.theirs
    verdict = line.verdict if line.verdict in _GOOD else f"{line.verdict.upper()}: {line.why}"
    name = _short(ours.identifier, length=_LENGTH_IN_TABLE) if ours else "-"
    return (name, _ours(ours), _theirs(theirs), verdict)


def _ours(intent: OurIntent | None) -> str:
    if intent is None:
        return "nothing"
    proof = f" {_number(intent.reference)}" if intent.reference else ""
    part = f"{intent.accepted.amount:.2f} of " if intent.accepted else ""
    return f"{intent.state} {part}{intent.amount:.2f} {intent.currency}{proof}"


def _theirs(effect: TheirEffect | None) -> str:
    if effect is None:
        return "nothing"
    amount = f"{effect.amount:.2f} {effect.currency}"
    return f"{amount} {', '.join(effect.statuses)} {_number(effect.identifier)}"


def _number(identifier: str) -> str:
    """Return the number in a platform's identifier."""
    return f"#{identifier.rpartition('/')[2]}"


def _short(identifier: str, *, length: int = 12) -> str:
    """Shorten what only has to be told apart."""
    return f"{identifier[:length]}.."


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
