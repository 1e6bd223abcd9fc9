import json
import signal
import subprocess
import sys
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from approvals.connectors.base import Match, Reading, Verification
from approvals.domain.states import DraftState
from approvals.management.commands import drain_outbox
from approvals.models import OutboxEvent
from approvals.services import pause
from approvals.workers import loop
from tests.services import states
from tests.support.remote import ACCEPTED, EQUAL, GONE, LOCKED_OUT, NOT_SENT, REFUSED, UNKNOWN, UNREADABLE


@pytest.fixture(autouse=True)
def sink(settings, tmp_path):
    file = tmp_path / "sink.jsonl"
    settings.REVIEWROOM_AUDIT_SINK = file.as_uri()
    settings.REVIEWROOM_SIGNING_KEY_FILE = tmp_path / "signing-key.json"
    return file


def counts(printed):
    return json.loads(printed)["counts"]


def test_dispatch_sends_what_is_approved(story, command):
    story.approved()
    assert counts(command("dispatch_approved", "--concurrency", "1", "--format", "json")) == {"delivered": 1}


def test_dispatch_sends_nothing_unapproved(story, command):
    story.propose()
    command("dispatch_approved", "--concurrency", "1")
    assert story.remote.sent == []


def beat(name):
    """Runs one beat and gives its counts and its exit code."""
    code, stdout = 0, StringIO()
    try:
        call_command(name, "--concurrency", "1", "--format", "json", stdout=stdout, stderr=StringIO())
    except SystemExit as ended:
        code = ended.code
    return counts(stdout.getvalue()), json.loads(stdout.getvalue())["waiting"], code


@pytest.mark.parametrize(
    ("answer", "word", "code"),
    [
        (ACCEPTED, "retraction_accepted", 0),
        (REFUSED, "retraction_refused", 3),
        (UNKNOWN, "retraction_unknown", 3),
        (NOT_SENT, "retraction_not_sent", 0),
        (LOCKED_OUT, "paused", 3),
    ],
)
def test_dispatch_counts_retractions_apart(story, answer, word, code):
    states.build(story, DraftState.RETRACTING)
    story.remote.retractions = [answer]
    told, _, ended = beat("dispatch_approved")
    assert (told, ended) == ({word: 1}, code)


@pytest.mark.parametrize(
    ("seen", "word", "code"),
    [(GONE, "retraction_gone", 0), (EQUAL, "retraction_still_there", 3), (UNREADABLE, "retraction_unread", 0)],
)
def test_reconcile_counts_the_read_backs_of_retractions_apart(story, seen, word, code):
    states.build(story, DraftState.RETRACTING)
    states.send(story)
    story.clock.advance(hours=1)
    story.remote.verifications = [seen]
    told, _, ended = beat("reconcile_deliveries")
    assert (told[word], ended) == (1, code)


def test_reconcile_counts_readings_of_targets(story):
    story.propose(resource=states.REVIEW)
    story.remote.readings = [Reading(True, "Read.", {"comment": "Old"})]
    assert beat("reconcile_deliveries") == ({"target_read": 1}, {}, 0)


def test_a_retraction_nobody_could_verify_waits_for_somebody(story):
    """Accepted, and yet not known to be gone."""
    draft = states.build(story, DraftState.RETRACTING)
    states.send(story)
    story.clock.advance(hours=1)
    story.remote.verifications = [Verification(Match.IMPOSSIBLE, "It cannot be read.")]
    _, waiting, ended = beat("reconcile_deliveries")
    assert (story.again(draft).state, waiting, ended) == ("retraction_unknown", {"unknown": 1}, 3)


def test_batch_size_bounds_a_beat(story, command):
    for number in range(3):
        story.approved(resource=f"locations/1/reviews/{number}")
    printed = command("dispatch_approved", "--concurrency", "1", "--batch-size", "2", "--format", "json")
    assert counts(printed) == {"delivered": 2}


def test_reconcile_confirms_what_was_delivered(story, command):
    draft = story.approved()
    command("dispatch_approved", "--concurrency", "1")
    command("reconcile_deliveries", "--concurrency", "1")
    assert story.again(draft).state == "confirmed"


