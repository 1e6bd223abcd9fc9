"""The one HTTP client for everything that leaves: targets and the audit sink.

It tells apart what failed before any byte of the request could leave from what failed after, because only the
first may be tried again without asking the remote. It follows no redirect, keeps no cookie, obeys no proxy
variable, and connects only to addresses it has checked itself.
"""

import asyncio
import socket
import ssl
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from ipaddress import ip_address
from typing import Any, Self
from urllib.parse import urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver, AbstractStreamWriter, ResolveResult
from aiohttp.client_reqrep import ClientRequest, ClientResponse
from aiohttp.connector import Connection
from yarl import URL

from approvals.connectors import addresses, secrets
from approvals.connectors.addresses import AddressError
from approvals.connectors.answers import Answer, Failure, Response, storable
from approvals.connectors.base import ConfigError, Deadline
from approvals.connectors.phases import EXPECTED, Broken, Call, Phase, TooLate, current, explain
from approvals.connectors.secrets import Secret

MAX_ANSWER_BYTES = 64 * 1024  # of an answer to a write
MAX_READ_BYTES = 1024 * 1024  # of an answer that repeats what was written, which may take 256 KiB before escaping
NAME_SECONDS = 5.0  # for a name when a channel is saved; it is looked up again at every connection
USER_AGENT = "Review-Room"


class _Request(ClientRequest):
    """Asks the clock at the last moment: a worker may have been suspended while it resolved or connected."""

    async def send(self, conn: Connection) -> ClientResponse:
        call = current.get()
        call.is_ready()
        call.transport = conn.transport
        _refuse_peer(call)
        call.check_clock()
        call.sent = call.sent or not call.has_body
        response = await super().send(conn)
        if not call.has_body:
            call.reached(Phase.SENT)
        return response

    async def write_bytes(
        self, writer: AbstractStreamWriter, conn: Connection, content_length: int | None = None
    ) -> None:
        # Headers wait in a buffer for the body and this runs in a task of its own: ask once more.
        call = current.get()
        try:
            call.check_clock()
        except TooLate as exc:
            assert conn.protocol is not None
            conn.protocol.set_exception(exc)
            conn.close()
            return
        call.sent = True
        await super().write_bytes(writer, conn, content_length)
        call.reached(Phase.SENT)


