"""What an audit sink is and what it may answer."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self
from uuid import UUID

from approvals.connectors.base import Deadline


class SinkError(ValueError):
    """REVIEWROOM_AUDIT_SINK cannot be used."""


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

    Enter it (`async with`) to keep connections alive over many events.
    """

    @abstractmethod
    async def post(self, event_id: UUID, payload: bytes, deadline: Deadline) -> SinkAnswer:
        """Hand over the stored bytes as they are."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        return None
