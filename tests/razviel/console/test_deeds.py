"""What a person does on an intent's page: clear, have judged again, accept, repeat, take back."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.test import Client

from actions.models import Approval, Intent, IntentEvent
from actions.states import State
from integrations.clock import now
from integrations.models import Role
from integrations.ports import Standing
from integrations.sandbox.records import Payment
from tests.factories import answer, intent_in, make_ticket, resolved_ticket
from tests.razviel.console.brands import member_of, page_of, sat_down
from tests.razviel.console.sending import form_for, post, send
from tests.razviel.console.test_intent_page import words
from tests.stage import Case, Stage, fresh

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def node(stage: Stage) -> Client:
    return sat_down(stage.workspace, "mia", Role.HUMAN_NODE)


def page(client: Client, intent: Intent) -> str:
    return words(client.get(page_of(intent)).content.decode())


class TestHeld:
    """A twin in another ticket, held for an equal effect."""

    @pytest.fixture
    def case(self, stage: Stage) -> Case:
        return stage.case(total="100.00")

    @pytest.fixture
    def first(self, stage: Stage, case: Case) -> Intent:
        return stage.work(stage.propose(case))

    @pytest.fixture
    def twin(self, stage: Stage, case: Case, first: Intent) -> Intent:
        assert first.state == State.CONFIRMED
        return stage.work(stage.propose(stage.another_ticket(case)))

    def test_the_reason_and_the_evidence_are_shown_with_a_way_to_look_at_it(
        self, node: Client, first: Intent, twin: Intent
    ) -> None:
        content = page(node, twin)
        assert "Held: an equal effect was found" in content
        assert f"{first.public_id} refund of 12.50 EUR, confirmed" in content
        assert f'href="{page_of(first)}"' in node.get(page_of(twin)).content.decode()

    def test_clearing_waives_that_reason_and_keeps_who_and_on_what(
        self, stage: Stage, node: Client, twin: Intent
    ) -> None:
        digest = stage.shown(twin).shown_digest
        content = words(send(node, twin, "clear", reason="two parcels broke"))
        assert "You cleared this reason, on the evidence that was shown." in content
        assert "It is judged again with this one reason waived." in content.replace(
            "it is", "It is"
        )
        approval = Approval.objects.get(intent=twin)
        assert (approval.approver_identity, approval.digest) == ("mia", digest)
        assert form_for(node, twin, "clear") is None
        assert stage.settle(twin).state == State.CONFIRMED
        told = page(node, twin)
        assert "Cleared by human node mia" in told
        assert "Why two parcels broke" in told
        assert "cleared by a person cleared by a look at its evidence: equal_effect" in told

    def test_a_stale_page_clears_nothing(self, stage: Stage, node: Client, twin: Intent) -> None:
        content = words(post(node, twin, "clear", digest="0" * 64))
        assert "What was shown to you is not what stands now" in content
        assert not Approval.objects.exists()
        assert fresh(twin).state == State.HELD
        assert len(stage.shop.effects()) == 1

    def test_judging_again_waives_nothing(self, stage: Stage, node: Client, twin: Intent) -> None:
        content = words(send(node, twin, "judge-again"))
        assert "The gate judges it again now. Nothing is waived by that." in content
        assert "judged again a person has it judged again by human node mia" in content
        assert stage.work(twin).state == State.HELD
        assert not Approval.objects.exists()

    def test_past_the_brands_time_a_person_has_it_judged_again(
        self, stage: Stage, node: Client, twin: Intent
    ) -> None:
        stage.pass_time(timedelta(hours=27))
        assert stage.work(twin).needs_human_reason == "held_too_long"
        assert "It has been held past the brand&#x27;s time" in page(node, twin)
        send(node, twin, "judge-again")
        assert fresh(twin).needs_human_since is None

    def test_a_reason_that_no_word_clears_can_only_be_judged_again(
        self, stage: Stage, node: Client
    ) -> None:
        stage.pause()
        held = stage.work(stage.propose(stage.case()))
        assert "Held: the workspace is paused" in page(node, held)
        assert form_for(node, held, "clear") is None
        content = words(post(node, held, "clear", digest=stage.shown(held).shown_digest))
        assert "No word clears this reason" in content
        stage.resume()
        send(node, held, "judge-again")
        assert stage.settle(held).state == State.CONFIRMED

    def test_an_auditor_sees_the_evidence_and_no_form(
        self, stage: Stage, first: Intent, twin: Intent
    ) -> None:
        client = sat_down(stage.workspace, "aud", Role.AUDITOR)
        assert first.public_id in page(client, twin)
        for verb in ("clear", "judge-again", "withdraw"):
            assert form_for(client, twin, verb) is None


class TestAccepting:
    """Two payments, of which one gateway fails."""

    @pytest.fixture
    def intent(self, stage: Stage) -> Intent:
        stage.shop.gateway("slow", answers="FAILURE")
        payments = [
            Payment(amount="30.00", gateway="card"),
            Payment(amount="70.00", gateway="slow"),
        ]
        case = stage.case(amount="50.00", total="100.00", payments=payments)
        return stage.work(stage.propose(case, amount="50.00"))

    def test_what_stands_and_what_failed_is_shown_part_by_part(
        self, node: Client, intent: Intent
    ) -> None:
        content = page(node, intent)
        assert intent.state == State.PARTIALLY_CONFIRMED
        assert "card 30.00 EUR SUCCESS succeeded" in content
        assert "slow 20.00 EUR FAILURE failed" in content
        assert "30.00 EUR stand there; 50.00 EUR were asked, so 20.00 EUR are missing" in content

    def test_without_a_reason_nothing_is_accepted(self, node: Client, intent: Intent) -> None:
        content = words(send(node, intent, "accept", reason="   "))
        assert "Say why you accept it; nothing was changed." in content
        assert fresh(intent).state == State.PARTIALLY_CONFIRMED

    @pytest.mark.parametrize("amount", ["30.01", "50.00", "30", "", "-30.00", "3e1"])
    def test_another_amount_than_stands_is_not_accepted(
        self, node: Client, intent: Intent, amount: str
    ) -> None:
        content = words(post(node, intent, "accept", amount=amount, currency="EUR", reason="ok"))
        if amount == "30":
            assert fresh(intent).state == State.ACCEPTED  # the same amount, written shorter
            return
        assert "30.00 EUR stand on the platform now, which is not what you accept." in content
        assert fresh(intent).state == State.PARTIALLY_CONFIRMED

    def test_accepting_keeps_the_reason_and_offers_the_rest(
        self, stage: Stage, node: Client, intent: Intent
    ) -> None:
        content = words(send(node, intent, "accept", reason="the customer takes a voucher"))
        assert "You accepted 30.00 EUR instead of 50.00 EUR. It is counted apart" in content
        assert "Accepted because the customer takes a voucher" in content
        assert "20.00 EUR of what was asked are missing Propose the rest" in content
        assert form_for(node, intent, "accept") is None
        event = IntentEvent.objects.filter(intent=intent).latest("number")
        assert (event.to_state, event.by_identity) == ("accepted", "mia")
        assert len(stage.shop.effects()) == 1

    @pytest.mark.parametrize(
        ("stands", "said"),
        [("10.00", ", so 2.50 EUR are missing."), ("13.00", "12.50 EUR were asked.")],
    )
    def test_a_pending_mismatch_is_accepted_as_it_stands(self, stands: str, said: str) -> None:
        intent = intent_in(State.EXECUTING)
        parts = [(Standing.SUCCEEDED, Decimal(stands))]
        answer(intent, at=now(), to=State.PENDING, parts=parts)
        client = member_of(intent.workspace, role=Role.BRAND_ADMIN)
        assert said in page(client, intent).replace(" .", ".")
        send(client, intent, "accept", reason="the store rounds")
        assert fresh(intent).state == State.ACCEPTED
        assert ("Propose the rest" in page(client, intent)) == (stands == "10.00")

    def test_a_part_that_may_still_move_is_not_offered(self, stage: Stage, node: Client) -> None:
        stage.shop.gateway("manual", answers="PENDING")
        pending = stage.work(stage.propose(stage.case()))
        assert pending.state == State.PENDING
        assert form_for(node, pending, "accept") is None
        content = words(post(node, pending, "accept", amount="12.50", currency="EUR", reason="ok"))
        assert "Nothing can be accepted" in content
        assert fresh(pending).state == State.PENDING


class TestRepeating:
    """An intent that ended, and the plain question."""

    @pytest.fixture
    def confirmed(self, stage: Stage) -> Intent:
        return stage.work(stage.propose(stage.case(total="100.00")))

    def test_the_question_says_when_by_whom_and_what_stands(
        self, node: Client, confirmed: Intent
    ) -> None:
        refund = confirmed.external_objects.get().identifier
        assert confirmed.confirmed_at
        content = page(node, confirmed)
        assert (
            f"This was confirmed on {confirmed.confirmed_at:%Y-%m-%d %H:%M:%S} UTC , proposed by "
            f"ai agent-1, approved by nobody (no second person was wanted): {refund} . "
            "Do it once more?"
        ) in content

    def test_a_second_person_who_approved_it_is_named(self, stage: Stage, node: Client) -> None:
        case = stage.case(amount="150.00", total="400.00")
        intent = stage.approve(stage.work(stage.propose(case, amount="150.00")))
        assert intent.state == State.CONFIRMED
        assert "approved by human node node-2: gid://shopify/Refund/" in page(node, intent)

    def test_a_repeat_is_an_intent_of_its_own_and_two_clicks_make_one(
        self, stage: Stage, node: Client, confirmed: Intent
    ) -> None:
        form = form_for(node, confirmed, "repeat")
        assert form
        first = words(post(node, confirmed, "repeat", **form, reason="a second parcel broke"))
        second = words(post(node, confirmed, "repeat", **form))
        assert "This is the repeat: an intent of its own" in first
        assert "It was repeated before: this is the repeat, and no other was made." in second
        repeat = Intent.objects.get(repeat_of=confirmed)
        assert (repeat.occurrence, repeat.proposer_identity) == (2, "mia")
        assert len(stage.shop.effects()) == 1
        assert stage.settle(repeat).state == State.CONFIRMED
        assert len(stage.shop.effects()) == 2
        assert f"Repeated by {repeat.public_id}" in page(node, confirmed)
        assert form_for(node, confirmed, "repeat") is None

    def test_without_what_stands_there_nothing_is_repeated(
        self, stage: Stage, node: Client, confirmed: Intent
    ) -> None:
        content = words(post(node, confirmed, "repeat", acknowledges="gid://shopify/Refund/1"))
        assert "It stands on the platform. Look at what stands there now" in content
        assert not Intent.objects.filter(repeat_of=confirmed).exists()
        assert len(stage.shop.effects()) == 1

    def test_a_withdrawn_repeat_does_not_hide_what_stands(
        self, stage: Stage, node: Client, confirmed: Intent
    ) -> None:
        send(node, confirmed, "repeat")
        repeat = Intent.objects.get(repeat_of=confirmed)
        send(node, repeat, "withdraw")
        refund = confirmed.external_objects.get().identifier
        content = page(node, repeat)
        assert "An earlier one like this was confirmed" in content
        assert f"{refund} . Do it once more?" in content

    def test_on_a_closed_ticket_it_is_not_offered(self) -> None:
        intent = resolved_ticket().intent_set.get()
        client = member_of(intent.workspace)
        assert form_for(client, intent, "repeat") is None

    @pytest.mark.parametrize("state", [State.UNKNOWN, State.PENDING, State.AUTHORIZED])
    def test_what_has_not_ended_is_not_repeated(self, state: State) -> None:
        intent = intent_in(state)
        client = member_of(intent.workspace)
        assert form_for(client, intent, "repeat") is None


class TestTakingBack:
    """Before and after a send."""

    def test_what_was_never_sent_is_taken_back(self) -> None:
        intent = intent_in(State.HELD)
        content = words(send(member_of(intent.workspace), intent, "withdraw"))
        assert "It was taken back before anything was sent." in content
        assert fresh(intent).state == State.WITHDRAWN

    def test_of_what_was_sent_only_the_right_to_send_again_ends(self) -> None:
        intent = intent_in(State.UNKNOWN)
        client = member_of(intent.workspace)
        assert "It ends as the store says." in page(client, intent)
        content = words(send(client, intent, "withdraw"))
        assert "What was sent stays as the store says: it may have taken effect" in content
        row = fresh(intent)
        assert (row.state, row.resend_ended_at is None) == (State.UNKNOWN, False)
        assert form_for(client, intent, "withdraw") is None

    def test_what_has_ended_is_not_taken_back(self) -> None:
        intent = intent_in(State.CONFIRMED, ticket=make_ticket())
        client = member_of(intent.workspace)
        assert form_for(client, intent, "withdraw") is None
        assert "The intent has ended" in words(post(client, intent, "withdraw"))
        assert fresh(intent).state == State.CONFIRMED
