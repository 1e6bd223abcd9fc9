"""The HTTP sink's options, compressed bodies and signatures, and what answers that break off or lie come to."""

import asyncio
import gzip
from uuid import UUID

import pytest

from approvals import sinks
from approvals.connectors.base import Deadline
from approvals.connectors.outbound import Outbound
from approvals.sinks.base import Options, SinkError
from tests.support.receiver import HANG, RESET, TOKEN, TOO_LONG, TOO_SHORT, Receiver, signing_secret

KEY = b"0123456789abcdef0123456789abcdef"


def event(number):
    event_id = UUID(int=number)
    return event_id, f'{{"event_id": "{event_id}", "text": "é"}}'.encode()


def made(receiver, **options):
    return sinks.make_with(
        Options(url=receiver.url, outbound=Outbound(allow_private=True), **{"token": TOKEN, **options})
    )


def post(sink, *numbers, seconds=5.0):
    """Posts events one after the other on one entry, and gives the answers."""

    async def all_of_them():
        async with sink:
            return [await sink.post(*event(number), Deadline(seconds)) for number in numbers]

    return asyncio.run(all_of_them())


@pytest.fixture
def receiver():
    with Receiver() as started:
        yield started


def test_the_reference_receiver_takes_what_the_sink_sends(receiver):
    assert [answer.ok for answer in post(made(receiver), 1, 2, 1)] == [True] * 3
    assert receiver.faults([(str(event(n)[0]), None, event(n)[1].decode()) for n in (1, 2)]) == []
    assert receiver.repeats == {str(event(1)[0]): 1}


def test_a_wrong_token_pauses(receiver):
    assert post(made(receiver, token="guessed"), 1)[0].pause


def test_a_body_is_compressed_when_wanted(receiver):
    assert post(made(receiver, gzip=True), 1)[0].ok
    (arrival,) = receiver.arrivals
    assert (arrival.headers["content-encoding"], arrival.body) == ("gzip", event(1)[1])


def test_a_compressed_repetition_is_the_same_bytes(receiver, monkeypatch):
    travelled = []
    unpack = gzip.decompress
    monkeypatch.setattr(gzip, "decompress", lambda body: travelled.append(body) or unpack(body))
    post(made(receiver, gzip=True), 1, 1)
    assert travelled[0] == travelled[1]


@pytest.mark.parametrize("compressed", [False, True])
def test_a_signature_covers_the_bytes_that_travel(receiver, compressed):
    receiver.signing_key = KEY
    assert post(made(receiver, signing_secret=signing_secret(KEY), gzip=compressed), 1)[0].ok


def test_a_signature_by_another_key_is_refused(receiver):
    receiver.signing_key = KEY
    assert post(made(receiver, signing_secret=signing_secret(KEY[::-1])), 1)[0].pause


def test_a_key_that_is_none_is_refused_at_the_start(receiver):
    with pytest.raises(SinkError, match="AUDIT_SIGNING_SECRET"):
        made(receiver, signing_secret="whsec_!")


def test_neither_token_nor_key_is_shown(receiver):
    shown = repr(Options(url="x", outbound=Outbound(allow_private=True), token="marker-a", signing_secret="marker-b"))
    assert "marker" not in shown


def test_connections_are_kept_and_shared(receiver):
    post(made(receiver), *range(10))
    assert receiver.connections == 1


def test_a_2xx_counts_although_its_body_breaks_off(receiver):
    receiver.fate = lambda _, arrival: TOO_LONG
    assert post(made(receiver), 1)[0].ok


def test_what_follows_a_short_answer_is_not_taken_for_the_next(receiver):
    """A stray answer on a kept connection must not speak for an event that the sink never saw."""
    receiver.fate = lambda _, arrival: TOO_SHORT
    answers = post(made(receiver), 1, 2, 3)
    assert sum(answer.ok for answer in answers) <= len(receiver.kept)


@pytest.mark.parametrize("trick", [HANG, RESET])
def test_no_answer_is_tried_again(receiver, trick):
    receiver.fate = lambda _, arrival: trick
    assert post(made(receiver), 1, seconds=0.3)[0].retry


def test_nothing_leaves_after_the_time_to_send(receiver):
    sink = made(receiver)

    async def late():
        async with sink:
            return await sink.post(*event(1), Deadline(5, send_by=0.0))

    assert asyncio.run(late()).retry
    assert receiver.arrivals == []


def test_rotation_is_not_for_this_sink(receiver):
    with pytest.raises(SinkError, match="AUDIT_ROTATE"):
        made(receiver, rotate="daily")