def test_sweep_expires_what_nobody_decided_on(story, command):
    draft = story.propose()
    story.clock.advance(days=8)
    command("sweep_expired")
    assert story.again(draft).state == "expired"


def test_drain_hands_the_stored_bytes_to_the_sink(story, command, sink):
    story.approved()
    command("drain_outbox")
    assert sink.read_text().splitlines() == list(OutboxEvent.objects.order_by("id").values_list("payload", flat=True))


def test_run_worker_does_it_all(story, command, sink):
    draft = story.approved()
    command("run_worker", "--concurrency", "1")
    assert (story.again(draft).state, len(sink.read_text().splitlines())) == ("confirmed", 3)


def test_run_worker_prints_one_line_of_json(story, command):
    story.approved()
    printed = command("run_worker", "--concurrency", "1", "--format", "json")
    assert counts(printed) == {"delivered": 1, "confirmed": 1, "emitted": 1, "drained": 3}


def test_a_heartbeat_is_emitted_once_a_slot(story, command):
    assert [beat("emit_heartbeat") for _ in range(2)] == [({"emitted": 1}, {}, 0), ({}, {}, 0)]


def test_a_heartbeat_that_cannot_be_signed_fails(story, command, settings):
    settings.REVIEWROOM_SIGNING_KEY_FILE.write_text("no key")
    with pytest.raises(CommandError, match="An operator has to restore it"):
        command("emit_heartbeat")


def test_text_says_when_nothing_was_due(story, command):
    assert command("dispatch_approved") == "dispatch_approved: nothing was due\n"


@pytest.mark.parametrize("answer", [UNKNOWN, LOCKED_OUT])
def test_what_waits_for_somebody_is_exit_code_3(story, command, answer):
    story.approved()
    story.remote.receipts.append(answer)
    with pytest.raises(SystemExit) as caught:
        command("dispatch_approved", "--concurrency", "1")
    assert caught.value.code == 3


def test_a_paused_channel_is_told_even_when_nothing_was_due(story, command):
    channel = story.propose().channel
    pause.pause_channel(actor=story.actor("max"), clock=story.clock, channel=channel, reason="Maintenance.")
    with pytest.raises(SystemExit) as caught:
        command("dispatch_approved")
    assert caught.value.code == 3


def test_a_sink_that_cannot_be_used_is_said(story, command, settings):
    settings.REVIEWROOM_AUDIT_SINK = "file://relative.jsonl"
    with pytest.raises(CommandError, match="three slashes"):
        command("drain_outbox")


def test_another_installation_sends_nothing(story, command, settings):
    story.approved()
    settings.REVIEWROOM_INSTANCE = "somewhere-else"
    with pytest.raises(CommandError, match="adopt_database"):
        command("dispatch_approved", "--concurrency", "1")


@pytest.mark.parametrize("words", [["--batch-size", "0"], ["--concurrency", "x"], ["--once", "--forever"]])
def test_wrong_usage_is_refused(command, words):
    with pytest.raises(CommandError):
        command("drain_outbox", *words)


def test_forever_works_until_it_is_told_to_stop(lasting_story, monkeypatch, sink):
    lasting_story.approved()
    monkeypatch.setattr(drain_outbox.Command, "every_seconds", 0.01)
    stop = loop.threading.Event()
    command = drain_outbox.Command()
    monkeypatch.setattr(command, "tell", lambda *_, **__: stop.set())
    command.go_on(stop, {}, "text")
    assert len(sink.read_text().splitlines()) == 1


@pytest.mark.slow
def test_sigterm_ends_a_worker_in_peace(lasting_story, process_environment):
    words = [sys.executable, "manage.py", "run_worker", "--forever"]
    process = subprocess.Popen(words, env=process_environment, stderr=subprocess.PIPE, text=True)
    assert process.stderr.readline() == "Working until SIGTERM or Ctrl-C.\n"
    process.send_signal(signal.SIGTERM)
    assert (process.communicate(timeout=30)[1], process.returncode) == ("", 0)
