"""The inbox of approvals: what is shown, in which order, to whom, and what a word does."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from actions.models import Approval, GateDecision, Intent, IntentEvent
from actions.states import State
from integrations.actors import Actor, ActorKind
from integrations.clock import now
from integrations.models import Role
from integrations.sandbox.records import Payment
from tests.factories import intent_in, make_approval, make_ticket, make_workspace
from tests.razviel.console.brands import member_of, sat_down
from tests.razviel.console.sending import form_for, forms_on, post, send
from tests.razviel.console.test_intent_page import words
from tests.stage import Stage, fresh

pytestmark = pytest.mark.django_db


def inbox(client: Client, query: str = "") -> str:
    answer = client.get(reverse("console:approvals") + query)
    assert answer.status_code == 200
    content = answer.content.decode()
    return content[content.index('id="content"') :]


def waiting(hours: float, **given: object) -> Intent:
    """Make an intent that awaits approval for so many hours more."""
    intent = intent_in(State.AWAITING_APPROVAL, **given)  # type: ignore[arg-type]  # as the factory's
    Intent.objects.filter(pk=intent.pk).update(due_at=now() + timedelta(hours=hours))
    return intent


def test_what_expires_first_stands_on_top() -> None:
    ticket = make_ticket()
    later, sooner, last = (waiting(hours, ticket=ticket) for hours in (5, 1, 9))
    content = inbox(member_of(ticket.workspace))
    places = [content.index(f'id="ask-{row.public_id}"') for row in (sooner, later, last)]
    assert places == sorted(places)
    assert "Expires in 59 min" in words(content)


def test_an_empty_inbox_says_that_there_is_nothing_to_do() -> None:
    content = words(inbox(member_of(make_workspace())))
    assert "Nothing awaits approval" in content
    assert "There is nothing to do." in content


def test_the_inbox_asks_a_fixed_number_of_questions(django_assert_num_queries: object) -> None:
    ticket = make_ticket()
    client = member_of(ticket.workspace)
    waiting(1, ticket=ticket)
    inbox(client)
    for _ in range(2):
        with django_assert_num_queries(12):  # type: ignore[operator]
            inbox(client)
        for _ in range(3):
            waiting(2, ticket=ticket)


def test_a_narrowed_inbox_shows_what_the_figure_counts() -> None:
    workspace = make_workspace()
    euros = waiting(1, ticket=make_ticket(workspace=workspace))
    yen = waiting(1, ticket=make_ticket(workspace=workspace), currency="JPY", amount=4200)
    client = member_of(workspace)
    shown = inbox(client, f"?currency=JPY&on=live&workspace={workspace.public_id}")
    assert yen.public_id in shown
    assert euros.public_id not in shown
    assert "Nothing awaits approval" in inbox(client, "?on=sandbox")
    assert "Nothing awaits approval" in inbox(client, "?currency=%00")


@pytest.mark.parametrize("role", [Role.HUMAN_NODE, Role.OPERATOR, Role.AUDITOR])
def test_who_may_not_approve_reads_why_and_has_no_button(role: Role) -> None:
    intent = waiting(1)
    client = member_of(intent.workspace, role=role)
    content = inbox(client)
    assert "an Approver or a Brand admin may do this; your role does not allow it." in content
    assert forms_on(content) == {}
    assert form_for(client, intent, "approve") is None


def test_what_somebody_has_approved_is_not_asked_of_the_next() -> None:
    intent = waiting(1)
    make_approval(decision=intent.decisions.get(), at=now())
    client = member_of(intent.workspace, role=Role.APPROVER)
    assert "Approved by brand team team-1" in words(inbox(client))
    assert form_for(client, intent, "approve") is None


@pytest.mark.django_db(transaction=True)
class TestOverAStore:
    """The same over a real order with two payments, on a sandbox."""

    @pytest.fixture
    def intent(self, stage: Stage) -> Intent:
        payments = [Payment(amount="60.00", gateway="visa"), Payment(amount="140.00")]
        case = stage.case(amount="150.00", total="200.00", payments=payments)
        return stage.work(stage.propose(case, amount="150.00"))

    @pytest.fixture
    def approver(self, stage: Stage) -> Client:
        return sat_down(stage.workspace, "ada", Role.APPROVER)

    def test_the_exact_allocation_its_reason_and_its_people_are_shown(
        self, intent: Intent, approver: Client
    ) -> None:
        content = words(inbox(approver))
        assert "150.00 EUR refund" in content
        assert "Proposed by ai agent-1" in content
        assert "Why the parcel came broken" in content
        assert "150.00 EUR asked &gt; 100.00 EUR that need no second person." in content
        told = content[content.index("Exactly this would be sent") :]
        assert told.index("60.00 EUR visa") < told.index("90.00 EUR manual")
        assert "By amount alone: no items, shipping or duties are named." in content
        assert "The store's own mail to the customer: off." in content

    def test_a_yes_is_kept_and_is_not_yet_an_authorization(
        self, stage: Stage, intent: Intent, approver: Client
    ) -> None:
        content = words(send(approver, intent, "approve", reason="the photos are clear"))
        assert "That is not yet an authorization: the gate looks once more" in content
        assert "have been refunded" not in content
        approval = Approval.objects.get(intent=intent)
        said = (approval.approver_kind, approval.approver_identity, approval.approves)
        assert said == ("human_node", "ada", True)
        assert approval.digest == stage.shown(intent).shown_digest
        assert fresh(intent).state == State.AWAITING_APPROVAL
        assert stage.shop.effects() == ()
        assert stage.settle(intent).state == State.CONFIRMED
        content = words(
            approver.get(f"/console/actions/intent/{intent.public_id}/").content.decode()
        )
        assert "Approved by human node ada" in content
        assert "Why the photos are clear" in content
        assert "approved by a second person" in content

    def test_a_brand_admin_speaks_as_the_brands_team(self, stage: Stage, intent: Intent) -> None:
        send(sat_down(stage.workspace, "bo", Role.BRAND_ADMIN), intent, "approve")
        approval = Approval.objects.get(intent=intent)
        assert (approval.approver_kind, approval.approver_identity) == ("brand_team", "bo")

    def test_a_second_click_is_answered_the_same_and_changes_nothing(
        self, intent: Intent, approver: Client
    ) -> None:
        form = form_for(approver, intent, "approve")
        assert form
        first = post(approver, intent, "approve", **form)
        events = IntentEvent.objects.count()
        second = post(approver, intent, "approve", **form)
        assert "You approved exactly what was shown" in words(first)
        assert "You approved exactly what was shown" in words(second)
        assert (Approval.objects.count(), IntentEvent.objects.count()) == (1, events)

    def test_a_no_refuses_it_and_nothing_is_sent(
        self, stage: Stage, intent: Intent, approver: Client
    ) -> None:
        content = words(send(approver, intent, "reject", reason="not broken at all"))
        assert f"You said no to {intent.public_id}. It is refused; nothing was sent." in content
        assert "Rejected by human node ada" in content
        assert "a no is final" in content
        row = fresh(intent)
        assert (row.state, row.state_reason) == (State.REFUSED, "rejected_by_person")
        assert stage.shop.effects() == ()

    def test_the_way_back_leads_to_the_inbox_and_nowhere_else(
        self, intent: Intent, approver: Client
    ) -> None:
        (form,) = [
            fields
            for address, fields in forms_on(inbox(approver)).items()
            if address.endswith("/approve/")
        ]
        address = f"/console/actions/intent/{intent.public_id}/approve/"
        answer = approver.post(address, form)
        assert answer.headers["Location"] == reverse("console:approvals")
        answer = approver.post(address, {**form, "back": "https://evil.example/"})
        assert answer.headers["Location"] == f"/console/actions/intent/{intent.public_id}/"

    def test_a_stale_page_says_yes_to_nothing_and_shows_what_stands_now(
        self, stage: Stage, intent: Intent, approver: Client
    ) -> None:
        form = form_for(approver, intent, "approve")
        assert form
        assert stage.approve(intent).state == State.CONFIRMED  # somebody else's yes
        content = words(post(approver, intent, "approve", **form))
        assert "The intent doesn&#x27;t wait for this word (any more)" in content
        assert "Nothing was changed." in content
        assert Approval.objects.count() == 1

    def test_what_is_asked_again_stands_beside_what_was_shown_before(
        self, stage: Stage, intent: Intent, approver: Client
    ) -> None:
        old = form_for(approver, intent, "approve")
        assert old
        send(approver, intent, "approve")
        stage.shop.refund_by_staff(intent.target.identifier, amount="20.00")
        assert stage.work(intent).state == State.AWAITING_APPROVAL
        content = words(inbox(approver))
        before = content[content.index("Shown before") : content.index("Exactly this")]
        after = content[content.index("Exactly this") :]
        assert "It is asked again: what would be sent now is not what was shown before." in content
        assert ("60.00 EUR visa" in before, "90.00 EUR manual" in before) == (True, True)
        assert ("40.00 EUR visa" in after, "110.00 EUR manual" in after) == (True, True)
        stale = words(post(approver, intent, "reject", **old))
        assert "What was shown to you is not what stands now" in stale
        assert fresh(intent).state == State.AWAITING_APPROVAL
        new = form_for(approver, intent, "approve")
        assert new
        assert new["digest"] != old["digest"]
        assert "asked again" in words(send(approver, intent, "approve"))

    def test_where_only_the_stores_mail_has_changed_it_says_so(
        self, stage: Stage, intent: Intent, approver: Client
    ) -> None:
        send(approver, intent, "approve")
        stage.policy(cap="200.00", approval_above="100.00", notify=True)
        assert stage.work(intent).state == State.AWAITING_APPROVAL
        content = words(inbox(approver))
        assert "The payments and amounts are the same; whether the store mails" in content
        assert "The store's own mail to the customer: on ." in content

    @pytest.mark.parametrize("role_now", [Role.APPROVER, Role.BRAND_ADMIN])
    def test_a_proposer_reads_why_they_cant_whatever_role_they_have_by_now(
        self, stage: Stage, role_now: Role
    ) -> None:
        case = stage.case(amount="150.00", total="200.00")
        proposer = Actor(kind=ActorKind.HUMAN_NODE, identity="mia")
        intent = stage.work(stage.propose(case, amount="150.00", by=proposer))
        client = sat_down(stage.workspace, proposer.identity, role_now)
        assert "You proposed this, so a second person approves it." in inbox(client)
        assert form_for(client, intent, "approve") is None
        digest = stage.shown(intent).shown_digest
        for verb in ("approve", "reject"):
            content = words(post(client, intent, verb, digest=digest))
            assert "Whoever proposed an action doesn&#x27;t approve it" in content
        assert not Approval.objects.exists()
        assert fresh(intent).state == State.AWAITING_APPROVAL

    def test_shop_money_stands_beside_where_it_is_another(
        self, stage: Stage, approver: Client
    ) -> None:
        case = stage.case(amount="15000", currency="JPY", total="30000", rate="0.01")
        intent = stage.work(stage.propose(case, amount="15000"))
        assert intent.state == State.AWAITING_APPROVAL, GateDecision.objects.latest("pk").verdicts
        assert "15000 JPY counts as 150.00 EUR refund" in words(inbox(approver))
