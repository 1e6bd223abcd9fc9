"""The password goes to its own host, over a secure connection, and shows nowhere."""

import asyncio
import base64
import json
import socket
from dataclasses import replace

import pytest

from approvals.connectors.base import Deadline
from approvals.connectors.outbound import Outbound
from approvals.connectors.smtp import SmtpConnector
from tests.connectors.remote import closed_port
from tests.connectors.smtp.conftest import environ_for, mail_job, mail_settings
from tests.connectors.smtp.servers import PASSWORD, USER, Scripted

TOKEN = base64.b64encode(f"\0{USER}\0{PASSWORD}".encode()).decode()
OFFERS = [b"250-mail.test\r\n250 STARTTLS\r\n", b"250-mail.test\r\n250 AUTH PLAIN LOGIN\r\n"]


def send(settings, environ, *, allow_private=True, host=None):
    connector = SmtpConnector(Outbound(allow_private=allow_private, environ=environ))
    job = mail_job(settings)
    if host:
        job.settings = replace(settings, config={**settings.config, "host": host})
    return asyncio.run(connector.send(job, Deadline(10)))


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"REVIEWROOM_TARGET_SECRET_MAIL": f"{USER}:{PASSWORD}"},
        environ_for(1),
        {**environ_for(1), "REVIEWROOM_TARGET_SECRET_MAIL_HOSTS": "127.0.0.1"},
    ],
)
def test_without_a_secret_meant_for_the_host_no_connection_is_made(environ):
    with Scripted() as server:
        receipt = send(mail_settings(server.port, security="starttls", secret="MAIL"), environ)
    assert (receipt.outcome, receipt.pause, server.greeted) == ("not_sent", True, 0)


@pytest.mark.parametrize("value", ["password", "user:", ":password"])
def test_a_secret_of_another_shape_is_named(value):
    with Scripted() as server:
        receipt = send(mail_settings(server.port, security="starttls", secret="MAIL"), environ_for(server.port, value))
    assert (receipt.outcome, receipt.pause, server.greeted) == ("not_sent", True, 0)
    assert "user:password" in receipt.reason


def test_the_default_port_of_the_way_counts():
    environ = {**environ_for(587), "REVIEWROOM_TARGET_SECRET_MAIL_HOSTS": "127.0.0.1"}
    settings = mail_settings(587, security="starttls", secret="MAIL")
    assert "is not meant for" not in send(settings, environ).reason


def test_a_secret_never_goes_over_an_open_connection():
    with Scripted(EHLO=OFFERS[1]) as server:
        receipt = send(mail_settings(server.port, secret="MAIL"), environ_for(server.port))
    assert (receipt.outcome, receipt.pause, server.greeted) == ("not_sent", True, 0)


def test_a_server_that_no_longer_offers_starttls_gets_neither_password_nor_message():
    with Scripted(EHLO=OFFERS[1]) as server:
        receipt = send(mail_settings(server.port, security="starttls", secret="MAIL"), environ_for(server.port))
        server.wait()
    assert (receipt.outcome, receipt.pause) == ("not_sent", True)
    assert [line.split(" ")[0] for line in server.heard] == ["EHLO"]


@pytest.mark.parametrize(("reply", "paused"), [(b"454 not now\r\n", False), (b"502 never\r\n", True)])
def test_a_server_that_cannot_start_tls(post, reply, paused):
    with Scripted(EHLO=OFFERS[0], STARTTLS=reply) as server:
        receipt = post(server.port, security="starttls")
    assert (receipt.outcome, receipt.pause, server.contents) == ("not_sent", paused, [])


def test_what_was_said_in_the_clear_is_not_believed_after_starttls(post, tls, trusted):
    with Scripted(EHLO=OFFERS[0], STARTTLS=b"220 go\r\n250-evil\r\n250 AUTH PLAIN\r\n", tls=tls) as server:
        receipt = post(server.port, security="starttls", login=True)
    assert (receipt.outcome, receipt.pause) == ("not_sent", True)
    assert "before the connection was secure" in receipt.reason


def test_a_server_that_speaks_no_tls_is_not_sent(post):
    with Scripted() as server:
        receipt = post(server.port, security="tls", deadline=Deadline(3))
    assert (receipt.outcome, receipt.evidence["phase"]) == ("not_sent", "tls")


