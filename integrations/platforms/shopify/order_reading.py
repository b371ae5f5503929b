"""One order, read whole: as many questions as it takes, or the word that it isn't whole.

Promises: a refund that the order's list or its agreements name is in the snapshot, or the snapshot
says that it is not complete. Each question stays below what one query may cost, reckoned at its
worst. What the app may not see costs a fact and not the order.
Does not know when to ask again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from integrations.platforms.shopify.answers import code_of, judge_errors, path_of
from integrations.platforms.shopify.client import Reply
from integrations.platforms.shopify.documents import (
    LIST_REFUNDS,
    READ_AGREEMENTS,
    READ_LINES,
    READ_ORDER,
    READ_REFUNDS,
    Document,
)
from integrations.platforms.shopify.freezing import duty_input, line_input
from integrations.platforms.shopify.parsing import (
    Fields,
    Unparseable,
    fields,
    gid,
    has_more,
    lines,
    makers,
    rows,
    snapshot,
)
from integrations.ports import (
    NotSent,
    OrderLine,
    OrderSnapshot,
    OutcomeUnknown,
    RefundBasis,
    Rejected,
    Unreadable,
)

Ask = Callable[[Document, Mapping[str, object]], Reply | Unreadable]

# Nested lists multiply: 250 refunds of 50 transactions could be reckoned as 12,500 objects, and one
# query may cost 1,000 points. https://shopify.dev/docs/apps/build/apis/graphql-admin/rate-limits
# (as quoted in a stored copy, read 2026-11-30). Hence few refunds of few parts at first, and the
# others by their identifiers, in batches; the few of many parts one by one.
REFUNDS_FIRST = 15
PARTS_FIRST = 5
REFUNDS_BATCH = 30
PARTS_MAX = 150
# A plain list can't be paged and gives at most so many.
# https://shopify.dev/docs/api/admin-graphql (by recordings and the schema, read 2026-11-30)
LISTED_MAX = 250
_PAGES_MAX = 20
# What may be hidden from an app without making the order unreadable. The first two are lists that
# can't be null, so the order is asked for again without them; the others come as null beside the
# error.
_SWITCHES = {"agreements": "withAgreements", "disputes": "withDisputes"}
_MAY_BE_HIDDEN = {"agreements", "customer", "email"}
_RECKONED = "reckoned"


class _NoEvidence(Exception):
    """An answer on the way told nothing: the read ends here."""

    def __init__(self, unreadable: Unreadable) -> None:
        super().__init__(unreadable.reason)
        self.unreadable = unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    """Whose refunds the agreements name, by identifier, and whether those are all."""

    makers: dict[str, str | None]
    shown: bool
    """False where the app may not see them; they name nothing then."""
    whole: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderReader:
    """Reads orders of one shop.

    Args:
        ask: Sends one question, and says what came of it.
    """

    ask: Ask

    def read(self, *, order: str, basis: RefundBasis | None) -> OrderSnapshot | Unreadable:
        """Read one order with all its refunds and their transactions."""
        reply = self._ask_for_order(order, basis)
        if isinstance(reply, Unreadable):
            return reply
        said = reply.data or {}
        found = said.get("order")
        if found is None and "order" in said and not reply.errors:
            return Unreadable(reason="order_not_found", not_found=True, trace=reply.trace)
        try:
            return self._snapshot(fields(found, "order"), reply, asked=order)
        except _NoEvidence as stopped:
            return stopped.unreadable
        except Unparseable as problem:
            return Unreadable(reason=f"unparseable: {problem}", trace=reply.trace)

    def _ask_for_order(self, order: str, basis: RefundBasis | None) -> Reply | Unreadable:
        """Ask for all of it, and again without the lists that this app may not see."""
        asked = {"id": order, "refunds": REFUNDS_FIRST, "parts": PARTS_FIRST, **_reckoning(basis)}
        switches = dict.fromkeys(_SWITCHES.values(), True)
        while True:
            reply = self.ask(READ_ORDER, {**asked, **switches})
            if isinstance(reply, Unreadable):
                return reply
            hidden = {switch for name, switch in _SWITCHES.items() if _denied_whole(reply, name)}
            still_asked = {switch for switch in hidden if switches[switch]}
            if not still_asked:
                break
            switches.update(dict.fromkeys(still_asked, False))
        if all(_is_tolerable(error) for error in reply.errors):
            return reply
        return unreadable(judge_errors(reply, root="order"))

    def _snapshot(self, order: Fields, reply: Reply, *, asked: str) -> OrderSnapshot:
        if order.get("id") != asked:
            raise Unparseable("another order than was asked for")
        named = self._all_agreements(order)
        refunds, complete = self._all_refunds(order, named)
        return snapshot(
            order,
            refunds=refunds,
            makers=named.makers,
            lines=self._all_lines(order),
            complete=complete,
            trace=reply.trace,
        )

    def _all_agreements(self, order: Fields) -> _Named:
        """Page through an order's agreements: who made each refund, and whether that was all."""
        made_by: dict[str, str | None] = {}
        if "agreements" not in order:
            return _Named(makers=made_by, shown=False, whole=True)
        pages, whole = self._pages(order, "agreements", READ_AGREEMENTS)
        for page in pages:
            made_by |= makers(rows(page.get("nodes"), "nodes"))
        return _Named(makers=made_by, shown=True, whole=whole)

    def _all_lines(self, order: Fields) -> tuple[OrderLine, ...]:
        if "lineItems" not in order:
            return ()
        pages, whole = self._pages(order, "lineItems", READ_LINES)
        if not whole:
            raise Unparseable("lines without an end")
        return tuple(line for page in pages for line in lines(page))

    def _pages(self, order: Fields, name: str, following: Document) -> tuple[list[Fields], bool]:
        """Read a connection page by page, and say whether its end was reached."""
        pages = [fields(order[name], name)]
        while has_more(pages[-1]) and len(pages) <= _PAGES_MAX:
            after = fields(pages[-1].get("pageInfo"), "pageInfo").get("endCursor")
            found = self._answered(following, {"id": order["id"], "after": after}, root="order")
            pages.append(fields(fields(found, "order").get(name), name))
        return pages, not has_more(pages[-1])

    def _all_refunds(self, order: Fields, named: _Named) -> tuple[list[Fields], bool]:
        """Gather every refund that the order's list or its agreements name."""
        listed = rows(order.get("refunds"), "refunds")
        identifiers, list_is_whole = [_refund_id(row) for row in listed], True
        if len(listed) >= REFUNDS_FIRST:
            identifiers, list_is_whole = self._identifiers(str(order["id"]))
        wanted = list(dict.fromkeys([*map(_refund_id, listed), *identifiers, *named.makers]))
        found = {_refund_id(row): row for row in listed}
        found |= self._fetched([one for one in wanted if one not in found])
        refunds = [self._with_all_parts(one, row) for one, row in found.items()]
        # What a list that may be cut doesn't show, the agreements do: if they know all it shows.
        all_named = list_is_whole or (named.shown and set(identifiers) <= named.makers.keys())
        complete = named.whole and all_named and found.keys() >= set(wanted)
        return refunds, complete

    def _identifiers(self, order: str) -> tuple[list[str], bool]:
        """List an order's refunds by identifier, and say whether those are surely all."""
        found = self._answered(LIST_REFUNDS, {"id": order}, root="order")
        listed = rows(fields(found, "order").get("refunds"), "refunds")
        return [_refund_id(row) for row in listed], len(listed) < LISTED_MAX

    def _fetched(
        self, identifiers: Sequence[str], *, parts: int = PARTS_FIRST
    ) -> dict[str, Fields]:
        """Fetch refunds by identifier; those that the store doesn't give are left out."""
        found: dict[str, Fields] = {}
        for start in range(0, len(identifiers), REFUNDS_BATCH):
            batch = identifiers[start : start + REFUNDS_BATCH]
            found |= self._batch(batch, parts=parts)
        return found

    def _batch(self, identifiers: Sequence[str], *, parts: int) -> dict[str, Fields]:
        reply = self.ask(READ_REFUNDS, {"ids": identifiers, "parts": parts})
        if isinstance(reply, Unreadable):
            raise _NoEvidence(reply)
        given = (reply.data or {}).get("nodes")
        paths = [path_of(error) for error in reply.errors]
        if any(path[:1] != ("nodes",) or len(path) < 2 for path in paths) or given is None:
            _stop(reply, root="nodes")
        # A refund that is told in part (its note hidden, say) is none that was read.
        spoiled = {path[1] for path in paths}
        if not isinstance(given, list) or len(given) != len(identifiers):
            raise Unparseable("nodes is no list of what was asked for")
        return {
            one: _same(one, fields(row, "nodes"))
            for index, (one, row) in enumerate(zip(identifiers, given, strict=True))
            if row is not None and index not in spoiled
        }

    def _with_all_parts(self, identifier: str, refund: Fields) -> Fields:
        if not has_more(fields(refund.get("transactions"), "transactions")):
            return refund
        return self._fetched([identifier], parts=PARTS_MAX).get(identifier, refund)

    def _answered(
        self, document: Document, variables: Mapping[str, object], *, root: str
    ) -> object:
        reply = self.ask(document, variables)
        if isinstance(reply, Unreadable):
            raise _NoEvidence(reply)
        if not all(_is_tolerable(error) for error in reply.errors):
            _stop(reply, root=root)
        return (reply.data or {}).get(root)


