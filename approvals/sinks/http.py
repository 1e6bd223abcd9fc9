"""`http(s)://...`: each event is POSTed as stored, with a bearer token, on connections that are kept alive."""

import gzip
import hashlib
import hmac
from base64 import b64encode
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Self
from uuid import UUID

import aiohttp
from aiohttp.client_reqrep import ClientRequest, ClientResponse
from aiohttp.connector import Connection
from yarl import URL

from approvals.connectors.base import ConfigError, Deadline
from approvals.connectors.outbound import MAX_ANSWER_BYTES, USER_AGENT
from approvals.connectors.secrets import Secret, SecretError
from approvals.domain.retry import retry_after
from approvals.sinks.base import Options, Sink, SinkAnswer, SinkError

RETRY_AFTER_CAP_SECONDS = 3600.0
_PAUSING = (401, 403)
_LATER = (408, 425, 429)
_deadline: ContextVar[Deadline] = ContextVar("sink_deadline")
_TAKEN = SinkAnswer(ok=True)


class _TooLate(Exception):
    """The lease under which this event was to be posted may be over."""


class _Request(ClientRequest):
    """Asks the clock when the connection stands: a process may have been suspended while it was made."""

    async def send(self, conn: Connection) -> ClientResponse:
        if _deadline.get().too_late:
            raise _TooLate
        return await super().send(conn)


class HttpSink(Sink):
    """See the module. Sending an event twice is harmless, so how far a failed call came does not matter."""

    def __init__(self, options: Options) -> None:
        self.url = options.url
        self._options = options
        self._outbound = options.outbound
        self._key = _signing_key(options.signing_secret)
        self._headers = _headers(options)
        self._target = URL(options.url, encoded=True)
        self._session: aiohttp.ClientSession | None = None

    async def post(self, event_id: UUID, payload: bytes, deadline: Deadline) -> SinkAnswer:
        if self._session is None:
            async with self:
                return await self.post(event_id, payload, deadline)
        body = gzip.compress(payload, 5, mtime=0) if self._options.gzip else payload
        _deadline.set(deadline)
        try:
            async with self._session.post(
                self._target,
                data=body,
                headers={**self._headers, "Idempotency-Key": str(event_id), **self._signed(event_id, body)},
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=deadline.seconds, sock_connect=None),
            ) as response:
                await _read(response)
                return self._classified(response.status, response.headers)
        except _TooLate:
            return SinkAnswer(retry=True, reason="The time to send had passed before the first byte could leave.")
        except (aiohttp.ClientError, OSError) as exc:  # the end of our time among them
            return SinkAnswer(retry=True, reason=_told(exc))

    async def __aenter__(self) -> Self:
        self._session = self._outbound.plain_session(self._options.connections, _Request)
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _signed(self, event_id: UUID, body: bytes) -> dict[str, str]:
        """The headers of Standard Webhooks, over the bytes that travel."""
        if not self._key:
            return {}
        moment = str(int(self._outbound.now().timestamp()))
        signature = hmac.digest(self._key, f"{event_id}.{moment}.".encode() + body, hashlib.sha256)
        return {
            "webhook-id": str(event_id),
            "webhook-timestamp": moment,
            "webhook-signature": f"v1,{b64encode(signature).decode()}",
        }

    def _classified(self, status: int, headers: Mapping[str, str]) -> SinkAnswer:
        if 200 <= status < 300:
            return _TAKEN
        reason = f"The sink answered {status}."
        if status in _PAUSING:
            return SinkAnswer(pause=True, reason=f"{reason} Check REVIEWROOM_AUDIT_TOKEN.")
        if 400 <= status < 500 and status not in _LATER:
            return SinkAnswer(park=True, reason=reason)
        wait = retry_after(headers.get("Retry-After"), self._outbound.now(), RETRY_AFTER_CAP_SECONDS)
        return SinkAnswer(retry=True, reason=reason, retry_after_seconds=wait)


def make(options: Options) -> HttpSink:
    """The sink for a web address. Raises SinkError, with the remedy, for one that may not be called."""
    if options.rotate:
        raise SinkError("REVIEWROOM_AUDIT_ROTATE is for file:/// sinks only. Leave it empty.")
    try:
        options.outbound.check_url("", options.url)
    except ConfigError as exc:
        raise SinkError(f"REVIEWROOM_AUDIT_SINK cannot be used: {exc.message}") from exc
    return HttpSink(options)


def _headers(options: Options) -> dict[str, str]:
    """What is the same for every event."""
    found = {"User-Agent": USER_AGENT, "Accept-Encoding": "identity", "Content-Type": "application/json"}
    if options.token:
        found["Authorization"] = f"Bearer {options.token}"
    return found | ({"Content-Encoding": "gzip"} if options.gzip else {})


def _signing_key(secret: str) -> bytes:
    try:
        return Secret("AUDIT_SIGNING_SECRET", secret).key
    except SecretError:
        raise SinkError(
            "REVIEWROOM_AUDIT_SIGNING_SECRET begins with whsec_ but goes on with no valid base64. Copy it anew."
        ) from None


async def _read(response: aiohttp.ClientResponse) -> None:
    """Reads the answer to its end, so that the connection can be used again; one that never ends is cut off.

    Its status has been said by then: an answer that breaks off, or lies about its length, still was that answer.
    """
    left = MAX_ANSWER_BYTES
    try:
        while left > 0 and (chunk := await response.content.read(left)):
            left -= len(chunk)
    except (aiohttp.ClientError, TimeoutError):
        response.close()
        return
    if not response.content.at_eof():
        response.close()


def _told(exc: Exception) -> str:
    if isinstance(exc, TimeoutError):
        return "The sink did not answer in time."
    return f"The sink could not be reached: {exc or type(exc).__name__}."[:500]
