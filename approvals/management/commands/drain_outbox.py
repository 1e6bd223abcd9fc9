"""`drain_outbox`: hands audit events to the audit sink, at least once and in order per approval."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from approvals.management.worker_command import WorkerCommand
from approvals.models.clock import database_now
from approvals.selectors import outbox
from approvals.workers import drain
from approvals.workers.counts import Counts

LOOKED_AT_AFTER_SECONDS = 1.0


class Command(WorkerCommand):
    """One beat of `workers.drain`, or many."""

    help = (
        "Hands audit events to the audit sink, at least once and in order per approval. On PostgreSQL several may run "
        "at once; on SQLite a second one waits a little, then says whom it left the outbox to."
    )
    beat = drain
    every_seconds = 1.0
    waiting = ("parked", "held", "held_endings", "sink_closed")

    def go_once(self, stop: threading.Event, sizes: dict[str, int], format: str) -> Counts:  # noqa: A002
        with progress_bar(show=format == "text" and sys.stderr.isatty()) as progress:
            return drain.run(progress=progress, should_stop=stop.is_set, **sizes)


@contextmanager
def progress_bar(*, show: bool) -> Iterator[Callable[[int], None] | None]:
    """Gives what the drain calls as events are answered: shows how many of those waiting, the rate and the lag."""
    if not show:
        yield None
        return
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=outbox.undrained().count())
        yield Gauge(bar, task).answered


class Gauge:
    """Rate and lag, looked at once a second: the lag is a question to the database."""

    def __init__(self, bar: Progress, task: TaskID) -> None:
        self._bar = bar
        self._task = task
        self._began = self._looked_at = time.monotonic()
        self._count = 0

    def answered(self, count: int) -> None:
        self._count += count
        self._bar.advance(self._task, count)
        now = time.monotonic()
        if now - self._looked_at >= LOOKED_AT_AFTER_SECONDS:
            self._looked_at = now
            lag = int(outbox.lag(database_now()).total_seconds())
            self._bar.update(self._task, description=f"{self._count / (now - self._began):,.0f}/s, lag {lag:,} s")
