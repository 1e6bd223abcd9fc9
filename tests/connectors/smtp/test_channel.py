"""A channel of mail: its faults are found when it is saved."""

import asyncio
import socket
from dataclasses import replace

import pytest

from approvals.connectors import registry
from approvals.connectors.base import ConfigError, Settings
from approvals.connectors.outbound import Outbound
from approvals.connectors.smtp import SmtpConnector

GOOD = Settings(
    "smtp",
    "office",
    "MAIL",
    concurrency="append",
    resource="ada@example.org",
    config={"host": "mail.example.org", "sender": "room@example.org"},
    operations={"mail.send": {"schema": {"type": "object"}}},
)


def smtp(*, allow_private: bool = False) -> SmtpConnector:
    return SmtpConnector(Outbound(allow_private=allow_private, environ={}))


def fault(settings: Settings) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        smtp().check(settings)
    return caught.value


def test_it_is_built_in():
    assert isinstance(registry.get("smtp", Outbound(allow_private=False)), SmtpConnector)


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"port": 2525, "security": "tls", "domain": "mail.example.org", "sender_name": "Prüfraum"},
        {"host": "2606:4700::1111", "headers": ["X-Ticket", "Reply-To", "In-Reply-To"]},
        {"recipient_domains": ["example.org"]},
    ],
)
def test_a_good_channel_is_taken(config):
    smtp().check(replace(GOOD, config={**GOOD.config, **config}))


@pytest.mark.parametrize(
    ("config", "pointer"),
    [
        ({"host": None}, "/config"),
        ({"sender": None}, "/config"),
        ({"host": "mail.example.org:587"}, "/config/host"),
        ({"host": "smtp://mail.example.org"}, "/config/host"),
        ({"host": "user@mail.example.org"}, "/config/host"),
        ({"host": "mail.example.org\r\nEHLO x"}, "/config/host"),
        ({"host": "mail.example.org\n"}, "/config/host"),
        ({"host": "127.0.0.1"}, "/config/host"),
        ({"host": "2130706433"}, "/config/host"),
        ({"host": "::1"}, "/config/host"),
        ({"host": "::ffff:127.0.0.1"}, "/config/host"),
        ({"host": "169.254.169.254"}, "/config/host"),
        ({"host": "localhost"}, "/config/host"),
        ({"port": 0}, "/config/port"),
        ({"port": "587"}, "/config/port"),
        ({"security": "ssl"}, "/config/security"),
        ({"security": "none"}, "/config/security"),  # with a secret
        ({"sender": "Room <room@example.org>"}, "/config/sender"),
        ({"sender": "room@example.org>\r\nRCPT TO:<x@evil.example"}, "/config/sender"),
        ({"sender": "room@example.org\n"}, "/config/sender"),
        ({"sender_name": "Room\r\nBcc: x@evil.example"}, "/config/sender_name"),
        ({"sender_name": "Room\n"}, "/config/sender_name"),
        ({"domain": "exam ple"}, "/config/domain"),
        ({"domain": "example.org\n"}, "/config/domain"),
        ({"recipient_domains": []}, "/config/recipient_domains"),
        ({"recipient_domains": ["example.org", "*.example.net"]}, "/config/recipient_domains/1"),
        ({"recipient_domains": ["example.net"]}, "/resource"),
        ({"headers": ["X-Ticket", "Bcc"]}, "/config/headers/1"),
        ({"headers": ["Content-Type"]}, "/config/headers/0"),
        ({"headers": ["Resent-To"]}, "/config/headers/0"),
        ({"headers": ["from"]}, "/config/headers/0"),
        ({"headers": ["X Ticket"]}, "/config/headers/0"),
        ({"headers": ["X-Ticket\n"]}, "/config/headers/0"),
        ({"user": "room"}, "/config"),
    ],
)
def test_a_fault_of_the_config_is_named_with_its_place(config, pointer):
    known = {key: value for key, value in {**GOOD.config, **config}.items() if value is not None}
    assert fault(replace(GOOD, config=known)).pointer == pointer


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"idempotent": True}, "/idempotent"),
        ({"concurrency": "exclusive"}, "/concurrency"),
        ({"secret": "user:password"}, "/secret"),
        ({"operations": {}}, "/operations"),
        ({"operations": {"mail.send": {"to": "x"}}}, "/operations/mail.send"),
        ({"operations": {"mail.send": {"schema": {"type": "nothing"}}}}, "/operations/mail.send/schema/type"),
        ({"resource": "Ada"}, "/resource"),
        ({"resource": "ada@example.org\n"}, "/resource"),
        ({"resource": "", "resource_pattern": "*@example.org"}, "/resource_pattern"),
        ({"resource": "", "resource_pattern": "*"}, "/config"),
    ],
)
def test_a_fault_of_the_channel_is_named_with_its_place(change, pointer):
    assert fault(replace(GOOD, **change)).pointer == pointer


def test_drafts_may_name_the_recipient_within_the_channels_domains():
    config = {**GOOD.config, "recipient_domains": ["example.org"]}
    smtp().check(replace(GOOD, resource="", resource_pattern="*", config=config))


def test_a_private_server_can_be_allowed():
    smtp(allow_private=True).check(replace(GOOD, config={**GOOD.config, "host": "127.0.0.1"}))


def test_a_name_with_a_private_address_is_refused(monkeypatch):
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 587)) for address in ("93.184.215.14", "10.0.0.7")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: found)
    with pytest.raises(ConfigError) as caught:
        asyncio.run(smtp().check_names(GOOD))
    assert caught.value.pointer == "/config/host"


@pytest.mark.parametrize(("security", "url"), [("starttls", "smtp://m.example:587"), ("tls", "smtps://m.example:465")])
def test_the_address_names_the_port(security, url):
    settings = replace(GOOD, config={**GOOD.config, "host": "m.example", "security": security})
    assert smtp().urls(settings) == [("/config/host", url)]


def test_it_can_only_send():
    assert smtp().capabilities(GOOD, "mail.send") == frozenset()