def test_a_server_that_offers_no_login_we_know_pauses_the_channel(post, tls, trusted):
    offers = [OFFERS[0], b"250-mail.test\r\n250 AUTH CRAM-MD5\r\n"]
    with Scripted(EHLO=offers, tls=tls) as server:
        receipt = post(server.port, security="starttls", login=True)
    assert (receipt.outcome, receipt.pause) == ("not_sent", True)


@pytest.mark.parametrize(("code", "paused"), [(454, False), (421, False), (535, True), (500, True)])
def test_a_login_that_fails(post, tls, trusted, code, paused):
    with Scripted(EHLO=list(OFFERS), AUTH=b"%d no\r\n" % code, tls=tls) as server:
        receipt = post(server.port, security="starttls", login=True)
    assert (receipt.outcome, receipt.pause, receipt.evidence["phase"]) == ("not_sent", paused, "auth")


@pytest.mark.parametrize("step", ["AUTH", "MAIL", "RCPT", "dot"])
def test_a_server_that_repeats_the_password_does_not_make_it_show(post, tls, trusted, step):
    parts = [PASSWORD, TOKEN[8:], base64.b64encode(PASSWORD.encode()).decode(), f"{USER}:{PASSWORD}"]
    echo = "".join(f"550-you said {part}\r\n" for part in [*parts, TOKEN]) + "550 so there\r\n"
    with Scripted(EHLO=list(OFFERS), tls=tls, **{step: echo.encode()}) as server:
        receipt = post(server.port, security="starttls", login=True)
    stored = repr(receipt) + json.dumps(receipt.evidence)
    assert TOKEN in server.heard[3]
    assert [part for part in parts if part in stored] == []
    assert "[redacted]" in stored


def test_the_evidence_tells_the_dialogue(post):
    with Scripted(MAIL=b"250-first\r\n250 sec\x00ond\xff\r\n") as server:
        evidence = post(server.port).evidence
    told = [(reply["phase"], reply["code"]) for reply in evidence["replies"]]
    assert told == [
        ("greeting", 220),
        ("ehlo", 250),
        ("mail", 250),
        ("rcpt", 250),
        ("data", 354),
        ("answer", 250),
    ]
    assert evidence["replies"][2]["text"] == "first\nsec\ufffdond\ufffd"
    assert evidence["url"] == f"smtp://127.0.0.1:{server.port}"
    assert list(evidence["timing"]) == [
        "name", "connect", "greeting", "ehlo", "mail", "rcpt", "data", "content", "answer", "total",
    ]  # fmt: skip


def test_the_evidence_keeps_2_kb_and_the_end_first(post):
    with Scripted(EHLO=b"250-" + b"x" * 3000 + b"\r\n250 end\r\n", dot=b"550 " + b"y" * 3000 + b"\r\n") as server:
        evidence = post(server.port).evidence
    texts = [reply["text"] for reply in evidence["replies"]]
    assert sum(map(len, texts)) <= 2048
    assert "y" * 2000 in texts[-1]


def test_nobody_is_called_at_a_private_address():
    with Scripted() as server:
        receipt = send(mail_settings(server.port), {}, allow_private=False)
    assert (receipt.outcome, receipt.pause, server.greeted) == ("not_sent", True, 0)


def test_a_name_that_moves_to_a_private_address_is_not_called(monkeypatch):
    with Scripted() as server:
        found = [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, server.port)) for ip in ("93.184.215.14", "127.0.0.1")
        ]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_: found)
        receipt = send(mail_settings(server.port, host="mail.example.org"), {}, allow_private=False)
    assert (receipt.outcome, receipt.pause, server.greeted) == ("not_sent", True, 0)


def test_a_name_that_does_not_resolve_is_not_sent(monkeypatch):
    def unknown(*_):
        raise socket.gaierror(socket.EAI_NONAME, "unknown name")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    receipt = send(mail_settings(host="mail.example.org"), {})
    assert (receipt.outcome, receipt.pause, receipt.evidence["phase"]) == ("not_sent", False, "name")


def test_a_port_where_nobody_listens_is_not_sent(post):
    receipt = post(closed_port())
    assert (receipt.outcome, receipt.pause, receipt.evidence["phase"]) == ("not_sent", False, "connect")
