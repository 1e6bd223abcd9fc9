"""The connector itself: see the package."""

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote
from uuid import UUID

import rfc8785

from approvals.connectors import checks
from approvals.connectors.answers import Answer, Response
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
from approvals.connectors.classify import retract_receipt
from approvals.connectors.outbound import MAX_READ_BYTES
from approvals.connectors.roundup import unlisted
from approvals.connectors.roundup.answers import (
    between_links,
    collection,
    data,
    unprepared,
    unread,
    unreadable,
    written,
)
from approvals.connectors.roundup.channel import NAME, authorize, base, class_url, headers, id_property
from approvals.connectors.roundup.issues import is_number, number, properties_of, same
from approvals.connectors.roundup.unlisted import Seen
from approvals.domain import pointer as pointers
from approvals.domain.binding import Binding
from approvals.domain.errors import InvalidPayload

LINK_LIFE = timedelta(hours=1)  # the most Roundup grants
CLOCK_MARGIN = timedelta(minutes=2)  # by which our clock and the tracker's may run apart in that hour


class RoundupConnector(Connector):
    """See the module. `resource` is the tracker's class, normally `issue`."""

    name = "roundup"
    config_schema = {
        "type": "object",
        "properties": {
            "base_url": {"type": "string", "minLength": 1},  # ends in /rest/data
            "web_url": {"type": "string", "minLength": 1},  # the tracker's own idea of its address, if it differs
            "id_property": {"type": "string", "pattern": f"^{NAME.pattern}$"},
            "properties": {
                "type": "object",
                "additionalProperties": {"type": "string", "pattern": f"^{NAME.pattern}$"},
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
        if "web_url" not in settings.config and not base(settings).endswith("/rest/data"):
            raise ConfigError("/config/base_url", "It has to end in /rest/data; else set web_url as well.")

    def urls(self, settings: Settings) -> list[tuple[str, str]]:
        return [("/config/base_url", settings.config["base_url"])]

    def render(self, binding: Binding, delivery_id: UUID, settings: Settings) -> Request:
        """The creation itself. Before it is sent, its URL is replaced by a link that works only once."""
        if not NAME.fullmatch(binding.target.resource):
            raise InvalidPayload("The resource has to be a class of the tracker, like issue.", pointer="/resource")
        properties = properties_of(binding.payload, settings)
        properties[id_property(settings)] = str(delivery_id)
        fields = (("Content-Type", "application/json"), *headers(settings))
        return Request("POST", class_url(binding, settings), fields, rfc8785.dumps(properties), settings.secret)

    async def prepare(self, job: Job, deadline: Deadline) -> dict[str, Any] | Receipt:
        """A post-once-exactly link, or the earlier one while it may live: two copies of a send can use it once."""
        if "url" in job.prepared:
            age = self.outbound.now() - datetime.fromisoformat(job.prepared["fetched_at"])
            if abs(age) < LINK_LIFE - CLOCK_MARGIN:
                return job.prepared
            if abs(age) < LINK_LIFE + CLOCK_MARGIN:
                return between_links(LINK_LIFE + CLOCK_MARGIN - abs(age))
        answer = await self.outbound.call(
            "POST",
            f"{job.request.url}/@poe",
            deadline,
            headers=job.request.headers,
            body=rfc8785.dumps({"lifetime": int(LINK_LIFE.total_seconds())}),
            secret=job.request.secret,
            sign=authorize,
        )
        try:
            token = str(data(answer)["link"]).rpartition("/@poe/")[2]
            # Only the token is taken: a link to another host must not get the password.
            url = f"{job.request.url}/@poe/{quote(token, safe='')}"
        except (LookupError, TypeError, ValueError):
            return unprepared(answer, self.outbound.now())
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
            sign=authorize,
        )
        return written(answer, self.outbound.now())

    async def lookup(self, job: Job, deadline: Deadline) -> Lookup:
        """Search by delivery id, then among the issues of that time that no search lists."""
        begun = deadline.clock()
        wanted = id_property(job.settings)
        answer = await self._get(job, deadline, f"?{wanted}={job.delivery_id}&@fields={wanted}")
        try:
            listed = [(item["id"], item[wanted]) for item in collection(answer)]
        except (LookupError, TypeError, ValueError) as exc:
            return Lookup(Sighting.UNKNOWN, unreadable(answer, exc), evidence=answer.evidence)
        found = sorted((str(remote_id) for remote_id, value in listed if value == str(job.delivery_id)), key=number)
        if not found:
            return await self._among_unlisted(job, deadline.since(begun), answer)
        reason = f"The tracker has it as {', '.join(found)}."
        return Lookup(Sighting.FOUND, reason, found[0], answer.evidence)

    async def verify(self, job: Job, deadline: Deadline) -> Verification:
        if not is_number(job.remote_id):
            return Verification(Match.IMPOSSIBLE, "No issue number is known.")
        begun = deadline.clock()
        wanted = properties_of(job.binding.payload, job.settings)
        fields = ",".join(sorted({*wanted, "title"}))
        answer = await self._get(job, deadline, f"?id={job.remote_id}&@fields={fields}&@verbose=2")
        try:
            shown = [item for item in collection(answer) if str(item["id"]) == job.remote_id]
            differing = sorted(key for item in shown for key in wanted if not same(wanted[key], item[key]))
        except (LookupError, TypeError, ValueError) as exc:
            return Verification(Match.UNKNOWN, unreadable(answer, exc), answer.evidence)
        if not shown:
            return await self._unlisted(job, deadline.since(begun))
        if differing:
            reason = f"The tracker shows another {', '.join(differing)} than was approved."
            return Verification(Match.DIFFERS, reason, answer.evidence)
        return Verification(Match.EQUAL, "The tracker shows what was approved.", answer.evidence)

    async def retract(self, job: Job, deadline: Deadline) -> Receipt:
        """Retire the issue. Roundup wants to hear the version it is to retire, so it is read first."""
        if not is_number(job.remote_id):
            return Receipt(Outcome.REFUSED, "Nothing was sent: no issue number is known.")
        begun = deadline.clock()
        current = await self._get(job, deadline, f"/{job.remote_id}?@fields=title")
        if not isinstance(current, Response) or current.status != 200:
            return unread(current, self.outbound.now())
        answer = await self.outbound.call(
            "DELETE",
            f"{class_url(job.binding, job.settings)}/{job.remote_id}",
            deadline.since(begun),
            headers=(*headers(job.settings), ("If-Match", current.headers.get("etag", ""))),
            secret=job.settings.secret,
            sign=authorize,
        )
        receipt = retract_receipt(answer, now=self.outbound.now())
        if isinstance(answer, Response) and answer.status == 412:
            return Receipt(Outcome.NOT_SENT, "The issue was changed at this moment.", evidence=receipt.evidence)
        return receipt

    async def _among_unlisted(self, job: Job, deadline: Deadline, searched: Answer) -> Lookup:
        """A retired issue is in no search but still answers by its number; absent only if none of them is ours."""
        begun = deadline.clock()
        newest = await self._get(job, deadline, unlisted.NEWEST)
        try:
            numbers = unlisted.numbers(collection(newest), job.begun_at)
        except (LookupError, TypeError, ValueError) as exc:
            return Lookup(Sighting.UNKNOWN, unreadable(newest, exc), evidence=newest.evidence)
        misses, wanted = 0, id_property(job.settings)
        for candidate in numbers:
            answer = await self._get(job, deadline.since(begun), f"/{candidate}?@fields={wanted}")
            seen = unlisted.read(answer, wanted, str(job.delivery_id))
            if seen is Seen.UNREADABLE:
                reason = f"Issue {candidate} is in no search and may be ours. {unreadable(answer, None)}"
                return Lookup(Sighting.UNKNOWN, reason, evidence=answer.evidence)
            if seen is Seen.OURS:
                reason = f"The tracker has it as {candidate}, which somebody retired."
                return Lookup(Sighting.FOUND, reason, str(candidate), answer.evidence)
            misses = misses + 1 if seen is Seen.NOTHING and candidate > numbers.newest else 0
            if misses == unlisted.MISSES:
                break
        return Lookup(Sighting.ABSENT, "The tracker has no issue with this delivery id.", None, searched.evidence)

    async def _unlisted(self, job: Job, deadline: Deadline) -> Verification:
        """An issue that no search lists is retired, or we may not see it."""
        answer = await self._get(job, deadline, f"/{job.remote_id}?@fields=title")
        if isinstance(answer, Response) and answer.status in (200, 404, 410):
            return Verification(Match.GONE, "The issue is retired or does not exist.", answer.evidence)
        return Verification(Match.UNKNOWN, unreadable(answer, None), answer.evidence)

    async def _get(self, job: Job, deadline: Deadline, rest: str) -> Answer:
        return await self.outbound.call(
            "GET",
            class_url(job.binding, job.settings) + rest,
            deadline,
            headers=headers(job.settings),
            secret=job.settings.secret,
            sign=authorize,
            limit=MAX_READ_BYTES,
        )
