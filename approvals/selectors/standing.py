"""What stands at a target: the newest reading of it, and the newest change that this service made there."""

from approvals.domain.states import DeliveryState
from approvals.models import Delivery, Target, TargetReading


def reading_of(target: Target) -> TargetReading | None:
    """Gives what was read there last; None if nobody ever asked."""
    return TargetReading.objects.filter(target=target).first()


def newest_change(target: Target) -> Delivery | None:
    """Gives the newest delivery that changed a target, a write or an undoing, of whichever room."""
    delivered = Delivery.objects.filter(target=target, state=DeliveryState.DELIVERED, delivered_at__isnull=False)
    return delivered.select_related("draft__room").order_by("-delivered_at").first()
