"""Manual dispatch: an approved draft goes out when somebody says so."""

from datetime import timedelta

import pytest

from approvals.domain import errors
from approvals.models import Draft
from approvals.services.dispatch import dispatch
from approvals.services.pause import pause_channel, pause_room
from tests.cast import Story
from tests.services import states, variations
from tests.services.record import actions, rows


@pytest.fixture
def manual(story: Story) -> Story:
    """The room, where somebody presses Send."""
    story.configure(variations.policy(dispatch="manual"))
    return story


def press(story: Story, draft: Draft, by: str = "max") -> Draft:
    return dispatch(actor=story.actor(by), clock=story.clock, draft_id=draft.pk)


def test_nothing_is_sent_until_somebody_presses(manual: Story) -> None:
    draft = manual.approved()
    manual.clock.advance(hours=1)
    assert states.send(manual) == {}
    press(manual, draft)
    assert states.send(manual) == {"delivered": 1}
    assert "dispatch.requested" in actions(draft)


@pytest.mark.parametrize("name", ["ben", "cleo", "max"])
def test_reviewers_and_operators_press(manual: Story, name: str) -> None:
    draft = manual.approved()
    press(manual, draft, name)
    assert manual.approval(draft).dispatch_at == manual.clock.now


def test_pressing_twice_changes_nothing(manual: Story) -> None:
    draft = manual.approved()
    press(manual, draft)
    before, heard = rows(), actions(draft)
    manual.clock.advance(seconds=30)
    press(manual, draft, "ben")
    assert (rows(), actions(draft)) == (before, heard)


def test_what_must_wait_for_its_time_still_waits(manual: Story) -> None:
    then = manual.clock.now + timedelta(hours=3)
    draft = manual.approved(not_before=then)
    press(manual, draft)
    assert manual.approval(draft).dispatch_at == then
    assert states.send(manual) == {}


def test_a_paused_channel_or_room_refuses(manual: Story) -> None:
    draft = manual.approved()
    max_, clock = manual.actor("max"), manual.clock
    pause_channel(actor=max_, clock=clock, channel=draft.channel, reason="Tracker moves.")
    with pytest.raises(errors.Paused):
        press(manual, draft)
    pause_room(actor=max_, clock=clock, room=draft.room, reason="Audit.")
    with pytest.raises(errors.Paused):
        press(manual, draft)
    assert manual.approval(draft).dispatch_at is None


def test_a_draft_in_review_is_not_sent_by_pressing(manual: Story) -> None:
    draft = manual.propose()
    with pytest.raises(errors.WrongState, match="in review, so it cannot be sent"):
        press(manual, draft)
    assert states.send(manual) == {}


def test_a_draft_never_submitted_is_not_sent_by_pressing(manual: Story) -> None:
    draft = manual.propose(submit=False)
    with pytest.raises(errors.WrongState):
        press(manual, draft)


def test_the_way_of_sending_is_the_one_that_was_approved(story: Story) -> None:
    draft = story.approved()
    story.configure(variations.policy(dispatch="manual"))
    with pytest.raises(errors.WrongState, match="sends by itself"):
        press(story, draft)
    assert states.send(story) == {"delivered": 1}


def test_a_press_does_not_outlive_its_approval(manual: Story) -> None:
    draft = manual.approved()
    press(manual, draft)
    manual.remote.flavour = "2"
    assert states.send(manual) == {"stopped": 1}
    manual.decide(draft, "ben")
    manual.decide(draft, "cleo")
    assert states.send(manual) == {}
