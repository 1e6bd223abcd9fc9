"""How far it came decides what a broken dialogue means: not sent up to the final dot, unknown after it."""

import itertools
import socket
import time
from collections.abc import Callable
from unittest.mock import Mock

import pytest

from approvals.connectors.base import Deadline
from approvals.connectors.smtp import wire
from tests.connectors.remote import hang, hang_up, reset
from tests.connectors.smtp.servers import Scripted, Server, then

COMMANDS = ["greeting", "EHLO", "MAIL", "RCPT", "DATA"]
ENDS = {"hang_up": hang_up, "reset": reset, "cut": then(b"25", hang_up), "garbage": b"HTTP/1.1 200 OK\r\n\r\n"}
LINES = b"250-and so on\r\n" * 10_000


def drip(connection, stopped):
    """A reply that never ends, in small pieces."""
    while not stopped.wait(0.02):
        connection.sendall(b"250-more\r\n")


class _Narrow(socket.socket):
    """Takes little at once, as a slow line does."""

    def connect(self, address):
        self.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        return super().connect(address)


def before_the_dot(wait: Callable[[], None]) -> Deadline:
    """A deadline whose clock, asked right before the dot, first waits for something."""
    asked = itertools.count()

    def clock() -> float:
        if next(asked) == 1:
            wait()
        return 0.0

    return Deadline(10, send_by=1000.0, clock=clock)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("step", COMMANDS)
def test_a_dialogue_broken_before_the_message_is_not_sent(post, step, end):
    with Scripted(**{step: ENDS[end]}) as server:
        receipt = post(server.port)
    assert (receipt.outcome, receipt.pause, server.contents) == ("not_sent", False, [])
    assert receipt.evidence["phase"] in (step.lower(), "connect")  # a reset can come before the first look


@pytest.mark.parametrize("end", [hang_up, reset])
def test_a_connection_lost_before_the_dot_is_not_sent(post, end):
    with Scripted(content=end) as server:
        receipt = post(server.port, deadline=before_the_dot(server.wait))
    assert (receipt.outcome, receipt.pause, server.contents) == ("not_sent", False, [])
    assert receipt.evidence["phase"] == "content"


@pytest.mark.parametrize("end", ENDS)
def test_a_dialogue_broken_after_the_dot_is_unknown(post, end):
    with Scripted(dot=ENDS[end]) as server:
        receipt = post(server.port)
    assert (receipt.outcome, receipt.pause, len(server.contents)) == ("unknown", False, 1)
    assert receipt.evidence["phase"] == "answer"


@pytest.mark.parametrize("way", [hang, drip])
@pytest.mark.parametrize("step", COMMANDS)
def test_a_server_without_end_before_the_message_is_not_sent(post, step, way):
    with Scripted(**{step: way}) as server:
        receipt = post(server.port, deadline=Deadline(0.3))
    assert (receipt.outcome, receipt.pause, receipt.evidence["phase"]) == ("not_sent", False, step.lower())


@pytest.mark.parametrize("way", [hang, drip])
def test_a_server_without_end_after_the_dot_is_unknown_and_in_time(post, way):
    with Scripted(dot=way) as server:
        begun = time.monotonic()
        receipt = post(server.port, deadline=Deadline(0.3))
        took = time.monotonic() - begun
    assert (receipt.outcome, receipt.pause) == ("unknown", False)
    assert took < 1.2


def test_a_server_that_stops_reading_the_message_is_not_sent(post, monkeypatch):
    monkeypatch.setattr(wire.socket, "socket", _Narrow)
    with Scripted(content=hang, reads_little=True) as server:
        receipt = post(server.port, deadline=Deadline(0.5), text="é" * 8_000)
    assert (receipt.outcome, receipt.evidence["phase"], server.contents) == ("not_sent", "content", [])


@pytest.mark.parametrize(("step", "outcome"), [("EHLO", "not_sent"), ("dot", "unknown")])
def test_a_reply_longer_than_anybody_reads_is_none(post, step, outcome):
    with Scripted(**{step: LINES}) as server:
        receipt = post(server.port)
    assert (receipt.outcome, receipt.pause) == (outcome, False)
    assert "a reply without end" in receipt.reason


def test_a_worker_that_wakes_too_late_before_the_message_sends_nothing_of_it(post):
    with Scripted() as server:
        receipt = post(server.port, deadline=Deadline(10, send_by=1000.0, clock=lambda: 1000.0))
        server.wait()
    assert (receipt.outcome, receipt.pause) == ("not_sent", False)
    assert (server.contents, server.cut_off) == ([], [b""])


def test_a_worker_that_wakes_too_late_before_the_dot_does_not_send_it(post):
    times = iter([0.0, 1000.0])
    with Scripted() as server:
        receipt = post(server.port, deadline=Deadline(10, send_by=1000.0, clock=lambda: next(times)))
        server.wait()
    assert (receipt.outcome, server.contents) == ("not_sent", [])


AFTER_THE_DOT = {
    "delivered": [250],
    "not_sent": [421, 450, 451, 452, 499],
    "refused": [521, 550, 552, 554, 571],
    "unknown": [220, 221, 251, 252, 299, 334, 354, 500, 501, 502, 503, 504],
}


