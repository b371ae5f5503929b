"""How an intent reads over the API: in short, and with all that it stands on.

Promises: the state as it is, since when, and the one sentence that is true of it now; evidence as
it was recorded, amounts as text.
Does not know which intents a caller may see.
"""

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from actions.api.evidence import (
    ApprovalDocument,
    AttemptDocument,
    DecisionDocument,
    EchoDocument,
    EventDocument,
    ExternalReferenceDocument,
    MoneyDocument,
    RejectionDocument,
    ShopAmountOf,
    VerdictDocument,
)
from actions.approvals import evidence_of
from actions.linking import REPLACEABLE, is_correctable, missing_money
from actions.models import Attempt, AttemptOutcome, Intent, IntentEvent
from actions.policy import Ruling
from actions.queries import may_be_said_of, newest_decision, newest_echo, reason_of
from actions.states import CLEARABLE, FailedReason, NeedsHuman, State
from integrations.api.documents import (
    ActorOf,
    AmountOf,
    Document,
    PublicIdOf,
    TextOrNull,
    choices,
)


class NeedsHumanDocument(Document):
    """Why an intent stands before a person."""

    since = serializers.DateTimeField()
    reason = serializers.ChoiceField(choices(NeedsHuman))


class WindowDocument(Document):
    """How long the key protects a repeated send, and whether one may still be made."""

    first_sent_at = serializers.DateTimeField(allow_null=True)
    resend_until = serializers.DateTimeField(allow_null=True)
    resend_ended_at = serializers.DateTimeField(allow_null=True)


class SetAsideDocument(Document):
    """Who set an intent aside that no platform can answer for any more."""

    at = serializers.DateTimeField()
    by = ActorOf("set_aside_by")


class IntentInShort(Document):
    """An intent as lists show it."""

    id = serializers.CharField(source="public_id")
    kind = serializers.CharField()
    state = serializers.ChoiceField(choices(State))
    state_reason = TextOrNull(help_text="Why it is held, refused, failed or awaits approval.")
    since = serializers.DateTimeField(help_text="Since when it is in this state.")
    already_processed = serializers.SerializerMethodField(
        help_text="True only of a confirmed intent."
    )
    may_be_said = serializers.SerializerMethodField(
        help_text="What may be said of it now, to anyone."
    )
    ticket = PublicIdOf("ticket")
    request = PublicIdOf("request")
    amount = AmountOf(allow_null=True)
    currency = serializers.CharField()
    shop_amount = ShopAmountOf()
    shop_currency = TextOrNull()
    external_reference = serializers.SerializerMethodField()
    needs_human = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()

    def get_already_processed(self, intent: Intent) -> bool:
        """Say whether the platform has confirmed it."""
        return intent.state == State.CONFIRMED

    def get_may_be_said(self, intent: Intent) -> str:
        """Return the sentence that is true now."""
        return may_be_said_of(intent)

    @extend_schema_field(ExternalReferenceDocument(allow_null=True))
    def get_external_reference(self, intent: Intent) -> object:
        """Return the thing on the platform; None before the platform has named one."""
        bound = next(iter(intent.external_objects.all()), None)
        return None if bound is None else ExternalReferenceDocument(bound).data

    @extend_schema_field(NeedsHumanDocument(allow_null=True))
    def get_needs_human(self, intent: Intent) -> object:
        """Return since when and why it stands before a person; None where it doesn't."""
        if intent.needs_human_since is None:
            return None
        said = {"since": intent.needs_human_since, "reason": intent.needs_human_reason}
        return NeedsHumanDocument(said).data


