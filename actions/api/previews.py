"""How a dry run reads: what the gate would say of a wish now.

Promises: the same words as of a decision that is kept, and what a proposal would be answered with.
Does not know how a wish is judged.
"""

from collections.abc import Mapping

from rest_framework import serializers

from actions.api.documents import IntentInShort
from actions.api.evidence import MoneyDocument, PartToSendDocument, VerdictDocument
from actions.gate import Weighed, as_allocated
from actions.models import Intent
from actions.policy import OrderFacts, Ruling
from integrations.api.documents import Document, choices


class PreviewDocument(Document):
    """What the gate would say now; nothing of it was recorded.

    Where the same was proposed before, `standing` is what a proposal would be answered with, and
    nothing is judged.
    """

    dry_run = serializers.BooleanField(help_text="True: this is no intent.")
    standing = IntentInShort(allow_null=True)
    ruling = serializers.ChoiceField(choices(Ruling), allow_null=True)
    reason = serializers.CharField(allow_null=True)
    sentence = serializers.CharField(allow_null=True)
    policy_version = serializers.IntegerField(allow_null=True)
    verdicts = VerdictDocument(many=True, help_text="The four checks.")
    allocation = PartToSendDocument(many=True)
    shown_digest = serializers.CharField(
        allow_null=True, help_text="The digest of what an approval would cover."
    )
    takes_of_limits = MoneyDocument(
        allow_null=True, help_text="In the shop's currency; null where that can't be told yet."
    )
    reckoned = MoneyDocument(
        allow_null=True,
        help_text="What the store itself reckons for the lines, shipping and duties named.",
    )


def as_preview(weighed: Weighed | None, *, standing: Intent | None) -> Mapping[str, object]:
    """Return a dry run as its document reads it."""
    if weighed is None:
        return {**_NOT_JUDGED, "standing": standing}
    decision, order = weighed.decision, weighed.facts.order
    return {
        "dry_run": True,
        "standing": standing,
        "ruling": decision.ruling,
        "reason": decision.reason,
        "sentence": decision.sentence,
        "policy_version": weighed.current.version.number,
        "verdicts": [verdict.as_record() for verdict in decision.verdicts],
        "allocation": [as_allocated(part) for part in weighed.parts],
        "shown_digest": weighed.shown_digest,
        "takes_of_limits": weighed.facts.asked_of_limits,
        "reckoned": order.reckoned if isinstance(order, OrderFacts) else None,
    }


_NOT_JUDGED: Mapping[str, object] = {
    "dry_run": True,
    "ruling": None,
    "reason": None,
    "sentence": None,
    "policy_version": None,
    "verdicts": [],
    "allocation": [],
    "shown_digest": None,
    "takes_of_limits": None,
    "reckoned": None,
}
