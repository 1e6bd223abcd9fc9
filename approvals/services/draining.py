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
PROBED_AGAIN_AFTER = timedelta(minutes=1)
LOCKED_OUT = "The sink takes nothing from us. "
"""Begins the last error of an event that found a sink closed to all. While there is one, single events probe."""


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
    return undrained.filter(_free(now), ~Exists(earlier), next_attempt_at__lte=now).order_by("id")


def take(*, clock: door.Clock, owner: str, limit: int, lease: timedelta) -> list[Taken]:
    """Takes up to `limit` due events for `owner`, each by a conditional write; of a closed sink one at a time."""
    now = clock()
    taken = []
    for event in _open_to(now, limit):
        mine = OutboxEvent.objects.filter(_free(now), pk=event.pk, drained_at=None)
        if mine.update(claimed_by=owner, claimed_until=now + lease):
            parked = event.parked_at is not None
            taken.append(Taken(event.pk, event.event_id, event.payload.encode(), event.attempts, parked))
    return taken


def give_back(events: list[Taken], *, owner: str) -> None:
    """Lets events go that were taken and not posted."""
    mine = OutboxEvent.objects.filter(pk__in=[event.id for event in events], claimed_by=owner)
    mine.update(claimed_by="", claimed_until=None)


def mark_drained(ids: list[int], *, clock: door.Clock) -> None:
    """Notes that the sink has these events."""
    now = clock()
    for start in range(0, len(ids), MARK_AT_MOST):
        some = OutboxEvent.objects.filter(pk__in=ids[start : start + MARK_AT_MOST], drained_at=None)
        some.update(drained_at=now, claimed_by="", claimed_until=None, parked_at=None, last_error="")
    if ids:
        _locked_out().update(next_attempt_at=now, last_error="")


def mark_failed(event: Taken, *, clock: door.Clock, reason: str, wait: timedelta, park: bool = False) -> None:
    """Notes why the sink did not take an event and when it is tried again."""
    now = clock()
    again = PARKED_AGAIN_AFTER if park else wait
    _note(event, next_attempt_at=now + again, last_error=reason[:500], parked_at=now if park else None)


def mark_locked_out(event: Taken, *, clock: door.Clock, reason: str) -> None:
    """Notes that the sink is closed to all, so that no more than a probe a minute knocks until it takes one."""
    now = clock()
    _note(event, next_attempt_at=now + PROBED_AGAIN_AFTER, last_error=f"{LOCKED_OUT}{reason}"[:500])


def _open_to(now: datetime, limit: int) -> QuerySet[OutboxEvent]:
    locked_out = _locked_out()
    if not locked_out.exists():
        return due(now)[:limit]
    if locked_out.filter(Q(next_attempt_at__gt=now) | Q(claimed_until__gt=now)).exists():
        return OutboxEvent.objects.none()
    return due(now).filter(last_error__startswith=LOCKED_OUT)[: min(limit, 1)]


def _locked_out() -> QuerySet[OutboxEvent]:
    return OutboxEvent.objects.filter(drained_at=None, last_error__startswith=LOCKED_OUT)


def _free(now: datetime) -> Q:
    return Q(claimed_until=None) | Q(claimed_until__lte=now)


def _note(event: Taken, **values: object) -> None:
    undrained = OutboxEvent.objects.filter(pk=event.id, drained_at=None)
    undrained.update(attempts=event.attempts + 1, claimed_by="", claimed_until=None, **values)
