"""`reconcile_deliveries`: looks up deliveries with an unknown outcome and reads back what was delivered."""

from approvals.management.worker_command import WorkerCommand
from approvals.workers import reconcile


class Command(WorkerCommand):
    """One beat of `workers.reconcile`, or many."""

    help = (
        "Looks up deliveries with an unknown outcome, reads back what was delivered or retracted, and reads what "
        "targets hold for their reviewers. It never sends."
    )
    beat = reconcile
    every_seconds = 1.0
    waiting = ("unknown",)
