"""One connection to a mail server: replies as whole as they came, within bounds, and nothing sent unasked."""

import asyncio
import re
import socket
import ssl
from dataclasses import dataclass
from functools import cache
from typing import cast

MAX_REPLY_BYTES = 64 * 1024
_LINE = re.compile(rb"([2-5][0-9][0-9])(?:([ -])(.*))?", re.DOTALL)


class Garbled(Exception):
    """The server sent something that is no SMTP reply, or one without end."""


class SpokeTooSoon(Exception):
    """Bytes came before the connection was secure; read after it is, they would be believed."""


@dataclass(frozen=True)
class Reply:
    """One reply of the server, all its lines."""

    code: int
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


class Wire(asyncio.Protocol):
    """Bytes in both directions. No StreamReader, because that one keeps what came in the clear for after STARTTLS."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport
        self._data = bytearray()
        self._news = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._lost: Exception | None = None

    @classmethod
    async def open(cls, family: socket.AddressFamily, address: tuple[str, int]) -> "Wire":
        """Connects to this very address, which is numeric: it is not resolved again."""
        loop = asyncio.get_running_loop()
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            sock.setblocking(False)
            await loop.sock_connect(sock, address)
            return (await loop.create_connection(cls, sock=sock))[1]
        except BaseException:
            sock.close()
            raise

    @property
    def heard(self) -> bool:
        """Whether the server has said something that was not read yet."""
        return bool(self._data)

    async def secure(self, host: str) -> None:
        """Goes over to TLS and checks the certificate for the host."""
        if self._data:
            raise SpokeTooSoon
        loop = asyncio.get_running_loop()
        found = await loop.start_tls(self._transport, self, tls_context(), server_hostname=host)
        self._use(cast(asyncio.Transport, found))

    async def write(self, data: bytes) -> None:
        """Gives when the system has taken all of it, or the connection is over: then `reply` or `insist` says so."""
        self.insist()
        self._transport.write(data)
        await self._writable.wait()

    async def listen(self) -> None:
        """Lets in what has arrived by now: the loop reads before it runs the second of two tasks in a row."""
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    async def reply(self) -> Reply:
        """The next whole reply. Raises Garbled, or OSError if the connection ends before it is complete."""
        while (found := self._parsed()) is None:
            self.insist()
            self._news.clear()
            await self._news.wait()
        return found

    def insist(self) -> None:
        """Raises OSError if the connection is known to be over."""
        if self._lost is not None or self._transport.is_closing():
            raise ConnectionResetError(str(self._lost or "the server ended the connection")) from self._lost

    def abort(self) -> None:
        """Ends the connection at once; what was not sent yet is dropped."""
        self._transport.abort()

    def _use(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        transport.set_write_buffer_limits(high=1, low=0)  # not 0: TLS transports would then pause for ever

    def _parsed(self) -> Reply | None:
        end, code, lines = 0, b"", []
        while (line_end := self._data.find(b"\n", end)) >= 0:
            match = _LINE.fullmatch(bytes(self._data[end:line_end]).removesuffix(b"\r"))
            if match is None or (code and match[1] != code):
                raise Garbled("a line that is no reply")
            code, end = match[1], line_end + 1
            lines.append((match[3] or b"").decode(errors="replace"))
            if match[2] != b"-":
                del self._data[:end]
                return Reply(int(code), tuple(lines))
        if len(self._data) >= MAX_REPLY_BYTES:
            raise Garbled("a reply without end")
        return None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._use(cast(asyncio.Transport, transport))

    def data_received(self, data: bytes) -> None:
        self._data += data
        if len(self._data) >= MAX_REPLY_BYTES:
            self._transport.pause_reading()
        self._news.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = exc or ConnectionResetError("the server ended the connection")
        self._news.set()
        self._writable.set()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()


@cache
def tls_context() -> ssl.SSLContext:
    return ssl.create_default_context()
