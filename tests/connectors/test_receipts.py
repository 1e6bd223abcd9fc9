"""What a send comes to, on real connections: only a proof that nothing happened may say that nothing happened."""

import threading
import time

import pytest

from approvals.connectors.base import Deadline, Outcome
from tests.connectors.conftest import CREATED, http_settings
from tests.connectors.remote import Remote, closed_port, hang, hang_up, raw, reply, reset

SAYS_OK = '{"id": "41"}'


@pytest.fixture
def send(http, job_for, remote, run):
    """Sends once to a remote that behaves as told; gives the receipt."""

    def once(behaviour, *, method="POST", seconds=5.0):
        remote.behaviours = [behaviour]
        job = job_for(http_settings(remote.url, method=method))
        return run(http.send(job, Deadline(seconds)))

    return once


@pytest.mark.parametrize("status", [200, 201, 202])
def test_a_success_with_an_id_is_delivered(send, status):
    receipt = send(reply(status, SAYS_OK))
    assert (receipt.outcome, receipt.remote_id) == (Outcome.DELIVERED, "41")


def test_a_numeric_id_is_kept_as_text(send):
    assert send(reply(201, '{"id": 41}')).remote_id == "41"


ALIEN = {
    "an error in a 200": '{"ok": false}',
    "an error beside an id": '{"ok": false, "id": "41"}',
    "a list of errors": '{"id": "41", "errors": ["no"]}',
    "HTML": "<html>Welcome</html>",
    "nothing": "",
    "no id": "{}",
    "an empty id": '{"id": ""}',
    "null": '{"id": null}',
    "a truth value": '{"id": true}',
    "an object for an id": '{"id": {}}',
    "an id that is a dot segment": '{"id": ".."}',
    "an id with a line break": '{"id": "4\\n1"}',
    "an endless id": '{"id": "' + "4" * 600 + '"}',
    "a list": "[]",
    "deep nesting": "[" * 20_000,
    "bytes that are no text": b"\xff\xfe",
    "more than is read": '{"id": "41", "rest": "' + "x" * 70_000 + '"}',
}


@pytest.mark.parametrize("body", ALIEN.values(), ids=ALIEN.keys())
def test_a_success_that_is_not_understood_is_unknown(send, body):
    assert send(reply(200, body)).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize("status", [203, 204, 205, 206, 207, 226])
def test_a_success_that_need_not_mean_success_is_unknown(send, status):
    assert send(reply(status, SAYS_OK)).outcome is Outcome.UNKNOWN


def test_a_truncated_body_is_unknown(send):
    assert send(reply(200, SAYS_OK, length=100)).outcome is Outcome.UNKNOWN


def test_a_body_without_length_that_breaks_off_is_unknown(send):
    assert send(raw(b'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{"id": "4')).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize("status", [300, 301, 302, 303, 304, 307, 308])
def test_a_redirect_is_unknown_and_not_followed(send, remote, status):
    receipt = send(reply(status, "", {"Location": f"{remote.url}/elsewhere"}))
    assert receipt.outcome is Outcome.UNKNOWN
    assert [request.path for request in remote.received] == ["/items"]


@pytest.mark.parametrize("status", [408, 409, 500, 501, 502, 503, 504, 599])
def test_an_answer_in_doubt_is_unknown(send, status):
    assert send(reply(status, "{}")).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize("status", [400, 402, 404, 405, 410, 412, 413, 415, 418, 422, 451])
def test_a_plain_no_is_refused(send, status):
    receipt = send(reply(status, '{"error": "no"}'))
    assert (receipt.outcome, receipt.pause) == (Outcome.REFUSED, False)


@pytest.mark.parametrize("status", [401, 403])
def test_a_closed_door_is_not_sent_and_pauses(send, status):
    receipt = send(reply(status, "{}"))
    assert (receipt.outcome, receipt.pause) == (Outcome.NOT_SENT, True)


@pytest.mark.parametrize("status", [425, 429])
def test_a_request_to_wait_is_not_sent_and_keeps_the_time(send, status):
    receipt = send(reply(status, "", {"Retry-After": "17"}))
    assert (receipt.outcome, receipt.pause, receipt.retry_after_seconds) == (Outcome.NOT_SENT, False, 17.0)


