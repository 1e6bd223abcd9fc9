"""Pause: nothing leaves by a paused channel or room until somebody resumes it; people go on deciding."""

from collections.abc import Callable

import pytest

from approvals.domain import errors
from approvals.domain.states import DraftState
from approvals.models import AuditEvent, Channel, Room
from approvals.services import begin, give_up, holding
from approvals.services.pause import pause_channel, pause_room, resume_channel, resume_room
from tests.cast import Story
from tests.services import states
from tests.services.record import last_event, rows


def stop_channel(story: Story, why: str = "The tracker moves.") -> None:
    channel = Channel.objects.get(slug="tickets")
    pause_channel(actor=story.actor("max"), clock=story.clock, channel=channel, reason=why)


def stop_room(story: Story, why: str = "Audit.") -> None:
    pause_room(actor=story.actor("max"), clock=story.clock, room=Room.objects.get(), reason=why)


def start_channel(story: Story) -> None:
    resume_channel(actor=story.actor("max"), clock=story.clock, channel=Channel.objects.get(slug="tickets"))


def start_room(story: Story) -> None:
    resume_room(actor=story.actor("max"), clock=story.clock, room=Room.objects.get())


Step = Callable[[Story], None]
BOTH = pytest.mark.parametrize(("stop", "start"), [(stop_channel, start_channel), (stop_room, start_room)])


@BOTH
def test_nothing_is_sent_while_paused_and_all_of_it_afterwards(story: Story, stop: Step, start: Step) -> None:
    drafts = [story.approved(payload={"summary": str(n)}) for n in range(3)]
    stop(story)
    assert states.send(story) == {}
    start(story)
    assert states.send(story) == {"delivered": 3}
    assert {story.again(draft).state for draft in drafts} == {"submitted"}


@BOTH
def test_people_go_on_deciding(story: Story, stop: Step, start: Step) -> None:
    stop(story)
    assert story.approved().state == "approved"


@BOTH
def test_doing_it_twice_changes_nothing(story: Story, stop: Step, start: Step) -> None:
    for step in (stop, start):
        step(story)
        before, heard = rows(), AuditEvent.objects.count()
        story.clock.advance(seconds=1)
        step(story)
        assert (rows(), AuditEvent.objects.count()) == (before, heard)


@BOTH
def test_a_pause_after_the_reservation_is_seen_at_the_gate(story: Story, stop: Step, start: Step) -> None:
    draft = story.approved()
    hold = holding.reserve(actor=story.worker, clock=story.clock, target_id=draft.target_id, owner="w1")
    assert hold is not None
    stop(story)
    answer = begin.begin(actor=story.worker, clock=story.clock, hold=hold)
    give_up.give_up(actor=story.worker, clock=story.clock, hold=hold, answer=answer)
    assert "Sending is paused" in answer.sentence
    assert story.again(draft).state == "approved"


@BOTH
def test_what_waits_for_another_attempt_waits_on(story: Story, stop: Step, start: Step) -> None:
    draft = states.build(story, DraftState.SUBMITTING)
    stop(story)
    story.clock.advance(hours=1)
    assert states.send(story) == {}
    assert story.again(draft).state == "submitting"
    start(story)
    assert states.send(story) == {"delivered": 1}


@BOTH
def test_what_was_sent_is_still_read_back(story: Story, stop: Step, start: Step) -> None:
    states.build(story, DraftState.SUBMITTED)
    stop(story)
    assert states.read_back(story) == {"confirmed": 1}


def test_a_resumed_room_leaves_its_channels_paused(story: Story) -> None:
    stop_channel(story)
    stop_room(story)
    start_room(story)
    assert Channel.objects.get(slug="tickets").paused_reason == "The tracker moves."


@pytest.mark.parametrize("stop", [stop_channel, stop_room])
@pytest.mark.parametrize("why", ["", " ", "x" * 501])
def test_it_takes_a_reason(story: Story, stop: Callable[[Story, str], None], why: str) -> None:
    before = rows()
    with pytest.raises(errors.InvalidPayload):
        stop(story, why)
    assert rows() == before


def test_the_rooms_history_tells_who_and_why(story: Story) -> None:
    stop_channel(story)
    told = last_event(action="channel.paused")
    assert (told["actor"]["label"], told["reason"]) == ("person:max", "The tracker moves.")
    assert told["details"] == {"channel": "tickets"}
    start_channel(story)
    assert last_event(action="channel.resumed")["chain"] == f"room:{Room.objects.get().pk}"
