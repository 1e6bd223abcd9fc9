"""The dialogue with a mail server, one command at a time and one message in all.

Each step has its phase, because what a broken connection means depends on how far it came: a server takes a message
only with the line that holds a single dot (RFC 5321, 4.1.1.4), so before that line nothing has happened.
"""

import asyncio
import base64
from contextlib import suppress
from dataclasses import dataclass

from approvals.connectors.base import Deadline
from approvals.connectors.outbound import Outbound
from approvals.connectors.smtp.log import Log, Phase
from approvals.connectors.smtp.wire import Garbled, Reply, Wire

GOODBYE_SECONDS = 1.0


class Said(Exception):
    """The server answered something else than the step needs."""

    def __init__(self, reply: Reply, about: tuple[str, ...] = ()) -> None:
        super().__init__(f"the server answered {reply.code}")
        self.reply = reply
        self.about = about  # the recipients it speaks of


class Unfit(Exception):
    """The server does not offer what the channel needs; the text says what."""


class TooLate(Exception):
    """The lease this message was to be sent under may be over."""


@dataclass(frozen=True)
class Envelope:
    """What goes where. `content` ends with CRLF."""

    sender: str
    recipients: tuple[str, ...]
    content: bytes


class Dialogue:
    """One session. `log` tells what happened, whatever is raised."""

    def __init__(self, log: Log, deadline: Deadline) -> None:
        self._log = log
        self._deadline = deadline
        self._wire: Wire | None = None
        self._offers: dict[str, str] = {}

    async def connect(self, outbound: Outbound, host: str, port: int) -> None:
        """Connects to the first of the host's addresses that answers, each within its share of the time."""
        self._log.enter(Phase.NAME)
        found = await outbound.resolve(host, port)
        self._log.enter(Phase.CONNECT)
        for untried, (family, address) in zip(range(len(found), 0, -1), found, strict=True):
            try:
                async with asyncio.timeout(self._left() / untried):
                    self._wire = await Wire.open(family, address)
                return
            except OSError:
                if untried == 1:
                    raise

    async def greet(self, host: str, name: str, security: str) -> None:
        """From the bare connection to a session that is as secure as the channel wants it."""
        if security == "tls":
            await self._secure(host)
        self._log.enter(Phase.GREETING)
        self._expect(await self._reply(), 220)
        await self._ehlo(name)
        if security == "starttls":
            if "STARTTLS" not in self._offers:
                raise Unfit("it offers no STARTTLS, and nothing is sent in the clear")
            self._expect(await self._command(Phase.STARTTLS, "STARTTLS"), 220)
            await self._secure(host)
            await self._ehlo(name)

    async def log_in(self, user: str, password: str) -> None:
        methods = self._offers.get("AUTH", "").upper().split()
        if "PLAIN" in methods:
            token = _encoded(f"\0{user}\0{password}")  # RFC 4616
            self._expect(await self._command(Phase.AUTH, f"AUTH PLAIN {token}"), 235)
        elif "LOGIN" in methods:
            self._expect(await self._command(Phase.AUTH, "AUTH LOGIN"), 334)
            self._expect(await self._command(Phase.AUTH, _encoded(user)), 334)
            self._expect(await self._command(Phase.AUTH, _encoded(password)), 235)
        else:
            raise Unfit("it offers neither AUTH PLAIN nor AUTH LOGIN, and the channel has a secret")

    async def post(self, envelope: Envelope) -> Reply:
        """Hands the message over, to every recipient or to none. Gives the reply to its final dot."""
        size = f" SIZE={len(envelope.content)}" if "SIZE" in self._offers else ""
        self._expect(await self._command(Phase.MAIL, f"MAIL FROM:<{envelope.sender}>{size}"), 250)
        await self._name_all(envelope.recipients)
        self._expect(await self._command(Phase.DATA, "DATA"), 354)
        await self._content(envelope.content)
        self._log.enter(Phase.ANSWER)
        await self._connected().write(b".\r\n")
        return await self._reply()

    async def take_leave(self) -> None:
        """Says QUIT where the server listens for commands. What happened before stands, whatever it answers."""
        if self._wire is None or self._log.phase is Phase.CONTENT:
            return
        with suppress(OSError, Garbled):
            async with asyncio.timeout(min(self._left(), GOODBYE_SECONDS)):
                await self._wire.write(b"QUIT\r\n")
                await self._wire.reply()

    def hang_up(self) -> None:
        if self._wire is not None:
            self._wire.abort()

    async def _secure(self, host: str) -> None:
        self._log.enter(Phase.TLS)
        await self._connected().secure(host)

    async def _ehlo(self, name: str) -> None:
        reply = await self._command(Phase.EHLO, f"EHLO {name}")
        self._expect(reply, 250)
        offered = [line.partition(" ") for line in reply.lines[1:]]
        self._offers = {keyword.upper(): rest for keyword, _, rest in offered}

    async def _name_all(self, recipients: tuple[str, ...]) -> None:
        """Names every recipient, so that all who are refused can be told; raises if there is one."""
        refused: list[tuple[Reply, str]] = []
        for recipient in recipients:
            reply = await self._command(Phase.RCPT, f"RCPT TO:<{recipient}>")
            if reply.code not in (250, 251):
                refused.append((reply, recipient))
            if reply.code == 421:  # it is closing
                break
        if refused:
            gravest = max(refused, key=lambda item: item[0].code)[0]
            raise Said(gravest, tuple(recipient for _, recipient in refused))

    async def _content(self, content: bytes) -> None:
        """Everything up to the final dot. A server that has spoken or gone by then does not get the dot."""
        wire = self._connected()
        self._log.enter(Phase.CONTENT)
        self._check_clock()
        await wire.write(_stuffed(content))
        # Asked again, for now it counts: a stopped worker may wake up here, and without the dot nothing happens.
        self._check_clock()
        await wire.listen()
        await self._hear()
        wire.insist()

    async def _command(self, phase: Phase, line: str) -> Reply:
        self._log.enter(phase)
        await self._hear()
        await self._connected().write(line.encode("ascii") + b"\r\n")
        return await self._reply()

    async def _hear(self) -> None:
        """Raises what the server said out of turn: a reply to something else must not count as one to this."""
        if self._connected().heard:
            raise Said(await self._reply())

    async def _reply(self) -> Reply:
        reply = await self._connected().reply()
        self._log.replies.append((self._log.phase, reply))
        return reply

    def _expect(self, reply: Reply, code: int) -> None:
        if reply.code != code:
            raise Said(reply)

    def _left(self) -> float:
        return self._deadline.seconds - self._log.seconds

    def _check_clock(self) -> None:
        if self._deadline.too_late:
            raise TooLate

    def _connected(self) -> Wire:
        assert self._wire is not None
        return self._wire


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _stuffed(content: bytes) -> bytes:
    """A second dot before each line that begins with one (RFC 5321, 4.5.2)."""
    return b"".join(b"." + line if line.startswith(b".") else line for line in content.splitlines(keepends=True))
