"""Heartbeat: once per cadence slot, tell the sink that this engine lives, what it emitted and where chains stand."""

from collections.abc import Callable

from approvals.domain.actor import system
from approvals.models.clock import database_now
from approvals.services import heartbeat
from approvals.services.door import Clock
from approvals.workers.counts import Counts
from approvals.workers.pool import Progress

COMMAND = "emit_heartbeat"
IN_ONE_BEAT = 1000
LOOKS_EVERY_SECONDS = 5.0
"""A slot begins when the clock says so, not when a beat comes round: looking less often would skip slots."""


def run(
    *,
    batch_size: int = IN_ONE_BEAT,
    concurrency: int = 1,
    progress: Progress | None = None,
    clock: Clock = database_now,
    should_stop: Callable[[], bool] = lambda: False,
) -> Counts:
    """Emits what is due: nothing, one heartbeat, or the several parts that a slot with much to tell needs."""
    counts, after = Counts(), 0
    while counts["emitted"] < batch_size and not should_stop():
        emitted = heartbeat.emit(actor=system(COMMAND), clock=clock, after=after)
        if emitted is None:
            break
        counts["emitted"] += 1
        if progress is not None:
            progress(1)
        if not emitted.heartbeat.has_more:
            break
        after = emitted.last_chain
    return counts
