"""Which sink a setting names."""

from pathlib import Path

import pytest

from approvals import sinks
from approvals.connectors.outbound import Outbound
from approvals.sinks.base import SinkError
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
