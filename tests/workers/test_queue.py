"""Which work is done, and in which order."""

import copy

from approvals.models import Channel, Delivery, Draft, OutboxEvent
from approvals.services import pause
from approvals.services.propose import Proposal, propose
from tests.cast import CONFIG, Story
from tests.support.remote import LOCKED_OUT, NOT_SENT
from tests.workers.beats import delivery_of, proposed_on, reserve, send


def tickets(story: Story, count: int) -> list[Draft]:
    return [story.approved(payload={"summary": f"Ticket {number}"}) for number in range(count)]


def second_room(story: Story) -> None:
    """Adds a room with a tracker of its own and the same people."""
    document = copy.deepcopy(CONFIG)
    other = copy.deepcopy(document["rooms"][0]) | {"slug": "shop", "name": "Shop"}
    other["channels"] = [other["channels"][0] | {"account": "shop"}]
    document["rooms"].append(other)
    story.configure(document)


def approved_in_shop(story: Story) -> Draft:
    proposal = Proposal(channel="tickets", operation="ticket.create", payload={"summary": "The till is stuck"})
    draft = propose(actor=story.actor("ada"), clock=story.clock, room_slug="shop", proposal=proposal)
    story.decide(draft, "ben")
    story.decide(draft, "cleo")
    return draft


def test_twenty_tickets_for_one_tracker_are_all_sent(story: Story) -> None:
    drafts = tickets(story, 20)
    assert send(story) == {"delivered": 20}
    assert {story.again(draft).state for draft in drafts} == {"submitted"}
    assert len({job.delivery_id for job in story.remote.sent}) == 20


def test_of_two_replies_to_one_review_the_second_goes_back_to_review(story: Story) -> None:
    first = proposed_on(story, "replies")
    story.clock.advance(seconds=1)
    second = proposed_on(story, "replies")
    assert send(story) == {"delivered": 1}
    assert (story.again(first).state, story.again(second).state) == ("submitted", "in_review")
    assert len(story.remote.sent) == 1


def test_refused_credentials_stop_the_queue_before_it_is_burnt(story: Story) -> None:
    drafts = tickets(story, 20)
    story.remote.receipts.append(LOCKED_OUT)
    assert send(story) == {"paused": 1}
    assert send(story) == {}
    assert len(story.remote.sent) == 1
    assert sorted(story.approval(draft).state for draft in drafts) == ["approved"] * 19 + ["consumed"]
    assert OutboxEvent.objects.filter(event_class="use").count() == 1
    assert Delivery.objects.get().state == "waiting"


def test_after_a_resume_the_whole_queue_is_sent(story: Story) -> None:
    drafts = tickets(story, 5)
    story.remote.receipts.append(LOCKED_OUT)
    send(story)
    story.clock.advance(minutes=5)
    pause.resume_channel(actor=story.actor("max"), clock=story.clock, channel=Channel.objects.get(slug="tickets"))
    assert send(story) == {"delivered": 5}
    assert {story.again(draft).state for draft in drafts} == {"submitted"}


def test_a_paused_room_sends_nothing(story: Story) -> None:
    draft = story.approved()
    pause.pause_room(actor=story.actor("max"), clock=story.clock, room=draft.room, reason="Audit")
    assert send(story) == {}
    pause.resume_room(actor=story.actor("max"), clock=story.clock, room=draft.room)
    assert send(story) == {"delivered": 1}


def test_nothing_is_sent_within_the_undo_window(story: Story) -> None:
    document = copy.deepcopy(CONFIG)
    document["rooms"][0]["policy"]["dispatch_delay"] = "10s"
    story.configure(document)
    story.approved()
    story.clock.advance(seconds=9)
    assert send(story) == {}
    story.clock.advance(seconds=1)
    assert send(story) == {"delivered": 1}


def test_the_oldest_goes_first(story: Story) -> None:
    first = story.approved(payload={"summary": "First"})
    story.clock.advance(seconds=1)
    story.approved(payload={"summary": "Second"})
    send(story)
    assert story.remote.sent[0].delivery_id == delivery_of(first).pk


def test_a_second_try_keeps_its_place_in_the_queue(story: Story) -> None:
    first = story.approved()
    story.remote.receipts.append(NOT_SENT)
    send(story)
    story.clock.advance(seconds=10)
    story.approved(payload={"summary": "Later"})
    send(story)
    assert [job.delivery_id for job in story.remote.sent[:2]] == [delivery_of(first).pk] * 2


def test_a_beat_sends_no_more_than_its_batch(story: Story) -> None:
    tickets(story, 5)
    assert send(story, batch_size=2) == {"delivered": 2}
    assert len(story.remote.sent) == 2


def test_rooms_take_turns(story: Story) -> None:
    second_room(story)
    tickets(story, 12)
    story.clock.advance(seconds=1)
    late = approved_in_shop(story)
    send(story, batch_size=2)
    assert story.again(late).state == "submitted"


def test_a_target_that_must_wait_hides_nobody_else(story: Story) -> None:
    second_room(story)
    queue = tickets(story, 5)
    reserve(story, queue[0])
    story.clock.advance(seconds=1)
    late = approved_in_shop(story)
    send(story, batch_size=1)
    assert story.again(late).state == "submitted"


def test_a_beat_that_is_told_to_stop_takes_nothing_more(story: Story) -> None:
    tickets(story, 3)
    send(story, should_stop=lambda: bool(story.remote.sent))
    assert len(story.remote.sent) == 1


def test_progress_is_told_of_each_piece(story: Story) -> None:
    tickets(story, 3)
    told: list[int] = []
    send(story, progress=told.append)
    assert sum(told) == 3


def test_of_two_that_are_due_at_once_the_older_draft_goes_first(story: Story) -> None:
    drafts = [story.approved(payload={"summary": f"Ticket {number}"}) for number in range(6)]
    send(story)
    assert [job.binding.payload["summary"] for job in story.remote.sent] == [f"Ticket {n}" for n in range(len(drafts))]
