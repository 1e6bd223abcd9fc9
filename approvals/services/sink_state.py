"""The sink as a whole: closed to all and probed, or open; and on SQLite, who may drain.

SQLite has no way to skip what another process is taking, so there one process drains at a time, under a lease that
ends by itself if the process dies. On PostgreSQL the leases in the rows are enough.
"""

from datetime import datetime, timedelta

from django.db import connection
from django.db.models import Q

from approvals.models import SinkState
from approvals.services import door

PROBED_AGAIN_AFTER = timedelta(minutes=1)


def is_closed() -> bool:
    """True while the sink takes nothing from us."""
    return SinkState.objects.filter(closed_at__isnull=False).exists()


def may_probe(now: datetime) -> bool:
    """Claims the one probe of a minute: True for whoever may post one event to a closed sink now."""
    due = SinkState.objects.filter(closed_at__isnull=False, probe_at__lte=now)
    return bool(due.update(probe_at=now + PROBED_AGAIN_AFTER))


def close(*, now: datetime, reason: str) -> None:
    """Notes that the sink is closed, since when and why. What is closed already keeps its time of the next probe."""
    _row()
    SinkState.objects.filter(closed_at=None).update(closed_at=now, probe_at=now + PROBED_AGAIN_AFTER)
    SinkState.objects.update(closed_reason=reason[:500])


def open_again() -> bool:
    """Notes that the sink took an event. True if it was closed until now."""
    closed = SinkState.objects.filter(closed_at__isnull=False)
    return bool(closed.update(closed_at=None, closed_reason="", probe_at=None))


def probe_now(now: datetime) -> None:
    """Lets a closed sink be probed at once, after somebody has mended what closed it."""
    SinkState.objects.filter(closed_at__isnull=False).update(probe_at=now)


def lease(*, owner: str, clock: door.Clock, duration: timedelta) -> bool:
    """Takes or renews the right to drain. Always True on PostgreSQL, where many may."""
    if connection.vendor == "postgresql":
        return True
    _row()
    now = clock()
    free = Q(drained_until=None) | Q(drained_until__lte=now) | Q(drained_by=owner)
    return bool(SinkState.objects.filter(free).update(drained_by=owner, drained_until=now + duration))


def release(*, owner: str) -> None:
    """Gives the right to drain back."""
    if connection.vendor != "postgresql":
        SinkState.objects.filter(drained_by=owner).update(drained_by="", drained_until=None)


def holder() -> str:
    """Gives who drains, for a message."""
    return SinkState.objects.values_list("drained_by", flat=True).first() or "nobody"


def _row() -> None:
    SinkState.objects.get_or_create(id=1)
