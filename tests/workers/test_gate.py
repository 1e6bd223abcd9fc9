"""What happens after the gate said no: before the first send, and before a later one."""

from datetime import timedelta

from approvals.domain.gate import Cause, GateAnswer
from approvals.models import AuditEvent, Channel, Delivery, Draft, OutboxEvent, Revision, User
from approvals.services import pause
from tests.cast import Story
from tests.support.remote import DELIVERED, NOT_SENT
from tests.support.walls import lifted
from tests.workers.beats import (
    LEASE_SECONDS,
    REVIEW,
    attempt_of,
    begun,
    change_channel,
    deduping_tickets,
    delivery_of,
    go,
    hand_in,
    hand_in_for,
    made_unknown,
    proposed_on,
    reserve,
    send,
    stands,
    stop,
    tidy,
)


def waiting(story: Story, channel: str = "tickets") -> Draft:
    """Gives a draft whose first try did not leave and whose second is due."""
    draft = proposed_on(story, channel)
    story.remote.receipts.append(NOT_SENT)
    send(story)
    story.clock.advance(seconds=5)
    return draft


def alter_bytes(draft: Draft) -> None:
    """Changes one stored character behind everybody's back."""
    revision = Revision.objects.get(draft=draft)
    with lifted():
        Revision.objects.filter(pk=revision.pk).update(canonical=bytes(revision.canonical).replace(b"stuck", b"Stuck"))


def sent_without_sequel(story: Story, draft: Draft) -> None:
    """Delivers a draft and stops before others of its target are sent back to review."""
    hand_in(story, begun(story, draft), DELIVERED)


# Before the first send


def test_an_approval_that_runs_out_after_the_reservation_is_expired_and_not_sent(story: Story) -> None:
    draft = story.approved()
    story.clock.now = story.approval(draft).expires_at - timedelta(seconds=1)
    hold = reserve(story, draft)
    story.clock.advance(seconds=1)
    answer = go(story, hold)
    assert answer.has(Cause.EXPIRED)
    stop(story, hold, answer)
    assert (story.again(draft).state, story.approval(draft).state) == ("expired", "expired")
    assert not Delivery.objects.exists()


def test_a_second_before_its_end_an_approval_is_still_sent(story: Story) -> None:
    draft = story.approved()
    story.clock.now = story.approval(draft).expires_at - timedelta(seconds=1)
    assert send(story) == {"delivered": 1}


def test_an_approval_found_past_its_time_is_expired_even_if_no_sweeper_ever_ran(story: Story) -> None:
    draft = story.approved()
    story.clock.now = story.approval(draft).expires_at
    assert send(story) == {"stopped": 1}
    assert story.again(draft).state == "expired"
    assert story.remote.sent == []


def test_a_target_that_moved_on_sends_the_draft_back_to_review(story: Story) -> None:
    first = story.approved(resource=REVIEW)
    story.clock.advance(seconds=1)
    second = story.approved(resource=REVIEW, payload={"comment": "Sorry"})
    old = story.approval(second)
    sent_without_sequel(story, first)
    assert send(story) == {"stopped": 1}
    assert story.again(second).state == "in_review"
    assert story.approval(second).target_version == old.target_version + 1


def test_an_approver_who_lost_standing_no_longer_counts(story: Story) -> None:
    draft = story.approved()
    old = story.approval(draft)
    User.objects.filter(username="ben").update(is_active=False)
    assert send(story) == {"stopped": 1}
    assert type(old).objects.get(pk=old.pk).state == "revoked"
    assert (story.again(draft).state, story.approval(draft).state) == ("in_review", "pending")
    assert story.approval(draft).decisions.count() == 0


def test_altered_bytes_are_never_sent_and_the_approval_is_revoked(story: Story) -> None:
    draft = story.approved()
    alter_bytes(draft)
    assert send(story) == {"stopped": 1}
    assert (story.again(draft).state, story.approval(draft).state) == ("revoked", "revoked")
    assert AuditEvent.objects.filter(action="digest_mismatch", draft=draft).count() == 1


def test_a_pause_after_the_reservation_only_gives_the_target_back(story: Story) -> None:
    draft = story.approved()
    hold = reserve(story, draft)
    pause.pause_channel(actor=story.actor("max"), clock=story.clock, channel=draft.channel, reason="Too many")
    answer = go(story, hold)
    stop(story, hold, answer)
    assert answer.has(Cause.PAUSED)
    assert (story.again(draft).state, story.approval(draft).state) == ("approved", "approved")
    pause.resume_channel(actor=story.actor("max"), clock=story.clock, channel=draft.channel)
    assert send(story) == {"delivered": 1}


