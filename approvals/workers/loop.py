"""The loop of `run_worker`: every beat on its cadence, in a thread of its own, until it is told to stop."""

import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.db import connections

from approvals.domain.errors import Unavailable
from approvals.workers import dispatch, drain, heartbeat, pool, reconcile, sweep
from approvals.workers.counts import Counts

log = logging.getLogger(__name__)
LONGEST_PAUSE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Cadence:
    """One kind of work and how often it looks for more, in seconds."""

    name: str
    run: Callable[..., Counts]
    every_seconds: float


CADENCES = (
    Cadence("dispatch", dispatch.run, 1.0),
    Cadence("sweep", sweep.run, 5.0),
    Cadence("reconcile", reconcile.run, 1.0),
    Cadence("heartbeat", heartbeat.run, heartbeat.LOOKS_EVERY_SECONDS),
    Cadence("drain", drain.run, 1.0),
)


def once(*, report: Callable[[str, Counts], None] | None = None) -> Counts:
    """Runs every beat once, in order. Gives all counts together."""
    total = Counts()
    for cadence in CADENCES:
        counts = cadence.run(concurrency=1)
        if report is not None:
            report(cadence.name, counts)
        total.update(counts)
    return total


def forever(
    stop: threading.Event,
    *,
    report: Callable[[str, Counts], None] | None = None,
    cadences: Iterable[Cadence] = CADENCES,
) -> None:
    """Runs every beat on its cadence until `stop` is set; the beats in hand are finished first."""
    threads = [
        threading.Thread(target=_keep_going, args=(cadence, stop, report), name=cadence.name) for cadence in cadences
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _keep_going(cadence: Cadence, stop: threading.Event, report: Callable[[str, Counts], None] | None) -> None:
    pool.leave_signals_to_the_main_thread()
    failures = 0
    while not stop.is_set():
        started = time.monotonic()
        failures = 0 if _beat(cadence, stop, report) else failures + 1
        pause = min(cadence.every_seconds * 2**failures, LONGEST_PAUSE_SECONDS)
        stop.wait(max(0.0, pause - (time.monotonic() - started)))
    connections.close_all()


def _beat(cadence: Cadence, stop: threading.Event, report: Callable[[str, Counts], None] | None) -> bool:
    """Runs one beat; True if it went well. Whatever it raises is logged and the loop goes on, more slowly."""
    try:
        counts = cadence.run(should_stop=stop.is_set)
    except Unavailable as refusal:
        log.error("%s: %s", cadence.name, refusal)
        return False
    except Exception:
        log.exception("%s failed", cadence.name)
        connections.close_all()
        return False
    if counts and report is not None:
        report(cadence.name, counts)
    return not counts.failed
