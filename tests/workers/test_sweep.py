"""The sweeper and approvals past their time; what it does to interrupted sends is in `test_leases.py`."""

from datetime import timedelta

import pytest

from approvals.models import AuditEvent, Draft, OutboxEvent
from approvals.workers import sweep
from tests.cast import Story
from tests.workers.beats import begun, proposed_on, send, tidy

MAKERS = {"pending": Story.propose, "approved": Story.approved}


def at_its_end(story: Story, state: str) -> Draft:
    draft = MAKERS[state](story)
    story.clock.now = story.approval(draft).expires_at
    return draft


@pytest.mark.parametrize("state", MAKERS)
def test_an_approval_is_expired_at_the_very_instant_of_its_end(story: Story, state: str) -> None:
    draft = at_its_end(story, state)
    assert tidy(story) == {"expired": 1}
    assert (story.again(draft).state, story.approval(draft).state) == ("expired", "expired")


@pytest.mark.parametrize("state", MAKERS)
def test_a_second_earlier_it_is_left_alone(story: Story, state: str) -> None:
    draft = at_its_end(story, state)
    story.clock.now -= timedelta(seconds=1)
    assert tidy(story) == {}
    assert story.approval(draft).state == state


def test_sweeping_twice_tells_it_once(story: Story) -> None:
    draft = at_its_end(story, "approved")
    tidy(story)
    assert tidy(story) == {}
    assert AuditEvent.objects.filter(draft=draft, action="draft.expired").count() == 1


def test_expiry_is_not_told_to_the_sink(story: Story) -> None:
    at_its_end(story, "approved")
    tidy(story)
    assert list(OutboxEvent.objects.values_list("event_class", flat=True)) == ["issuance"]


def test_what_is_being_sent_does_not_expire(story: Story) -> None:
    draft = story.approved()
    story.clock.now = story.approval(draft).expires_at - timedelta(seconds=1)
    begun(story, draft)
    story.clock.advance(seconds=1)
    assert tidy(story) == {}
    assert story.again(draft).state == "submitting"


def test_an_expired_draft_is_never_sent(story: Story) -> None:
    at_its_end(story, "approved")
    tidy(story)
    assert send(story) == {}
    assert story.remote.sent == []


def test_a_beat_sweeps_no_more_than_its_batch(story: Story) -> None:
    for channel in ("tickets", "replies", "tickets"):
        proposed_on(story, channel)
    story.clock.advance(days=30)
    assert dict(sweep.run(clock=story.clock, batch_size=2)) == {"expired": 2}
