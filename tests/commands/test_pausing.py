import copy
import subprocess
import sys

import pytest
from django.core.management import CommandError

from approvals.models import AuditEvent, Channel, Room
from approvals.workers import dispatch
from tests.cast import CONFIG


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


@pytest.fixture
def garden(story):
    """A second room, with a channel."""
    room = copy.deepcopy(CONFIG["rooms"][0]) | {"slug": "garden", "name": "Garden"}
    room["channels"] = [room["channels"][0] | {"account": "garden"}]
    story.configure({"rooms": [room]})
    return Room.objects.get(slug="garden")


def test_all_means_every_room(story, garden, command):
    command("pause_channel", "--all", "--reason", "Maintenance.")
    assert sorted(paused()) == ["facilities", "garden"]


def test_one_line_for_each_room_says_what_changed(story, garden, command):
    command("pause_channel", "--room", "garden", "--reason", "Weeding.")
    assert command("pause_channel", "--all", "--reason", "Maintenance.").splitlines() == [
        "room facilities: paused",
        "room garden: paused already since 2026-11-30T12:00:00.000000Z (Weeding.); nothing changed",
    ]


@pytest.mark.parametrize("words", [["facilities/tickets"], ["--room", "facilities"], ["--all"]])
def test_doing_it_twice_changes_nothing_and_is_no_failure(story, command, words):
    command("pause_channel", *words, "--reason", "First.")
    assert "nothing changed" in command("pause_channel", *words, "--reason", "Second.")
    command("resume_channel", *words)
    assert "was not paused; nothing changed" in command("resume_channel", *words)
    assert AuditEvent.objects.filter(action__regex="paused|resumed").count() == 2


def test_the_first_reason_stays(story, command):
    for reason in ("First.", "Second."):
        command("pause_channel", "--room", "facilities", "--reason", reason)
    assert Room.objects.get().paused_reason == "First."


def test_resuming_a_room_names_the_channels_that_stay_paused(story, command):
    command("pause_channel", "facilities/tickets", "--reason", "Token.")
    command("pause_channel", "--all", "--reason", "Maintenance.")
    printed = command("resume_channel", "--all")
    assert printed == "room facilities: sends again; still paused on their own: facilities/tickets\n"


def test_resuming_a_channel_of_a_paused_room_says_that_nothing_leaves_yet(story, command):
    command("pause_channel", "facilities/tickets", "--reason", "Token.")
    command("pause_channel", "--room", "facilities", "--reason", "Maintenance.")
    assert "the room facilities is paused" in command("resume_channel", "facilities/tickets")


def test_a_retired_channel_can_be_resumed_for_what_is_in_flight(story, command):
    """A refused log-in pauses by itself, and a retraction still goes out by the retired channel."""
    Channel.objects.filter(slug="tickets").update(retired_at=story.clock(), paused_at=story.clock())
    assert command("resume_channel", "facilities/tickets") == "channel facilities/tickets: sends again\n"


def test_a_reason_of_blanks_is_refused(story, command):
    with pytest.raises(CommandError, match="reason"):
        command("pause_channel", "--all", "--reason", "  ")
    assert paused() == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["pause_channel", "--all", "--reason", "Maintenance."], 0),
        (["resume_channel", "--all"], 0),
        (["pause_channel", "facilities/fax", "--reason", "x"], 1),
        (["pause_channel", "--all"], 2),
        (["resume_channel"], 2),
    ],
)
def test_the_exit_code_says_how_it_ended(lasting_story, process_environment, words, code):
    ended = subprocess.run([sys.executable, "manage.py", *words], env=process_environment, capture_output=True)
    assert (ended.returncode, b"Traceback" in ended.stderr) == (code, False)