@pytest.mark.parametrize(("outcome", "code"), [(word, code) for word, codes in AFTER_THE_DOT.items() for code in codes])
def test_a_whole_reply_to_the_dot_is_believed(post, outcome, code):
    with Scripted(dot=b"%d-first\r\n%d second\r\n" % (code, code)) as server:
        receipt = post(server.port)
    assert (receipt.outcome, receipt.pause) == (outcome, False)
    assert (receipt.remote_id is not None) == (outcome == "delivered")


@pytest.mark.parametrize("code", [530, 534, 535, 538])
@pytest.mark.parametrize("step", ["MAIL", "RCPT", "DATA", "dot"])
def test_a_server_that_wants_to_know_who_we_are_pauses_the_channel(post, step, code):
    with Scripted(**{step: b"%d who are you?\r\n" % code}) as server:
        receipt = post(server.port)
    assert (receipt.outcome, receipt.pause) == ("not_sent", True)


@pytest.mark.parametrize(
    "reply", [b"250-yes\r\n550 no\r\n", b"2500 ok\r\n", b"25O ok\r\n", b"\r\n", b"250_ok\r\n", b" 250 ok\r\n"]
)
def test_a_reply_that_is_none_is_never_a_yes(post, reply):
    with Scripted(dot=reply) as server:
        assert post(server.port).outcome == "unknown"


@pytest.mark.parametrize(("reply", "paused"), [(b"421 busy\r\n", False), (b"554 not you\r\n", True)])
@pytest.mark.parametrize("step", ["greeting", "EHLO"])
def test_a_server_that_does_not_want_us(post, step, reply, paused):
    with Scripted(**{step: reply}) as server:
        receipt = post(server.port)
    assert (receipt.outcome, receipt.pause) == ("not_sent", paused)


@pytest.mark.parametrize(("code", "outcome"), [(251, "delivered"), (252, "not_sent"), (354, "not_sent")])
def test_a_recipient_counts_only_if_the_server_takes_it(post, code, outcome):
    with Scripted(RCPT=b"%d well\r\n" % code) as server:
        assert post(server.port).outcome == outcome


@pytest.mark.parametrize(
    ("said", "outcome"),
    [(b"421 closing\r\n", "not_sent"), (b"552 too big\r\n", "refused"), (b"250 queued\r\n", "unknown")],
)
def test_a_server_that_speaks_before_the_dot_does_not_get_the_dot(post, said, outcome):
    with Scripted(content=said) as server:
        receipt = post(server.port, deadline=before_the_dot(server.said.wait))
        server.wait()
    assert (receipt.outcome, receipt.pause, server.contents) == (outcome, False, [])
    assert [data for data in server.cut_off if b"QUIT" in data] == []


@pytest.mark.parametrize(
    ("step", "next_step"), [("greeting", "ehlo"), ("EHLO", "mail"), ("MAIL", "rcpt"), ("RCPT", "data")]
)
def test_a_reply_too_many_does_not_count_for_the_next_command(post, step, next_step):
    twice = {"greeting": b"220 hi\r\n250 ok\r\n"}.get(step, b"250 ok\r\n354 go on\r\n")
    with Scripted(**{step: twice}) as server:
        receipt = post(server.port)
    assert (receipt.outcome, receipt.evidence["phase"], server.contents) == ("not_sent", next_step, [])
    assert "out of order" in receipt.reason


def test_a_yes_stands_whatever_the_server_does_when_we_leave(post):
    with Scripted(QUIT=hang) as server:
        receipt = post(server.port)
    assert receipt.outcome == "delivered"


def test_a_yes_is_heard_although_the_server_hangs_up_at_once(post):
    with Scripted(dot=then(b"250 queued\r\n", hang_up)) as server:
        assert post(server.port).outcome == "delivered"


def test_we_take_leave_of_a_server_that_refused(post):
    with Scripted(RCPT=b"550 no\r\n") as server:
        post(server.port)
        server.wait()
    assert [line.split(" ")[0] for line in server.heard] == ["EHLO", "MAIL", "RCPT", "QUIT"]


@pytest.mark.parametrize("security", ["none", "starttls", "tls"])
def test_a_long_message_arrives_whole(post, tls, trusted, security):
    options = {"none": {}, "starttls": {"tls_context": tls}, "tls": {"tls": tls}}[security]
    with Server(**options) as server:
        receipt = post(server.port, security=security, text=".é\n" * 40_000)
    assert receipt.outcome == "delivered"
    [envelope] = server.mailbox.taken
    assert envelope.original_content.endswith(b".=C3=A9\r\n" * 40_000)


def test_the_next_address_is_tried_where_one_does_not_answer(post, monkeypatch):
    async def two(_outbound, _host, port):
        return [(socket.AF_INET, ("127.0.0.2", port)), (socket.AF_INET, ("127.0.0.1", port))]

    monkeypatch.setattr("approvals.connectors.outbound.Outbound.resolve", two)
    with Scripted() as server:
        assert post(server.port).outcome == "delivered"


def test_a_server_that_floods_us_is_not_read_on():
    transport = Mock()
    connection = wire.Wire()
    connection.connection_made(transport)
    connection.data_received(b"x" * (wire.MAX_REPLY_BYTES - 1))
    assert not transport.pause_reading.called
    connection.data_received(b"x")
    assert transport.pause_reading.called
