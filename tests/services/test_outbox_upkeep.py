"""Requeue and purge: what an operator may do to the outbox, and what stays whatever they ask for."""

from datetime import timedelta
from uuid import uuid4

import pytest

from approvals.domain.actor import system
from approvals.domain.errors import NotEligible, NotFound, WrongState
from approvals.models import AuditEvent, OutboxEvent
from approvals.services import outbox_upkeep
from approvals.services.outbox_upkeep import Which
from tests.cast import Story
from tests.workers.test_drain import CLOSED, DOWN, NEVER, ScriptedSink, heartbeats, pour, sent, withdrawn

OPERATOR = system("requeue_outbox", via="command")
MONTH = timedelta(days=30)


@pytest.fixture
def stuck(story: Story) -> OutboxEvent:
    """A parked event."""
    story.approved()
    pour(story, ScriptedSink(lambda event: NEVER))
    return OutboxEvent.objects.get()


def requeue(story: Story, which: Which | None = None) -> int:
    return outbox_upkeep.requeue(actor=OPERATOR, clock=story.clock, which=which or Which())


def drained(story: Story, count: int, **facts: object) -> list[OutboxEvent]:
    """Adds events of no approval that the sink took a month ago."""
    then = story.clock.now - MONTH
    heartbeats(story, count)
    rows = OutboxEvent.objects.order_by("-id")[:count]
    OutboxEvent.objects.filter(pk__in=[row.pk for row in rows]).update(drained_at=then, **facts)
    return sorted(rows, key=lambda row: row.pk)


def purge(story: Story, **options: object) -> int:
    before = story.clock.now - MONTH + timedelta(seconds=1)
    return outbox_upkeep.purge(actor=OPERATOR, clock=story.clock, before=before, **options)  # type: ignore[arg-type]


def actions() -> list[str]:
    return list(AuditEvent.objects.filter(action__startswith="outbox.").values_list("action", flat=True))


# Requeue


def test_what_was_parked_is_handed_over_at_the_next_beat(story: Story, stuck: OutboxEvent) -> None:
    assert requeue(story) == 1
    sink = ScriptedSink()
    assert pour(story, sink) == {"drained": 1}
    assert sink.posted == [(stuck.event_id, stuck.payload.encode())]


def test_one_event_is_requeued_alone(story: Story, stuck: OutboxEvent) -> None:
    story.approved(payload={"summary": "Another"})
    pour(story, ScriptedSink(lambda event: NEVER))
    assert requeue(story, Which(event_id=stuck.event_id)) == 1
    assert OutboxEvent.objects.filter(parked_at__isnull=False).count() == 1


def test_a_class_is_requeued_whether_parked_or_postponed(story: Story) -> None:
    sent(story)
    pour(story, ScriptedSink(lambda event: DOWN))
    assert requeue(story, Which(event_class=OutboxEvent.EventClass.USE)) == 0
    assert requeue(story, Which(event_class=OutboxEvent.EventClass.ISSUANCE)) == 1
    assert pour(story, ScriptedSink()) == {"drained": 2}


def test_requeueing_begins_the_waits_anew(story: Story, stuck: OutboxEvent) -> None:
    requeue(story)
    event = OutboxEvent.objects.get()
    assert (event.attempts, event.next_attempt_at, event.parked_at) == (0, story.clock.now, None)


def test_requeueing_twice_changes_nothing(story: Story, stuck: OutboxEvent) -> None:
    assert (requeue(story), requeue(story)) == (1, 0)
    assert actions() == ["outbox.requeued"]


def test_what_the_sink_has_is_not_requeued(story: Story) -> None:
    (event,) = drained(story, 1)
    with pytest.raises(WrongState, match="since"):
        requeue(story, Which(event_id=event.event_id))


def test_an_event_that_is_not_there_is_not_found(story: Story) -> None:
    with pytest.raises(NotFound):
        requeue(story, Which(event_id=uuid4()))


def test_a_closed_sink_is_probed_at_once(story: Story) -> None:
    story.approved()
    pour(story, ScriptedSink(lambda event: CLOSED))
    requeue(story)
    assert pour(story, ScriptedSink()) == {"drained": 1}


def test_what_is_behind_a_parked_event_still_waits_for_it(story: Story, stuck: OutboxEvent) -> None:
    withdrawn(story, stuck.approval.draft)
    requeue(story, Which(event_class=OutboxEvent.EventClass.REVOCATION))
    assert pour(story, ScriptedSink()) == {}


# Purge


def test_what_the_sink_has_had_for_long_goes(story: Story) -> None:
    sent(story)
    pour(story, ScriptedSink())
    story.clock.advance(days=31)
    assert purge(story) == 2
    assert not OutboxEvent.objects.exists()


def test_what_was_drained_later_stays(story: Story) -> None:
    sent(story)
    pour(story, ScriptedSink())
    assert purge(story) == 0


def test_what_is_undrained_or_parked_stays(story: Story, stuck: OutboxEvent) -> None:
    story.approved(payload={"summary": "Waiting"})
    story.clock.advance(days=365)
    assert purge(story) == 0
    assert OutboxEvent.objects.count() == 2


def test_the_audit_is_not_touched(story: Story) -> None:
    sent(story)
    pour(story, ScriptedSink())
    story.clock.advance(days=31)
    before = list(AuditEvent.objects.order_by("id").values())
    purge(story)
    assert list(AuditEvent.objects.order_by("id").values())[: len(before)] == before
    assert actions() == ["outbox.purged"]


def test_it_goes_in_bounded_batches_each_recorded(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox_upkeep, "PURGED_AT_ONCE", 2)
    for summary in ("One", "Two", "Three", "Four", "Five"):
        story.approved(payload={"summary": summary})
    pour(story, ScriptedSink())
    story.clock.advance(days=31)
    told: list[int] = []
    assert purge(story, progress=told.append) == 5
    assert told == [2, 2, 1]
    assert actions() == ["outbox.purged"] * 3


def test_it_ends_between_batches_when_asked(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox_upkeep, "PURGED_AT_ONCE", 2)
    for summary in ("One", "Two", "Three"):
        story.approved(payload={"summary": summary})
    pour(story, ScriptedSink())
    story.clock.advance(days=31)
    answers = iter([False, True])
    assert purge(story, should_stop=lambda: next(answers)) == 2


def test_what_no_heartbeat_has_counted_stays_where_heartbeats_are_sent(story: Story) -> None:
    sent(story)
    pour(story, ScriptedSink())
    story.clock.advance(days=31)
    heartbeats(story, 1)
    assert purge(story) == 0


def test_what_is_counted_goes_with_its_heartbeats(story: Story) -> None:
    drained(story, 2)
    assert purge(story) == 2


def test_people_do_neither(story: Story) -> None:
    for call in (
        lambda: outbox_upkeep.requeue(actor=story.actor("max"), clock=story.clock, which=Which()),
        lambda: outbox_upkeep.purge(actor=story.actor("max"), clock=story.clock, before=story.clock.now),
    ):
        with pytest.raises((NotEligible, NotFound)):
            call()