class IntentDocument(IntentInShort):
    """An intent with its verdicts, attempts, echo and events."""

    connection = PublicIdOf("connection")
    target = serializers.CharField(source="target.identifier")
    params = serializers.DictField(source="parameters")
    proposer = ActorOf("proposer")
    reason = serializers.SerializerMethodField(help_text="Null once the customer's data is erased.")
    occurrence = serializers.IntegerField()
    repeat_of = PublicIdOf("repeat_of", allow_null=True)
    repeated_by = serializers.SerializerMethodField(help_text="The next occurrence.")
    corrects = PublicIdOf("corrects", allow_null=True)
    corrected_by = serializers.SerializerMethodField()
    may_be_corrected = serializers.SerializerMethodField(
        help_text="May another proposal name it in `corrects` now?"
    )
    remainder_of = PublicIdOf("remainder_of", allow_null=True)
    remainders = serializers.SerializerMethodField()
    rest = serializers.SerializerMethodField(
        help_text="What is missing of what was asked, once it was accepted or reversed."
    )
    waits_for = PublicIdOf("waits_for", allow_null=True)
    decision = serializers.SerializerMethodField()
    verdicts = serializers.SerializerMethodField(
        help_text="The four checks, of the newest decision."
    )
    clearable = serializers.SerializerMethodField(
        help_text="May a person clear what it is held for now, by a look at `evidence`?"
    )
    evidence = serializers.SerializerMethodField(
        help_text="What it is held for now rests on these, by their identifiers."
    )
    approvals = serializers.SerializerMethodField(
        help_text="What people have said of what the gate showed them, the first word first."
    )
    rejection = serializers.SerializerMethodField(
        help_text="What the platform refused and why, where that ended it."
    )
    attempts = serializers.SerializerMethodField()
    echo = serializers.SerializerMethodField(help_text="What the platform itself said last.")
    window = WindowDocument(source="*")
    unknown_since = serializers.DateTimeField(allow_null=True)
    confirmed_at = serializers.DateTimeField(allow_null=True)
    set_aside = serializers.SerializerMethodField()
    events = serializers.SerializerMethodField()

    def get_reason(self, intent: Intent) -> str | None:
        """Return why the proposer wanted it."""
        return reason_of(intent)

    def to_representation(self, instance: Intent) -> dict[str, object]:
        """Look the newest decision up once for all that is shown of it."""
        self._decision = newest_decision(instance)
        shown: dict[str, object] = super().to_representation(instance)
        return shown

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_repeated_by(self, intent: Intent) -> str | None:
        """Return the intent that repeats it."""
        return intent.repeats.values_list("public_id", flat=True).first()

    def get_corrected_by(self, intent: Intent) -> list[str]:
        """Return the intents that correct it, the first one first."""
        return list(intent.corrections.order_by("pk").values_list("public_id", flat=True))

    def get_may_be_corrected(self, intent: Intent) -> bool:
        """Say whether it ended without what was asked, on a ticket that takes another proposal."""
        return intent.ticket.is_open and is_correctable(intent)

    def get_remainders(self, intent: Intent) -> list[str]:
        """Return the intents for its rest, the first one first."""
        return list(intent.remainders.order_by("pk").values_list("public_id", flat=True))

    @extend_schema_field(MoneyDocument(allow_null=True))
    def get_rest(self, intent: Intent) -> object:
        """Return what neither stands nor is being made up for."""
        if State(intent.state) not in REPLACEABLE:
            return None
        return MoneyDocument(missing_money(intent)).data

    @extend_schema_field(DecisionDocument(allow_null=True))
    def get_decision(self, _intent: Intent) -> object:
        """Return the gate's newest decision."""
        return None if self._decision is None else DecisionDocument(self._decision).data

    @extend_schema_field(VerdictDocument(many=True))
    def get_verdicts(self, _intent: Intent) -> object:
        """Return the four verdicts."""
        verdicts = [] if self._decision is None else self._decision.verdicts
        return VerdictDocument(verdicts, many=True).data

    def get_clearable(self, intent: Intent) -> bool:
        """Say whether its hold is of the closed list and shows what it rests on."""
        return intent.state_reason in CLEARABLE and bool(self._evidence(intent))

    def get_evidence(self, intent: Intent) -> list[str]:
        """Return what the present hold rests on."""
        return list(self._evidence(intent))

    def _evidence(self, intent: Intent) -> tuple[str, ...]:
        decision = self._decision
        if intent.state != State.HELD or decision is None:
            return ()
        said = (decision.ruling, decision.reason)
        return evidence_of(decision) if said == (Ruling.HOLD, intent.state_reason) else ()

    @extend_schema_field(ApprovalDocument(many=True))
    def get_approvals(self, intent: Intent) -> object:
        """Return every word that was given on it."""
        words = intent.approvals.select_related("decision").order_by("pk")
        return ApprovalDocument(words, many=True).data

    @extend_schema_field(RejectionDocument(allow_null=True))
    def get_rejection(self, intent: Intent) -> object:
        """Return the code and the words of the attempt that the platform rejected."""
        if (intent.state, intent.state_reason) != (State.FAILED, FailedReason.REJECTED):
            return None
        rejected = intent.attempts.filter(outcome=AttemptOutcome.REJECTED)
        attempt = rejected.order_by("number").last()
        if attempt is None:
            return None
        code, _, message = (attempt.outcome_reason or "").partition(": ")
        said = {"code": code, "message": message, "attempt": attempt.number}
        return RejectionDocument(said | {"at": attempt.closed_at}).data

    @extend_schema_field(AttemptDocument(many=True))
    def get_attempts(self, intent: Intent) -> object:
        """Return every send, the first one first."""
        return AttemptDocument(
            Attempt.objects.filter(intent=intent).order_by("number"), many=True
        ).data

    @extend_schema_field(EchoDocument(allow_null=True))
    def get_echo(self, intent: Intent) -> object:
        """Return the newest observation of the intent's own object."""
        echo = newest_echo(intent)
        return None if echo is None else EchoDocument(echo).data

    @extend_schema_field(SetAsideDocument(allow_null=True))
    def get_set_aside(self, intent: Intent) -> object:
        """Return who set it aside, and when."""
        if intent.set_aside_at is None:
            return None
        by = {"kind": intent.set_aside_by_kind, "identity": intent.set_aside_by_identity}
        return {"at": serializers.DateTimeField().to_representation(intent.set_aside_at), "by": by}

    @extend_schema_field(EventDocument(many=True))
    def get_events(self, intent: Intent) -> object:
        """Return the timeline, the first event first."""
        return EventDocument(
            IntentEvent.objects.filter(intent=intent).order_by("number"), many=True
        ).data


class IntentPageDocument(Document):
    """One page of intents, newest first."""

    intents = IntentInShort(many=True)
    next = serializers.CharField(
        allow_null=True, help_text="The address of the next page; null on the last."
    )
    poll_from = serializers.DateTimeField(
        allow_null=True,
        help_text=(
            "On a first page: give it as `updated_since` the next time, and no change is missed; "
            "some come twice. Null on the pages that follow."
        ),
    )
