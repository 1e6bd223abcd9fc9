"""Retry, cancel and look again: what an operator may do about a delivery that did not get through."""

import pytest

from approvals.domain import errors
from approvals.domain.states import DraftState as T
from approvals.models import Delivery, Draft
from approvals.services.cancel import cancel
from approvals.services.look_again import look_again
from approvals.services.retry import can_send_again, retry
from tests.cast import Story
from tests.services import states
from tests.services.record import actions, rows
from tests.support.remote import ABSENT, DELIVERED, EQUAL, NOT_SENT, REFUSED, UNKNOWN, UNSEEN
from tests.workers.beats import begun, change_channel, claim_of, go, hand_in, look, proven_absent, reserve, send, tidy


def again(story: Story, draft: Draft, by: str = "max") -> Draft:
    return retry(actor=story.actor(by), clock=story.clock, draft_id=draft.pk)


def stop(story: Story, draft: Draft, by: str = "max", reason: str = "Not any more.") -> Draft:
    return cancel(actor=story.actor(by), clock=story.clock, draft_id=draft.pk, reason=reason)


def ask(story: Story, draft: Draft, by: str = "max") -> Draft:
    return look_again(actor=story.actor(by), clock=story.clock, draft_id=draft.pk)


def write_of(draft: Draft) -> Delivery:
    return Delivery.objects.get(draft_id=draft.pk, kind="write")


def stands(draft: Draft) -> tuple[str, str, str]:
    return Draft.objects.get(pk=draft.pk).state, write_of(draft).state, claim_of(draft).state


def unknown(story: Story, **proposal: str) -> Draft:
    draft = story.approved(**proposal)
    story.remote.receipts = [UNKNOWN]
    send(story)
    return draft


def held(story: Story) -> Draft:
    """A refused reply of which an earlier attempt said, too late, that it was delivered."""
    draft = story.approved(resource=states.REVIEW)
    first = begun(story, draft)
    story.clock.advance(seconds=61)
    tidy(story)
    story.remote.lookups, story.remote.receipts = [ABSENT, ABSENT], [REFUSED]
    look(story)
    story.clock.advance(seconds=120)
    look(story)
    send(story)
    hand_in(story, first, DELIVERED)
    return draft


def test_failed_is_sent_again_under_the_same_id(story: Story) -> None:
    draft = states.build(story, T.FAILED)
    again(story, draft)
    assert stands(draft) == ("submitting", "waiting", "idle")
    send(story)
    assert story.again(draft).state == "submitted"
    assert len({job.delivery_id for job in story.remote.sent}) == 1


def test_pressing_twice_changes_nothing(story: Story) -> None:
    draft = states.build(story, T.FAILED)
    again(story, draft)
    before = rows()
    again(story, draft)
    assert rows() == before


def test_an_expired_approval_covers_no_retry(story: Story) -> None:
    draft = states.build(story, T.FAILED)
    story.clock.now = story.approval(draft).expires_at
    with pytest.raises(errors.Expired):
        again(story, draft)


def test_unknown_is_not_sent_again_before_it_is_proven_absent(story: Story) -> None:
    draft = unknown(story)
    with pytest.raises(errors.WrongState) as refused:
        again(story, draft)
    assert "not proven absent" in str(refused.value)
    assert not can_send_again(story.again(draft))


def test_proven_absent_waits_for_a_person_who_sends_again(story: Story) -> None:
    draft = unknown(story)
    story.remote.lookups = [ABSENT, ABSENT]
    proven_absent(story)
    assert stands(draft) == ("delivery_unknown", "unknown", "idle")
    assert can_send_again(story.again(draft))
    again(story, draft)
    send(story)
    assert stands(draft) == ("submitted", "delivered", "idle")
    assert actions(draft).count("delivery.sent_again") == 1


def test_held_evidence_forbids_a_retry(story: Story) -> None:
    draft = held(story)
    with pytest.raises(errors.WrongState):
        again(story, draft)


@pytest.mark.parametrize("name", ["ada", "ben", "vic", "reply-bot"])
def test_only_an_operator_retries(story: Story, name: str) -> None:
    draft = states.build(story, T.FAILED)
    with pytest.raises(errors.NotEligible):
        again(story, draft, by=name)


