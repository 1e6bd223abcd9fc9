"""`http`: any JSON API, described by URL templates and signed per Standard Webhooks.

The body is the payload's own slice of the approved bytes. The signature covers the delivery id, the time of the
attempt and the body: https://www.standardwebhooks.com, symmetric scheme `v1`.
"""

import hashlib
import hmac
from base64 import b64encode
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import rfc8785

from approvals.connectors import checks, placeholders
from approvals.connectors.answers import Answer, Failure, Response
from approvals.connectors.base import (
    Capability,
    ConfigError,
    Connector,
    Deadline,
    Job,
    Lookup,
    Match,
    Outcome,
    Receipt,
    Request,
    Settings,
    Sighting,
    Verification,
)
from approvals.connectors.classify import retract_receipt, says_error, usable_id, write_receipt
from approvals.connectors.outbound import MAX_READ_BYTES
from approvals.connectors.placeholders import PlaceholderError
from approvals.connectors.secrets import Secret
from approvals.domain import pointer as pointers
from approvals.domain.binding import Binding
from approvals.domain.errors import InvalidPayload

_TEXT = {"type": "string", "minLength": 1}
_POINTER = {"type": "string"}


def _part(required: tuple[str, ...], **properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


class HttpConnector(Connector):
    """See the module."""

    name = "http"
    config_schema = _part(())
    operation_schema = _part(
        ("send",),
        schema={"type": ["object", "boolean"]},
        send=_part(
            ("method", "url", "id_pointer"),
            method={"enum": ["POST", "PUT", "PATCH"]},
            url=_TEXT,
            id_pointer=_POINTER,
        ),
        lookup=_part(
            ("url", "id_pointer"),
            url=_TEXT,
            id_pointer=_POINTER,
            match_pointer=_POINTER,
            absent_on_404={"type": "boolean"},
        ),
        verify=_part(("url", "body_pointer"), url=_TEXT, body_pointer=_POINTER),
        retract=_part(("method", "url"), method={"enum": ["DELETE", "POST", "PUT", "PATCH"]}, url=_TEXT),
    )

    def capabilities(self, settings: Settings, operation: str) -> frozenset[Capability]:
        declared = settings.operations.get(operation, {})
        found = {Capability(part) for part in ("lookup", "verify", "retract") if part in declared}
        if settings.idempotent:
            found.add(Capability.IDEMPOTENCY_KEY)
        if "remote_id" in placeholders.names(declared.get("send", {}).get("url", "")):
            found.add(Capability.CORRECT)
        return frozenset(found)

    def check(self, settings: Settings) -> None:
        checks.check_schema(settings.config, self.config_schema, "config")
        checks.check_secret(settings.secret, required=False)
        if not settings.operations:
            raise ConfigError("/operations", "Declare at least one operation.")
        for name, operation in settings.operations.items():
            checks.check_schema(operation, self.operation_schema, "operations", name)
            checks.check_payload_schema(operation, "operations", name)
            self._check_operation(operation, "operations", name)

    def urls(self, settings: Settings) -> list[tuple[str, str]]:
        return [
            (pointers.build(["operations", name, part, "url"]), template["url"])
            for name, operation in settings.operations.items()
            for part, template in operation.items()
            if part != "schema"
        ]

    def render(self, binding: Binding, delivery_id: UUID, settings: Settings) -> Request:
        send = settings.operations[binding.operation]["send"]
        remote_id = binding.corrects.remote_id if binding.corrects else None
        try:
            url = placeholders.fill(send["url"], _values(binding, delivery_id, remote_id))
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
        request = job.request
        pointer = job.settings.operations[job.operation]["send"]["id_pointer"]
        answer = await self.outbound.call(
            request.method,
            request.url,
            deadline,
            headers=request.headers,
            body=request.body,
            secret=request.secret,
            sign=_signer(job.delivery_id, request.body, self.outbound.now()),
        )
        return write_receipt(
            answer, find_id=lambda document: pointers.resolve(document, pointer), now=self.outbound.now()
        )

    async def lookup(self, job: Job, deadline: Deadline) -> Lookup:
        template = job.settings.operations[job.operation].get("lookup")
        if template is None:
            return Lookup(Sighting.UNKNOWN, "This operation declares no look-up.")
        answer = await self._call("GET", template["url"], job, deadline)
        if isinstance(answer, PlaceholderError):
            return Lookup(Sighting.UNKNOWN, str(answer))
        return _sighting(answer, template, str(job.delivery_id))

    async def verify(self, job: Job, deadline: Deadline) -> Verification:
        template = job.settings.operations[job.operation].get("verify")
        if template is None:
            return Verification(Match.IMPOSSIBLE, "This operation declares no read-back.")
        answer = await self._call("GET", template["url"], job, deadline)
        if isinstance(answer, PlaceholderError):
            return Verification(Match.IMPOSSIBLE, str(answer))
        return _match(answer, template["body_pointer"], job.binding.payload_bytes)

    async def retract(self, job: Job, deadline: Deadline) -> Receipt:
        template = job.settings.operations[job.operation].get("retract")
        if template is None:
            return Receipt(Outcome.REFUSED, "This operation declares no way to retract.")
        answer = await self._call(template["method"], template["url"], job, deadline)
        if isinstance(answer, PlaceholderError):
            return Receipt(Outcome.REFUSED, f"Nothing was sent. {answer}")
        return retract_receipt(answer, now=self.outbound.now())

    async def _call(self, method: str, template: str, job: Job, deadline: Deadline) -> Answer | PlaceholderError:
        try:
            url = placeholders.fill(template, _values(job.binding, job.delivery_id, job.remote_id))
        except PlaceholderError as exc:
            return exc
        return await self.outbound.call(
            method,
            url,
            deadline,
            headers=(("Accept", "application/json"), ("webhook-id", str(job.delivery_id))),
            secret=job.settings.secret,
            sign=_signer(job.delivery_id, b"", self.outbound.now()),
            limit=MAX_READ_BYTES,
        )

    def _check_operation(self, operation: dict[str, Any], *path: str) -> None:
        for part, template in operation.items():
            if part == "schema":
                continue
            checks.check_template(self.outbound, template["url"], _ALLOWED[part], *path, part, "url")
            for name in template.keys() & {"id_pointer", "match_pointer", "body_pointer"}:
                checks.check_pointer(template[name], *path, part, name)
            if fault := _template_fault(part, template):
                raise ConfigError(pointers.build([*path, part, "url"]), fault)


_FIELD_OF = {"resource": "/resource", "remote_id": "/corrects", "account": "/channel", "delivery_id": ""}
_ALLOWED = {
    "send": placeholders.NAMES,
    "lookup": placeholders.NAMES - {"remote_id"},  # it is what the look-up is to find
    "verify": placeholders.NAMES,
    "retract": placeholders.NAMES,
}


def _template_fault(part: str, template: dict[str, Any]) -> str | None:
    used = placeholders.names(template["url"])
    if part == "lookup" and "delivery_id" not in used:
        return "A look-up has to search for {delivery_id}."
    if template.get("absent_on_404") and not placeholders.in_path(template["url"], "delivery_id"):
        return "absent_on_404 needs {delivery_id} in the path: otherwise a 404 says nothing about this delivery."
    if part in ("verify", "retract") and not used & {"remote_id", "resource"}:
        return "This has to name one object, by {remote_id} or {resource}."
    return None


def _values(binding: Binding, delivery_id: UUID, remote_id: str | None) -> Mapping[str, str | None]:
    return {
        "delivery_id": str(delivery_id),
        "remote_id": remote_id,
        "account": binding.target.account,
        "resource": binding.target.resource,
    }


def _signer(delivery_id: UUID, body: bytes, now: datetime) -> Callable[[Secret], list[tuple[str, str]]]:
    """The Standard Webhooks headers of this very attempt."""

    def sign(secret: Secret) -> list[tuple[str, str]]:
        moment = str(int(now.timestamp()))
        content = f"{delivery_id}.{moment}.".encode() + body
        signature = b64encode(hmac.digest(secret.key, content, hashlib.sha256)).decode()
        return [("webhook-timestamp", moment), ("webhook-signature", f"v1,{signature}")]

    return sign


def _sighting(answer: Answer, template: dict[str, Any], delivery_id: str) -> Lookup:
    if isinstance(answer, Failure):
        return Lookup(Sighting.UNKNOWN, answer.reason, evidence=answer.evidence)
    if answer.status == 404 and template.get("absent_on_404"):
        return Lookup(Sighting.ABSENT, "The remote has nothing under this delivery id.", evidence=answer.evidence)
    try:
        document = _document(answer)
        if says_error(document):
            raise ValueError("the remote answered 200 and reported an error.")
        found = pointers.resolve(document, template["id_pointer"])
        same = "match_pointer" not in template or pointers.resolve(document, template["match_pointer"]) == delivery_id
    except IndexError:  # a list, and it ends before the place where the id would stand
        return Lookup(Sighting.ABSENT, "The remote lists nothing for this delivery id.", evidence=answer.evidence)
    except (LookupError, ValueError) as exc:
        return Lookup(Sighting.UNKNOWN, f"The answer cannot be read: {exc}", evidence=answer.evidence)
    if found is None:
        return Lookup(Sighting.ABSENT, "The remote says that there is no such id.", evidence=answer.evidence)
    remote_id = usable_id(found)
    if remote_id is None or not same:
        return Lookup(Sighting.UNKNOWN, "The answer is about something else.", evidence=answer.evidence)
    return Lookup(Sighting.FOUND, f"The remote has it as {remote_id}.", remote_id, answer.evidence)


def _match(answer: Answer, pointer: str, approved: bytes) -> Verification:
    if isinstance(answer, Failure):
        return Verification(Match.UNKNOWN, answer.reason, answer.evidence)
    if answer.status in (404, 410):
        return Verification(Match.GONE, f"The remote answered {answer.status}.", answer.evidence)
    try:
        document = _document(answer)
        shown = pointers.resolve(document, pointer)
    except (LookupError, ValueError) as exc:
        return Verification(Match.UNKNOWN, f"The answer cannot be read: {exc}", answer.evidence)
    if _canonical(shown) == approved:
        return Verification(Match.EQUAL, "The remote shows what was approved.", answer.evidence)
    if says_error(document):
        return Verification(Match.UNKNOWN, "The remote answered 200 and reported an error.", answer.evidence)
    return Verification(Match.DIFFERS, "The remote shows something else than what was approved.", answer.evidence)


def _document(answer: Response) -> Any:
    """The JSON of a plain success. Raises ValueError."""
    if answer.status != 200:
        raise ValueError(f"the remote answered {answer.status}.")
    return answer.json()


def _canonical(value: Any) -> bytes | None:
    try:
        return rfc8785.dumps(value)
    except rfc8785.CanonicalizationError:
        return None  # no approved payload can hold such a value