def unreadable(outcome: Rejected | NotSent | OutcomeUnknown) -> Unreadable:
    """Say of a question what an outcome says: it gave no evidence."""
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


def _reckoning(basis: RefundBasis | None) -> dict[str, object]:
    """Write what the store is to reckon; for an amount alone there is nothing to reckon."""
    if basis is None or basis.is_amount_alone:
        return {"withBasis": False, "withLines": False}
    # Like every amount that such an order takes, shipping is in the presentment currency: our
    # inference from how refundCreate reads amounts (recorded), not Shopify's word.
    return {
        "withBasis": True,
        "withLines": bool(basis.lines),
        "lines": [line_input(line) for line in basis.lines],
        "shipping": None if basis.shipping is None else basis.shipping.canonical(),
        "duties": [duty_input(duty) for duty in basis.duties],
    }


def _refund_id(row: Fields) -> str:
    return gid(row.get("id"), "Refund")


def _same(identifier: str, row: Fields) -> Fields:
    if row.get("id") != identifier:
        raise Unparseable("another refund than was asked for")
    return row


def _stop(reply: Reply, *, root: str) -> NoReturn:
    if reply.errors:
        raise _NoEvidence(unreadable(judge_errors(reply, root=root)))
    raise Unparseable(f"{root} is not in the answer")


def _denied_whole(reply: Reply, name: str) -> bool:
    return any(
        code_of(error) == "ACCESS_DENIED" and path_of(error) == ("order", name)
        for error in reply.errors
    )


def _is_tolerable(error: Mapping[str, object]) -> bool:
    """Return whether an error hides only what an order can be judged without."""
    path = path_of(error)
    if path[:1] != ("order",) or len(path) < 2:
        return False
    # Without it the order says that nothing was reckoned, which the gate can't take for a yes.
    if path[1] == _RECKONED:
        return True
    return path[1] in _MAY_BE_HIDDEN and code_of(error) == "ACCESS_DENIED"
