"""What an operator does to the outbox: send again what waits, and clear away what the sink has had for long.

Both are recorded in the system chain. Neither touches what a sink has been told, nor the audit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import UUID

from django.db.models import Q, QuerySet

from approvals.domain.actor import Actor
from approvals.domain.errors import NotFound, WrongState
from approvals.models import OutboxEvent
from approvals.permissions import Verb, require
from approvals.selectors import outbox
from approvals.services import audit, door, sink_state
from approvals.services.door import Clock

PURGED_AT_ONCE = 1000
"""Rows per transaction: others write between, and a kill loses no more work than this."""


@dataclass(frozen=True, slots=True)
class Which:
    """What to requeue: one event, a class, or neither: all that is parked."""

    event_id: UUID | None = None
    event_class: OutboxEvent.EventClass | None = None

    def __str__(self) -> str:
        if self.event_id is not None:
            return f"event {self.event_id}"
        return f"class {self.event_class.value}" if self.event_class is not None else "all parked"


def requeueable(which: Which, now: datetime) -> QuerySet[OutboxEvent]:
    """Gives what `requeue` would make due. Raises NotFound or WrongState for a single event that cannot be."""
    if which.event_id is not None:
        event = OutboxEvent.objects.filter(event_id=which.event_id).first()
        if event is None:
            raise NotFound(f"There is no event {which.event_id} in the outbox.")
        if event.drained_at is not None:
            raise WrongState(f"The sink has event {which.event_id} since {event.drained_at:%Y-%m-%d %H:%M} UTC.")
        return outbox.undrained().filter(pk=event.pk)
    if which.event_class is not None:
        return outbox.waiting_for(now).filter(event_class=which.event_class)
    return outbox.parked()


def requeue(*, actor: Actor, clock: Clock, which: Which) -> int:
    """Makes events due at once, as if they had never failed, and gives how many; a closed sink is probed at once.

    Their order within an approval stays: what is behind a parked event still waits for it.
    """

    def body() -> int:
        now = clock()
        require(actor, Verb.WORK)
        found = requeueable(which, now).update(next_attempt_at=now, attempts=0, parked_at=None)
        sink_state.probe_now(now)
        if found:
            facts = {"which": str(which), "count": found}
            audit.append(chain=audit.SYSTEM_CHAIN, actor=actor, action="outbox.requeued", now=now, details=facts)
        return found

    return door.run(body, actor=actor, verb=Verb.WORK)


def purgeable(before: datetime) -> QuerySet[OutboxEvent]:
    """Gives what the sink has had since before a time and nothing needs any more.

    Where heartbeats are sent, what none of them has counted yet is kept: or it would be missing from their sums.
    """
    old = OutboxEvent.objects.filter(drained_at__lt=before)
    is_heartbeat = Q(event_class=OutboxEvent.EventClass.HEARTBEAT)
    is_counted = Q(counted_in__isnull=False)
    if not OutboxEvent.objects.filter(is_heartbeat | is_counted).exists():
        return old
    return old.filter(is_heartbeat | is_counted)


def purge(
    *,
    actor: Actor,
    clock: Clock,
    before: datetime,
    progress: Callable[[int], None] = lambda count: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> int:
    """Deletes what is purgeable, a thousand rows at a time, the oldest first. Gives how many; may be repeated."""
    total, position, rows = 0, 0, purgeable(before)
    while not should_stop():
        after = rows.filter(id__gt=position).order_by("id")
        ids = door.run(partial(_purge_some, actor, clock, after, before), actor=actor, verb=Verb.WORK)
        if not ids:
            break
        total, position = total + len(ids), ids[-1]
        progress(len(ids))
    return total


def _purge_some(actor: Actor, clock: Clock, rows: QuerySet[OutboxEvent], before: datetime) -> list[int]:
    """Deletes one batch, and says so in the same transaction."""
    now = clock()
    require(actor, Verb.WORK)
    ids = list(rows.values_list("id", flat=True)[:PURGED_AT_ONCE])
    if ids:
        OutboxEvent.objects.filter(pk__in=ids).delete()
        facts = {"before": audit.stamp(before), "count": len(ids), "first_id": ids[0], "last_id": ids[-1]}
        audit.append(chain=audit.SYSTEM_CHAIN, actor=actor, action="outbox.purged", now=now, details=facts)
    return ids
