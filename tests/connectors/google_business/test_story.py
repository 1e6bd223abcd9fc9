"""A reply from proposal to retraction through the real workers, and what they make of Google's answers."""

import copy
from datetime import timedelta

import pytest
from django.apps import apps
from django.core import serializers

from approvals.connectors.conformance import Behaviour, Verb
from approvals.models import Channel, Delivery
from approvals.services.retract import retract
from tests.cast import CONFIG, NOON, remote  # noqa: F401  (the story wants this `remote`, not that of the connectors)
from tests.connectors.google_business.standin import RESOURCE, quota
from tests.workers.beats import GRACE_SECONDS, LEASE_SECONDS, look, proven_absent, send

COMMENT = "Thank you. We mended the lift."


@pytest.fixture
def room(story, google, settings, monkeypatch):
    """The cast's room with a channel to the stand-in."""
    settings.REVIEWROOM_ALLOW_PRIVATE_TARGETS = True
    for name, value in google.environ.items():
        monkeypatch.setenv(name, value)
    document = copy.deepcopy(CONFIG)
    channel = {
        "slug": "google",
        "connector": "google_business",
        "account": google.settings.account,
        "resource_pattern": "locations/*/reviews/*",
        "secret": "GOOGLE",
        "config": google.settings.config,
        "operations": {"reply.upsert": {}},
    }
    document["rooms"][0]["channels"].append(channel)
    story.configure(document)
    return story


@pytest.fixture
def draft(room):
    return room.approved(channel="google", resource=RESOURCE, payload={"comment": COMMENT})


def test_a_reply_is_published_and_confirmed(room, draft, storefront):
    send(room)
    look(room)
    assert (room.again(draft).state, storefront.reply["comment"]) == ("confirmed", COMMENT)


def test_a_retracted_reply_is_gone(room, draft, storefront):
    send(room)
    look(room)
    retract(actor=room.actor("ben"), clock=room.clock, draft_id=draft.pk, reason="Wrong shop.")
    send(room)
    room.clock.advance(seconds=GRACE_SECONDS)
    look(room)
    assert (room.again(draft).state, storefront.reply) == ("retracted", None)


def test_a_lost_answer_is_found_and_not_sent_again(room, draft, google, storefront):
    google.behave(Verb.SEND, Behaviour.APPLY_AND_HANG_UP)
    send(room)
    assert room.again(draft).state == "delivery_unknown"
    look(room)
    send(room)
    assert (room.again(draft).state, storefront.effects) == ("submitted", 1)


def test_what_never_arrived_is_sent_again_after_two_looks(room, draft, google, storefront):
    storefront.write("The reply of last year.", NOON - timedelta(days=365))
    google.behave(Verb.SEND, Behaviour.HANG_UP)
    send(room)
    proven_absent(room)
    send(room)
    assert (room.again(draft).state, storefront.reply["comment"]) == ("submitted", COMMENT)


def test_what_somebody_wrote_meanwhile_is_not_overwritten(room, draft, google, storefront):
    google.behave(Verb.SEND, Behaviour.HANG_UP)
    send(room)
    storefront.write("Written in a browser.", NOON + timedelta(seconds=LEASE_SECONDS))
    proven_absent(room)
    send(room)
    assert room.again(draft).state == "delivery_unknown"
    assert storefront.reply["comment"] == "Written in a browser."


def test_a_withdrawn_consent_pauses_the_channel_and_loses_nothing(room, draft, tokens, storefront):
    tokens.refresh_token = "withdrawn"
    send(room)
    assert Channel.objects.get(slug="google").paused_at is not None
    assert (room.again(draft).state, storefront.asked) == ("submitting", [])


def test_a_used_up_quota_waits_without_a_pause(room, draft, storefront):
    storefront.says[Verb.SEND] = [quota(403, headers={"Retry-After": "900"})]
    send(room)
    assert Channel.objects.get(slug="google").paused_at is None
    assert (Delivery.objects.get().next_attempt_at - room.clock.now).total_seconds() >= 900


def test_a_rejected_reply_is_not_confirmed(room, draft, storefront):
    storefront.moderation = "REJECTED"
    send(room)
    look(room)
    found = room.again(draft)
    assert (found.state, "rejected" in found.reason) == ("submitted", True)


def test_no_credential_reaches_the_database(room, draft, google, tokens):
    google.behave(Verb.SEND, Behaviour.ECHO)
    send(room)
    tokens.valid.clear()
    tokens.parrots = True
    room.approved(channel="google", resource=RESOURCE, payload={"comment": "Another."})
    send(room)
    rows = [row for model in apps.get_app_config("approvals").get_models() for row in model.objects.all()]
    dump = serializers.serialize("json", rows)
    assert "[redacted]" in dump
    assert [marker for marker in google.markers if marker in dump] == []
