"""What may be configured and proposed, and what the request looks like."""

from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from approvals.connectors import registry
from approvals.connectors.base import Capability, ConfigError, Settings
from approvals.connectors.google_business import GoogleBusinessConnector
from approvals.connectors.outbound import Outbound
from approvals.domain.errors import InvalidPayload
from approvals.models import Channel

CHANNEL = """\
[[rooms]]
slug = "shop"

[[rooms.channels]]
slug = "reviews"
connector = "google_business"
account = "1042"
resource_pattern = "locations/*/reviews/*"
secret = "GOOGLE"
config = {base_url = "https://192.0.2.7/v4", token_url = "https://192.0.2.7/token"}
[rooms.channels.operations."reply.upsert"]
"""


def test_it_is_built_in():
    assert isinstance(registry.get("google_business", Outbound(allow_private=False)), GoogleBusinessConnector)


def test_the_request_is_the_documented_upsert(render):
    request = render({"comment": "Thank you."})
    assert (request.method, request.body, request.secret) == ("PUT", b'{"comment":"Thank you."}', "GOOGLE")
    assert request.url.endswith("/v4/accounts/1042/locations/77/reviews/AbFvOqk-_3%3D/reply")


def test_without_config_it_is_google():
    connector = GoogleBusinessConnector(Outbound(allow_private=False))
    settings = Settings("google_business", "1042", "GOOGLE", operations={"reply.upsert": {}})
    assert [url for _, url in connector.urls(settings)] == [
        "https://mybusiness.googleapis.com/v4",
        "https://oauth2.googleapis.com/token",
    ]


def test_it_can_do_everything(connector, google):
    assert connector.capabilities(google.settings, "reply.upsert") == frozenset(Capability)


@pytest.mark.parametrize("comment", ["x" * 4096, "é" * 2048, "🛗" * 1024])
def test_a_comment_of_4096_bytes_is_taken(render, comment):
    assert render({"comment": comment})


@pytest.mark.parametrize("comment", ["x" * 4097, "é" * 2048 + "x", "🛗" * 1025])
def test_a_longer_comment_is_refused_when_it_is_proposed(render, comment):
    with pytest.raises(InvalidPayload) as caught:
        render({"comment": comment})
    assert caught.value.pointer == "/payload/comment"


@pytest.mark.parametrize("payload", [{}, {"comment": None}, {"comment": 4}, {"comment": ""}, {"comment": " \n"}])
def test_a_reply_without_text_is_refused(render, payload):
    with pytest.raises(InvalidPayload) as caught:
        render(payload)
    assert caught.value.pointer == "/payload/comment"


def test_more_than_a_comment_is_refused(render):
    with pytest.raises(InvalidPayload) as caught:
        render({"comment": "Thank you.", "a/b": 1})
    assert caught.value.pointer == "/payload/a~1b"


@pytest.mark.parametrize(
    "resource",
    [
        "locations/77",
        "locations/77/reviews",
        "locations/77/reviews/",
        "locations/77/reviews/..",
        "locations/./reviews/1",
        "locations/77/reviews/1/reply",
        "/locations/77/reviews/1",
        "locations/77/photos/1",
        "locations/77/reviews/" + "x" * 480,
    ],
)
def test_a_resource_that_is_no_review_is_refused(render, resource):
    with pytest.raises(InvalidPayload) as caught:
        render({"comment": "Thank you."}, resource)
    assert caught.value.pointer == "/resource"


@pytest.mark.parametrize(("resource", "shown"), [("a?b=1", "a%3Fb%3D1"), ("a#b", "a%23b"), ("a:b%2F", "a%3Ab%252F")])
def test_a_strange_review_stays_one_step_of_the_path(render, resource, shown):
    url = render({"comment": "Thank you."}, f"locations/77/reviews/{resource}").url
    assert url.endswith(f"/reviews/{shown}/reply")


@pytest.mark.parametrize("url", ["http://localhost:8000/v4", "http://127.0.0.1:8000/v4", "http://[::1]/v4"])
def test_a_loopback_address_needs_no_tls(google, connector, url):
    connector.check(replace(google.settings, config={"base_url": url}))


def test_a_slash_at_the_end_changes_nothing(google, connector):
    settings = google.settings
    config = {**settings.config, "base_url": settings.config["base_url"] + "/"}
    job = google.job()
    assert connector.render(job.binding, job.delivery_id, replace(settings, config=config)) == job.request


@pytest.fixture
def apply(tmp_path, settings, db):
    settings.REVIEWROOM_ALLOW_PRIVATE_TARGETS = True  # an address for documentation is not a public one

    def call(text):
        file = tmp_path / "room.toml"
        file.write_text(text)
        call_command("apply_config", str(file), stdout=StringIO())

    return call


def test_a_channel_is_made_from_a_file(apply):
    apply(CHANNEL)
    assert Channel.objects.get().connector == "google_business"


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        ('account = "1042"', 'account = "accounts/1042"', 7, "without accounts/"),
        ('"locations/*/reviews/*"', '"locations/*"', 8, "locations/<location>/reviews/<review>"),
        ('secret = "GOOGLE"', 'secret = "GOOGLE"\nconcurrency = "append"', 10, "exclusive"),
        ("https://192.0.2.7/v4", "http://192.0.2.7/v4", 10, "https://"),
        ('secret = "GOOGLE"', "", 4, "Name the secret"),
        ("reply.upsert", "reply.create", 11, "reply.upsert"),
    ],
)
def test_a_fault_in_the_file_is_told_with_its_line(apply, old, new, line, told):
    with pytest.raises(CommandError, match=f"room.toml:{line}: ") as caught:
        apply(CHANNEL.replace(old, new))
    assert told in str(caught.value)


def test_a_fault_in_an_address_that_was_left_out_points_at_the_config(google):
    connector = GoogleBusinessConnector(Outbound(allow_private=False))
    settings = replace(google.settings, config={"base_url": "https://192.168.0.1/v4"})
    with pytest.raises(ConfigError) as caught:
        connector.check(settings)
    assert caught.value.pointer == "/config/base_url"
    assert dict(connector.urls(replace(settings, config={}))).keys() == {"/config"}


def test_rendering_takes_no_time_into_account(google):
    later = Outbound(allow_private=True, environ={}, now=lambda: datetime(2030, 1, 1, tzinfo=UTC))
    job = google.job()
    assert GoogleBusinessConnector(later).render(job.binding, job.delivery_id, google.settings) == job.request
