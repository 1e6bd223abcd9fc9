"""`http(s)://...`: each event is POSTed as stored, with a bearer token."""

from typing import Self
from uuid import UUID

from approvals.connectors.answers import Answer, Failure
from approvals.connectors.base import Deadline
from approvals.connectors.outbound import Outbound
from approvals.connectors.secrets import Secret
from approvals.domain.retry import retry_after
from approvals.sinks.base import Sink, SinkAnswer

RETRY_AFTER_CAP_SECONDS = 3600.0
_PAUSING = (401, 403)
_LATER = (408, 425, 429)


class HttpSink(Sink):
    """See the module. Sending an event twice is harmless, so connections are kept alive once it is entered."""

    def __init__(self, url: str, outbound: Outbound, token: str = "") -> None:
        self.url = url
        self._outbound = outbound
        self._token = Secret("AUDIT_TOKEN", token) if token else ""

    async def post(self, event_id: UUID, payload: bytes, deadline: Deadline) -> SinkAnswer:
        answer = await self._outbound.call(
            "POST",
            self.url,
            deadline,
            headers=(("Content-Type", "application/json"), ("Idempotency-Key", str(event_id))),
            body=payload,
            secret=self._token,
            sign=_bearer,
        )
        return self._classified(answer)

    async def __aenter__(self) -> Self:
        await self._outbound.__aenter__()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self._outbound.__aexit__(*exc_info)

    def _classified(self, answer: Answer) -> SinkAnswer:
        if isinstance(answer, Failure):
            return SinkAnswer(retry=True, reason=answer.reason)
        reason = f"The sink answered {answer.status}."
        if 200 <= answer.status < 300:
            return SinkAnswer(ok=True, reason=reason)
        if answer.status in _PAUSING:
            return SinkAnswer(pause=True, reason=f"{reason} Check REVIEWROOM_AUDIT_TOKEN.")
        if 400 <= answer.status < 500 and answer.status not in _LATER:
            return SinkAnswer(park=True, reason=reason)
        wait = retry_after(answer.headers.get("retry-after"), self._outbound.now(), RETRY_AFTER_CAP_SECONDS)
        return SinkAnswer(retry=True, reason=reason, retry_after_seconds=wait)


def _bearer(token: Secret) -> list[tuple[str, str]]:
    return [("Authorization", f"Bearer {token.value}")]
