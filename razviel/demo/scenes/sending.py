"""Scenes of one intent's way: what is sent, what is lost, and what the gate or the store refuses.

Promises: each has an order of its own; faults name their order; an effect is there once, whatever
was lost. Does not know how a scene is shown.
"""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from integrations.sandbox.faults import FaultKind
from integrations.sandbox.records import DeclaredFault
from razviel.demo.api import Answer
from razviel.demo.scenes.scene import ONE_REFUND, Scene, Seen, end, refunds, settled, verdict
from razviel.demo.stage import ENDED, Case, Stage, outcomes, sends_of, was_read_absent

SLOW_GATEWAY = "slow-card"


def confirmed_and_resolved(stage: Stage) -> Seen:
    """Refund, then close the ticket over its outcome."""
    case = stage.case(stage.brand, name="plain", amount="12.50")
    intent = settled(stage, case, case.propose())
    ticket = case.close()
    said = f"{end(case, intent)}; ticket {ticket['status']} by {ticket['resolver']}"
    gate = [
        f"gate, {one['check'].replace('_', ' ')}: {one['sentence']}" for one in intent["verdicts"]
    ]
    asides = [*gate, ticket["reply_channel"]["says"]]
    return Seen(said=said, case=case, intents=[intent], asides=asides)


def two_clicks(stage: Stage) -> Seen:
    """Propose the same twice at the same moment."""
    case = stage.case(stage.brand, name="twice", amount="20.00")
    together = Barrier(2)

    def click() -> Answer:
        together.wait()
        return case.propose()

    with ThreadPoolExecutor(2) as pool:
        clicks = [pool.submit(click) for _ in range(2)]
        answers = [made.result() for made in clicks]
    statuses = " and ".join(str(status) for status in sorted(one.status for one in answers))
    names = {one.document["id"] for one in answers}
    intent = settled(stage, case, answers[0])
    said = f"answered {statuses} with {len(names)} intent; {end(case, intent)}"
    return Seen(said=said, case=case, intents=[intent])


def answer_lost(stage: Stage) -> Seen:
    """Let the store refund and lose the answer."""
    case = stage.case(stage.brand, name="answer-lost", amount="15.00")
    _fault(case, FaultKind.LOST_AFTER)
    intent = settled(stage, case, case.propose())
    return Seen(said=f"{outcomes(intent)}; {end(case, intent)}", case=case, intents=[intent])


def request_lost(stage: Stage) -> Seen:
    """Let the request be lost before the store runs it."""
    case = stage.case(stage.brand, name="request-lost", amount="17.50")
    _fault(case, FaultKind.LOST_BEFORE)
    intent = settled(stage, case, case.propose())
    sends = sends_of(case, intent["id"])
    keys, bodies = {one.key for one in sends}, {one.body_sha256 for one in sends}
    same = f"{len(keys)} key, {len(bodies)} request body"  # of all sends together
    said = f"{outcomes(intent)}; {same}; {end(case, intent)}"
    return Seen(said=said, case=case, intents=[intent])


def keys_forgotten(stage: Stage) -> Seen:
    """Lose the answer of a store that forgets every key and whose reads lag behind."""
    case = stage.case(stage.forgetful, name="keys-forgotten", amount="22.00")
    _fault(case, FaultKind.LOST_AFTER)
    intent = settled(stage, case, case.propose())
    absent = "absent at first" if was_read_absent(intent["id"]) else "never read as absent"
    said = f"{outcomes(intent)}; {absent}; {end(case, intent)}"
    return Seen(said=said, case=case, intents=[intent])


def refused_by_the_gate(stage: Stage) -> Seen:
    """Ask for more than staff have left."""
    case = stage.case(stage.brand, name="too-much", amount="45.00")
    case.brand.shop.refund_by_staff(case.order.id, amount="80.00")
    intent = settled(stage, case, case.propose())
    sent = len(sends_of(case, intent["id"]))
    said = f"{intent['state']}: {verdict(intent, 'grounded')} Sent {sent}x, {refunds(case)}"
    return Seen(said=said, case=case, intents=[intent])


