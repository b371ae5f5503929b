"""Shopify as a store: an order is read, a refund is frozen and sent.

Promises: implements `StorePort`. An identifier in an answer, of the right type, stands above every
error beside it; without one only what the error table proves is said. A read is complete, or says
that it is not.
Does not know intents, or when to send again.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta

from integrations.http.client import HttpClient
from integrations.http.exchange import Reach
from integrations.platforms.shopify.account import ShopifyAccount
from integrations.platforms.shopify.answers import (
    judge_errors,
    judge_status,
    judge_user_errors,
)
from integrations.platforms.shopify.client import Heard, Refusal, Reply, ShopifyClient, body_of
from integrations.platforms.shopify.documents import (
    API_VERSION,
    IDENTIFY,
    Document,
)
from integrations.platforms.shopify.freezing import STORE_CREDIT_GATEWAY, freeze
from integrations.platforms.shopify.order_reading import OrderReader, unreadable
from integrations.platforms.shopify.parsing import (
    Fields,
    Unparseable,
    fields,
    identity,
    observation,
    optional_gid,
)
from integrations.ports import (
    AccountIdentity,
    Capabilities,
    Echoed,
    FindsBy,
    FrozenRequest,
    NotSent,
    OrderSnapshot,
    OutcomeUnknown,
    RefundBasis,
    RefundOrder,
    SendOutcome,
    Unreadable,
)

__all__ = ["REFUND_CAPABILITIES", "STORE_CREDIT_GATEWAY", "ShopifyAccount", "ShopifyAdapter"]

REFUND_CAPABILITIES = Capabilities(
    replays_keys=True,
    # From the original request; afterwards the same key is a new refund.
    keys_kept_for=timedelta(hours=24),
    keys_kept_for_source=(
        "https://shopify.dev/docs/api/usage/implementing-idempotency "
        "(as quoted by two independent projects, read 2026-11-30)"
    ),
    # The note of a refund is returned by later reads unchanged; it can't be searched, but an order
    # lists its refunds. https://github.com/airhorns/shopify-draft-proxy
    # (refund-create-full-parity.json), read 2026-11-30
    finds_by=FindsBy.EXACT_MARKER,
    # Ten minutes for a request that is under way, two for reads that lag: our assumption, not
    # Shopify's word.
    settles_after=timedelta(minutes=12),
    call_deadline=timedelta(seconds=25),
)


class ShopifyAdapter:
    """One shop, through one app's token.

    Args:
        account: The shop.
        http: How to call it; by default as the account allows.
        capabilities: The declared contract; its deadline is the one that is kept.
    """

    def __init__(
        self,
        account: ShopifyAccount,
        *,
        http: HttpClient | None = None,
        capabilities: Capabilities = REFUND_CAPABILITIES,
    ) -> None:
        self._capabilities = capabilities
        self._client = ShopifyClient(
            account=account,
            http=http or HttpClient(reach=Reach(allow_private=account.allow_private)),
            deadline_seconds=capabilities.call_deadline.total_seconds(),
        )

    @property
    def refund_capabilities(self) -> Capabilities:
        """Return the declared contract for refunds."""
        return self._capabilities

    def identify(self) -> AccountIdentity | Unreadable:
        """Read which shop answers, with our app, its scopes and the version that answered."""
        reply = self._ask(IDENTIFY, {})
        if isinstance(reply, Unreadable):
            return reply
        if reply.errors:
            return unreadable(judge_errors(reply, root="shop"))
        try:
            return identity(fields(reply.data, "data"), trace=reply.trace)
        except Unparseable as problem:
            return Unreadable(reason=f"unparseable: {problem}", trace=reply.trace)

    def read_order(
        self, *, order: str, basis: RefundBasis | None = None
    ) -> OrderSnapshot | Unreadable:
        """Read one order with all its refunds and their transactions.

        Args:
            order: By its identifier.
            basis: A refund to be reckoned by the store, with the lines that it names; None where
                nobody is about to refund.
        """
        return OrderReader(ask=self._ask).read(order=order, basis=basis)

    def freeze_refund(self, *, refund: RefundOrder) -> FrozenRequest:
        """Turn a refund into the exact bytes to send.

        Raises:
            ValueError: It is none that any store could grant; the message says why.
        """
        return freeze(refund)

    def send_refund(
        self, *, frozen: FrozenRequest, before_write: Callable[[], None]
    ) -> SendOutcome:
        """Send once, on a fresh connection, and say what is known."""
        heard = self._client.post(
            body=frozen.body, api_version=frozen.api_version, before_write=before_write
        )
        match heard:
            case Reply():
                return _refund_outcome(heard)
            case Refusal():
                return judge_status(heard)
            case NotSent() | OutcomeUnknown():
                return heard

    def _ask(self, document: Document, variables: Mapping[str, object]) -> Reply | Unreadable:
        heard: Heard = self._client.post(body=body_of(document, variables), api_version=API_VERSION)
        match heard:
            case Reply():
                return heard
            case Refusal():
                return unreadable(judge_status(heard))
            case NotSent() | OutcomeUnknown():
                return unreadable(heard)


def _refund_outcome(reply: Reply) -> SendOutcome:
    payload = (reply.data or {}).get("refundCreate")
    given = payload if isinstance(payload, dict) else {}
    if given.get("refund") is not None:
        return _echo(given, reply)
    if reply.errors:
        return judge_errors(reply, root="refundCreate")
    user_errors = given.get("userErrors")
    if isinstance(user_errors, list) and user_errors:
        return judge_user_errors(user_errors, trace=reply.trace)
    return OutcomeUnknown(reason="no_identifier", trace=reply.trace)


def _echo(payload: Fields, reply: Reply) -> Echoed | OutcomeUnknown:
    try:
        order = optional_gid(payload.get("order"), "Order")
        seen = observation(fields(payload["refund"], "refund"), order=order)
    except Unparseable as problem:
        return OutcomeUnknown(reason=f"unparseable: {problem}", trace=reply.trace)
    return Echoed(observation=seen, trace=reply.trace)
