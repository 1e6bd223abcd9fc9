"""Heartbeats: which cadence slot it is, whether its heartbeat is due, and since when one is missing."""

from datetime import UTC, datetime, timedelta

from django.conf import settings

from approvals.models import AuditEvent, Heartbeat
from approvals.models.clock import database_now

LATE_AFTER = timedelta(seconds=30)
"""What a worker may need beyond a slot's beginning; never longer than the cadence itself."""


def cadence() -> timedelta:
    return timedelta(seconds=settings.REVIEWROOM_HEARTBEAT_SECONDS)


def slot_at(now: datetime) -> datetime:
    """Gives when the cadence slot of this moment began: whole cadences since 1970, the same for every worker."""
    seconds = settings.REVIEWROOM_HEARTBEAT_SECONDS
    return datetime.fromtimestamp(int(now.timestamp()) // seconds * seconds, UTC)


def newest() -> Heartbeat | None:
    return Heartbeat.objects.order_by("-number").first()


def is_due(last: Heartbeat | None, now: datetime) -> bool:
    """True if this slot has no heartbeat yet, or if the last one said that more follows."""
    return last is None or last.has_more or last.slot_at < slot_at(now)


def missing_since(now: datetime) -> datetime | None:
    """Gives when the oldest heartbeat that is missing was due; None while the cadence is kept.

    Before the first heartbeat, the first event of the history is what it has been due since.
    """
    last = newest()
    if last is not None:
        due = last.slot_at + cadence()
    else:
        first = AuditEvent.objects.order_by("id").first()
        if first is None:
            return None
        due = first.at
    return due if now >= due + min(LATE_AFTER, cadence()) else None


def missing(now: datetime | None = None) -> int:
    """Gives how many cadence slots in a row have no heartbeat, the present one included once it is late."""
    now = now or database_now()
    since = missing_since(now)
    return (now - since) // cadence() + 1 if since else 0
