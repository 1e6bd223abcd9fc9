"""Verify: everything the database remembers is checked against itself, and the first bad row of each kind is named.

Chains show what was altered or taken out of the middle. A tail cut off together with its head, or a database put
back to yesterday, shows only at the audit sink, which nobody can take anything out of from here.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction

from approvals.models import OutboxEvent, walls
from approvals.selectors import whole
from approvals.services import verify_chains, verify_drafts
from approvals.services.verify_chains import ROWS, facts


def problems(seen: Counter[str] | None = None) -> Iterator[str]:
    """Gives one sentence per fault, all of one moment of the database; `seen` counts what was looked at.

    Changes nothing, and lets others write meanwhile.
    """
    seen = Counter() if seen is None else seen
    with _one_moment():
        yield from walls.problems(connection)
        yield from verify_chains.problems(seen)
        yield from verify_drafts.problems(seen)
        yield from _outbox(seen)
        yield from whole.problems()


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
