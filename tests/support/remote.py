"""A connector whose remote is a script: tests say what it answers and read what it was asked."""

import json
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

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
from approvals.domain.binding import Binding

DELIVERED = Receipt(Outcome.DELIVERED, "Created.", remote_id="issue42")
REFUSED = Receipt(Outcome.REFUSED, "The remote refused it (422).")
NOT_SENT = Receipt(Outcome.NOT_SENT, "The name could not be resolved.")
UNKNOWN = Receipt(Outcome.UNKNOWN, "The connection was lost after the request left.")
LOCKED_OUT = Receipt(Outcome.NOT_SENT, "The remote refused the credentials (401).", pause=True)
FOUND = Lookup(Sighting.FOUND, "It is there.", remote_id="issue42")
ABSENT = Lookup(Sighting.ABSENT, "It is not there.")
UNSEEN = Lookup(Sighting.UNKNOWN, "The remote answered 500.")
EQUAL = Verification(Match.EQUAL, "It reads back equal.")
DIFFERS = Verification(Match.DIFFERS, "The body differs.")
GONE = Verification(Match.GONE, "The remote answered 404.")
UNREADABLE = Verification(Match.UNKNOWN, "The remote answered 500.")
ACCEPTED = Receipt(Outcome.DELIVERED, "The remote accepted it (204).")


CAPABILITIES = ["lookup", "verify"]
"""What the scripted connector can do unless its channel's config says otherwise."""


@dataclass
class Remote:
    """What the remote will answer, and what it was sent."""

    receipts: list[Receipt] = field(default_factory=list)
    lookups: list[Lookup] = field(default_factory=list)
    verifications: list[Verification] = field(default_factory=list)
    retractions: list[Receipt] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)
    sent: list[Job] = field(default_factory=list)
    retracted: list[Job] = field(default_factory=list)
    read: list[Job] = field(default_factory=list)
    looked_up: list[Job] = field(default_factory=list)
    flavour: str = "1"  # changes the rendering, as an upgraded connector would


class FakeConnector(Connector):
    """Renders the payload as it is; its capabilities stand in the channel's config."""

    name = "fake"
    config_schema: dict[str, Any] = {}
    operation_schema: dict[str, Any] = {}

    def __init__(self, remote: Remote) -> None:
        self.remote = remote

    def capabilities(self, settings: Settings, operation: str) -> frozenset[Capability]:
        found = {Capability(name) for name in settings.config.get("capabilities", CAPABILITIES)}
        return frozenset(found | ({Capability.IDEMPOTENCY_KEY} if settings.idempotent else set()))

    def check(self, settings: Settings) -> None:
        json.dumps(settings.config)

    def urls(self, settings: Settings) -> list[tuple[str, str]]:
        return [("/config/base_url", settings.config["base_url"])] if "base_url" in settings.config else []

    def render(self, binding: Binding, delivery_id: UUID, settings: Settings) -> Request:
        headers = (("Idempotency-Key", str(delivery_id)), ("X-Flavour", self.remote.flavour))
        return Request("POST", f"https://remote.test/{binding.target.resource}", headers, binding.payload_bytes)

    async def send(self, job: Job, deadline: Deadline) -> Receipt:
        self.remote.sent.append(job)
        return self.remote.receipts.pop(0) if self.remote.receipts else DELIVERED

    async def lookup(self, job: Job, deadline: Deadline) -> Lookup:
        self.remote.looked_up.append(job)
        return self.remote.lookups.pop(0) if self.remote.lookups else UNSEEN

    async def verify(self, job: Job, deadline: Deadline) -> Verification:
        return self.remote.verifications.pop(0) if self.remote.verifications else EQUAL

    async def read(self, job: Job, deadline: Deadline) -> Reading:
        self.remote.read.append(job)
        return self.remote.readings.pop(0) if self.remote.readings else await super().read(job, deadline)

    async def retract(self, job: Job, deadline: Deadline) -> Receipt:
        self.remote.retracted.append(job)
        return self.remote.retractions.pop(0) if self.remote.retractions else ACCEPTED
