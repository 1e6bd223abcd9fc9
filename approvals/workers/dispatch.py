"""Dispatch: reserve (transaction), gate (transaction), send (none), record (transaction).

A lease promises nothing about the remote: a worker can be stopped between the clock check and the first byte, and
the network can hold a request back. Only a receiver that dedupes on the delivery id makes "once" exact.
"""

import asyncio
import logging
import os
import socket
import time
from collections.abc import Callable, Coroutine
from typing import Any

from django.conf import settings
from django.db import InterfaceError, InternalError, OperationalError, connection

from approvals.connectors import registry
from approvals.connectors.base import Connector, Deadline, Job, Outcome, Receipt, boottime
from approvals.domain.actor import Actor, system
from approvals.domain.errors import Unavailable
from approvals.domain.gate import GateAnswer
from approvals.models.clock import database_now
from approvals.selectors import work
from approvals.services import ground, holding, opening, record
from approvals.services.begin import begin, resume
from approvals.services.begin_retract import begin_retract
from approvals.services.door import Clock
from approvals.services.give_up import give_up
from approvals.services.holding import Hold
from approvals.services.opening import LOOK_FIRST, Begun
from approvals.services.record import Recorded
from approvals.workers.counts import Counts
from approvals.workers.pool import Progress, keep_busy

COMMAND = "dispatch_approved"
DATABASE_AWAY = (OperationalError, InterfaceError, InternalError)
"""What a database says that is gone, starts, or is for reading only: a replica that is not promoted yet."""
IDLE_WORDS = ("taken", "stopped", "paused", "failed")
log = logging.getLogger(__name__)


def run(
    *,
    batch_size: int = 20,
    concurrency: int = 4,
    progress: Progress | None = None,
    clock: Clock = database_now,
    should_stop: Callable[[], bool] = lambda: False,
) -> Counts:
    """Sends what is due, at most `batch_size` writes, one at a time per target. Gives counts of outcomes."""
    actor, owner = system(COMMAND), _owner()
    opening.insist_on_this_database()
    return keep_busy(
        lambda limit: work.due_targets(clock(), limit=limit),
        lambda target_id: send_one(target_id, actor=actor, owner=owner, clock=clock),
        at_most=batch_size,
        concurrency=concurrency,
        resting=IDLE_WORDS,
        progress=progress,
        should_stop=should_stop,
    )


def send_one(target_id: int, *, actor: Actor, owner: str, clock: Clock) -> str:
    """Does the oldest due write of one target and says what came of it."""
    hold = holding.reserve(actor=actor, clock=clock, target_id=target_id, owner=owner)
    if hold is None:
        return "taken"
    reserved_at = boottime()
    begun = _gate(hold, actor=actor, clock=clock)
    if isinstance(begun, GateAnswer):
        give_up(actor=actor, clock=clock, hold=hold, answer=begun)
        return "unknown" if begun == LOOK_FIRST else "stopped"
    receipt = _deliver(begun, reserved_at)
    recorded = _recorded(begun, receipt, actor=actor, clock=clock)
    if recorded.moved_target_id is not None:
        ground.reopen_on(recorded.moved_target_id, actor=actor, clock=clock)
    return "paused" if receipt.pause else _word(receipt.outcome, retracts=hold.retracts)


def _word(outcome: Outcome, *, retracts: bool) -> str:
    """Names what came of a request. What the remote took back is accepted: only reading back says that it is gone."""
    if not retracts:
        return outcome.value
    return "retraction_accepted" if outcome == Outcome.DELIVERED else f"retraction_{outcome.value}"


def _gate(hold: Hold, *, actor: Actor, clock: Clock) -> Begun | GateAnswer:
    gates = {"begin": begin, "resume": resume, "begin_retract": begin_retract}
    return gates[hold.gate](actor=actor, clock=clock, hold=hold)


def _deliver(begun: Begun, reserved_at: float) -> Receipt:
    """Makes the network calls. No transaction is open here, and nothing raised here may look like a refusal."""
    timeout = float(settings.REVIEWROOM_SEND_TIMEOUT_SECONDS)
    deadline = Deadline(timeout, send_by=reserved_at + settings.REVIEWROOM_LEASE_SECONDS - timeout)
    connector = registry.get(begun.job.settings.connector)
    if begun.hold.retracts:
        return _call(connector.retract, begun, deadline)
    try:
        stopped = _prepare(connector, begun, deadline)
    except Exception as error:
        log.exception("attempt %s could not be prepared", begun.attempt_id)
        return Receipt(Outcome.NOT_SENT, f"The request could not be prepared: {type(error).__name__}.")
    if stopped is not None:
        return stopped
    return _call(connector.send, begun, deadline)


def _call(write: Callable[[Job, Deadline], Coroutine[Any, Any, Receipt]], begun: Begun, deadline: Deadline) -> Receipt:
    try:
        return asyncio.run(write(begun.job, deadline))
    except Exception as error:
        log.exception("attempt %s failed while sending", begun.attempt_id)
        return Receipt(Outcome.UNKNOWN, f"The connector failed while sending: {type(error).__name__}.")


def _prepare(connector: Connector, begun: Begun, deadline: Deadline) -> Receipt | None:
    """Fetches and stores what the connector needs before posting; a Receipt ends the attempt."""
    prepared = asyncio.run(connector.prepare(begun.job, deadline))
    if isinstance(prepared, Receipt):
        return prepared
    if prepared != begun.job.prepared:
        if not record.keep_prepared(attempt_id=begun.attempt_id, token=begun.hold.token, prepared=prepared):
            return Receipt(Outcome.NOT_SENT, "The attempt was taken from this worker before it sent anything.")
        begun.job.prepared = prepared
    return None


def _recorded(begun: Begun, receipt: Receipt, *, actor: Actor, clock: Clock) -> Recorded:
    """Records the receipt, however long the database is away: it is the only trace of what happened."""
    wait = 0.1
    while True:
        try:
            return record.record(
                actor=actor, clock=clock, attempt_id=begun.attempt_id, token=begun.hold.token, receipt=receipt
            )
        except (*DATABASE_AWAY, Unavailable) as error:
            log.error("attempt %s: the receipt cannot be recorded yet: %s", begun.attempt_id, error)
            if not isinstance(error, Unavailable):  # that is the door after many lost races; the database is there
                connection.close()
            time.sleep(wait)
            wait = min(wait * 2, 5.0)


def _owner() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"[:120]
