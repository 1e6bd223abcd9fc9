"""`drain_outbox`: hands audit events to the audit sink, at least once and in order per approval."""

from approvals.management.worker_command import WorkerCommand
from approvals.workers import drain


class Command(WorkerCommand):
    """One beat of `workers.drain`, or many."""

    help = "Hands audit events to the audit sink, at least once and in order per approval."
    beat = drain
    every_seconds = 1.0
    waiting = ("parked",)
