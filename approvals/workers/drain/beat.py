"""The database's half of a drain: takes events under a lease, and notes what became of each."""

import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from random import SystemRandom
from secrets import token_hex
from uuid import UUID

from approvals import sinks
from approvals.connectors.base import boottime
from approvals.domain import retry
from approvals.models.clock import database_now
from approvals.services import draining, sink_state
from approvals.services.door import Clock
from approvals.services.draining import MARK_AT_MOST, Failed, Taken
from approvals.sinks.base import Sink, SinkAnswer
from approvals.workers.counts import Counts
from approvals.workers.drain import posting
from approvals.workers.drain.alarm import alarm
from approvals.workers.drain.patience import log, patiently
from approvals.workers.drain.posting import Answered, Chain, Posting
from approvals.workers.pool import Progress

COMMAND = "drain_outbox"
LEASE = timedelta(seconds=60)
TAKE_AT_MOST = 2 * MARK_AT_MOST
IN_HAND_AT_MOST = 3 * TAKE_AT_MOST
"""Bounds what is in memory, and how much stays under a lease when the process dies."""
RENEWED_AFTER_SECONDS = LEASE.total_seconds() / 4
WAIT_FOR_ANOTHER_SECONDS = 5.0
LOOK_UP_SECONDS = 0.5  # from waiting for answers, to see whether to stop
_random = SystemRandom()


def run(
    *,
    batch_size: int | None = None,
    concurrency: int = 8,
    progress: Progress | None = None,
    clock: Clock = database_now,
    should_stop: Callable[[], bool] = lambda: False,
    sink: Sink | None = None,
) -> Counts:
    """Posts due events, `concurrency` approvals at a time, until none is left or `batch_size` were tried.

    Gives counts of outcomes. Several processes may run it on one database: no event is in two hands.
    """
    receiver = sink or sinks.from_settings()
    if not draining.is_anything_due(clock=clock):
        return Counts()
    owner = f"{socket.gethostname()[:80]}:{os.getpid()}:{token_hex(4)}"
    with _turn(owner, clock, should_stop) as mine:
        if not mine:
            return Counts(left_to_another=1)
        with Posting(receiver, concurrency) as posts:
            beat = Beat(posts, owner=owner, clock=clock, limit=batch_size, progress=progress, should_stop=should_stop)
            counts = beat.run()
    alarm.look(counts)
    return counts


@contextmanager
def _turn(owner: str, clock: Clock, should_stop: Callable[[], bool]) -> Iterator[bool]:
    """Waits a little where another process drains and only one may (SQLite); says so if it goes on."""
    until = time.monotonic() + WAIT_FOR_ANOTHER_SECONDS
    while not (mine := sink_state.lease(owner=owner, clock=clock, duration=LEASE)):
        if time.monotonic() >= until or should_stop():
            log.warning("Another process drains this outbox (%s); on SQLite one does at a time.", sink_state.holder())
            break
        time.sleep(0.1)
    try:
        yield mine
    finally:
        if mine:
            patiently(lambda: sink_state.release(owner=owner))


class Beat:
    """One run over the outbox, in passes from the oldest event on; the last pass finds nothing.

    The position is only this pass's: a lower number that commits later, and a later event of an approval, are found
    by the next.
    """

    def __init__(
        self,
        posts: Posting,
        *,
        owner: str,
        clock: Clock,
        limit: int | None,
        progress: Progress | None,
        should_stop: Callable[[], bool],
    ) -> None:
        self._posts = posts
        self._owner = owner
        self._clock = clock
        self._left = limit
        self._progress = progress
        self._should_stop = should_stop
        self._counts = Counts()
        self._in_hand = 0
        self._position = 0
        self._pass_took = False
        self._has_more = True
        self._is_probe = False
        self._renew_at = time.monotonic() + RENEWED_AFTER_SECONDS

    def run(self) -> Counts:
        while True:
            if self._should_stop():
                self._posts.stop()
            self._keep_the_turn()
            if self._may_take():
                self._take()
            if not self._in_hand and not self._may_take():
                return self._counts
            if self._in_hand:
                self._note(self._posts.answers(LOOK_UP_SECONDS))

    def _may_take(self) -> bool:
        if self._posts.is_over or self._left == 0:
            return False
        if not self._has_more:
            self._begin_a_pass()
        return self._has_more and self._in_hand <= IN_HAND_AT_MOST - TAKE_AT_MOST

    def _begin_a_pass(self) -> None:
        """Looks from the beginning again, once all of a pass that found something is noted."""
        if self._pass_took and not self._in_hand:
            self._position, self._pass_took, self._has_more = 0, False, True

    def _take(self) -> None:
        limit = TAKE_AT_MOST if self._left is None else min(TAKE_AT_MOST, self._left)
        send_by = boottime() + LEASE.total_seconds() - posting.POST_SECONDS  # read before the lease begins
        found = draining.take(clock=self._clock, owner=self._owner, limit=limit, lease=LEASE, after=self._position)
        self._position, self._has_more = found.position, not found.is_end
        if not found.events:
            return
        self._pass_took, self._is_probe = True, found.is_probe
        self._in_hand += len(found.events)
        self._left = None if self._left is None else self._left - len(found.events)
        self._posts.feed(Chain(tuple(events), send_by) for events in _by_approval(found.events))

    def _note(self, answered: list[Answered]) -> None:
        if not answered:
            return
        patiently(lambda: self._write_down(answered))
        self._in_hand -= len(answered)
        self._posts.noted(len(answered))
        told = Counts(_word(answer) for _, answer in answered if answer is not None)
        self._counts.update(told)
        if self._progress is not None and told:
            self._progress(told.done)

    def _write_down(self, answered: list[Answered]) -> None:
        drained = [event for event, answer in answered if answer is not None and answer.ok]
        draining.mark_drained(drained, owner=self._owner, clock=self._clock)
        if drained and self._is_probe:
            sink_state.open_again()
            self._is_probe = False
        draining.give_back([event for event, answer in answered if answer is None], owner=self._owner)
        failed = [_failed(event, answer) for event, answer in answered if answer is not None and _is_own_fault(answer)]
        draining.mark_failed(failed, owner=self._owner, clock=self._clock)
        if closed := [(event, answer.reason) for event, answer in answered if answer is not None and answer.pause]:
            found = [event for event, _ in closed]
            draining.mark_locked_out(found, owner=self._owner, clock=self._clock, reason=closed[-1][1])

    def _keep_the_turn(self) -> None:
        if time.monotonic() >= self._renew_at:
            self._renew_at = time.monotonic() + RENEWED_AFTER_SECONDS
            if not sink_state.lease(owner=self._owner, clock=self._clock, duration=LEASE):
                self._posts.stop()


def _by_approval(events: list[Taken]) -> list[list[Taken]]:
    """Gives the events of each approval together, in order; what belongs to none stands alone."""
    chains: dict[UUID | int, list[Taken]] = {}
    for event in events:
        chains.setdefault(event.approval_id or event.id, []).append(event)
    return list(chains.values())


def _is_own_fault(answer: SinkAnswer) -> bool:
    return answer.park or not (answer.ok or answer.pause)


def _failed(event: Taken, answer: SinkAnswer) -> Failed:
    own = retry.backoff(event.attempts + 1, jitter=_random.random())
    wait = timedelta(seconds=max(own, answer.retry_after_seconds or 0.0))
    return Failed(event, answer.reason, wait, park=answer.park)


def _word(answer: SinkAnswer) -> str:
    if answer.ok:
        return "drained"
    return "parked" if answer.park else "paused" if answer.pause else "postponed"
