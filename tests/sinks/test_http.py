"""The HTTP sink: each answer has one consequence, and the bytes never change."""

import asyncio
import json
from datetime import UTC, datetime
from uuid import UUID

import pytest

from approvals.connectors.base import Deadline
from approvals.connectors.outbound import Outbound
from approvals.sinks.base import Options
from approvals.sinks.http import HttpSink
from tests.connectors.remote import Remote, closed_port, hang, reply, reset

EVENT = UUID(int=7)
PAYLOAD = '{"b": 1.0, "a": "é"}'.encode()
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def remote():
    with Remote(reply(204)) as started:
        yield started


@pytest.fixture
def sink(remote):
    return made(f"{remote.url}/events", token="marker-token")


def made(url, *, allow_private=True, **options):
    return HttpSink(Options(url=url, outbound=Outbound(allow_private=allow_private, now=lambda: NOW), **options))


def post(sink, seconds=5.0):
    return asyncio.run(sink.post(EVENT, PAYLOAD, Deadline(seconds)))


def flags(answer):
    return {name for name in ("ok", "retry", "pause", "park") if getattr(answer, name)}


def test_the_stored_bytes_are_sent_as_they_are(sink, remote):
    post(sink)
    post(sink)
    assert [request.body for request in remote.received] == [PAYLOAD, PAYLOAD]


def test_the_token_and_the_event_id_go_along(sink, remote):
    post(sink)
    headers = remote.received[0].headers
    assert headers["authorization"] == "Bearer marker-token"
    assert headers["idempotency-key"] == str(EVENT)


def test_without_a_token_none_is_sent(remote):
    post(made(remote.url))
    assert "authorization" not in remote.received[0].headers


@pytest.mark.parametrize(
    ("status", "consequence"),
    [(200, "ok"), (201, "ok"), (202, "ok"), (204, "ok"), (401, "pause"), (403, "pause")]
    + [(status, "retry") for status in (408, 425, 429, 500, 502, 503, 504, 301, 302, 307)]
    + [(status, "park") for status in (400, 404, 409, 410, 413, 422)],
)
def test_each_status_has_one_consequence(sink, remote, status, consequence):
    remote.behaviours = [reply(status, "", {"Location": f"{remote.url}/else"})]
    assert flags(post(sink)) == {consequence}
    assert len(remote.received) == 1


@pytest.mark.parametrize("behaviour", [hang, reset])
def test_a_broken_exchange_is_tried_again(sink, remote, behaviour):
    remote.behaviours = [behaviour]
    assert flags(post(sink, seconds=0.2)) == {"retry"}


def test_a_closed_port_is_tried_again():
    sink = made(f"http://127.0.0.1:{closed_port()}/")
    assert flags(post(sink)) == {"retry"}


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("30", 30.0),
        ("1.5", 1.5),
        ("Mon, 30 Nov 2026 12:01:00 GMT", 60.0),
        ("Mon, 30 Nov 2026 11:00:00 GMT", 0.0),
        ("315360000", 3600.0),
        ("soon", None),
    ],
)
def test_the_time_to_wait_is_taken_and_capped(sink, remote, status, value, seconds):
    remote.behaviours = [reply(status, "", {"Retry-After": value})]
    assert post(sink).retry_after_seconds == seconds


def test_the_token_is_in_no_answer(sink, remote):
    remote.behaviours = [reply(500, "marker-token")]
    assert "marker-token" not in repr(post(sink))


def test_a_forbidden_address_is_not_called(remote):
    answer = post(made(remote.url, allow_private=False))
    assert (flags(answer), remote.received) == ({"retry"}, [])


def test_events_share_a_connection_once_the_sink_is_entered(sink, remote):
    async def two():
        async with sink:
            await sink.post(EVENT, PAYLOAD, Deadline(5))

    asyncio.run(two())
    assert remote.received[0].headers.get("connection", "keep-alive") == "keep-alive"


def test_the_payload_need_not_be_json_of_ours(sink, remote):
    post(sink)
    assert json.loads(remote.received[0].body) == {"a": "é", "b": 1.0}
