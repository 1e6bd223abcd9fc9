"""How far a call came, told apart on real sockets: before the first byte nothing happened, after it nobody knows."""

import asyncio
import contextlib
import gzip
import json
import socket
import ssl
import struct
import threading
import time
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from approvals.connectors import outbound as outbounds
from approvals.connectors.answers import Failure, Fault, Response
from approvals.connectors.base import Deadline
from approvals.connectors.outbound import Outbound
from tests.connectors.remote import Remote, closed_port, hang, hang_up, raw, reply, reset
from tests.support.processes import until

WHOLE = '{"id": "41"}'
BIG = b"x" * 900_000  # more than the buffers of `Narrow` hold


class Narrow(Outbound):
    """A client whose system takes little at a time, so that a body is under way for a while."""

    def _socket(self, info):
        made = super()._socket(info)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        return made


@pytest.fixture
def call(run):
    def once(url, *, seconds=5.0, body=b"{}", **given):
        return run(Narrow(allow_private=True).call("POST", url, Deadline(seconds), body=body, **given))

    return once


def behind(behaviour, call, **given):
    """The answer of a remote that behaves so."""
    with Remote(behaviour) as remote:
        return call(remote.url, **given)


# Before the first byte


def test_a_name_that_does_not_resolve(call):
    failure = call("http://nowhere.invalid")
    assert (failure.fault, set(failure.timing)) == (Fault.NAME, {"total"})


def test_a_name_server_that_does_not_answer(call, monkeypatch):
    released = threading.Event()
    monkeypatch.setattr("socket.getaddrinfo", lambda *_args: released.wait(5) and [])
    failure = call("http://slow.example", seconds=0.2)
    released.set()
    assert (failure.fault, set(failure.timing)) == (Fault.NAME, {"total"})


def test_a_port_where_nobody_listens(call):
    failure = call(f"http://localhost:{closed_port()}")
    assert failure.reason == "No connection could be made: Connection refused"
    assert (failure.fault, set(failure.timing)) == (Fault.CONNECT, {"name", "total"})


