"""What Shopify's refusals prove: the error table, in code.

Promises: "not sent" and "rejected" are said only of answers that prove that nothing was executed;
an answer with several errors proves no more than the weakest of them; whatever is not in the
tables is unknown. Order of judging: status, top-level errors, user errors (an identifier in the
data, which stands above all of them, is the adapter's to find).
Sources: reference/shopify.md section 4, row by row, with Shopify's pages as named there (read
2026-11-30).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import IntEnum
from math import ceil
from types import MappingProxyType

from integrations.platforms.shopify.client import Refusal, Reply
from integrations.platforms.shopify.words import kept
from integrations.ports import BlockedBy, CallTrace, NotSent, OutcomeUnknown, Rejected

_MESSAGE_MAX = 500
_CODE = re.compile(r"[A-Za-z0-9_]{1,80}")
_WAIT_DEFAULT_SECONDS = 1
_WAIT_MAX_SECONDS = 24 * 3600


class Proves(IntEnum):
    """How much an error says; of several, the lowest counts."""

    NOTHING = 0
    REJECTION_TO_CONFIRM = 1
    NOT_SENT = 2
    REJECTION = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One row of the table."""

    proves: Proves
    reason: str
    blocked_by: BlockedBy | None = None
    resend_allowed: bool = True


def _unknown(reason: str, *, resend_allowed: bool = True) -> Rule:
    return Rule(proves=Proves.NOTHING, reason=reason, resend_allowed=resend_allowed)


def _rejected(reason: str) -> Rule:
    return Rule(proves=Proves.REJECTION, reason=reason)


def _not_sent(reason: str, blocked_by: BlockedBy | None = None) -> Rule:
    return Rule(proves=Proves.NOT_SENT, reason=reason, blocked_by=blocked_by)


# https://shopify.dev/docs/api/usage/response-codes, read 2026-11-30. A status that is not here is
# unknown: 500, 502, 503, 504 and 520 to 530 above all, behind which the work may still finish. 302
# and 303 may follow an execution, so they prove nothing.
STATUS_RULES: Mapping[int, Rule] = MappingProxyType(
    {
        301: _not_sent("moved", BlockedBy.ADDRESS),
        307: _not_sent("moved", BlockedBy.ADDRESS),
        308: _not_sent("moved", BlockedBy.ADDRESS),
        400: _rejected("bad_request"),
        401: _not_sent("token_refused", BlockedBy.CREDENTIAL),
        402: _not_sent("shop_frozen", BlockedBy.PAYMENT),
        403: _not_sent("forbidden", BlockedBy.PERMISSION),
        404: _not_sent("not_there", BlockedBy.ADDRESS),
        422: _rejected("unprocessable"),
        # https://shopify.dev/changelog/admin-api-requests-to-locked-stores-will-return-a-423-status-code-instead-of-420
        423: _not_sent("shop_locked", BlockedBy.LOCKED),
        429: _not_sent("too_many_requests"),
        430: _not_sent("security_rejection", BlockedBy.SECURITY),
        501: _rejected("not_implemented"),
    }
)

# Recorded on inventory mutations and named in the schema's enums; how refundCreate reports them is
# not documented, so the same rules serve for a top-level code, a user error's code, and the text
# of either. https://shopify.dev/docs/api/usage/implementing-idempotency, read 2026-11-30
KEY_RULES: Mapping[str, Rule] = MappingProxyType(
    {
        # The first request with this key is still running: its effect may come.
        "IDEMPOTENCY_CONCURRENT_REQUEST": _unknown("request_in_progress"),
        # The original may have been executed; whatever is sent again under this key is refused, or
        # worse.
        "IDEMPOTENCY_KEY_PARAMETER_MISMATCH": _unknown("key_mismatch", resend_allowed=False),
        "IDEMPOTENCY_PREVIOUS_ATTEMPT_FAILED": Rule(
            proves=Proves.REJECTION_TO_CONFIRM, reason="previous_attempt_failed"
        ),
        # Executed once, and deleted since.
        "IDEMPOTENCY_RECORD_NOT_FOUND": _unknown("effect_deleted", resend_allowed=False),
    }
)
_KEY_TEXTS = (
    (re.compile(r"currently in progress", re.IGNORECASE), "IDEMPOTENCY_CONCURRENT_REQUEST"),
    (
        re.compile(r"idempotency key cannot be used with different", re.IGNORECASE),
        "IDEMPOTENCY_KEY_PARAMETER_MISMATCH",
    ),
    (
        re.compile(r"previous request with this idempotency key failed", re.IGNORECASE),
        "IDEMPOTENCY_PREVIOUS_ATTEMPT_FAILED",
    ),
)

