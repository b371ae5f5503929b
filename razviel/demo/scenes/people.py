"""Scenes in which people speak: approve, accept, clear, repeat, take back.

Promises: each word is said over the API by its own actor's token, of exactly what the API showed;
what a scene names, such as the evidence of a hold, it takes from the answers.
Does not know how a scene is shown.
"""

from collections.abc import Callable

from integrations.sandbox.records import Payment
from razviel.demo.api import Answer, Api, Document
from razviel.demo.scenes.scene import (
    ONE_REFUND,
    TWO_REFUNDS,
    Scene,
    Seen,
    end,
    refunds,
    settled,
    verdict,
)
from razviel.demo.stage import ENDED, Asked, NotRefused, Stage, refusal, say, sends_of

_EXPIRED_CARD = "expired-card"


def approved_by_another(stage: Stage) -> Seen:
    """Ask for so much that a second person is wanted; the first one's own yes is refused."""
    brand = stage.brand
    case = stage.case(brand, name="approval", amount="150.00", total="200.00")
    proposed = case.propose(by=brand.node).document["id"]
    waiting = stage.until(case, proposed, "awaiting_approval", *ENDED)
    own = _answer(lambda: say(brand.node, "approve", waiting))
    say(brand.team, "approve", waiting)
    intent = settled(stage, case, waiting)
    (approval,) = intent["approvals"]
    said = (
        f"{waiting['state']}: {verdict(waiting, 'within_limits')} Own yes: {own};"
        f" {approval['by']['kind']}'s: {end(case, intent)}"
    )
    return Seen(said=said, case=case, intents=[intent])


def accepted_in_part(stage: Stage) -> Seen:
    """Let one of two payments fail; accept the other part, and make up for the rest."""
    brand = stage.brand
    paid = [Payment(amount="40.00"), Payment(amount="60.00", gateway=_EXPIRED_CARD)]
    brand.shop.gateway(_EXPIRED_CARD, answers="FAILURE")
    case = stage.case(brand, name="split", amount="55.00", payments=paid)
    partly = stage.until(case, case.propose().document["id"], "partially_confirmed", *ENDED)
    parts = ", ".join(f"{part['status']} {part['amount']}" for part in partly["echo"]["parts"])
    accepted = _accept(brand.node, partly)
    rest = case.propose_part({"amount": accepted["rest"]["amount"]}, remainder_of=accepted["id"])
    held = stage.until(case, rest.document["id"], "held", *ENDED)
    # The customer has a new card by now.
    brand.shop.gateway(_EXPIRED_CARD, answers="SUCCESS")
    say(brand.node, "clear", held)
    made_up = settled(stage, case, held)
    said = (
        f"{partly['state']} ({parts}); {accepted['state']}; the rest of {held['amount']} held"
        f" ({_held_for(held, accepted['external_reference']['identifier'], 'that refund')}),"
        f" cleared; {end(case, made_up)}"
    )
    return Seen(said=said, case=case, intents=[accepted, made_up], asides=_shown(held))


def repeated_knowingly(stage: Stage) -> Seen:
    """Propose what is done already: plainly, as a repeat, and as one that names what stands."""
    brand = stage.brand
    case = stage.case(brand, name="repeat", amount="18.00")
    first = settled(stage, case, case.propose())
    again = case.propose(by=brand.node)
    by_ai = _answer(lambda: case.propose(repeat_of=first["id"]))
    asked = refusal(lambda: case.propose(by=brand.node, repeat_of=first["id"]))
    stands = asked.document["external_reference"]["identifier"]
    repeat = case.propose(by=brand.node, repeat_of=first["id"], acknowledges=stands)
    second = settled(stage, case, repeat)
    same = "the confirmed one" if _is_confirmed(again, first) else "something else"
    said = (
        f"plainly: {again.status}, {same}; AI repeats: {by_ai}; person: {asked.status}"
        f" {asked.name}; naming what stands: {repeat.status}, occurrence {second['occurrence']};"
        f" {end(case, second)}"
    )
    asides = [f"asked: {asked.document['title']}, as {stands}"]
    return Seen(said=said, case=case, intents=[first, second], asides=asides)


def twin_held(stage: Stage) -> Seen:
    """Let the customer write twice: the second ticket's equal refund is held, and taken back."""
    brand = stage.brand
    case = stage.case(brand, name="twin", amount="25.00")
    first = settled(stage, case, case.propose())
    twin = stage.ticket(brand, case.order, name="twin-again", asked=Asked(amount="25.00"))
    held = stage.until(twin, twin.propose().document["id"], "held", *ENDED)
    brand.node.post(f"intents/{held['id']}/withdraw/", {})
    intent = settled(stage, twin, held)
    said = (
        f"{held['state']} ({_held_for(held, first['id'], 'what the first ticket did')});"
        f" {intent['state']}, sent {len(sends_of(twin, intent['id']))}x, {refunds(twin)}"
    )
    return Seen(said=said, case=case, intents=[first, intent], asides=_shown(held))


def _answer(ask: Callable[[], object]) -> str:
    """Say how the API refused what it must not take."""
    try:
        refused = refusal(ask)
    except NotRefused:
        return "taken"
    return f"{refused.status} {refused.name}"


def _accept(by: Api, partly: Document) -> Document:
    """Accept what stands of an intent instead of what was asked."""
    (stands,) = [part for part in partly["echo"]["parts"] if part["standing"] == "succeeded"]
    body = {
        "amount": stands["amount"],
        "currency": stands["currency"],
        "reason": "the card is expired; we make up for the rest",
    }
    return by.post(f"intents/{partly['id']}/accept/", body).document


def _held_for(held: Document, identifier: str, name: str) -> str:
    """Say why an intent is held, and whether just what is named here is its evidence."""
    evidence = held["evidence"]
    shown = name if evidence == [identifier] else ", ".join(evidence) or "nothing"
    return f"{held['state_reason']}, shown: {shown}"


def _shown(held: Document) -> list[str]:
    return [f"held: {verdict(held, 'not_already_done')}"]


def _is_confirmed(answer: Answer, intent: Document) -> bool:
    document = answer.document
    return document["id"] == intent["id"] and document["already_processed"] is True


SCENES = (
    Scene(
        name="approval",
        title="Held for approval, and approved by a second person",
        expected=(
            "awaiting_approval: 150.00 EUR asked > 100.00 EUR that need no second person."
            f" Own yes: 403 own-proposal; brand_team's: {ONE_REFUND}"
        ),
        play=approved_by_another,
    ),
    Scene(
        name="split tender",
        title="One of two payments fails: a person accepts the part, the rest is made up for",
        expected=(
            "partially_confirmed (SUCCESS 40.00, FAILURE 15.00); accepted; the rest of 15.00 held"
            f" (failed_refund_object, shown: that refund), cleared; {TWO_REFUNDS}"
        ),
        play=accepted_in_part,
    ),
    Scene(
        name="repeat",
        title="A meant repeat: asked first, and then done once more",
        expected=(
            "plainly: 200, the confirmed one; AI repeats: 403 person-repeats; person: 409"
            f" repeat-asks; naming what stands: 202, occurrence 2; {TWO_REFUNDS}"
        ),
        play=repeated_knowingly,
    ),
    Scene(
        name="twin",
        title="The customer wrote twice: the second ticket's twin is held",
        expected=(
            "held (equal_effect, shown: what the first ticket did);"
            " withdrawn, sent 0x, 1 refund on the store"
        ),
        play=twin_held,
    ),
)
