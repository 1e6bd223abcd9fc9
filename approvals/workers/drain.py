"""Drain: hand the outbox to the audit sink, at least once, in order per approval. Never inside a transaction."""

import asyncio
import logging
import os
import socket
import time
from collections.abc import Callable
from datetime import timedelta
from random import SystemRandom

from approvals import sinks
from approvals.connectors.base import Deadline
from approvals.domain import retry
from approvals.models.clock import database_now
from approvals.services import draining
from approvals.services.door import Clock
from approvals.services.draining import Taken
from approvals.sinks.base import Sink, SinkAnswer
from approvals.workers.counts import Counts
from approvals.workers.pool import Progress

COMMAND = "drain_outbox"
POST_SECONDS = 10.0
LEASE = timedelta(seconds=60)
log = logging.getLogger(__name__)
_random = SystemRandom()


def run(
    *,
    batch_size: int = 100,
    concurrency: int = 8,
    progress: Progress | None = None,
    clock: Clock = database_now,
    should_stop: Callable[[], bool] = lambda: False,
    sink: Sink | None = None,
) -> Counts:
    """Posts due events until none is left or `batch_size` were tried. Gives counts of outcomes."""
    counts = Counts()
    receiver = sink or sinks.from_settings()
    owner = f"{socket.gethostname()}:{os.getpid()}"[:120]
    while counts.done < batch_size and not should_stop():
        limit = min(batch_size - counts.done, draining.MARK_AT_MOST)
        taken = draining.take(clock=clock, owner=owner, limit=limit, lease=LEASE)
        if not taken:
            break
        answers = asyncio.run(_post_all(receiver, taken, concurrency))
        beat = _note(taken, answers, owner=owner, clock=clock)
        counts.update(beat)
        if progress is not None:
            progress(beat.done)
        if beat["paused"]:
            break
    return counts


async def _post_all(sink: Sink, taken: list[Taken], concurrency: int) -> list[SinkAnswer | None]:
    """Posts a few at a time. What is not begun when the sink closes, or when the lease may end first, is None."""
    gate = asyncio.Semaphore(concurrency)
    begin_by = time.monotonic() + LEASE.total_seconds() - POST_SECONDS
    closed = False

    async def post(event: Taken) -> SinkAnswer | None:
        nonlocal closed
        async with gate:
            if closed or time.monotonic() > begin_by:
                return None
            answer = await _post(sink, event)
            closed = closed or answer.pause
            return answer

    async with sink:
        return list(await asyncio.gather(*(post(event) for event in taken)))


async def _post(sink: Sink, event: Taken) -> SinkAnswer:
    try:
        return await sink.post(event.event_id, event.payload, Deadline(POST_SECONDS))
    except Exception as error:
        log.exception("event %s could not be posted", event.event_id)
        return SinkAnswer(retry=True, reason=f"The sink failed: {type(error).__name__}.")


def _note(taken: list[Taken], answers: list[SinkAnswer | None], *, owner: str, clock: Clock) -> Counts:
    counts = Counts()
    pairs = list(zip(taken, answers, strict=True))
    draining.mark_drained([event.id for event, answer in pairs if answer is not None and answer.ok], clock=clock)
    draining.give_back([event for event, answer in pairs if answer is None], owner=owner)
    for event, answer in pairs:
        if answer is not None:
            counts[_word(answer)] += 1
            _note_failure(event, answer, clock)
    return counts


def _note_failure(event: Taken, answer: SinkAnswer, clock: Clock) -> None:
    if answer.pause:
        draining.mark_locked_out(event, clock=clock, reason=answer.reason)
    elif not answer.ok:
        draining.mark_failed(event, clock=clock, reason=answer.reason, wait=_wait(event, answer), park=answer.park)


def _word(answer: SinkAnswer) -> str:
    if answer.ok:
        return "drained"
    return "parked" if answer.park else "paused" if answer.pause else "postponed"


def _wait(event: Taken, answer: SinkAnswer) -> timedelta:
    own = retry.backoff(event.attempts + 1, jitter=_random.random())
    return timedelta(seconds=max(own, answer.retry_after_seconds or 0.0))
