"""`google_business`: the one reply of a storefront review, written, read back, replaced and deleted.

`PUT .../reply` is an upsert: sent twice it leaves the same reply. But it replaces whatever stands there, so what may
have arrived is only sent again when no newer text of somebody else is in the way, and only our own reply is deleted.
"""

from typing import Any
from uuid import UUID

from approvals.connectors import checks, secrets
from approvals.connectors.answers import Answer, Response
from approvals.connectors.base import (
    Capability,
    ConfigError,
    Connector,
    Deadline,
    Job,
    Lookup,
    Match,
    Reading,
    Receipt,
    Request,
    Settings,
    Sighting,
    Verification,
)
from approvals.connectors.google_business import meaning, places, reviews, tokens
from approvals.connectors.google_business.tokens import Access, NoAccess
from approvals.connectors.outbound import MAX_ANSWER_BYTES, MAX_READ_BYTES
from approvals.connectors.secrets import Secret
from approvals.domain import pointer as pointers
from approvals.domain.binding import Binding

OPERATION = "reply.upsert"
_ACCEPT = ("Accept", "application/json")


class GoogleBusinessConnector(Connector):
    """See the module. `resource` is `locations/<location>/reviews/<review>`, `account` the number of the account."""

    name = "google_business"
    config_schema = {
        "type": "object",
        "properties": {
            "base_url": {"type": "string", "minLength": 1},
            "token_url": {"type": "string", "minLength": 1},
        },
        "additionalProperties": False,
    }
    operation_schema = {
        "type": "object",
        "properties": {"schema": {"type": ["object", "boolean"]}},
        "additionalProperties": False,
    }

    def capabilities(self, settings: Settings, operation: str) -> frozenset[Capability]:
        return frozenset(Capability)

    def check(self, settings: Settings) -> None:
        checks.check_schema(settings.config, self.config_schema, "config")
        checks.check_secret(settings.secret, required=True)
        places.check_names(settings)
        if settings.concurrency != "exclusive":
            raise ConfigError("/concurrency", "A review has one reply: leave concurrency = exclusive.")
        if unknown := sorted(settings.operations.keys() - {OPERATION}):
            raise ConfigError(pointers.build(["operations", unknown[0]]), f"There is only {OPERATION} here.")
        if not settings.operations:
            raise ConfigError("/operations", f"Declare {OPERATION}.")
        checks.check_schema(settings.operations[OPERATION], self.operation_schema, "operations", OPERATION)
        checks.check_payload_schema(settings.operations[OPERATION], "operations", OPERATION)
        for pointer, url in self.urls(settings):
            checks.check_template(self.outbound, url, frozenset(), *pointers.parse(pointer))
            places.check_address(pointer, url)

    def urls(self, settings: Settings) -> list[tuple[str, str]]:
        found = {"base_url": places.base_url(settings), "token_url": places.token_url(settings)}
        return [(f"/config/{key}" if key in settings.config else "/config", url) for key, url in found.items()]

    def render(self, binding: Binding, delivery_id: UUID, settings: Settings) -> Request:
        """The upsert. A correction is the same one: the review has only this reply."""
        places.check_resource(binding)
        places.check_payload(binding.payload)
        headers = (("Content-Type", "application/json"), _ACCEPT)
        url = places.reply_url(binding, settings)
        return Request("PUT", url, headers, binding.payload_bytes, settings.secret)

    async def prepare(self, job: Job, deadline: Deadline) -> dict[str, Any] | Receipt:
        """Nothing to be stored: it fetches the access token, so that failing to get one cannot look like a send."""
        access = await self._access(job, deadline)
        return access.receipt if isinstance(access, NoAccess) else {}

    async def send(self, job: Job, deadline: Deadline) -> Receipt:
        request = job.request
        answer = await self._call(job, request.method, request.url, deadline, request.headers, request.body)
        if isinstance(answer, NoAccess):
            return answer.receipt
        return meaning.of_write(answer, job, self.outbound.now())

    async def lookup(self, job: Job, deadline: Deadline) -> Lookup:
        answer = await self._get(job, deadline)
        if isinstance(answer, NoAccess):
            return Lookup(Sighting.UNKNOWN, answer.reason, evidence=answer.evidence)
        if reviews.is_not_found(answer):
            return Lookup(Sighting.ABSENT, "The review is not there any more.", evidence=answer.evidence)
        try:
            shown = reviews.reply_to(answer, places.review_name(job.binding))
        except ValueError as exc:
            return Lookup(Sighting.UNKNOWN, str(exc), evidence=answer.evidence)
        sighting, reason = meaning.of_sight(shown, job)
        remote_id = places.reply_name(job.binding) if sighting is Sighting.FOUND else None
        return Lookup(sighting, reason, remote_id, answer.evidence)

    async def verify(self, job: Job, deadline: Deadline) -> Verification:
        answer = await self._get(job, deadline)
        if isinstance(answer, NoAccess):
            return Verification(Match.UNKNOWN, answer.reason, answer.evidence)
        if reviews.is_not_found(answer):
            return Verification(Match.GONE, "The review is not there any more, nor is its reply.", answer.evidence)
        try:
            shown = reviews.reply_to(answer, places.review_name(job.binding))
        except ValueError as exc:
            return Verification(Match.UNKNOWN, str(exc), answer.evidence)
        match, reason = meaning.of_read_back(shown, job)
        return Verification(match, reason, answer.evidence)

    async def read(self, job: Job, deadline: Deadline) -> Reading:
        answer = await self._get(job, deadline)
        if isinstance(answer, NoAccess):
            return Reading(False, answer.reason, evidence=answer.evidence)
        if reviews.is_not_found(answer):
            return Reading(True, "The review is not there any more.", evidence=answer.evidence)
        try:
            shown = reviews.reply_to(answer, places.review_name(job.binding))
        except ValueError as exc:
            return Reading(False, str(exc), evidence=answer.evidence)
        if shown is None:
            return Reading(True, "The review has no reply.", evidence=answer.evidence)
        content = secrets.redact({"comment": shown.comment}, answer.hidden if isinstance(answer, Response) else ())
        return Reading(True, f"The review has this reply{meaning.since(shown)}.", content, answer.evidence)

    async def retract(self, job: Job, deadline: Deadline) -> Receipt:
        """Delete the reply. The call names no text, so a look comes first: whose reply is it by now?"""
        begun = deadline.clock()
        current = await self._get(job, deadline)
        if isinstance(current, NoAccess):
            return current.receipt
        stopped = meaning.before_deletion(current, job, self.outbound.now())
        if stopped is not None:
            return stopped
        url = places.reply_url(job.binding, job.settings)
        answer = await self._call(job, "DELETE", url, deadline.since(begun), (_ACCEPT,))
        return answer.receipt if isinstance(answer, NoAccess) else meaning.of_deletion(answer, self.outbound.now())

    async def _get(self, job: Job, deadline: Deadline) -> Answer | NoAccess:
        return await self._call(job, "GET", places.review_url(job.binding, job.settings), deadline, (_ACCEPT,))

    async def _call(
        self,
        job: Job,
        method: str,
        url: str,
        deadline: Deadline,
        headers: tuple[tuple[str, str], ...],
        body: bytes = b"",
    ) -> Answer | NoAccess:
        """Call the API, and once more with a new token after a 401: that is Google's word that it did not act."""
        begun = deadline.clock()
        for is_last in (False, True):
            access = await self._access(job, deadline.since(begun))
            if isinstance(access, NoAccess):
                return access
            answer = await self.outbound.call(
                method,
                url,
                deadline.since(begun),
                headers=headers,
                body=body,
                secret=access.token,
                sign=_authorize,
                limit=MAX_READ_BYTES if method == "GET" else MAX_ANSWER_BYTES,
            )
            if is_last or not isinstance(answer, Response) or answer.status != 401:
                return access.hide(answer)
            tokens.forget(access)
        raise AssertionError("the last turn returns")

    async def _access(self, job: Job, deadline: Deadline) -> Access | NoAccess:
        base_url, token_url = places.base_url(job.settings), places.token_url(job.settings)
        return await tokens.access(self.outbound, job.settings.secret, base_url, token_url, deadline)


def _authorize(secret: Secret) -> list[tuple[str, str]]:
    return [("Authorization", f"Bearer {secret.value}")]
