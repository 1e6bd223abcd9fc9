"""Reconcile: look up what is unknown, read back what was delivered or retracted. Reads only; it never sends."""

import asyncio
import logging
from collections.abc import Callable
from uuid import UUID

from django.conf import settings

from approvals.connectors import registry
from approvals.connectors.base import Deadline, Lookup, Match, Reading, Sighting, Verification
from approvals.domain.actor import Actor, system
from approvals.models.clock import database_now
from approvals.selectors import work
from approvals.services import checks, ground, readings, reconcile, undoing
from approvals.services.checks import Check, Question
from approvals.services.door import Clock
from approvals.services.readings import Ask
from approvals.workers.counts import Counts
from approvals.workers.pool import Progress, spread

COMMAND = "reconcile_deliveries"
RETRACTION_WORDS = {
    Match.GONE: "retraction_gone",
    Match.EQUAL: "retraction_still_there",
    Match.DIFFERS: "retraction_still_there",
}
log = logging.getLogger(__name__)


def run(
    *,
    batch_size: int = 20,
    concurrency: int = 4,
    progress: Progress | None = None,
    clock: Clock = database_now,
    should_stop: Callable[[], bool] = lambda: False,
) -> Counts:
    """Checks every delivery that is due for a look at the remote, and reads the targets reviewers wait to see.

    Gives counts of what was seen.
    """
    actor = system(COMMAND)
    counts = spread(
        work.due_checks(clock(), limit=batch_size),
        lambda delivery_id: check_one(delivery_id, actor=actor, clock=clock),
        concurrency=concurrency,
        progress=progress,
        should_stop=should_stop,
    )
    if not should_stop():
        targets = work.due_readings(clock(), limit=batch_size)
        read = spread(
            targets,
            lambda pk: read_one(pk, actor=actor, clock=clock),
            concurrency=concurrency,
            should_stop=should_stop,
        )
        counts.update(read)
    return counts


def check_one(delivery_id: UUID, *, actor: Actor, clock: Clock) -> str:
    """Looks one delivery up, or reads it back, and records what was seen."""
    check = checks.begin_check(actor=actor, clock=clock, delivery_id=delivery_id)
    if check is None:
        return "taken"
    if check.question == Question.ARRIVED:
        return _look_up(check, actor=actor, clock=clock)
    seen = _verify(check)
    if check.question == Question.GONE:
        moved = undoing.record_read_back(actor=actor, clock=clock, check=check, seen=seen)
        _reopen(moved, actor=actor, clock=clock)
        return RETRACTION_WORDS.get(seen.match, "retraction_unread")
    reconcile.record_verification(actor=actor, clock=clock, check=check, seen=seen)
    return "confirmed" if seen.match == Match.EQUAL else f"read_{seen.match.value}"


def read_one(target_id: int, *, actor: Actor, clock: Clock) -> str:
    """Reads what stands at one target and keeps it for its reviewers."""
    ask = readings.begin_reading(actor=actor, clock=clock, target_id=target_id)
    if ask is None:
        return "taken"
    seen = _read(ask)
    readings.record_reading(actor=actor, clock=clock, ask=ask, seen=seen)
    return "target_read" if seen.known else "target_unread"


def _look_up(check: Check, *, actor: Actor, clock: Clock) -> str:
    found = _ask(check)
    moved = reconcile.record_lookup(actor=actor, clock=clock, check=check, found=found)
    _reopen(moved, actor=actor, clock=clock)
    return found.sighting.value


def _reopen(target_id: int | None, *, actor: Actor, clock: Clock) -> None:
    if target_id is not None:
        ground.reopen_on(target_id, actor=actor, clock=clock)


def _ask(check: Check) -> Lookup:
    connector = registry.get(check.job.settings.connector)
    try:
        return asyncio.run(connector.lookup(check.job, _deadline()))
    except Exception as error:
        log.exception("delivery %s could not be looked up", check.delivery_id)
        return Lookup(Sighting.UNKNOWN, f"The look-up failed: {type(error).__name__}.")


def _verify(check: Check) -> Verification:
    connector = registry.get(check.job.settings.connector)
    try:
        return asyncio.run(connector.verify(check.job, _deadline()))
    except Exception as error:
        log.exception("delivery %s could not be read back", check.delivery_id)
        return Verification(Match.UNKNOWN, f"The read-back failed: {type(error).__name__}.")


def _read(ask: Ask) -> Reading:
    connector = registry.get(ask.job.settings.connector)
    try:
        return asyncio.run(connector.read(ask.job, _deadline()))
    except Exception as error:
        log.exception("target %s could not be read", ask.target_id)
        return Reading(False, f"The reading failed: {type(error).__name__}.")


def _deadline() -> Deadline:
    return Deadline(float(settings.REVIEWROOM_SEND_TIMEOUT_SECONDS))
