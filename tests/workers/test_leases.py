"""Reservations and leases: who may write to a target, and what a lease that ran out does and does not mean."""

from uuid import uuid4

import pytest
from django.test import override_settings

from approvals.connectors.base import Deadline, Job, Receipt
from approvals.domain.gate import GateAnswer
from approvals.models import AuditEvent, Delivery, DispatchClaim
from approvals.services import holding
from approvals.services.holding import Hold
from approvals.services.opening import Begun
from tests.cast import Story
from tests.support.remote import NOT_SENT, FakeConnector
from tests.workers.beats import (
    LEASE_SECONDS,
    begun,
    claim_of,
    delivery_of,
    go,
    hand_in,
    proposed_on,
    reserve,
    send,
    stands,
    stop,
    tidy,
)


def taken_over(story: Story, draft: object) -> tuple[Hold, Hold]:
    """Gives a reservation whose holder fell silent, and the one that took its place."""
    old = reserve(story, draft, owner="one")
    story.clock.advance(seconds=LEASE_SECONDS)
    return old, reserve(story, draft, owner="two")


def release(story: Story, hold: Hold) -> bool:
    return holding.release(actor=story.worker, clock=story.clock, hold=hold, reason="Nothing to do.")


def test_a_reserved_target_is_nobody_elses(story: Story) -> None:
    draft = story.approved()
    reserve(story, draft)
    story.clock.advance(seconds=LEASE_SECONDS - 1)
    assert send(story) == {}


def test_a_reservation_past_its_lease_is_taken_over_with_a_new_epoch_and_token(story: Story) -> None:
    old, new = taken_over(story, story.approved())
    assert new.epoch == old.epoch + 1
    assert new.token != old.token


def test_the_old_token_cannot_begin(story: Story) -> None:
    draft = story.approved()
    old, _ = taken_over(story, draft)
    assert isinstance(go(story, old), GateAnswer)
    assert not Delivery.objects.exists()


def test_the_old_token_cannot_release(story: Story) -> None:
    draft = story.approved()
    old, new = taken_over(story, draft)
    assert release(story, old) is False
    assert claim_of(draft).token == new.token


def test_the_old_token_ends_nothing_that_waits_for_the_new_one(story: Story) -> None:
    draft = story.approved()
    story.remote.receipts.append(NOT_SENT)
    send(story)
    story.clock.advance(seconds=5)
    old, new = taken_over(story, draft)
    stop(story, old, go(story, old))
    assert isinstance(go(story, new), Begun)


def test_a_worker_that_reserved_and_overslept_sends_nothing_and_ends_nothing(story: Story) -> None:
    draft = story.approved()
    story.remote.receipts.append(NOT_SENT)
    send(story)
    story.clock.advance(seconds=5)
    hold = reserve(story, draft)
    story.clock.advance(seconds=LEASE_SECONDS)
    stop(story, hold, go(story, hold))
    assert stands(draft) == ("submitting", "waiting", "idle")


def test_a_guessed_token_can_do_nothing(story: Story) -> None:
    draft = story.approved()
    hold = reserve(story, draft)
    forged = Hold(hold.target_id, hold.draft_id, hold.epoch, uuid4(), hold.delivery_id, hold.approval_id, hold.resumes)
    assert isinstance(go(story, forged), GateAnswer)
    assert release(story, forged) is False


def test_a_release_gives_the_target_to_the_next(story: Story) -> None:
    draft = story.approved()
    release(story, reserve(story, draft))
    assert claim_of(draft).state == "idle"
    assert send(story) == {"delivered": 1}


def test_begin_renews_the_lease(story: Story) -> None:
    draft = story.approved()
    hold = reserve(story, draft)
    story.clock.advance(seconds=LEASE_SECONDS - 1)
    attempt = go(story, hold)
    assert (attempt.lease_until - story.clock.now).total_seconds() == LEASE_SECONDS
    assert claim_of(draft).lease_until == attempt.lease_until


@pytest.mark.parametrize(("channel", "claim"), [("tickets", "idle"), ("replies", "uncertain")])
def test_a_send_past_its_lease_becomes_unknown(story: Story, channel: str, claim: str) -> None:
    draft = proposed_on(story, channel)
    begun(story, draft)
    story.clock.advance(seconds=LEASE_SECONDS)
    assert tidy(story) == {"unknown": 1}
    assert stands(draft) == ("delivery_unknown", "unknown", claim)
    assert delivery_of(draft).next_check_at == story.clock.now