def test_a_connection_that_never_comes_about(call):
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        port = full.getsockname()[1]
        waiting = [socket.socket() for _ in range(2)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
        failure = call(f"http://127.0.0.1:{port}", seconds=0.3)
        for one in waiting:
            one.close()
    assert (failure.fault, set(failure.timing)) == (Fault.CONNECT, {"total"})
    assert 300 <= failure.timing["total"] < 1300


@pytest.mark.parametrize("greeting", [b"220 mail.example ESMTP\r\n", b"HTTP/1.1 400 Bad Request\r\n\r\n"])
def test_a_remote_that_speaks_no_tls(call, greeting):
    with Remote(hang_up, greeting=greeting) as plain:
        failure = call(f"https://{plain.host}")
    assert (failure.fault, set(failure.timing)) == (Fault.TLS, {"connect", "total"})


def accepting(and_then):
    """A listener that treats its first connection so."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)

    def serve():
        connection, _ = listener.accept()
        with connection:
            and_then(connection)

    threading.Thread(target=serve, daemon=True).start()
    return listener, listener.getsockname()[1]


def break_off(connection):
    connection.recv(100)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


@pytest.mark.parametrize("and_then", [break_off, lambda connection: connection.close()], ids=["reset", "close"])
def test_a_handshake_that_breaks_off(call, and_then):
    listener, port = accepting(and_then)
    with listener:
        assert call(f"https://127.0.0.1:{port}").fault is Fault.TLS


def test_a_handshake_that_never_ends(call):
    over = threading.Event()
    listener, port = accepting(lambda connection: over.wait(5))
    with listener:
        failure = call(f"https://127.0.0.1:{port}", seconds=0.3)
    over.set()
    assert (failure.fault, set(failure.timing)) == (Fault.TLS, {"connect", "total"})


def test_a_clock_that_says_too_late(run):
    with Remote(reply(201, WHOLE)) as remote:
        late = Deadline(5, send_by=1.0, clock=lambda: 2.0)
        failure = run(Outbound(allow_private=True).call("POST", remote.url, late, body=b"{}"))
        assert (failure.fault, remote.received) == (Fault.TOO_LATE, [])


# Certificates


class Authority:
    """Signs certificates that the client is told to trust."""

    def __init__(self, folder):
        self.folder = folder
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "A test authority")])
        self.file = folder / "authority.pem"
        self.file.write_bytes(self._sign(self.name, self.key, []).public_bytes(Encoding.PEM))

    def server(self, host: str, *, valid_days: int = 1) -> ssl.SSLContext:
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
        certificate = self._sign(name, key, [host], valid_days)
        file = self.folder / f"{host}.pem"
        private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        file.write_bytes(private + certificate.public_bytes(Encoding.PEM))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context

    def _sign(self, name, key, hosts, valid_days=1):
        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self.name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=30))
            .not_valid_after(now + timedelta(days=valid_days))
            .add_extension(x509.BasicConstraints(ca=not hosts, path_length=None), critical=True)
        )
        names = [x509.DNSName(host) for host in hosts]
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False) if names else builder
        return builder.sign(self.key, hashes.SHA256())


@pytest.fixture
def authority(tmp_path, monkeypatch):
    made = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(made.file))
    outbounds._tls.cache_clear()
    yield made
    outbounds._tls.cache_clear()


def test_a_trusted_certificate_lets_the_request_through(call, authority):
    with Remote(reply(201, WHOLE), tls=authority.server("localhost")) as remote:
        answer = call(f"https://localhost:{remote.port}")
    assert answer.status == 201
    assert set(answer.timing) == {"name", "connect", "tls", "sent", "answered", "total"}


@pytest.mark.parametrize(("host", "days"), [("other.example", 1), ("localhost", -1)], ids=["another name", "expired"])
def test_a_certificate_that_does_not_fit(call, authority, host, days):
    with Remote(reply(201, WHOLE), tls=authority.server(host, valid_days=days)) as remote:
        failure = call(f"https://localhost:{remote.port}")
        assert (failure.fault, remote.received) == (Fault.CERTIFICATE, [])
    assert set(failure.timing) == {"name", "connect", "total"}


def test_a_certificate_of_an_unknown_authority(call, self_signed):
    with Remote(reply(201, WHOLE), tls=self_signed) as remote:
        failure = call(remote.url)
        assert failure.reason == "The remote's certificate was not accepted: self-signed certificate"
        assert (failure.fault, remote.received) == (Fault.CERTIFICATE, [])


# After the first byte


@pytest.mark.parametrize("and_then", [break_off, lambda connection: connection.close()], ids=["reset", "close"])
def test_a_body_of_which_a_part_was_written(call, and_then):
    listener, port = accepting(and_then)
    with listener:
        assert call(f"http://127.0.0.1:{port}", body=BIG).fault is Fault.LOST


def test_a_body_that_nobody_reads(call):
    over = threading.Event()
    listener, port = accepting(lambda connection: over.wait(5))
    with listener:
        failure = call(f"http://127.0.0.1:{port}", body=BIG, seconds=0.3)
    over.set()
    assert (failure.fault, set(failure.timing)) == (Fault.LOST, {"connect", "total"})


def test_nothing_more_leaves_once_the_deadline_has_passed(run):
    """Closing a connection would first write what still waits to be written."""
    over, arrived = threading.Event(), []

    def read_late(connection):
        over.wait(5)
        with contextlib.suppress(ConnectionResetError):
            while chunk := connection.recv(65536):
                arrived.append(len(chunk))
        arrived.append(0)

    async def call_and_live_on(port):
        url = f"http://127.0.0.1:{port}"
        await Narrow(allow_private=True).call("POST", url, Deadline(0.3), body=BIG)
        over.set()
        await asyncio.to_thread(until, lambda: arrived and arrived[-1] == 0)

    listener, port = accepting(read_late)
    with listener:
        run(call_and_live_on(port))
    assert sum(arrived) < len(BIG)


def test_an_answer_that_never_comes(call):
    failure = behind(hang, call, seconds=0.3)
    assert (failure.fault, set(failure.timing)) == (Fault.LOST, {"connect", "sent", "total"})


def dripping(text, then=b""):
    """Sends one byte at a time, for ever."""

    def drip(connection, stopped):
        connection.sendall(then)
        for letter in text:
            connection.sendall(bytes([letter]))
            if stopped.wait(0.05):
                return
        stopped.wait(10)

    return drip


@pytest.mark.parametrize(
    "behaviour",
    [
        hang_up,
        reset,
        raw(b"HTTP/1.1 201 Cre"),
        raw(b"HTTP/1.1 201 Created\r\nContent-Length: 12\r\n"),
        raw(b"220 mail.example ESMTP\r\n\r\n"),
        raw(b"\x00" * 100),
        raw(b"HTTP/1.1 201 Created\r\nX-Long: " + b"x" * 100_000 + b"\r\n\r\n"),
        raw(b"HTTP/1.1 201 Created\r\nContent-Length: 12\r\nContent-Length: 13\r\n\r\n" + WHOLE.encode()),
        raw(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
    ],
    ids=["nothing", "reset", "half a line", "half a head", "SMTP", "zeros", "a long header", "two lengths", "only 103"],
)
def test_an_answer_that_is_none(call, behaviour):
    answer = behind(behaviour, call, seconds=2.0)
    assert isinstance(answer, Failure)
    assert answer.fault is Fault.LOST


def test_a_head_that_drips_ends_at_the_deadline(call):
    begun = time.monotonic()
    failure = behind(dripping(b"HTTP/1.1 201 Created\r\nX-A: " + b"x" * 1000), call, seconds=0.4)
    assert failure.fault is Fault.LOST
    assert time.monotonic() - begun < 1.4


def test_a_body_that_drips_ends_at_the_deadline_and_leaves_its_status(call):
    head = b"HTTP/1.1 201 Created\r\nContent-Length: 5000\r\n\r\n"
    answer = behind(dripping(WHOLE.encode(), head), call, seconds=0.4)
    assert (answer.status, answer.complete, "answered" in answer.timing) == (201, False, False)
    assert answer.timing["total"] < 1400


@pytest.mark.parametrize(
    "answer",
    [
        reply(200, WHOLE, length=100),
        raw(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\r\n{"id": "41"}\r\n'),
        raw(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{"id": "41"}\r\n0\r\n\r\n'),
    ],
    ids=["length", "chunks", "bad chunk"],
)
def test_a_truncated_body_is_no_document(call, answer):
    found = behind(answer, call)
    with pytest.raises(ValueError, match=r"."):
        _document(found)


def _document(answer):
    if isinstance(answer, Failure):
        raise ValueError(answer.reason)
    return answer.json()


def test_a_body_longer_than_the_limit_is_read_no_further(call):
    answer = behind(reply(200, b" " * 10_000_000 + WHOLE.encode()), call)
    assert (answer.complete, len(answer.body)) == (False, 64 * 1024)


def test_an_endless_body_ends_at_the_limit(call):
    def endless(connection, stopped):
        connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        while not stopped.is_set():
            connection.sendall(b" " * 65536)

    assert behind(endless, call).complete is False


def test_a_packed_body_is_not_unpacked(call):
    bomb = gzip.compress(b" " * 50_000_000)
    answer = behind(reply(200, bomb[:60_000], {"Content-Encoding": "gzip"}), call)
    assert len(answer.body) == len(bomb[:60_000])
    with pytest.raises(ValueError, match=r"."):
        answer.json()


def test_an_announcement_before_the_answer_is_no_answer(call):
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
    whole = b"HTTP/1.1 201 Created\r\nContent-Length: 12\r\n\r\n" + WHOLE.encode()
    answer = behind(raw(hints + whole), call)
    assert isinstance(answer, Response)
    assert (answer.status, answer.json()) == (201, {"id": "41"})


@pytest.mark.parametrize("body", ['{"id": "41", "id": "42"}', '{"a": {"b": 1, "b": 2}}', '{"id": NaN}', "[" * 9999])
def test_a_document_that_can_be_read_in_two_ways_is_none(call, body):
    with pytest.raises(ValueError, match=r"."):
        behind(reply(200, body), call).json()


# What is kept


def test_every_phase_has_its_time(call):
    answer = behind(reply(201, WHOLE), call)
    assert list(answer.timing) == ["connect", "sent", "answered", "total"]
    assert sum(answer.timing.values()) - answer.timing["total"] <= answer.timing["total"] + 1


def test_the_time_of_an_answer_is_the_remotes(call):
    def slow(connection, stopped):
        stopped.wait(0.3)
        reply(201, WHOLE)(connection, stopped)

    answer = behind(slow, call)
    assert answer.timing["answered"] >= 300
    assert answer.timing["connect"] + answer.timing["sent"] < 300


def test_a_kept_connection_was_not_made_again(run):
    two = b"HTTP/1.1 201 Created\r\nContent-Length: 12\r\n\r\n" + WHOLE.encode()

    def twice(connection, _stopped):
        connection.sendall(two)
        connection.recv(65536)
        connection.sendall(two)

    async def calls(url):
        async with Outbound(allow_private=True) as kept:
            return [await kept.call("POST", url, Deadline(5), body=b"{}") for _ in range(2)]

    with Remote(twice) as remote:
        first, second = run(calls(remote.url))
    assert ("connect" in first.timing, "connect" in second.timing) == (True, False)


def test_evidence_holds_status_headers_body_and_times(call):
    headers = {"X-Request-Id": "r1", "Retry-After": "7", "Set-Cookie": "a=b", "Server": "x" * 5000}
    kept = behind(reply(503, "é" * 5000, headers), call).evidence
    assert (kept["status"], kept["complete"]) == (503, False)
    assert kept["headers"] == {
        "content-type": "application/json",
        "content-length": "10000",
        "retry-after": "7",
        "server": "x" * 256,
        "x-request-id": "r1",
    }
    assert kept["body"] == "é" * 1024
    assert kept["timing"]["total"] > 0
    json.dumps(kept)


def test_evidence_of_a_failure_holds_the_fault_and_the_times(call):
    kept = call("http://nowhere.invalid").evidence
    assert (kept["fault"], kept["url"]) == ("name", "http://nowhere.invalid")
    assert set(kept["timing"]) == {"total"}