@pytest.mark.parametrize("state", sorted(set(T) - {T.FAILED, T.SUBMITTING, T.RETRACTING, T.RETRACTION_FAILED}))
def test_nothing_else_is_tried_again(story: Story, state: T) -> None:
    draft = states.build(story, state)
    before = rows()
    with pytest.raises((errors.WrongState, errors.Consumed)):
        again(story, draft)
    assert rows() == before


def test_a_waiting_write_is_cancelled_and_failed(story: Story) -> None:
    draft = states.build(story, T.SUBMITTING)
    stop(story, draft)
    assert stands(draft) == ("failed", "cancelled", "idle")
    story.clock.advance(hours=2)
    assert send(story) == {}


def test_a_cancelled_write_can_be_tried_again(story: Story) -> None:
    draft = states.build(story, T.SUBMITTING)
    stop(story, draft)
    again(story, draft)
    assert stands(draft) == ("submitting", "waiting", "idle")


def test_a_waiting_retraction_is_cancelled_and_stays_public(story: Story) -> None:
    draft = states.build(story, T.RETRACTING)
    stop(story, draft)
    assert story.again(draft).state == "retraction_failed"


@pytest.mark.parametrize("name", ["ada", "ben", "max"])
def test_author_reviewer_and_operator_cancel(story: Story, name: str) -> None:
    draft = states.build(story, T.SUBMITTING)
    assert stop(story, draft, by=name).state == "failed"


def test_a_viewer_does_not_cancel(story: Story) -> None:
    draft = states.build(story, T.SUBMITTING)
    with pytest.raises(errors.NotEligible):
        stop(story, draft, by="vic")


def test_what_is_being_sent_is_not_called_back(story: Story) -> None:
    draft = story.approved()
    begun(story, draft)
    with pytest.raises(errors.WrongState):
        stop(story, draft)


def test_a_cancel_between_reserve_and_resume_sends_nothing(story: Story) -> None:
    draft = states.build(story, T.SUBMITTING)
    story.clock.advance(hours=2)
    hold = reserve(story, draft)
    stop(story, draft)
    assert not go(story, hold).ok
    assert stands(draft)[:2] == ("failed", "cancelled")


def test_held_evidence_forbids_cancelling(story: Story) -> None:
    draft = story.approved(resource=states.REVIEW)
    first = begun(story, draft)
    story.clock.advance(seconds=61)
    tidy(story)
    story.remote.lookups, story.remote.receipts = [ABSENT, ABSENT], [NOT_SENT]
    look(story)
    story.clock.advance(seconds=120)
    look(story)
    send(story)
    hand_in(story, first, DELIVERED)
    with pytest.raises(errors.WrongState):
        stop(story, draft)


def test_a_look_is_made_due_after_the_workers_gave_up(story: Story) -> None:
    draft = unknown(story)
    story.remote.lookups = [UNSEEN] * 12
    for _ in range(14):
        story.clock.advance(hours=2)
        look(story)
    assert write_of(draft).next_check_at is None
    ask(story, draft)
    assert write_of(draft).next_check_at == story.clock.now


def test_a_read_back_is_made_due(story: Story) -> None:
    draft = states.build(story, T.SUBMITTED)
    Delivery.objects.filter(draft=draft).update(next_check_at=None)
    ask(story, draft)
    story.remote.verifications = [EQUAL]
    assert look(story) == {"confirmed": 1}


def test_a_retraction_is_not_read_before_a_look_can_decide(story: Story) -> None:
    draft = states.build(story, T.RETRACTION_UNKNOWN)
    ask(story, draft)
    undoing = Delivery.objects.get(draft=draft, kind="retract")
    assert undoing.next_check_at > story.clock.now


@pytest.mark.parametrize("state", [T.DRAFT, T.IN_REVIEW, T.APPROVED, T.CONFIRMED, T.FAILED, T.RETRACTED])
def test_where_nothing_is_in_doubt_nothing_is_looked_at(story: Story, state: T) -> None:
    draft = states.build(story, state)
    with pytest.raises(errors.WrongState):
        ask(story, draft)


def test_a_channel_that_cannot_look_says_so(story: Story) -> None:
    change_channel(story, "tickets", config={"capabilities": []})
    draft = unknown(story)
    with pytest.raises(errors.Unsupported):
        ask(story, draft)
