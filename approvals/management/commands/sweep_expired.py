"""`sweep_expired`: expires approvals whose time ran out and declares interrupted sends unknown."""

from approvals.management.worker_command import WorkerCommand
from approvals.workers import sweep


class Command(WorkerCommand):
    """One beat of `workers.sweep`, or many."""

    help = "Expires approvals whose time ran out and declares interrupted sends unknown."
    beat = sweep
    every_seconds = 5.0
    waiting = ("unknown",)
