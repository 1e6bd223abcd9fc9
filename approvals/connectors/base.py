"""What a connector is: the data it gets, the answers it may give, and the verbs it has."""

import base64
import hashlib
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from uuid import UUID

import rfc8785

from approvals.domain.binding import Binding

if TYPE_CHECKING:
    from approvals.connectors.outbound import Outbound


class ConfigError(Exception):
    """The channel's configuration cannot be used."""

    def __init__(self, pointer: str, message: str) -> None:
        super().__init__(message)
        self.pointer = pointer  # RFC 6901, into {"config": ..., "operations": ..., "secret": ...}
        self.message = message


class Capability(StrEnum):
    IDEMPOTENCY_KEY = "idempotency_key"
    LOOKUP = "lookup"
    VERIFY = "verify"
    RETRACT = "retract"
    CORRECT = "correct"


class Outcome(StrEnum):
    DELIVERED = "delivered"
    REFUSED = "refused"
    NOT_SENT = "not_sent"
    UNKNOWN = "unknown"


class Sighting(StrEnum):
    FOUND = "found"
    ABSENT = "absent"
    UNKNOWN = "unknown"


class Match(StrEnum):
    EQUAL = "equal"
    DIFFERS = "differs"
    GONE = "gone"
    UNKNOWN = "unknown"
    IMPOSSIBLE = "impossible"


@dataclass(frozen=True)
class Settings:
    """One immutable channel configuration as plain data."""

    connector: str
    account: str
    secret: str = ""  # the name of a secret, never its value
    idempotent: bool = False  # the receiver dedupes on the delivery id
    concurrency: str = "exclusive"
    resource: str = ""  # the channel's only resource, or else
    resource_pattern: str = ""  # what drafts may name
    config: dict[str, Any] = field(default_factory=dict)
    operations: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Receipt:
    """What one attempt to write or to retract came to."""

    outcome: Outcome
    reason: str  # one sentence for a person
    remote_id: str | None = None
    evidence: dict[str, Any] = field(default_factory=dict)  # JSON, secrets already taken out
    pause: bool = False  # nothing more may leave by this channel until a person resumes it
    retry_after_seconds: float | None = None
    spent: bool = False  # what `prepare` gave is used up: the next attempt starts with an empty `prepared`


@dataclass(frozen=True)
class Lookup:
    """Whether the remote holds the object of a delivery id."""

    sighting: Sighting
    reason: str
    remote_id: str | None = None
    evidence: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Verification:
    """Whether the remote shows what was approved."""

    match: Match
    reason: str
    evidence: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Reading:
    """What stands at a target now, for reviewers to see beside a draft that would replace it."""

    known: bool  # False: the remote did not say, or this connector cannot ask
    reason: str
    content: dict[str, Any] | None = None  # known and None: nothing stands there
    evidence: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Request:
    """One outgoing HTTP request as it is shown to reviewers: complete but for secrets and time stamps."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    secret: str = ""  # the name of the secret that authenticates it

    @property
    def digest(self) -> str:
        """`sha256:<hex>` over everything above."""
        content = {
            "method": self.method,
            "url": self.url,
            "headers": [list(header) for header in self.headers],
            "body": base64.b64encode(self.body).decode(),
            "secret": self.secret,
        }
        return "sha256:" + hashlib.sha256(rfc8785.dumps(content)).hexdigest()


@dataclass
class Job:
    """Everything a network call may know about the delivery it serves.

    Of a retraction all but `retraction_id` speaks of the write that is to be undone.
    """

    request: Request
    binding: Binding
    delivery_id: UUID
    settings: Settings
    operation: str
    remote_id: str | None = None
    prepared: dict[str, Any] = field(default_factory=dict)  # what `prepare` gave for this or an earlier attempt
    retraction_id: UUID | None = None  # the id of the undoing itself: its idempotency key
    begun_at: datetime | None = None  # when the first attempt of the write began, by the database's clock (UTC)


def boottime() -> float:
    """Seconds since boot, counting the time the machine or its container was suspended."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


@dataclass(frozen=True)
class Deadline:
    """How long a call may take, and until when its first byte may leave."""

    seconds: float
    send_by: float | None = None  # an instant of `clock`; None where nothing is written
    clock: Callable[[], float] = boottime

    def since(self, begun: float) -> "Deadline":
        """What is left of the same deadline for a second call, when the first began at this instant of `clock`."""
        return replace(self, seconds=max(self.seconds - (self.clock() - begun), 0.0))

    @property
    def too_late(self) -> bool:
        return self.send_by is not None and self.clock() >= self.send_by


class Connector(ABC):
    """A way to one kind of remote. It holds no state but its outbound client."""

    name: str
    config_schema: dict[str, Any]  # JSON Schema of Settings.config
    operation_schema: dict[str, Any]  # JSON Schema of each value of Settings.operations

    def __init__(self, outbound: "Outbound") -> None:
        self.outbound = outbound

    @abstractmethod
    def capabilities(self, settings: Settings, operation: str) -> frozenset[Capability]:
        """What can be done for this operation of this channel."""

    @abstractmethod
    def check(self, settings: Settings) -> None:
        """Raise ConfigError at the first fault. Touches no network, so it may run in a transaction."""

    @abstractmethod
    def urls(self, settings: Settings) -> list[tuple[str, str]]:
        """(pointer, URL) of everything the channel would call; placeholders not filled."""

    async def check_names(self, settings: Settings) -> None:
        """Raise ConfigError if a host name resolves to a forbidden address. Outside transactions only."""
        for pointer, url in self.urls(settings):
            await self.outbound.check_name(pointer, url)

    @abstractmethod
    def render(self, binding: Binding, delivery_id: UUID, settings: Settings) -> Request:
        """The request that would go out. Pure: the same arguments give the same request."""

    async def prepare(self, job: Job, deadline: Deadline) -> dict[str, Any] | Receipt:
        """What `send` needs beyond the request, to be stored before sending; a Receipt ends the attempt."""
        return {}

    @abstractmethod
    async def send(self, job: Job, deadline: Deadline) -> Receipt:
        """Write once."""

    @abstractmethod
    async def lookup(self, job: Job, deadline: Deadline) -> Lookup:
        """Search the remote for the delivery id."""

    @abstractmethod
    async def verify(self, job: Job, deadline: Deadline) -> Verification:
        """Read `job.remote_id` back and compare it with the binding."""

    async def read(self, job: Job, deadline: Deadline) -> Reading:
        """What stands at the target now, whoever wrote it. `job.remote_id` is the newest object known to be there."""
        return Reading(False, "This connector cannot read what stands at a target.")

    @abstractmethod
    async def retract(self, job: Job, deadline: Deadline) -> Receipt:
        """Ask the remote to undo `job.remote_id`; only a read-back proves that it did."""
