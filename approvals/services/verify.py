"""Verify: everything the database remembers is checked against itself, and the first bad row of each kind is named.

Chains show what was altered or taken out of the middle. A tail cut off together with its head, or a database put
back to yesterday, shows only at the audit sink, which nobody can take anything out of from here: so what its
heartbeats told is compared, where its lines are given.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import connection, transaction
from django.db.models import Count
from joserfc.jwk import OKPKey

from approvals.models import AuditEvent, Heartbeat, OutboxEvent, walls
from approvals.selectors import whole
from approvals.services import chain_reading, verify_chains, verify_drafts
from approvals.services.audit import stamp
from approvals.services.chain_reading import Head, Row
from approvals.services.verify_chains import Fault, Kind, Link, Mark, Stretch, facts
from approvals.services.verify_sink import SinkRecord

ROWS = 1000
Progress = Callable[[int], None]


def problems(seen: Counter[str] | None = None) -> Iterator[str]:
    """Gives one sentence per fault of the database by itself."""
    yield from map(str, faults(seen))


def faults(
    seen: Counter[str] | None = None, *, sink: SinkRecord | None = None, progress: Progress | None = None
) -> Iterator[Fault]:
    """Gives every fault, all of one moment of the database; `seen` counts what was looked at.

    Changes nothing, and lets others write meanwhile. `sink` is what was read of the audit sink before.
    """
    seen = Counter() if seen is None else seen
    with _one_moment():
        yield from _others(walls.problems(connection))
        yield from _chains(seen, sink, progress)
        yield from _heartbeats(seen, sink)
        yield from _others(verify_drafts.problems(seen))
        yield from _others(_outbox(seen))
        yield from _others(whole.problems())


def sink_record(
    files: Iterable[Path], keys: Iterable[OKPKey], seen: Counter[str], progress: Progress | None = None
) -> SinkRecord:
    """Gives what the sink's files tell."""
    record = SinkRecord(keys)
    for file in files:
        record.read(file, seen, progress)
    record.finish()
    return record


def on_its_way() -> Counter[str]:
    """Gives, per class, what was counted and the sink does not have yet. Ask before the sink's files are read."""
    rows = OutboxEvent.objects.filter(drained_at=None, counted_in__isnull=False).order_by()
    return Counter(dict(rows.values_list("event_class").annotate(number=Count("pk"))))


@contextmanager
def _one_moment() -> Iterator[None]:
    """Reads in one snapshot: a chain and its head from two moments would look like a fault while workers run."""
    if connection.in_atomic_block:
        yield
    elif connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield
    else:  # `atomic` begins immediately here, which would keep everybody else from writing
        with connection.cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")
            try:
                yield
            finally:
                cursor.execute("ROLLBACK")


def _others(sentences: Iterable[str]) -> Iterator[Fault]:
    return (Fault(Kind.OTHER, sentence) for sentence in sentences)


def _chains(seen: Counter[str], sink: SinkRecord | None, progress: Progress | None) -> Iterator[Fault]:
    before, total = seen["events"], AuditEvent.objects.count()
    for head, rows in chain_reading.with_events(chain_reading.every_chain()):
        stretch = Stretch(head.key, (link_of(row) for row in rows), head=(head.seq, head.hash))
        told = sink.marks(head.key) if sink else iter(())
        looked_at = seen["events"]
        yield from verify_chains.check(stretch, seen, heapq.merge(_told_here(head), told))
        if progress is not None:
            progress(seen["events"] - looked_at)
    if astray := total - (seen["events"] - before):
        yield Fault(Kind.REORDERED, f"{astray} audit events belong to no chain, or stand twice in one place.")
    if sink is not None:
        yield from sink.unvisited()


def link_of(row: Row) -> Link:
    """Gives an event of the database with the columns that repeat its body."""
    columns = {
        "at": stamp(row.at),
        "actor": row.actor,
        "action": row.action,
        "outcome": row.outcome,
        "draft_id": row.draft_id,
    }
    return Link(row.seq, row.prev_hash, row.hash, row.body, f"row {row.id}", columns)


def _told_here(head: Head) -> Iterator[Mark]:
    """Gives what the database itself remembers of the newest heartbeat."""
    if head.told_seq is not None and head.told_hash is not None:
        yield Mark(head.told_seq, head.told_hash, head.told_by or 0)


def _heartbeats(seen: Counter[str], sink: SinkRecord | None) -> Iterator[Fault]:
    """Checks the heartbeats' own chain, and against what the sink has of it."""
    last, link = 0, ""
    for row in Heartbeat.objects.order_by("number").iterator(chunk_size=ROWS):
        seen["own heartbeats"] += 1
        if row.number != last + 1:
            yield Fault(Kind.MISSING, f"Heartbeat {last + 1} is missing in the database.")
        elif row.previous != link:
            yield Fault(Kind.FORKED, f"Heartbeat {row.number} does not follow heartbeat {last} in the database.")
        told = sink.digest_of(row.number) if sink else None
        if told is not None and told != row.digest:
            yield Fault(Kind.FORKED, f"Heartbeat {row.number} is another than the one that the sink has.")
        last, link = row.number, row.digest
    if sink is not None and sink.newest() > last:
        told_last = f"The sink has heartbeat {sink.newest()}, but the database knows none after {last}"
        yield Fault(Kind.CUT, f"{told_last}: it was put back to an earlier moment.")


def _outbox(seen: Counter[str]) -> Iterator[str]:
    events = OutboxEvent.objects.select_related("approval").order_by("id")
    for event in events.iterator(chunk_size=ROWS):
        seen["outbox events"] += 1
        if fault := _outbox_fault(event):
            yield f"Outbox event {event.event_id} (row {event.pk}) {fault}"


def _outbox_fault(event: OutboxEvent) -> str:
    payload = facts(event.payload)
    details = payload.get("details") or {}
    told = (payload.get("event_id"), details.get("class"), details.get("approval_id"))
    about = str(event.approval_id) if event.approval_id else None
    if told != (str(event.event_id), event.event_class, about):
        return "says something else than its columns."
    if event.approval is not None and details.get("binding_digest") != event.approval.digest:
        return "names another digest than its approval."
    return ""
