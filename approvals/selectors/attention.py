"""What waits for a person, over all rooms: what an operator's cron job has to hear of even when a beat did nothing."""

from collections.abc import Callable

from approvals.domain.states import DeliveryState
from approvals.models import Channel, Delivery, OutboxEvent, Room


def parked() -> int:
    """Gives how many events the sink will not take as they are."""
    return OutboxEvent.objects.filter(drained_at=None, parked_at__isnull=False).count()


def unknown() -> int:
    """Gives how many deliveries nobody knows the outcome of, or that late evidence holds."""
    deliveries = Delivery.objects.filter(state=DeliveryState.UNKNOWN)
    return (deliveries | Delivery.objects.filter(held_at__isnull=False)).count()


def paused() -> int:
    """Gives how many rooms and channels in use are paused."""
    channels = Channel.objects.filter(paused_at__isnull=False, retired_at=None)
    return Room.objects.filter(paused_at__isnull=False).count() + channels.count()


WAITING: dict[str, Callable[[], int]] = {"parked": parked, "unknown": unknown, "paused": paused}
