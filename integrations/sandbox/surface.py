"""The sandbox as tests and the demo hold it: the same methods in process and over HTTP.

Promises: every method is one command of `control`; records are read-only copies. Knows only how to
perform a command, not where.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from integrations.sandbox.faults import FaultKind
from integrations.sandbox.ledger import Effect, Received
from integrations.sandbox.records import (
    ClockControls,
    DeclaredFault,
    LedgerView,
    MadeRefund,
    Payment,
    Perform,
    PlacedOrder,
)

APP = "Razviel"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShopControls:
    """One simulated shop."""

    perform: Perform
    url: str
    """What stands before `/admin/...`: the base URL of a connection."""
    name: str
    token: str
    app_id: str

    def with_token(
        self, token: str, *, scopes: Sequence[str] | None = None, app: str = APP
    ) -> "ShopControls":
        """Install an app, or renew its token and scopes; returns the shop as that app sees it."""
        made = self._do("app", token=token, title=app, scopes=_listed(scopes))
        return replace(self, token=token, app_id=made["id"])

    def revoke_token(self) -> None:
        """Make the token invalid, as uninstalling does."""
        self._do("revoke", token=self.token)

    def gateway(
        self,
        name: str,
        *,
        answers: str = "SUCCESS",
        turns: str | None = None,
        after: timedelta = timedelta(0),
        error_code: str | None = None,
    ) -> None:
        """Let a gateway answer refunds with a status, and turn it after a while, if at all."""
        seconds = after.total_seconds()
        self._do(
            "gateway",
            name=name,
            answers=answers,
            turns=turns,
            after_seconds=seconds,
            error_code=error_code,
        )

    def order(
        self,
        *,
        total: str | Decimal = "100.00",
        payments: Sequence[Payment] | None = None,
        gateway: str = "manual",
        created_at: datetime | None = None,
        lines: Sequence[dict[str, object]] | None = None,
        **details: object,
    ) -> PlacedOrder:
        """Place an order, by default paid in full at once by one payment.

        Args:
            payments: what was paid; an empty list for an unpaid order.
            gateway: of the one payment, where `payments` is left out.
            lines: each with `title`, `quantity`, `price`, `duty` (of the whole line).
            details: `currency` (presentment), `rate` (shop money per presentment unit), `email`,
                `customer` (a name, or None for a guest), `shipping`, `duty` (of the one line,
                where `lines` is left out), `test`, `fulfillment`.
        """
        paid = [Payment(amount=str(total), gateway=gateway)] if payments is None else payments
        told = self._do(
            "order",
            total=str(total),
            payments=[
                {"amount": p.amount, "gateway": p.gateway, "kind": p.kind, "status": p.status}
                for p in paid
            ],
            created_at=created_at.isoformat() if created_at else None,
            lines=list(lines) if lines else None,
            **details,
        )
        return PlacedOrder(
            id=told["id"],
            name=told["name"],
            payments=tuple(told["payments"]),
            lines=tuple(told["lines"]),
            duties=tuple(told["duties"]),
            customer=told["customer"],
        )

    def fault(self, kind: FaultKind | str, **details: object) -> DeclaredFault:
        """Declare a fault for the next matching request.

        Args:
            kind: see `FaultKind`.
            details: `operation` ("refundCreate", "order" …; any if left out), `containing` (text of
                the body), `skip`, `times` (None: always), and what the kind needs: `status`,
                `retry_after_seconds`, `delay` (timedelta), `amount`, `currency`, `version`, `url`,
                `nulls`, `other`, `keep`, `interval_seconds`, `size_bytes`.

        Raises:
            ControlRefused: unknown detail, or a delay over the declared lateness bound.
        """
        delay = details.pop("delay", None)
        if isinstance(delay, timedelta):
            details["delay_seconds"] = delay.total_seconds()
        return DeclaredFault(self.perform, self._do("fault", kind=str(kind), **details)["number"])

    def clear_faults(self) -> None:
        """Drop what faults are left, and let go what hangs."""
        self._do("clear_faults")

    def keys(
        self,
        *,
        remember: bool | None = None,
        carrier: str | None = None,
        after_refusal: str | None = None,
        kept_for: timedelta | None = None,
        forget_now: bool = False,
    ) -> None:
        """Say how keys are treated from now on; `remember=False` forgets every key."""
        seconds = None if kept_for is None else kept_for.total_seconds()
        self._do(
            "keys",
            remember=remember,
            carrier=carrier,
            after_refusal=after_refusal,
            kept_for_seconds=seconds,
            forget_now=forget_now,
        )

    def throttle(self, **bucket: object) -> None:
        """Set the query cost bucket: `available`, `maximum`, `per_second`, `unlimited`."""
        self._do("throttle", **bucket)

    def serve_version(self, version: str | None) -> None:
        """Answer as this API version whatever is asked for; None for what is asked."""
        self._do("version", served=version)

    def read_lag(self, lag: timedelta) -> None:
        """Hide refunds from reads while they are younger than this."""
        self._do("read_lag", seconds=lag.total_seconds())

    def refund_by_staff(
        self,
        order: str,
        *,
        amount: str,
        note: str | None = None,
        app_id: str | None = None,
        payment: str | None = None,
    ) -> MadeRefund:
        """Refund as staff does in the admin (no app), or as another app does."""
        return _made(
            self._do(
                "refund", order=order, amount=amount, note=note, app_id=app_id, payment=payment
            )
        )

    def refunds_by_staff(
        self,
        order: str,
        *,
        amount: str,
        notes: Sequence[str | None],
        app_id: str | None = None,
    ) -> tuple[MadeRefund, ...]:
        """Make many equal refunds at once over the order's first payment, one a note."""
        told = self._do("refunds", order=order, amount=amount, notes=list(notes), app_id=app_id)
        return tuple(_made(one) for one in told)

    def settle_refund(
        self,
        refund: str,
        status: str,
        *,
        transaction: str | None = None,
        error_code: str | None = None,
    ) -> MadeRefund:
        """Give a refund's transactions, or one of them, another status."""
        return _made(
            self._do(
                "settle",
                refund=refund,
                status=status,
                transaction=transaction,
                error_code=error_code,
            )
        )

    def retry_refund(self, refund: str) -> MadeRefund:
        """Retry by hand what failed at the gateway: this time it succeeds."""
        return _made(self._do("retry", refund=refund))

    def cancel_order(self, order: str, *, reason: str = "CUSTOMER") -> None:
        """Cancel an order as staff does, without a refund."""
        self._do("cancel", order=order, reason=reason)

    def open_dispute(
        self, order: str, *, kind: str = "CHARGEBACK", status: str = "NEEDS_RESPONSE"
    ) -> str:
        """Open a dispute on an order; returns its identifier."""
        return str(self._do("dispute", order=order, kind=kind, status=status)["id"])

    def effects(self, *, order: str | None = None) -> tuple[Effect, ...]:
        """Return the refunds that this shop holds."""
        return LedgerView(self.perform).effects(shop=self.name, order=order)

    def requests(self, *, operation: str | None = None) -> tuple[Received, ...]:
        """Return the requests that reached this shop."""
        return LedgerView(self.perform).requests(shop=self.name, operation=operation)

    def _do(self, command: str, **arguments: object) -> Any:  # JSON of the command's own shape
        return self.perform(command, {"shop": self.name, **arguments})