class _Resolver(AbstractResolver):
    """Refuses a name unless every address it has may be called."""

    def __init__(self, allow_private: bool) -> None:
        self._allow_private = allow_private

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        if (call := current.get(None)) is not None:
            call.resolves()
        infos = await _getaddrinfo(host, port, family)
        for info in infos:
            _refuse_address(str(info[4][0]), self._allow_private)
        return [_resolved(host, port, info) for info in infos]

    async def close(self) -> None:
        pass


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Outbound:
    """Calls remotes.

    Enter it (`async with`) to keep connections alive between calls, but only where sending twice is harmless:
    a connection that died idle cannot be told from one that lost a request.
    """

    def __init__(
        self,
        *,
        allow_private: bool,
        environ: Mapping[str, str] | None = None,
        now: Callable[[], datetime] = _utc_now,
    ) -> None:
        self.allow_private = allow_private
        self.environ = environ  # where secrets are; None: the process's own
        self.now = now  # the wall clock: for signatures, Retry-After dates and the life of links only
        self._kept: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._kept = self._session(keep_alive=True)
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        kept, self._kept = self._kept, None
        if kept is not None:
            await kept.close()

    def check_url(self, pointer: str, url: str) -> None:
        """Raise ConfigError for a URL that may not be called. Resolves no names."""
        try:
            addresses.check_url(url, allow_private=self.allow_private)
        except AddressError as exc:
            raise ConfigError(pointer, str(exc)) from exc

    async def check_name(self, pointer: str, url: str) -> None:
        """The same on the addresses its host resolves to now; a name that does not resolve passes."""
        self.check_url(pointer, url)
        parts = urlsplit(url)
        try:
            async with asyncio.timeout(NAME_SECONDS):
                await _Resolver(self.allow_private).resolve(parts.hostname or "", parts.port or 443)
        except _RefusedAddress as exc:
            raise ConfigError(pointer, f"The host {parts.hostname} may not be called: {exc}.") from exc
        except (OSError, UnicodeError):
            return

    async def resolve(self, host: str, port: int) -> list[tuple[socket.AddressFamily, tuple[str, int]]]:
        """Every address of a host, numeric, for connectors that speak no HTTP.

        Raises AddressError if one of them may not be connected to, OSError or UnicodeError if the name has none.
        """
        try:
            found = await _Resolver(self.allow_private).resolve(host, port)
        except _RefusedAddress as exc:
            raise AddressError(str(exc)) from exc
        return [(socket.AddressFamily(item["family"]), (item["host"], item["port"])) for item in found]

    async def call(
        self,
        method: str,
        url: str,
        deadline: Deadline,
        *,
        headers: Iterable[tuple[str, str]] = (),
        body: bytes = b"",
        secret: str | Secret = "",
        sign: Callable[[Secret], Iterable[tuple[str, str]]] | None = None,
        limit: int = MAX_ANSWER_BYTES,
    ) -> Answer:
        """Send once and give what came of it, never an error of the network.

        `sign` gives the headers that carry the secret, or a proof of it. A secret given by name is looked up and
        must be meant for the host.
        """
        call = Call(deadline, has_body=bool(body), allow_private=self.allow_private)
        token = current.set(call)
        hidden: tuple[Secret, ...] = ()
        try:
            addresses.check_url(url, allow_private=self.allow_private)
            if secret and sign is not None:
                found = secrets.find(secret, url, self.environ) if isinstance(secret, str) else secret
                hidden = (found,)
                headers = [*headers, *sign(found)]
            status, fields, content, complete = await self._exchange(method, url, headers, body, limit)
        except Exception as exc:
            if not call.sent and not isinstance(exc, EXPECTED):
                raise
            fault, reason = explain(exc, call)
            return Failure(fault, *storable(secrets.redact([reason, url], hidden)), call.timing)
        finally:
            current.reset(token)
        shown = storable(secrets.redact(url, hidden))
        return Response(status, fields, content, complete, shown, hidden, call.timing)

    async def _exchange(
        self, method: str, url: str, headers: Iterable[tuple[str, str]], body: bytes, limit: int
    ) -> tuple[int, dict[str, str], bytes, bool]:
        session = self._kept or self._session(keep_alive=False)
        until = asyncio.get_running_loop().time() + current.get().deadline.seconds
        try:
            async with asyncio.timeout_at(until):
                response = await session.request(
                    method,
                    URL(url, encoded=True),
                    headers=[("User-Agent", USER_AGENT), ("Accept-Encoding", "identity"), *headers],
                    data=body or None,
                    allow_redirects=False,
                )
            async with response:
                found = {name.lower(): value for name, value in response.headers.items()}
                content, complete = await _read(response, limit, until)
                if complete:
                    current.get().reached(Phase.ANSWERED)
                return response.status, found, content, complete
        finally:
            current.get().abandon()
            if session is not self._kept:
                await session.close()

    def plain_session(
        self, connections: int, request_class: type[ClientRequest] = ClientRequest
    ) -> aiohttp.ClientSession:
        """Gives a session of the same caution about addresses that notes no phases, at half the cost of a call.

        Only for where sending twice is harmless, so that nobody needs to know how far a failed call came. The
        connections are kept alive.
        """
        connector = aiohttp.TCPConnector(
            limit=connections,
            resolver=_Resolver(self.allow_private),
            use_dns_cache=False,
            ssl=_plain_tls(),
            socket_factory=self._plain_socket,
        )
        return aiohttp.ClientSession(
            connector=connector,
            request_class=request_class,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
            auto_decompress=False,
            trust_env=False,
        )

    def _session(self, *, keep_alive: bool) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            resolver=_Resolver(self.allow_private),
            use_dns_cache=False,
            force_close=not keep_alive,
            ssl=_tls(),
            socket_factory=self._socket,
        )
        return aiohttp.ClientSession(
            connector=connector,
            request_class=_Request,
            middlewares=(_once,),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
            auto_decompress=False,
            trust_env=False,
        )

    def _socket(self, info: tuple[Any, ...]) -> socket.socket:
        """The socket for the very address that is about to be connected to, whoever resolved it."""
        current.get().dials()
        return self._plain_socket(info)

    def _plain_socket(self, info: tuple[Any, ...]) -> socket.socket:
        family, kind, protocol, _, address = info
        _refuse_address(str(address[0]), self.allow_private)
        return socket.socket(family, kind, protocol)


