"""What Razviel asks of a platform, and the only words in which a platform may answer.

Promises: every answer says what is known of the effect (Echoed, Rejected, NotSent,
OutcomeUnknown), every read says whether it is complete, and every adapter declares its contract
(Capabilities), so that the core never asks for a platform's name.
Does not know any platform, any framework, or how an intent moves: facts in, facts out.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Protocol, TypeAlias

from integrations.money import Money


class FindsBy(StrEnum):
    """How an effect of ours is found again on the platform after a lost answer."""

    EXACT_MARKER = "exact_marker"
    NATURAL_KEY = "natural_key"
    TARGET_STATE = "target_state"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """The contract that an adapter declares for one kind of effect."""

    replays_keys: bool
    """Is a repeat with the same key answered with the first result?"""
    keys_kept_for: timedelta
    """How long after the first request does the platform remember a key? Zero where it has none."""
    keys_kept_for_source: str
    """Where that figure was read."""
    finds_by: FindsBy
    """How is our effect found again?"""
    settles_after: timedelta
    """How long may a lost request still take effect, plus the lag of reads?"""
    call_deadline: timedelta
    """Total time of one call: connect, write, and the whole answer, headers included."""


class Standing(StrEnum):
    """What a part's own status means for money: only a final success has moved it."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    OPEN = "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of an effect as the platform itself reports it: for a refund, one transaction."""

    identifier: str
    status: str
    """The platform's own word, uncompressed."""
    standing: Standing
    money: Money
    gateway: str
    parent: str | None
    """The payment that this part gives back, by its identifier; None for store credit."""
    shop: Money | None = None
    """The same amount in the shop's own currency, as the platform reckons it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One look at one external object: what the platform itself said of it, an echo's content."""

    object_type: str
    identifier: str
    target: str | None
    """The platform object acted on; None where the answer did not say."""
    markers: tuple[str, ...]
    """Every marker of ours that stands in it, as found; more than one, and no machine can tell."""
    author: str | None
    """The app or user that the platform names as its maker; None where the answer did not say."""
    created_at: datetime
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTrace:
    """What is kept of one call for evidence: no body, no credential."""

    http_status: int | None = None
    platform_request_id: str = ""
    api_version: str = ""
    """The version that answered, as the platform names it; empty where nothing answered."""
    duration_ms: int = 0


class BlockedBy(StrEnum):
    """Why a connection as a whole can't be written to: never the truth of an intent."""

    CREDENTIAL = "credential"
    """The platform does not accept the access token (401)."""
    PAYMENT = "payment"
    """The store is frozen until its bill is paid (402)."""
    PERMISSION = "permission"
    """The app's scopes or permissions do not allow it (403)."""
    LOCKED = "locked"
    """The platform has locked the store (423)."""
    SECURITY = "security"
    """The platform takes us for malicious (430): stop and look."""
    ADDRESS = "address"
    """The address is not the platform's (404, redirect, private or forbidden address)."""
    API_VERSION = "api_version"
    """Another API version answered than was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Echoed:
    """The platform answered with its identifier: the effect exists, and its parts say its state."""

    observation: Observation
    trace: CallTrace


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """The platform refused for a reason of business, and this attempt had no effect."""

    code: str
    """A short constant, e.g. `over_net_payment`, `order_not_found`, `rejected`."""
    message: str
    """The platform's own words, at most 500 characters."""
    read_first: bool
    """True where the refusal speaks of an earlier attempt: only a read may end the intent then."""
    trace: CallTrace


@dataclass(frozen=True, slots=True, kw_only=True)
class NotSent:
    """Provably nothing happened: an error before the first byte, or an answer that proves it."""

    reason: str
    retry_after: timedelta | None = None
    blocked_by: BlockedBy | None = None
    trace: CallTrace = CallTrace()


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeUnknown:
    """Bytes left and no answer can be read: neither failure nor success."""

    reason: str
    resend_allowed: bool = True
    """False where the platform says that the key served other parameters: then reads only."""
    trace: CallTrace = CallTrace()


SendOutcome: TypeAlias = Echoed | Rejected | NotSent | OutcomeUnknown


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestedPart:
    """One payment of an order that can still be given back, as the store suggests it.

    In the presentment currency.
    """

    parent: str
    gateway: str
    maximum: Money


class Restock(StrEnum):
    """What becomes of a line's items that are refunded."""

    CANCEL = "cancel"
    """They were not fulfilled yet and go back into stock."""
    RETURN = "return"
    """They were fulfilled, have come back, and go back into stock."""
    NO_RESTOCK = "no_restock"


