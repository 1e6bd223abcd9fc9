"""Pausing: what is paused, why, by whom and since when; and the controls, for operators only."""

import pytest

from approvals.connectors.base import Outcome, Receipt
from approvals.models import Channel, Room
from approvals.selectors import pauses
from approvals.services import pause as pausing
from tests.services import states

ROOM = "/rooms/facilities/"
TICKETS = f"{ROOM}channels/tickets/"
HOSTILE = "<script>alert(1)</script> \u202eback"


def shown(tab):
    return tab.client.get(ROOM).context["ways"]


def locked_out(status=401, **evidence):
    kept = {"status": status, **evidence}
    return Receipt(Outcome.NOT_SENT, "The remote does not let us in.", pause=True, evidence=kept)


@pytest.mark.parametrize(("path", "model"), [(ROOM, Room), (TICKETS, Channel)])
def test_an_operator_pauses_with_a_reason_and_resumes(story, browse, path, model):
    tab = browse("max")
    assert tab.client.post(f"{path}pause", {"reason": "The desk moves house."}).url == ROOM
    assert [row.paused_reason for row in model.objects.exclude(paused_at=None)] == ["The desk moves house."]
    assert tab.client.post(f"{path}resume").url == ROOM
    assert not model.objects.exclude(paused_at=None).exists()


@pytest.mark.parametrize("verb", ["pause", "resume"])
@pytest.mark.parametrize("path", [ROOM, TICKETS])
@pytest.mark.parametrize(("name", "status"), [("ben", 403), ("ada", 403), ("vic", 403), ("dee", 404)])
def test_nobody_else_does(story, browse, path, name, status, verb):
    answer = browse(name).client.post(f"{path}{verb}", {"reason": "x"})
    assert answer.status_code == status
    assert Room.objects.get().paused_at is None
    assert not Channel.objects.exclude(paused_at=None).exists()


@pytest.mark.parametrize("path", [f"{ROOM}pause", f"{ROOM}resume", f"{TICKETS}pause", f"{TICKETS}resume"])
def test_pausing_is_a_post(story, browse, path):
    for method in ("get", "head", "put", "delete"):
        assert getattr(browse("max").client, method)(path).status_code == 405


@pytest.mark.parametrize(("path", "place"), [(ROOM, 0), (TICKETS, 2)])
@pytest.mark.parametrize("reason", ["", " ", "x" * 501])
def test_a_bad_reason_comes_back_with_its_own_form_open(story, browse, path, place, reason):
    answer = browse("max").client.post(f"{path}pause", {"reason": reason})
    ways = answer.context["ways"].ways
    assert answer.status_code == 422
    assert [way.pause.is_open for way in ways] == [number == place for number in range(len(ways))]
    assert ways[place].pause.reason == reason


def test_an_unknown_channel_is_404(story, browse):
    assert browse("max").client.post(f"{ROOM}channels/nowhere/pause", {"reason": "x"}).status_code == 404


@pytest.mark.parametrize(("name", "sees"), [("max", True), ("ben", False), ("vic", False)])
def test_the_ways_out_are_shown_to_operators_until_something_is_paused(story, browse, name, sees):
    assert shown(browse(name)).shown is sees


def paused(story, reason="The desk moves house."):
    channel = Channel.objects.get(slug="tickets")
    pausing.pause_channel(actor=story.actor("max"), clock=story.clock, channel=channel, reason=reason)


def test_everybody_sees_what_is_paused_by_whom_and_since_when(story, browse):
    paused(story)
    answer = browse("vic").client.get(ROOM)
    assert "The desk moves house. Paused by max at 12:00 UTC." in answer.content.decode()
    assert [(way.pause, way.resume) for way in answer.context["ways"].ways] == [(None, None)] * 3


def test_an_operator_is_offered_resume_where_it_is_paused_and_pause_elsewhere(story, browse):
    paused(story)
    ways = shown(browse("max")).ways
    assert [(way.pause is None, way.resume is None) for way in ways] == [(False, True), (False, True), (True, False)]


def test_the_reason_is_escaped_and_shows_what_it_hides(story, browse):
    paused(story, HOSTILE)
    draft = story.propose()
    for path in (ROOM, f"/drafts/{draft.pk}/"):
        page = browse("ben").client.get(path).content.decode()
        assert "<script>alert" not in page
        assert "\u202e" not in page


def test_a_draft_that_waits_for_it_says_so_and_leads_to_the_controls(story, browse):
    paused(story)
    notice = browse("ben").open(story.propose()).context["page"].notices[0]
    assert notice.title == "Sending by Facilities tracker is paused"
    assert notice.url == f"{ROOM}#sending"


def test_a_paused_room_is_said_in_the_inbox(story, browse):
    pausing.pause_room(actor=story.actor("max"), clock=story.clock, room=Room.objects.get(), reason="Holidays.")
    page = browse("ben").client.get("/").content.decode()
    assert "Holidays. Paused by max at 12:00 UTC." in page


@pytest.mark.parametrize(
    ("receipt", "advice"),
    [
        (locked_out(401), "Give the channel a valid secret, then resume."),
        (locked_out(403), "have the right granted there, then resume."),
        (locked_out(None, fault="certificate"), "Have the remote&#x27;s certificate mended"),
        (locked_out(None, fault="address"), "Mend what it names, then resume."),
    ],
)
def test_what_the_remote_paused_says_what_it_said_and_what_to_do(story, browse, receipt, advice):
    draft = story.approved()
    story.remote.receipts = [receipt]
    states.send(story)
    for path in (ROOM, f"/drafts/{draft.pk}/"):
        page = browse("max").client.get(path).content.decode()
        assert "The remote does not let us in. The remote said so at 12:00 UTC" in page
        assert advice in page


def test_a_command_is_no_remote(story):
    channel = Channel.objects.get(slug="tickets")
    pausing.pause_channel_in(channel, actor=story.worker, now=story.clock(), reason="x")
    assert pauses.of_channel(channel).is_automatic
    found = pauses.Pause(story.clock(), "x", "system:pause_channel")
    assert not found.is_automatic
