"""The conformance suite on `smtp`, against a real mail server that is told how to behave."""

import asyncio
import base64
import socket
import ssl
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Self

import pytest
from aiosmtpd.smtp import SMTP, Envelope, Session

from approvals.connectors.base import Settings
from approvals.connectors.conformance import Behaviour, Conformance, Harness, Verb
from approvals.connectors.smtp import SmtpConnector
from tests.connectors.smtp.conftest import environ_for, mail_settings
from tests.connectors.smtp.servers import PASSWORD, USER, Mailbox, Server

NOT_OF_MAIL = {
    # After the dot a mail server's 4yz or 5yz is its word that it took nothing (RFC 5321, 4.2.5), so one that takes
    # the message and says so cannot be told apart; and there is neither a conflict nor a redirect.
    Behaviour.APPLY_AND_FAIL,
    Behaviour.FAIL,
    Behaviour.CONFLICT,
    Behaviour.REDIRECT,
}
SECRETS = (
    PASSWORD,
    base64.b64encode(PASSWORD.encode()).decode(),
    base64.b64encode(f"\0{USER}\0{PASSWORD}".encode()).decode(),
)
ANSWERS = {
    Behaviour.REFUSE: "554 we do not want this",
    Behaviour.ECHO: "".join(f"554-{secret} {'x' * 100}\r\n" for secret in SECRETS * 100) + "554 end",
    Behaviour.LATER: "451 come back",
    Behaviour.NONSENSE: "200 welcome",
}
BYTES = {
    Behaviour.APPLY_AND_CUT: b"250 que",
    Behaviour.APPLY_AND_FLOOD: b"250-and so on\r\n" * 300_000,
    Behaviour.GARBAGE: b"HTTP/1.1 200 OK\r\n\r\n",
}


class Told(Mailbox):
    """Treats the next message as it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.sessions = 0
        self.behaviour = Behaviour.APPLY

    async def handle_EHLO(  # noqa: N802
        self, _server: SMTP, session: Session, _envelope: Envelope, hostname: str, responses: list[str]
    ) -> list[str]:
        self.sessions += session.ssl is None  # the second one of a session is no new one
        session.host_name = hostname
        return responses

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        behaviour, self.behaviour = self.behaviour, Behaviour.APPLY
        if behaviour.startswith("apply"):
            await super().handle_DATA(server, session, envelope)
        if behaviour is Behaviour.APPLY:
            return "250 queued"
        if behaviour in ANSWERS:
            return ANSWERS[behaviour]
        await self._misbehave(server.transport, behaviour)
        return "250 nobody hears this"

    async def _misbehave(self, transport: Any, behaviour: Behaviour) -> None:
        if behaviour in (Behaviour.HANG, Behaviour.APPLY_AND_HANG):
            await asyncio.sleep(30)
        while behaviour is Behaviour.APPLY_AND_DRIP:
            transport.write(b"250-more\r\n")
            await asyncio.sleep(0.05)
        transport.write(BYTES.get(behaviour, b""))
        transport.close()


class MailHarness(Harness):
    connector_class = SmtpConnector
    operation = "mail.send"
    resource = "ada@example.org"
    behaviours = frozenset(Behaviour) - NOT_OF_MAIL
    evidence_keys = frozenset({"phase", "replies", "timing"})
    declares = frozenset()

    def __init__(self, tls: ssl.SSLContext) -> None:
        self.mailbox = Told()
        self.server = Server(self.mailbox, tls_context=tls, require_starttls=True, asks_for_login=True)
        self.held: list[socket.socket] = []
        self.running = True

    def __enter__(self) -> Self:
        self.server.__enter__()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._stop()
        for held in self.held:
            held.close()

    @property
    def settings(self) -> Settings:
        return mail_settings(self.server.port, secret="MAIL", security="starttls")

    @property
    def environ(self) -> Mapping[str, str]:
        return environ_for(self.server.port)

    @property
    def markers(self) -> tuple[str, ...]:
        return SECRETS

    def payload(self, text: str) -> dict[str, Any]:
        return {"subject": f"Grüße: {text}", "text": "the same\n"}

    def faults(self) -> Iterable[tuple[str, Settings]]:
        yield "exclusive", replace(self.settings, concurrency="exclusive")
        yield "in the clear", replace(self.settings, config={**self.settings.config, "security": "none"})
        yield "no sender", replace(self.settings, config={**self.settings.config, "sender": "nobody"})
        yield "no address", replace(self.settings, resource="nobody")

    def behave(self, verb: Verb, behaviour: Behaviour) -> None:
        if verb is not Verb.SEND:
            return
        if behaviour in (Behaviour.UNREACHABLE, Behaviour.SILENT):
            self._stop()
            if behaviour is Behaviour.SILENT:
                self._crowd()
        elif behaviour is Behaviour.LOCK_OUT:
            self.server.password = "another"
        elif behaviour is Behaviour.FORBID:
            self.mailbox.answers["MAIL"] = "553 not your address"
        else:
            self.mailbox.behaviour = behaviour

    def requests(self) -> int:
        return self.mailbox.sessions

    def effects(self) -> int:
        return len(self.mailbox.taken)

    def _stop(self) -> None:
        if self.running:
            self.running = False
            self.server.__exit__()

    def _crowd(self) -> None:
        """Fills the queue of a listener that nobody serves: the system leaves every further connection waiting."""
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.server.port))
        listener.listen(0)
        self.held.append(listener)
        for _ in range(2):
            waiting = socket.socket()
            waiting.setblocking(False)
            with suppress(BlockingIOError):
                waiting.connect(("127.0.0.1", self.server.port))
            self.held.append(waiting)


class TestSmtp(Conformance):
    kind = MailHarness

    @pytest.fixture
    def harness(self, tls: ssl.SSLContext, trusted: None) -> Iterator[MailHarness]:
        with MailHarness(tls) as started:
            yield started
