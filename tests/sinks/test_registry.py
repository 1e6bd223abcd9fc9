"""Which sink a setting names."""

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from approvals import sinks
from approvals.connectors.outbound import Outbound
from approvals.sinks import registry
from approvals.sinks.base import Sink, SinkAnswer, SinkError
from approvals.sinks.file import FileSink
from approvals.sinks.http import HttpSink

STRICT = Outbound(allow_private=False)


def test_a_file_url_is_a_file_sink():
    sink = sinks.make("file:///var/log/audit%20trail.jsonl", "", STRICT)
    assert isinstance(sink, FileSink)
    assert sink.path == Path("/var/log/audit trail.jsonl")


def test_a_web_address_is_an_http_sink():
    assert isinstance(sinks.make("https://audit.example/events", "token", STRICT), HttpSink)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "audit.jsonl",
        "file://audit.jsonl",
        "file://host/audit.jsonl",
        "file:///",
        "file:///tmp",
        "file:///a?b",
        "ftp://audit.example/",
        "http://127.0.0.1/",
        "http://169.254.169.254/",
        "https://user:password@audit.example/",
    ],
)
def test_anything_else_stops_with_the_remedy(url):
    with pytest.raises(SinkError):
        sinks.make(url, "", STRICT)


def test_the_settings_name_the_sink(settings, tmp_path):
    settings.REVIEWROOM_AUDIT_SINK = f"file://{tmp_path}/audit.jsonl"
    settings.REVIEWROOM_AUDIT_TOKEN = ""
    settings.REVIEWROOM_ALLOW_PRIVATE_TARGETS = False
    assert sinks.from_settings().path == tmp_path / "audit.jsonl"


class Elsewhere(Sink):
    """The sink of an installed package."""

    def __init__(self, options):
        self.options = options

    async def post(self, event_id, payload, deadline):
        return SinkAnswer(ok=True)


@pytest.fixture
def installed(monkeypatch):
    """Makes packages bring sinks for some schemes."""

    def install(*schemes):
        points = [EntryPoint(scheme, f"{__name__}:Elsewhere", registry.GROUP) for scheme in schemes]
        monkeypatch.setattr(EntryPoint, "load", lambda self: Elsewhere)
        monkeypatch.setattr(registry, "entry_points", lambda group: points if group == registry.GROUP else [])
        registry._kinds.cache_clear()

    yield install
    registry._kinds.cache_clear()


def test_an_installed_package_brings_a_scheme(installed):
    installed("carrier-pigeon")
    sink = sinks.make("carrier-pigeon://loft/7", "token", STRICT)
    assert (sink.options.url, sink.options.token) == ("carrier-pigeon://loft/7", "token")


def test_a_package_does_not_take_the_place_of_a_built_in(installed):
    installed("https")
    assert isinstance(sinks.make("https://audit.example/events", "", STRICT), HttpSink)


def test_an_unknown_scheme_names_the_known_ones(installed):
    installed("carrier-pigeon")
    with pytest.raises(SinkError, match="carrier-pigeon:, file:, http:, https:"):
        sinks.make("ftp://audit.example/", "", STRICT)


def test_the_options_of_the_settings_reach_the_sink(settings, installed):
    installed("carrier-pigeon")
    settings.REVIEWROOM_AUDIT_SINK = "carrier-pigeon://loft"
    settings.REVIEWROOM_AUDIT_SIGNING_SECRET, settings.REVIEWROOM_AUDIT_GZIP = "s", True
    settings.REVIEWROOM_AUDIT_ROTATE = "daily"
    options = sinks.from_settings().options
    assert (options.signing_secret, options.gzip, options.rotate) == ("s", True, "daily")
