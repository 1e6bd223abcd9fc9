"""The drain's order: within an approval always, across approvals the oldest first, and nothing is ever passed over."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection

from approvals.connectors.base import Deadline
from approvals.models import Approval, OutboxEvent, SinkState
from approvals.services import draining, sink_state
from approvals.sinks.base import Sink, SinkAnswer
from approvals.workers import drain
from approvals.workers.drain.posting import MOST_UNNOTED
from tests.cast import Story
from tests.workers.test_drain import CLOSED, DOWN, NEVER, TAKEN, ScriptedSink, heartbeats, pour, refuses, sent, taken


def events_of(story: Story, approval: Approval, count: int) -> list[OutboxEvent]:
    """Adds events of one approval; their payload is their number."""
    now = story.clock.now
    return OutboxEvent.objects.bulk_create(
        OutboxEvent(
            event_id=uuid4(),
            event_class="use",
            approval=approval,
            payload=str(number),
            created_at=now,
            next_attempt_at=now,
        )
        for number in range(count)
    )


def approvals(story: Story, count: int) -> list[Approval]:
    """Gives approvals without events."""
    return [story.approval(story.propose(payload={"summary": f"Ticket {number}"})) for number in range(count)]


@pytest.fixture
def sink() -> ScriptedSink:
    return ScriptedSink()


@pytest.fixture
def only_on_sqlite(db: None) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("on PostgreSQL many drain at once")


class SlowSink(Sink):
    """Takes a moment for each event, and remembers how many it had in hand at once, in all and of one approval."""

    def __init__(self) -> None:
        self.posted: list[UUID] = []
        self.in_hand: list[UUID] = []
        self.most = 0

    async def post(self, event_id: UUID, payload: bytes, deadline: Deadline) -> SinkAnswer:
        self.in_hand.append(event_id)
        self.most = max(self.most, len(self.in_hand))
        for _ in range(3):
            await asyncio.sleep(0)
        self.in_hand.remove(event_id)
        self.posted.append(event_id)
        return TAKEN


def test_a_chain_is_posted_in_order_one_after_the_other(story: Story) -> None:
    (approval,) = approvals(story, 1)
    events = events_of(story, approval, 5)
    sink = SlowSink()
    pour(story, sink, concurrency=4)
    assert (sink.posted, sink.most) == ([event.event_id for event in events], 1)


def test_chains_of_many_approvals_keep_their_order_side_by_side(story: Story) -> None:
    chains = [events_of(story, approval, 3) for approval in approvals(story, 6)]
    sink = SlowSink()
    pour(story, sink, concurrency=4)
    place = {event_id: number for number, event_id in enumerate(sink.posted)}
    assert [[place[event.event_id] for event in chain] for chain in chains] == [
        sorted(place[event.event_id] for event in chain) for chain in chains
    ]
    assert sink.most == 4


def test_the_oldest_approvals_go_first(story: Story, sink: ScriptedSink) -> None:
    heartbeats(story, 5)
    pour(story, sink, concurrency=1, batch_size=2)
    oldest = OutboxEvent.objects.order_by("id").values_list("event_id", flat=True)[:2]
    assert [event_id for event_id, _ in sink.posted] == list(oldest)


def test_what_follows_a_failure_is_not_posted_and_not_in_hand(story: Story) -> None:
    (approval,) = approvals(story, 1)
    events_of(story, approval, 3)
    sink = ScriptedSink(lambda payload: DOWN)
    assert pour(story, sink) == {"postponed": 1}
    assert OutboxEvent.objects.filter(claimed_by="", attempts=0).count() == 2


@pytest.mark.parametrize("answer", [DOWN, NEVER])
def test_what_follows_one_that_waits_is_not_even_taken(story: Story, answer: SinkAnswer) -> None:
    sent(story)
    pour(story, ScriptedSink(refuses("issuance", answer=answer)))
    assert taken(story, 10) == []


def test_one_that_is_in_other_hands_holds_back_the_next(story: Story) -> None:
    (approval,) = approvals(story, 1)
    events_of(story, approval, 3)
    first = taken(story, 1, owner="other")
    assert len(first) == 1
    assert taken(story, 10) == []


def test_the_next_may_go_when_the_first_is_noted(story: Story) -> None:
    (approval,) = approvals(story, 1)
    first, second, _ = events_of(story, approval, 3)
    draining.mark_drained(taken(story, 1, owner="other"), owner="other", clock=story.clock)
    assert [event.id for event in taken(story, 1)] == [second.pk]
    assert OutboxEvent.objects.get(pk=first.pk).drained_at is not None


def test_a_later_look_starts_where_the_last_one_ended(story: Story) -> None:
    heartbeats(story, 5)
    first = draining.take(clock=story.clock, owner="me", limit=2, lease=drain.LEASE)
    second = draining.take(clock=story.clock, owner="me", limit=9, lease=drain.LEASE, after=first.position)
    assert [len(first.events), len(second.events)] == [2, 3]
    assert (first.is_end, second.is_end) == (False, True)


def test_an_event_that_appears_behind_the_position_is_found_in_the_same_beat(story: Story) -> None:
    heartbeats(story, 300)
    first = OutboxEvent.objects.order_by("id")[0]
    OutboxEvent.objects.filter(pk=first.pk).update(next_attempt_at=story.clock.now + timedelta(minutes=1))
    sink = ScriptedSink()

    def answer(event: object) -> SinkAnswer:
        if len(sink.posted) == 299:
            story.clock.advance(minutes=1)
        return TAKEN

    sink.answer = answer
    assert pour(story, sink) == {"drained": 300}
    assert sink.posted[-1][0] == first.event_id


# Who may note what


def test_whoever_lost_the_lease_notes_nothing(story: Story) -> None:
    heartbeats(story, 1)
    mine = taken(story, 1)
    story.clock.advance(seconds=drain.LEASE.total_seconds())
    assert len(taken(story, 1, owner="other")) == 1
    draining.mark_drained(mine, owner="me", clock=story.clock)
    draining.give_back(mine, owner="me")
    draining.mark_failed([draining.Failed(mine[0], "late", park=True)], owner="me", clock=story.clock)
    event = OutboxEvent.objects.get()
    assert (event.drained_at, event.parked_at, event.claimed_by) == (None, None, "other")


def test_a_lease_that_ended_and_that_nobody_took_is_still_good_for_a_note(story: Story) -> None:
    heartbeats(story, 1)
    mine = taken(story, 1)
    story.clock.advance(hours=1)
    draining.mark_drained(mine, owner="me", clock=story.clock)
    assert OutboxEvent.objects.get().drained_at == story.clock.now


# Bounds


def test_no_more_than_two_hundred_answers_are_ever_unnoted(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    heartbeats(story, 500)
    sink = ScriptedSink()
    note = draining.mark_drained
    ahead = []

    def slowly(events: list[Any], **rest: Any) -> None:
        noted = OutboxEvent.objects.filter(drained_at__isnull=False).count()
        ahead.append(len(sink.posted) - noted)
        note(events, **rest)

    monkeypatch.setattr(draining, "mark_drained", slowly)
    pour(story, sink, concurrency=8)
    assert max(ahead) <= MOST_UNNOTED + 8
    assert len(sink.posted) == 500


def test_a_sink_that_is_down_is_not_asked_for_the_whole_queue(story: Story) -> None:
    heartbeats(story, 100)
    sink = ScriptedSink(lambda event: DOWN)
    assert pour(story, sink, concurrency=4)["postponed"] < 20
    assert not OutboxEvent.objects.exclude(claimed_by="").exists()


def test_failures_among_successes_do_not_end_a_beat(story: Story) -> None:
    heartbeats(story, 100)
    sink = ScriptedSink()
    sink.answer = lambda event: DOWN if len(sink.posted) % 2 else TAKEN
    assert pour(story, sink, concurrency=2) == {"drained": 50, "postponed": 50}


# One at a time on SQLite


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("approvals.workers.drain.beat.WAIT_FOR_ANOTHER_SECONDS", 0.0)


def another_drains(story: Story) -> None:
    assert sink_state.lease(owner="elsewhere:1", clock=story.clock, duration=drain.LEASE)


def test_a_second_drain_on_sqlite_leaves_it_to_the_first_and_says_so(
    story: Story, sink: ScriptedSink, impatient: None, only_on_sqlite: None, caplog: pytest.LogCaptureFixture
) -> None:
    heartbeats(story, 1)
    another_drains(story)
    assert pour(story, sink) == {"left_to_another": 1}
    assert "elsewhere:1" in caplog.text
    assert sink.posted == []


def test_a_drain_that_died_does_not_keep_the_turn_for_ever(
    story: Story, sink: ScriptedSink, impatient: None, only_on_sqlite: None
) -> None:
    heartbeats(story, 1)
    another_drains(story)
    story.clock.advance(seconds=drain.LEASE.total_seconds())
    assert pour(story, sink) == {"drained": 1}


def test_the_turn_is_given_back_after_a_beat(story: Story, sink: ScriptedSink) -> None:
    heartbeats(story, 1)
    pour(story, sink)
    assert not SinkState.objects.exclude(drained_by="").exists()


def test_a_turn_that_was_lost_ends_the_beat(
    story: Story, sink: ScriptedSink, monkeypatch: pytest.MonkeyPatch, only_on_sqlite: None
) -> None:
    heartbeats(story, 500)
    answers: Callable[..., bool] = iter([True, False]).__next__
    monkeypatch.setattr(sink_state, "lease", lambda **_: answers())
    monkeypatch.setattr("approvals.workers.drain.beat.RENEWED_AFTER_SECONDS", 0.0)
    assert pour(story, sink).get("drained", 0) < 500


# The sink as a whole


def test_a_closed_sink_is_told_of_with_since_when_and_why(story: Story) -> None:
    heartbeats(story, 3)
    pour(story, ScriptedSink(lambda event: CLOSED))
    state = SinkState.objects.get()
    assert (state.closed_at, state.closed_reason) == (story.clock.now, CLOSED.reason)


def test_a_refused_probe_keeps_it_closed_and_a_taken_one_opens_it(story: Story, sink: ScriptedSink) -> None:
    heartbeats(story, 3)
    pour(story, ScriptedSink(lambda event: CLOSED))
    story.clock.advance(minutes=1)
    pour(story, ScriptedSink(lambda event: NEVER))
    assert sink_state.is_closed()
    story.clock.advance(minutes=1)
    pour(story, sink)
    assert not sink_state.is_closed()


def test_only_one_process_probes(story: Story) -> None:
    heartbeats(story, 3)
    pour(story, ScriptedSink(lambda event: CLOSED))
    story.clock.advance(minutes=1)
    assert [len(taken(story, 9, owner="one")), len(taken(story, 9, owner="two"))] == [1, 0]
