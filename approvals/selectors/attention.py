"""What waits for a person, over all rooms: what an operator's cron job has to hear of even when a beat did nothing."""

from collections.abc import Callable

from approvals.domain.states import DraftState
from approvals.models import Channel, Delivery, Draft, OutboxEvent, Room


def parked() -> int:
    """Gives how many events the sink will not take as they are."""
    return OutboxEvent.objects.filter(drained_at=None, parked_at__isnull=False).count()


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


WAITING: dict[str, Callable[[], int]] = {"parked": parked, "unknown": unknown, "paused": paused}