def pending_stays_honest(stage: Stage) -> Seen:
    """Look while the payment provider takes its time; then let it finish."""
    case = stage.case(stage.brand, name="pending", amount="30.00", gateway=SLOW_GATEWAY)
    pending = stage.until(case, case.propose().document["id"], "pending", *ENDED)
    (part,) = pending["echo"]["parts"]
    reference = pending["external_reference"]["identifier"]
    case.brand.shop.settle_refund(reference, "SUCCESS")
    intent = stage.until(case, pending["id"], *ENDED)
    before = f'{pending["state"]} ({part["status"]}): "{pending["may_be_said"]}"'
    said = f"{before} Then {end(case, intent)}"
    return Seen(said=said, case=case, intents=[intent])


def refused_by_the_store(stage: Stage) -> Seen:
    """Let staff refund in the instant between our last read and the store's own check."""
    case = stage.case(stage.brand, name="store-refuses", amount="60.00")
    hang = _fault(case, FaultKind.HANG_BEFORE)
    proposed = case.propose()
    stage.until_met(hang)
    case.brand.shop.refund_by_staff(case.order.id, amount="70.00")
    hang.release()
    intent = settled(stage, case, proposed)
    person = (intent["needs_human"] or {}).get("reason", "nobody")
    said = (
        f"{outcomes(intent)}; {intent['state']} ({intent['state_reason']}), before a person"
        f" ({person}); {refunds(case)}"
    )
    reason = intent["attempts"][-1]["outcome_reason"]
    return Seen(said=said, case=case, intents=[intent], asides=[f"The store says {reason}"])


def _fault(case: Case, kind: FaultKind) -> DeclaredFault:
    return case.brand.shop.fault(kind, operation="refundCreate", containing=case.order.id)


SCENES = (
    Scene(
        name="confirmed and resolved",
        title="A refund is confirmed, and its ticket resolved",
        expected=f"{ONE_REFUND}; ticket resolved by ai",
        play=confirmed_and_resolved,
    ),
    Scene(
        name="two clicks",
        title="Two clicks, one refund",
        expected=f"answered 200 and 202 with 1 intent; {ONE_REFUND}",
        play=two_clicks,
    ),
    Scene(
        name="answer lost",
        title="The store refunds and its answer is lost: found by its marker",
        expected=f"sent 1x (unknown, found later); {ONE_REFUND}",
        play=answer_lost,
    ),
    Scene(
        name="request lost",
        title="The request is lost on its way: sent again once it can no longer land",
        expected=(f"sent 2x (unknown, absent later; echoed); 1 key, 1 request body; {ONE_REFUND}"),
        play=request_lost,
    ),
    Scene(
        name="keys forgotten",
        title="The answer is lost, the store forgets its keys, its reads lag: still one refund",
        expected=f"sent 1x (unknown, found later); absent at first; {ONE_REFUND}",
        play=keys_forgotten,
    ),
    Scene(
        name="refused by the gate",
        title="More than is left: refused by the Policy Gate, with its arithmetic",
        expected=(
            "refused: 80.00 EUR refunded + 45.00 EUR asked > 100.00 EUR received."
            " Sent 0x, 0 refunds on the store"
        ),
        play=refused_by_the_gate,
    ),
    Scene(
        name="pending",
        title="The store has it and has not finished: pending stays pending",
        expected=(
            f'pending (PENDING): "The refund of 30.00 EUR is being processed." Then {ONE_REFUND}'
        ),
        play=pending_stays_honest,
    ),
    Scene(
        name="refused by the store",
        title="The store refuses: it waits for a correction",
        expected=(
            "sent 1x (rejected); failed (rejected), before a person (rejected);"
            " 0 refunds on the store"
        ),
        play=refused_by_the_store,
    ),
)
