"""A connector for notice boards: notices are posted as forms and have a number and a reference of ours."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from approvals.connectors import checks
from approvals.connectors.answers import Answer, Failure, Response
from approvals.connectors.base import (
    Capability,
    ConfigError,
    Connector,
    Deadline,
    Job,
    Lookup,
    Match,
    Receipt,
    Request,
    Settings,
    Sighting,
    Verification,
)
from approvals.connectors.classify import retract_receipt, usable_id, write_receipt
from approvals.connectors.placeholders import PlaceholderError, fill
from approvals.connectors.secrets import Secret
from approvals.domain.binding import Binding
from approvals.domain.errors import InvalidPayload

FIELDS = ("title", "text")


class NoticeboardConnector(Connector):
    """See the module. The board takes a second notice with the same reference for the first."""

    name = "noticeboard"
    config_schema = {
        "type": "object",
        "properties": {"base_url": {"type": "string", "minLength": 1}},
        "required": ["base_url"],
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
        checks.check_template(self.outbound, settings.config["base_url"], frozenset(), "config", "base_url")
        if not settings.operations:
            raise ConfigError("/operations", "Declare at least one operation.")
        for name, operation in settings.operations.items():
            checks.check_schema(operation, self.operation_schema, "operations", name)
            checks.check_payload_schema(operation, "operations", name)

    def urls(self, settings: Settings) -> list[tuple[str, str]]:
        return [("/config/base_url", settings.config["base_url"])]

    def render(self, binding: Binding, delivery_id: UUID, settings: Settings) -> Request:
        form = {**_notice(binding.payload), "reference": str(delivery_id)}
        headers = (("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "application/json"))
        method, url = "POST", _url(settings)
        if binding.corrects:
            method, url = "PUT", _url(settings, binding.corrects.remote_id)
        return Request(method, url, headers, urlencode(sorted(form.items())).encode(), settings.secret)

    async def send(self, job: Job, deadline: Deadline) -> Receipt:
        request = job.request
        answer = await self.outbound.call(
            request.method,
            request.url,
            deadline,
            headers=request.headers,
            body=request.body,
            secret=request.secret,
            sign=_key,
        )
        return write_receipt(answer, find_id=lambda document: document["notice"]["number"], now=self.outbound.now())

    async def lookup(self, job: Job, deadline: Deadline) -> Lookup:
        answer = await self._call("GET", f"{_url(job.settings)}?reference={job.delivery_id}", job, deadline)
        notices = _read(answer, lambda document: list(document["notices"]))
        if notices is None:
            return Lookup(Sighting.UNKNOWN, _why(answer), evidence=answer.evidence)
        ours = [notice for notice in notices if _field(notice, "reference") == str(job.delivery_id)]
        if not ours and not notices:
            return Lookup(Sighting.ABSENT, "The board has no notice of this delivery.", evidence=answer.evidence)
        number = usable_id(_field(ours[0], "number")) if ours else None
        if number is None:
            return Lookup(Sighting.UNKNOWN, "The board lists something else.", evidence=answer.evidence)
        return Lookup(Sighting.FOUND, f"The board has it as notice {number}.", number, answer.evidence)

    async def verify(self, job: Job, deadline: Deadline) -> Verification:
        try:
            url = _url(job.settings, job.remote_id)
        except PlaceholderError as exc:
            return Verification(Match.IMPOSSIBLE, str(exc))
        answer = await self._call("GET", url, job, deadline)
        if isinstance(answer, Response) and answer.status == 404:
            return Verification(Match.GONE, "The board has no such notice.", answer.evidence)
        shown = _read(answer, lambda document: {name: document["notice"][name] for name in FIELDS})
        if shown is None:
            return Verification(Match.UNKNOWN, _why(answer), answer.evidence)
        if shown != job.binding.payload:
            return Verification(Match.DIFFERS, "The board shows another notice than was approved.", answer.evidence)
        return Verification(Match.EQUAL, "The board shows what was approved.", answer.evidence)

    async def retract(self, job: Job, deadline: Deadline) -> Receipt:
        answer = await self._call("DELETE", _url(job.settings, job.remote_id), job, deadline)
        return retract_receipt(answer, now=self.outbound.now())

    async def _call(self, method: str, url: str, job: Job, deadline: Deadline) -> Answer:
        return await self.outbound.call(
            method,
            url,
            deadline,
            headers=(("Accept", "application/json"),),
            secret=job.settings.secret,
            sign=_key,
        )


def _notice(payload: dict[str, Any]) -> dict[str, str]:
    """The fields of a notice. Raises InvalidPayload for what the board would not keep as it is."""
    for name in {*FIELDS, *payload}:
        if name not in FIELDS:
            raise InvalidPayload(f"A notice has no {name}.", pointer=f"/payload/{name}")
        if not isinstance(payload.get(name), str) or not payload[name]:
            raise InvalidPayload(f"Give the {name} as a text that is not empty.", pointer="/payload")
    return {name: payload[name] for name in FIELDS}


def _url(settings: Settings, number: str | None = "") -> str:
    """The address of all notices or, with a number, of one. Raises PlaceholderError for an unusable number."""
    base = settings.config["base_url"].rstrip("/")
    return f"{base}/notices" if number == "" else fill(base + "/notices/{remote_id}", {"remote_id": number})


def _key(secret: Secret) -> list[tuple[str, str]]:
    return [("X-Board-Key", secret.value)]


def _read(answer: Answer, find: Callable[[Any], Any]) -> Any:
    """What a plain success holds; None for any other answer."""
    if not isinstance(answer, Response) or answer.status != 200:
        return None
    try:
        return find(answer.json())
    except (LookupError, TypeError, ValueError):
        return None


def _field(notice: Any, name: str) -> Any:
    return notice.get(name) if isinstance(notice, dict) else None


def _why(answer: Answer) -> str:
    if isinstance(answer, Failure):
        return answer.reason
    return f"The board answered {answer.status} with something that cannot be read."
