"""Shopify as a store: an order is read, a refund is frozen and sent.

Promises: implements `StorePort`. An identifier in an answer, of the right type, stands above every
error beside it; without one only what the error table proves is said. A read is complete, or says
that it is not.
Does not know intents, or when to send again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from integrations.http.client import HttpClient
from integrations.http.exchange import Reach
from integrations.platforms.shopify.account import ShopifyAccount
from integrations.platforms.shopify.answers import (
    code_of,
    judge_errors,
    judge_status,
    judge_user_errors,
    path_of,
)
from integrations.platforms.shopify.client import Heard, Refusal, Reply, ShopifyClient, body_of
from integrations.platforms.shopify.documents import (
    API_VERSION,
    IDENTIFY,
    READ_AGREEMENTS,
    READ_ORDER,
    REFUND_CREATE,
    Document,
)
from integrations.platforms.shopify.parsing import (
    Fields,
    Unparseable,
    fields,
    has_more,
    identity,
    makers,
    observation,
    optional_gid,
    rows,
    snapshot,
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
    RefundOrder,
    Rejected,
    SendOutcome,
    Unreadable,
)

__all__ = ["REFUND_CAPABILITIES", "ShopifyAccount", "ShopifyAdapter"]

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

_AGREEMENT_PAGES_MAX = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class _Size:
    """How much of an order is asked for at once."""

    refunds: int
    parts: int
    """Transactions of one refund."""

    def cuts(self, order: Fields) -> bool:
        """Say whether the order may hold more than was asked for."""
        listed = rows(order.get("refunds"), "refunds")
        return len(listed) >= self.refunds or any(
            has_more(fields(refund.get("transactions"), "transactions")) for refund in listed
        )


# Nested lists multiply: 250 refunds of 50 transactions could be reckoned as 12,500 points, and one
# query may cost 1,000. https://shopify.dev/docs/apps/build/apis/graphql-admin/rate-limits
# (as quoted in a stored copy, read 2026-11-30)
_SMALL = _Size(refunds=25, parts=10)
_LARGE = _Size(refunds=250, parts=50)
# What may be hidden from an app without making the order unreadable. The first two are lists that
# can't be null, so the order is asked for again without them; the others come as null beside the
# error.
_SWITCHES = {"agreements": "withAgreements", "disputes": "withDisputes"}
_MAY_BE_HIDDEN = {"agreements", "customer", "email"}


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
            return _unreadable(judge_errors(reply, root="shop"))
        try:
            return identity(fields(reply.data, "data"), trace=reply.trace)
        except Unparseable as problem:
            return Unreadable(reason=f"unparseable: {problem}", trace=reply.trace)

    def read_order(self, *, order: str) -> OrderSnapshot | Unreadable:
        """Read one order with all its refunds and their transactions."""
        reply = self._ask_for_order(order, _SMALL)
        try:
            if isinstance(reply, Reply) and _is_cut(reply, _SMALL):
                return self._read(self._ask_for_order(order, _LARGE), _LARGE, asked=order)
        except Unparseable as problem:
            return Unreadable(reason=f"unparseable: {problem}", trace=reply.trace)
        return self._read(reply, _SMALL, asked=order)

    def _read(
        self, reply: Reply | Unreadable, size: _Size, *, asked: str
    ) -> OrderSnapshot | Unreadable:
        if isinstance(reply, Unreadable):
            return reply
        said = reply.data or {}
        found = said.get("order")
        if found is None and "order" in said and not reply.errors:
            return Unreadable(reason="order_not_found", not_found=True, trace=reply.trace)
        try:
            return self._snapshot(fields(found, "order"), reply, size, asked=asked)
        except Unparseable as problem:
            return Unreadable(reason=f"unparseable: {problem}", trace=reply.trace)

    def freeze_refund(self, *, refund: RefundOrder) -> FrozenRequest:
        """Turn a refund into the exact bytes to send.

        Raises:
            ValueError: No part, parts in several currencies, or an amount that moves nothing.
        """
        currencies = {part.money.currency for part in refund.parts}
        if len(currencies) != 1 or any(part.money.amount <= 0 for part in refund.parts):
            raise ValueError("A refund has parts in one currency, each more than nothing.")
        # The order of these fields is part of what the platform compares under a key: it never
        # changes. `processedAt` is left out, since it enters the comparison and falsifies matching
        # by time.
        given = {
            "orderId": refund.order,
            "currency": currencies.pop(),
            "note": refund.marker,
            "notify": refund.notify,
            "transactions": [
                {
                    "orderId": refund.order,
                    "parentId": part.parent,
                    "gateway": part.gateway,
                    "kind": "REFUND",
                    "amount": part.money.canonical(),
                }
                for part in refund.parts
            ],
        }
        return FrozenRequest(
            document=REFUND_CREATE.text,
            api_version=API_VERSION,
            body=body_of(REFUND_CREATE, {"input": given, "key": refund.key}),
        )

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
                return _unreadable(judge_status(heard))
            case NotSent() | OutcomeUnknown():
                return _unreadable(heard)

    def _ask_for_order(self, order: str, size: _Size) -> Reply | Unreadable:
        """Ask for all of it, and again without the lists that this app may not see."""
        switches = dict.fromkeys(_SWITCHES.values(), True)
        while True:
            sizes = {"refunds": size.refunds, "parts": size.parts}
            reply = self._ask(READ_ORDER, {"id": order, **sizes, **switches})
            if isinstance(reply, Unreadable):
                return reply
            hidden = {switch for name, switch in _SWITCHES.items() if _denied_whole(reply, name)}
            still_asked = {switch for switch in hidden if switches[switch]}
            if not still_asked:
                break
            switches.update(dict.fromkeys(still_asked, False))
        if all(_is_tolerable(error) for error in reply.errors):
            return reply
        return _unreadable(judge_errors(reply, root="order"))

    def _snapshot(
        self, order: Fields, reply: Reply, size: _Size, *, asked: str
    ) -> OrderSnapshot | Unreadable:
        if order.get("id") != asked:
            raise Unparseable("another order than was asked for")
        agreements = self._all_agreements(order)
        if isinstance(agreements, Unreadable):
            return agreements
        made_by, complete = agreements
        return snapshot(
            order,
            refunds_asked=size.refunds,
            makers=made_by,
            agreements_complete=complete,
            trace=reply.trace,
        )

    def _all_agreements(self, order: Fields) -> tuple[dict[str, str | None], bool] | Unreadable:
        """Page through an order's agreements: who made each refund, and whether that was all."""
        made_by: dict[str, str | None] = {}
        if "agreements" not in order:
            return made_by, True
        page = fields(order["agreements"], "agreements")
        for _ in range(_AGREEMENT_PAGES_MAX):
            made_by |= makers(rows(page.get("nodes"), "nodes"))
            if not has_more(page):
                return made_by, True
            following = self._following_agreements(str(order["id"]), page)
            if isinstance(following, Unreadable):
                return following
            page = following
        return made_by, False

    def _following_agreements(self, order: str, connection: Fields) -> Fields | Unreadable:
        after = fields(connection.get("pageInfo"), "pageInfo").get("endCursor")
        reply = self._ask(READ_AGREEMENTS, {"id": order, "after": after})
        if isinstance(reply, Unreadable):
            return reply
        if not all(_is_tolerable(error) for error in reply.errors):
            return _unreadable(judge_errors(reply, root="order"))
        found = fields((reply.data or {}).get("order"), "order")
        return fields(found.get("agreements"), "agreements")


def _is_cut(reply: Reply, size: _Size) -> bool:
    found = (reply.data or {}).get("order")
    return found is not None and size.cuts(fields(found, "order"))


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


def _unreadable(outcome: Rejected | NotSent | OutcomeUnknown) -> Unreadable:
    match outcome:
        case Rejected():
            return Unreadable(reason=outcome.code, trace=outcome.trace)
        case NotSent():
            return Unreadable(
                reason=outcome.reason,
                blocked_by=outcome.blocked_by,
                retry_after=outcome.retry_after,
                trace=outcome.trace,
            )
        case OutcomeUnknown():
            return Unreadable(reason=outcome.reason, trace=outcome.trace)


def _denied_whole(reply: Reply, name: str) -> bool:
    return any(
        code_of(error) == "ACCESS_DENIED" and path_of(error) == ("order", name)
        for error in reply.errors
    )


def _is_tolerable(error: Mapping[str, object]) -> bool:
    """Return whether an error hides only what an order can be judged without."""
    path = path_of(error)
    hidden = path[:1] == ("order",) and len(path) > 1 and path[1] in _MAY_BE_HIDDEN
    return hidden and code_of(error) == "ACCESS_DENIED"
