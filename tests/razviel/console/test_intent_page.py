"""One intent's page: where it stands in honest words, and its life in one line."""

import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.test import Client

from actions.badges import (
    ATTEMPT_BADGES,
    CHECK_QUESTIONS,
    EVENT_WORDS,
    FINDING_BADGES,
    NEEDS_HUMAN_WORDS,
    READ_WORDS,
    REASON_WORDS,
    RESOLVED_WORDS,
    RULING_BADGES,
    STANDING_BADGES,
    STATE_BADGES,
)
from actions.catalogue import REFUND
from actions.models import (
    Attempt,
    AttemptOutcome,
    FindingResult,
    GateDecision,
    Intent,
    ReadResult,
    ResolvedHow,
)
from actions.moves import flag, remark
from actions.policy import Check, Ruling
from actions.states import (
    ApprovalReason,
    FailedReason,
    HeldReason,
    NeedsHuman,
    RefusedReason,
    State,
)
from integrations import sealed
from integrations.actors import SYSTEM
from integrations.clock import now
from integrations.display import NOTHING
from integrations.ports import Standing
from tests.factories import (
    find_absent,
    intent_in,
    make_connection,
    make_decision,
    make_intent,
    make_target,
    make_ticket,
    make_workspace,
)
from tests.factories.rows import make_customer
from tests.razviel.console.brands import member_of, page_of

pytestmark = pytest.mark.django_db


def shown(intent: Intent, client: Client | None = None) -> str:
    """Return the main part of an intent's page."""
    answer = (client or member_of(intent.workspace)).get(page_of(intent))
    assert answer.status_code == 200
    content = answer.content.decode()
    return content[content.index('id="content"') :]


def words(content: str) -> str:
    """Return the visible words alone."""
    return " ".join(re.sub(r"<[^>]+>", " ", content).split())


@pytest.mark.parametrize("state", list(State))
def test_a_state_stands_as_its_word_its_colour_and_its_sentence(state: State) -> None:
    content = shown(intent_in(state))
    badge = STATE_BADGES[state]
    assert re.search(rf'<span class="rz-badge rz-{badge.tone}" title="{badge.sentence}', content)
    assert f"{badge.word} {badge.sentence}" in words(content)


@pytest.mark.parametrize("state", list(State))
def test_what_may_be_said_is_the_kind_s_own_sentence(state: State) -> None:
    intent = intent_in(state)
    assert intent.money
    said = REFUND.may_be_said(state=state, money=intent.money)
    assert f"What may be said now “{said.replace(chr(39), '&#x27;')}”" in words(shown(intent))


@pytest.mark.parametrize("state", sorted(set(State) - {State.CONFIRMED}))
def test_nothing_on_the_page_says_refunded_before_it_is_confirmed(state: State) -> None:
    assert "have been refunded" not in shown(intent_in(state))


def test_the_life_of_a_confirmed_intent_is_told_in_order() -> None:
    intent = intent_in(State.CONFIRMED)
    external = intent.external_objects.get().identifier
    content = words(shown(intent))
    told = [
        "Proposed by ai agent-1",
        "Recorded, before anything is sent",
        str(intent.key),
        intent.marker,
        "Policy Gate, in the worker allows",
        "Attempt 1 answered the platform named its object",
        f"Echo: what the platform says of refund {external}",
        "12.50 EUR SUCCESS succeeded",
        "executing → to confirmed answered by system razviel",
    ]
    content = content[content.index("What happened") :]
    places = [content.find(line) for line in told]
    assert -1 not in places, told[places.index(-1)]
    assert places == sorted(places)


def test_the_window_of_what_was_sent_is_shown() -> None:
    intent = Intent.objects.get(pk=intent_in(State.PENDING).pk)
    assert intent.resend_until
    assert f"may be sent again until {intent.resend_until:%Y-%m-%d %H:%M:%S} UTC" in words(
        shown(intent)
    )


def test_an_unknown_intent_shows_the_lost_answer_and_each_read() -> None:
    intent = intent_in(State.UNKNOWN)
    find_absent(intent=intent, at=now())
    content = words(shown(intent))
    assert "Attempt 1 unknown sent, no answer that can be read" in content
    assert "HTTP status none was read" in content
    assert "Read of the order absent a complete read does not show the effect" in content
    assert "External reference none: the platform has named no object for it" in content
    assert "The refund of 12.50 EUR is being processed." in content


