"""`dispatch_approved`: sends approved drafts that are due, one at a time per target."""

from approvals.management.worker_command import WorkerCommand
from approvals.workers import dispatch


class Command(WorkerCommand):
    """One beat of `workers.dispatch`, or many."""

    help = "Sends approved drafts and undoes published ones where that is due, one request at a time per target."
    beat = dispatch
    every_seconds = 1.0
    waiting = ("unknown", "paused")
