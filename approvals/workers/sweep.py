"""Sweep: approvals whose time ran out, and sends whose worker is gone.

What a sweeper finds says nothing about the remote. An interrupted send becomes unknown, never failed or free.
"""

from collections.abc import Callable
from uuid import UUID

from approvals.domain.actor import system
from approvals.models.clock import database_now
from approvals.selectors import work
from approvals.services import expire, record
from approvals.services.door import Clock
from approvals.workers.counts import Counts
from approvals.workers.pool import Progress, spread

COMMAND = "sweep_expired"


def run(
    *,
    batch_size: int = 100,
    concurrency: int = 1,
    progress: Progress | None = None,
    clock: Clock = database_now,
    should_stop: Callable[[], bool] = lambda: False,
) -> Counts:
    """Expires what is past its time and declares interrupted sends unknown. Sweeping twice changes nothing."""
    actor = system(COMMAND)
    now = clock()

    def one_approval(approval_id: UUID) -> str:
        return "expired" if expire.expire(approval_id=approval_id, actor=actor, clock=clock) else "settled"

    def one_target(target_id: int) -> str:
        return "unknown" if record.lose(actor=actor, clock=clock, target_id=target_id) else "settled"

    counts = spread(
        work.expired_approvals(now, limit=batch_size), one_approval, concurrency=concurrency, progress=progress
    )
    if not should_stop():
        lost = work.lost_claims(now, limit=batch_size)
        counts.update(spread(lost, one_target, concurrency=concurrency, progress=progress))
    return counts