def test_a_pending_intent_shows_the_platform_s_own_status() -> None:
    content = words(shown(intent_in(State.PENDING)))
    assert "12.50 EUR PENDING not final" in content
    assert "pending the platform has it and has not finished" in content


def test_a_refused_intent_shows_the_verdict_and_its_arithmetic() -> None:
    intent = make_intent()
    verdicts = [
        {
            "check": "within_limits",
            "ruling": "refuse",
            "reason": "over_cap",
            "sentence": "500.00 EUR asked > 200.00 EUR allowed for one action.",
            "also": [
                {"ruling": "approve", "reason": "over_threshold", "sentence": "and a second one"}
            ],
            "facts": {"asked": "500.00 EUR", "order_age_days": None, "enabled_for": ["ai"]},
        },
    ]
    make_decision(intent=intent, ruling="refuse", reason="over_cap", at=now(), verdicts=verdicts)
    content = words(shown(intent))
    assert "Policy Gate, in the worker refuses more than one action may move" in content
    assert "Is it inside the brand&#x27;s policy? refuses" in content
    assert "500.00 EUR asked &gt; 200.00 EUR allowed for one action." in content
    assert "wants a second person and a second one" in content
    assert f"order age days {NOTHING}" in content
    assert not Attempt.objects.exists()


def test_an_allocation_is_shown_as_it_was_gated() -> None:
    intent = make_intent()
    part = {
        "parent": "gid://shopify/OrderTransaction/7",
        "gateway": "visa",
        "amount": "12.50",
        "currency": "EUR",
    }
    make_decision(intent=intent, ruling="allow", at=now(), allocation=[part])
    assert "12.50 EUR visa gid://shopify/OrderTransaction/7" in words(shown(intent))


def test_an_attempt_shows_status_request_id_and_times() -> None:
    intent = intent_in(State.EXECUTING)
    intent.attempts.update(
        outcome=AttemptOutcome.UNKNOWN,
        outcome_reason="a gateway's page",
        closed_by="answer",
        closed_at=now(),
        http_status=502,
        platform_request_id="req-77",
        duration_ms=1234,
    )
    content = words(shown(intent))
    assert "HTTP status 502 Platform's request id req-77" in content
    assert "after 1234 ms" in content
    assert "What came back a gateway&#x27;s page" in content


@pytest.mark.parametrize("reason", list(NeedsHuman))
def test_why_a_person_is_needed_is_said_in_words(reason: NeedsHuman) -> None:
    intent = intent_in(State.UNKNOWN)
    flag(intent, reason, by=SYSTEM, at=now(), reason="told by a test")
    said = NEEDS_HUMAN_WORDS[reason].replace("'", "&#x27;")
    assert f"needs a person {said}" in words(shown(intent))


@pytest.mark.parametrize(("name", "said"), list(EVENT_WORDS.items()))
def test_what_happened_without_a_move_is_told_in_words(name: str, said: str) -> None:
    intent = intent_in(State.HELD)
    remark(
        intent, name, by=SYSTEM, at=now(), reason="as a test says", details={"decision": "dec_x"}
    )
    content = shown(intent)
    assert f"{said} as a test says by system razviel the decision" in words(content)
    assert 'href="#dec_x"' in content


def test_every_reason_state_and_outcome_has_its_words() -> None:
    reasons = {*HeldReason, *ApprovalReason, *RefusedReason, *FailedReason}
    assert set(REASON_WORDS) == reasons
    assert set(STATE_BADGES) == set(State)
    assert set(NEEDS_HUMAN_WORDS) == set(NeedsHuman)
    assert set(ATTEMPT_BADGES) == {None, *AttemptOutcome}
    assert set(FINDING_BADGES) == set(FindingResult)
    assert set(READ_WORDS) == set(ReadResult)
    assert set(RESOLVED_WORDS) == set(ResolvedHow)
    assert set(STANDING_BADGES) == set(Standing)
    assert set(RULING_BADGES) == set(Ruling)
    assert set(CHECK_QUESTIONS) == set(Check)


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'`{{ 7*7 }}{% now 'Y' %}\u202e"


