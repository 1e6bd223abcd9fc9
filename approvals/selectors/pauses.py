"""Why nothing leaves a room or a channel: since when, who paused it, and what the remote had said if a worker did."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from approvals.models import Attempt, AuditEvent, Channel, Room

DISPATCHER = "dispatch_approved"


@dataclass(frozen=True, slots=True)
class Pause:
    """`by` is an audit label (`person:max`, `system:...`); `evidence` is of the attempt that made a worker pause."""

    at: datetime
    reason: str
    by: str
    evidence: Any = None

    @property
    def is_automatic(self) -> bool:
        """True if a worker paused it because the remote did not let it in; commands are systems too."""
        return self.by == f"system:{DISPATCHER}"


def of_room(room: Room) -> Pause | None:
    """Gives the pause of a room, or None while it may send."""
    if room.paused_at is None:
        return None
    return Pause(room.paused_at, room.paused_reason, _by(room.pk, "room.paused", room.paused_at))


def of_channel(channel: Channel) -> Pause | None:
    """Gives the pause of a channel by itself; its room may be paused besides."""
    if channel.paused_at is None:
        return None
    by = _by(channel.room_id, "channel.paused", channel.paused_at)
    paused_it = Attempt.objects.filter(
        delivery__draft__channel=channel, finished_at=channel.paused_at, outcome=Attempt.Outcome.NOT_SENT
    )
    return Pause(channel.paused_at, channel.paused_reason, by, paused_it.values_list("evidence", flat=True).first())


def _by(room_id: int, action: str, at: datetime) -> str:
    """Gives who did it, from the room's history: pause and event are written at one moment."""
    events = AuditEvent.objects.filter(chain__key=f"room:{room_id}", action=action, at=at).order_by("-id")
    return events.values_list("actor", flat=True).first() or ""
