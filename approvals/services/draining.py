"""The outbox's bookkeeping: who posts which event now, and what became of it. At least once, in order per approval.

Undrained is `drained_at IS NULL`, never a high-water mark: a lower id can commit later than a higher one. A lease in
the row says who has an event in hand; no row stays locked while a sink is slow. Everything is noted only for the
lease's holder: whoever lost it says nothing any more about what is in other hands.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import BigIntegerField, F, Func, OuterRef, Q, QuerySet, Subquery

from approvals.models import OutboxEvent
from approvals.services import door, sink_state

MARK_AT_MOST = 100
"""Rows per update of `drained_at`: a kill right before it repeats no more posts than this."""
PARKED_AGAIN_AFTER = timedelta(hours=1)
COLUMNS = ("id", "event_id", "approval_id", "payload", "attempts", "parked_at", "earlier")


@dataclass(frozen=True, slots=True)
class Taken:
    """One event in hand, under a lease in its row: never under a row lock, for a sink may hang."""

    id: int
    event_id: UUID
    approval_id: UUID | None
    payload: bytes
    attempts: int
    is_parked: bool


@dataclass(frozen=True, slots=True)
class Take:
    """What one look at the outbox gave: events in order, where to look on from, and whether that was the end."""

    events: list[Taken]
    position: int
    is_end: bool
    is_probe: bool = False  # of a sink that is closed to all


@dataclass(frozen=True, slots=True)
class Failed:
    """Why the sink did not take an event. `park`: it never will as it is; else it is tried again after `wait`."""

    event: Taken
    reason: str
    wait: timedelta = timedelta(0)
    park: bool = False


def due(now: datetime, *, after: int = 0) -> QuerySet[OutboxEvent]:
    """Gives what may be posted now, oldest first: behind no event of its approval that has to wait.

    `earlier` counts the undrained events of its approval before it: those have to be posted first.
    """
    before = OutboxEvent.objects.filter(drained_at=None, approval=OuterRef("approval"), id__lt=OuterRef("id"))
    free = OutboxEvent.objects.filter(_free(now), drained_at=None, next_attempt_at__lte=now, id__gt=after)
    waiting = _count(before.exclude(_free(now), next_attempt_at__lte=now))
    return free.annotate(waiting=waiting, earlier=_count(before)).filter(waiting=0).order_by("id")


def is_anything_due(*, clock: door.Clock) -> bool:
    """True if a beat would find something, or only a closed sink keeps it from that."""
    with transaction.atomic():
        _plain_plan()
        return due(clock()).exists()


def take(*, clock: door.Clock, owner: str, limit: int, lease: timedelta, after: int = 0) -> Take:
    """Takes up to `limit` due events with a higher id than `after` for `owner`, in two statements.

    Of one approval it takes the lowest undrained and the ones right behind it, never one whose predecessor is not
    taken as well. Of a closed sink it takes one event a minute, whatever `limit` and `after` say.
    """
    with transaction.atomic():
        _plain_plan()
        now = clock()
        probing = sink_state.is_closed()
        if probing and not sink_state.may_probe(now):
            return Take([], after, is_end=True)
        wanted = 1 if probing else limit
        rows = list(_locked(due(now, after=0 if probing else after)).values_list(*COLUMNS)[:wanted])
        taken = _in_order(rows)
        mine = OutboxEvent.objects.filter(pk__in=[event.id for event in taken])
        if taken:
            mine.update(claimed_by=owner, claimed_until=now + lease)
    return Take(taken, rows[-1][0] if rows else after, is_end=probing or len(rows) < wanted, is_probe=probing)


def give_back(events: list[Taken], *, owner: str) -> None:
    """Lets events go that were taken and not posted."""
    if events:
        _held_by(owner, events).update(claimed_by="", claimed_until=None)


def mark_drained(events: list[Taken], *, owner: str, clock: door.Clock) -> None:
    """Notes that the sink has these events, at most `MARK_AT_MOST` in one update."""
    if not events:
        return
    now = clock()
    for start in range(0, len(events), MARK_AT_MOST):
        _held_by(owner, events[start : start + MARK_AT_MOST]).update(
            drained_at=now, claimed_by="", claimed_until=None, parked_at=None, last_error=""
        )


def mark_failed(failed: list[Failed], *, owner: str, clock: door.Clock) -> None:
    """Notes why the sink did not take events and when each is tried again. What is parked stays so until it is taken.

    A failure that says nothing about a parked event (the sink is down) leaves it parked.
    """
    if not failed:
        return
    with transaction.atomic():
        now = clock()
        for one in failed:
            parked = {"parked_at": now} if one.park and not one.event.is_parked else {}
            wait = PARKED_AGAIN_AFTER if one.park or one.event.is_parked else one.wait
            _note(one.event, owner, next_attempt_at=now + wait, last_error=one.reason[:500], **parked)


def mark_locked_out(events: list[Taken], *, owner: str, clock: door.Clock, reason: str) -> None:
    """Notes that the sink is closed to all: says nothing about these events, which stay due for when it opens."""
    if not events:
        return
    with transaction.atomic():
        sink_state.close(now=clock(), reason=reason)
        _held_by(owner, events).update(claimed_by="", claimed_until=None, last_error=reason[:500])


def _in_order(rows: list[tuple[Any, ...]]) -> list[Taken]:
    """Drops each event with an earlier undrained one that is not in hand too: another process may just take that."""
    in_hand: Counter[UUID | None] = Counter()
    taken = []
    for number, event_id, approval_id, payload, attempts, parked_at, earlier in rows:
        if approval_id is None or earlier == in_hand[approval_id]:
            in_hand[approval_id] += 1
            taken.append(Taken(number, event_id, approval_id, payload.encode(), attempts, parked_at is not None))
    return taken


def _locked(rows: QuerySet[OutboxEvent]) -> QuerySet[OutboxEvent]:
    """Locks what is being taken until the lease is written; what another process locked is its own."""
    if connection.vendor != "postgresql":
        return rows  # the whole file is ours since BEGIN IMMEDIATE
    return rows.select_for_update(skip_locked=True, of=("self",))


def _plain_plan() -> None:
    """Keeps PostgreSQL from compiling the look for due events until the transaction ends.

    It expects to read the whole outbox and prepares for that, which takes fifty times as long as the look itself.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL jit = off")


def _count(rows: QuerySet[OutboxEvent]) -> Subquery:
    """Counts by a look at an index for each row: as a join it might be planned over the whole outbox."""
    number = Func(F("id"), function="COUNT", output_field=BigIntegerField())
    return Subquery(rows.order_by().annotate(number=number).values("number"))


def _free(now: datetime) -> Q:
    return Q(claimed_until=None) | Q(claimed_until__lte=now)


def _held_by(owner: str, events: list[Taken]) -> QuerySet[OutboxEvent]:
    return OutboxEvent.objects.filter(pk__in=[event.id for event in events], drained_at=None, claimed_by=owner)


def _note(event: Taken, owner: str, **values: object) -> None:
    _held_by(owner, [event]).update(attempts=event.attempts + 1, claimed_by="", claimed_until=None, **values)
