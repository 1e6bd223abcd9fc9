"""Who am I, where may I propose what, and stopping what goes out."""

import pytest

from approvals.models import AuditEvent, Channel, Room

pytestmark = pytest.mark.django_db


def test_me_says_who_the_token_speaks_for(api):
    assert api.get("/v1/me", by="reply-bot").json() == {
        "name": "reply-bot",
        "kind": "agent",
        "scopes": ["introspect", "propose"],
        "acts_for": ["ada"],
    }


def test_me_of_a_bound_token_names_its_person_only(api):
    api.story.user["reply-bot"].acts_for.add(api.story.user["ben"])
    api.held["reply-bot"] = api.token("reply-bot", ["propose"], acts_for="ben")
    assert api.get("/v1/me", by="reply-bot").json()["acts_for"] == ["ben"]


def test_rooms_say_what_one_is_there(api):
    items = api.get("/v1/rooms", by="ben").json()["items"]
    assert [(item["slug"], item["roles"], item["groups"]) for item in items] == [
        ("facilities", ["reviewer"], ["legal"])
    ]


def test_a_stranger_sees_no_room(api):
    assert api.get("/v1/rooms", by="dee").json()["items"] == []


def test_channels_say_what_may_be_proposed(api):
    channels = {item["slug"]: item for item in api.get("/v1/rooms/facilities/channels").json()["items"]}
    assert channels["tickets"]["operations"]["ticket.create"]["payload_schema"]["required"] == ["summary"]
    assert channels["tickets"]["policy"]["required_approvals"] == 2
    assert (channels["replies"]["resource"], channels["replies"]["resource_pattern"]) == (None, "locations/*/reviews/*")


def test_channels_say_the_limits(api):
    limits = api.get("/v1/rooms/facilities/channels").json()["limits"]
    assert (limits["canonical_bytes"], limits["depth"]) == (262_144, 64)


def test_channels_do_not_tell_their_configuration(api):
    Channel.objects.get(slug="tickets")
    document = api.get("/v1/rooms/facilities/channels").json()["items"][0]
    assert not {"config", "secret"} & set(document)


def test_a_channel_is_paused_and_resumed(api):
    paused = api.post("/v1/channels/facilities/tickets/pause", {"reason": "Audit"}, by="max").json()
    assert paused["paused"] == {"at": "2026-11-30T12:00:00.000000Z", "reason": "Audit"}
    assert api.post("/v1/channels/facilities/tickets/resume", by="max").json()["paused"] is None


def test_a_room_is_paused_and_resumed(api):
    api.post("/v1/rooms/facilities/pause", {"reason": "Audit"}, by="max")
    assert Room.objects.get().paused_reason == "Audit"
    api.post("/v1/rooms/facilities/resume", {}, by="max")
    assert Room.objects.get().paused_at is None


def test_pausing_twice_is_one_event(api):
    for _ in range(2):
        assert api.post("/v1/rooms/facilities/pause", {"reason": "Audit"}, by="max").status_code == 200
    assert AuditEvent.objects.filter(action="room.paused").count() == 1


def test_a_pause_needs_a_reason(api):
    assert api.post("/v1/rooms/facilities/pause", {"reason": " "}, by="max").json()["pointer"] == "/reason"


@pytest.mark.parametrize("path", ["/v1/channels/facilities/letters/pause", "/v1/rooms/garden/pause"])
def test_what_is_not_there_cannot_be_paused(api, path):
    assert api.post(path, {"reason": "Audit"}, by="max").status_code == 404
