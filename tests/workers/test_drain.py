"""The drain: every event reaches the sink, in order per approval, as the bytes that were stored."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from approvals.connectors.base import Deadline
from approvals.models import Draft, OutboxEvent
from approvals.services import draining, revoke
from approvals.sinks.base import Sink, SinkAnswer
from approvals.workers import drain
from approvals.workers.drain import posting
from tests.cast import Story
from tests.races.threads import aside
from tests.workers.beats import begun

TAKEN = SinkAnswer(ok=True)
DOWN = SinkAnswer(retry=True, reason="The sink answered 503.")
NEVER = SinkAnswer(park=True, reason="The sink answered 422.")
CLOSED = SinkAnswer(pause=True, reason="The sink answered 401.")


class ScriptedSink(Sink):
    """Answers by a function of the event; keeps what it was given."""

    def __init__(self, answer: Callable[[dict[str, Any]], SinkAnswer] = lambda event: TAKEN) -> None:
        self.answer = answer
        self.posted: list[tuple[UUID, bytes]] = []

    async def post(self, event_id: UUID, payload: bytes, deadline: Deadline) -> SinkAnswer:
        self.posted.append((event_id, payload))
        return self.answer(json.loads(payload))

    @property
    def told(self) -> list[str]:
        """What it was told, by class."""
        return [json.loads(payload)["details"]["class"] for _, payload in self.posted]


@pytest.fixture
def sink() -> ScriptedSink:
    return ScriptedSink()


def pour(story: Story, sink: Sink, **options: Any) -> dict[str, int]:
    return dict(drain.run(clock=story.clock, sink=sink, **options))


def only_event() -> OutboxEvent:
    return OutboxEvent.objects.get()


def sent(story: Story) -> Draft:
    """Gives a draft with two events: its issuance and its use."""
    draft = story.approved()
    begun(story, draft)
    return draft


def withdrawn(story: Story, draft: Draft) -> None:
    approval = story.approval(draft)
    revoke.revoke(actor=story.actor("ben"), clock=story.clock, approval_id=approval.pk, reason="Mistaken")


def heartbeats(story: Story, count: int) -> None:
    """Makes events that belong to no approval, quickly."""
    now = story.clock.now
    OutboxEvent.objects.bulk_create(
        OutboxEvent(event_id=uuid4(), event_class="heartbeat", payload="{}", created_at=now, next_attempt_at=now)
        for _ in range(count)
    )


def taken(story: Story, limit: int, owner: str = "me", **more: Any) -> list[draining.Taken]:
    """Takes events as a process called `owner` and posts nothing."""
    return draining.take(clock=story.clock, owner=owner, limit=limit, lease=drain.LEASE, **more).events


def others_in_a_transaction() -> int:
    """Gives how many other connections have a transaction open; on SQLite whether one may write."""
    if connection.vendor != "postgresql":
        OutboxEvent.objects.filter(pk=0).update(attempts=0)  # waits for the other, in vain
        return 0
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
            "AND state LIKE 'idle in transaction%%'"
        )
        return int(cursor.fetchone()[0])


def elsewhere(call: Callable[[], int]) -> int:
    """Calls in a thread with a connection of its own."""
    with aside(call) as found:
        return found.result(30)


def refuses(*classes: str, answer: SinkAnswer = NEVER) -> Callable[[dict[str, Any]], SinkAnswer]:
    return lambda event: answer if event["details"]["class"] in classes else TAKEN


# Order and bytes


def test_each_event_is_handed_over_as_stored(story: Story, sink: ScriptedSink) -> None:
    story.approved()
    event = only_event()
    assert pour(story, sink) == {"drained": 1}
    assert sink.posted == [(event.event_id, event.payload.encode())]
    assert only_event().drained_at == story.clock.now


def test_what_is_drained_is_not_handed_over_again(story: Story, sink: ScriptedSink) -> None:
    story.approved()
    pour(story, sink)
    assert pour(story, sink) == {}
    assert len(sink.posted) == 1


def test_the_events_of_an_approval_arrive_in_order(story: Story, sink: ScriptedSink) -> None:
    sent(story)
    assert pour(story, sink) == {"drained": 2}
    assert sink.told == ["issuance", "use"]


def test_a_later_event_waits_for_the_one_before_it(story: Story) -> None:
    sent(story)
    sink = ScriptedSink(refuses("issuance", answer=DOWN))
    assert pour(story, sink) == {"postponed": 1}
    assert sink.told == ["issuance"]


def test_a_lower_number_that_commits_later_is_not_skipped(story: Story, sink: ScriptedSink) -> None:
    story.approved()
    late = only_event()
    OutboxEvent.objects.filter(pk=late.pk).update(next_attempt_at=story.clock.now + timedelta(minutes=1))
    story.approved(payload={"summary": "Another"})
    pour(story, sink)
    story.clock.advance(minutes=1)
    assert pour(story, sink) == {"drained": 1}
    assert sink.posted[-1][0] == late.event_id


def test_a_retry_carries_the_same_id_and_bytes(story: Story) -> None:
    story.approved()
    answers = [DOWN, TAKEN]
    sink = ScriptedSink(lambda event: answers.pop(0))
    pour(story, sink)
    story.clock.advance(minutes=1)
    pour(story, sink)
    assert sink.posted[0] == sink.posted[1]


def test_other_approvals_go_on(story: Story) -> None:
    bad = story.approved(payload={"summary": "Bad"})
    story.approved(payload={"summary": "Good"})
    stuck = str(story.approval(bad).pk)
    sink = ScriptedSink(lambda event: DOWN if event["details"]["approval_id"] == stuck else TAKEN)
    assert pour(story, sink) == {"postponed": 1, "drained": 1}


# Failures


def test_a_postponed_event_waits_ever_longer(story: Story) -> None:
    story.approved()
    sink = ScriptedSink(lambda event: DOWN)
    waits = []
    for _ in range(4):
        pour(story, sink)
        event = only_event()
        waits.append((event.next_attempt_at - story.clock.now).total_seconds())
        story.clock.now = event.next_attempt_at
    assert waits == sorted(waits)
    assert waits[-1] >= 20
    assert (event.attempts, event.last_error) == (4, DOWN.reason)


def test_a_postponed_event_is_not_tried_before_its_time(story: Story) -> None:
    story.approved()
    sink = ScriptedSink(lambda event: DOWN)
    pour(story, sink)
    story.clock.advance(seconds=1)
    assert pour(story, sink) == {}


def test_the_sinks_own_wish_lengthens_the_wait(story: Story) -> None:
    story.approved()
    pour(story, ScriptedSink(lambda event: SinkAnswer(retry=True, reason="429", retry_after_seconds=600)))
    assert only_event().next_attempt_at == story.clock.now + timedelta(seconds=600)


def test_a_sink_that_breaks_is_tried_again(story: Story) -> None:
    def fail(event: object) -> SinkAnswer:
        raise RuntimeError("not today")

    story.approved()
    assert pour(story, ScriptedSink(fail)) == {"postponed": 1}
    assert only_event().last_error == "The sink failed: RuntimeError."


def test_a_dead_sink_blocks_no_revocation_and_hears_of_it_later(story: Story, sink: ScriptedSink) -> None:
    draft = story.approved()
    pour(story, ScriptedSink(lambda event: DOWN))
    withdrawn(story, draft)
    assert story.again(draft).state == "revoked"
    story.clock.advance(minutes=1)
    pour(story, sink)
    assert sink.told == ["issuance", "revocation"]


def test_fifteen_failing_events_do_not_hold_up_five_good_ones(story: Story) -> None:
    heartbeats(story, 15)
    bad = set(OutboxEvent.objects.values_list("event_id", flat=True))
    heartbeats(story, 5)
    sink = ScriptedSink()
    sink.answer = lambda event: DOWN if sink.posted[-1][0] in bad else TAKEN
    pour(story, sink, batch_size=10)
    pour(story, sink, batch_size=10)
    assert OutboxEvent.objects.filter(drained_at__isnull=False).count() == 5


# Parking


def test_what_the_sink_will_never_take_is_parked_at_once(story: Story) -> None:
    story.approved()
    assert pour(story, ScriptedSink(lambda event: NEVER)) == {"parked": 1}
    assert (only_event().parked_at, only_event().last_error) == (story.clock.now, NEVER.reason)


def test_a_parked_event_holds_back_its_own_approval_only(story: Story) -> None:
    draft = story.approved()
    sink = ScriptedSink(refuses("issuance"))
    pour(story, sink)
    withdrawn(story, draft)
    sink.answer = lambda event: TAKEN
    story.approved(payload={"summary": "Another"})
    assert pour(story, sink) == {"drained": 1}
    assert OutboxEvent.objects.filter(event_class="revocation", drained_at=None).exists()


def test_a_parked_event_is_tried_again_every_hour(story: Story) -> None:
    story.approved()
    sink = ScriptedSink(lambda event: NEVER)
    pour(story, sink)
    story.clock.advance(minutes=59)
    assert pour(story, sink) == {}
    story.clock.advance(minutes=1)
    sink.answer = lambda event: TAKEN
    assert pour(story, sink) == {"drained": 1}
    assert only_event().parked_at is None


# A sink that is closed to all


def test_a_closed_sink_is_not_knocked_at_with_the_whole_queue(story: Story) -> None:
    heartbeats(story, 50)
    sink = ScriptedSink(lambda event: CLOSED)
    assert pour(story, sink, concurrency=1) == {"paused": 1}
    assert len(sink.posted) == 1


def test_what_was_taken_and_not_posted_is_given_back(story: Story) -> None:
    heartbeats(story, 5)
    pour(story, ScriptedSink(lambda event: CLOSED), concurrency=1)
    assert not OutboxEvent.objects.filter(claimed_until__isnull=False).exists()
    assert OutboxEvent.objects.filter(attempts=0).count() == 5  # a closed sink says nothing about an event


def test_a_closed_sink_is_probed_with_one_event_a_minute(story: Story) -> None:
    heartbeats(story, 50)
    sink = ScriptedSink(lambda event: CLOSED)
    pour(story, sink, concurrency=4)
    sink.posted.clear()
    story.clock.advance(seconds=59)
    assert pour(story, sink, concurrency=4) == {}
    story.clock.advance(seconds=1)
    assert pour(story, sink, concurrency=4) == {"paused": 1}
    assert pour(story, sink, concurrency=4) == {}
    assert len(sink.posted) == 1


def test_a_sink_that_opens_again_gets_everything_at_once(story: Story, sink: ScriptedSink) -> None:
    heartbeats(story, 20)
    pour(story, ScriptedSink(lambda event: CLOSED), concurrency=4)
    story.clock.advance(minutes=1)
    assert pour(story, sink) == {"drained": 20}
    assert not OutboxEvent.objects.exclude(last_error="").exists()


# Several drains, and a drain that dies


def test_an_event_in_hand_is_nobody_elses_for_the_time_of_its_lease(story: Story, sink: ScriptedSink) -> None:
    story.approved()
    taken(story, 10, owner="dead")
    story.clock.advance(seconds=drain.LEASE.total_seconds() - 1)
    assert pour(story, sink) == {}
    story.clock.advance(seconds=1)
    assert pour(story, sink) == {"drained": 1}


def test_no_transaction_is_open_while_the_sink_takes_its_time(lasting_story: Story) -> None:
    lasting_story.approved()
    found: list[int] = []
    sink = ScriptedSink(lambda event: found.append(elsewhere(others_in_a_transaction)) or TAKEN)
    pour(lasting_story, sink)
    assert found == [0]


def test_a_post_that_could_outlive_its_lease_is_not_begun(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    heartbeats(story, 3)
    monkeypatch.setattr(posting, "POST_SECONDS", drain.LEASE.total_seconds() + 1)
    sink = ScriptedSink()
    assert pour(story, sink, batch_size=3) == {}
    assert sink.posted == []
    assert not OutboxEvent.objects.filter(claimed_until__isnull=False).exists()


def test_drained_rows_are_marked_a_hundred_at_a_time(story: Story) -> None:
    heartbeats(story, 250)
    events = taken(story, 250)
    with CaptureQueriesContext(connection) as seen:
        draining.mark_drained(events, owner="me", clock=story.clock)
    marking = [query["sql"] for query in seen.captured_queries if '"drained_at" = ' in query["sql"]]
    assert len(marking) == 3
    assert not OutboxEvent.objects.filter(drained_at=None).exists()


def test_a_hundred_events_cost_a_handful_of_statements(story: Story, sink: ScriptedSink) -> None:
    heartbeats(story, 100)
    with CaptureQueriesContext(connection) as seen:
        pour(story, sink)
    assert len(sink.posted) == 100
    assert len([query for query in seen.captured_queries if "SAVEPOINT" not in query["sql"]]) <= 20


def test_progress_is_told_as_it_is_made(story: Story) -> None:
    heartbeats(story, 250)
    told: list[int] = []
    pour(story, ScriptedSink(), progress=told.append)
    assert (sum(told), max(told) <= draining.MARK_AT_MOST) == (250, True)


def test_the_batch_is_kept_to(story: Story, sink: ScriptedSink) -> None:
    heartbeats(story, 5)
    assert pour(story, sink, batch_size=2) == {"drained": 2}


def test_a_drain_that_is_told_to_stop_takes_nothing_more(story: Story, sink: ScriptedSink) -> None:
    heartbeats(story, 5)
    assert pour(story, sink, should_stop=lambda: True) == {}
