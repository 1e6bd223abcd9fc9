"""What each receipt makes of delivery, draft and dispatch claim."""

import dataclasses

import pytest

from approvals.connectors.base import Receipt
from approvals.models import AuditEvent, Channel
from tests.cast import Story
from tests.support.remote import DELIVERED, LOCKED_OUT, NOT_SENT, REFUSED, UNKNOWN
from tests.workers.beats import (
    attempt_of,
    change_channel,
    deduping_tickets,
    delivery_of,
    proposed_on,
    seconds_until,
    send,
    stands,
)

AFTER = {
    "delivered": (DELIVERED, "submitted", "delivered"),
    "refused": (REFUSED, "failed", "refused"),
    "not_sent": (NOT_SENT, "submitting", "waiting"),
    "paused": (LOCKED_OUT, "submitting", "waiting"),
}


@pytest.mark.parametrize("channel", ["tickets", "replies"])
@pytest.mark.parametrize("word", AFTER)
def test_a_known_outcome_moves_everything_and_frees_the_target(story: Story, word: str, channel: str) -> None:
    receipt, draft_state, delivery_state = AFTER[word]
    draft = proposed_on(story, channel)
    story.remote.receipts.append(receipt)
    assert send(story) == {word: 1}
    assert stands(draft) == (draft_state, delivery_state, "idle")


@pytest.mark.parametrize(("channel", "claim"), [("tickets", "idle"), ("replies", "uncertain")])
def test_an_unknown_outcome_holds_only_an_exclusive_target(story: Story, channel: str, claim: str) -> None:
    draft = proposed_on(story, channel)
    story.remote.receipts.append(UNKNOWN)
    assert send(story) == {"unknown": 1}
    assert stands(draft) == ("delivery_unknown", "unknown", claim)


@pytest.mark.parametrize("receipt", [DELIVERED, REFUSED, NOT_SENT, UNKNOWN])
def test_the_attempt_is_finished_with_the_receipts_words(story: Story, receipt: Receipt) -> None:
    draft = story.approved()
    story.remote.receipts.append(dataclasses.replace(receipt, evidence={"status": 200}))
    send(story)
    attempt = attempt_of(draft)
    assert (attempt.outcome, attempt.reason, attempt.finished_at) == (receipt.outcome, receipt.reason, story.clock.now)
    assert attempt.evidence == {"status": 200}


def test_a_delivered_write_is_read_back_at_once_and_never_sent_again(story: Story) -> None:
    draft = story.approved()
    send(story)
    delivery = delivery_of(draft)
    assert (delivery.next_check_at, delivery.next_attempt_at) == (story.clock.now, None)
    assert (delivery.remote_id, delivery.delivered_at) == ("issue42", story.clock.now)


def test_a_refused_write_is_left_alone(story: Story) -> None:
    draft = story.approved()
    story.remote.receipts.append(REFUSED)
    send(story)
    delivery = delivery_of(draft)
    assert (delivery.next_check_at, delivery.next_attempt_at) == (None, None)
    assert story.again(draft).reason == REFUSED.reason


def test_a_write_that_did_not_leave_waits_a_little_before_the_next_try(story: Story) -> None:
    draft = story.approved()
    story.remote.receipts.append(NOT_SENT)
    send(story)
    assert 2.5 <= seconds_until(story, delivery_of(draft).next_attempt_at) <= 5


def test_every_further_try_waits_longer(story: Story) -> None:
    draft = story.approved()
    waits = []
    for _ in range(4):
        story.remote.receipts.append(NOT_SENT)
        send(story)
        waits.append(seconds_until(story, delivery_of(draft).next_attempt_at))
        story.clock.advance(seconds=waits[-1])
    assert waits == sorted(waits)
    assert waits[-1] >= 20


def test_the_remotes_own_wish_lengthens_the_wait(story: Story) -> None:
    draft = story.approved()
    story.remote.receipts.append(dataclasses.replace(NOT_SENT, retry_after_seconds=90))
    send(story)
    assert seconds_until(story, delivery_of(draft).next_attempt_at) == 90