@pytest.mark.parametrize("value", ["soon", "", "-1"])
def test_a_retry_after_that_says_nothing_is_none(send, value):
    assert send(reply(429, "", {"Retry-After": value})).retry_after_seconds is None


def test_a_retry_after_of_ten_years_is_capped(send):
    assert send(reply(429, "", {"Retry-After": "315360000"})).retry_after_seconds == 3600.0


def test_silence_after_the_request_is_unknown(send):
    assert send(hang, seconds=0.3).outcome is Outcome.UNKNOWN


def test_a_reset_after_the_request_is_unknown(send):
    assert send(reset).outcome is Outcome.UNKNOWN


def test_a_close_after_the_request_is_unknown(send):
    assert send(hang_up).outcome is Outcome.UNKNOWN


def test_an_answer_that_is_no_http_is_unknown(send):
    assert send(raw(b"220 mail.example ESMTP\r\n\r\n")).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize("behaviour", [reset, hang_up])
def test_an_idempotent_method_is_not_sent_twice_behind_our_back(send, remote, behaviour):
    assert send(behaviour, method="PUT").outcome is Outcome.UNKNOWN
    assert len(remote.received) == 1


def test_a_closed_port_is_not_sent(http, job_for, run, deadline):
    job = job_for(http_settings(f"http://127.0.0.1:{closed_port()}", secret=""))
    receipt = run(http.send(job, deadline))
    assert (receipt.outcome, receipt.pause) == (Outcome.NOT_SENT, False)


def test_a_name_that_does_not_resolve_is_not_sent(http, job_for, run, deadline):
    job = job_for(http_settings("http://nowhere.invalid", secret=""))
    receipt = run(http.send(job, deadline))
    assert (receipt.outcome, receipt.pause) == (Outcome.NOT_SENT, False)


def test_a_name_server_that_hangs_is_not_sent_and_does_not_hold_the_worker(http, job_for, run, monkeypatch):
    released = threading.Event()
    monkeypatch.setattr("socket.getaddrinfo", lambda *_args: released.wait(5) and [])
    job = job_for(http_settings("http://slow.example", secret=""))
    begun = time.monotonic()
    assert run(http.send(job, Deadline(0.1))).outcome is Outcome.NOT_SENT
    assert time.monotonic() - begun < 2
    released.set()


def test_a_remote_that_speaks_no_tls_is_not_sent(http, job_for, run, deadline):
    with Remote(CREATED, greeting=b"220 mail.example ESMTP\r\n") as plain:
        receipt = run(http.send(job_for(http_settings(f"https://{plain.host}", secret="")), deadline))
    assert (receipt.outcome, receipt.pause) == (Outcome.NOT_SENT, False)


def test_a_certificate_that_is_not_trusted_is_not_sent_and_pauses(http, job_for, run, deadline, self_signed):
    with Remote(reply(201, SAYS_OK), tls=self_signed) as secure:
        receipt = run(http.send(job_for(http_settings(secure.url, secret="")), deadline))
    assert (receipt.outcome, receipt.pause) == (Outcome.NOT_SENT, True)
    assert secure.received == []


@pytest.mark.parametrize("late_by", [0.0, 600.0])
def test_a_worker_that_woke_too_late_sends_nothing(http, job_for, run, remote, late_by):
    job = job_for(http_settings(remote.url))
    late = Deadline(5, send_by=1000.0, clock=lambda: 1000.0 + late_by)
    assert run(http.send(job, late)).outcome is Outcome.NOT_SENT
    assert remote.received == []


def test_the_clock_is_asked_after_the_connection_was_made(http, job_for, run, remote):
    """A worker suspended while it connects is late although it began in time."""
    readings = iter([999.0, 1001.0])
    job = job_for(http_settings(remote.url))
    late = Deadline(5, send_by=1000.0, clock=lambda: next(readings, 1001.0))
    assert run(http.send(job, late)).outcome is Outcome.NOT_SENT
    assert remote.received == []


def test_a_send_in_time_is_sent(http, job_for, run, remote):
    job = job_for(http_settings(remote.url))
    assert run(http.send(job, Deadline(5, send_by=1000.0, clock=lambda: 999.0))).outcome is Outcome.DELIVERED
