"""The connector itself: see the package."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from approvals.connectors import placeholders
from approvals.connectors.answers import Answer
from approvals.connectors.base import (
    Capability,
    Connector,
    Deadline,
    Job,
    Lookup,
    Match,
    Outcome,
    Reading,
    Receipt,
    Request,
    Settings,
    Sighting,
    Verification,
)
from approvals.connectors.classify import amend_receipt, retract_receipt, write_receipt
from approvals.connectors.http import answers, channel
from approvals.connectors.http.proof import prover
from approvals.connectors.outbound import MAX_READ_BYTES
from approvals.connectors.placeholders import PlaceholderError
from approvals.domain import pointer as pointers
from approvals.domain.binding import Binding
from approvals.domain.errors import InvalidPayload

_FIELD_OF = {"resource": "/resource", "remote_id": "/corrects", "account": "/channel", "delivery_id": ""}


class HttpConnector(Connector):
    """See the package."""

    name = "http"
    config_schema = channel.CONFIG_SCHEMA
    operation_schema = channel.OPERATION_SCHEMA

    def capabilities(self, settings: Settings, operation: str) -> frozenset[Capability]:
        declared = settings.operations.get(operation, {})
        found = {Capability(part) for part in ("lookup", "verify", "retract") if part in declared}
        if settings.idempotent:
            found.add(Capability.IDEMPOTENCY_KEY)
        if "remote_id" in placeholders.names(declared.get("send", {}).get("url", "")):
            found.add(Capability.CORRECT)
        return frozenset(found)

    def check(self, settings: Settings) -> None:
        channel.check(settings, self.outbound)

    def urls(self, settings: Settings) -> list[tuple[str, str]]:
        return channel.urls(settings)

    def render(self, binding: Binding, delivery_id: UUID, settings: Settings) -> Request:
        send = settings.operations[binding.operation]["send"]
        try:
            url = placeholders.fill(send["url"], _values(binding, delivery_id, _corrected(binding)))
        except PlaceholderError as exc:
            raise InvalidPayload(str(exc), pointer=_FIELD_OF[exc.name]) from exc
        headers = (
            ("Content-Type", "application/json"),
            ("Accept", "application/json"),
            ("Idempotency-Key", str(delivery_id)),
            ("Reviewroom-Digest", binding.digest),
            ("webhook-id", str(delivery_id)),
        )
        return Request(send["method"], url, headers, binding.payload_bytes, settings.secret)

    async def send(self, job: Job, deadline: Deadline) -> Receipt:
        request, now = job.request, self.outbound.now()
        answer = await self.outbound.call(
            request.method,
            request.url,
            deadline,
            headers=request.headers,
            body=request.body,
            secret=request.secret,
            sign=prover(job.settings, job.delivery_id, request.body, now),
        )
        return _receipt(answer, job, now=self.outbound.now())

    async def lookup(self, job: Job, deadline: Deadline) -> Lookup:
        template = _template(job, "lookup")
        if template is None:
            return Lookup(Sighting.UNKNOWN, "This operation declares no look-up.")
        answer = await self._call("GET", template["url"], job, deadline)
        if isinstance(answer, PlaceholderError):
            return Lookup(Sighting.UNKNOWN, str(answer))
        return answers.sighting(answer, template, str(job.delivery_id))

    async def verify(self, job: Job, deadline: Deadline) -> Verification:
        template = _template(job, "verify")
        if template is None:
            return Verification(Match.IMPOSSIBLE, "This operation declares no read-back.")
        answer = await self._call("GET", template["url"], job, deadline)
        if isinstance(answer, PlaceholderError):
            return Verification(Match.IMPOSSIBLE, str(answer))
        return answers.match(answer, template["body_pointer"], job.binding.payload_bytes)

    async def read(self, job: Job, deadline: Deadline) -> Reading:
        """Through the read-back's URL, where that names the target and not one delivery to it."""
        template = _template(job, "verify")
        if template is None or "delivery_id" in placeholders.names(template["url"]):
            return Reading(False, "This operation declares no way to read what stands there.")
        answer = await self._call("GET", template["url"], job, deadline)
        if isinstance(answer, PlaceholderError):
            return Reading(False, str(answer))
        return answers.reading(answer, template["body_pointer"])

    async def retract(self, job: Job, deadline: Deadline) -> Receipt:
        template = _template(job, "retract")
        if template is None:
            return Receipt(Outcome.REFUSED, "This operation declares no way to retract.")
        own_id = job.retraction_id or job.delivery_id
        answer = await self._call(template["method"], template["url"], job, deadline, own_id)
        if isinstance(answer, PlaceholderError):
            return Receipt(Outcome.REFUSED, f"Nothing was sent. {answer}")
        return retract_receipt(answer, now=self.outbound.now())

    async def _call(
        self, method: str, template: str, job: Job, deadline: Deadline, own_id: UUID | None = None
    ) -> Answer | PlaceholderError:
        """A call without a body; placeholders speak of the write, `own_id` is that of a change of its own."""
        try:
            url = placeholders.fill(template, _values(job.binding, job.delivery_id, job.remote_id))
        except PlaceholderError as exc:
            return exc
        webhook_id = own_id or job.delivery_id
        key = (("Idempotency-Key", str(own_id)),) if own_id else ()
        return await self.outbound.call(
            method,
            url,
            deadline,
            headers=(("Accept", "application/json"), *key, ("webhook-id", str(webhook_id))),
            secret=job.settings.secret,
            sign=prover(job.settings, webhook_id, b"", self.outbound.now()),
            limit=MAX_READ_BYTES,
        )


def _template(job: Job, part: str) -> dict[str, Any] | None:
    found: dict[str, Any] | None = job.settings.operations[job.operation].get(part)
    return found


def _corrected(binding: Binding) -> str | None:
    return binding.corrects.remote_id if binding.corrects else None


def _receipt(answer: Answer, job: Job, *, now: datetime) -> Receipt:
    send = job.settings.operations[job.operation]["send"]
    known = _corrected(job.binding) if "remote_id" in placeholders.names(send["url"]) else None
    pointer = send.get("id_pointer")
    if pointer is None:
        return amend_receipt(answer, remote_id=known or "", now=now)
    receipt = write_receipt(answer, find_id=lambda document: pointers.resolve(document, pointer), now=now)
    replaces = known is not None and send["method"] in ("PUT", "PATCH")  # by definition this very object
    if replaces and receipt.outcome is Outcome.DELIVERED and receipt.remote_id != known:
        reason = f"The remote was to change {known} and answered with {receipt.remote_id}."
        return Receipt(Outcome.UNKNOWN, reason, evidence=receipt.evidence)
    return receipt


def _values(binding: Binding, delivery_id: UUID, remote_id: str | None) -> Mapping[str, str | None]:
    return {
        "delivery_id": str(delivery_id),
        "remote_id": remote_id,
        "account": binding.target.account,
        "resource": binding.target.resource,
    }