class DutyShare(StrEnum):
    """How much of a duty is given back."""

    FULL = "full"
    PROPORTIONAL = "proportional"
    """In proportion to the quantities that are refunded of its line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundLine:
    """Some items of one line of an order."""

    line: str
    quantity: int
    restock: Restock
    location: str | None = None
    """Where they are put back, by identifier; None leaves that to the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundDuty:
    """One duty of an order."""

    duty: str
    share: DutyShare


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundBasis:
    """For what a refund is given, beside its amount; all empty for one by amount alone."""

    lines: tuple[RefundLine, ...] = ()
    shipping: Money | None = None
    """How much of it is for shipping, presentment currency."""
    duties: tuple[RefundDuty, ...] = ()

    @property
    def is_amount_alone(self) -> bool:
        """Say whether nothing but the amount is given."""
        return not self.lines and self.shipping is None and not self.duties


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderLine:
    """One line of an order: how many of its items may still be refunded."""

    identifier: str
    refundable: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderSnapshot:
    """An order as the store holds it at one moment.

    Personal data in it (`email`) is compared, never stored as evidence.
    """

    identifier: str
    name: str
    created_at: datetime
    cancelled_at: datetime | None
    customer: str | None
    email: str | None
    shop_currency: str
    presentment_currency: str
    received: Money
    """What the customer has paid before anything came back, presentment currency."""
    received_shop: Money
    """The same in the shop's currency, as the store reckons it."""
    suggested: tuple[SuggestedPart, ...]
    refunds: tuple[Observation, ...]
    """Every refund on the order, whoever made it, oldest first."""
    open_disputes: tuple[str, ...] | None
    """By identifier, `#` and the store's word for where it stands.

    None where the store does not say; an unknown status doesn't hold.
    """
    complete: bool
    """False where any list came back cut short: absence is then not proven."""
    trace: CallTrace
    lines: tuple[OrderLine, ...] = ()
    """Every line, where the read was made for a basis with lines; else none."""
    reckoned: Money | None = None
    """What the store itself reckons for the basis that the read was made for."""

    @property
    def dispute_open(self) -> bool | None:
        """Say whether a dispute is open; None where the store does not say."""
        return None if self.open_disputes is None else bool(self.open_disputes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """The read gave no evidence: an error, an order that we are not shown, or nothing readable."""

    reason: str
    blocked_by: BlockedBy | None = None
    retry_after: timedelta | None = None
    not_found: bool = False
    """True where the store answered cleanly that it shows no such order.

    Evidence for the gate, never of the absence of an effect.
    """
    trace: CallTrace = CallTrace()


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundPart:
    """How much of a refund goes back over which payment, or as store credit."""

    parent: str | None
    """The payment, by its identifier; None for store credit."""
    gateway: str
    money: Money


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundOrder:
    """One refund as gated: what will be frozen into bytes. Holds no personal data."""

    order: str
    parts: tuple[RefundPart, ...]
    """Over payments, or one part without a payment: store credit."""
    marker: str
    key: str
    notify: bool
    basis: RefundBasis = RefundBasis()


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenRequest:
    """The exact request, stored before the first send so that each resend is byte-identical."""

    document: str
    api_version: str
    body: bytes

    @property
    def digest(self) -> str:
        """Return the SHA-256 (hex) of document, version and body."""
        content = b"\0".join((self.document.encode(), self.api_version.encode(), self.body))
        return sha256(content).hexdigest()


class Unusable(Exception):
    """A connection's credentials are missing or can't be opened: connect it again."""


class Fenced(Exception):
    """The last check before the first byte said no: this attempt sent nothing, and never will."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountIdentity:
    """Which account answered, and what our app may do there."""

    identifier: str
    """The account's own unguessable-by-name identifier, e.g. `gid://shopify/Shop/1`."""
    name: str
    domain: str
    app: str
    """Our app on that account, as the platform names it in records that we made."""
    scopes: frozenset[str]
    api_version: str
    currency: str
    time_zone: str


class StorePort(Protocol):
    """A store: an order can be read, and a refund can be frozen and sent."""

    @property
    def refund_capabilities(self) -> Capabilities:
        """Return the declared contract for refunds."""

    def identify(self) -> AccountIdentity | Unreadable:
        """Read which account answers, with our app, its scopes and the API version it speaks."""

    def read_order(
        self, *, order: str, basis: RefundBasis | None = None
    ) -> OrderSnapshot | Unreadable:
        """Read one order with all its refunds and their transactions.

        Args:
            order: By its identifier.
            basis: A refund to be reckoned by the store, with the lines that it names; None where
                nobody is about to refund.
        """

    def freeze_refund(self, *, refund: RefundOrder) -> FrozenRequest:
        """Turn a refund into the exact bytes to send. Pure: the same refund, the same bytes."""

    def send_refund(
        self, *, frozen: FrozenRequest, before_write: Callable[[], None]
    ) -> SendOutcome:
        """Send once, on a fresh connection.

        Args:
            frozen: What `freeze_refund` made, as stored.
            before_write: Called after connecting and before the first byte; raises `Fenced` to
                stop, which yields NotSent.
        """
