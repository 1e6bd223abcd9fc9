"""How long the drain's look for the next events takes, and how long one new event waits, on an outbox as it stands."""

import statistics
import time
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction

from approvals.connectors.base import Deadline
from approvals.models import OutboxEvent
from approvals.models.clock import database_now
from approvals.services import draining
from approvals.sinks.base import Sink, SinkAnswer
from approvals.workers import drain

ROUNDS = 5


class Nowhere(Sink):
    """Takes everything at once."""

    async def post(self, event_id: UUID, payload: bytes, deadline: Deadline) -> SinkAnswer:
        return SinkAnswer(ok=True)


def measure(database: str, what: str) -> dict[str, Any]:
    """Takes the first events and lets them go again."""
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        with transaction.atomic():
            draining.take(clock=database_now, owner="bench", limit=200, lease=timedelta(seconds=60))
            transaction.set_rollback(True)
        times.append(time.perf_counter() - began)
    return {"database": database, "what": what, "milliseconds": statistics.median(times) * 1000}


def one_new_event(database: str) -> dict[str, Any]:
    """Drains what is there, which is two events of one approval."""
    drained = OutboxEvent.objects.filter(drained_at__isnull=False).count()
    began = time.perf_counter()
    counts = drain.run(sink=Nowhere())
    assert counts == {"drained": 2}, counts
    took = (time.perf_counter() - began) * 1000
    return {"database": database, "what": f"a whole beat for two new events behind {drained:,}", "milliseconds": took}


def park_all() -> None:
    """Lets the sink have refused everything."""
    later = database_now() + timedelta(hours=1)
    OutboxEvent.objects.filter(drained_at=None).update(next_attempt_at=later)
