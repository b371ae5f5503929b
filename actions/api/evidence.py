"""How evidence reads over the API: verdicts, words, attempts, echoes, references, events.

Promises: each row as it was recorded, the platform's own words uncompressed.
Does not know what the evidence means for a state.
"""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from actions.models import Approval, AttemptOutcome, Echo, Phase, ResolvedHow
from actions.policy.verdicts import Check, Ruling
from actions.states import State
from integrations.api.documents import (
    ActorOf,
    AmountOf,
    Document,
    PublicIdOf,
    TextOrNull,
    choices,
)
from integrations.money import Money
from integrations.ports import Standing


class ExternalReferenceDocument(Document):
    """The thing on the platform, by the platform's own identifier."""

    connection = PublicIdOf("connection")
    type = serializers.CharField(help_text="As refund.")
    identifier = serializers.CharField(help_text="As gid://shopify/Refund/1001.")


class MoneyDocument(Document):
    """An amount in its currency."""

    amount = AmountOf()
    currency = serializers.CharField()


class ShopAmountOf(AmountOf):
    """The amount of a row in the shop's own currency; null where the shop has not said."""

    def __init__(self) -> None:
        super().__init__(
            allow_null=True, help_text="The same in the shop's own currency, once it is known."
        )

    def to_representation(self, row: Any) -> Any:
        """Return the amount at its currency's precision."""
        if row.shop_amount is None:
            return None
        return Money(amount=row.shop_amount, currency=row.shop_currency).canonical()


class EvidenceOf(serializers.ListField):
    """The identifiers that a finding rests on; decisions from before there were any have none."""

    child = serializers.CharField()

    def __init__(self) -> None:
        super().__init__(
            source="*",
            read_only=True,
            help_text="What it was found in: what a person looks at who clears it.",
        )

    def to_representation(self, data: Any) -> list[Any]:
        """Return them as they were recorded."""
        return list(data.get("evidence", ()))


class FindingDocument(Document):
    """One thing that a check found."""

    ruling = serializers.ChoiceField(choices(Ruling))
    reason = serializers.CharField(allow_null=True)
    sentence = serializers.CharField()
    evidence = EvidenceOf()


class VerdictDocument(Document):
    """One check's answer, with the facts that it used."""

    check = serializers.ChoiceField(choices(Check))
    ruling = serializers.ChoiceField(choices(Ruling))
    reason = serializers.CharField(allow_null=True)
    sentence = serializers.CharField()
    evidence = EvidenceOf()
    also = FindingDocument(many=True, help_text="What else it found, strongest first.")
    facts = serializers.DictField()


class PartToSendDocument(Document):
    """How much goes back over one payment, or to store credit."""

    parent = TextOrNull(  # type: ignore[assignment]  # the payment's
        help_text="The payment; null for store credit."
    )
    gateway = serializers.CharField()
    amount = serializers.CharField()
    currency = serializers.CharField()


class DecisionDocument(Document):
    """What the four verdicts came to."""

    id = serializers.CharField(source="public_id")
    number = serializers.IntegerField()
    phase = serializers.ChoiceField(choices(Phase))
    ruling = serializers.ChoiceField(choices(Ruling))
    reason = TextOrNull()
    policy_version = serializers.IntegerField(source="policy_version.number")
    allocation = PartToSendDocument(many=True)
    shown_digest = serializers.CharField(help_text="The digest of what an approval would cover.")
    decided_at = serializers.DateTimeField()


class ApprovalDocument(Document):
    """A person's word on exactly what a decision showed."""

    id = serializers.CharField(source="public_id")
    by = ActorOf("approver")
    approves = serializers.BooleanField(help_text="Yes or no.")
    clears = serializers.SerializerMethodField(
        help_text="The reason to hold that it clears; null for a yes or no to an allocation."
    )
    decision = PublicIdOf("decision")
    digest = serializers.CharField(help_text="Of what was shown.")
    given_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    used_at = serializers.DateTimeField(allow_null=True)

    def get_clears(self, approval: Approval) -> str | None:
        """Return the reason that was cleared."""
        decision = approval.decision
        return decision.reason if decision.ruling == Ruling.HOLD else None


class RejectionDocument(Document):
    """What the platform refused, and why."""

    code = serializers.CharField(help_text="A short constant, as over_net_payment.")
    message = serializers.CharField(
        help_text="The platform's own words, as they are kept: without personal data."
    )
    attempt = serializers.IntegerField()
    at = serializers.DateTimeField(allow_null=True)


class AttemptDocument(Document):
    """One send."""

    number = serializers.IntegerField()
    outcome = serializers.ChoiceField(
        choices(AttemptOutcome), allow_null=True, help_text="Null while the call is out."
    )
    outcome_reason = TextOrNull()
    started_at = serializers.DateTimeField()
    send_by = serializers.DateTimeField(help_text="Nothing of it left after this moment.")
    closed_at = serializers.DateTimeField(allow_null=True)
    closed_by = TextOrNull(help_text="answer, takeover or read.")
    http_status = serializers.IntegerField(allow_null=True)
    platform_request_id = TextOrNull()
    answered_version = TextOrNull()
    duration_ms = serializers.IntegerField(allow_null=True)
    request_digest = serializers.CharField(help_text="SHA-256 of the bytes that were sent.")
    resolved_how = serializers.ChoiceField(choices(ResolvedHow), allow_null=True)
    resolved_at = serializers.DateTimeField(allow_null=True)


class PartDocument(Document):
    """One part of an echo, a transaction for instance."""

    identifier = serializers.CharField()
    status = serializers.CharField(help_text="The platform's own word.")
    standing = serializers.ChoiceField(choices(Standing), help_text="What that word means.")
    amount = AmountOf()
    currency = serializers.CharField()
    shop_amount = ShopAmountOf()
    shop_currency = TextOrNull()
    gateway = serializers.CharField()
    parent = TextOrNull()  # type: ignore[assignment]  # the payment's


class BroughtByDocument(Document):
    """What brought an echo: an attempt by its number, or a read by its cause."""

    attempt = serializers.IntegerField(allow_null=True)
    read = serializers.CharField(allow_null=True)


class EchoDocument(Document):
    """One observation of the external object."""

    external_reference = ExternalReferenceDocument(source="external_object")
    target = TextOrNull(source="target_identifier")
    marker = TextOrNull()
    author = TextOrNull()
    parts = PartDocument(many=True)
    brought_by = serializers.SerializerMethodField()
    platform_created_at = serializers.DateTimeField()
    observed_at = serializers.DateTimeField()

    @extend_schema_field(BroughtByDocument)
    def get_brought_by(self, echo: Echo) -> dict[str, object]:
        """Name the attempt or the read."""
        return {
            "attempt": echo.attempt and echo.attempt.number,
            "read": echo.read and echo.read.cause,
        }


class EventDocument(Document):
    """One event of an intent's timeline; each names the digest of the one before."""

    number = serializers.IntegerField()
    name = serializers.CharField()
    from_state = serializers.ChoiceField(choices(State), allow_null=True)
    to_state = serializers.ChoiceField(choices(State))
    by = ActorOf("by")
    reason = serializers.CharField()
    at = serializers.DateTimeField()
    digest = serializers.CharField()

    def to_representation(self, instance: object) -> dict[str, object]:
        """Say that the first event comes from no state."""
        said: dict[str, object] = super().to_representation(instance)
        return said | {"from_state": said["from_state"] or None}