class SandboxControls:
    """All of a sandbox."""

    def __init__(self, perform: Perform, *, url: str) -> None:
        self._perform = perform
        self.url = url
        self.clock = ClockControls(perform)
        self.ledger = LedgerView(perform)

    def shop(
        self,
        name: str,
        *,
        token: str | None = None,
        scopes: Sequence[str] | None = None,
        currency: str = "EUR",
        app: str = APP,
    ) -> ShopControls:
        """Open a shop with our app installed, or take up the one that is open.

        Args:
            token: of our app; left out, the one it has, or `shpat_sandbox`.
            scopes: granted to it; left out, those it has, or all that refunds need.
            currency: of a shop that is not open yet.
        """
        self._perform("shop", {"name": name, "currency": currency})
        granted = _listed(scopes)
        made = self._perform("app", {"shop": name, "token": token, "title": app, "scopes": granted})
        return ShopControls(
            perform=self._perform,
            url=f"{self.url}/shops/{name}",
            name=name,
            token=made["token"],
            app_id=made["id"],
        )

    def declare_lateness(self, bound: timedelta) -> None:
        """Declare how late a request whose connection dropped may still be executed."""
        self._perform("lateness", {"bound_seconds": bound.total_seconds()})

    def break_lateness_bound(self) -> None:
        """Let requests be executed later than was declared: I1's assumption no longer holds."""
        self._perform("lateness", {"bound_seconds": None})

    def release(self) -> None:
        """Let go everything that hangs."""
        self._perform("release", {})


def _listed(scopes: Sequence[str] | None) -> list[str] | None:
    return None if scopes is None else list(scopes)


def _made(told: dict[str, Any]) -> MadeRefund:
    return MadeRefund(
        id=told["id"], transactions={part["id"]: part["status"] for part in told["transactions"]}
    )
