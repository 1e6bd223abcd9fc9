"""Heartbeat: a signed event per cadence slot, also when nothing happened, so that silence at the sink means something.

It counts, per class, every outbox event that none counted before, and tells where the audit chains stand. Counting is
a stamp on the row itself, made in the heartbeat's own transaction: a lower id that commits later has no stamp yet and
is counted by a later heartbeat, none is lost, and none counts twice.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID, uuid4

import rfc8785
from django.conf import settings

from approvals.domain.actor import Actor
from approvals.domain.errors import LostRace
from approvals.models import Heartbeat, Installation, OutboxEvent
from approvals.permissions import Verb, require
from approvals.selectors import heartbeats
from approvals.services import checkpoints, door, opening, signing
from approvals.services.audit import stamp
from approvals.services.checkpoints import HEADS_AT_MOST, Head
from approvals.services.door import Clock
from approvals.services.outbox import EVENT_SCHEMA, EventClass

SCHEMA = "reviewroom.heartbeat.v1"
KIND = "reviewroom-heartbeat+jws"
STAMPED_AT_MOST = 5_000
"""Rows per transaction: a million uncounted ones are two hundred heartbeats, not one that holds everybody up."""


@dataclass(frozen=True, slots=True)
class Emitted:
    """A heartbeat that is in the outbox: whether another has to follow, and after which chain it goes on."""

    heartbeat: Heartbeat
    counted: int
    last_chain: int


def emit(*, actor: Actor, clock: Clock, after: int = 0) -> Emitted | None:
    """Puts the heartbeat of this cadence slot, or its next part, into the outbox; None if none is due.

    Of several workers at once one makes it. Raises Unavailable where it cannot be signed: an unsigned one proves
    nothing, and a missing one is noticed.
    """
    if not heartbeats.is_due(heartbeats.newest(), clock()):
        return None
    opening.insist_on_this_database()
    signing.key()
    found = checkpoints.moved(after=after, limit=HEADS_AT_MOST + 1)
    return door.run(lambda: _emit(found, actor=actor, clock=clock), actor=actor, verb=Verb.WORK)


def _emit(found: list[int], *, actor: Actor, clock: Clock) -> Emitted | None:
    require(actor, Verb.WORK)
    Installation.objects.select_for_update().first()  # one at a time, the very first one too
    last = heartbeats.newest()
    now = clock()
    if not heartbeats.is_due(last, now):
        return None
    told = checkpoints.heads(found[:HEADS_AT_MOST])
    number = last.number + 1 if last else 1
    counts = _count(number)
    heartbeat = _next(last, now)
    heartbeat.has_more = len(found) > HEADS_AT_MOST or counts.total() >= STAMPED_AT_MOST
    content = rfc8785.dumps(_statement(heartbeat, counts, told))
    heartbeat.digest = f"sha256:{sha256(content).hexdigest()}"
    heartbeat.save(force_insert=True)
    checkpoints.note(told, heartbeat=heartbeat)
    _tell(heartbeat, _statement(heartbeat, counts, told), content)
    return Emitted(heartbeat, counts.total(), told[-1].chain_id if told else 0)


def _next(last: Heartbeat | None, now: datetime) -> Heartbeat:
    slot = heartbeats.slot_at(now)
    if last is not None and last.slot_at >= slot:
        slot = last.slot_at
    return Heartbeat(
        number=last.number + 1 if last else 1,
        slot_at=slot,
        part=last.part + 1 if last is not None and last.slot_at == slot else 0,
        event_id=uuid4(),
        created_at=now,
        previous=last.digest if last else "",
    )


def _count(number: int) -> Counter[str]:
    """Stamps what no heartbeat counted yet. A row that the drain has in hand is left to the next heartbeat."""
    free = OutboxEvent.objects.select_for_update(skip_locked=True, no_key=True).filter(counted_in=None)
    rows = list(free.values_list("pk", "event_class")[:STAMPED_AT_MOST])
    mine = OutboxEvent.objects.filter(pk__in=[pk for pk, _ in rows], counted_in=None)
    if mine.update(counted_in=number) != len(rows):
        raise LostRace("outbox events to count")
    return Counter(event_class for _, event_class in rows)


def _statement(heartbeat: Heartbeat, counts: Counter[str], told: list[Head]) -> dict[str, Any]:
    """Gives what is signed: everything that a stranger needs to compare the sink with the database."""
    by_class = {name: counts[name] for name in EventClass.values}
    return {
        "schema": SCHEMA,
        "issuer": settings.REVIEWROOM_ISSUER,
        "instance": settings.REVIEWROOM_INSTANCE,
        "event_id": str(heartbeat.event_id),
        "observed_at": stamp(heartbeat.created_at),
        "number": heartbeat.number,
        "slot_at": stamp(heartbeat.slot_at),
        "cadence_seconds": settings.REVIEWROOM_HEARTBEAT_SECONDS,
        "part": heartbeat.part,
        "has_more": heartbeat.has_more,
        "nothing_to_report": not any(counts[name] for name in EventClass.values if name != EventClass.HEARTBEAT),
        "counts": by_class,
        "checkpoint": {"heads": [head.told() for head in told], "previous": heartbeat.previous or None},
    }


def _tell(heartbeat: Heartbeat, statement: dict[str, Any], content: bytes) -> None:
    details = {
        "class": EventClass.HEARTBEAT.value,
        "approval_id": None,
        "binding_digest": None,
        "superseded_by": None,
        "statement": statement,
        "digest": heartbeat.digest,
        "signature": signing.detached(content, kind=KIND),
    }
    OutboxEvent.objects.create(
        event_id=heartbeat.event_id,
        event_class=EventClass.HEARTBEAT,
        payload=rfc8785.dumps(_envelope(heartbeat.event_id, heartbeat.created_at, details)).decode(),
        created_at=heartbeat.created_at,
        next_attempt_at=heartbeat.created_at,
    )


def _envelope(event_id: UUID, now: datetime, details: dict[str, Any]) -> dict[str, Any]:
    return {
        "schema_version": EVENT_SCHEMA,
        "event_id": str(event_id),
        "observed_at": stamp(now),
        "tenant": settings.REVIEWROOM_TENANT,
        "scope": settings.REVIEWROOM_SCOPE,
        "source": "approval-engine",
        "actor": None,
        "action": f"approval.{EventClass.HEARTBEAT.value}",
        "resource": f"engine:{settings.REVIEWROOM_ISSUER}",
        "outcome": "success",
        "reason": None,
        "details": details,
    }