def test_a_request_that_would_look_different_goes_back_to_review(story: Story) -> None:
    draft = story.approved()
    old = story.approval(draft)
    story.remote.flavour = "2"
    assert send(story) == {"stopped": 1}
    replaced = type(old).objects.get(pk=old.pk)
    assert (replaced.state, replaced.superseded_by_id) == ("superseded", story.approval(draft).pk)
    assert story.again(draft).state == "in_review"
    assert story.remote.sent == []


def test_a_no_says_every_condition_that_failed(story: Story) -> None:
    draft = story.approved()
    hold = reserve(story, draft)
    story.remote.flavour = "2"
    User.objects.filter(username="ben").update(is_active=False)
    answer = go(story, hold)
    stop(story, hold, answer)
    said = AuditEvent.objects.get(action="begin.refused").body
    assert all(reason.message in said for reason in answer.reasons)
    assert {reason.cause for reason in answer.reasons} == {Cause.RENDERING_CHANGED, Cause.STANDING}


def test_a_no_spends_nothing(story: Story) -> None:
    draft = story.approved()
    hold = reserve(story, draft)
    story.remote.flavour = "2"
    assert isinstance(go(story, hold), GateAnswer)
    assert story.approval(draft).state == "approved"
    assert not Delivery.objects.exists()
    assert not OutboxEvent.objects.filter(event_class="use").exists()


# Before a later send


def test_a_later_send_of_an_expired_approval_is_cancelled_and_fails(story: Story) -> None:
    draft = waiting(story)
    story.clock.now = story.approval(draft).expires_at
    assert send(story) == {"stopped": 1}
    assert stands(draft) == ("failed", "cancelled", "idle")
    assert story.again(draft).reason == "The approval has expired."


def test_a_later_send_to_a_target_that_moved_on_is_cancelled_and_fails(story: Story) -> None:
    rival = story.approved(resource=REVIEW, payload={"comment": "Sorry"})
    story.clock.advance(seconds=1)
    draft = story.approved(resource=REVIEW)
    attempt = begun(story, rival)
    hand_in(story, attempt, NOT_SENT)
    sent_without_sequel(story, draft)
    story.clock.advance(seconds=5)
    assert send(story) == {"stopped": 1}
    assert stands(rival) == ("failed", "cancelled", "idle")
    assert "written to" in story.again(rival).reason


def test_a_pause_before_a_later_send_leaves_it_waiting(story: Story) -> None:
    draft = waiting(story)
    hold = reserve(story, draft)
    pause.pause_room(actor=story.actor("max"), clock=story.clock, room=draft.room, reason="Too many")
    stop(story, hold, go(story, hold))
    assert stands(draft) == ("submitting", "waiting", "idle")
    assert send(story) == {}


def test_late_evidence_before_a_later_send_leaves_it_waiting(story: Story) -> None:
    draft = waiting(story)
    hold = reserve(story, draft)
    hand_in_for(story, attempt_of(draft), DELIVERED)
    answer = go(story, hold)
    stop(story, hold, answer)
    assert answer.has(Cause.HELD)
    assert stands(draft) == ("submitting", "waiting", "idle")


def test_an_unknown_delivery_whose_gate_says_no_stays_unknown_and_is_not_asked_again(story: Story) -> None:
    deduping_tickets(story)
    draft = made_unknown(story, story.approved())
    story.clock.now = story.approval(draft).expires_at
    assert send(story) == {"stopped": 1}
    assert stands(draft) == ("delivery_unknown", "unknown", "idle")
    assert story.again(draft).reason == "The approval has expired."
    assert send(story) == {}


def test_a_delivery_settled_after_the_reservation_is_not_sent_again(story: Story) -> None:
    deduping_tickets(story)
    draft = story.approved()
    attempt = begun(story, draft)
    story.clock.advance(seconds=LEASE_SECONDS)
    tidy(story)
    story.clock.advance(seconds=5)
    hold = reserve(story, draft)
    hand_in(story, attempt, DELIVERED)
    stop(story, hold, go(story, hold))
    assert stands(draft) == ("submitted", "delivered", "idle")
    assert delivery_of(draft).attempt_count == 1


def test_a_later_send_uses_the_configuration_the_delivery_was_begun_with(story: Story) -> None:
    draft = waiting(story)
    begun_with = delivery_of(draft).config_id
    change_channel(story, "tickets", config={"capabilities": []})
    assert send(story) == {"delivered": 1}
    assert Channel.objects.get(slug="tickets").config_id != begun_with
    assert story.remote.sent[1].settings == story.remote.sent[0].settings


def test_altered_bytes_of_a_waiting_delivery_are_never_sent(story: Story) -> None:
    draft = waiting(story)
    alter_bytes(draft)
    assert send(story) == {"stopped": 1}
    assert stands(draft) == ("failed", "cancelled", "idle")