@pytest.mark.parametrize("channel", ["tickets", "replies"])
def test_a_send_past_its_lease_frees_nothing_by_itself(story: Story, channel: str) -> None:
    draft = proposed_on(story, channel)
    begun(story, draft)
    proposed_on(story, channel)
    story.clock.advance(seconds=LEASE_SECONDS * 10)
    assert send(story) == {}
    assert stands(draft) == ("submitting", "sending", "sending")


def test_a_send_past_its_lease_is_not_taken_over_as_a_reservation_is(story: Story) -> None:
    draft = story.approved()
    begun(story, draft)
    story.approved(payload={"summary": "Another"})
    story.clock.advance(seconds=LEASE_SECONDS)
    found = holding.reserve(actor=story.worker, clock=story.clock, target_id=draft.target_id, owner="two")
    assert found is None


@pytest.mark.parametrize("channel", ["tickets", "replies"])
def test_a_send_within_its_lease_is_left_alone(story: Story, channel: str) -> None:
    draft = proposed_on(story, channel)
    begun(story, draft)
    story.clock.advance(seconds=LEASE_SECONDS - 1)
    assert tidy(story) == {}
    assert stands(draft) == ("submitting", "sending", "sending")


def test_sweeping_twice_changes_nothing(story: Story) -> None:
    draft = story.approved()
    begun(story, draft)
    story.clock.advance(seconds=LEASE_SECONDS)
    tidy(story)
    seen = (AuditEvent.objects.count(), delivery_of(draft).next_check_at)
    assert tidy(story) == {}
    assert (AuditEvent.objects.count(), delivery_of(draft).next_check_at) == seen


def test_the_next_write_to_an_append_target_need_not_wait_for_an_unknown_one(story: Story) -> None:
    begun(story, story.approved())
    second = story.approved(payload={"summary": "Another"})
    story.clock.advance(seconds=LEASE_SECONDS)
    tidy(story)
    assert send(story) == {"delivered": 1}
    assert stands(second) == ("submitted", "delivered", "idle")


def test_the_next_write_to_an_exclusive_target_waits_for_an_unknown_one(story: Story) -> None:
    first = proposed_on(story, "replies")
    story.clock.advance(seconds=1)
    second = proposed_on(story, "replies")
    begun(story, first)
    story.clock.advance(seconds=LEASE_SECONDS)
    tidy(story)
    assert send(story) == {}
    assert story.again(second).state == "approved"


def test_an_attempt_says_who_made_it_and_under_which_reservation(story: Story) -> None:
    draft = story.approved()
    attempt = begun(story, draft)
    claim = DispatchClaim.objects.get(target_id=draft.target_id)
    seen = delivery_of(draft).attempts.get(pk=attempt.attempt_id)
    assert (seen.epoch, seen.token, seen.owner) == (claim.epoch, claim.token, "one")


@override_settings(REVIEWROOM_LEASE_SECONDS=60, REVIEWROOM_SEND_TIMEOUT_SECONDS=20)
def test_the_first_byte_may_leave_only_while_the_whole_timeout_fits_into_the_lease(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Deadline] = []

    async def told(self: FakeConnector, job: Job, deadline: Deadline) -> Receipt:
        seen.append(deadline)
        return NOT_SENT

    monkeypatch.setattr(FakeConnector, "send", told)
    monkeypatch.setattr("approvals.workers.dispatch.boottime", lambda: 1000.0)
    story.approved()
    send(story)
    assert (seen[0].seconds, seen[0].send_by) == (20, 1040.0)


def test_a_delivery_that_waits_is_resumed_by_the_worker_that_finds_it(story: Story) -> None:
    draft = story.approved()
    hand_in(story, begun(story, draft), NOT_SENT)
    story.clock.advance(seconds=5)
    hold = reserve(story, draft, owner="two")
    assert hold.resumes
    assert isinstance(go(story, hold), Begun)
    assert stands(draft) == ("submitting", "sending", "sending")
