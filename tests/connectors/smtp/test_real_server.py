"""Against a real mail server (aiosmtpd)."""

from email import message_from_bytes, policy

import pytest

from tests.connectors.conftest import DELIVERY
from tests.connectors.smtp.conftest import TO
from tests.connectors.smtp.servers import PASSWORD, USER, Mailbox, Server

MESSAGE_ID = f"<{DELIVERY}@example.org>"


def test_a_message_arrives_as_it_was_approved(post):
    with Server() as server:
        receipt = post(server.port)
    [envelope] = server.mailbox.taken
    message = message_from_bytes(envelope.original_content, policy=policy.default)
    assert (receipt.outcome, receipt.remote_id, receipt.pause) == ("delivered", MESSAGE_ID, False)
    assert (envelope.mail_from, envelope.rcpt_tos) == ("room@example.org", [TO])
    assert (message["subject"], message["message-id"]) == ("The lift is stuck", MESSAGE_ID)
    assert message.get_content().replace("\r\n", "\n") == "On floor 3.\n.\nSince noon.\n"


def test_the_date_is_when_sending_began(post):
    with Server() as server:
        post(server.port)
    [envelope] = server.mailbox.taken
    assert envelope.original_content.startswith(b"Date: Mon, 30 Nov 2026 12:00:07 +0000\r\nFrom: ")


def test_two_attempts_send_the_same_bytes(post):
    with Server() as server:
        post(server.port)
        post(server.port)
    first, second = server.mailbox.taken
    assert first.original_content == second.original_content


def test_every_recipient_gets_it(post):
    with Server() as server:
        receipt = post(server.port, to="ada@example.org, ben@example.org,cleo@example.net")
    [envelope] = server.mailbox.taken
    assert receipt.outcome == "delivered"
    assert envelope.rcpt_tos == ["ada@example.org", "ben@example.org", "cleo@example.net"]


def test_one_refused_recipient_stops_the_message_for_all(post):
    with Server(Mailbox(**{"ben@example.org": "550 no such user"})) as server:
        receipt = post(server.port, to="ada@example.org, ben@example.org, cleo@example.org")
    assert (receipt.outcome, receipt.pause, server.mailbox.taken) == ("refused", False, [])
    assert "(550) at RCPT for ben@example.org, so nobody was written to" in receipt.reason


def test_all_refused_recipients_are_named(post):
    answers = {"ada@example.org": "450 later", "cleo@example.org": "550 no such user"}
    with Server(Mailbox(**answers)) as server:
        receipt = post(server.port, to="ada@example.org, ben@example.org, cleo@example.org")
    assert receipt.outcome == "refused"
    assert "for ada@example.org, cleo@example.org, so" in receipt.reason


@pytest.mark.parametrize("code", [421, 450, 451, 452])
@pytest.mark.parametrize("command", ["MAIL", "RCPT", "DATA"])
def test_a_server_that_asks_to_come_later_is_written_to_later(post, command, code):
    with Server(Mailbox(**{command: f"{code} come back"})) as server:
        receipt = post(server.port)
    assert (receipt.outcome, receipt.pause, server.mailbox.taken) == ("not_sent", False, [])


@pytest.mark.parametrize("code", [550, 552, 554])
@pytest.mark.parametrize("command", ["RCPT", "DATA"])
def test_a_server_that_refuses_is_believed(post, command, code):
    with Server(Mailbox(**{command: f"{code} no"})) as server:
        receipt = post(server.port)
    assert (receipt.outcome, receipt.pause) == ("refused", False)


def test_a_refused_sender_pauses_the_channel(post):
    with Server(Mailbox(MAIL="553 not your address")) as server:
        receipt = post(server.port)
    assert (receipt.outcome, receipt.pause) == ("not_sent", True)


def test_a_message_too_big_for_the_server_is_refused_before_it_is_sent(post):
    with Server(data_size_limit=200) as server:
        receipt = post(server.port)
    assert (receipt.outcome, receipt.evidence["phase"]) == ("refused", "mail")


def test_starttls_and_a_login(post, tls, trusted):
    with Server(tls_context=tls, require_starttls=True, asks_for_login=True) as server:
        receipt = post(server.port, security="starttls", login=True)
    assert receipt.outcome == "delivered"
    assert [(given.login, given.password) for given in server.logins] == [(USER.encode(), PASSWORD.encode())]


def test_a_login_without_auth_plain(post, tls, trusted):
    with Server(tls_context=tls, asks_for_login=True, auth_exclude_mechanism=["PLAIN"]) as server:
        receipt = post(server.port, security="starttls", login=True)
    assert (receipt.outcome, len(server.mailbox.taken)) == ("delivered", 1)


def test_tls_from_the_first_byte(post, tls, trusted):
    with Server(tls=tls) as server:
        receipt = post(server.port, security="tls")
    assert (receipt.outcome, len(server.mailbox.taken)) == ("delivered", 1)


@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_a_certificate_that_nobody_vouches_for_pauses_the_channel(post, tls, security):
    options = {"tls": tls} if security == "tls" else {"tls_context": tls}
    with Server(**options) as server:
        receipt = post(server.port, security=security)
    assert (receipt.outcome, receipt.pause, receipt.evidence["phase"]) == ("not_sent", True, "tls")


def test_a_wrong_password_pauses_the_channel(post, tls, trusted):
    with Server(tls_context=tls, asks_for_login=True) as server:
        server.password = "another"
        receipt = post(server.port, security="starttls", login=True)
    assert (receipt.outcome, receipt.pause, receipt.evidence["phase"]) == ("not_sent", True, "auth")


def test_a_server_that_wants_a_login_we_have_not_pauses_the_channel(post, tls, trusted):
    with Server(tls_context=tls, asks_for_login=True) as server:
        receipt = post(server.port, security="starttls")
    assert (receipt.outcome, receipt.pause) == ("not_sent", True)


def test_a_server_without_starttls_pauses_the_channel(post):
    with Server() as server:
        receipt = post(server.port, security="starttls", login=True)
    assert (receipt.outcome, receipt.pause, server.mailbox.taken) == ("not_sent", True, [])
    assert "STARTTLS" in receipt.reason
