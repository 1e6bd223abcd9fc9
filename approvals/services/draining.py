"""The outbox's bookkeeping: who posts which event now, and what became of it. At least once, in order per approval.

Undrained is `drained_at IS NULL`, never a high-water mark: a lower id can commit later than a higher one.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from approvals.models import OutboxEvent
from approvals.services import door

MARK_AT_MOST = 100
"""Rows per update of `drained_at`: a kill right before it repeats no more posts than this."""
PARKED_AGAIN_AFTER = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Taken:
    """One event in hand, under a lease in its row: never under a row lock, for a sink may hang."""

    id: int
    event_id: UUID
    payload: bytes
    attempts: int
    is_parked: bool


def due(now: datetime) -> QuerySet[OutboxEvent]:
    """Gives the lowest undrained event of each approval, if its time has come and nobody has it; oldest first."""
    undrained = OutboxEvent.objects.filter(drained_at=None)
    earlier = undrained.filter(approval=OuterRef("approval"), id__lt=OuterRef("id"))
    free = Q(claimed_until=None) | Q(claimed_until__lte=now)
    return undrained.filter(free, ~Exists(earlier), next_attempt_at__lte=now).order_by("id")


def take(*, clock: door.Clock, owner: str, limit: int, lease: timedelta) -> list[Taken]:
    """Takes up to `limit` due events for `owner`, each by a conditional write."""
    now = clock()
    free = Q(claimed_until=None) | Q(claimed_until__lte=now)
    taken = []
    for event in due(now)[:limit]:
        mine = OutboxEvent.objects.filter(free, pk=event.pk, drained_at=None)
        if mine.update(claimed_by=owner, claimed_until=now + lease):
            parked = event.parked_at is not None
            taken.append(Taken(event.pk, event.event_id, event.payload.encode(), event.attempts, parked))
    return taken


def mark_drained(ids: list[int], *, clock: door.Clock) -> None:
    """Notes that the sink has these events."""
    now = clock()
    for start in range(0, len(ids), MARK_AT_MOST):
        some = OutboxEvent.objects.filter(pk__in=ids[start : start + MARK_AT_MOST], drained_at=None)
        some.update(drained_at=now, claimed_by="", claimed_until=None, parked_at=None, last_error="")


def mark_failed(event: Taken, *, clock: door.Clock, reason: str, wait: timedelta, park: bool = False) -> None:
    """Notes why the sink did not take an event and when it is tried again."""
    now = clock()
    OutboxEvent.objects.filter(pk=event.id, drained_at=None).update(
        attempts=event.attempts + 1,
        next_attempt_at=now + (PARKED_AGAIN_AFTER if park else wait),
        last_error=reason[:500],
        parked_at=now if park else None,
        claimed_by="",
        claimed_until=None,
    )