def test_a_hostile_reason_and_hostile_columns_are_text() -> None:
    workspace = make_workspace(name=HOSTILE[:100])
    customer = make_customer(workspace=workspace)
    ticket = make_ticket(workspace=workspace, customer=customer, external_id=HOSTILE)
    reason = sealed.seal(subject_key=customer.subject_key, field="intent.reason", text=HOSTILE)
    intent = intent_in(State.CONFIRMED, ticket=ticket, reason=reason)
    make_decision(
        intent=intent,
        ruling="hold",
        reason="paused",
        at=now(),
        verdicts=[
            {
                "check": HOSTILE,
                "ruling": HOSTILE,
                "reason": None,
                "sentence": HOSTILE,
                "also": [],
                "facts": {HOSTILE: {HOSTILE: [HOSTILE]}},
            },
        ],
    )
    content = shown(intent)
    assert "<script>alert" not in content
    assert "<img" not in content
    assert ">49<" not in content
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in content
    assert '<bdi class="rz-text">&lt;script&gt;' in content


def test_what_was_sealed_for_an_erased_customer_reads_erased() -> None:
    workspace = make_workspace()
    customer = make_customer(workspace=workspace)
    ticket = make_ticket(workspace=workspace, customer=customer)
    reason = sealed.seal(subject_key=customer.subject_key, field="intent.reason", text="broken leg")
    intent = intent_in(State.CONFIRMED, ticket=ticket, reason=reason)
    assert "Why broken leg" in words(shown(intent))
    sealed.destroy(customer.subject_key)
    content = words(shown(intent))
    assert "Why erased" in content
    assert "broken leg" not in content
    assert str(intent.key) in content


def test_a_live_order_is_linked_on_the_store_s_admin() -> None:
    workspace = make_workspace()
    connection = make_connection(workspace=workspace, domain="acme-outdoor.myshopify.com")
    target = make_target(connection=connection, identifier="gid://shopify/Order/7001")
    intent = make_intent(ticket=make_ticket(workspace=workspace), target=target)
    link = 'href="https://admin.shopify.com/store/acme-outdoor/orders/7001"'
    assert link in shown(intent)


def test_a_sandbox_s_order_is_labelled_and_linked_nowhere() -> None:
    workspace = make_workspace()
    connection = make_connection(workspace=workspace, is_sandbox=True)
    intent = make_intent(ticket=make_ticket(workspace=workspace), connection=connection)
    content = shown(intent)
    assert ">SANDBOX</span>" in content
    assert "admin.shopify.com" not in content


@pytest.mark.parametrize(
    "domain", ["evil.example", "a.myshopify.com.evil.example", "a/../b.myshopify.com"]
)
def test_no_link_is_made_of_a_domain_that_is_not_the_store_s(domain: str) -> None:
    workspace = make_workspace()
    connection = make_connection(workspace=workspace, domain=domain)
    intent = make_intent(ticket=make_ticket(workspace=workspace), connection=connection)
    assert "admin.shopify.com" not in shown(intent)


def test_moments_are_utc_with_the_exact_value_on_hover() -> None:
    intent = make_intent()
    exact = intent.created_at.isoformat(timespec="microseconds")
    assert f'datetime="{exact}" title="{exact}"' in shown(intent)
    assert exact.endswith("+00:00")


def test_a_page_asks_the_same_number_of_questions_however_long_the_life(
    django_assert_num_queries: object,
) -> None:
    intent = intent_in(State.UNKNOWN)
    client = member_of(intent.workspace)
    shown(intent, client)
    with django_assert_num_queries(QUESTIONS):  # type: ignore[operator]
        shown(intent, client)
    for number in range(5):
        at = now() + timedelta(seconds=number)
        find_absent(intent=intent, at=at)
        make_decision(intent=intent, ruling="hold", reason="paused", at=at)
    with django_assert_num_queries(QUESTIONS):  # type: ignore[operator]
        shown(intent, client)
    assert GateDecision.objects.filter(intent=intent).count() == 6


QUESTIONS = 18
"""Session, user, membership, names, stores, the row, objects, and one for each sort of line.

Besides them the menu asks what awaits approval and the seats, and the forms the seat and the links.
"""


def test_a_life_longer_than_the_bound_says_that_it_is_cut() -> None:
    intent = make_intent(amount=Decimal("5.0000"))
    for _ in range(101):
        make_decision(intent=intent, ruling="hold", reason="paused", at=now())
    content = words(shown(intent))
    assert "Of each sort of line the newest 100 are shown." in content
    assert content.count("Policy Gate, in the worker") == 100