# Errors of a document that was never executed; they come without data.
# https://shopify.dev/docs/apps/build/apis/graphql-admin/rate-limits, read 2026-11-30; the others
# as recorded from a real store: https://github.com/airhorns/shopify-draft-proxy
# (docs/hard-and-weird-notes.md, refund-create-attribution-validation.json)
WITHOUT_DATA_RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "THROTTLED": _not_sent("throttled"),
        "MAX_COST_EXCEEDED": _rejected("max_cost_exceeded"),
        "INVALID_VARIABLE": _rejected("invalid_document"),
        "undefinedField": _rejected("invalid_document"),
        "argumentNotAccepted": _rejected("invalid_document"),
        "missingRequiredArguments": _rejected("invalid_document"),
        "directiveCannotBeApplied": _rejected("invalid_document"),
    }
)

# Errors of the root field itself, which therefore has not run; deeper in the answer the same code
# means that it has. https://github.com/airhorns/shopify-draft-proxy
# (inventory-quantity-contracts-2026-04.json, finance-risk-access-read.json,
# store-credit-account-parity.json), recordings read 2026-11-30
AT_ROOT_RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "ACCESS_DENIED": _not_sent("access_denied", BlockedBy.PERMISSION),
        "BAD_REQUEST": _rejected("bad_request"),
        "INVALID_FIELD_ARGUMENTS": _rejected("invalid_arguments"),
        "RESOURCE_NOT_FOUND": _rejected("resource_not_found"),
        "CURRENCY_CODE_INVALID": _rejected("currency_code_invalid"),
    }
)

# Texts of refundCreate's user errors, which have no code; they embed amounts, so they are matched
# by shape. https://github.com/airhorns/shopify-draft-proxy
# (refund-create-user-errors-and-quantities.json, refund-create-over-refund-user-errors.json,
# refund-create-transactions-validation.json), recordings read 2026-11-30
_USER_ERROR_TEXTS = (
    (re.compile(r"is greater than net payment received", re.IGNORECASE), "over_net_payment"),
    (re.compile(r"order does not exist", re.IGNORECASE), "order_not_found"),
    (
        re.compile(r"require a parent_id associated with the order", re.IGNORECASE),
        "parent_not_on_order",
    ),
    (re.compile(r"is not a valid transaction", re.IGNORECASE), "kind_not_valid"),
    (
        re.compile(r"cannot refund more items than were purchased", re.IGNORECASE),
        "quantity_over_purchased",
    ),
)
# A text about keys that we do not know speaks of an earlier attempt, so it is no refusal of this
# one.
_ABOUT_KEYS = re.compile(r"idempoten", re.IGNORECASE)


def judge_status(refusal: Refusal) -> Rejected | NotSent | OutcomeUnknown:
    """Say what an HTTP status other than 200 proves."""
    rule = STATUS_RULES.get(refusal.status) or _unknown(f"http_{refusal.status}")
    wait = _seconds(refusal.retry_after) if refusal.status == 429 else None
    return _outcome(rule, message=f"HTTP {refusal.status}", wait=wait, trace=refusal.trace)


def judge_errors(reply: Reply, *, root: str) -> Rejected | NotSent | OutcomeUnknown:
    """Say what top-level errors prove of the root field; there is at least one."""
    rules = [_error_rule(error, root=root, data=reply.data) for error in reply.errors]
    weakest = min(rules, key=_strength)
    wait = _throttle_wait(reply.extensions) if weakest.reason == "throttled" else None
    message = _joined(str(error.get("message", "")) for error in reply.errors)
    return _outcome(weakest, message=message, wait=wait, trace=reply.trace)


def judge_user_errors(
    user_errors: Sequence[object], *, trace: CallTrace
) -> Rejected | NotSent | OutcomeUnknown:
    """Say what the user errors of an answer without an effect prove; there is at least one."""
    errors = [error if isinstance(error, dict) else {} for error in user_errors]
    weakest = min((_user_error_rule(error) for error in errors), key=_strength)
    message = _joined(str(error.get("message", "")) for error in errors)
    return _outcome(weakest, message=message, wait=None, trace=trace)


