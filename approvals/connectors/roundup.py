"""`roundup`: issues of a Roundup tracker, through its REST interface.

Facts this relies on, seen with Roundup 2.6: a post-once-exactly link is gone before the issue is made, so "not
valid" may mean that the issue exists; a search on a text property finds substrings; a retired issue still answers
a GET but is in no search; CRLF is stored as LF; an empty text is a conflict (409); a DELETE takes no content type;
what it cannot explain it answers with 400 and "An error occurred".
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote, urlsplit
from uuid import UUID

import rfc8785

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
    Outcome,
    Receipt,
    Request,
    Settings,
    Sighting,
    Verification,
)
from approvals.connectors.classify import retract_receipt, write_receipt
from approvals.connectors.outbound import MAX_READ_BYTES
from approvals.connectors.secrets import Secret
from approvals.domain import pointer as pointers
from approvals.domain.binding import Binding
from approvals.domain.errors import InvalidPayload

DEFAULT_ID_PROPERTY = "reviewroom_id"
LINK_LIFE = timedelta(hours=1)  # the most Roundup grants
CLOCK_MARGIN = timedelta(minutes=2)  # by which our clock and the tracker's may run apart in that hour
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")  # of classes and properties
_NO_FACT = ("POE token", "An error occurred")  # in a 400: says nothing about whether the issue was made


class RoundupConnector(Connector):
    """See the module. `resource` is the tracker's class, normally `issue`."""

    name = "roundup"
    config_schema = {
        "type": "object",
        "properties": {
            "base_url": {"type": "string", "minLength": 1},  # ends in /rest/data
            "web_url": {"type": "string", "minLength": 1},  # the tracker's own idea of its address, if it differs
            "id_property": {"type": "string", "pattern": f"^{_NAME.pattern}$"},
            "properties": {
                "type": "object",
                "additionalProperties": {"type": "string", "pattern": f"^{_NAME.pattern}$"},
            },
        },
        "required": ["base_url"],
        "additionalProperties": False,
    }
    operation_schema = {
        "type": "object",
        "properties": {"schema": {"type": ["object", "boolean"]}},
        "additionalProperties": False,
    }

    def capabilities(self, settings: Settings, operation: str) -> frozenset[Capability]:
        return frozenset({Capability.LOOKUP, Capability.VERIFY, Capability.RETRACT})

    def check(self, settings: Settings) -> None:
        checks.check_schema(settings.config, self.config_schema, "config")
        checks.check_secret(settings.secret, required=True)
        if settings.idempotent:
            raise ConfigError("/idempotent", "Roundup does not dedupe on the delivery id: leave idempotent = false.")
        if not settings.operations:
            raise ConfigError("/operations", "Declare at least one operation.")
        for name, operation in settings.operations.items():
            checks.check_schema(operation, self.operation_schema, "operations", name)
            checks.check_payload_schema(operation, "operations", name)
        for pointer, url in self.urls(settings):
            checks.check_template(self.outbound, url, frozenset(), *pointers.parse(pointer))
        if "web_url" not in settings.config and not _base(settings).endswith("/rest/data"):
            raise ConfigError("/config/base_url", "It has to end in /rest/data; else set web_url as well.")

    def urls(self, settings: Settings) -> list[tuple[str, str]]:
        return [("/config/base_url", settings.config["base_url"])]

    def render(self, binding: Binding, delivery_id: UUID, settings: Settings) -> Request:
        """The creation itself. Before it is sent, its URL is replaced by a link that works only once."""
        if not _NAME.fullmatch(binding.target.resource):
            raise InvalidPayload("The resource has to be a class of the tracker, like issue.", pointer="/resource")
        properties = _properties(binding.payload, settings)
        properties[_id_property(settings)] = str(delivery_id)
        headers = (("Content-Type", "application/json"), *_headers(settings))
        return Request("POST", _class_url(binding, settings), headers, rfc8785.dumps(properties), settings.secret)

    async def prepare(self, job: Job, deadline: Deadline) -> dict[str, Any] | Receipt:
        """A post-once-exactly link, or the earlier one while it may live: two copies of a send can use it once."""
        if "url" in job.prepared:
            age = self.outbound.now() - datetime.fromisoformat(job.prepared["fetched_at"])
            if abs(age) < LINK_LIFE - CLOCK_MARGIN:
                return job.prepared
            if abs(age) < LINK_LIFE + CLOCK_MARGIN:
                return _between_links(LINK_LIFE + CLOCK_MARGIN - abs(age))
        answer = await self.outbound.call(
            "POST",
            f"{job.request.url}/@poe",
            deadline,
            headers=job.request.headers,
            body=rfc8785.dumps({"lifetime": int(LINK_LIFE.total_seconds())}),
            secret=job.request.secret,
            sign=_authorize,
        )
        try:
            token = str(_data(answer)["link"]).rpartition("/@poe/")[2]
            # Only the token is taken: a link to another host must not get the password.
            url = f"{job.request.url}/@poe/{quote(token, safe='')}"
        except (LookupError, TypeError, ValueError):
            return _unprepared(answer, self.outbound.now())
        return {"url": url, "fetched_at": self.outbound.now().astimezone(UTC).isoformat()}

    async def send(self, job: Job, deadline: Deadline) -> Receipt:
        if "url" not in job.prepared:
            return Receipt(Outcome.NOT_SENT, "No post-once link was fetched for this attempt.")
        answer = await self.outbound.call(
            "POST",
            job.prepared["url"],
            deadline,
            headers=job.request.headers,
            body=job.request.body,
            secret=job.request.secret,
            sign=_authorize,
        )
        return _receipt(answer, self.outbound.now())

    async def lookup(self, job: Job, deadline: Deadline) -> Lookup:
        """Search by delivery id. An issue that somebody retired meanwhile is not found."""
        wanted = _id_property(job.settings)
        answer = await self._get(job, deadline, f"?{wanted}={job.delivery_id}&@fields={wanted}")
        try:
            listed = [(item["id"], item[wanted]) for item in _collection(answer)]
        except (LookupError, TypeError, ValueError) as exc:
            return Lookup(Sighting.UNKNOWN, _unreadable(answer, exc), evidence=answer.evidence)
        found = sorted((str(remote_id) for remote_id, value in listed if value == str(job.delivery_id)), key=_number)
        if not found:
            return Lookup(Sighting.ABSENT, "The tracker has no issue with this delivery id.", None, answer.evidence)
        reason = f"The tracker has it as {', '.join(found)}."
        return Lookup(Sighting.FOUND, reason, found[0], answer.evidence)

    async def verify(self, job: Job, deadline: Deadline) -> Verification:
        if not _is_id(job.remote_id):
            return Verification(Match.IMPOSSIBLE, "No issue number is known.")
        begun = deadline.clock()
        wanted = _properties(job.binding.payload, job.settings)
        fields = ",".join(sorted({*wanted, "title"}))
        answer = await self._get(job, deadline, f"?id={job.remote_id}&@fields={fields}&@verbose=2")
        try:
            shown = [item for item in _collection(answer) if str(item["id"]) == job.remote_id]
            differing = sorted(key for item in shown for key in wanted if not _same(wanted[key], item[key]))
        except (LookupError, TypeError, ValueError) as exc:
            return Verification(Match.UNKNOWN, _unreadable(answer, exc), answer.evidence)
        if not shown:
            return await self._unlisted(job, deadline.since(begun))
        if differing:
            reason = f"The tracker shows another {', '.join(differing)} than was approved."
            return Verification(Match.DIFFERS, reason, answer.evidence)
        return Verification(Match.EQUAL, "The tracker shows what was approved.", answer.evidence)

    async def retract(self, job: Job, deadline: Deadline) -> Receipt:
        """Retire the issue. Roundup wants to hear the version it is to retire, so it is read first."""
        if not _is_id(job.remote_id):
            return Receipt(Outcome.REFUSED, "Nothing was sent: no issue number is known.")
        begun = deadline.clock()
        current = await self._get(job, deadline, f"/{job.remote_id}?@fields=title")
        if not isinstance(current, Response) or current.status != 200:
            return _unread(current, self.outbound.now())
        answer = await self.outbound.call(
            "DELETE",
            f"{_class_url(job.binding, job.settings)}/{job.remote_id}",
            deadline.since(begun),
            headers=(*_headers(job.settings), ("If-Match", current.headers.get("etag", ""))),
            secret=job.settings.secret,
            sign=_authorize,
        )
        receipt = retract_receipt(answer, now=self.outbound.now())
        if isinstance(answer, Response) and answer.status == 412:
            return Receipt(Outcome.NOT_SENT, "The issue was changed at this moment.", evidence=receipt.evidence)
        return receipt

    async def _unlisted(self, job: Job, deadline: Deadline) -> Verification:
        """An issue that no search lists is retired, or we may not see it."""
        answer = await self._get(job, deadline, f"/{job.remote_id}?@fields=title")
        if isinstance(answer, Response) and answer.status in (200, 404, 410):
            return Verification(Match.GONE, "The issue is retired or does not exist.", answer.evidence)
        return Verification(Match.UNKNOWN, _unreadable(answer, None), answer.evidence)

    async def _get(self, job: Job, deadline: Deadline, rest: str) -> Answer:
        return await self.outbound.call(
            "GET",
            _class_url(job.binding, job.settings) + rest,
            deadline,
            headers=_headers(job.settings),
            secret=job.settings.secret,
            sign=_authorize,
            limit=MAX_READ_BYTES,
        )


