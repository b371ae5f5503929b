"""Scenes of the ways in which money goes back: for items and shipping, and to store credit.

Promises: what became of items, shipping and money is read from the store's own ledger.
Does not know how a scene is shown.
"""

from decimal import Decimal

from integrations.sandbox.ledger import Effect
from razviel.demo.scenes.scene import ONE_REFUND, Scene, Seen, end, settled, verdict
from razviel.demo.stage import Asked, Case, Stage

_LAMPS = {"title": "Lamp", "quantity": 2, "price": "40.00"}
_BULBS = {"title": "Bulb", "quantity": 4, "price": "5.00"}


def by_items(stage: Stage) -> Seen:
    """Take items back and half the shipping, of an order in another currency than the shop's."""
    placed = stage.brand.shop.order(
        total="110.00",
        currency="USD",
        rate="0.90",
        lines=[_LAMPS, _BULBS],
        shipping="10.00",
        fulfillment="FULFILLED",
    )
    asked = Asked(amount="55.00", currency="USD")
    case = stage.ticket(stage.brand, placed, name="items", asked=asked)
    lamps, bulbs = placed.lines
    lines = [
        {"line": lamps, "quantity": 1, "restock": "return"},
        {"line": bulbs, "quantity": 2, "restock": "no_restock"},
    ]
    intent = settled(stage, case, case.propose_part({"lines": lines, "shipping": "5.00"}))
    said = f"{_for_what(case, dict(zip(placed.lines, ('lamp', 'bulb'), strict=True)))}"
    return Seen(
        said=f"{said}; {end(case, intent)}",
        case=case,
        intents=[intent],
        asides=[f"gate, within limits: {verdict(intent, 'within_limits')}"],
    )


def to_store_credit(stage: Stage) -> Seen:
    """Give the money back as credit at the store."""
    placed = stage.brand.shop.order()
    asked = Asked(amount="35.00", kind="store_credit")
    case = stage.ticket(stage.brand, placed, name="credit", asked=asked)
    intent = settled(stage, case, case.propose())
    ways = ", ".join(part.gateway for effect in case.effects() for part in effect.parts)
    said = f'over {ways}; "{intent["may_be_said"]}" {end(case, intent)}'
    return Seen(said=said, case=case, intents=[intent])


def _for_what(case: Case, names: dict[str, str]) -> str:
    return "; ".join(_one(effect, names) for effect in case.effects()) or "nothing"


def _one(effect: Effect, names: dict[str, str]) -> str:
    items = ", ".join(
        f"{line.quantity} {names[line.line_id]} {line.restock_type}" for line in effect.lines
    )
    shop = sum((part.shop_amount for part in effect.parts), Decimal(0))
    money = f"{effect.amount:.2f} {effect.currency} = {shop:.2f} EUR"
    return f"{money} for {items}, shipping {effect.shipping:.2f}"


SCENES = (
    Scene(
        name="items",
        title="Items, restocked or not, and shipping, in another currency than the shop's",
        expected=(
            "55.00 USD = 49.50 EUR for 1 lamp RETURN, 2 bulb NO_RESTOCK, shipping 5.00;"
            f" {ONE_REFUND}"
        ),
        play=by_items,
    ),
    Scene(
        name="store credit",
        title="Store credit instead of money back over the payment",
        expected=(
            f'over shopify_store_credit; "35.00 EUR have been credited at the store." {ONE_REFUND}'
        ),
        play=to_store_credit,
    ),
)
