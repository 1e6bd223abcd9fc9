import pytest
from django.core.management import CommandError

from approvals.models import AuditEvent, Channel, Room
from approvals.workers import dispatch


def paused():
    rows = [*Room.objects.filter(paused_at__isnull=False), *Channel.objects.filter(paused_at__isnull=False)]
    return [row.slug for row in rows]


@pytest.mark.parametrize(
    ("words", "stopped"),
    [(["facilities/tickets"], ["tickets"]), (["--room", "facilities"], ["facilities"]), (["--all"], ["facilities"])],
)
def test_pausing_stops_what_is_named(story, command, words, stopped):
    command("pause_channel", *words, "--reason", "Maintenance.")
    assert paused() == stopped


@pytest.mark.parametrize("words", [["facilities/tickets"], ["--room", "facilities"], ["--all"]])
def test_resuming_undoes_it(story, command, words):
    command("pause_channel", *words, "--reason", "Maintenance.")
    command("resume_channel", *words)
    assert paused() == []


def test_nothing_leaves_by_a_paused_channel(story, command):
    story.approved()
    command("pause_channel", "facilities/tickets", "--reason", "Maintenance.")
    dispatch.run(concurrency=1, clock=story.clock)
    assert story.remote.sent == []


def test_the_reason_is_in_the_history(story, command):
    command("pause_channel", "facilities/tickets", "--reason", "Maintenance.")
    assert '"reason":"Maintenance."' in AuditEvent.objects.get(action="channel.paused").body


@pytest.mark.parametrize(
    ("words", "told"),
    [(["facilities/fax"], "Channels: facilities/replies, facilities/tickets"), (["--room", "x"], "Rooms: facilities")],
)
def test_an_unknown_name_is_told_with_the_known_ones(story, command, words, told):
    with pytest.raises(CommandError, match=told):
        command("resume_channel", *words)


@pytest.mark.parametrize("words", [["--reason", "x"], ["facilities/tickets", "--all", "--reason", "x"]])
def test_exactly_one_thing_is_named(command, words):
    with pytest.raises(CommandError):
        command("pause_channel", *words)
