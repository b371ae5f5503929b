"""Steps by which an intent is born: proposed, repeated, corrected, made up for.

Promises: each is one transaction that the database accepts as it stands.
Does not decide anything.
"""

from decimal import Decimal

from tests.strategies.statements import Statement, insert
from tests.strategies.steps.shared import AI, PEOPLE
from tests.strategies.world import Row, World


def propose(w: World) -> list[Statement]:
    """An intent is born, with its first event."""
    ticket = w.row("tickets_ticket", "status IN ('open', 'in_progress')")
    request = w.row("tickets_request", "ticket_id = %s", ticket["id"])
    target = w.row("actions_target", "workspace_id = %s", ticket["workspace_id"])
    return _born(
        w,
        ticket=ticket,
        request=request,
        target=target,
        kind=str(request["kind"]),
        amount=request["amount"],
    )


def propose_reply(w: World) -> list[Statement]:
    """A reply is born on a ticket that came from a desk."""
    ticket = w.row(
        "tickets_ticket", "status IN ('open', 'in_progress') AND connection_id IS NOT NULL"
    )
    request = w.row("tickets_request", "ticket_id = %s", ticket["id"])
    target = w.row("actions_target", "workspace_id = %s", ticket["workspace_id"])
    return _born(w, ticket=ticket, request=request, target=target, kind="reply", amount=None)


def repeat(w: World) -> list[Statement]:
    """The next occurrence of an intent that ended, or was set aside: by a person, if anything left."""
    ended = w.row(
        "actions_intent", f"(state IN ({_ENDED}) OR set_aside_at IS NOT NULL) AND {_UNREPEATED}"
    )
    by = w.rng.choice(PEOPLE)
    return _following(
        w, ended, by=by, repeat_of_id=ended["id"], occurrence=int(str(ended["occurrence"])) + 1
    )


def repeat_unsent(w: World) -> list[Statement]:
    """The AI repeats an intent of which nothing left, nor of what it repeats."""
    ended = w.row("actions_intent", f"{_NOTHING_LEFT} AND {_UNREPEATED}")
    return _following(
        w, ended, by=AI, repeat_of_id=ended["id"], occurrence=int(str(ended["occurrence"])) + 1
    )


def correct(w: World) -> list[Statement]:
    """Another proposal in place of one that failed or was refused."""
    ended = w.row("actions_intent", f"state IN ('failed', 'refused') AND {_ON_OPEN_TICKET}")
    return _following(
        w, ended, by=w.rng.choice([AI, *PEOPLE]), corrects_id=ended["id"], waits_for_id=ended["id"]
    )


def make_up(w: World) -> list[Statement]:
    """A quarter of what was accepted or reversed, where nothing makes up for it yet."""
    ended = w.row("actions_intent", f"state IN ('accepted', 'reversed') AND {_NOT_MADE_UP_FOR}")
    amount = ended["amount"]
    assert isinstance(amount, Decimal)
    by = w.rng.choice(PEOPLE if ended["state"] == "reversed" else [AI, *PEOPLE])
    return _following(w, ended, by=by, amount=amount / 4, remainder_of_id=ended["id"])


_ENDED = "'confirmed', 'accepted', 'failed', 'refused', 'withdrawn', 'reversed'"
_ON_OPEN_TICKET = "EXISTS (SELECT 1 FROM tickets_ticket t WHERE t.id = ticket_id AND t.status IN ('open', 'in_progress'))"
_UNREPEATED = f"NOT EXISTS (SELECT 1 FROM actions_intent n WHERE n.repeat_of_id = actions_intent.id) AND {_ON_OPEN_TICKET}"
_NOTHING_LEFT = "state IN ('refused', 'withdrawn') AND repeat_of_id IS NULL"
_NOT_MADE_UP_FOR = f"amount >= 1 AND NOT EXISTS (SELECT 1 FROM actions_intent n WHERE n.remainder_of_id = actions_intent.id) AND {_ON_OPEN_TICKET}"


def _following(
    w: World, earlier: Row, *, by: tuple[str, str], **columns: object
) -> list[Statement]:
    """Return the birth of an intent on an earlier one's ticket, request and target."""
    ticket, request, target = (
        w.row(table, "id = %s", earlier[column])
        for table, column in (
            ("tickets_ticket", "ticket_id"),
            ("tickets_request", "request_id"),
            ("actions_target", "target_id"),
        )
    )
    payload = w.row("integrations_sealedpayload", "workspace_id = %s", earlier["workspace_id"])
    given = {"amount": earlier["amount"], "reason_id": payload["id"]} | columns
    return _born(
        w, ticket=ticket, request=request, target=target, kind=str(earlier["kind"]), by=by, **given
    )


def _born(
    w: World,
    *,
    ticket: Row,
    request: Row,
    target: Row,
    kind: str,
    amount: object,
    by: tuple[str, str] = AI,
    **columns: object,
) -> list[Statement]:
    at, intent = w.moment(), w.new_id("actions_intent")
    row = {
        "id": intent,
        "workspace_id": ticket["workspace_id"],
        "public_id": w.word("int"),
        "ticket_id": ticket["id"],
        "request_id": request["id"],
        "connection_id": target["connection_id"],
        "target_id": target["id"],
        "kind": kind,
        "parameters": {},
        "amount": amount,
        "currency": "" if amount is None else "EUR",
        "proposer_kind": by[0],
        "proposer_identity": by[1],
        "key": w.key(),
        "marker": w.word("rzv"),
        "event_count": 1,
        "created_at": at,
        "updated_at": at,
    } | columns
    born = w.event_row(row, number=1, origin="", to="proposed", by=by, at=at, previous="")
    return [insert("actions_intent", intent, **{k: v for k, v in row.items() if k != "id"}), born]
