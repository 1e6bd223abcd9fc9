"""Events held back behind a parked one: counted, and said aloud when somebody's taking back is among them."""

import json
import logging
from io import StringIO

import pytest
from django.core.management import call_command

from approvals.models import OutboxEvent
from approvals.selectors import outbox
from approvals.workers.drain import alarm
from tests.cast import Story
from tests.workers.test_drain import CLOSED, DOWN, NEVER, ScriptedSink, pour, refuses, sent, withdrawn


@pytest.fixture(autouse=True)
def fresh_alarm(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that has said nothing yet."""
    monkeypatch.setattr("approvals.workers.drain.beat.alarm", alarm.Alarm())


def parked_before_a_revocation(story: Story) -> None:
    draft = story.approved()
    pour(story, ScriptedSink(refuses("issuance")))
    withdrawn(story, draft)


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]


def test_what_waits_behind_a_parked_event_is_held(story: Story) -> None:
    parked_before_a_revocation(story)
    assert [event.event_class for event in outbox.held()] == ["revocation"]


def test_what_waits_behind_a_postponed_event_is_not_held(story: Story) -> None:
    draft = story.approved()
    pour(story, ScriptedSink(lambda event: DOWN))
    withdrawn(story, draft)
    assert not outbox.held().exists()


def test_what_stands_before_a_parked_event_is_not_held(story: Story) -> None:
    sent(story)
    pour(story, ScriptedSink(refuses("use")))
    assert not outbox.held().exists()


def test_a_held_revocation_is_said_aloud(story: Story, caplog: pytest.LogCaptureFixture) -> None:
    parked_before_a_revocation(story)
    story.clock.advance(hours=1)
    pour(story, ScriptedSink(refuses("issuance")))
    assert errors(caplog) == [alarm.MESSAGE % 1]


def test_a_held_use_is_not_said_aloud(story: Story, caplog: pytest.LogCaptureFixture) -> None:
    sent(story)
    pour(story, ScriptedSink(refuses("issuance")))
    assert outbox.held().count() == 1
    assert errors(caplog) == []


def test_it_is_not_said_again_at_every_beat(story: Story, caplog: pytest.LogCaptureFixture) -> None:
    parked_before_a_revocation(story)
    for summary in ("One", "Two", "Three"):
        story.approved(payload={"summary": summary})
        pour(story, ScriptedSink())
    assert errors(caplog) == [alarm.MESSAGE % 1]


def test_it_is_said_again_when_there_are_more(story: Story, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(2):
        parked_before_a_revocation(story)
        story.approved(payload={"summary": "Another"})
        pour(story, ScriptedSink())
    assert errors(caplog)[-1] == alarm.MESSAGE % 2


def test_the_hour_after_parking_a_down_sink_leaves_it_parked(story: Story) -> None:
    story.approved()
    pour(story, ScriptedSink(lambda event: NEVER))
    since = OutboxEvent.objects.get().parked_at
    story.clock.advance(hours=1)
    pour(story, ScriptedSink(lambda event: DOWN))
    event = OutboxEvent.objects.get()
    assert (event.parked_at, event.last_error) == (since, DOWN.reason)
    assert (event.next_attempt_at - story.clock.now).total_seconds() == 3600


def test_the_command_counts_what_waits_in_json(story: Story, settings: object, tmp_path: object) -> None:
    settings.REVIEWROOM_AUDIT_SINK = f"file://{tmp_path}/sink.jsonl"  # type: ignore[attr-defined]
    parked_before_a_revocation(story)
    printed = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("drain_outbox", "--format", "json", stdout=printed)
    assert json.loads(printed.getvalue())["waiting"] == {"parked": 1, "held": 1, "held_endings": 1}
    assert ended.value.code == 3


def test_the_command_says_that_the_sink_is_closed(story: Story, settings: object, tmp_path: object) -> None:
    settings.REVIEWROOM_AUDIT_SINK = f"file://{tmp_path}/sink.jsonl"  # type: ignore[attr-defined]
    story.approved()
    pour(story, ScriptedSink(lambda event: CLOSED))
    printed = StringIO()
    with pytest.raises(SystemExit):
        call_command("drain_outbox", stdout=printed)
    assert "1 sink_closed" in printed.getvalue()
