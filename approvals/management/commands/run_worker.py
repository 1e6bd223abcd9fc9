"""`run_worker`: all the work, each kind on its cadence."""

import threading
from dataclasses import replace
from functools import partial

from approvals.management.worker_command import WorkerCommand
from approvals.workers import loop
from approvals.workers.counts import Counts


class Command(WorkerCommand):
    """Dispatch, sweep, reconcile, heartbeat and drain."""

    help = "Does all the work of the other worker commands, each kind on its own cadence."
    waiting = ("parked", "unknown", "paused", "missing_heartbeats")

    def go_once(self, stop: threading.Event, sizes: dict[str, int], format: str) -> Counts:  # noqa: A002
        total = Counts()
        for cadence in loop.CADENCES:
            counts = cadence.run(should_stop=stop.is_set, **sizes)
            if format == "text":
                self.tell(cadence.name, counts, format)
            total.update(counts)
        return total

    def go_on(self, stop: threading.Event, sizes: dict[str, int], format: str) -> None:  # noqa: A002
        cadences = [replace(cadence, run=partial(cadence.run, **sizes)) for cadence in loop.CADENCES]
        loop.forever(stop, report=partial(self.tell, format=format), cadences=cadences)