def test_the_remotes_own_wish_counts_for_a_repeat_of_an_unknown_one_too(story: Story) -> None:
    deduping_tickets(story)
    draft = story.approved()
    story.remote.receipts += [UNKNOWN, dataclasses.replace(NOT_SENT, retry_after_seconds=900)]
    send(story)
    story.clock.advance(seconds=10)
    send(story)
    assert seconds_until(story, delivery_of(draft).next_attempt_at) == 900


def test_a_second_try_is_sent_under_the_same_id_and_bytes(story: Story) -> None:
    story.approved()
    story.remote.receipts.append(NOT_SENT)
    send(story)
    story.clock.advance(seconds=5)
    assert send(story) == {"delivered": 1}
    first, second = story.remote.sent
    assert (first.delivery_id, first.request) == (second.delivery_id, second.request)


def test_an_unknown_write_is_looked_up_at_once_where_that_can_be_done(story: Story) -> None:
    draft = story.approved()
    story.remote.receipts.append(UNKNOWN)
    send(story)
    delivery = delivery_of(draft)
    assert (delivery.next_check_at, delivery.next_attempt_at) == (story.clock.now, None)


def test_an_unknown_write_is_sent_again_where_the_receiver_dedupes_and_cannot_be_asked(story: Story) -> None:
    deduping_tickets(story)
    draft = story.approved()
    story.remote.receipts.append(UNKNOWN)
    send(story)
    delivery = delivery_of(draft)
    assert delivery.next_check_at is None
    assert 2.5 <= seconds_until(story, delivery.next_attempt_at) <= 5


def test_an_unknown_write_to_an_exclusive_target_is_never_sent_again_unproven(story: Story) -> None:
    change_channel(story, "replies", config={"capabilities": []})
    draft = proposed_on(story, "replies")
    story.remote.receipts.append(UNKNOWN)
    send(story)
    assert delivery_of(draft).next_attempt_at is None


def test_an_unknown_write_waits_for_a_person_where_nothing_can_be_done(story: Story) -> None:
    change_channel(story, "tickets", config={"capabilities": []})
    draft = story.approved()
    story.remote.receipts.append(UNKNOWN)
    send(story)
    delivery = delivery_of(draft)
    assert (delivery.next_check_at, delivery.next_attempt_at) == (None, None)


@pytest.mark.parametrize("receipt", [REFUSED, NOT_SENT])
def test_a_no_to_the_second_try_says_nothing_about_an_unknown_first(story: Story, receipt: Receipt) -> None:
    deduping_tickets(story)
    draft = story.approved()
    story.remote.receipts += [UNKNOWN, receipt]
    send(story)
    story.clock.advance(seconds=5)
    send(story)
    assert len(story.remote.sent) == 2
    assert stands(draft) == ("delivery_unknown", "unknown", "idle")


def test_a_yes_to_the_second_try_settles_an_unknown_first(story: Story) -> None:
    deduping_tickets(story)
    draft = story.approved()
    story.remote.receipts += [UNKNOWN, DELIVERED]
    send(story)
    story.clock.advance(seconds=5)
    send(story)
    assert stands(draft) == ("submitted", "delivered", "idle")


def test_a_no_after_tries_that_did_not_leave_is_a_no(story: Story) -> None:
    draft = story.approved()
    story.remote.receipts += [NOT_SENT, REFUSED]
    send(story)
    story.clock.advance(seconds=5)
    send(story)
    assert stands(draft) == ("failed", "refused", "idle")


def test_refused_credentials_pause_the_channel_and_say_so(story: Story) -> None:
    story.approved()
    story.remote.receipts.append(LOCKED_OUT)
    send(story)
    channel = Channel.objects.get(slug="tickets")
    assert (channel.paused_at, channel.paused_reason) == (story.clock.now, LOCKED_OUT.reason)
    assert AuditEvent.objects.get(action="channel.paused").actor == "system:dispatch_approved"
