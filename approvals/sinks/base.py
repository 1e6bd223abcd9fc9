"""What an audit sink is, what it may answer, and what whoever makes one is given."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self
from uuid import UUID

from approvals.connectors.base import Deadline
from approvals.connectors.outbound import Outbound


class SinkError(ValueError):
    """REVIEWROOM_AUDIT_SINK, or a setting that goes with it, cannot be used."""


@dataclass(frozen=True)
class SinkAnswer:
    """What became of one event. At most one of the flags is true."""

    ok: bool = False  # taken, durably
    retry: bool = False  # try this event again later
    pause: bool = False  # the sink takes nothing now: probe it, one event at a time
    park: bool = False  # the sink will never take this event as it is
    reason: str = ""  # one sentence for an operator
    retry_after_seconds: float | None = None


class Sink(ABC):
    """Takes events, at least once each: whoever reads it drops repetitions by event id.

    Enter it (`async with`) to keep connections and files open over many events. `post` may be called many times at
    once; it never raises for what the other side did.
    """

    @abstractmethod
    async def post(self, event_id: UUID, payload: bytes, deadline: Deadline) -> SinkAnswer:
        """Hand over the stored bytes as they are."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        return None


@dataclass(frozen=True)
class Options:
    """Everything the settings say about the sink; a kind of sink takes what it knows and refuses what it cannot do."""

    url: str
    outbound: Outbound
    token: str = field(default="", repr=False)  # REVIEWROOM_AUDIT_TOKEN
    signing_secret: str = field(default="", repr=False)  # REVIEWROOM_AUDIT_SIGNING_SECRET
    gzip: bool = False  # REVIEWROOM_AUDIT_GZIP
    rotate: str = ""  # REVIEWROOM_AUDIT_ROTATE
    connections: int = 64  # no more posts than this run at once


Factory = Callable[[Options], Sink]
"""What an entry point of `reviewroom.sinks` names: makes the sink for its scheme, or raises SinkError."""
