"""Reconcile: look up what is unknown, read back what was delivered. Reads only; it never sends."""

import asyncio
import logging
from collections.abc import Callable
from uuid import UUID

from django.conf import settings

from approvals.connectors import registry
from approvals.connectors.base import Deadline, Lookup, Match, Sighting, Verification
from approvals.domain.actor import Actor, system
from approvals.models.clock import database_now
from approvals.selectors import work
from approvals.services import reconcile
from approvals.services.door import Clock
from approvals.services.reconcile import Check
from approvals.workers.counts import Counts
from approvals.workers.dispatch import reopen_on
from approvals.workers.pool import Progress, spread

COMMAND = "reconcile_deliveries"
log = logging.getLogger(__name__)


def run(
    *,
    batch_size: int = 20,
    concurrency: int = 4,
    progress: Progress | None = None,
    clock: Clock = database_now,
    should_stop: Callable[[], bool] = lambda: False,
) -> Counts:
    """Checks every delivery that is due for a look at the remote. Gives counts of what was seen."""
    actor = system(COMMAND)
    return spread(
        work.due_checks(clock(), limit=batch_size),
        lambda delivery_id: check_one(delivery_id, actor=actor, clock=clock),
        concurrency=concurrency,
        progress=progress,
    )


def check_one(delivery_id: UUID, *, actor: Actor, clock: Clock) -> str:
    """Looks one delivery up, or reads it back, and records what was seen."""
    check = reconcile.begin_check(actor=actor, clock=clock, delivery_id=delivery_id)
    if check is None:
        return "taken"
    if not check.wants_lookup:
        seen = _verify(check)
        reconcile.record_verification(actor=actor, clock=clock, check=check, seen=seen)
        return "confirmed" if seen.match == Match.EQUAL else f"read_{seen.match.value}"
    found = _look_up(check)
    moved = reconcile.record_lookup(actor=actor, clock=clock, check=check, found=found)
    if moved is not None:
        reopen_on(moved, actor=actor, clock=clock)
    return found.sighting.value


def _look_up(check: Check) -> Lookup:
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


def _deadline() -> Deadline:
    return Deadline(float(settings.REVIEWROOM_SEND_TIMEOUT_SECONDS))