def from_settings() -> Outbound:
    """The client as the project's settings want it."""
    from django.conf import settings

    return Outbound(allow_private=settings.REVIEWROOM_ALLOW_PRIVATE_TARGETS)


class _RefusedAddress(OSError):
    """A connection to this address is not allowed."""


def _refuse_address(text: str, allow_private: bool) -> None:
    fault = addresses.forbidden(ip_address(text.split("%")[0]), allow_private=allow_private)
    if fault is None:
        return
    if (call := current.get(None)) is not None:
        call.refused_address = fault  # aiohttp may wrap the error beyond recognition
    raise _RefusedAddress(fault)


def _refuse_peer(call: Call) -> None:
    """The last look: at the address that the connection, new or kept, really leads to."""
    peer = call.transport.get_extra_info("peername") if call.transport else None
    if not peer:
        raise _RefusedAddress("the connection leads nowhere")
    _refuse_address(str(peer[0]), call.allow_private)


async def _once(
    request: ClientRequest, handler: Callable[[ClientRequest], Awaitable[ClientResponse]]
) -> ClientResponse:
    """Hands a broken connection on as an error that aiohttp does not answer by sending again."""
    try:
        return await handler(request)
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as exc:
        if current.get().sent:
            raise Broken(str(exc) or type(exc).__name__) from exc
        raise


async def _read(response: ClientResponse, limit: int, until: float) -> tuple[bytes, bool]:
    """At most `limit` bytes, and whether that was all of it as announced."""
    chunks: list[bytes] = []
    left = limit
    try:
        async with asyncio.timeout_at(until):
            while left and (chunk := await response.content.read(left)):
                chunks.append(chunk)
                left -= len(chunk)
            return b"".join(chunks), response.content.at_eof() or not await response.content.read(1)
    except (aiohttp.ClientError, OSError):  # the end of our time among them
        return b"".join(chunks), False


async def _getaddrinfo(host: str, port: int, family: int) -> list[Any]:
    """As socket.getaddrinfo, in a thread nobody waits for.

    The loop's own executor is joined when the loop ends: a name server that hangs would hold the worker far
    beyond its deadline.
    """
    loop = asyncio.get_running_loop()
    found: asyncio.Future[list[Any]] = loop.create_future()

    def hand_over(infos: list[Any], error: Exception | None) -> None:
        if found.done():
            return
        if error is None:
            found.set_result(infos)
        else:
            found.set_exception(error)

    def resolve() -> None:
        infos: list[Any] = []
        error: Exception | None = None
        try:
            infos = list(socket.getaddrinfo(host, port, family, socket.SOCK_STREAM))
        except (OSError, UnicodeError) as exc:
            error = exc
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(hand_over, infos, error)

    threading.Thread(target=resolve, name="resolve", daemon=True).start()
    return await found


def _resolved(host: str, port: int, info: Any) -> ResolveResult:
    return ResolveResult(
        hostname=host, host=info[4][0], port=port, family=info[0], proto=info[2], flags=socket.AI_NUMERICHOST
    )


class _Tls(ssl.SSLContext):
    """Says when a handshake begins: until then a failure was the connection's, from then on it is TLS's."""

    def wrap_bio(self, *args: Any, **kwargs: Any) -> ssl.SSLObject:
        current.get().shakes_hands()
        return super().wrap_bio(*args, **kwargs)


@cache
def _tls() -> ssl.SSLContext:
    """As ssl.create_default_context: certificate and host name are checked."""
    context = _Tls(ssl.PROTOCOL_TLS_CLIENT)
    context.load_default_certs()
    return context


@cache
def _plain_tls() -> ssl.SSLContext:
    """The same, which says nothing: for sessions that note no phases."""
    return ssl.create_default_context()
