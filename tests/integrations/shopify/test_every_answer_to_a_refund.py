"""The error table of the reference, section 4, row by row: bytes in, what is known out."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from integrations.money import Money
from integrations.ports import (
    BlockedBy,
    CallTrace,
    Echoed,
    NotSent,
    Observation,
    OutcomeUnknown,
    Part,
    Rejected,
    Standing,
)
from tests.integrations.shopify.shop import (
    ASKED,
    MARKER,
    ORDER,
    REFUND,
    answering,
    http,
    money,
    payload,
    refund,
    sent,
    transaction,
    transactions,
)

NOTHING: dict[str, object] = {"order": {"id": ORDER}, "refund": None, "userErrors": []}


def error(code: str = "", path: list[object] | None = None, message: str = "Said") -> object:
    said: dict[str, object] = {"message": message}
    if code:
        said["extensions"] = {"code": code}
    if path is not None:
        said["path"] = path
    return said


def errors(*given: object, data: object = None, **more: object) -> bytes:
    return http(200, {"errors": list(given), "data": data, **more})


def user_errors(*messages: str, **payload_changes: object) -> bytes:
    given = [{"field": ["transactions"], "message": message} for message in messages]
    return http(200, {"data": payload(refund=None, userErrors=given, **payload_changes)})


ROOT_NULL = {"refundCreate": None}

NOT_SENT = {
    "301": (http(301, b""), "moved", BlockedBy.ADDRESS, None),
    "307": (http(307, b""), "moved", BlockedBy.ADDRESS, None),
    "308": (http(308, b""), "moved", BlockedBy.ADDRESS, None),
    "401": (http(401, b""), "token_refused", BlockedBy.CREDENTIAL, None),
    "402": (http(402, b""), "shop_frozen", BlockedBy.PAYMENT, None),
    "403": (http(403, b""), "forbidden", BlockedBy.PERMISSION, None),
    "404": (http(404, b""), "not_there", BlockedBy.ADDRESS, None),
    "423": (http(423, b""), "shop_locked", BlockedBy.LOCKED, None),
    "430": (http(430, b""), "security_rejection", BlockedBy.SECURITY, None),
    "429": (http(429, b""), "too_many_requests", None, 1),
    "429 with seconds": (http(429, b"", [("Retry-After", "2.0")]), "too_many_requests", None, 2),
    "429 for an hour": (http(429, b"", [("Retry-After", "3600")]), "too_many_requests", None, 3600),
    "429 with a date": (
        http(429, b"", [("Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT")]),
        "too_many_requests",
        None,
        1,
    ),
    "throttled": (
        errors(
            error("THROTTLED"),
            extensions={
                "cost": {
                    "requestedQueryCost": 33,
                    "actualQueryCost": None,
                    "throttleStatus": {
                        "maximumAvailable": 2000,
                        "currentlyAvailable": 3,
                        "restoreRate": 10,
                    },
                }
            },
        ),
        "throttled",
        None,
        3,
    ),
    "throttled without a cost": (errors(error("THROTTLED")), "throttled", None, 1),
    "throttled with a strange cost": (
        errors(error("THROTTLED"), extensions={"cost": {"throttleStatus": {"restoreRate": 0}}}),
        "throttled",
        None,
        1,
    ),
    "access denied at the root": (
        errors(error("ACCESS_DENIED", ["refundCreate"]), data=ROOT_NULL),
        "access_denied",
        BlockedBy.PERMISSION,
        None,
    ),
}

REJECTED = {
    "400": (http(400, b"{}"), "bad_request", "HTTP 400"),
    "422": (http(422, b"{}"), "unprocessable", "HTTP 422"),
    "501": (http(501, b"{}"), "not_implemented", "HTTP 501"),
    "query too dear": (errors(error("MAX_COST_EXCEEDED")), "max_cost_exceeded", "Said"),
    "variable refused": (errors(error("INVALID_VARIABLE")), "invalid_document", "Said"),
    "field not there": (
        errors(error("undefinedField", ["mutation RefundCreate", "refundCreate", "nope"])),
        "invalid_document",
        "Said",
    ),
    "argument not there": (errors(error("argumentNotAccepted")), "invalid_document", "Said"),
    "argument missing": (errors(error("missingRequiredArguments")), "invalid_document", "Said"),
    "directive misplaced": (errors(error("directiveCannotBeApplied")), "invalid_document", "Said"),
    "directive missing": (
        errors(
            error(
                "BAD_REQUEST",
                ["refundCreate"],
                "The @idempotent directive is required for this mutation but was not provided.",
            ),
            data=ROOT_NULL,
        ),
        "bad_request",
        "The @idempotent directive is required for this mutation but was not provided.",
    ),
    "arguments refused": (
        errors(error("INVALID_FIELD_ARGUMENTS", ["refundCreate"]), data=ROOT_NULL),
        "invalid_arguments",
        "Said",
    ),
    "resource not there": (
        errors(error("RESOURCE_NOT_FOUND", ["refundCreate"]), data=ROOT_NULL),
        "resource_not_found",
        "Said",
    ),
    "currency refused": (
        errors(error("CURRENCY_CODE_INVALID", ["refundCreate"]), data=ROOT_NULL),
        "currency_code_invalid",
        "Said",
    ),
    "over net payment": (
        user_errors("Refund amount $25.00 is greater than net payment received $15.00"),
        "over_net_payment",
        "Refund amount $25.00 is greater than net payment received $15.00",
    ),
    "no such order": (
        user_errors("Order does not exist", order=None),
        "order_not_found",
        "Order does not exist",
    ),
    "parent of another order": (
        user_errors("Transactions require a parent_id associated with the order"),
        "parent_not_on_order",
        "Transactions require a parent_id associated with the order",
    ),
    "kind refused": (
        user_errors("Kind authorization is not a valid transaction"),
        "kind_not_valid",
        "Kind authorization is not a valid transaction",
    ),
    "quantity refused": (
        user_errors("Quantity cannot refund more items than were purchased"),
        "quantity_over_purchased",
        "Quantity cannot refund more items than were purchased",
    ),
    "another text": (user_errors("Sorry"), "rejected", "Sorry"),
    "two texts": (user_errors("Sorry", "Really"), "rejected", "Sorry; Really"),
    "a long text": (user_errors("a" * 600), "rejected", "a" * 500),
}

IN_PROGRESS = "This request is currently in progress, please try again."
MISMATCH = "The same idempotency key cannot be used with different operation parameters."
FAILED_BEFORE = (
    "A previous request with this idempotency key failed. Retry with a new idempotency key."
)

UNKNOWN = {
    "500": (http(500, b""), "http_500"),
    "502": (http(502, b"<html>"), "http_502"),
    "503": (http(503, b""), "http_503"),
    "504": (http(504, b""), "http_504"),
    "520": (http(520, b""), "http_520"),
    "530": (http(530, b""), "http_530"),
    "302": (http(302, b""), "http_302"),
    "303": (http(303, b""), "http_303"),
    "202": (http(202, b"{}"), "http_202"),
    "418": (http(418, b""), "http_418"),
    "empty": (http(200, b""), "answer_is_no_json"),
    "html": (http(200, b"<html></html>"), "answer_is_no_json"),
    "json that breaks off": (
        http(200, b'{"data": {"refundCreate": {"refund"'),
        "answer_is_no_json",
    ),
    "not utf-8": (http(200, b'{"data": "\xff"}'), "answer_is_no_json"),
    "nan": (http(200, b'{"data": NaN}'), "answer_is_no_json"),
    "too deep": (http(200, b"[" * 100_000), "answer_is_no_json"),
    "a list": (http(200, []), "answer_is_no_object"),
    "text": (http(200, "sorry"), "answer_is_no_object"),
    "data of another shape": (http(200, {"data": []}), "answer_is_no_graphql"),
    "errors of another shape": (http(200, {"errors": "sorry"}), "answer_is_no_graphql"),
    "an empty object": (http(200, {}), "no_identifier"),
    "no data": (http(200, {"data": None}), "no_identifier"),
    "root null": (http(200, {"data": ROOT_NULL}), "no_identifier"),
    "refund null": (http(200, {"data": {"refundCreate": NOTHING}}), "no_identifier"),
    "internal error": (
        errors(error("INTERNAL_SERVER_ERROR", None, "Internal error. Request ID: 1")),
        "internal_server_error",
    ),
    "an error without a code": (errors(error()), "error_without_code"),
    "an error that is no object": (errors("sorry"), "error_without_code"),
    "a code that we do not know": (errors(error("BRAND_NEW")), "brand_new"),
    "access denied nowhere": (errors(error("ACCESS_DENIED")), "access_denied"),
    "access denied elsewhere": (errors(error("ACCESS_DENIED", ["order"])), "access_denied"),
    "throttled with data": (errors(error("THROTTLED"), data=ROOT_NULL), "throttled"),
    "invalid with data": (errors(error("INVALID_VARIABLE"), data=ROOT_NULL), "invalid_variable"),
    "access denied below the root": (
        errors(error("ACCESS_DENIED", ["refundCreate", "order"]), data={"refundCreate": NOTHING}),
        "answered_in_part",
    ),
    "any error below the root": (
        errors(error("BAD_REQUEST", ["refundCreate", "refund", "note"]), data=ROOT_NULL),
        "answered_in_part",
    ),
    "a proof beside a doubt": (
        errors(error("THROTTLED"), error("INTERNAL_SERVER_ERROR")),
        "internal_server_error",
    ),
    "in progress by text": (user_errors(IN_PROGRESS), "request_in_progress"),
    "in progress by code": (
        errors(error("IDEMPOTENCY_CONCURRENT_REQUEST", ["refundCreate"]), data=ROOT_NULL),
        "request_in_progress",
    ),
    "a new word about keys": (user_errors("Idempotency is tired"), "unknown_word_about_keys"),
    "a refusal beside a word about keys": (
        user_errors("Order does not exist", "Idempotency is tired"),
        "unknown_word_about_keys",
    ),
    "internal error as a user error": (
        http(
            200,
            {"data": payload(refund=None, userErrors=[{"code": "INTERNAL_ERROR", "message": ""}])},
        ),
        "internal_error",
    ),
    "another type of identifier": (
        http(200, {"data": payload(refund=refund(id=ORDER))}),
        "unparseable: not the identifier of a Refund",
    ),
    "a number as identifier": (
        http(200, {"data": payload(refund=refund(id=7001))}),
        "unparseable: not the identifier of a Refund",
    ),
    "an identifier with more behind it": (
        http(200, {"data": payload(refund=refund(id=REFUND + "?x"))}),
        "unparseable: not the identifier of a Refund",
    ),
    "no identifier": (
        http(200, {"data": payload(refund=refund(id=None))}),
        "unparseable: not the identifier of a Refund",
    ),
    "a refund that is no object": (
        http(200, {"data": payload(refund="gid")}),
        "unparseable: refund is no object",
    ),
    "no moment": (
        http(200, {"data": payload(refund=refund(createdAt=None))}),
        "unparseable: createdAt is no text",
    ),
    "a moment without a zone": (
        http(200, {"data": payload(refund=refund(createdAt="2026-11-30T10:00:00"))}),
        "unparseable: createdAt has no zone",
    ),
    "transactions cut short": (
        http(200, {"data": payload(refund=refund(transactions=transactions(more=True)))}),
        "unparseable: not every transaction of the refund is in the answer",
    ),
    "no transactions field": (
        http(200, {"data": payload(refund=refund(transactions=None))}),
        "unparseable: transactions is no object",
    ),
    "an amount that is a number": (
        http(
            200,
            {
                "data": payload(
                    refund=refund(
                        transactions=transactions(
                            transaction(
                                amountSet={
                                    "presentmentMoney": {"amount": 12.5, "currencyCode": "EUR"}
                                }
                            )
                        )
                    )
                )
            },
        ),
        "unparseable: amount is no text",
    ),
    "an amount too fine for its currency": (
        http(
            200,
            {
                "data": payload(
                    refund=refund(transactions=transactions(transaction(amountSet=money("12.505"))))
                )
            },
        ),
        "unparseable: an amount that can't be read exactly",
    ),
}

NO_RESEND = {
    "mismatch by text": (user_errors(MISMATCH), "key_mismatch"),
    "mismatch by code": (
        errors(error("IDEMPOTENCY_KEY_PARAMETER_MISMATCH", ["refundCreate"]), data=ROOT_NULL),
        "key_mismatch",
    ),
    "mismatch as a user error's code": (
        http(
            200,
            {
                "data": payload(
                    refund=None,
                    userErrors=[{"code": "IDEMPOTENCY_KEY_PARAMETER_MISMATCH", "message": "x"}],
                )
            },
        ),
        "key_mismatch",
    ),
    "mismatch beside a doubt": (
        errors(error("INTERNAL_SERVER_ERROR"), error("IDEMPOTENCY_KEY_PARAMETER_MISMATCH")),
        "key_mismatch",
    ),
    "deleted since": (
        errors(error("IDEMPOTENCY_RECORD_NOT_FOUND", ["refundCreate"]), data=ROOT_NULL),
        "effect_deleted",
    ),
}

READ_FIRST = {
    "by text": user_errors(FAILED_BEFORE),
    "by code": errors(
        error("IDEMPOTENCY_PREVIOUS_ATTEMPT_FAILED", ["refundCreate"], FAILED_BEFORE),
        data=ROOT_NULL,
    ),
    "beside another refusal": user_errors("Order does not exist", FAILED_BEFORE),
}


@pytest.mark.parametrize(
    ("raw", "reason", "blocked_by", "wait_seconds"), NOT_SENT.values(), ids=list(NOT_SENT)
)
def test_an_answer_that_proves_it_was_not_executed_is_not_sent(
    raw: bytes, reason: str, blocked_by: BlockedBy | None, wait_seconds: int | None
) -> None:
    outcome = sent(raw)
    assert isinstance(outcome, NotSent)
    assert (outcome.reason, outcome.blocked_by) == (reason, blocked_by)
    assert outcome.retry_after == (wait_seconds and timedelta(seconds=wait_seconds))


@pytest.mark.parametrize(("raw", "code", "message"), REJECTED.values(), ids=list(REJECTED))
def test_a_refusal_is_rejected_with_the_stores_own_words(
    raw: bytes, code: str, message: str
) -> None:
    outcome = sent(raw)
    assert isinstance(outcome, Rejected)
    assert (outcome.code, outcome.message, outcome.read_first) == (code, message, False)


@pytest.mark.parametrize(("raw", "reason"), UNKNOWN.values(), ids=list(UNKNOWN))
def test_whatever_proves_nothing_is_unknown(raw: bytes, reason: str) -> None:
    outcome = sent(raw)
    assert isinstance(outcome, OutcomeUnknown)
    assert (outcome.reason, outcome.resend_allowed) == (reason, True)


@pytest.mark.parametrize(("raw", "reason"), NO_RESEND.values(), ids=list(NO_RESEND))
def test_after_a_word_that_the_key_was_used_otherwise_nothing_may_be_sent_again(
    raw: bytes, reason: str
) -> None:
    outcome = sent(raw)
    assert isinstance(outcome, OutcomeUnknown)
    assert (outcome.reason, outcome.resend_allowed) == (reason, False)


@pytest.mark.parametrize("raw", READ_FIRST.values(), ids=list(READ_FIRST))
def test_a_refusal_that_speaks_of_an_earlier_attempt_asks_for_a_read(raw: bytes) -> None:
    outcome = sent(raw)
    assert isinstance(outcome, Rejected)
    assert (outcome.code, outcome.read_first) == ("previous_attempt_failed", True)


ECHO = Observation(
    object_type="refund",
    identifier=REFUND,
    target=ORDER,
    markers=(MARKER,),
    author=None,
    created_at=datetime(2026, 11, 30, 10, tzinfo=UTC),
    parts=(
        Part(
            identifier="gid://shopify/OrderTransaction/6001",
            status="SUCCESS",
            standing=Standing.SUCCEEDED,
            money=Money(amount=Decimal("12.50"), currency="EUR"),
            gateway="manual",
            parent="gid://shopify/OrderTransaction/5001",
        ),
    ),
)


@pytest.mark.parametrize(
    "raw",
    [
        http(200, {"data": payload()}),
        http(200, {"data": payload(userErrors=[{"field": None, "message": "Mail not sent"}])}),
        errors(error("ACCESS_DENIED", ["refundCreate", "order"]), data=payload()),
        errors(error("INTERNAL_SERVER_ERROR", ["refundCreate", "userErrors"]), data=payload()),
    ],
    ids=["alone", "with a warning", "with an error below the root", "with an inner error"],
)
def test_an_identifier_stands_above_every_error_beside_it(raw: bytes) -> None:
    outcome = sent(raw)
    assert isinstance(outcome, Echoed)
    assert outcome.observation == ECHO


def test_an_echo_that_does_not_name_its_order_has_no_target() -> None:
    outcome = sent(http(200, {"data": payload(order=None)}))
    assert isinstance(outcome, Echoed)
    assert outcome.observation.target is None


def test_another_amount_target_or_note_is_told_as_it_is() -> None:
    other = refund(
        note="by hand",
        transactions=transactions(transaction(amountSet=money("0.01", "USD"), gateway=None)),
    )
    raw = http(200, {"data": payload(refund=other, order={"id": "gid://shopify/Order/1002"})})
    outcome = sent(raw)
    assert isinstance(outcome, Echoed)
    seen = outcome.observation
    assert (seen.target, seen.markers) == ("gid://shopify/Order/1002", ())
    assert seen.parts[0].money == Money(amount=Decimal("0.01"), currency="USD")


def test_a_refund_without_transactions_has_no_parts_and_keeps_its_identifier() -> None:
    outcome = sent(http(200, {"data": payload(refund=refund(transactions=transactions()))}))
    assert isinstance(outcome, Echoed)
    assert (outcome.observation.identifier, outcome.observation.parts) == (REFUND, ())


def test_the_release_of_an_authorization_is_no_part_of_the_money() -> None:
    rows = transactions(
        transaction(), transaction(kind="VOID", id="gid://shopify/OrderTransaction/9")
    )
    outcome = sent(http(200, {"data": payload(refund=refund(transactions=rows))}))
    assert isinstance(outcome, Echoed)
    assert [part.identifier for part in outcome.observation.parts] == [
        "gid://shopify/OrderTransaction/6001"
    ]


@pytest.mark.parametrize(
    ("status", "standing"),
    [
        ("SUCCESS", Standing.SUCCEEDED),
        ("FAILURE", Standing.FAILED),
        ("ERROR", Standing.FAILED),
        ("PENDING", Standing.OPEN),
        ("AWAITING_RESPONSE", Standing.OPEN),
        ("UNKNOWN", Standing.OPEN),
        ("BRAND_NEW", Standing.OPEN),
    ],
)
def test_each_status_is_kept_as_it_is_and_success_alone_has_moved_money(
    status: str, standing: Standing
) -> None:
    rows = transactions(transaction(status=status))
    outcome = sent(http(200, {"data": payload(refund=refund(transactions=rows))}))
    assert isinstance(outcome, Echoed)
    part = outcome.observation.parts[0]
    assert (part.status, part.standing) == (status, standing)


@pytest.mark.parametrize(
    ("amount", "currency", "exact"),
    [
        ("12.5", "EUR", "12.50"),
        ("12.50", "EUR", "12.50"),
        ("1000.0", "JPY", "1000"),
        ("1.25", "KWD", "1.250"),
        ("0.0", "EUR", "0.00"),
    ],
)
def test_amounts_are_read_exactly(amount: str, currency: str, exact: str) -> None:
    rows = transactions(transaction(amountSet=money(amount, currency)))
    outcome = sent(http(200, {"data": payload(refund=refund(transactions=rows))}))
    assert isinstance(outcome, Echoed)
    seen = outcome.observation.parts[0].money
    assert (seen.canonical(), seen.currency) == (exact, currency)


def test_the_trace_names_status_request_and_the_version_that_answered() -> None:
    raw = http(200, {"data": payload()}).replace(b"API-Version: 2026-10", b"API-Version: 2025-10")
    outcome = sent(raw)
    assert isinstance(outcome, Echoed)
    assert outcome.trace == CallTrace(
        http_status=200,
        platform_request_id="request-1",
        api_version="2025-10",
        duration_ms=outcome.trace.duration_ms,
    )


def test_every_kind_of_outcome_carries_its_trace() -> None:
    for raw in (http(401, b""), http(400, b""), http(500, b""), http(200, {})):
        outcome = sent(raw)
        assert outcome.trace.platform_request_id == "request-1"
        assert outcome.trace.http_status == int(raw[9:12])


def test_a_refusals_words_are_kept_without_the_people_in_them() -> None:
    """I13: an attempt is evidence, which nobody can erase."""
    words = "Ann <ann@example.com> (+49 170 123 4567)\x00 may not have \u20ac12.50 back"
    outcome = sent(user_errors(words))
    assert isinstance(outcome, Rejected)
    assert outcome.message == "Ann [address] ([number]) may not have \u20ac12.50 back"


def test_whatever_the_store_names_its_parts_fits_a_row() -> None:
    row = transaction(status="X" * 99, gateway="Bank\x00" + "y" * 200)
    outcome = sent(http(200, {"data": payload(refund=refund(transactions=transactions(row)))}))
    assert isinstance(outcome, Echoed)
    (part,) = outcome.observation.parts
    assert (len(part.status), part.standing) == (40, Standing.OPEN)
    assert part.gateway == "Bank" + "y" * 116


def test_a_code_that_is_no_word_is_not_repeated() -> None:
    outcome = sent(http(200, {"errors": [error("ann@example.com")], "data": None}))
    assert isinstance(outcome, OutcomeUnknown)
    assert outcome.reason == "error_without_code"


def test_the_same_bytes_are_sent_each_time() -> None:
    with answering(http(200, {"data": payload()})) as (adapter, server):
        frozen = adapter.freeze_refund(refund=ASKED)
        for _ in range(2):
            adapter.send_refund(frozen=frozen, before_write=lambda: None)
    assert len(server.received) == 2
    assert server.received[0] == server.received[1]