def _base(settings: Settings) -> str:
    return str(settings.config["base_url"]).rstrip("/")


def _class_url(binding: Binding, settings: Settings) -> str:
    return f"{_base(settings)}/{binding.target.resource}"


def _id_property(settings: Settings) -> str:
    return str(settings.config.get("id_property", DEFAULT_ID_PROPERTY))


def _headers(settings: Settings) -> tuple[tuple[str, str], ...]:
    """What Roundup asks of a client to believe that it is no browser led astray."""
    web = settings.config.get("web_url") or _base(settings).removesuffix("/rest/data")
    parts = urlsplit(web)
    return (
        ("Accept", "application/json"),
        ("X-Requested-With", "Review-Room"),
        ("Origin", f"{parts.scheme}://{parts.netloc}"),
        ("Referer", web.rstrip("/") + "/"),
    )


def _authorize(secret: Secret) -> list[tuple[str, str]]:
    return [("Authorization", secret.basic)]


def _properties(payload: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """The payload under the tracker's names. Raises InvalidPayload for what Roundup would not keep as it is."""
    names: Mapping[str, str] = settings.config.get("properties", {})
    found: dict[str, Any] = {}
    for key, value in payload.items():
        name = names.get(key, key)
        pointer = pointers.build(["payload", key])
        if not _NAME.fullmatch(name) or name in found or name == _id_property(settings):
            raise InvalidPayload(f"{key} cannot be a property of the issue, or stands for one twice.", pointer=pointer)
        if not _can_keep(value):
            raise InvalidPayload(
                "The tracker keeps texts that are not empty, numbers, true, false, null and lists of texts.",
                pointer=pointer,
            )
        found[name] = value
    return found


def _can_keep(value: Any) -> bool:
    if isinstance(value, list):
        return all(isinstance(item, str) and item for item in value)
    return not isinstance(value, dict) and value != ""


def _between_links(wait: timedelta) -> Receipt:
    """Too old to be used, too young to be surely dead: a new one now could make a second issue."""
    return Receipt(
        Outcome.NOT_SENT,
        "The post-once link is running out; a new one may be used once it surely has.",
        retry_after_seconds=wait.total_seconds(),
    )


def _unprepared(answer: Answer, now: datetime) -> Receipt:
    """Nothing was posted. A refusal is about the channel and not about this issue, so the channel pauses."""
    receipt = write_receipt(answer, find_id=lambda document: None, now=now)
    return Receipt(
        Outcome.NOT_SENT,
        f"No post-once link could be fetched, nothing was posted. {receipt.reason}",
        evidence=receipt.evidence,
        pause=receipt.pause or receipt.outcome is Outcome.REFUSED,
        retry_after_seconds=receipt.retry_after_seconds,
    )


def _receipt(answer: Answer, now: datetime) -> Receipt:
    receipt = write_receipt(answer, find_id=lambda document: pointers.resolve(document, "/data/id"), now=now)
    if not isinstance(answer, Response) or not 400 <= answer.status < 500:
        return receipt
    message = answer.body.decode(errors="replace")
    if answer.status == 400 and any(words in message for words in _NO_FACT):
        reason = "The tracker answered 400 without saying whether it made the issue."
        return Receipt(Outcome.UNKNOWN, reason, evidence=receipt.evidence)
    # Roundup destroys the link before it looks at the issue; a log-in or rate limit is checked before that.
    spent = receipt.outcome is Outcome.REFUSED or answer.status == 403
    return Receipt(
        receipt.outcome,
        receipt.reason,
        evidence=receipt.evidence,
        pause=receipt.pause,
        retry_after_seconds=receipt.retry_after_seconds,
        spent=spent,
    )


def _unread(answer: Answer, now: datetime) -> Receipt:
    """The receipt of a retraction that ended at the reading before it: nothing was asked of the tracker yet."""
    if isinstance(answer, Response) and answer.status in (404, 410):
        return retract_receipt(answer, now=now)
    receipt = write_receipt(answer, find_id=lambda document: None, now=now)
    if receipt.outcome is Outcome.REFUSED:
        return receipt
    return Receipt(
        Outcome.NOT_SENT,
        f"The issue could not be read, nothing was retired. {receipt.reason}",
        evidence=receipt.evidence,
        pause=receipt.pause,
        retry_after_seconds=receipt.retry_after_seconds,
    )


def _data(answer: Answer) -> Any:
    if not isinstance(answer, Response) or answer.status != 200:
        raise ValueError("no plain success")
    return answer.json()["data"]


def _collection(answer: Answer) -> list[Any]:
    listed = _data(answer)["collection"]
    if not isinstance(listed, list):
        raise TypeError("no list")
    return listed


def _unreadable(answer: Answer, exc: Exception | None) -> str:
    if isinstance(answer, Failure):
        return answer.reason
    return f"The tracker answered {answer.status} with something that cannot be read ({exc or 'no issue'})."


def _is_id(remote_id: str | None) -> bool:
    return remote_id is not None and remote_id.isascii() and remote_id.isdigit()


def _number(remote_id: str) -> tuple[int, str]:
    return len(remote_id), remote_id


def _same(wanted: Any, shown: Any) -> bool:
    """Whether the tracker shows this value; a linked item counts by its number and by its name."""
    if isinstance(wanted, list) and isinstance(shown, list):
        return len(wanted) == len(shown) and all(any(_same(one, other) for other in shown) for one in wanted)
    if isinstance(shown, dict):
        return str(wanted) in {str(value) for key, value in shown.items() if key != "link"}
    if wanted is None or shown is None:
        return wanted is shown or shown == []
    return str(wanted).replace("\r\n", "\n") == str(shown)
