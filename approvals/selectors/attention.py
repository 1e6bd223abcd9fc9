"""What waits for a person, over all rooms: what an operator's cron job has to hear of even when a beat did nothing."""

from collections.abc import Callable

from approvals.domain.states import DraftState
from approvals.models import Channel, Delivery, Draft, Room
from approvals.selectors import heartbeats, outbox


def parked() -> int:
    """Gives how many events the sink will not take as they are."""
    return outbox.parked().count()


def held() -> int:
    """Gives how many events wait behind a parked one of their approval."""
    return outbox.held().count()


def sink_closed() -> int:
    """Gives 1 while the sink takes nothing from us, whatever the event."""
    return int(outbox.sink_state().closed_at is not None)


def unknown() -> int:
    """Gives how many drafts nobody knows the outcome of, or that late evidence holds.

    A retraction counts until it reads back as gone: the remote's word alone proves nothing.
    """
    doubtful = Draft.objects.filter(state__in=(DraftState.DELIVERY_UNKNOWN, DraftState.RETRACTION_UNKNOWN))
    held = Draft.objects.filter(pk__in=Delivery.objects.filter(held_at__isnull=False).values("draft_id"))
    return (doubtful | held).count()


def paused() -> int:
    """Gives how many rooms and channels in use are paused."""
    channels = Channel.objects.filter(paused_at__isnull=False, retired_at=None)
    return Room.objects.filter(paused_at__isnull=False).count() + channels.count()


WAITING: dict[str, Callable[[], int]] = {
    "parked": parked,
    "held": held,
    "held_endings": outbox.held_endings,
    "sink_closed": sink_closed,
    "unknown": unknown,
    "paused": paused,
    "missing_heartbeats": heartbeats.missing,
}