def code_of(error: Mapping[str, object]) -> str:
    """Return the code in a top-level error's extensions, or nothing."""
    extensions = error.get("extensions")
    code = extensions.get("code") if isinstance(extensions, dict) else None
    return code if isinstance(code, str) and _CODE.fullmatch(code) else ""


def path_of(error: Mapping[str, object]) -> tuple[str | int, ...]:
    """Return where in the answer a top-level error stands; nothing where it does not say."""
    path = error.get("path")
    return tuple(path) if isinstance(path, list) else ()


def _error_rule(
    error: Mapping[str, object], *, root: str, data: Mapping[str, object] | None
) -> Rule:
    code, path = code_of(error), path_of(error)
    key_rule = _key_rule(code, str(error.get("message", "")))
    if key_rule is not None:
        return key_rule
    if code in WITHOUT_DATA_RULES and data is None:
        return WITHOUT_DATA_RULES[code]
    if code in AT_ROOT_RULES and path == (root,):
        return AT_ROOT_RULES[code]
    if path[:1] == (root,) and len(path) > 1:
        # The root resolver runs before what is selected of its result.
        return _unknown("answered_in_part")
    return _unknown(code.lower() or "error_without_code")


def _user_error_rule(error: Mapping[str, object]) -> Rule:
    code, message = str(error.get("code") or ""), str(error.get("message", ""))
    key_rule = _key_rule(code, message)
    if key_rule is not None:
        return key_rule
    if code == "INTERNAL_ERROR":
        return _unknown("internal_error")
    if _ABOUT_KEYS.search(message) or code.startswith("IDEMPOTENCY"):
        return _unknown("unknown_word_about_keys")
    named = (name for text, name in _USER_ERROR_TEXTS if text.search(message))
    return _rejected(next(named, "rejected"))


def _key_rule(code: str, message: str) -> Rule | None:
    if code in KEY_RULES:
        return KEY_RULES[code]
    named = (name for text, name in _KEY_TEXTS if text.search(message))
    found = next(named, None)
    return KEY_RULES[found] if found else None


def _strength(rule: Rule) -> tuple[int, bool]:
    return rule.proves, rule.resend_allowed


def _outcome(
    rule: Rule, *, message: str, wait: timedelta | None, trace: CallTrace
) -> Rejected | NotSent | OutcomeUnknown:
    match rule.proves:
        case Proves.NOTHING:
            return OutcomeUnknown(
                reason=rule.reason, resend_allowed=rule.resend_allowed, trace=trace
            )
        case Proves.NOT_SENT:
            return NotSent(
                reason=rule.reason, retry_after=wait, blocked_by=rule.blocked_by, trace=trace
            )
        case Proves.REJECTION | Proves.REJECTION_TO_CONFIRM:
            return Rejected(
                code=rule.reason,
                message=message,
                read_first=rule.proves is Proves.REJECTION_TO_CONFIRM,
                trace=trace,
            )


def _seconds(text: str) -> timedelta:
    """Read a Retry-After in seconds; `2.0` is usual."""
    known = re.fullmatch(r"[0-9]{1,6}(?:\.[0-9]{1,6})?", text)
    return _bounded(float(text) if known else _WAIT_DEFAULT_SECONDS)


def _throttle_wait(extensions: Mapping[str, object]) -> timedelta:
    """Compute when the bucket holds enough points again."""
    cost = extensions.get("cost")
    status = cost.get("throttleStatus") if isinstance(cost, dict) else None
    if not isinstance(cost, dict) or not isinstance(status, dict):
        return _bounded(_WAIT_DEFAULT_SECONDS)
    numbers = (
        cost.get("requestedQueryCost"),
        status.get("currentlyAvailable"),
        status.get("restoreRate"),
    )
    requested, available, rate = (n if isinstance(n, int | float) else 0 for n in numbers)
    return _bounded((requested - available) / rate if rate > 0 else _WAIT_DEFAULT_SECONDS)


def _bounded(seconds: float) -> timedelta:
    return timedelta(seconds=min(max(ceil(seconds), _WAIT_DEFAULT_SECONDS), _WAIT_MAX_SECONDS))


def _joined(messages: Iterable[str]) -> str:
    return kept("; ".join(messages), longest=_MESSAGE_MAX)
