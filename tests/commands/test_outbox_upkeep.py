"""`requeue_outbox` and `purge_outbox`: what they take, what they say, and that a dry run changes nothing."""

import json
from uuid import uuid4

import pytest
from django.core.management import CommandError

from approvals.models import AuditEvent, OutboxEvent
from tests.workers.test_drain import NEVER, ScriptedSink, pour


@pytest.fixture
def stuck(story):
    """A parked event."""
    story.approved()
    pour(story, ScriptedSink(lambda event: NEVER))
    return OutboxEvent.objects.get()


@pytest.fixture
def old(story):
    """An event that the sink took a month ago."""
    story.approved()
    pour(story, ScriptedSink())
    story.clock.advance(days=31)
    return OutboxEvent.objects.get()


def test_without_arguments_all_that_is_parked_is_requeued(stuck, command):
    assert command("requeue_outbox") == "all parked: 1 requeued\n"
    assert OutboxEvent.objects.get().parked_at is None


@pytest.mark.parametrize("words", [[], ["--class", "issuance"]])
def test_a_dry_run_requeues_nothing(stuck, command, words):
    assert "1 would be requeued" in command("requeue_outbox", *words, "--dry-run")
    assert OutboxEvent.objects.get().parked_at == stuck.parked_at
    assert not AuditEvent.objects.filter(action="outbox.requeued").exists()


def test_one_event_is_requeued_by_its_id(stuck, command):
    answer = json.loads(command("requeue_outbox", str(stuck.event_id), "--format", "json"))
    assert answer == {"requeued": 1, "found": 1, "held": 0}


def test_an_event_that_is_not_there_is_said(story, command):
    with pytest.raises(CommandError, match="There is no event"):
        command("requeue_outbox", str(uuid4()))


@pytest.mark.parametrize("words", [["x"], ["--class", "birthday"], [str(uuid4()), "--class", "use"]])
def test_wrong_usage_of_requeue_is_refused(command, words):
    with pytest.raises(CommandError):
        command("requeue_outbox", *words)


@pytest.mark.parametrize("words", [["--older-than", "30d"], ["--before", "2026-12-02"], ["--older-than", "4w"]])
def test_what_is_old_is_purged(old, command, words):
    assert command("purge_outbox", *words).startswith("1 rows purged")
    assert not OutboxEvent.objects.exists()


@pytest.mark.parametrize("words", [["--older-than", "32d"], ["--before", "2026-11-30T11:00:00Z"]])
def test_what_is_not_old_enough_stays(old, command, words):
    assert command("purge_outbox", *words).startswith("0 rows purged")
    assert OutboxEvent.objects.exists()


def test_a_dry_run_purges_nothing(old, command):
    answer = json.loads(command("purge_outbox", "--older-than", "30d", "--dry-run", "--format", "json"))
    assert answer == {"purged": 0, "found": 1}
    assert OutboxEvent.objects.exists()


@pytest.mark.parametrize("words", [[], ["--before", "soon"], ["--older-than", "30"], ["--older-than", "0d"]])
def test_wrong_usage_of_purge_is_refused(command, words):
    with pytest.raises(CommandError):
        command("purge_outbox", *words)
